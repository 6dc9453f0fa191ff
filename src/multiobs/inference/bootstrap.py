"""Row bootstrap for any regressor: weights on rows, multiplied within tuples.

Each replicate draws a weight for every row from the standard exponential law, refits the
regressor to the pooled pseudo-observations with these weights, and reuses the tuples; a root-type
statistic takes a few Newton steps from the fit, where it took many to get there.

A forest is replicated by forests of few trees (the little bags of Athey, Tibshirani and Wager
2019): of the variance b between the means of k trees each, a k-th of the variance w within a
replicate is the noise of drawing so few trees, so that one of T trees has
:math:`b - w (1/k - 1/T)`.  Growing no tree anew, with new means in the leaves of the fitted ones,
is cheaper still and wrong: where trees are cut follows the labels as well.

Products of weights overstate the variance where few tuples share a row (sliding windows), so
deviations are scaled such that the replicates of the *constant* fit have its exact standard error.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from multiobs._progress import as_they_come, progress
from multiobs._types import FloatArray
from multiobs.fit import Problem, RegressorFit, fewer_trees, fit_regressor
from multiobs.inference.dependence import Dependence
from multiobs.inference.gradient import Gradient
from multiobs.inference.variance import meat
from multiobs.statistics import Statistic
from multiobs.statistics.kernels import Kernel, constant
from multiobs.sums import Pooled, pool
from multiobs.sums.scores import Slope, Term

TREES = 5  # of each replicate of a forest


@final
@dataclass(frozen=True)
class Refits:
    """Refitted regressors with the scale of their deviations.

    Attributes
    ----------
    models : list of regressor
        One fitted regressor for each replicate.
    scale : float
        What the spread of their predictions is multiplied by.
    trees : int or None
        How many the fitted forest has where its replicates have fewer, else None.
    """

    models: list[Any]
    scale: float
    trees: int | None = None

    def standard_errors(self, X: FloatArray) -> FloatArray:
        """Standard errors (n,) of the prediction at X (n, d), in the units of the models."""
        if self.trees is None:
            found = np.stack([np.asarray(model.predict(X)).reshape(-1) for model in self.models])
            return np.asarray(self.scale * found.std(axis=0, ddof=1))
        means, within = [], np.zeros(X.shape[0])
        for model in self.models:
            each = np.stack([tree.predict(X) for tree in model.estimators_])
            means.append(each.mean(axis=0))
            within += each.var(axis=0, ddof=1) / len(self.models)
        fewer = 1.0 / len(self.models[0].estimators_) - 1.0 / self.trees
        variance = np.var(means, axis=0, ddof=1) - fewer * within
        return np.asarray(self.scale * np.sqrt(np.maximum(variance, within / self.trees)))


def replicate(
    fit: RegressorFit,
    n_replicates: int,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
    dependence: Dependence | None = None,
    *,
    tell: Callable[[float], None] = lambda seconds: None,
) -> Refits:
    """Refit the regressor under random row weights.

    Parameters
    ----------
    fit : RegressorFit
        What is refitted.
    n_replicates : int
        How many times.
    seed : SeedSequence
        Each replicate has its own child, so the result does not depend on ``n_jobs``.
    n_jobs : int or None
        Processes, as in joblib.
    dependence : Dependence, optional
        How rows depend on each other: those of one unit are weighted alike.
    tell : callable
        Is told, after the first replicate, how many seconds the others will take.
    """
    from joblib import (  # here: intervals of a stored line need none
        Parallel,
        delayed,
        effective_n_jobs,
    )

    seeds = seed.spawn(n_replicates)
    begun = time.perf_counter()
    first = _one(fit, seeds[0], dependence)
    tell((time.perf_counter() - begun) * (n_replicates - 1) / effective_n_jobs(n_jobs))
    work = Parallel(n_jobs=n_jobs, return_as=as_they_come())(
        delayed(_one)(fit, child, dependence) for child in seeds[1:]
    )
    found = [first, *progress(work, n_replicates - 1, "replicates")]
    constants = np.array([constant for _, constant in found])
    spread = float(constants.std(ddof=1))
    scale = constant_error(fit.problem, dependence) / spread if spread > 0 else 1.0
    few = fewer_trees(fit.template, TREES) is not None
    models = [model for model, _ in found]
    return Refits(models, scale, fit.template.n_estimators if few else None)


def _one(
    fit: RegressorFit,
    seed: np.random.SeedSequence,
    dependence: Dependence | None,
) -> tuple[Any, float]:
    problem = fit.problem
    rng = np.random.default_rng(seed)
    if dependence is None:
        weight: FloatArray = np.asarray(rng.exponential(size=problem.n_rows))
    else:
        weight = dependence.weights(rng)
    if problem.weight is not None:
        weight = weight * problem.weight
    template = fewer_trees(fit.template, TREES)
    if template is None:
        template = fit.template
    else:  # trees of the same seed would share part of the noise of drawing them
        template.set_params(random_state=int(rng.integers(2**31)))
    fitted = fit_regressor(replace(problem, weight=weight), template, rng, fit.regressor)
    return fitted.regressor, _constant_fit(problem.statistic, fitted.pooled)


def _identification(statistic: Statistic) -> list[Kernel]:
    """Kernels of an identification function of r, by the power of r: what a fit pools."""
    if statistic.psi is None:
        return [kernel for _, kernel in statistic.loss.sums]
    one = constant(1.0, statistic.arity, statistic.n_columns)
    return [statistic.psi * -1.0, one if statistic.chi is None else statistic.chi]


def _root(totals: FloatArray) -> float:
    """Upper root of a polynomial of degree one or two."""
    if totals.size == 2:
        return float(-totals[0] / totals[1])
    d, b, a = totals
    return float((-b + np.sqrt(max(b * b - 4 * a * d, 0.0))) / (2 * a))


def _constant_fit(statistic: Statistic, pooled: Pooled) -> float:
    """Return the statistic of the residuals as a constant."""
    totals = pooled.weight @ pooled.values
    if statistic.psi is None:
        return _root(totals)
    below = float(pooled.weight.sum()) if statistic.chi is None else totals[1]
    return float(totals[0] / below)


def constant_error(problem: Problem, dependence: Dependence | None = None) -> float:
    """Exact standard error of the constant fit under shared labels."""
    kernels = _identification(problem.statistic)
    y = problem.residuals.labels
    pooled = pool(problem.tuples, kernels, problem.X, y, weight=problem.weight, limit=problem.limit)
    totals = pooled.weight @ pooled.values
    w = np.array([_root(totals)])
    terms = Slope(tuple(Term(kernel, (w,) * k) for k, kernel in enumerate(kernels)))
    ones = np.ones((problem.n_rows, 1))
    gradient = Gradient(terms, problem.tuples, ones, y, w, problem.weight, 1, problem.limit)
    found = meat(gradient)
    slope = sum(k * total * w[0] ** (k - 1) for k, total in enumerate(totals) if k)
    V = found.variance() if dependence is None else dependence.variance(found, gradient)
    return float(np.sqrt(max(V[0, 0], 0.0)) / abs(slope))
