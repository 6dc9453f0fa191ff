"""What a statistic knows beside its loss: its moments, its kernels' means, its ranges.

Everything is a module's function or a ``partial`` of one, so that statistics can be pickled.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from multiobs import bounds
from multiobs._types import FloatArray
from multiobs.bounds import LossConstants
from multiobs.statistics.kernels import Kernel, Monomials, moment

Range = tuple[float, float]
OfMoments = Callable[[FloatArray, FloatArray], FloatArray]

VARIANCE: Monomials = moment(2) - moment(1) * moment(1)


class MomentFunction(NamedTuple):
    """A statistic g(mean, variance) and its two partial derivatives, elementwise on (q,).

    rooted: g takes a root of the variance, which must be positive. linear: g is linear in
    (mean, variance). spread: the standard deviation as a function of the statistic's value, where
    that alone tells it.

    Examples
    --------
    >>> ucb_moments(2.0).value(np.array([1.0]), np.array([9.0]))
    array([7.])
    """

    value: OfMoments
    d_mean: OfMoments
    d_variance: OfMoments
    rooted: bool = False
    linear: bool = False
    spread: Callable[[FloatArray], FloatArray] | None = None


class KernelMeans(NamedTuple):
    """A statistic as a function of the means of kernels: combine(E[h_1], E[h_2], …)."""

    kernels: tuple[Kernel, ...]
    combine: Callable[..., FloatArray]

    @property
    def support(self) -> int:
        """How many labels the kernels need: the skewness three, though its loss takes six."""
        return max(kernel.arity for kernel in self.kernels)


class Ranges(NamedTuple):
    """What is known of a statistic when all labels lie in [a, b].

    values: the range of the statistic, None where there is none. constants: L, B and curvature of
    its loss for given ranges of y and of the prediction, None where they are not known.
    """

    values: Callable[[Range], Range | None]
    constants: Callable[[Range, Range], LossConstants] | None = None


# Functions of (mean, variance)


def _zeros(mean: FloatArray, variance: FloatArray) -> FloatArray:
    return np.zeros_like(mean)


def _ones(mean: FloatArray, variance: FloatArray) -> FloatArray:
    return np.ones_like(mean)


def _mean(mean: FloatArray, variance: FloatArray) -> FloatArray:
    return mean


def _variance(mean: FloatArray, variance: FloatArray) -> FloatArray:
    return variance


def _bound(lam: float, mean: FloatArray, variance: FloatArray) -> FloatArray:
    return np.asarray(mean + lam * np.sqrt(variance))


def _root(mean: FloatArray, variance: FloatArray) -> FloatArray:
    return np.sqrt(variance)


def _root_slope(lam: float, mean: FloatArray, variance: FloatArray) -> FloatArray:
    return np.asarray(0.5 * lam / np.sqrt(variance))


def _ratio(power: int, mean: FloatArray, variance: FloatArray) -> FloatArray:
    return np.asarray(variance / mean**power)


def _ratio_by_mean(power: int, mean: FloatArray, variance: FloatArray) -> FloatArray:
    return np.asarray(-power * variance / mean ** (power + 1))


def _ratio_by_variance(power: int, mean: FloatArray, variance: FloatArray) -> FloatArray:
    return np.asarray(1.0 / mean**power)


def _positive(value: FloatArray) -> FloatArray:
    return np.maximum(value, 0.0)


def _positive_root(value: FloatArray) -> FloatArray:
    return np.sqrt(np.maximum(value, 0.0))


MEAN_MOMENTS = MomentFunction(_mean, _ones, _zeros, linear=True)
VARIANCE_MOMENTS = MomentFunction(_variance, _zeros, _ones, linear=True, spread=_positive_root)
ROOT_MOMENTS = MomentFunction(_root, _zeros, partial(_root_slope, 1.0), True, spread=_positive)


def ucb_moments(lam: float) -> MomentFunction:
    """Return mean + lam sd as a function of mean and variance."""
    return MomentFunction(partial(_bound, lam), _ones, partial(_root_slope, lam), True)


def ratio_moments(power: int) -> MomentFunction:
    """Return variance / mean^power as a function of mean and variance."""
    return MomentFunction(
        partial(_ratio, power), partial(_ratio_by_mean, power), partial(_ratio_by_variance, power)
    )


# Functions of the means of kernels


def _bound_of(lam: float, mean: FloatArray, variance: FloatArray) -> FloatArray:
    return _bound(lam, mean, np.maximum(variance, 0.0))


def _standardised(third: FloatArray, variance: FloatArray) -> FloatArray:
    return np.asarray(third / variance**1.5)


def itself(value: FloatArray) -> FloatArray:
    """Return the mean of the only kernel."""
    return value


def quotient(top: FloatArray, bottom: FloatArray) -> FloatArray:
    """Return the ratio of the means of two kernels."""
    return np.asarray(top / bottom)


def over_square(top: FloatArray, bottom: FloatArray) -> FloatArray:
    """Return the first mean over the square of the second."""
    return np.asarray(top / bottom**2)


def weighted_sum(weight: float, one: FloatArray, two: FloatArray) -> FloatArray:
    """Return the first mean plus a multiple of the second."""
    return np.asarray(one + weight * two)


ROOT_MEANS = KernelMeans((VARIANCE,), _positive_root)


def ucb_means(lam: float) -> KernelMeans:
    """Return mean + lam sd of the unbiased mean and variance."""
    return KernelMeans((moment(1), VARIANCE), partial(_bound_of, lam))


def skewness_means(third: Monomials) -> KernelMeans:
    """Return the third central moment over the cube of the standard deviation."""
    return KernelMeans((third, VARIANCE), _standardised)


# Ranges for labels in [a, b]


def _kernel_values(kernel: str, order: int, y: Range) -> Range:
    return bounds.kernel_range(kernel, y, order=order)


def _kernel_constants(kernel: str, order: int, y: Range, r: Range) -> LossConstants:
    return bounds.squared_loss_constants(bounds.kernel_range(kernel, y, order=order), r)


def _variance_values(y: Range) -> Range:
    return 0.0, (y[1] - y[0]) ** 2 / 4  # Popoviciu: no law on [a, b] has a larger variance


def _root_values(y: Range) -> Range:
    return 0.0, (y[1] - y[0]) / 2


def _ucb_values(lam: float, y: Range) -> Range:
    return y[0], y[1] + lam * (y[1] - y[0]) / 2


def _cubic_constants(lam: float, y: Range, r: Range) -> LossConstants:
    return bounds.ucb_loss_constants(lam, y, r, loss="cubic")


def _quartic_constants(lam: float, level: float | None, y: Range, r: Range) -> LossConstants:
    # A level that follows a pilot lies somewhere in the range of y: its lower end is farthest.
    return bounds.ucb_loss_constants(lam, y, r, reference=y[0] if level is None else level)


def _dispersion_values(y: Range) -> Range | None:
    return (0.0, (y[1] - y[0]) ** 2 / (4 * y[0])) if y[0] > 0 else None


def _dispersion_constants(y: Range, r: Range) -> LossConstants:
    return bounds.ratio_loss_constants((0.0, (y[1] - y[0]) ** 2 / 2), y, r, chi_mean=y[0])


def kernel_ranges(kernel: str, order: int = 2) -> Ranges:
    """Return the ranges of a mean-type statistic whose kernel :mod:`multiobs.bounds` knows."""
    values = partial(_kernel_values, kernel, order)
    return Ranges(values, partial(_kernel_constants, kernel, order))


VARIANCE_RANGES = Ranges(_variance_values, partial(_kernel_constants, "variance", 2))
ROOT_RANGES = Ranges(_root_values)
DISPERSION_RANGES = Ranges(_dispersion_values, _dispersion_constants)


def ucb_ranges(lam: float, cubic: bool, level: float | None) -> Ranges:
    """Return the ranges of mean + lam sd; level None follows a pilot."""
    constants = partial(_cubic_constants, lam) if cubic else partial(_quartic_constants, lam, level)
    return Ranges(partial(_ucb_values, lam), constants)


def moment_facts(order: int) -> dict[str, MomentFunction | Ranges]:
    """Return what is known of a central moment or cumulant of an order from its order alone."""
    if order == 1:
        return {"moments": MEAN_MOMENTS, "ranges": kernel_ranges("mean")}
    if order == 2:
        return {"moments": VARIANCE_MOMENTS, "ranges": VARIANCE_RANGES}
    return {"ranges": kernel_ranges("third_central_moment")} if order == 3 else {}
