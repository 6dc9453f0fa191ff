r"""How many rows a window may hold: fewer where the residuals still move with x.

Half a squared difference of residuals at lag l has expectation :math:`\gamma_0 - \gamma_l`, with
:math:`\gamma_l` their autocovariance in the order of x: flat in l if the pilot got the mean,
growing if it did not.  The growth between windows of k and K rows is therefore a difference of
autocovariances,

.. math::

    \sum_i e_i u_i, \qquad
    u_i = \frac1k \sum_{l \le k} e_{i+l} - \frac1K \sum_{l \le K} e_{i+l}

whose terms are uncorrelated when nothing moves, so its standard error is the root of their summed
squares, whatever the spread does.  A pilot that follows the noise makes residuals of near rows
unlike each other, which would hide the growth: both means are divided by the share of the noise
that it leaves there (:meth:`multiobs.transport.Piloted.pair_share`).  A window is halved as long as
the growth is significant (a one-sided rule of Lepski's kind): a safety net below the pilot, and it
costs little where it is not needed.
"""

from collections.abc import Callable
from typing import final

import numpy as np
from scipy.spatial import KDTree

from multiobs._types import FloatArray, IntArray
from multiobs.samplers import Counted, column_scales
from multiobs.transport import Residuals
from multiobs.tuples import canonical_order, order_by

SURE = 2.0  # standard errors
PROBE = 20_000  # rows that are looked at
STRETCHES = 10  # of adjacent rows that these are
PAIRS = 2000  # of rows, at which it is asked what the pilot took of their noise
LEAST = 0.25  # of the noise that a pilot is assumed to leave

Share = Callable[[IntArray, IntArray], FloatArray]  # of the noise left in pairs of rows


def follow_data(
    sampler: Counted,
    arity: int,
    place: FloatArray,
    X: FloatArray,
    residuals: Residuals,
    groups: IntArray | None,
) -> tuple[Counted, str | None]:
    """Windows or neighbours in proportion to each group, and fewer where residuals still move.

    Parameters
    ----------
    sampler : Counted
        What the number of rows suggests.
    arity : int
        Observations of a tuple.
    place, X : ndarray (n, d), (n, p)
        Positions that neighbours are sought in, and those that the pilot was fitted to.
    residuals : Residuals
        Labels less their pilot.
    groups : ndarray of int (n,) or None
        Codes that a tuple never crosses.

    Returns
    -------
    tuple of Counted and str or None
        And why it is another, for ``plan_``.
    """
    rows = sampler.partners()
    pilot = residuals.pilot

    def share(first: IntArray, second: IntArray) -> FloatArray:
        return np.ones(first.size) if pilot is None else pilot.pair_share(X[first], X[second])

    found = narrowed(place, residuals.labels, groups, rows, arity - 1, share)
    settled = sampler.with_partners(found, groups is not None)
    if found == rows:
        return settled, None
    return settled, f"{settled!r}, since residuals of nearer rows are more alike"


