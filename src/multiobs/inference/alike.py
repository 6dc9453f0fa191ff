r"""Signs that rows are not independent: repeated rows, shared disturbances, serial dependence.

Residuals of a regression spline that is too stiff to follow single rows are uncorrelated where
rows are independent and the mean is smooth, but for the :math:`-H_{ij} \sigma^2` of the fit
itself, which is added back.  Products of residuals of rows at one x, and of rows next to each
other in x, measure what these have in common.
"""

from dataclasses import dataclass
from functools import reduce
from math import gcd
from typing import final

import numpy as np
from scipy import special
from scipy.interpolate import BSpline

from multiobs._types import FloatArray, IntArray
from multiobs.transport import SplinePilot

MOST = 20_000  # rows that are looked at: stretches of them where there are more
STRETCHES = 20
ALL_TWICE = 10  # different rows, none of which occurs once: no accident
RECURS = 1e-4  # of the pairs of rows with different x have equal labels: labels are on a grid
REPEATED = 0.1  # share of rows that occur again, from which it matters
MATERIAL = 0.1  # of a variance: what rows have in common, from which it matters
SURE = 1e-3  # probability of a warning about independent rows
POSITIONS = 30  # different x below which a mean may be anything
STIFF = 4  # positions for each function of the spline
FUNCTIONS = 60  # of the spline, at most
LAGS = 3  # positions over which products of neighbours depend on each other


