r"""Features of listed tuples where they are many: they meet sparse matrices of the rows only.

With :math:`\tilde z_t` the mean of the members' features, a sum over tuples is

.. math:: \sum_t v_t\, \tilde z_t \tilde z_t' = \frac{1}{m^2} Z' K Z, \qquad
   \sum_{t \ni i} v_t\, \tilde z_t = \frac1m (K Z)_i, \qquad K_{ij} = \sum_{t \ni i, j} v_t.

K has an entry for every two rows that share a tuple, however many features there are.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import comb
from typing import final

import numpy as np
from scipy import sparse

from multiobs._types import FloatArray, IntArray
from multiobs.tuples import Tuples, TupleSet, Windows

ENTRIES = 1 << 16  # of K that are made at once
PAIRS_A_PLACE = 64  # entries of K, in the time that running sums of many features take at a place


def few_pairs(tuples: TupleSet) -> bool:
    """Whether so few rows share a tuple that K takes less time than running sums do.

    >>> few_pairs(Windows(np.arange(9), np.full(9, 9), arity=2))
    True
    """
    places = tuples.order.size if isinstance(tuples, Windows) else tuples.n_rows
    return isinstance(tuples, Tuples) or tuples.count() * tuples.arity**2 <= PAIRS_A_PLACE * places


@final
@dataclass(frozen=True)
class TupleFeatures:
    """Features (t, p) of the representatives of tuples, which are never formed.

    Parameters
    ----------
    tuples : Tuples
        The tuples; their own weights are left out of account.
    Z : ndarray (n, p)
        Features of the rows.
    offset : ndarray (n,), optional
        Added to the forms at the rows.

    Examples
    --------
    >>> pairs = Tuples(np.array([[0, 1], [1, 2]]), rows=3)
    >>> z = TupleFeatures(pairs, np.array([[0.0], [2.0], [4.0]]))  # 1 and 3
    >>> z.forms(np.ones(1)), z.total(np.ones(2)), z.gram(np.ones(2))
    (array([1., 3.]), array([4.]), array([[10.]]))
    >>> z.by_row(np.ones(2)).ravel()
    array([1., 4., 3.])
    """

    tuples: Tuples
    Z: FloatArray
    offset: FloatArray | None = None

    @property
    def n_columns(self) -> int:
        """The number p of features."""
        return int(self.Z.shape[1])

    def forms(self, w: FloatArray) -> FloatArray:
        """Values w · z~ of the tuples, offset included, (t,)."""
        values = self.Z @ w
        if self.offset is not None:
            values += self.offset
        tuples = self.tuples
        if tuples.representative is not None:
            return np.asarray(values[tuples.representative])
        total = values[tuples.members[:, 0]]
        for a in range(1, tuples.arity):
            total += values[tuples.members[:, a]]
        total /= tuples.arity
        return np.asarray(total)

    def total(self, values: FloatArray) -> FloatArray:
        """Sum of v z~, (p,)."""
        at, share = self._located()
        return np.asarray(_counted(at, values, self.Z.shape[0]) @ self.Z * share)

    def gram(self, values: FloatArray) -> FloatArray:
        """Sum of v z~ z~', (p, p)."""
        if self.tuples.representative is not None:
            at = _counted(self.tuples.representative[:, None], values, self.Z.shape[0])
            return np.asarray((self.Z * at[:, None]).T @ self.Z)
        found = self.Z.T @ self.by_row(values) / self.tuples.arity
        return np.asarray((found + found.T) / 2)

    def by_row(self, values: FloatArray, by_anchor: bool = False) -> FloatArray:
        """Sum of v z~ over the tuples that contain each row, or have it as anchor, (n, p)."""
        n, m, Z = self.Z.shape[0], self.tuples.arity, self.Z
        out = np.zeros(Z.shape)
        if by_anchor or self.tuples.representative is not None:
            for part, v in self._parts(values):
                left = part.members[:, :1] if by_anchor else part.members
                right, share = replace(self, tuples=part)._located()
                a, b = (each.ravel() for each in np.indices((left.shape[1], right.shape[1])))
                out += _matrix(left[:, a], right[:, b], v * share, n) @ Z
            return out
        a, b = np.triu_indices(m, 1)
        for part, v in self._parts(values):
            above = _matrix(part.members[:, a], part.members[:, b], v, n)
            out += above @ Z
            out += above.T @ Z
        out += _counted(self.tuples.members, values, n)[:, None] * Z
        out /= m
        return out

    def fixed(self, value: float) -> "TupleFeatures":
        """Hold the last coefficient at a value."""
        offset = value * self.Z[:, -1]
        if self.offset is not None:
            offset += self.offset
        return replace(self, Z=np.ascontiguousarray(self.Z[:, :-1]), offset=offset)

    def _located(self) -> tuple[IntArray, float]:
        """Rows (t, s) whose features make up z~, and the share of each."""
        tuples = self.tuples
        if tuples.representative is not None:
            return tuples.representative[:, None], 1.0
        return tuples.members, 1.0 / tuples.arity

    def _parts(self, values: FloatArray) -> Iterator[tuple[Tuples, FloatArray]]:
        """Cut the tuples into parts of bounded matrices."""
        size = max(1, ENTRIES // max(1, comb(self.tuples.arity, 2)))
        for first in range(0, values.size, size):
            some = slice(first, first + size)
            yield self.tuples.take(some), values[some]


def distinct(tuples: Tuples) -> Tuples:
    """Name tuples of the same rows, as of the leaves of several trees, once, with their weight.

    >>> once = distinct(Tuples(np.array([[0, 1], [1, 2], [1, 0]]), rows=3))
    >>> once.members.tolist(), once.weight.tolist()
    ([[0, 1], [1, 2]], [2.0, 1.0])
    """
    n, m = tuples.n_rows, tuples.arity
    if tuples.representative is not None or n**m >= 2**62:
        return tuples
    units = n ** np.arange(m - 1, -1, -1, dtype=np.int64)
    keys, at = np.unique(np.sort(tuples.members, axis=1) @ units, return_inverse=True)
    if keys.size == tuples.count():
        return tuples
    weight = np.bincount(at.reshape(-1), weights=tuples.weight, minlength=keys.size)
    return Tuples(keys[:, None] // units % n, n, weight=weight.astype(np.float64))


def _matrix(left: IntArray, right: IntArray, values: FloatArray, n: int) -> sparse.csr_array:
    """Sum of v over pairs of rows, (n, n), for pairs (t, q) of the tuples."""
    each = np.repeat(values, left.shape[1])
    return sparse.csr_array((each, (left.ravel(), right.ravel())), shape=(n, n))


def _counted(rows: IntArray, values: FloatArray, n: int) -> FloatArray:
    """Sum of v over the tuples that have each row among these (t, s), (n,)."""
    out = np.zeros(n)
    for column in rows.T:
        out += np.bincount(column, weights=values, minlength=n)
    return out
