"""Comfortable units: y and the features near one, and coefficients carried back.

Labels of 1e8 + noise, times in nanoseconds and scales of 1e-150 are ordinary inputs.  What may
be shifted or scaled is what the statistic declares.
"""

from dataclasses import dataclass
from math import frexp
from typing import final

import numpy as np

from multiobs._types import FloatArray
from multiobs.kernels import Equality, Kernel, Monomials, OrderStatistic
from multiobs.losses import BregmanLoss, Loss, PolynomialLoss, RootLoss
from multiobs.statistics import Statistic


@final
@dataclass(frozen=True)
class LabelUnits:
    """y = shift + scale · y', and what that does to the statistic: r = offset + factor · r'."""

    shift: FloatArray
    scale: float
    factor: float
    offset: float
    loss_factor: float

    def inward(self, y: FloatArray) -> FloatArray:
        """Labels in comfortable units."""
        return np.asarray((y - self.shift) / self.scale)

    def outward(self, r: FloatArray) -> FloatArray:
        """Statistic in the user's units."""
        return self.offset + self.factor * r


def label_units(statistic: Statistic, y: FloatArray, may_shift: bool) -> LabelUnits:
    """Choose units for y by the statistic's declared equivariances.

    Parameters
    ----------
    statistic : Statistic
        What is estimated.
    y : ndarray (n,) or (n, s)
        Labels.
    may_shift : bool
        Whether the class of functions contains the constants that a shift would add.
    """
    columns = y[:, None] if y.ndim == 1 else y
    level = np.zeros(columns.shape[1])
    if statistic.shift == "invariant" or (statistic.shift == "equivariant" and may_shift):
        level = np.median(columns, axis=0)
    scale = 1.0
    if statistic.scale is not None:
        scale = power_of_two(columns - level)
    factor = scale ** (statistic.scale or 0)
    offset = float(level[0]) if statistic.shift == "equivariant" else 0.0
    degree = loss_degree(statistic)
    shift = level if y.ndim == 2 else level[0]
    return LabelUnits(np.asarray(shift), scale, factor, offset, scale**degree)


def power_of_two(values: FloatArray) -> float:
    """Power of two near the root mean square, so that scaling loses no digit."""
    largest = float(np.max(np.abs(values), initial=0.0))
    if not largest > 0:
        return 1.0
    rms = largest * float(np.sqrt(np.mean((values / largest) ** 2)))
    return 2.0 ** frexp(rms)[1]


def loss_degree(statistic: Statistic) -> int:
    """The power of c by which the loss grows when y grows c times and r with it."""
    if statistic.scale is None:
        return 0
    loss: Loss = statistic.loss
    if isinstance(loss, RootLoss):
        return kernel_degree(loss.quadratic) + 4 * statistic.scale
    if isinstance(loss, PolynomialLoss):
        top = loss.kernels[loss.degree]
        assert top is not None
        return kernel_degree(top) + loss.degree * statistic.scale
    if isinstance(loss, BregmanLoss):
        return 0 if loss.kind == "gamma" else statistic.scale
    return 0


def kernel_degree(kernel: Kernel) -> int:
    """Degree of homogeneity of a kernel in y."""
    if isinstance(kernel, Monomials):
        return max((sum(sum(e) for e in term) for term in kernel.terms), default=0)
    return 1 if isinstance(kernel, OrderStatistic) else 0 if isinstance(kernel, Equality) else 0
