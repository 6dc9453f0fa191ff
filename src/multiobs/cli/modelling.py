"""From options to a fitted estimator."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, final

from multiobs.cli.columns import Rows
from multiobs.cli.naming import sampler_of, statistic_of
from multiobs.cli.problems import Code, Refusal, rows_text
from multiobs.cli.session import caught

if TYPE_CHECKING:
    from multiobs import MultiObservationRegressor
    from multiobs.statistics import Statistic

CLASSES = ("line", "smooth", "boosting", "auto")
TRANSPORTS: dict[str, Literal["auto", "location", "location-scale"] | None] = {
    "auto": "auto",
    "location": "location",
    "location-scale": "location-scale",
    "none": None,
}


@final
@dataclass(frozen=True)
class Settings:
    """How to fit, as typed.

    Attributes
    ----------
    statistic, sampler, hypothesis, transport : str
        What to estimate, from which metasamples, in which class, with which transport.
    seed : int
        Of everything that draws.
    """

    statistic: str = "variance"
    sampler: str = "auto"
    hypothesis: str = "line"
    transport: str = "auto"
    seed: int = 0

    def what(self) -> "Statistic":
        """Return the statistic itself."""
        return statistic_of(self.statistic)

    def estimator(self) -> "MultiObservationRegressor":
        """Return the estimator, not yet fitted."""
        from multiobs import MultiObservationRegressor

        if self.hypothesis not in CLASSES:
            raise Refusal(
                f"--class must be one of {', '.join(CLASSES)}, got {self.hypothesis!r}", Code.USAGE
            )
        if self.transport not in TRANSPORTS:
            raise Refusal(
                f"--transport must be one of {', '.join(TRANSPORTS)}, got {self.transport!r}",
                Code.USAGE,
            )
        return MultiObservationRegressor(
            self.what(),
            sampler_of(self.sampler),
            transport=TRANSPORTS[self.transport],
            random_state=self.seed,
            **self._hypothesis(),
        )

    def _hypothesis(self) -> dict[str, Any]:
        if self.hypothesis == "smooth":
            return {"features": "smooth"}
        if self.hypothesis == "boosting":
            from sklearn.ensemble import HistGradientBoostingRegressor

            return {
                "estimator": HistGradientBoostingRegressor(max_iter=100, random_state=self.seed)
            }
        return {"estimator": "auto"} if self.hypothesis == "auto" else {}


@final
@dataclass(frozen=True)
class Fitted:
    """A fitted model and what was said on the way."""

    model: "MultiObservationRegressor"
    warnings: tuple[str, ...]


def fitted(settings: Settings, rows: Rows) -> Fitted:
    """Fit, or refuse with the reason; a fit that did not converge is refused too.

    Parameters
    ----------
    settings : Settings
        How.
    rows : Rows
        To what.
    """
    said: list[str] = []
    model = settings.estimator()
    statistic = settings.what()
    if statistic.n_columns != (1 if rows.y is None or rows.y.ndim == 1 else rows.y.shape[1]):
        raise Refusal(
            f"{statistic.name} needs {rows_text(statistic.n_columns, 'column')} of --y", Code.USAGE
        )
    assert rows.y is not None
    more = {} if rows.clusters is None else {"clusters": rows.clusters}
    with caught(said):
        model.fit(rows.X, rows.y, sample_weight=rows.weights, groups=rows.groups, **more)
    refuse_failure(model, said)
    return Fitted(model, tuple(said))


def refuse_failure(model: "MultiObservationRegressor", said: list[str]) -> None:
    """Refuse coefficients that cannot be used."""
    solution = getattr(model, "solution_", None)  # other classes than the linear have none
    if solution is not None and not solution.status.success:
        raise Refusal(
            f"the fit failed and nothing was written; --class smooth may help: {' '.join(said)}",
            Code.FIT,
        )
