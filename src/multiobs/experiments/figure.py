"""The paper's figure, and two more in its style: larger samples, and the footnotes' sweeps."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from multiobs.experiments.grids import (
    AMPLITUDES,
    BEYOND_SIZES,
    FACTORS,
    LAMBDAS,
    ReproductionPlan,
    amplified,
    lessened,
    nearby,
)
from multiobs.experiments.methods import ADDITIONS, PAPER_METHODS
from multiobs.experiments.scenarios import scenario
from multiobs.experiments.summary import Trials

__all__ = ["draw_beyond", "draw_figure", "draw_sweeps"]

# Okabe and Ito's colours, which most colour-blind readers distinguish; markers say it again.
_STYLE = {
    "2mom linear": ("#E69F00", "s"),
    "2mom quad": ("#D55E00", "D"),
    "improved": ("#009E73", "v"),
    "sliding": ("#0072B2", "o"),
    "nearby": ("#000000", "^"),
    "empirical": ("#CC79A7", "P"),
    "empirical /k": ("#CC79A7", "p"),
    "nearby x8": ("#000000", "<"),
    "default": ("#0072B2", "*"),
    "residual": ("#56B4E9", "X"),
    "local": ("#7F7F7F", "h"),
}
_LEGEND = {
    "empirical /k": "empirical, divisor k †",
    "nearby x8": "nearby, 8 × epsilon †",
    "default": "multiobs default †",
    "residual": "residual regression †",
    "local": "nearest-neighbour plug-in †",
}
_FORMATS = ("png", "svg", "pdf")


def draw_figure(trials: Trials, plan: ReproductionPlan, folder: Path) -> list[Path]:
    """Draw median error against n for each panel, quartiles as bands: the paper's figure."""
    methods = (*PAPER_METHODS, *ADDITIONS)
    title = f"Median MSE over {plan.trials} trials, bands from quartile to quartile"
    return _panels(trials, plan, plan.sizes, methods, title, folder / "figure")


def draw_beyond(trials: Trials, plan: ReproductionPlan, folder: Path) -> list[Path]:
    """Draw the same panels on to 10^5 labels, which enumerating tuples could not reach."""
    sizes = tuple(sorted({*plan.sizes, *BEYOND_SIZES}))
    methods = (*PAPER_METHODS, *ADDITIONS)
    title = f"The same panels to n = 100 000 ({plan.beyond_trials} trials above {max(plan.sizes)})"
    return _panels(trials, plan, sizes, methods, title, folder / "beyond")


