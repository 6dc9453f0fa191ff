"""Working units: y and the features near one, and the way back.

Labels of 1e8 + noise, times in nanoseconds and scales of 1e-150 are ordinary inputs.  What may
be shifted or scaled is what the statistic declares.
"""

from dataclasses import dataclass
from math import frexp, inf, isfinite
from typing import final

import numpy as np

from multiobs._types import FloatArray
from multiobs.statistics import Statistic

MANY = 10_000  # units are taken of about so many rows: near enough, and no second pass


@final
@dataclass(frozen=True)
class LabelUnits:
    """y = shift + scale · y', and what that does to the statistic: r = offset + factor · r'.

    A ridge penalty of the user's units is multiplied by ``penalty`` in the working ones.
    """

    shift: FloatArray
    scale: float
    factor: float
    offset: float
    penalty: float

    def inward(self, y: FloatArray) -> FloatArray:
        """Labels in working units."""
        out = np.asarray(y - self.shift)
        out /= self.scale
        return out

    def outward(self, r: FloatArray) -> FloatArray:
        """Statistic in the user's units."""
        return self.offset + self.factor * r


SAME_UNITS = LabelUnits(np.asarray(0.0), 1.0, 1.0, 0.0, 1.0)  # nothing shifted, nothing scaled


def label_units(
    statistic: Statistic, y: FloatArray, may_shift: bool, weight: FloatArray | None = None
) -> LabelUnits:
    """Choose units for y by the statistic's declared equivariances.

    Parameters
    ----------
    statistic : Statistic
        What is estimated.
    y : ndarray (n,) or (n, s)
        Labels.
    may_shift : bool
        Whether the class of functions contains the constants that a shift would add.
    weight : ndarray (n,), optional
        Weights of the rows.
    """
    columns = y[:, None] if y.ndim == 1 else y
    level = np.zeros(columns.shape[1])
    if statistic.shift == "invariant" or (statistic.shift == "equivariant" and may_shift):
        level = np.array([_median(column, weight) for column in columns.T])
    scale = 1.0
    if statistic.scale is not None:
        scale = power_of_two(columns, level)
    factor = _power(scale, statistic.scale or 0)
    if not isfinite(factor):
        raise ValueError(
            f"{statistic.name} must be representable, got labels near {scale:.3g} whose power "
            f"{statistic.scale} is not: divide y by a constant"
        )
    offset = float(level[0]) if statistic.shift == "equivariant" else 0.0
    shift = level if y.ndim == 2 else level[0]
    # (w / factor)² per (loss / scale^degree), in one power so that neither overflows
    penalty = _power(scale, 2 * (statistic.scale or 0) - statistic.loss_growth)
    return LabelUnits(np.asarray(shift), scale, factor, offset, penalty)


def _median(y: FloatArray, weight: FloatArray | None) -> float:
    """Lower median; a row of weight two counts like two rows, whatever else is fitted."""
    if weight is None:
        if y.size > MANY:
            y = y[:: y.size // MANY]
        return float(np.partition(y, (y.size - 1) // 2)[(y.size - 1) // 2])
    order = np.argsort(y, kind="stable")
    below = np.cumsum(weight[order])
    return float(y[order[np.searchsorted(below, below[-1] / 2)]])


def _power(base: float, exponent: int) -> float:
    try:
        return base**exponent
    except OverflowError:
        return inf


def power_of_two(columns: FloatArray, level: FloatArray) -> float:
    """Power of two near the root mean square about a level, so that scaling loses no digit."""
    n = columns.shape[0]
    if n == 0:
        return 1.0
    largest = float(np.max(np.maximum(columns.max(axis=0) - level, level - columns.min(axis=0))))
    if not largest > 0:
        return 1.0
    some = columns if n <= MANY else columns[:: n // MANY]
    rms = largest * float(np.sqrt(np.mean(((some - level) / largest) ** 2)))
    if n > MANY:  # an outlier among the rows not looked at must not become too large to square
        rms = max(rms, largest / float(n) ** 0.5)
    return 2.0 ** min(frexp(rms)[1], 1023)
