"""Row bootstrap for any regressor: weights on rows, multiplied within tuples.

Each replicate draws a weight for every row from the standard exponential law, refits the
regressor to the pooled pseudo-observations with these weights, and reuses the tuples; a root-type
statistic takes a few Newton steps from the fit, where it took many to get there.  Products
of weights overstate the variance where few tuples share a row (sliding windows), so deviations
are scaled such that the replicates of the *constant* fit have its exact standard error.
"""

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from multiobs._progress import as_they_come, progress
from multiobs._types import FloatArray
from multiobs.fit import Problem, RegressorFit, fit_regressor
from multiobs.inference.dependence import Dependence
from multiobs.inference.gradient import Gradient
from multiobs.inference.variance import meat
from multiobs.statistics import Statistic
from multiobs.statistics.kernels import Kernel, constant
from multiobs.sums import Pooled, pool
from multiobs.sums.scores import Slope, Term


@final
@dataclass(frozen=True)
class Replicates:
    """Refitted regressors with the scale of their deviations.

    Attributes
    ----------
    models : list of regressor
        One fitted regressor for each replicate.
    scale : float
        What the spread of their predictions is multiplied by.
    """

    models: list[Any]
    scale: float

    def standard_errors(self, X: FloatArray) -> FloatArray:
        """Standard errors (n,) of the prediction at X (n, d), in the units of the models."""
        found = np.stack([np.asarray(model.predict(X)).reshape(-1) for model in self.models])
        return np.asarray(self.scale * found.std(axis=0, ddof=1))


def replicate(
    fit: RegressorFit,
    n_replicates: int,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
    dependence: Dependence | None = None,
) -> Replicates:
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
    """
    from joblib import Parallel, delayed  # here: intervals of a stored line need none

    seeds = seed.spawn(n_replicates)
    work = Parallel(n_jobs=n_jobs, return_as=as_they_come())(
        delayed(_one)(fit, child, dependence) for child in seeds
    )
    found = list(progress(work, n_replicates, "replicates"))
    constants = np.array([constant for _, constant in found])
    spread = float(constants.std(ddof=1))
    scale = constant_error(fit.problem, dependence) / spread if spread > 0 else 1.0
    return Replicates([model for model, _ in found], scale)


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
    fitted = fit_regressor(replace(problem, weight=weight), fit.template, rng, fit.regressor)
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
