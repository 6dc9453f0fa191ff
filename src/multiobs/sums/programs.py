"""Totals of moment kernels over all tuples by running sums, for windows as a compiled program.

Every total is a sum over anchors of (product of the anchor's own values) times (product of sums
over its partners).  The program lists the columns to be summed over partners, the products, and
the inner products over anchors; the totals are linear in the last.  Where there is no compiled
code, or tuples are neighbours, :mod:`multiobs.sums.moments` gives the same sums anchor by anchor.
"""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import factorial, prod
from typing import final

import numpy as np
import numpy.typing as npt

from multiobs._types import FloatArray
from multiobs.native import loader
from multiobs.statistics.distinct import Exponent
from multiobs.statistics.kernels import Monomials
from multiobs.sums import moments, series, wide
from multiobs.sums.features import Affine, split_constants, tensor_map
from multiobs.tuples import Graph, Windows

Power = tuple[int, ...]  # one exponent per base value: features, labels, weight
Key = tuple[tuple[tuple[tuple[Exponent, ...], float], ...], int, int]  # terms, arity, degree

LONGEST = 40_000  # inner products: a longer program is slower than whole arrays in numpy

COUNT, BASES = 1, 2  # registers: one, number of partners, the anchor's own base values, …


@final
@dataclass(frozen=True)
class Program:
    """What the compiled loop is asked to do, and how totals follow from its answers.

    Attributes
    ----------
    columns : ndarray of int32 (c, 2)
        Column = an earlier column (-1: one) times a base value.
    products : ndarray of int32 (q, 2)
        Registers that are multiplied into the next free register.
    dots : ndarray of int32 (d, 2)
        Registers whose inner product over anchors is wanted.
    combine : tuple of ndarray
        For each kernel, coefficients (monomials, d) of its totals.
    centred : bool
        Whether labels may be measured from a local level: no kernel sees a shift.
    """

    columns: npt.NDArray[np.int32]
    products: npt.NDArray[np.int32]
    dots: npt.NDArray[np.int32]
    combine: tuple[FloatArray, ...]
    centred: bool


def running_sums(
    tuples: Windows | Graph,
    kernels: Sequence[tuple[int, Monomials]],
    Z: FloatArray | Affine,
    y: FloatArray,
    weight: FloatArray | None,
) -> list[FloatArray]:
    r"""Sum each kernel times its power of the features, :math:`\sum_t w_t h(y_t) \tilde z^{(k)}`.

    Parameters
    ----------
    tuples : Windows or Graph
        Which rows go together.
    kernels : sequence of (int, Monomials)
        Kernels with the power k of the features.
    Z : ndarray (n, p) or Affine
        Features of the rows; Affine only with windows.
    y : ndarray (n, s)
        Labels.
    weight : ndarray (n,) or None
        Weights of the rows.

    Returns
    -------
    list of ndarray, of shape (p,) * k each
    """
    p = int(Z.intercept) + Z.X.shape[1] if isinstance(Z, Affine) else Z.shape[1]
    if p > wide.WIDE and max(k for k, _ in kernels) <= 2:
        columns = Z.columns() if isinstance(Z, Affine) else Z
        return [wide.total(tuples, kernel, k, columns, y, weight) for k, kernel in kernels]
    tasks = [(kernel, k) for k, kernel in kernels]
    totals = None
    if isinstance(Z, Affine):  # the compiled loop makes the columns of the rows it has in hand
        first = int(Z.intercept)
        fixed, varying = {0: 1.0} if first else {}, list(range(first, p))
        assert isinstance(tuples, Windows)
        rows, units = moments.RowValues(Z.X, y, weight), (Z.centre, Z.spread)
        totals = window_totals(tuples, tasks, rows, units)
    if totals is None:
        U, fixed, varying = split_constants(Z.columns() if isinstance(Z, Affine) else Z)
        rows = moments.RowValues(U, y, weight)
        if isinstance(tuples, Windows):
            totals = window_totals(tuples, tasks, rows)
    if totals is None:
        evaluator = moments.Evaluator(tasks, rows)
        totals = [np.zeros(len(series.monomials(rows.U.shape[1], k))) for k, _ in kernels]
        for chunk in evaluator.chunks(tuples):
            for total, (k, kernel) in zip(totals, kernels, strict=True):
                total += [each.sum() for each in evaluator.anchor_sums(chunk, kernel, k)]
    out = []
    for total, (k, _) in zip(totals, kernels, strict=True):
        at, size = tensor_map(k, tuples.arity, p, tuple(fixed.items()), tuple(varying))
        out.append(np.asarray(size * total[at]))
    return out


