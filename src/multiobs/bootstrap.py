"""Row bootstrap for any regressor: weights on rows, multiplied within tuples.

Each replicate draws a weight for every row from the standard exponential law, refits the
regressor to the pooled pseudo-observations with these weights, and reuses the tuples.  Products
of weights overstate the variance where few tuples share a row (sliding windows), so deviations
are scaled such that the replicates of the *constant* fit have its exact standard error.
"""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from joblib import Parallel, delayed

from multiobs import fitting, pooling
from multiobs._progress import progress
from multiobs._types import FloatArray
from multiobs.contract import LIMIT
from multiobs.inference.meat import meat
from multiobs.losses import ratio, squared
from multiobs.scores import slope_of
from multiobs.statistics import Statistic
from multiobs.transport import Carried
from multiobs.tuples import TupleSet


@final
@dataclass(frozen=True)
class Problem:
    """What is refitted: references to the rows and tuples of a fit with ``estimator=``."""

    estimator: Any
    statistic: Statistic
    tuples: TupleSet
    X: FloatArray
    carried: Carried
    weight: FloatArray | None
    limit: int = LIMIT


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
    problem: Problem, n_replicates: int, seed: np.random.SeedSequence, n_jobs: int | None
) -> Replicates:
    """Refit the regressor under random row weights.

    Parameters
    ----------
    problem : Problem
        What is refitted.
    n_replicates : int
        How many times.
    seed : SeedSequence
        Each replicate has its own child, so the result does not depend on ``n_jobs``.
    n_jobs : int or None
        Processes, as in joblib.
    """
    seeds = seed.spawn(n_replicates)
    work = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_one)(problem, child) for child in seeds
    )
    found = list(progress(work, n_replicates, "replicates"))
    constants = np.array([constant for _, constant in found])
    spread = float(constants.std(ddof=1))
    scale = constant_error(problem) / spread if spread > 0 else 1.0
    return Replicates([model for model, _ in found], scale)


def _one(problem: Problem, seed: np.random.SeedSequence) -> tuple[Any, float]:
    rng = np.random.default_rng(seed)
    weight: FloatArray = rng.exponential(size=problem.X.shape[0])
    if problem.weight is not None:
        weight = weight * problem.weight
    fitted = fitting.fit_estimator(
        problem.estimator,
        problem.statistic,
        problem.tuples,
        problem.X,
        problem.carried,
        weight,
        rng,
        problem.limit,
    )
    return fitted.estimator, _constant_fit(fitted.pooled)


def _constant_fit(pooled: pooling.Pooled) -> float:
    """Return the statistic of the carried labels as a constant: E[psi], or E[psi]/E[chi]."""
    total = pooled.weight @ pooled.values
    below = total[1] if pooled.values.shape[1] > 1 else float(pooled.weight.sum())
    return float(total[0] / below)


def constant_error(problem: Problem) -> float:
    """Exact standard error of the constant fit under shared labels."""
    statistic = problem.statistic
    assert statistic.psi is not None
    psi, chi = statistic.psi, statistic.chi
    loss = squared(psi) if chi is None else ratio(psi, chi)
    kernels = [psi] if chi is None else [psi, chi]
    y = problem.carried.labels
    pool = pooling.pool(
        problem.tuples, kernels, problem.X, y, weight=problem.weight, limit=problem.limit
    )
    w = np.array([_constant_fit(pool)])
    below = float(pool.weight @ pool.values[:, 1]) if chi is not None else float(pool.weight.sum())
    ones = np.ones((problem.X.shape[0], 1))
    V = meat(
        slope_of(loss, w), problem.tuples, ones, y, w, problem.weight, 1, problem.limit
    ).variance()
    return float(np.sqrt(max(V[0, 0], 0.0)) / (2.0 * below))
