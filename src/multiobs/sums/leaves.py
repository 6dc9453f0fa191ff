r"""Sums over all m-subsets of each leaf, from sums that leaves add up row by row in any order.

For a row of a leaf all its other rows are partners: the plain sums over them are the leaf's own
less the row's.  Every tuple is met once for each of its rows, which is what scores of rows ask
for, and a sum over all rows is m times that over tuples.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy import sparse

from multiobs._types import FloatArray, IntArray
from multiobs.statistics.kernels import Kernel, powers
from multiobs.sums.moments import Block, recipe
from multiobs.sums.wide import Jet


@final
@dataclass(frozen=True)
class LeafTask:
    """A kernel, and how much is asked for beside its own sums.

    Attributes
    ----------
    kernel : Monomials
        A polynomial of the labels.
    order : int
        0 for the kernel alone, 1 with the summed features of a tuple's rows, 2 with those and a
        linear form of them.
    """

    kernel: Kernel
    order: int


@final
@dataclass(frozen=True)
class LeafRows:
    """Some rows of leaves.

    Attributes
    ----------
    y : ndarray (n, s)
        Labels, measured from the level of the row's leaf where kernels allow that.
    weight : ndarray (n,) or None
        Weights of the rows.
    columns : ndarray (n, c)
        Features as :func:`jet_columns` puts them.
    """

    y: FloatArray
    weight: FloatArray | None
    columns: FloatArray


def jet_columns(Z: FloatArray, form: FloatArray | None, order: int) -> FloatArray:
    """Ones, features, a form of them and its products with the features, as far as asked for.

    >>> jet_columns(np.array([[3.0]]), np.array([2.0]), 2)
    array([[ 1.,  3.,  6., 18.]])
    """
    parts = [np.ones((Z.shape[0], 1))]
    if order > 0:
        parts.append(Z)
    if order > 1:
        assert form is not None
        f = (Z @ form)[:, None]
        parts += [f, f * Z]
    return np.concatenate(parts, axis=1)


@final
class LeafSums:
    """Which sums of a leaf some tasks need, and what they make of them.

    Parameters
    ----------
    tasks : sequence of LeafTask
        Kernels of equally many observations.
    p : int
        Features of a row.

    Examples
    --------
    >>> from multiobs.statistics.kernels import moment
    >>> task = LeafTask(moment(2) - moment(1) * moment(1), 0)
    >>> sums = LeafSums([task], p=0)
    >>> rows = LeafRows(np.array([[0.0], [2.0], [5.0]]), None, np.ones((3, 1)))
    >>> codes = np.array([0, 0, 1])
    >>> table = sums.table(rows, codes, 2)
    >>> others = sums.partners(rows, codes, table, np.array([2.0, 1.0]))
    >>> sums.jet(task, others).one[:, 0]
    array([2., 2., 0.])
    """

    def __init__(self, tasks: Sequence[LeafTask], p: int) -> None:
        self.p = p
        self._terms = {}
        orders: dict[Block, int] = {}
        self.centred = True
        for task in tasks:
            kernel = task.kernel.polynomial
            assert kernel is not None
            self.centred &= kernel.shift_invariant
            self._terms[task] = recipe(kernel)
            for _, _, blocks in self._terms[task]:
                for block in blocks:
                    orders[block] = max(orders.get(block, 0), task.order)
        self._where: dict[Block, slice] = {}
        at = 0
        for block, order in sorted(orders.items()):
            self._where[block] = slice(at, at + _size(order, p))
            at += _size(order, p)
        self.width = at

    def without_features(self, table: FloatArray) -> "tuple[LeafSums, FloatArray]":
        """The same kernels alone, and their columns of a table: less to fetch for every row."""
        alone = LeafSums([LeafTask(task.kernel, 0) for task in self._terms], self.p)
        return alone, np.stack([table[:, self._where[block].start] for block in alone._where], 1)

    def crossed(self, task: LeafTask, table: FloatArray) -> FloatArray:
        r"""Return :math:`\sum_{i, j} w_i w_j z_i z_j'` over all rows of each leaf, (p, p).

        Products of features over pairs of a leaf are these, but for those of a row with itself.
        """
        (_, _, (block,)) = self._terms[task][0]
        features = table[:, self._where[block]][:, 1:]
        return features.T @ features

    def values(self, rows: LeafRows) -> FloatArray:
        """What each row adds to its leaf, (n, width)."""
        out = np.empty((rows.y.shape[0], self.width))
        for (times, exponent), where in self._where.items():
            value = powers(rows.y, exponent)
            if rows.weight is not None:
                value = value * rows.weight**times
            size = where.stop - where.start
            np.multiply(value[:, None], rows.columns[:, :size], out=out[:, where])
        return out

    def table(self, rows: LeafRows, codes: IntArray, leaves: int) -> FloatArray:
        """Sums (leaves, width) over the rows of each leaf."""
        n = codes.size
        matrix = sparse.csc_array((np.ones(n), codes, np.arange(n + 1)), shape=(leaves, n))
        return np.asarray(matrix @ self.values(rows))

    def partners(
        self, rows: LeafRows, codes: IntArray, table: FloatArray, size: FloatArray
    ) -> "Partners":
        """Sums over the other rows of each row's leaf.

        Parameters
        ----------
        rows : LeafRows
            Rows with labels from the same levels as in the table.
        codes : ndarray of int (n,)
            The rows' leaves.
        table : ndarray (leaves, width)
            Summed :meth:`table` of all rows.
        size : ndarray (leaves,)
            How many rows each leaf has.
        """
        sums = table[codes]
        sums -= self.values(rows)
        return Partners(rows, sums, size[codes] - 1.0)

    def jet(self, task: LeafTask, at: "Partners") -> Jet:
        """Sums over the tuples that contain each row, with derivatives along summed features."""
        m, width = task.kernel.arity, _size(task.order, self.p)
        features = self.p if task.order else 0
        rows, total = at.rows, np.zeros((at.rows.y.shape[0], width))
        here = rows.columns[:, :width]
        for coefficient, own, blocks in self._terms[task]:
            factor = coefficient * powers(rows.y, own)
            if rows.weight is not None:
                factor = factor * rows.weight
            if m > 2:  # too few partners: the identity cancels, but not to the last bit
                factor = factor * (at.number >= m - 1)
            starts = [self._where[block].start for block in blocks]
            if task.order < 2:
                self._first_order(total, factor, here, [(at.sums[:, a : a + width], block[0])
                                  for a, block in zip(starts, blocks, strict=True)])  # fmt: skip
                continue
            whole = Jet.split(here * factor[:, None], features)
            for block, start in zip(blocks, starts, strict=True):
                found = at.sums[:, start : start + width]
                whole = whole * Jet.split(found, features, block[0])
            total += whole.stacked()
        return Jet.split(total, features)

    def _first_order(
        self, total: FloatArray, factor: FloatArray, here: FloatArray,
        others: "list[tuple[FloatArray, int]]",
    ) -> None:  # fmt: skip
        """Add a product of jets of at most first order: the fewest passes over all features."""
        for i, (sums, times) in enumerate(others if total.shape[1] > 1 else ()):
            rest = times * factor
            for j, (other, _) in enumerate(others):
                rest = rest if i == j else rest * other[:, 0]
            total[:, 1:] += sums[:, 1:] * rest[:, None]
        for sums, _ in others:
            factor = factor * sums[:, 0]
        total += here * factor[:, None]


@final
@dataclass(frozen=True)
class Partners:
    """Rows with plain sums (n, width) over the other rows of their leaf, and how many these are."""

    rows: LeafRows
    sums: FloatArray
    number: FloatArray


def equal_pairs(task: LeafTask) -> float | None:
    """What a kernel of pairs is for any labels, None where it depends on them.

    >>> from multiobs.statistics.kernels import constant
    >>> equal_pairs(LeafTask(constant(3.0, 2), 1)), equal_pairs(LeafTask(constant(3.0, 3), 1))
    (3.0, None)
    """
    polynomial = task.kernel.polynomial
    return None if polynomial is None or task.kernel.arity != 2 else polynomial.constant


def _size(order: int, p: int) -> int:
    return (1, 1 + p, 2 + 2 * p)[order]
