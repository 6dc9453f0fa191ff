"""Which units (rows, tuples or anchors) share a row, and sums over those that do."""

from dataclasses import dataclass
from typing import Protocol, final

import numpy as np
from scipy import sparse

from multiobs._types import FloatArray, IntArray
from multiobs.native.window_sums import window_sums
from multiobs.tuples import Graph, Tuples, TupleSet, Windows

OVERLAPS = 20_000_000  # pairs of overlapping tuples or anchors that are kept
AT_ONCE = 1 << 18  # numbers of places in a temporary array
COLUMNS = 8  # taken at once, however many places there are


class Overlap(Protocol):
    """Which units (rows, tuples or anchors) are dependent."""

    def spread(self, values: FloatArray, /) -> FloatArray:
        """Sum of the values of all units that overlap each unit, itself included, (u, p)."""
        ...


@final
@dataclass(frozen=True)
class Independent:
    """Units that share nothing."""

    def spread(self, values: FloatArray, /) -> FloatArray:
        """Return the values themselves."""
        return values


@final
@dataclass(frozen=True)
class Band:
    """Anchors of sorted windows: those overlap whose first row lies in the other's window."""

    first: IntArray
    stop: IntArray

    def spread(self, values: FloatArray, /) -> FloatArray:
        """Sum over the band by running sums."""
        return window_sums(np.ascontiguousarray(values), self.first, self.stop)


@final
@dataclass(frozen=True)
class Pattern:
    """Units whose overlaps are listed in a sparse 0/1 matrix."""

    matrix: sparse.csr_array

    def spread(self, values: FloatArray, /) -> FloatArray:
        """Multiply by the pattern."""
        return np.asarray(self.matrix @ values)


@final
@dataclass(frozen=True)
class Placed:
    """Rows that overlap as the places that they have in an order do."""

    order: IntArray
    places: Overlap

    def spread(self, values: FloatArray, /) -> FloatArray:
        """Sum over places, and back to rows."""
        out = np.empty_like(values)
        out[self.order] = self.places.spread(values[self.order])
        return out


def incidence(members: IntArray, n_rows: int) -> sparse.csr_array:
    """Sparse matrix (t, n) of ones where a tuple contains a row."""
    t, m = members.shape
    rows = np.repeat(np.arange(t), m)
    return sparse.csr_array((np.ones(t * m), (rows, members.reshape(-1))), shape=(t, n_rows))


def tuple_overlap(members: IntArray, n_rows: int, most: int = OVERLAPS) -> Overlap | None:
    """Which listed tuples (t, m) share a row, or None if more than so many pairs do.

    >>> tuple_overlap(np.array([[0, 1], [1, 2], [3, 4]]), 5).spread(np.ones((3, 1))).ravel()
    array([2., 2., 1.])
    """
    uses = np.bincount(members.ravel(), minlength=n_rows).astype(np.float64)
    if uses.max(initial=0.0) <= 1:
        return Independent()
    if float(np.sum(uses**2)) > most:
        return None
    member = incidence(members, n_rows)
    return Pattern(_zero_one(member @ member.T))


def anchor_overlap(tuples: TupleSet, most: int = OVERLAPS) -> Overlap | None:
    """Which anchors' tuples may share a row, or None if too many do."""
    if isinstance(tuples, Windows):
        return _band(tuples)
    assert isinstance(tuples, Graph)
    n = tuples.n_rows
    uses = np.bincount(tuples.indices, minlength=n) + 1.0
    if float(np.sum(uses**2)) > most:
        return None
    member = _adjacency(tuples) + sparse.csr_array(sparse.eye(n, format="csr"))
    return Pattern(_zero_one(member @ member.T))


def neighbour_sums(tuples: TupleSet, values: FloatArray) -> FloatArray:
    """Sum of the values (n, p) of the other rows that some tuple joins with each row, (n, p).

    In the leaves of several trees a row counts as often as it is met.

    >>> chain = Windows(np.arange(3), np.array([2, 3, 3]), arity=2)
    >>> neighbour_sums(chain, np.array([[1.0], [10.0], [100.0]])).ravel()
    array([ 10., 101.,  10.])
    """
    n = tuples.n_rows
    if isinstance(tuples, Windows):
        band, out = _band(tuples), np.empty((n, values.shape[1]))
        few = max(COLUMNS, AT_ONCE // max(1, tuples.order.size))  # columns, for a row may recur
        for first in range(0, values.shape[1], few):
            here = values[tuples.order, first : first + few]
            around = band.spread(here)
            around -= here
            for c in range(around.shape[1]):
                out[:, first + c] = np.bincount(tuples.order, around[:, c], minlength=n)
        return out
    if isinstance(tuples, Graph):
        near = _adjacency(tuples)
        joined = _zero_one(near + near.T)
    else:
        assert isinstance(tuples, Tuples)
        member = incidence(tuples.members, n)
        joined = _zero_one(member.T @ member)
    return np.asarray(joined @ values - joined.diagonal()[:, None] * values)


def _band(windows: Windows) -> Band:
    place = np.arange(1, windows.order.size + 1, dtype=np.int64)
    return Band(windows.first_anchors(), np.maximum(windows.stop, place))


def _adjacency(graph: Graph) -> sparse.csr_array:
    n = graph.n_rows
    return sparse.csr_array(
        (np.ones(graph.indices.size), graph.indices, graph.indptr), shape=(n, n)
    )


def _zero_one(matrix: sparse.csr_array) -> sparse.csr_array:
    found = sparse.csr_array(matrix)
    found.data[:] = 1.0
    return found
