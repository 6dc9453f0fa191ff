"""From options to a fitted estimator."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

from multiobs.cli.columns import Rows
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
class Fitted:
    """A fitted model and what was said on the way."""

    model: "MultiObservationRegressor"
    warnings: tuple[str, ...]
    chosen: tuple[str, ...] = ()


def fitted(settings: Settings, rows: Rows, dependent: bool = False) -> Fitted:
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
    if settings.hypothesis == "auto":
        settings, chosen = by_held_out_score(settings, rows, dependent)
    model = settings.estimator()
    with caught(said):
        model.fit(rows.X, rows.y, sample_weight=rows.weights, groups=rows.groups)
    refuse_failure(model, said)
    refuse_overflow(model, rows)
    return Fitted(model, tuple(said), chosen)


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


def refuse_overflow(model: "MultiObservationRegressor", rows: Rows) -> None:
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
    settings: "Settings", rows: Rows, dependent: bool = False
) -> tuple["Settings", tuple[str, ...]]:
    """Return the settings with the class that predicts held-out rows best, and the scores.

    Every class is fitted to two thirds of the rows and scored on the rest by the loss of the
    statistic; a class that cannot be fitted is out.
    """
    import numpy as np

    from multiobs import scoring
    from multiobs.report import Positions

    order = np.random.default_rng(settings.seed).permutation(rows.size)[:MOST]
    train, test = (np.sort(part) for part in np.split(order, [order.size * 2 // 3]))
    assert rows.y is not None
    columns = {name: rows.X[name].to_numpy()[test] for name in rows.X}
    held = Positions(columns, rows.kinds)
    blocks = held.codes()
    if rows.groups is not None:
        own = rows.groups[test]
        blocks = own if blocks is None else own * (int(blocks.max()) + 1) + blocks
    predictions = {}
    for name in CLASSES[:-1]:
        if dependent and name == "smooth":
            continue
        try:
            with caught([]):
                model = replace(settings, hypothesis=name).estimator()
                weight = None if rows.weights is None else rows.weights[train]
                groups = None if rows.groups is None else rows.groups[train]
                model.fit(rows.X.iloc[train], rows.y[train], sample_weight=weight, groups=groups)
                refuse_failure(model, [])
                predictions[name] = model.predict(rows.X.iloc[test])
        except (ValueError, Refusal):
            continue
    if not predictions:
        raise Refusal("no class could be fitted: --class line says why", Code.FIT)
    weight = None if rows.weights is None else rows.weights[test]
    with caught([]):
        table = scoring.compare(
            settings.what(), held.numeric(), rows.y[test], predictions,
            sample_weight=weight, groups=blocks,
        )  # fmt: skip
    scores = ", ".join(f"{n} {v:.4g}" for n, v in zip(table.names, table.scores, strict=True))
    sentence = f"class: {table.names[0]}, by loss on {test.size:,} held-out rows ({scores})"
    return replace(settings, hypothesis=table.names[0]), (sentence,)
