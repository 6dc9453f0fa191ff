r"""Scores of rows over all pairs of their leaves, by a slope of low rank.

The slope of a quadratic loss at a pair is a bilinear form :math:`\varphi_i' C \varphi_j` of
monomials of the labels, some times the prediction's form of the features.  With a factorisation
:math:`C = L R'` of rank K, a leaf needs K sums of :math:`(R'\varphi_j)_k\, w_j (1, z_j)`, and a row
fetches them once a tree: two sparse products in place of every power of the labels with every
feature, and the row's pair with itself is subtracted once at the end.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import final

import numpy as np
from scipy import sparse

from multiobs._types import FloatArray, IntArray
from multiobs.statistics.distinct import Exponent
from multiobs.statistics.kernels import powers
from multiobs.sums.moments import recipe
from multiobs.sums.scores import Term

NEGLIGIBLE = 1e-13  # of the largest singular value: C is exact but for rounding


@final
@dataclass(frozen=True)
class PairRows:
    """Some rows and their leaves of one tree.

    Attributes
    ----------
    labels : ndarray (n, s)
        Labels, measured from the level of the row's leaf where kernels allow that.
    columns : ndarray (n, 1 + p)
        Ones and features.
    weight : ndarray (n,) or None
        Weights.
    codes : ndarray of int (n,)
        Leaves.
    """

    labels: FloatArray
    columns: FloatArray
    weight: FloatArray | None
    codes: IntArray


@final
class PairSlope:
    """The derivative of a quadratic loss of pairs, as sums over leaves want it.

    Parameters
    ----------
    terms : sequence of Term
        Kernels of two observations, each with at most one form of the features.

    Examples
    --------
    >>> from multiobs.statistics.kernels import moment
    >>> slope = PairSlope([Term(moment(2) - moment(1) * moment(1), ())])
    >>> y = np.array([[0.0], [2.0], [5.0]])
    >>> rows = PairRows(y, np.ones((3, 2)), None, np.array([0, 0, 1]))
    >>> slope.scores([rows], [slope.table(rows, 2)])
    array([[2.],
           [2.],
           [0.]])
    """

    def __init__(self, terms: Sequence[Term]) -> None:
        found: dict[tuple[tuple[Exponent, bool], tuple[Exponent, bool]], float] = {}
        self._form: FloatArray | None = None
        self.centred = True
        for term in terms:
            kernel = term.kernel.polynomial
            assert kernel is not None
            self.centred &= kernel.shift_invariant
            for coefficient, own, ((_, other),) in recipe(kernel):
                share = coefficient / 2.0**term.degree
                places = [((own, False), (other, False))]
                if term.forms:
                    (self._form,) = term.forms
                    places = [((own, True), (other, False)), ((own, False), (other, True))]
                for place in places:
                    found[place] = found.get(place, 0.0) + share
        self._monomials = sorted({each for place in found for each in place})
        C = np.zeros((len(self._monomials),) * 2)
        for (own_side, other_side), value in found.items():
            C[self._monomials.index(own_side), self._monomials.index(other_side)] = value
        left, size, right = np.linalg.svd(C)
        rank = int(np.count_nonzero(size > NEGLIGIBLE * size[0]))
        self._own, self._others = left[:, :rank] * size[:rank], right[:rank].T

    @property
    def rank(self) -> int:
        """How many sums of rows and their features a leaf needs."""
        return int(self._own.shape[1])

    def table(self, rows: PairRows, leaves: int) -> FloatArray:
        """Sums over the rows of each leaf of a tree, (leaves × rank, 1 + p)."""
        return np.asarray(self._matrix(rows, self._others, leaves).T @ rows.columns)

    def by_tree(self, table: FloatArray, starts: IntArray) -> list[FloatArray]:
        """Parts of a table of all trees, whose leaves begin at ``starts``."""
        return [table[a:b] for a, b in pairwise((self.rank * starts).tolist())]

    def scores(self, trees: Iterable[PairRows], tables: Iterable[FloatArray]) -> FloatArray:
        """Summed scores (n, p) of the pairs of all trees that contain each row.

        Parameters
        ----------
        trees : iterable of PairRows
            The same rows with their leaves in each tree.
        tables : iterable of ndarray (leaves × rank, 1 + p)
            Sums of :meth:`table` over all rows, of each tree.
        """
        sums, count = np.zeros(()), 0
        for rows, table in zip(trees, tables, strict=True):
            sums = sums + self._matrix(rows, self._own, table.shape[0] // self.rank) @ table
            count += 1
        Z = rows.columns[:, 1:]
        # h(y, y) of a kernel that no shift changes is that of any level
        labels = np.zeros_like(rows.labels) if self.centred else rows.labels
        own = self._at(replace(rows, labels=labels), self._own @ self._others.T)
        itself = np.einsum("ik,ik->i", own, self._at(replace(rows, labels=labels), None))
        squared = 1.0 if rows.weight is None else rows.weight**2
        return np.asarray(sums[:, 1:] + (sums[:, 0] - 2.0 * count * itself * squared)[:, None] * Z)

    def _matrix(self, rows: PairRows, side: FloatArray, leaves: int) -> "sparse.csr_array":
        """One side of the factors of every row at its leaf, (n, leaves × rank)."""
        n, rank = rows.codes.size, self.rank
        data = self._at(rows, side)
        if rows.weight is not None:
            data *= rows.weight[:, None]
        places = rows.codes[:, None] * rank + np.arange(rank)
        bounds = np.arange(0, n * rank + 1, rank)
        return sparse.csr_array((data.ravel(), places.ravel(), bounds), shape=(n, leaves * rank))

    def _at(self, rows: PairRows, side: FloatArray | None) -> FloatArray:
        """Monomials (n, q) of some rows, or products of them with one side of the factors."""
        out = np.empty((rows.codes.size, len(self._monomials)))
        for column, (exponent, formed) in zip(out.T, self._monomials, strict=True):
            column[:] = powers(rows.labels, exponent)
            if formed:
                assert self._form is not None
                column *= rows.columns[:, 1:] @ self._form
        return out if side is None else out @ side
