r"""A pilot for means that jump in several columns: levels in the cells of a tree, and a spline.

A regression tree cuts the columns into boxes.  It is grown far, since a jump in two columns at
once shows in neither alone, and pruned back (Breiman et al. 1984): a cut must lower the sum of
squares by :math:`4 \log n` times the variance of the noise, the price of a break in one column
(:mod:`multiobs.transport.boxes`).
The tree is grown on what an additive spline leaves, and then both are fitted together,

.. math:: a(x) = s(x) + \sum_c \alpha_c 1[x \in c],

in turn as long as that pays.  Given the cells the fit is linear in the labels, so what it takes of
their noise is known.
"""

from dataclasses import dataclass
from typing import Self, final

import numpy as np
from scipy.spatial import KDTree

from multiobs._types import FloatArray
from multiobs.transport.boxes import Boxes, grown
from multiobs.transport.jumps import FEWEST_ROWS, PRICE
from multiobs.transport.spline import SplinePilot

TURNS = 5  # of tree and spline at most
MEDIAN_SQUARE = 0.4549  # of a standard normal


@final
class CellPilot:
    """Levels in the cells of a pruned tree, and an additive spline; several columns of x.

    Attributes
    ----------
    n_cells_ : int
        Cells; one where nothing jumps.
    effective_df_ : float
        Trace of the smoother matrix for these cells.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(600, 2))
    >>> mean = 3 * np.sign((X[:, 0] - 0.5) * (X[:, 1] - 0.5))
    >>> pilot = CellPilot().fit(X, mean + rng.standard_normal(600))
    >>> bool(np.mean((pilot.predict(X) - mean) ** 2) < 0.1)
    True
    """

    def fit(
        self,
        X: FloatArray,
        y: FloatArray,
        sample_weight: FloatArray | None = None,
        spline: SplinePilot | None = None,
    ) -> Self:
        """Fit to X of shape (n, d) and y of shape (n,); a spline fitted to them may be given."""
        if sample_weight is not None and not np.all(sample_weight > 0):
            kept = sample_weight > 0
            X, y, sample_weight = X[kept], y[kept], sample_weight[kept]
        n = y.size
        weight = np.ones(n) if sample_weight is None else sample_weight * (n / sample_weight.sum())
        spline = SplinePilot().fit(X, y, sample_weight) if spline is None else spline
        noise = noise_variance(X, y)
        price = PRICE * np.log(n) * noise
        fewest = max(FEWEST_ROWS, round(1.5 * np.log(n)))

        def cells_of(smooth: FloatArray) -> tuple[Boxes, float]:
            """Cells of what a smooth part leaves, and their cost as levels."""
            cells = grown(X, y - smooth, weight, price, fewest)
            return cells, cells.remainder(X, y - smooth, weight) + price * cells.count

        def with_spline(cells: Boxes) -> tuple[_Joint, float]:
            """Both fitted together; what is left, with a price for cells and degrees of freedom."""
            joint = _Joint(cells, spline)
            if cells.count > 1:
                joint = _Joint(cells, SplinePilot().fit(joint.columns(X), y, sample_weight))
            rest = np.sum(weight * (y - joint.predict(X)) ** 2)
            free = joint.spline.effective_df_ - cells.count
            return joint, float(rest + price * cells.count + 2.0 * noise * free)

        # what a spline makes of large jumps would take many turns to undo
        starts = cells_of(spline.predict(X)), cells_of(np.zeros(n))
        self._joint, least = with_spline(min(starts, key=lambda start: start[1])[0])
        for _ in range(TURNS):
            cells = self._joint.cells
            if cells.count == 1:
                break
            others, _ = cells_of(self._joint.smooth(X))
            if np.array_equal(others.of(X), cells.of(X)):
                break
            joint, cost = with_spline(others)
            if not cost < least:
                break
            self._joint, least = joint, cost
        self.n_cells_ = self._joint.cells.count
        self.effective_df_ = self._joint.spline.effective_df_
        return self

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the fitted mean at X of shape (q, d), shape (q,)."""
        return self._joint.predict(X)

    def pair_share(self, X: FloatArray, others: FloatArray) -> FloatArray:
        """Share of the noise variance left in half a squared difference of residuals, (q,).

        The same as :meth:`SplinePilot.pair_share`, with the cells as further columns.
        """
        columns = self._joint.columns
        return self._joint.spline.pair_share(columns(X), columns(others))


@final
@dataclass(frozen=True)
class _Joint:
    """Cells, and an additive spline that has an indicator of each as a further column."""

    cells: Boxes
    spline: SplinePilot

    def columns(self, X: FloatArray) -> FloatArray:
        """Positions (q, d), and an indicator of every cell but the last, if there are several."""
        if self.cells.count == 1:
            return X
        leaves = self.cells.leaves()[:-1]
        return np.hstack([X, self.cells.of(X)[:, None] == leaves])

    def predict(self, X: FloatArray) -> FloatArray:
        """Value of both at X (q, d)."""
        return self.spline.predict(self.columns(X))

    def smooth(self, X: FloatArray) -> FloatArray:
        """Value of the spline alone, up to a constant."""
        columns = self.columns(X)
        columns[:, X.shape[1] :] = 0.0
        return self.spline.predict(columns)


def noise_variance(X: FloatArray, y: FloatArray) -> float:
    """Variance of the noise from the differences of nearest rows; few of these straddle a jump.

    Parameters
    ----------
    X, y : ndarray
        Positions (n, d) and labels (n,).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(2000, 2))
    >>> 0.8 < noise_variance(X, 5.0 * (X[:, 0] > 0.3) + rng.standard_normal(2000)) < 1.2
    True
    """
    spread = X.std(axis=0)
    points = X / np.where(spread > 0, spread, 1.0)
    nearest = KDTree(points).query(points, k=2)[1]
    # among duplicates the row itself may be second
    partner = np.where(nearest[:, 0] == np.arange(y.size), nearest[:, 1], nearest[:, 0])
    return float(np.median((y - y[partner]) ** 2)) / (2.0 * MEDIAN_SQUARE)
