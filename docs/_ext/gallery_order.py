"""The order of the gallery: what a newcomer needs first."""

from pathlib import Path

ORDER = [
    "first_variance",
    "flight_delays",
    "smooth",
    "scores",
    "robust_design",
    "backtest",
    "conformal",
    "weighted_mean",
    "several_columns",
    "boosting",
    "search",
    "outliers",
    "counts",
    "two_outputs",
    "asymmetry",
    "categories",
    "replicates",
    "stream",
    "label_plan",
    "custom_statistic",
    "minvar",
    "samplers",
    "gallery_of_displays",
]


class ByNeed:
    """Position of an example; one that is not listed comes last."""

    def __init__(self, source: str) -> None:
        self.source = source

    def __call__(self, filename: str) -> tuple[int, str]:
        name = Path(filename).stem.removeprefix("plot_")
        return (ORDER.index(name) if name in ORDER else len(ORDER), name)
