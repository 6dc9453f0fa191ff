"""Tuples of a row and its neighbours: a graph of rows, never listed unless somebody asks."""

from typing import final

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.tuples.shapes import Anchored, bincount


@final
class Graph(Anchored):
    """All m-subsets {i} + (m - 1 neighbours of i), for every row i.

    Parameters
    ----------
    indptr, indices : ndarray of int
        Neighbours of row i are ``indices[indptr[i]:indptr[i+1]]``, as in a CSR matrix.
    arity : int
        The number m of rows in a tuple.

    Examples
    --------
    >>> Graph(np.array([0, 2, 2, 2]), np.array([1, 2]), arity=2).listed().members.tolist()
    [[0, 1], [0, 2]]
    """

    def __init__(self, indptr: IntArray, indices: IntArray, arity: int) -> None:
        self.indptr = indptr
        self.indices = indices
        self.arity = arity
        self.n_rows = int(indptr.size - 1)

    def sums_over_members(self, values: FloatArray) -> FloatArray:
        own, shared = (each[:, None] for each in self._anchor_counts())
        handed = np.repeat(shared * values, self.n_partners, axis=0)
        others = [bincount(self.indices, each, self.n_rows) for each in handed.T]
        return np.asarray(own * values + np.stack(others, axis=1))

    @property
    def n_partners(self) -> IntArray:
        return np.diff(self.indptr)

    @property
    def n_pairs(self) -> int:
        return int(self.indices.size)

    def rows_of(self, anchors: IntArray, partners: IntArray) -> IntArray:
        neighbours = self.indices[self.indptr[anchors][:, None] + partners]
        return np.concatenate([anchors[:, None], neighbours], axis=1)

    def keep(self, edges: "np.typing.NDArray[np.bool_]") -> "Graph":
        """Return the graph with only the marked edges."""
        counts = np.add.reduceat(
            np.concatenate([edges.astype(np.int64), [0]]), self.indptr[:-1]
        ) * (self.n_partners > 0)
        indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return Graph(indptr, self.indices[edges], self.arity)

    def anchor_of_edges(self) -> IntArray:
        """Return the anchor of every edge."""
        return np.repeat(np.arange(self.n_rows, dtype=np.int64), self.n_partners)
