r"""Sums of moment kernels over tuples where features are many: only n × p and p × p arrays.

A sum :math:`\sum_t h(y_t)\,\tilde z_t \tilde z_t'` has as many entries as there are pairs of
features, but a series in all features has a term for each of their products at every partner: its
cost grows with the fourth power of p.  Here partner sums are formed for all features at once, and
products of features are matrix products.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.statistics.kernels import Monomials, powers
from multiobs.sums.moments import Block, Chunk, Evaluator, RowValues, recipe
from multiobs.tuples import Graph, Windows

WIDE = 16  # features: beyond this many, matrix products are faster than series in all of them
TOTALS = 128  # features: up to this many, totals of moments by running sums are faster than a list


def many_features(Z: FloatArray) -> bool:
    """Whether there are so many features that matrix products are used."""
    return bool(Z.shape[1] > WIDE)


@final
@dataclass(frozen=True)
class Jet:
    """A value with its derivatives along all features z, along one form f, and along both.

    Attributes
    ----------
    one : ndarray (n, 1)
        The value.
    z : ndarray (n, p)
        Derivatives along the features.
    f, fz : ndarray (n, 1) and (n, p), or None
        Derivatives along the form, and along both; None where there is no form.
    """

    one: FloatArray
    z: FloatArray
    f: FloatArray | None = None
    fz: FloatArray | None = None

    def __mul__(self, other: "Jet") -> "Jet":
        one, z = self.one * other.one, self.z * other.one + self.one * other.z
        if self.f is None or other.f is None or self.fz is None or other.fz is None:
            return Jet(one, z)
        f = self.f * other.one + self.one * other.f
        fz = self.fz * other.one
        fz += self.f * other.z
        fz += self.z * other.f
        fz += self.one * other.fz
        return Jet(one, z, f, fz)

    def __add__(self, other: "Jet") -> "Jet":
        return Jet.split(self.stacked() + other.stacked(), self.z.shape[1])

    def scaled(self, factor: FloatArray) -> "Jet":
        """Every row times a number of its own (n,)."""
        return Jet.split(self.stacked() * factor[:, None], self.z.shape[1])

    def top(self) -> FloatArray:
        """The highest derivative, (n, p)."""
        return self.z if self.fz is None else self.fz

    def stacked(self) -> FloatArray:
        """All of it side by side, (n, 1 + p) or (n, 2 + 2 p)."""
        parts = [self.one, self.z]
        if self.f is not None and self.fz is not None:
            parts += [self.f, self.fz]
        return np.concatenate(parts, axis=1)

    @staticmethod
    def split(columns: FloatArray, p: int, times: int = 1) -> "Jet":
        """Undo :meth:`stacked`; first derivatives times a number, second ones its square."""
        one, z = columns[:, :1], columns[:, 1 : p + 1]
        if columns.shape[1] == p + 1:
            return Jet(one, times * z)
        f, fz = columns[:, p + 1 : p + 2], columns[:, p + 2 :]
        return Jet(one, times * z, times * f, times**2 * fz)


def _columns(Z: FloatArray, f: FloatArray | None) -> FloatArray:
    """The jet of exp(f + z) at rows, side by side."""
    ones = np.ones((Z.shape[0], 1))
    parts = [ones, Z] if f is None else [ones, Z, f[:, None], f[:, None] * Z]
    return np.concatenate(parts, axis=1)


def pair_total(
    tuples: Windows | Graph,
    kernel: Monomials,
    Z: FloatArray,
    y: FloatArray,
    weight: FloatArray | None,
) -> FloatArray:
    r"""Return :math:`\sum_t w_t h(y_t)\, \tilde z_t \tilde z_t'`, (p, p).

    Parameters
    ----------
    tuples : Windows or Graph
        Which rows go together.
    kernel : Monomials
        The function h of the labels.
    Z : ndarray (n, p)
        Features of the rows.
    y : ndarray (n, s)
        Labels.
    weight : ndarray (n,) or None
        Weights of the rows.

    Examples
    --------
    >>> from multiobs.statistics.kernels import constant
    >>> pairs = Windows(np.arange(3), np.array([2, 3, 3]), arity=2)
    >>> pair_total(pairs, constant(1.0, 2), np.array([[0.0], [2.0], [4.0]]), np.zeros((3, 1)), None)
    array([[10.]])
    """
    evaluator = _evaluator(kernel, y, weight)
    same = np.zeros(tuples.n_rows)  # weight of z_i z_i'
    cross = np.zeros((Z.shape[1], Z.shape[1]))
    for chunk in evaluator.chunks(tuples, _largest(Z)):
        sums = {
            block: chunk.feature_sums(column, Z) for (block, _), column in evaluator.where.items()
        }
        back = np.zeros((chunk.anchors.size, len(evaluator.columns)))
        joined = np.zeros((chunk.anchors.size, Z.shape[1]))  # what stands beside the anchor's z
        for own, blocks in _terms(evaluator, chunk, kernel):
            scalars = [chunk.sums[:, evaluator.where[(block, 0)]] for block in blocks]
            np.add.at(same, chunk.anchors, own * _product(scalars, own))
            for a, block in enumerate(blocks):
                others = own * _product(scalars[:a] + scalars[a + 1 :], own)
                joined += (block[0] * others)[:, None] * sums[block]
                back[:, evaluator.where[(block, 0)]] += block[0] ** 2 * others
                for b in range(a + 1, len(blocks)):
                    rest = [each for c, each in enumerate(scalars) if c not in (a, b)]
                    both = own * _product(rest, own) * (block[0] * blocks[b][0])
                    cross += (sums[block] * both[:, None]).T @ sums[blocks[b]]
        chunk.hand_back(back, same)
        cross += Z[chunk.anchors].T @ joined
    m = tuples.arity
    total = (Z * same[:, None]).T @ Z + cross + cross.T
    return np.asarray(total / m**2)


def total(
    tuples: Windows | Graph,
    kernel: Monomials,
    k: int,
    Z: FloatArray,
    y: FloatArray,
    weight: FloatArray | None,
) -> FloatArray:
    """Sum a kernel times one of the first two powers of many features, k = 0, 1 or 2."""
    if k == 2:
        return pair_total(tuples, kernel, Z, y, weight)
    ones = np.ones((tuples.n_rows, 1))
    by_row = row_totals(tuples, kernel, ones, None, y, weight)[:, 0]
    if k == 1:
        return np.asarray(by_row @ Z / tuples.arity)
    return np.asarray(by_row.sum() / tuples.arity)


def row_totals(
    tuples: Windows | Graph,
    kernel: Monomials,
    Z: FloatArray,
    form: FloatArray | None,
    y: FloatArray,
    weight: FloatArray | None,
    *,
    by_anchor: bool = False,
) -> FloatArray:
    r"""Return :math:`\sum_{t \ni i} w_t h(y_t) (v \cdot \tilde z_t) \tilde z_t` of rows, (n, p).

    Parameters
    ----------
    tuples, kernel, Z, y, weight
        As in :func:`pair_total`.
    form : ndarray (p,) or None
        The form v; without it the factor is left out.
    by_anchor : bool
        Whether a tuple counts for its anchor (first member) only.
    """
    evaluator = _evaluator(kernel, y, weight)
    f, p, out = None if form is None else Z @ form, Z.shape[1], np.zeros_like(Z)

    def at(rows: IntArray, times: int) -> Jet:
        columns = _columns(Z[rows], None if f is None else f[rows])
        return Jet.split(columns, p, times)

    columns = _columns(Z, f)
    for chunk in evaluator.chunks(tuples, _largest(Z)):
        jets = {
            block: Jet.split(chunk.feature_sums(column, columns), p, block[0])
            for (block, _), column in evaluator.where.items()
        }
        here = at(chunk.anchors, 1)
        held: dict[Block, Jet] = {}
        for own, blocks in _terms(evaluator, chunk, kernel):
            anchor = here.scaled(own)
            whole = anchor
            for block in blocks:
                whole = whole * jets[block]
            np.add.at(out, chunk.anchors, whole.top())
            for a, block in enumerate(() if by_anchor else blocks):
                rest = anchor if block[0] == 1 else here.scaled(own * block[0])
                for b, other in enumerate(blocks):
                    if b != a:
                        rest = rest * jets[other]
                held[block] = held[block] + rest if block in held else rest
        for block, rest in held.items():
            column = evaluator.where[(block, 0)]
            rows, found = chunk.feature_back(column, rest.stacked())
            np.add.at(out, rows, (Jet.split(found, p) * at(rows, block[0])).top())
    m = tuples.arity
    return out / (m if form is None else m**2)


def _evaluator(kernel: Monomials, y: FloatArray, weight: FloatArray | None) -> Evaluator:
    nothing = np.empty((y.shape[0], 0))
    return Evaluator([(kernel, 0)], RowValues(nothing, y, weight), keep_counts=True)


def _largest(Z: FloatArray) -> int:
    """Anchors at once, so that arrays of all their features stay small."""
    return max(128, (1 << 16) // int(Z.shape[1]))


def _terms(
    evaluator: Evaluator, chunk: Chunk, kernel: Monomials
) -> Sequence[tuple[FloatArray, tuple[Block, ...]]]:
    """The anchors' own factor (anchors,) of each product of partner sums."""
    found = []
    weight = chunk.own.weight
    for coefficient, own, blocks in recipe(kernel):
        value = coefficient * powers(chunk.own.y, own)
        if weight is not None:
            value = value * weight
        if kernel.arity > 2:  # too few partners: the identity cancels, but not to the last bit
            value = value * (chunk.n_partners >= kernel.arity - 1)
        found.append((value, blocks))
    return found


def _product(factors: Sequence[FloatArray], like: FloatArray) -> FloatArray:
    total = np.ones_like(like)
    for each in factors:
        total = total * each
    return total
