"""Intervals of any regressor, by replicates of its fit that are kept for the next question."""

from dataclasses import dataclass
from typing import Literal, final

import numpy as np
import numpy.typing as npt

from multiobs import _check
from multiobs._types import FloatArray
from multiobs.estimator.fitted import Fitted
from multiobs.estimator.messages import warn_of_cost
from multiobs.fit import RegressorFit
from multiobs.inference import Method, bootstrap, dependence_of, limits

ClusterLabels = npt.ArrayLike | Literal["serial"] | None


@final
@dataclass(frozen=True)
class Bootstrap:
    """What is asked of a bootstrap of rows.

    Attributes
    ----------
    n_replicates : int
        How many.
    clusters : array-like, "serial" or None
        Which rows depend on each other.
    n_jobs : int or None
        Processes, as in joblib.
    """

    n_replicates: int
    clusters: ClusterLabels
    n_jobs: int | None


def replicated_interval(
    fitted: Fitted, asked: Bootstrap, at: FloatArray, level: float, method: Method
) -> FloatArray:
    """Confidence limits (n, 2) at positions (n, d) of a fit with ``estimator=``."""
    result = fitted.result
    assert isinstance(result, RegressorFit)
    count = _check.integer("n_bootstrap", asked.n_replicates, low=2)
    held = fitted.replicates
    dependence = dependence_of(asked.clusters, result.problem.place)
    known = dependence is None and count in held
    if fitted.effective is not None and not known:
        raise ValueError(
            "predict_interval with estimator= needs the rows, which drop_rows dropped: ask for "
            f"an interval with n_bootstrap={count} before"
        )
    if fitted.too_few:
        return np.full((at.shape[0], 2), np.nan)
    found = (
        held[count]
        if known
        else bootstrap.replicate(
            result, count, fitted.seed, asked.n_jobs, dependence, tell=warn_of_cost
        )
    )
    if dependence is None:
        held[count] = found
    error = found.standard_errors(at) * result.problem.units.factor
    domain = fitted.statistic.domain
    return limits(result.predict(at), error, np.inf, level, method, domain)
