"""From options to a fitted estimator."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from multiobs.cli.columns import FileRows
from multiobs.cli.naming import sampler_of, statistic_of
from multiobs.cli.problems import Code, Refusal, rows_text
from multiobs.cli.session import caught

if TYPE_CHECKING:
    from multiobs import MultiObservationRegressor
    from multiobs.samplers import Sampler
    from multiobs.statistics import Statistic
    from multiobs.transport import Transport

MOST = 20_000  # rows that the choice of a class looks at
CLASSES = ("line", "smooth", "boosting", "auto")
TRANSPORTS: "dict[str, Transport]" = {
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

    def drawing(self) -> "str | Sampler":
        """Return the sampler itself, or the name of one."""
        return sampler_of(self.sampler)

    def moving(self) -> "Transport":
        """Return the transport."""
        if self.transport not in TRANSPORTS:
            raise Refusal(
                f"--transport must be one of {', '.join(TRANSPORTS)}, got {self.transport!r}",
                Code.USAGE,
            )
        return TRANSPORTS[self.transport]

    def estimator(self) -> "MultiObservationRegressor":
        """Return the estimator, not yet fitted."""
        from multiobs import MultiObservationRegressor

        if self.hypothesis not in CLASSES:
            raise Refusal(
                f"--class must be one of {', '.join(CLASSES)}, got {self.hypothesis!r}", Code.USAGE
            )
        return MultiObservationRegressor(
            self.what(),
            self.drawing(),
            transport=self.moving(),
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
        return {}


@final
@dataclass(frozen=True)
class FittedModel:
    """A fitted model and what was said on the way."""

    model: "MultiObservationRegressor"
    warnings: tuple[str, ...]
    chosen: tuple[str, ...] = ()


def fitted(settings: Settings, rows: FileRows, dependent: bool = False) -> FittedModel:
    """Fit, or refuse with the reason; a fit that did not converge is refused too.

    Parameters
    ----------
    settings : Settings
        How.
    rows : Rows
        To what.
    dependent : bool
        Whether intervals must allow for rows that depend on each other, as smooth terms cannot.
    """
    said: list[str] = []
    statistic = settings.what()
    if statistic.n_columns != (1 if rows.y is None or rows.y.ndim == 1 else rows.y.shape[1]):
        raise Refusal(
            f"{statistic.name} needs {rows_text(statistic.n_columns, 'column')} of --y", Code.USAGE
        )
    assert rows.y is not None
    chosen: tuple[str, ...] = ()
    model = settings.estimator()
    if settings.hypothesis == "auto":
        model, chosen = by_held_out_score(model, rows, dependent)
    with caught(said):
        model.fit(rows.X, rows.y, sample_weight=rows.weights, groups=rows.groups)
    refuse_failure(model, said)
    refuse_overflow(model, rows)
    return FittedModel(model, tuple(said), chosen)


def refuse_failure(model: "MultiObservationRegressor", said: list[str]) -> None:
    """Refuse coefficients that cannot be used."""
    from multiobs.fit import RegressorFit
    from multiobs.inference import AdditiveFit

    result = model.result_
    if isinstance(result, RegressorFit):
        return  # whether its trees are any good is what held-out scores say
    status = result.status if isinstance(result, AdditiveFit) else result.solution.status
    if not status.success:
        raise Refusal(
            f"the fit failed and nothing was written; --class smooth may help: {' '.join(said)}",
            Code.FIT,
        )


def refuse_overflow(model: "MultiObservationRegressor", rows: FileRows) -> None:
    """Refuse a fit whose values are no numbers, as of labels whose squares are too large."""
    import numpy as np

    with np.errstate(all="ignore"):
        values = model.predict(rows.X.iloc[:1000])
    if not np.all(np.isfinite(values)):
        raise Refusal(
            "the fit must have finite values, got some that are not: divide y by a constant, its "
            "powers are too large for a float",
            Code.FIT,
        )


def by_held_out_score(
    model: "MultiObservationRegressor", rows: FileRows, dependent: bool = False
) -> tuple["MultiObservationRegressor", tuple[str, ...]]:
    """Return the model with the class that ``estimator="auto"`` chooses, and why it did.

    The choice looks at no more than ``MOST`` rows. A constant is left to the line, whose slopes
    say it, and smooth terms cannot allow for rows that depend on each other.
    """
    import numpy as np

    from multiobs.estimator import candidates

    rng = np.random.default_rng(model.random_state)
    some = np.sort(rng.permutation(rows.size)[:MOST])
    assert rows.y is not None
    weight = None if rows.weights is None else rows.weights[some]
    groups = None if rows.groups is None else rows.groups[some]
    with caught([]):
        model.set_params(estimator="auto")
        model.fit(rows.X.iloc[some], rows.y[some], sample_weight=weight, groups=groups)
    scores = model.plan_.scores
    assert scores is not None
    known = {
        each.name: each
        for each in candidates(model.statistic_, 2, rows.size)  # all: which were scored is known
        if each.name != "constant" and not (dependent and each.name.startswith("smooth"))
    }
    scored = [name for name in known if name in scores.names]  # one without a value has no score
    chosen = known[scores.simplest(*scored) if scored else "line"]
    model.set_params(features=chosen.features, estimator=chosen.estimator)
    table = zip(scores.names, scores.scores, strict=True)
    listed = ", ".join(f"{name} {value:.4g}" for name, value in table)
    sentence = (
        f"class: {chosen.name}, which no richer one beats by a margin of held-out loss, "
        f"in {rows_text(some.size)} ({listed})"
    )
    if scores.left(*scored) != tuple(scored):
        pairs = ", ".join(scores.interacting)
        sentence += f"; {pairs} interact by the tests of every fold: no class without is taken"
    return model, (sentence,)