@final
@dataclass(frozen=True)
class Ties:
    """Rows in an order in which equal x are next to each other.

    Attributes
    ----------
    X : ndarray (k, d)
        The different positions.
    y : ndarray (n, s)
        Labels of the rows.
    at : ndarray of int (n,)
        Which of the positions each row has.
    first : ndarray of int (k,)
        The first row of each position.
    """

    X: FloatArray
    y: FloatArray
    at: IntArray
    first: IntArray

    @staticmethod
    def of(X: FloatArray, y: FloatArray) -> "Ties":
        """Sort rows, or long stretches of neighbours of them where they are many."""
        line = X[:, 0] if X.shape[1] == 1 else X @ np.sqrt(np.arange(2.0, X.shape[1] + 2))
        order = np.argsort(line, kind="stable")
        if order.size > MOST:
            starts = np.linspace(0, order.size, STRETCHES, endpoint=False).astype(np.int64)
            order = order[(starts[:, None] + np.arange(MOST // STRETCHES)).reshape(-1)]
        labels = y[:, None] if y.ndim == 1 else y
        if X.shape[1] > 1:  # different x may have the same place on the line
            order = order[np.lexsort((*X[order].T, line[order]))]
        X = X[order]
        new = np.concatenate([[True], np.any(X[1:] != X[:-1], axis=1)])
        return Ties(X[new], labels[order], np.cumsum(new) - 1, np.flatnonzero(new))

    @property
    def sizes(self) -> IntArray:
        """How many rows each position has, (k,)."""
        return np.diff(np.append(self.first, self.at.size))

    def means(self, values: FloatArray) -> FloatArray:
        """Mean over the rows of each position of values (n,)."""
        return np.asarray(np.add.reduceat(values, self.first) / self.sizes)


def repeated(ties: Ties) -> str | None:
    """Say that rows (x, y) occur again, where labels are not on a grid, or all of them.

    >>> x, y = np.arange(30.0)[:, None], np.random.default_rng(0).normal(size=30)
    >>> repeated(Ties.of(np.repeat(x, 3, axis=0), np.repeat(y, 3)))
    'each of 30 different rows (x, y) occurs 3 times or a multiple of that'
    >>> repeated(Ties.of(x // 10, y.round()))
    """
    n = ties.at.size
    order = np.lexsort((*ties.y.T, ties.at))
    y, at = ties.y[order], ties.at[order]
    same = np.all(y[1:] == y[:-1], axis=1) & (at[1:] == at[:-1])
    counts = np.diff(np.flatnonzero(np.concatenate([[True], ~same, [True]])))
    common = reduce(gcd, counts.tolist())
    if common > 1 and counts.size >= ALL_TWICE:
        return (
            f"each of {counts.size} different rows (x, y) occurs {common} times or a multiple of "
            "that"
        )
    again = n - counts.size
    if again < REPEATED * n:
        return None
    if (
        _recurs(ties, _pairs(counts)) > RECURS
    ):  # labels on a grid: equal ones are no sign of anything
        return None
    return f"{again} of {n} rows (x, y) occur more than once"


def _recurs(ties: Ties, same: float) -> float:
    """Share of equal labels among pairs of rows that differ in x, less the pairs of equal rows."""
    values = np.sort(ties.y[:, 0])
    counts = np.diff(np.flatnonzero(np.concatenate([[True], np.diff(values) > 0, [True]])))
    apart = _pairs(np.array([values.size])) - _pairs(ties.sizes)
    return (_pairs(counts) - same) / max(apart, 1.0)


def _pairs(sizes: IntArray) -> float:
    return float(np.sum(sizes * (sizes - 1.0) / 2.0))


def shared_at_x(ties: Ties) -> str | None:
    """Say that rows of equal x are more alike than a smooth mean makes them.

    >>> rng = np.random.default_rng(0)
    >>> x = np.repeat(rng.uniform(size=100), 3)[:, None]
    >>> shared = np.repeat(rng.normal(size=100), 3)
    >>> shared_at_x(Ties.of(x, shared + rng.normal(size=300))) is None
    False
    >>> shared_at_x(Ties.of(x, np.sin(9 * x[:, 0]) + rng.normal(size=300)))
    """
    sizes, several = ties.sizes, ties.sizes > 1
    if np.count_nonzero(several) < POSITIONS:
        return None
    residuals = stiff_residuals(ties)
    squares = ties.means(residuals.left**2) * sizes
    sums = ties.means(residuals.left) * sizes
    pairs = np.maximum(sizes * (sizes - 1.0), 1.0)
    level = squares / sizes / (1.0 - residuals.own[ties.first])
    products = (sums**2 - squares) / pairs + residuals.own[ties.first] * level
    share = _certain_share(products[several], level[several])
    if share is None:
        return None
    return f"rows of equal x have {share:.0%} of their variance in common"


def serial(ties: Ties) -> str | None:
    """Say that rows next to each other in x are more alike than a smooth mean makes them.

    >>> rng = np.random.default_rng(0)
    >>> noise = rng.normal(size=2000)
    >>> x = np.linspace(0, 1, 1000)[:, None]
    >>> serial(Ties.of(x, noise[:1000] + noise[1:1001])) is None
    False
    >>> serial(Ties.of(x, np.sin(40 * x[:, 0]) + noise[:1000]))
    """
    if ties.X.shape[1] > 1 or ties.X.shape[0] < 2 * POSITIONS:
        return None
    residuals = stiff_residuals(ties)
    mean, here = ties.means(residuals.left), ties.first
    level = ties.means(residuals.left**2) / (1.0 - residuals.own[here])
    level = (level[1:] + level[:-1]) / 2
    both = np.einsum("ka,ka->k", residuals.basis[here[1:]], residuals.basis[here[:-1]])
    share = _certain_share(mean[1:] * mean[:-1] + both * level, level)
    if share is None:
        return None
    return f"rows next to each other in x have {share:.0%} of their variance in common"


@final
@dataclass(frozen=True)
class StiffResiduals:
    """What a stiff smoother leaves of the labels.

    Attributes
    ----------
    left : ndarray (n,)
        Residuals.
    basis : ndarray (n, f)
        Orthonormal columns of the smoother; zeros where it is no projection.
    own : ndarray (n,)
        Its leverages.
    """

    left: FloatArray
    basis: FloatArray
    own: FloatArray


def stiff_residuals(ties: Ties) -> StiffResiduals:
    """Residuals of a regression spline in one column, of the additive spline in more."""
    y, k = ties.y[:, 0], ties.X.shape[0]
    if ties.X.shape[1] > 1:
        pilot = SplinePilot().fit(ties.X[ties.at], y, None)
        nothing = np.zeros(y.size)
        return StiffResiduals(y - pilot.predict(ties.X)[ties.at], nothing[:, None], nothing)
    count = int(np.clip(k // STIFF, 4, FUNCTIONS))
    place = (np.arange(k) + 0.5)[ties.at] / k  # ranks of positions: no gap is too wide
    knots = np.concatenate([np.zeros(3), np.linspace(0.0, 1.0, count - 2), np.ones(3)])
    basis = np.linalg.qr(BSpline.design_matrix(place, knots, 3).toarray())[0]
    left = y - y.mean()
    left = left - basis @ (basis.T @ left)
    own = np.minimum(np.einsum("na,na->n", basis, basis), 0.9)
    return StiffResiduals(left, basis, own)


def _certain_share(excess: FloatArray, size: FloatArray) -> float | None:
    """Mean excess as a share of the mean size, if it is neither small nor an accident.

    Values near each other depend on each other, so the noise is summed over lags.
    """
    level = float(np.mean(size))
    if not level > 0:
        return None
    moved = excess - excess.mean()
    noise = float(moved @ moved)
    for lag in range(1, LAGS + 1):
        noise += 2.0 * (1.0 - lag / (LAGS + 1.0)) * float(moved[lag:] @ moved[:-lag])
    share = float(excess.mean()) / level
    if share < MATERIAL or excess.sum() < -special.ndtri(SURE) * np.sqrt(max(noise, 0.0)):
        return None
    return share
