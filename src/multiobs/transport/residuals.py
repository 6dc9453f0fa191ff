r"""Transport: labels are moved from their own x to the representative x~ along a pilot.

With a pilot a(x) of the mean, :math:`y' = a(\tilde x) + (y_j - a(x_j))` has exactly the law at
:math:`\tilde x` in a location family, and a wrong but smooth a leaves the estimator consistent.
Within a tuple the pilot's own noise cancels: near rows are moved by nearly the same amount.
"""

from dataclasses import dataclass, replace
from typing import Literal, final

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.statistics import Statistic
from multiobs.transport.memory import PilotFit
from multiobs.transport.pilots import Indicators, Piloted, fit_pilot, one_thread
from multiobs.transport.spline import SplinePilot
from multiobs.tuples import TupleSet

PAIRS = 2000  # tuples on which the loss of spread is measured
LEAST_SHARE = 0.25  # of the noise that a pilot is assumed to leave

Transport = Literal["auto", "location", "location-scale"] | None


@final
@dataclass(frozen=True)
class Residuals:
    """Labels less a pilot, in working units, and what has to be added back.

    Attributes
    ----------
    labels : ndarray (n,) or (n, s)
        Residuals y - a(x).
    offset : ndarray (n,) or None
        a(x) at the rows, where the statistic moves with it; None where it does not.
    pilot : Piloted or None
        The pilot itself, of the first column of y.
    folds : ndarray of int (n,) or None
        Rows that were moved along the same fit of the pilot and may be in one tuple.
    scale : ScalePilot or None
        What the residuals were divided by, with ``transport="location-scale"``.
    stretch : float
        What they were multiplied by since, for the spread that the pilot took.
    """

    labels: FloatArray
    offset: FloatArray | None
    pilot: Piloted | None
    folds: IntArray | None = None
    scale: "ScalePilot | None" = None
    stretch: float = 1.0

    def at(self, rows: IntArray) -> "Residuals":
        """Return those of some rows; folds are left to the tuples that were built with them."""
        return replace(
            self,
            labels=self.labels[rows],
            offset=None if self.offset is None else self.offset[rows],
            folds=None if self.folds is None else self.folds[rows],
        )

    @property
    def located(self) -> bool:
        """Whether the statistic of the labels differs from that of the residuals by the pilot."""
        return self.offset is not None and self.pilot is not None

    def map_at(self, x: FloatArray, power: int | None) -> "LocationScale":
        """Return the way back from the statistic of residuals to that of the labels at x (n, d).

        Parameters
        ----------
        x : ndarray (n, d)
            Positions.
        power : int or None
            The power of c by which the statistic grows when y is multiplied by c.
        """
        shift = np.zeros(x.shape[0])
        if self.offset is not None and self.pilot is not None:
            shift = self.pilot.predict(x)
        stretch = np.ones(x.shape[0])
        if self.scale is not None:
            stretch = self.scale.predict(x) ** float(power or 0)
        return LocationScale(shift, stretch)


@final
@dataclass(frozen=True)
class LocationScale:
    """A location-scale map at some positions: r = shift + stretch · r'."""

    shift: FloatArray
    stretch: FloatArray

    def outward(self, r: FloatArray) -> FloatArray:
        """Statistic of the labels from that of the residuals."""
        return self.shift + self.stretch * r

    def inward(self, r: FloatArray) -> FloatArray:
        """Statistic of the residuals from that of the labels."""
        return (r - self.shift) / self.stretch


@final
@dataclass(frozen=True)
class ScalePilot:
    """A pilot b(x) > 0 of the standard deviation, by which residuals are divided."""

    pilot: SplinePilot
    floor: float

    def predict(self, X: FloatArray) -> FloatArray:
        """Value at positions X (n, d)."""
        return np.sqrt(np.maximum(self.pilot.predict(X), self.floor))