def draw_sweeps(trials: Trials, plan: ReproductionPlan, folder: Path) -> list[Path]:
    """Draw what the footnotes say: wider epsilon, and smaller non-linear parts."""
    n = plan.reference
    pictures: list[tuple[str, Callable[[Any], None]]] = []
    for panel in plan.panels:
        pictures.append((f"{scenario(panel).title}: width of epsilon", _epsilon(trials, panel, n)))
    for panel, values, name, label in (
        ("variance-sine", AMPLITUDES, amplified, "amplitude of the sine"),
        ("variance-line", AMPLITUDES, amplified, "amplitude of the line"),
        ("ucb-gamma", LAMBDAS, lambda _, lam: lessened(lam), "λ"),
    ):
        if panel in plan.panels:
            laws = [(value, name(panel, value)) for value in values]
            title = f"{scenario(panel).title.partition(',')[0]}: {label}"
            pictures.append((title, _weakened(trials, laws, label, n)))
    rows = -(-len(pictures) // 2)
    figure, axes = _figure(rows, 2)
    for (title, draw), axis in zip(pictures, axes.ravel(), strict=False):
        draw(axis)
        axis.set_title(title, fontsize=10)
        axis.legend(fontsize=7, frameon=False)
    for axis in axes.ravel()[len(pictures) :]:
        axis.set_visible(False)
    figure.suptitle(f"The paper's footnotes at n = {n}", fontsize=11)
    return _save(figure, folder / "sweeps")


def _panels(
    trials: Trials,
    plan: ReproductionPlan,
    sizes: Sequence[int],
    methods: Sequence[str],
    title: str,
    stem: Path,
) -> list[Path]:
    columns = min(2, len(plan.panels))
    figure, axes = _figure(-(-len(plan.panels) // columns), columns)
    handles: dict[str, Any] = {}
    for panel, axis in zip(plan.panels, axes.ravel(), strict=False):
        for name in methods:
            measured = [n for n in sizes if (panel, name, n) in trials]
            if len(measured) > 1 or (measured and len(plan.sizes) == 1):
                handles.setdefault(name, _curve(axis, trials, panel, name, measured))
        axis.set_title(scenario(panel).title, fontsize=10)
        _logarithmic(axis, "n", sizes)
        # Few labels leave some methods without any usable fit; they must not flatten the others.
        first = [trials.quartiles(panel, m, sizes[0])[1] for m in methods
                 if (panel, m, sizes[0]) in trials]  # fmt: skip
        axis.set_ylim(top=min(axis.get_ylim()[1], 30.0 * float(np.median(first))))
    for axis in axes.ravel()[len(plan.panels) :]:
        axis.set_visible(False)
    figure.suptitle(title, fontsize=11)
    figure.legend(
        list(handles.values()),
        [_LEGEND.get(name, name) for name in handles],
        loc="outside lower center",
        ncols=5,
        fontsize=8,
        frameon=False,
        title="† an addition to the paper's six methods",
        title_fontsize=8,
    )
    return _save(figure, stem)


def _curve(axis: Any, trials: Trials, panel: str, name: str, sizes: Sequence[int]) -> Any:
    colour, marker = _STYLE[name]
    quartiles = np.array([trials.quartiles(panel, name, n) for n in sizes])
    # A method that failed in a quarter of the trials has no upper quartile to draw.
    shown = np.where(np.isfinite(quartiles), quartiles, np.nan)
    style = "--" if name in ADDITIONS else "-"
    (line,) = axis.plot(
        sizes, shown[:, 1], style, color=colour, marker=marker, markersize=4, linewidth=1.3
    )
    if name not in ADDITIONS:  # eleven bands on one another would show nothing
        axis.fill_between(sizes, shown[:, 0], shown[:, 2], color=colour, alpha=0.10, linewidth=0)
    return line


def _epsilon(trials: Trials, panel: str, n: int) -> Callable[[Any], None]:
    def draw(axis: Any) -> None:
        factors = [f for f in FACTORS if (panel, nearby(f), n) in trials]
        quartiles = np.array([trials.quartiles(panel, nearby(f), n) for f in factors])
        axis.plot(factors, quartiles[:, 1], "k^-", markersize=4, label="nearby")
        axis.fill_between(factors, quartiles[:, 0], quartiles[:, 2], color="k", alpha=0.1, lw=0)
        for name in ("sliding", "empirical"):
            if (panel, name, n) in trials:
                level = trials.quartiles(panel, name, n)[1]
                axis.axhline(level, color=_STYLE[name][0], linewidth=1.2, label=name)
        _logarithmic(axis, "epsilon / paper's epsilon", factors)

    return draw


def _weakened(
    trials: Trials, laws: Sequence[tuple[float, str]], label: str, n: int
) -> Callable[[Any], None]:
    def draw(axis: Any) -> None:
        for name in ("2mom linear", "2mom quad", "sliding", "nearby"):
            shown = [(value, law) for value, law in laws if (law, name, n) in trials]
            medians = [trials.quartiles(law, name, n)[1] for _, law in shown]
            colour, marker = _STYLE[name]
            values = [value for value, _ in shown]
            axis.plot(values, medians, color=colour, marker=marker, markersize=4, label=name)
        _logarithmic(axis, label, [value for value, _ in laws])

    return draw


def _logarithmic(axis: Any, label: str, ticks: Sequence[float]) -> None:
    """Both axes logarithmic, x with the measured values written out."""
    axis.set_xscale("log")
    axis.set_yscale("log")
    shown = [ticks[0]]
    gap = (max(ticks) / min(ticks)) ** 0.09  # nearer than this, labels would touch
    for tick in ticks[1:]:
        if tick / shown[-1] >= gap:
            shown.append(tick)
    axis.set_xticks(shown, [str(tick) for tick in shown], fontsize=7)
    axis.minorticks_off()
    axis.set_xlabel(label)
    axis.set_ylabel("MSE")


def _figure(rows: int, columns: int) -> tuple[Any, Any]:
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as missing:
        raise ValueError(
            "drawing the figure needs matplotlib: pip install 'multiobs[plot]'"
        ) from missing
    # Figure itself, not pyplot: no display, no global state.
    figure = Figure(figsize=(4.6 * columns, 3.4 * rows + 0.9), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def _save(figure: Any, stem: Path) -> list[Path]:
    import matplotlib

    paths = []
    # No date and no random identifiers: the same results give the same bytes.
    with matplotlib.rc_context({"svg.hashsalt": "multiobs", "svg.fonttype": "none"}):
        for kind in _FORMATS:
            path = stem.with_suffix(f".{kind}")
            nothing = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
            figure.savefig(path, dpi=150, metadata=nothing)
            paths.append(path)
    return paths
