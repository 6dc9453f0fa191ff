"""How far the fit can be trusted: held-out scores, reliability, widths, rows that matter."""

import warnings
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from sklearn.base import clone

from multiobs import baselines, scoring
from multiobs._types import FloatArray, IntArray
from multiobs.report.study import Study
from multiobs.samplers import paper_epsilon

MOST = 20_000  # rows that comparisons use; more would not change what they say
MANY = 200_000  # rows beyond which no row is left out and refitted


@final
@dataclass(frozen=True)
class HeldOutChecks:
    """What held-out rows say.

    Attributes
    ----------
    comparison : Comparison
        The model and other methods, each fitted to the training rows.
    reliability : Reliability or None
        Of the model.
    calibration : CalibrationTest or None
        Of the model.
    others : dict of str to regressor
        The other methods, fitted to all rows used.
    left_out : tuple of str
        Methods that do not apply, and why.
    train, test : int
        Numbers of rows.
    """

    comparison: scoring.Comparison
    reliability: scoring.Reliability | None
    calibration: scoring.CalibrationTest | None
    others: dict[str, Any]
    left_out: tuple[str, ...]
    train: int
    test: int


def other_methods(study: Study) -> dict[str, Any]:
    """The baselines that a practitioner would use, not yet fitted."""
    what = study.statistic
    return {
        "residuals": baselines.ResidualRegressor(what),
        "two moments": baselines.TwoMomentRegressor(what),
        "nearest rows": baselines.LocalPlugInRegressor(
            what, neighbourhood="nearest", random_state=study.seed
        ),
    }


def held_out(study: Study) -> HeldOutChecks | None:
    """Refit to two thirds of the rows and score on the rest; None where that cannot be done."""
    rng = np.random.default_rng(study.seed)
    rows = rng.permutation(study.x.size)[:MOST]
    cut = rows.size * 2 // 3
    train, test = np.sort(rows[:cut]), np.sort(rows[cut:])
    if test.size < 10 * study.statistic.arity:
        return None
    blocks = study.blocks()
    codes = None if blocks is None else blocks[test]
    weight = None if study.weights is None else study.weights[test]
    left_out: list[str] = []
    predictions: dict[str, FloatArray] = {}
    others: dict[str, Any] = {}
    levels = study.x.levels
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            again = refitted(study, train)
            predictions["this model"] = again.predict(study.x.at(test).frame())
        except ValueError:
            return None
        for name, method in other_methods(study).items():
            try:
                fitted = clone(method).fit(study.x.at(train).expanded(levels), study.y[train])
                values = fitted.predict(study.x.at(test).expanded(levels))
                if not np.all(np.isfinite(values)):
                    raise ValueError("its predictions are not finite")
                predictions[name] = values
                others[name] = clone(method).fit(study.x.at(rows).expanded(levels), study.y[rows])
            except (ValueError, TypeError, NotImplementedError) as problem:
                left_out.append(f"{name}: {problem}")
        numbers = study.x.at(test).numeric()
        given: dict[str, Any] = {"sample_weight": weight, "groups": codes}
        try:
            table = scoring.compare(study.statistic, numbers, study.y[test], predictions, **given)
        except ValueError:
            return None
        own = predictions["this model"]
        curve, test_ = None, None
        try:
            curve = scoring.reliability_curve(
                study.statistic, numbers, study.y[test], own, n_bins=8, **given
            )
            test_ = scoring.calibration_test(study.statistic, numbers, study.y[test], own, **given)
        except ValueError:
            pass
    return HeldOutChecks(table, curve, test_, others, tuple(left_out), train.size, test.size)


def refitted(study: Study, rows: IntArray) -> Any:
    """Return the model refitted to some of the rows."""
    given: dict[str, Any] = {}
    for name, values in (
        ("sample_weight", study.weights),
        ("groups", study.groups),
    ):
        if values is not None:
            given[name] = values[rows]
    return clone(study.model).fit(study.x.at(rows).frame(), study.y[rows], **given)


def width_path(study: Study) -> scoring.EpsilonPath | None:
    """Held-out score as a function of the width of neighbourhoods; None where there is none."""
    numbers = [name for name, kind in study.x.kinds.items() if kind != "category"]
    if study.x.levels or not numbers or study.statistic.arity == 1 or study.y.ndim > 1:
        return None
    rng = np.random.default_rng(study.seed)
    rows = np.sort(rng.permutation(study.x.size)[:1_500])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            x = study.x.at(rows).numeric()
            widths = paper_epsilon(x) * 2.0 ** np.arange(-1, 6, 1 if x.shape[1] == 1 else 2)
            return scoring.epsilon_path(
                clone(study.model),
                x,
                study.y[rows],
                epsilons=widths,
                cv=3 if x.shape[1] == 1 else 2,
            )
        except (ValueError, MemoryError):
            return None


@final
@dataclass(frozen=True)
class Influence:
    """What leaving out one row changes.

    Attributes
    ----------
    row : int
        Its number in the file, from one.
    where : str
        Its x.
    label : float
        Its y.
    before, after : float
        The statistic where it changes most.
    errors : float
        That change in standard errors (NaN without intervals).
    """

    row: int
    where: str
    label: float
    before: float
    after: float
    errors: float


def influential(study: Study, most: int = 8) -> list[Influence]:
    """Rows whose absence moves the fit most, by refitting without each of the likeliest.

    The likeliest are those farthest from the median of their neighbours in the order of x.
    """
    n = study.x.size
    if study.y.ndim > 1 or n > MANY or n < 20:
        return []
    tried = most if n <= MOST else 3  # a refit each
    first = study.x.numeric()[:, 0]
    order = np.argsort(first, kind="stable")
    distance = np.empty(n)
    near = np.lib.stride_tricks.sliding_window_view(study.y[order], 11)
    middle = np.median(near, axis=1)
    distance[order] = np.abs(study.y[order] - np.pad(middle, 5, mode="edge"))
    if study.weights is not None:
        distance = distance * study.weights
    candidates = np.argsort(distance)[::-1][:tried]
    places = np.sort(np.random.default_rng(study.seed).permutation(n)[:200])
    at = study.x.at(places)
    before = study.model.predict(at.frame())
    error = _errors(study, at)
    found = []
    for row in candidates:
        others = np.delete(np.arange(n), row)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                after = refitted(study, others).predict(at.frame())
            except ValueError:
                continue
        change = np.abs(after - before) / error if error is not None else np.abs(after - before)
        worst = int(np.nanargmax(change))
        here = {name: values[row] for name, values in study.x.columns.items()}
        where = ", ".join(f"{k} = {study.x.said(k, v)}" for k, v in list(here.items())[:4])
        found.append(
            Influence(
                int(row) + 1 if study.numbers is None else int(study.numbers[row]),
                where,
                float(study.y[row]),
                float(before[worst]),
                float(after[worst]),
                float(change[worst]) if error is not None else float("nan"),
            )
        )
    return sorted(found, key=lambda each: -abs(each.after - each.before))


def _errors(study: Study, at: Any) -> FloatArray | None:
    from multiobs.report.curves import limits_at

    band = limits_at(study, at)
    if band is None:
        return None
    width = np.asarray((band[:, 1] - band[:, 0]) / 3.92)
    return np.where(width > 0, width, np.nan) if np.any(width > 0) else None
