r"""Scores of rows: what each row's label contributes to the gradient of the risk.

With :math:`s_t = w_t\, \ell'(\tilde r_t, y_t)\, \tilde z_t` the score of a tuple,
:math:`g_i = \sum_{t \ni i} s_t` sums the tuples that contain row i.  Metasamples share labels,
so it is the g that are nearly independent, not the s.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, factorial, prod
from typing import final

import numpy as np

from multiobs._types import FloatArray
from multiobs.native import rank_sums
from multiobs.statistics.kernels import Kernel, OrderStatistic
from multiobs.statistics.losses import Loss
from multiobs.sums import moments, series, wide
from multiobs.sums.contraction import (
    LIMIT,
    Features,
    enumerate_tuples,
    features_of,
    n_columns,
    plan,
    ranked_anchor_sums,
    same_label,
    split_constants,
    tuple_weights,
)
from multiobs.sums.folding import folded
from multiobs.sums.joined import ENTRIES, TupleFeatures, few_pairs
from multiobs.sums.passes import Summed, in_few_passes
from multiobs.tuples import CHUNK, Graph, Tuples, TupleSet, Windows

PRODUCTS_A_TUPLE = 8  # of two series, in the time that it takes to list a tuple


@final
@dataclass(frozen=True)
class Term:
    """A part h(y) Π_j (v_j · z~) of the derivative of a loss in r = w · z~."""

    kernel: Kernel
    forms: tuple[FloatArray, ...]

    @property
    def degree(self) -> int:
        """The power of the features in the score h(y) Π_j (v_j · z~) z~."""
        return len(self.forms) + 1


@final
@dataclass(frozen=True)
class Slope:
    """The derivative of a loss in r: a sum of terms, or that of a loss without such terms.

    Attributes
    ----------
    terms : tuple of Term
        Those of a polynomial.
    loss : Loss or None
        A loss whose derivative is no polynomial, so that every tuple is looked at.
    """

    terms: tuple[Term, ...]
    loss: Loss | None = None

    @property
    def bends_with_labels(self) -> bool:
        """Whether the second derivative of the loss depends on labels or on the statistic."""
        constants = (each.kernel.polynomial for each in self.terms if each.forms)
        steady = all(each is not None and each.constant is not None for each in constants)
        return self.loss is not None or not steady or any(len(t.forms) > 1 for t in self.terms)

    @staticmethod
    def of(kernel: Kernel) -> "Slope":
        """Return a kernel as the only term: its sums of rows are scores of the constant."""
        return Slope((Term(kernel, ()),))


def slope_of(loss: Loss, w: FloatArray, reference: FloatArray | None = None) -> Slope:
    r"""Write the derivative of a loss at r = w·z~ as terms, where it is a polynomial.

    A root-type loss whose reference level is c = γ·z~ has the derivative
    :math:`(r - c)(a r^2 + b r + d)`: products of the linear forms w - γ and w.

    Parameters
    ----------
    loss : Loss
        Any loss.
    w : ndarray (p,)
        Coefficients.
    reference : ndarray (p,), optional
        Coefficients γ of the reference level of a root-type loss.
    """
    above = w if reference is None else w - reference
    terms = [
        Term(part.kernel, (*(above,) * part.above_level, *(w,) * part.power))
        for part in loss.derivative
    ]
    needs_level = any(part.above_level for part in loss.derivative)
    if not terms or (needs_level and reference is None):
        return Slope((), loss)
    return Slope(tuple(terms))


def sum_scores(
    slope: Slope,
    tuples: TupleSet,
    Z: Features,
    y: FloatArray,
    w: FloatArray,
    weight: FloatArray | None,
    *,
    by_anchor: bool = False,
    limit: int = LIMIT,
) -> FloatArray:
    """Sum the scores of the tuples that contain each row, or of those anchored at it, (n, p).

    Parameters
    ----------
    slope : Slope
        The derivative of the loss, from :func:`slope_of`.
    tuples : TupleSet
        Which rows go together.
    Z : ndarray (n, p) or Lifted
        Features of the rows.
    y : ndarray (n,) or (n, s)
        Labels.
    w : ndarray (p,)
        Coefficients.
    weight : ndarray (n,) or None
        Weights of the rows, multiplied within a tuple.
    by_anchor : bool
        Whether a tuple counts for its anchor (first member) only.
    """
    p = w.size
    total = np.zeros((tuples.n_rows, p))
    split = _split(slope.terms, tuples, Z, y)
    if isinstance(Z, np.ndarray):
        for kernel in split.ranked:
            total += _ranked_scores(tuples, kernel, Z, y, weight, by_anchor)
        if split.summed:
            total += _running_scores(split.summed, Z, y, weight, by_anchor)
    if slope.loss is not None or split.listed:
        listed = Slope(tuple(split.listed), slope.loss)
        size = ENTRIES if n_columns(Z) > wide.WIDE else CHUNK
        for part in enumerate_tuples(tuples, limit, size):
            if isinstance(Z, np.ndarray) and wide.many_features(Z):
                at = TupleFeatures(part, Z)
                total += at.by_row(_slopes(listed, part, at, y, w, weight), by_anchor)
                continue
            s = tuple_scores(listed, part, Z, y, w, weight)
            for a in range(1 if by_anchor else part.arity):
                for c in range(p):
                    total[:, c] += np.bincount(
                        part.members[:, a], weights=s[:, c], minlength=tuples.n_rows
                    )
    return total


def tuple_scores(
    slope: Slope,
    part: Tuples,
    Z: Features,
    y: FloatArray,
    w: FloatArray,
    weight: FloatArray | None,
) -> FloatArray:
    """Scores s_t (t, p) of listed tuples."""
    z = features_of(part, Z)
    return _slopes(slope, part, z, y, w, weight)[:, None] * z


def _slopes(
    slope: Slope,
    part: Tuples,
    z: FloatArray | TupleFeatures,
    y: FloatArray,
    w: FloatArray,
    weight: FloatArray | None,
) -> FloatArray:
    """Weighted derivative of the loss (t,) at listed tuples of these features."""
    Y = y[part.members]
    at = z.forms if isinstance(z, TupleFeatures) else z.__matmul__
    found = np.zeros(part.count()) if slope.loss is None else slope.loss.gradient(at(w), Y)
    for term in slope.terms:
        value = term.kernel(Y)
        for form in term.forms:
            value = value * at(form)
        found += value
    importance = tuple_weights(part, weight)
    return found if importance is None else found * importance


@final
@dataclass(frozen=True)
class _Split:
    """Terms by how their sums are formed.

    Attributes
    ----------
    listed : list of Term
        Those for which tuples are listed.
    summed : list of (Monomials, tuple of ndarray, TupleSet)
        Kernels and forms of running sums, with the tuples that these run over.
    ranked : list of OrderStatistic
        Those of a rank tree.
    """

    listed: list[Term]
    summed: list[Summed]
    ranked: list[OrderStatistic]


def _split(terms: Sequence[Term], tuples: TupleSet, Z: Features, y: FloatArray) -> _Split:
    """Ask :func:`plan` how the sums of each term are formed."""
    affine = isinstance(Z, np.ndarray)
    found = _Split([], [], [])
    if isinstance(Z, np.ndarray) and _quicker_listed(terms, tuples, Z):
        return _Split(list(terms), [], [])
    for term in terms:
        kernel = term.kernel
        polynomial, even, ranked = kernel.polynomial, kernel.among_equals, kernel.ranked
        listed = n_columns(Z) > wide.WIDE and few_pairs(tuples)
        if listed or plan(tuples, kernel, term.degree, affine).branch == "list" or not affine:
            found.listed.append(term)
        elif polynomial is not None:
            found.summed.append(Summed(polynomial, term.forms, tuples))
        elif even is not None:
            same = same_label(tuples, y[:, None] if y.ndim == 1 else y)
            found.summed.append(Summed(even, term.forms, same))
        elif ranked is not None:
            found.ranked.append(ranked)
    return found


def _quicker_listed(terms: Sequence[Term], tuples: TupleSet, Z: FloatArray) -> bool:
    """Whether series of high degree in several columns cost more than the tuples themselves.

    The running sums of a degree k in v columns multiply C(2v + k, k) pairs of monomials at each
    place; those of k <= 2 in many columns have a way of their own.
    """
    if not all(term.kernel.polynomial is not None for term in terms):
        return False
    v = len(split_constants(Z)[2])
    places = tuples.order.size if isinstance(tuples, Windows) else tuples.n_rows
    if v < 2 or max((term.degree for term in terms), default=0) <= 2:
        return False
    products = sum(comb(2 * v + term.degree, term.degree) for term in terms)
    return tuples.count() * PRODUCTS_A_TUPLE < places * products


def seeds_of_forms(
    forms: Sequence[FloatArray],
    p: int,
    fixed: dict[int, float],
    varying: list[int],
    m: int,
) -> FloatArray:
    """Coefficients (p, monomials) that turn series sums into Π_j (v_j·z~) z~."""
    v = len(varying)
    where = series.position(v, len(forms) + 1)
    unit = {c: tuple(int(j == i) for j in range(v)) for i, c in enumerate(varying)}
    none = (0,) * v
    Polynomial = dict[tuple[int, ...], float]

    def times(left: Polynomial, vector: FloatArray) -> Polynomial:
        out: Polynomial = {}
        for alpha, value in left.items():
            for c, factor in enumerate(vector):
                if factor == 0.0:
                    continue
                step, size = (none, fixed[c]) if c in fixed else (unit[c], 1.0)
                key = tuple(a + b for a, b in zip(alpha, step, strict=True))
                out[key] = out.get(key, 0.0) + value * factor * size
        return out

    prediction: Polynomial = {none: 1.0}
    for form in forms:
        prediction = times(prediction, form)
    seeds = np.zeros((p, len(where)))
    for c in range(p):
        for alpha, value in times(prediction, np.eye(p)[c]).items():
            size = prod(factorial(a) for a in alpha) / float(m) ** sum(alpha)
            seeds[c, where[alpha]] += value * size
    return seeds


def _running_scores(
    summed: Sequence[Summed],
    Z: FloatArray,
    y: FloatArray,
    weight: FloatArray | None,
    by_anchor: bool,
) -> FloatArray:
    labels = y[:, None] if y.ndim == 1 else y
    out = np.zeros_like(Z)
    todo = list(summed)
    if Z.shape[1] > wide.WIDE:
        for term in summed:
            assert isinstance(term.over, Windows | Graph)
            form = term.forms[0] if term.forms else None
            kernel, known = term.kernel, labels
            if len(term.forms) > 1:  # the other forms are numbers of the rows
                others = [Z @ each for each in term.forms[1:]]
                kernel, known = (
                    folded(kernel, (1,) * len(others)),
                    np.column_stack([known, *others]),
                )
            out += wide.row_totals(term.over, kernel, Z, form, known, weight, by_anchor=by_anchor)
        return out
    U, fixed, varying = split_constants(Z)
    parts = []
    for term in todo:
        seeds = seeds_of_forms(term.forms, Z.shape[1], fixed, varying, term.kernel.arity)
        parts.append((term, seeds))
    return out + in_few_passes(parts, moments.RowValues(U, labels, weight), by_anchor)


def kernel_sums(
    kernels: Sequence[Kernel],
    tuples: TupleSet,
    y: FloatArray,
    weight: FloatArray | None,
    limit: int = LIMIT,
) -> FloatArray:
    """Sum kernels over the tuples that contain each row, (n, q): as few passes as there can be.

    Parameters
    ----------
    kernels : sequence of Kernel
        Functions of the m labels.
    tuples : TupleSet
        Which rows go together.
    y : ndarray (n,) or (n, s)
        Labels.
    weight : ndarray (n,) or None
        Weights of the rows, multiplied within a tuple.
    limit : int
        The most tuples that are enumerated.
    """
    ones, one = np.ones((tuples.n_rows, 1)), np.ones(1)
    out, together = np.zeros((tuples.n_rows, len(kernels))), []
    for i, (kernel, column) in enumerate(zip(kernels, np.eye(len(kernels)), strict=True)):
        summed = _split(Slope.of(kernel).terms, tuples, ones, y).summed
        together += [(term, column[:, None]) for term in summed]
        if not summed:
            slope = Slope.of(kernel)
            out[:, i] = sum_scores(slope, tuples, ones, y, one, weight, limit=limit)[:, 0]
    if together:
        labels = y[:, None] if y.ndim == 1 else y
        out += in_few_passes(together, moments.RowValues(ones[:, :0], labels, weight), False)
    return out


def _ranked_scores(
    tuples: TupleSet,
    kernel: OrderStatistic,
    Z: FloatArray,
    y: FloatArray,
    weight: FloatArray | None,
    by_anchor: bool,
) -> FloatArray:
    U, fixed, varying = split_constants(Z)
    m = kernel.arity
    seeds = np.zeros((Z.shape[1], 1 + len(varying)))
    for c, value in fixed.items():
        seeds[c, 0] = value
    for i, c in enumerate(varying):
        seeds[c, 1 + i] = 1.0 / m
    if kernel.shift_invariant:
        y = y - np.median(y)
    out = np.zeros((tuples.n_rows, seeds.shape[0]))
    if by_anchor:
        anchors = tuples.order if isinstance(tuples, Windows) else np.arange(tuples.n_rows)
        np.add.at(out, anchors, ranked_anchor_sums(tuples, kernel, U, y, weight) @ seeds.T)
        return out
    if isinstance(tuples, Windows):
        rows = tuples.order
        w = None if weight is None else np.ascontiguousarray(weight[rows])
        found = rank_sums.order_statistic_row_sums(
            np.ascontiguousarray(y[rows]),
            np.ascontiguousarray(U[rows]),
            w,
            tuples.stop,
            kernel.coefs,
            seeds,
        )
        np.add.at(out, rows, found)  # a row may recur, in the leaves of several trees
        return out
    assert isinstance(tuples, Graph)
    return rank_sums.order_statistic_row_sums_lists(
        y, U, weight, tuples.indptr, tuples.indices, kernel.coefs, seeds
    )