def window_totals(
    windows: Windows,
    kernels: Sequence[tuple[Monomials, int]],
    rows: moments.RowValues,
    units: tuple[FloatArray, FloatArray] | None = None,
) -> list[FloatArray] | None:
    r"""Sum each kernel over all tuples, :math:`\sum_t w_t h(y_t) e^{\zeta\cdot\sum u}`.

    Parameters
    ----------
    windows : Windows
        Which rows go together.
    kernels : sequence of (Monomials, int)
        Kernels with the degree of their series in ζ.
    rows : Rows
        Features, labels and weight of the rows.
    units : (ndarray (p,), ndarray (p,)), optional
        The features are meant less the first and divided by the second.

    Returns
    -------
    list of ndarray, or None where there is no compiled code or the program would be too long
        Coefficients of the series, in the order of ``monomials(p, degree)``.
    """
    lib = loader.library()
    if lib is None:
        return None
    p, s = rows.U.shape[1], rows.y.shape[1]
    weighted = rows.weight is not None
    keys: list[Key] = [(tuple(k.terms.items()), k.arity, degree) for k, degree in kernels]
    program = compile_program(tuple(keys), p, s, weighted)
    if program is None:
        return None
    arrays = [rows.U[:, c] for c in range(p)] + [rows.y[:, c] for c in range(s)]
    if rows.weight is not None:
        arrays.append(rows.weight)
    arrays = [np.asarray(each, dtype=np.float64) for each in arrays]
    arrays = [each if each.strides[0] % 8 == 0 else each.copy() for each in arrays]
    pointers = (ctypes.c_void_p * len(arrays))(*[each.ctypes.data for each in arrays])
    strides = np.array([each.strides[0] // 8 for each in arrays], dtype=np.int64)
    shift, scale = np.zeros(len(arrays)), np.ones(len(arrays))
    if units is not None:
        shift[:p], scale[:p] = units
    centred = np.zeros(len(arrays), dtype=np.int32)
    centred[p : p + s] = program.centred
    order = np.ascontiguousarray(windows.order, dtype=np.int64)
    stop = np.ascontiguousarray(windows.stop, dtype=np.int64)
    out = np.zeros(program.dots.shape[0])
    if lib.mo_window_totals(
        order,
        stop,
        order.size,
        ctypes.addressof(pointers),
        strides,
        shift,
        scale,
        centred,
        len(arrays),
        program.columns,
        program.columns.shape[0],
        program.products,
        program.products.shape[0],
        program.dots,
        program.dots.shape[0],
        windows.arity - 1,
        out,
    ):
        raise MemoryError(f"no memory for the sums over windows of {order.size} rows")
    return [coefficients @ out for coefficients in program.combine]


@lru_cache(maxsize=64)
def compile_program(kernels: tuple[Key, ...], p: int, s: int, weighted: bool) -> Program | None:
    """Write the totals of kernels as inner products over anchors; None if there are too many.

    >>> variance = (((((1,), (1,)), -1.0), (((2,),), 1.0)), 2, 0)
    >>> compile_program((variance,), 0, 1, False).dots.shape
    (3, 2)
    """
    bases = p + s + weighted
    wanted: dict[tuple[Power, tuple[Power, ...]], dict[tuple[int, int], float]] = {}
    for number, (terms, arity, degree) in enumerate(kernels):
        where = series.position(p, degree)
        for coefficient, own, blocks in moments.recipe(Monomials(dict(terms), arity, s)):
            exponents = [(1, own), *blocks]
            for alphas in _shares(p, degree, len(exponents)):
                size = coefficient
                powers = []
                for (times, exponent), alpha in zip(exponents, alphas, strict=True):
                    size *= float(times) ** sum(alpha) / prod(factorial(a) for a in alpha)
                    powers.append((*alpha, *exponent, *([times] if weighted else [])))
                pair = (powers[0], tuple(sorted(powers[1:])))
                at = (number, where[tuple(sum(each) for each in zip(*alphas, strict=True))])
                totals = wanted.setdefault(pair, {})
                totals[at] = totals.get(at, 0.0) + size
                if len(wanted) > LONGEST:
                    return None
    machine = _Registers(bases, {each for _, many in wanted for each in many if any(each)})
    dots = [(machine.own(own), machine.partners(many)) for own, many in wanted]
    combine = [np.zeros((len(series.monomials(p, degree)), len(dots))) for _, _, degree in kernels]
    for d, totals in enumerate(wanted.values()):
        for (which, entry), value in totals.items():
            combine[which][entry, d] = value
    return Program(
        np.array(machine.columns, dtype=np.int32).reshape(-1, 2),
        np.array(machine.products, dtype=np.int32).reshape(-1, 2),
        np.array(dots, dtype=np.int32).reshape(-1, 2),
        tuple(combine),
        all(Monomials(dict(terms), arity, s).shift_invariant for terms, arity, _ in kernels),
    )


def _shares(p: int, degree: int, slots: int) -> list[tuple[Power, ...]]:
    """All ways to give each slot a monomial in p variables, at most ``degree`` in all."""
    found: list[tuple[tuple[Power, ...], int]] = [((), 0)]
    for _ in range(slots):
        found = [
            ((*given, alpha), used + sum(alpha))
            for given, used in found
            for alpha in series.monomials(p, degree - used)
        ]
    return [given for given, _ in found]


@final
class _Registers:
    """Hands out registers, and notes the columns and products that fill them."""

    def __init__(self, bases: int, columns: set[Power]) -> None:
        self.columns: list[tuple[int, int]] = []
        self._column: dict[Power, int] = {}
        for power in sorted(columns, key=lambda each: (sum(each), each)):
            self._add_column(power)
        self._bases = bases
        self.products: list[tuple[int, int]] = []
        self._own: dict[Power, int] = {(0,) * bases: 0}
        for b in range(bases):
            self._own[tuple(int(v == b) for v in range(bases))] = BASES + b
        self._many: dict[tuple[Power, ...], int] = {(): 0}

    def _add_column(self, power: Power) -> int:
        if power not in self._column:
            lower, b = _lowered(power)
            before = self._add_column(lower) if any(lower) else -1
            self.columns.append((before, b))
            self._column[power] = len(self.columns) - 1
        return self._column[power]

    def own(self, power: Power) -> int:
        """Register of a product of the anchor's own values."""
        if power not in self._own:
            lower, b = _lowered(power)
            self._own[power] = self._multiply(self.own(lower), BASES + b)
        return self._own[power]

    def partners(self, powers: tuple[Power, ...]) -> int:
        """Register of a product of partner sums."""
        if powers not in self._many:
            *rest, last = powers
            here = BASES + self._bases + self._column[last] if any(last) else COUNT
            before = self.partners(tuple(rest))
            self._many[powers] = self._multiply(before, here) if rest else here
        return self._many[powers]

    def _multiply(self, left: int, right: int) -> int:
        self.products.append((left, right))
        return BASES + self._bases + len(self.columns) + len(self.products) - 1


def _lowered(power: Power) -> tuple[Power, int]:
    """Take one factor out, from the last base value that has one."""
    b = max(i for i, e in enumerate(power) if e)
    return tuple(e - (i == b) for i, e in enumerate(power)), b
