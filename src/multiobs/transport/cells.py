r"""A pilot for means that jump in several columns: levels in the cells of a tree, and a spline.

A regression tree cuts the columns into boxes.  It is grown far, since a jump in two columns at
once shows in neither alone, and pruned back (Breiman et al. 1984): a cut must lower the sum of
squares by :math:`4 \log n` times the variance of the noise, the price of a break in one column
(:mod:`multiobs.transport.boxes`).
Tree and additive spline are fitted in turn, each to what the other leaves,

.. math:: a(x) = s(x) + \sum_c \alpha_c 1[x \in c].

Given the cells the fit is linear in the labels, so what it takes of their noise is known.
"""

from typing import Self, final

import numpy as np
from scipy.spatial import KDTree

from multiobs._types import FloatArray
from multiobs.transport.boxes import Boxes, box_means, grown
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
        n = y.size
        weight = np.ones(n) if sample_weight is None else sample_weight * (n / sample_weight.sum())
        self._spline = SplinePilot().fit(X, y, sample_weight) if spline is None else spline
        noise = noise_variance(X, y)
        price = PRICE * np.log(n) * noise
        fewest = max(FEWEST_ROWS, round(1.5 * np.log(n)))
        smooth = self._spline.predict(X)
        first = grown(X, y - smooth, weight, price, fewest)
        rest = [self._left(first, X, y - smooth, weight) + price * first.count]
        alone = grown(X, y, weight, price, fewest)
        rest.append(self._left(alone, X, y, weight) + price * alone.count)
        # what a spline makes of large jumps would take many turns to undo
        self._cells = first if rest[0] <= rest[1] else alone
        smooth = smooth if rest[0] <= rest[1] else np.zeros(n)
        before = np.inf
        for turn in range(TURNS):
            if turn:
                self._cells = grown(X, y - smooth, weight, price, fewest)
            self.n_cells_ = self._cells.count
            cell, count = self._cells.of(X), self._cells.column.size
            self._level, self._size = box_means(cell, y - smooth, weight, count)
            if self.n_cells_ == 1:
                self._level = np.zeros(count)
                self._spline = self._spline.again(X, y, sample_weight) if turn else self._spline
                break
            self._spline = self._spline.again(X, y - self._level[cell], sample_weight)
            smooth = self._spline.predict(X)
            self._level, _ = box_means(cell, y - smooth, weight, count)
            after = float(np.sum(weight * (y - smooth - self._level[cell]) ** 2))
            if before - after < noise:
                break
            before = after
        self.effective_df_ = self._spline.effective_df_ + self.n_cells_ - 1.0
        return self

    @staticmethod
    def _left(cells: Boxes, X: FloatArray, y: FloatArray, weight: FloatArray) -> float:
        """Sum of squares that the means of the cells leave."""
        cell = cells.of(X)
        level, _ = box_means(cell, y, weight, cells.column.size)
        return float(np.sum(weight * (y - level[cell]) ** 2))

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the fitted mean at X of shape (q, d), shape (q,)."""
        return np.asarray(self._spline.predict(X) + self._level[self._cells.of(X)])

    def pair_share(self, X: FloatArray, others: FloatArray) -> FloatArray:
        """Share of the noise variance left in half a squared difference of residuals, (q,).

        The same as :meth:`SplinePilot.pair_share`; the level of a common cell cancels.
        """
        one, two = self._cells.of(X), self._cells.of(others)
        taken = 0.5 * (1.0 / self._size[one] + 1.0 / self._size[two])
        return self._spline.pair_share(X, others) - np.where(one == two, 0.0, taken)


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