def fit_scale_pilot(X: FloatArray, residuals: FloatArray, weight: FloatArray | None) -> ScalePilot:
    """Smooth the squared residuals; a twentieth of their mean is the least it can be."""
    squares = residuals**2
    level = float(np.average(squares, weights=weight))
    with one_thread():
        return ScalePilot(SplinePilot().fit(X, squares, weight), 0.05 * level if level > 0 else 1.0)


def leverage_corrected(
    residuals: Residuals, X: FloatArray, tuples: TupleSet, rng: np.random.Generator
) -> Residuals:
    r"""Stretch the labels by what the pilot took of their spread, as seen by these tuples.

    A pilot follows the noise of its own rows a little, so residuals are too small; within a
    tuple of near rows that cancels.  Both effects are known for a linear smoother
    (:meth:`SplinePilot.pair_share`), and their mean over some pairs is undone.

    Parameters
    ----------
    residuals : Residuals
        Labels less a pilot.
    X : ndarray (n, d)
        Positions of the rows.
    tuples : TupleSet
        Which rows go together.
    rng : Generator
        Draws the pairs.
    """
    pilot = residuals.pilot
    if pilot is None or pilot.smooth is None or tuples.arity < 2:
        return residuals
    m = tuples.arity
    size = max(PAIRS // (m * (m - 1) // 2), 200)
    drawn = tuples.sample(min(size, tuples.count()), rng).members
    # All pairs of a tuple: its first two members may be nearer than the others.
    first, second = (drawn[:, each].reshape(-1) for each in np.triu_indices(m, 1))
    share = float(np.mean(pilot.pair_share(X[first], X[second])))
    stretch = 1.0 / np.sqrt(min(max(share, LEAST_SHARE), 1.0))
    return replace(residuals, labels=residuals.labels * stretch, stretch=stretch)


def residuals_of(
    kind: Literal["location", "location-scale"] | None,
    statistic: Statistic,
    X: FloatArray,
    y: FloatArray,
    weight: FloatArray | None,
    *,
    indicators: Indicators = (),
    undersmooth: bool = False,
    fit: PilotFit = fit_pilot,
) -> Residuals:
    """Measure labels from a pilot of their mean.

    Parameters
    ----------
    kind : "location", "location-scale" or None
        None leaves the labels as they are: the paper's estimators.
    statistic : Statistic
        Must declare what a shift does to it.
    X, y, weight : ndarray
        Positions (n, d), labels (n,) or (n, s), weights (n,) or None.
    indicators : tuple of (int, int)
        First and last-plus-one column of X that belong to each category.
    undersmooth : bool
        Whether the pilot may follow more of the noise for less bias; see :func:`fit_pilot`.
    fit : callable
        What fits the pilot: :func:`fit_pilot`, or one that remembers.
    """
    if kind is None:
        return Residuals(y, None, None)
    if statistic.shift is None:
        raise ValueError(
            f"transport must be None for {statistic!r}, which no shift of y leaves in place, "
            f"got {kind!r}"
        )
    columns = y[:, None] if y.ndim == 1 else y
    pilots = [
        fit(X, columns[:, c], weight, indicators, undersmooth=undersmooth)
        for c in range(columns.shape[1])
    ]
    levels = np.stack([pilot.at_rows for pilot in pilots], axis=1)
    left = columns - levels
    labels = left[:, 0] if y.ndim == 1 else left
    offset = levels[:, 0] if statistic.shift == "equivariant" else None
    folds = next((pilot.folds for pilot in pilots if pilot.folds is not None), None)
    scale = None
    if kind == "location-scale":
        if statistic.scale is None or y.ndim == 2:
            raise ValueError(
                f"transport must be 'location' or None for {statistic!r}, whose scale is not "
                f"declared or which has two outputs, got {kind!r}"
            )
        scale = fit_scale_pilot(X, labels, weight)
        labels = labels / scale.predict(X)
    return Residuals(np.ascontiguousarray(labels), offset, pilots[0], folds, scale)
