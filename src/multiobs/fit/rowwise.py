r"""Pseudo-observations at the rows themselves, for tuples whose members lie far from each other.

A tuple's kernel has about the mean of its members' statistics as its expectation,
:math:`\mathbb{E}\psi_t \approx \tfrac1m \sum_{i \in t} r(x_i)`, exactly so for half the squared
difference of residuals.  Putting the tuple at the mean of their x instead flattens every curve
when neighbours are far, as they are in several columns.  With :math:`\bar\psi_i` and
:math:`\bar r_i` the means over the tuples that contain row i,

.. math:: \psi_i^* = \bar\psi_i + (r(x_i) - \bar r_i), \quad\text{or}\quad
          \psi_i^* = \bar\psi_i\, r(x_i) / \bar r_i \text{ where the link is the logarithm},

has expectation r(x_i) when the current fit r is right, and regressing it on :math:`x_i` until
nothing moves solves :math:`\sum_t w_t (\psi_t - \bar r_t) \sum_{i \in t} s_i z_i = 0`: no
information is lost to the width of the neighbourhoods.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy import sparse

from multiobs._types import FloatArray
from multiobs.fit.links import LinkedLoss
from multiobs.statistics.kernels import Kernel, constant
from multiobs.sums import Pooled
from multiobs.sums.contraction import LIMIT, tuple_weights
from multiobs.sums.scores import kernel_sums
from multiobs.tuples import Tuples, TupleSet, Windows

LISTED = 64  # tuples for each row that are listed to see who goes with whom, and no more
MANY = 20_000  # rows from which windows are narrow: then nothing is gained by moving rows


@final
@dataclass(frozen=True)
class RowSums:
    """Kernels summed over the tuples of each row.

    Attributes
    ----------
    psi, chi : ndarray (n,)
        Weighted sums over the tuples that contain the row.
    together : sparse array (n, n) or None
        Averages over the members of a row's tuples; None where windows are narrow.
    """

    psi: FloatArray
    chi: FloatArray
    together: sparse.csr_array | None

    def blurred(self, values: FloatArray) -> FloatArray:
        """Mean over the members of the tuples of each row, of values (n,) or (n, q)."""
        return values if self.together is None else np.asarray(self.together @ values)

    def moved(self, loss: LinkedLoss, r: FloatArray) -> FloatArray:
        """Kernel means (n, 2) as if each row's tuples were at the row, given the statistic r."""
        positive = self.chi > 0
        size = np.where(positive, self.chi, 1.0)
        target = loss.moved(self.psi / size, r, self.blurred(r))
        inside = positive.astype(np.float64)
        return np.stack([target * inside, inside], axis=1)


def row_sums(
    loss: LinkedLoss,
    tuples: TupleSet,
    y: FloatArray,
    weight: FloatArray | None,
    rng: np.random.Generator,
    limit: int = LIMIT,
) -> RowSums:
    """Sum the loss's two kernels over the tuples of each row.

    Parameters
    ----------
    loss : LinkedLoss
        Names the kernels.
    tuples : TupleSet
        Which rows go together.
    y : ndarray (n,) or (n, s)
        Labels.
    weight : ndarray (n,) or None
        Weights of the rows.
    rng : Generator
        Draws tuples where there are too many to list.
    limit : int
        The most tuples that are enumerated.
    """
    psi, chi = kernel_sums(loss.kernels, tuples, y, weight, limit).T
    plain = isinstance(tuples, Windows) and tuples.order.size <= tuples.n_rows
    if tuples.arity == 1 or (plain and tuples.n_rows > MANY):
        return RowSums(psi, chi, None)
    return RowSums(psi, chi, _together(tuples, weight, rng))


def pool_rows(
    tuples: TupleSet,
    kernels: Sequence[Kernel],
    X: FloatArray,
    y: FloatArray,
    *,
    weight: FloatArray | None = None,
    limit: int = LIMIT,
) -> Pooled:
    """Pool the tuples of each row into one pseudo-observation at the row.

    A row of a forest is the anchor of tuples in every tree: pooled by anchors it would be a crowd
    of pseudo-observations that share their labels, and a regressor that counts the members of its
    leaves, or stops when some rows held out say so, would take them for so many rows.

    Parameters
    ----------
    tuples : TupleSet
        Which rows go together.
    kernels : sequence of Kernel
        Functions of the m labels.
    X, y, weight : ndarray
        Positions (n, d), labels (n,) or (n, s), weights (n,) or None.
    limit : int
        The most tuples that are enumerated.
    """
    one = constant(1.0, tuples.arity, 1 if y.ndim == 1 else y.shape[1])
    sums = kernel_sums([one, *kernels], tuples, y, weight, limit)
    rows = np.flatnonzero(sums[:, 0] > 0)
    total = sums[rows, 0]
    return Pooled(X[rows], total, sums[rows, 1:] / total[:, None], rows)


def _together(
    tuples: TupleSet, weight: FloatArray | None, rng: np.random.Generator
) -> sparse.csr_array:
    n, m = tuples.n_rows, tuples.arity
    few = tuples.count() <= LISTED * n
    part = tuples.listed() if few else tuples.sample(LISTED * n // m, rng)
    bare = part if isinstance(tuples, Tuples) else Tuples(part.members, n, part.representative)
    w = tuple_weights(bare, weight)
    t = bare.count()
    size = np.repeat(np.ones(t) if w is None else w, m)
    rows = np.repeat(np.arange(t), m)
    member = sparse.csr_array((np.ones(t * m), (rows, bare.members.ravel())), shape=(t, n))
    heavy = sparse.csr_array((size, (rows, bare.members.ravel())), shape=(t, n))
    both = sparse.csr_array(heavy.T @ member)
    total = np.asarray(both.sum(axis=1)).reshape(-1)
    # a row in no tuple stays where it is
    alone = sparse.diags((total <= 0).astype(np.float64))
    scale = sparse.diags(1.0 / np.where(total > 0, total, 1.0))
    return sparse.csr_array(scale @ both + alone)