def narrowed(
    place: FloatArray,
    residuals: FloatArray,
    groups: IntArray | None,
    rows: int,
    least: int,
    share: Share | None = None,
) -> int:
    """Halve the number of partners of a row as long as nearer ones are more alike.

    Parameters
    ----------
    place : ndarray (n, d)
        Positions.
    residuals : ndarray (n,) or (n, s)
        Labels less their pilot.
    groups : ndarray of int (n,) or None
        Codes that a tuple never crosses.
    rows : int
        Partners of a row to begin with.
    least : int
        The fewest there may be.
    share : callable or None
        Of two arrays of row numbers, the share of the noise that the pilot left in half the squared
        difference of their residuals; None if it left all of it.

    Returns
    -------
    int

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, e = rng.uniform(size=(1000, 1)), rng.normal(size=1000)
    >>> narrowed(x, e, None, 16, 1)
    16
    >>> narrowed(x, e + 3 * np.sin(200 * x[:, 0]), None, 16, 1) < 8
    True
    """
    columns = residuals[:, None] if residuals.ndim == 1 else residuals
    if columns.shape[0] <= 2 * rows:
        return rows
    lagged = _in_a_row if place.shape[1] == 1 else _around
    near = lagged(place, columns, groups, rows)
    if share is not None:
        near.ask(share)
    wide = rows
    while wide // 2 >= least:
        # fine structure may hide in the mean of half as many: the nearest are asked as well
        sizes = {wide // 2, max(least, 1)}
        outputs = range(columns.shape[1])
        if not any(near.excess(c, size, wide) > SURE for c in outputs for size in sizes):
            break
        wide //= 2
    return wide


@final
class _Partners:
    """Sums of residuals of the first so many partners of each row."""

    def __init__(
        self,
        own: FloatArray,
        sums: FloatArray,
        counts: IntArray,
        times: float,
        some: tuple[IntArray, IntArray],
    ) -> None:
        self._own = own  # (n, s)
        self._sums = sums  # (K + 1, n, s): of the first k partners
        self._counts = counts  # (n,): partners there are
        self._times = times  # how often a pair is seen
        self._some = (
            some  # a few rows (a,) and their partners (a, K), themselves where there is none
        )
        self._left = np.ones(sums.shape[0])  # of the noise in the first k partners

    def ask(self, share: Share) -> None:
        """Learn what the pilot left of the noise in pairs of a row and its first k partners."""
        rows, partners = self._some
        first = np.repeat(rows, partners.shape[1])
        each = share(first, partners.reshape(-1)).reshape(partners.shape)
        there = partners != rows[:, None]
        count = np.cumsum(there.sum(axis=0))
        total = np.cumsum(np.where(there, each, 0.0).sum(axis=0))
        self._left[1:] = np.clip(np.where(count > 0, total / np.maximum(count, 1), 1.0), LEAST, 1.0)

    def excess(self, column: int, narrow: int, wide: int) -> float:
        """T-value of how much more alike the nearer partners are."""
        own, counts = self._own[:, column], self._counts
        means = []
        for size in (narrow, wide):
            taken = np.minimum(size, counts)
            total = self._sums[taken, np.arange(own.size), column]
            means.append(total / (np.maximum(taken, 1) * self._left[size]))
        terms = own * (means[0] - means[1])
        # half a squared difference is the variance less the covariance: both are divided
        growth = terms.sum() + np.sum(own**2) * (1 / self._left[wide] - 1 / self._left[narrow])
        error = np.sqrt(self._times * np.sum(terms**2))
        return float(growth / error) if error > 0 else 0.0


def _in_a_row(
    place: FloatArray, columns: FloatArray, groups: IntArray | None, most: int
) -> _Partners:
    """Partners are the next rows in the order of x."""
    codes = np.zeros(place.shape[0], dtype=np.int64) if groups is None else groups
    order = order_by(place[:, 0], groups)
    if order.size > PROBE:  # rows of a stretch keep their neighbours
        stretch = (np.arange(order.size) * STRETCHES) // order.size
        first = np.searchsorted(stretch, np.arange(STRETCHES))
        order = order[(first[:, None] + np.arange(PROBE // STRETCHES)).reshape(-1)]
        codes = codes * STRETCHES
        codes[order] += np.repeat(np.arange(STRETCHES), PROBE // STRETCHES)
    order = order[canonical_order(place[order], columns[order])]
    # Ties are ordered by their labels there, which would make neighbours alike: shuffle them.
    chance = np.random.default_rng(0).permutation(order.size)
    order = order[np.lexsort((chance, place[order, 0], codes[order]))]
    own, here = columns[order] - columns[order].mean(axis=0), codes[order]
    n = order.size
    ends = np.searchsorted(here, here, side="right")
    start = np.arange(1, n + 1)
    cumulated = np.concatenate([np.zeros((1, own.shape[1])), np.cumsum(own, axis=0)])
    reach = np.minimum(start + np.arange(most + 1)[:, None], ends)
    sums, counts = cumulated[reach] - cumulated[start], ends - start
    asked = _evenly(n, most)
    next_ones = asked[:, None] + np.arange(1, most + 1)
    there = next_ones < ends[asked][:, None]
    some = order[asked], order[np.where(there, next_ones, asked[:, None])]
    return _Partners(own, sums, counts, 1.0, some)


def _evenly(n: int, most: int) -> IntArray:
    """As many of n ordered rows as have PAIRS partners together."""
    return np.arange(0, n, max(1, n * most // PAIRS))


def _around(
    place: FloatArray, columns: FloatArray, groups: IntArray | None, most: int
) -> _Partners:
    """Partners are the nearest rows; two rows are often each other's."""
    order = canonical_order(place, columns)[:: max(1, -(-place.shape[0] // PROBE))]
    points, own = place[order] / column_scales(place, "robust"), columns[order]
    own = own - own.mean(axis=0)
    n = order.size
    sums, counts = np.zeros((most + 1, n, own.shape[1])), np.zeros(n, dtype=np.int64)
    codes = np.zeros(n, dtype=np.int64) if groups is None else groups[order]
    whose = np.tile(np.arange(n)[:, None], most)
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        size = min(most, rows.size - 1)
        if size < 1:
            continue
        found = KDTree(points[rows]).query(points[rows], k=size + 1)[1]
        # the row itself is usually first; among duplicates it may be anywhere
        itself = found == np.arange(rows.size)[:, None]
        itself[~itself.any(axis=1), -1] = True
        partners = rows[found[~itself].reshape(rows.size, size)]
        sums[1 : size + 1, rows] = np.cumsum(own[partners], axis=1).swapaxes(0, 1)
        counts[rows], whose[rows, :size] = size, partners
    asked = _evenly(n, most)
    return _Partners(own, sums, counts, 2.0, (order[asked], order[whose[asked]]))
