"""Any regressor as the class of functions, fitted to pooled pseudo-observations."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.fit.forests import fewer_trees
from multiobs.fit.problem import Problem
from multiobs.fit.roots import NEAR, ROUNDS, newton_root
from multiobs.fit.rowwise import pool_rows
from multiobs.sums import Pooled, pool
from multiobs.transport import LocationScale, in_bins
from multiobs.tuples import TupleSet, Windows

TREES, TOWARDS = 10, 3  # of a forest on its way to a root, and steps of it


@final
@dataclass(frozen=True)
class RegressorFit:
    """A regressor fitted to pooled pseudo-observations.

    Attributes
    ----------
    problem : Problem
        What was fitted.
    template : regressor
        What it is a fitted clone of.
    regressor : regressor
        The fitted one, in working units.
    pooled : Pooled
        The pseudo-observations.
    """

    problem: Problem
    template: Any
    regressor: Any
    pooled: Pooled

    def predict(self, X: FloatArray) -> FloatArray:
        """The statistic (n,) at positions X (n, d), in the user's units."""
        raw: FloatArray = np.asarray(self.regressor.predict(X), dtype=np.float64).reshape(-1)
        return self.problem.units.outward(raw)


def fit_regressor(
    problem: Problem, template: Any, rng: np.random.Generator, near: Any = None
) -> RegressorFit:
    """Fit any regressor to pooled pseudo-observations.

    The tuples of each anchor are one pseudo-observation, those of each row where the windows are
    leaves of several trees.
    A mean is regressed on psi, a ratio on psi/chi with weight chi.  A root-type statistic is
    reached by Newton steps on its identification function V: regress r + V/V', repeat; those of a
    forest have few trees, but for the last.  A regressor whose ``fit`` takes no ``sample_weight``
    gets a weighted resample of the same size.

    Parameters
    ----------
    problem : Problem
        What is fitted.
    template : regressor
        Cloned, never fitted itself.
    rng : Generator
        For the resample.
    near : regressor, optional
        A fit to nearly the same problem: a few Newton steps from it are enough.
    """
    statistic = problem.statistic
    if statistic.psi is not None:
        kernels = [statistic.psi] if statistic.chi is None else [statistic.psi, statistic.chi]
    elif statistic.loss.level(problem.residuals.labels) is not None:
        kernels = [h for _, h in statistic.loss.sums]
    else:
        raise ValueError(
            "estimator must be None for a statistic known by its loss alone, "
            f"got {type(template).__name__} for {statistic!r}"
        )
    found = _pool_of(problem.tuples)(
        problem.tuples,
        kernels,
        problem.X,
        problem.residuals.labels,
        weight=problem.weight,
        limit=problem.limit,
    )
    way_back = problem.residuals.map_at(found.x, statistic.scale)
    importance = found.weight / found.weight.mean()
    if statistic.psi is None:
        model = _fit_root(template, found, way_back, rng, near)
        return RegressorFit(problem, template, model, found)
    target = found.values[:, 0]
    if statistic.chi is not None:
        chi = found.values[:, 1]
        usable = chi > 0
        target = np.where(usable, target / np.where(usable, chi, 1.0), 0.0)
        importance = importance * np.where(usable, chi, 0.0)
    model = _fit_once(template, found.x, way_back.outward(target), importance, rng)
    return RegressorFit(problem, template, model, found)


def _pool_of(tuples: TupleSet) -> Callable[..., Pooled]:
    """By anchors, or by rows where a row is the anchor of several windows."""
    repeated = isinstance(tuples, Windows) and tuples.order.size > tuples.n_rows
    return pool_rows if repeated else pool


def _fit_root(
    template: Any, pooled: Pooled, way_back: LocationScale, rng: np.random.Generator, near: Any
) -> Any:
    fitted: list[Any] = []

    def steps(with_template: Any, rounds: int, start: FloatArray | None) -> FloatArray:
        def refit(target: FloatArray, weight: FloatArray) -> FloatArray:
            fitted.append(_fit_once(with_template, pooled.x, target, weight, rng))
            return np.asarray(fitted[-1].predict(pooled.x), dtype=np.float64)

        return newton_root(pooled, way_back, refit, rounds, start)[0]

    few = fewer_trees(template, TREES)
    if near is not None:
        start = np.asarray(near.predict(pooled.x), dtype=np.float64).reshape(-1)
        steps(template, NEAR, way_back.inward(start))
    elif few is not None:  # a step's error enters the next one squared
        steps(template, 1, steps(few, TOWARDS, None))
    else:
        steps(template, ROUNDS, None)
    return fitted[-1]


def _fit_once(
    template: Any, x: FloatArray, target: FloatArray, weight: FloatArray, rng: np.random.Generator
) -> Any:
    from sklearn.base import clone  # here: a stored line predicts without scikit-learn
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import has_fit_parameter

    model = clone(template)
    if isinstance(model, Pipeline):
        last, name = model.steps[-1][1], f"{model.steps[-1][0]}__sample_weight"
    else:
        last, name = model, "sample_weight"
    x = in_bins(model, x)
    if has_fit_parameter(last, "sample_weight"):
        return model.fit(x, target, **{name: weight / weight.mean()})
    chosen: IntArray = rng.choice(target.size, size=target.size, p=weight / weight.sum())
    return model.fit(x[chosen], target[chosen])
