"""Statistics that are functions of the mean and the variance, with their derivatives."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from multiobs._types import FloatArray
from multiobs.statistics import Statistic


class MomentFunction(NamedTuple):
    """A statistic g(mean, variance) and its two partial derivatives, elementwise on (q,)."""

    value: Callable[[FloatArray, FloatArray], FloatArray]
    d_mean: Callable[[FloatArray, FloatArray], FloatArray]
    d_variance: Callable[[FloatArray, FloatArray], FloatArray]
    needs_positive_variance: bool


def moment_function(what: Statistic) -> MomentFunction | None:
    """Return the statistic as a function of mean and variance, None when it is not one.

    >>> from multiobs import statistics
    >>> import numpy as np
    >>> moment_function(statistics.ucb(2.0)).value(np.array([1.0]), np.array([9.0]))
    array([7.])
    """
    ones, zeros = (lambda m, v: np.ones_like(m)), (lambda m, v: np.zeros_like(m))
    second = what.name in ("central_moment", "cumulant") and what.parameters["order"] == 2
    if what.name == "variance" or second:
        return MomentFunction(lambda m, v: v, zeros, ones, False)
    if what.name == "mean":
        return MomentFunction(lambda m, v: m, ones, zeros, False)
    if what.name == "standard_deviation":
        return MomentFunction(lambda m, v: np.sqrt(v), zeros, lambda m, v: 0.5 / np.sqrt(v), True)
    if what.name == "ucb":
        lam = float(what.parameters["lam"])
        return MomentFunction(
            lambda m, v: m + lam * np.sqrt(v), ones, lambda m, v: 0.5 * lam / np.sqrt(v), True
        )
    if what.name == "dispersion_index":
        return MomentFunction(
            lambda m, v: v / m, lambda m, v: -v / m**2, lambda m, v: 1.0 / m, False
        )
    if what.name == "squared_cv":
        return MomentFunction(
            lambda m, v: v / m**2, lambda m, v: -2.0 * v / m**3, lambda m, v: 1.0 / m**2, False
        )
    return None


def required_moment_function(who: str, what: Statistic) -> MomentFunction:
    """Return the function, or say which statistics the method can estimate."""
    found = moment_function(what)
    if found is None:
        raise ValueError(
            f"{who} needs a function of mean and variance (variance, standard_deviation, ucb, "
            f"dispersion_index, squared_cv or mean), got {what!r}"
        )
    return found
