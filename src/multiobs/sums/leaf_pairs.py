r"""Scores of rows over all pairs of their leaves, by a slope of low rank.

The slope of a quadratic loss at a pair is a bilinear form :math:`\varphi_i' C \varphi_j` of
monomials of the labels, some times the prediction's form of the features.  With a factorisation
:math:`C = L R'` of rank K, a leaf needs K sums of :math:`(R'\varphi_j)_k\, w_j (1, z_j)`, and a row
fetches them once a tree: two sparse products in place of every power of the labels with every
feature, and the row's pair with itself is subtracted once at the end.
"""

from collections.abc import Sequence
from dataclasses import dataclass
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
    """Some rows and their leaves.

    Attributes
    ----------
    labels : ndarray (trees, n, s)
        Labels, measured from the level of the row's leaf where kernels allow that.
    Z : ndarray (n, p)
        Features.
    weight : ndarray (n,) or None
        Weights.
    leaves : ndarray of int (trees, n)
        Leaves, numbered over all trees.
    """

    labels: FloatArray
    Z: FloatArray
    weight: FloatArray | None
    leaves: IntArray


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
    >>> y = np.array([[[0.0], [2.0], [5.0]]])
    >>> rows = PairRows(y, np.ones((3, 1)), None, np.array([[0, 0, 1]]))
    >>> slope.scores(rows, slope.table(rows, 2))
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
        """Sums over the rows of each leaf, (leaves × rank, 1 + p)."""
        matrix = self._matrix(rows, self._others, leaves)
        return np.asarray(matrix.T @ _with_ones(rows.Z))

    def scores(self, rows: PairRows, table: FloatArray) -> FloatArray:
        """Summed scores (n, p) of the pairs that contain each row, given the table of all rows."""
        sums = self._matrix(rows, self._own, table.shape[0] // self.rank) @ table
        found = sums[:, 1:] + sums[:, :1] * rows.Z
        form, trees = self._form_at(rows), rows.leaves.shape[0]
        # h(y, y) of a kernel that no shift changes is that of any level
        labels = np.zeros_like(rows.labels[0]) if self.centred else rows.labels[0]
        monomials = self._at(labels, form)
        own = np.einsum("ik,ik->i", monomials @ self._own, monomials @ self._others)
        squared = 1.0 if rows.weight is None else rows.weight**2
        return np.asarray(found - (2.0 * trees * own * squared)[:, None] * rows.Z)

    def _matrix(self, rows: PairRows, side: FloatArray, leaves: int) -> "sparse.csr_array":
        """One side of the factors of every row at its leaves, (n, leaves × rank)."""
        (trees, n), rank = rows.leaves.shape, self.rank
        form = self._form_at(rows)
        data = np.empty((n, trees, rank))
        for tree in range(trees):
            data[:, tree] = self._at(rows.labels[tree], form) @ side
        if rows.weight is not None:
            data *= rows.weight[:, None, None]
        places = rows.leaves.T[:, :, None] * rank + np.arange(rank)
        bounds = np.arange(0, n * trees * rank + 1, trees * rank)
        shape = (n, leaves * rank)
        return sparse.csr_array((data.ravel(), places.ravel(), bounds), shape=shape)

    def _form_at(self, rows: PairRows) -> FloatArray | None:
        return None if self._form is None else rows.Z @ self._form

    def _at(self, labels: FloatArray, form: FloatArray | None) -> FloatArray:
        """Monomials (n, q) of some rows."""
        out = np.empty((labels.shape[0], len(self._monomials)))
        for column, (exponent, formed) in zip(out.T, self._monomials, strict=True):
            column[:] = powers(labels, exponent)
            if formed:
                assert form is not None
                column *= form
        return out


def _with_ones(Z: FloatArray) -> FloatArray:
    return np.concatenate([np.ones((Z.shape[0], 1)), Z], axis=1)
