"""Sums of moment kernels over anchored tuples, from partner sums and never from a list.

For an anchor i with partners P_i all that is needed are the plain sums over P_i of
w^b y^E u^α; the set-partition identity turns them into sums over distinct partners.  Windows
get the plain sums from running sums, graphs from sums over edges.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import factorial
from typing import final

import numpy as np
from scipy import sparse

from multiobs._types import FloatArray, IntArray
from multiobs.native.window_sums import window_sums
from multiobs.statistics.distinct import Exponent, distinct_sum
from multiobs.statistics.kernels import Monomials, powers
from multiobs.sums import series
from multiobs.sums.series import Series
from multiobs.tuples import Graph, Windows

Block = tuple[int, Exponent]
Column = tuple[Block, int]
Recipe = tuple[tuple[float, Exponent, tuple[Block, ...]], ...]


MOST_OBSERVATIONS = 24  # beyond, products of plain sums are too many, one a partition of m - 1


def recipe(kernel: Monomials) -> Recipe:
    """Write the kernel's sum at one anchor as Σ coef · y_i^e · Π (plain sums over partners)."""
    if kernel.arity > MOST_OBSERVATIONS:
        raise ValueError(
            f"sums over tuples that are not listed need at most {MOST_OBSERVATIONS} observations "
            f"each, got {kernel.arity}: use SlidingWindow or Disjoint, or take a random subset "
            "with max_tuples"
        )
    items = tuple(sorted(kernel.terms.items()))
    return _recipe(items, kernel.arity, kernel.n_columns)


@cache
def _recipe(
    terms: tuple[tuple[tuple[Exponent, ...], float], ...], m: int, n_columns: int
) -> Recipe:
    zero = (0,) * n_columns
    total: dict[tuple[Exponent, tuple[Block, ...]], float] = {}
    for factors, coefficient in terms:
        slots = [*factors, *[zero] * (m - len(factors))]
        for own in sorted(set(slots)):
            rest = list(slots)
            rest.remove(own)
            share = coefficient * slots.count(own) / m / factorial(m - 1)
            for factor, blocks in distinct_sum(tuple((1, e) for e in rest)):
                key = (own, blocks)
                total[key] = total.get(key, 0.0) + share * factor
    return tuple((c, own, blocks) for (own, blocks), c in total.items() if c != 0.0)


@final
@dataclass(frozen=True)
class RowValues:
    """What is known of each row: features u (n, p), labels y (n, s), weight (n,) or None."""

    U: FloatArray
    y: FloatArray
    weight: FloatArray | None

    def take(self, rows: IntArray | slice) -> "RowValues":
        """Return some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        return RowValues(self.U[rows], self.y[rows], weight)

    def shifted(self, level: FloatArray) -> "RowValues":
        """Return the rows with their labels measured from a level."""
        return RowValues(self.U, self.y - level, self.weight)


def needed_columns(kernels: Sequence[tuple[Monomials, int]], p: int) -> list[Column]:
    """Every (block, monomial) whose plain sum some kernel asks for."""
    wanted: set[Column] = set()
    for kernel, degree in kernels:
        size = len(series.monomials(p, degree))
        for _, _, blocks in recipe(kernel):
            wanted.update((block, a) for block in blocks for a in range(size))
    return sorted(wanted)


def column_values(rows: RowValues, columns: Sequence[Column], degree: int) -> FloatArray:
    """w^b y^E u^α for each column (block (b, E), monomial α), (rows, columns)."""
    n = rows.y.shape[0]
    F = np.empty((n, len(columns)))
    features = series.powers_of(rows.U, degree)
    labels: dict[Exponent, FloatArray] = {}
    for c, ((times, exponent), alpha) in enumerate(columns):
        if exponent not in labels:
            labels[exponent] = powers(rows.y, exponent)
        value = labels[exponent]
        if alpha:
            np.multiply(value, features[alpha], out=F[:, c])
        else:
            F[:, c] = value
        if rows.weight is not None:
            F[:, c] *= rows.weight**times
    return F


class Chunk(ABC):
    """Some anchors with the plain sums over their partners, labels measured from a local level."""

    anchors: IntArray  # row numbers
    own: RowValues  # the anchors' own values
    n_partners: FloatArray
    F: FloatArray  # column values of the partners
    sums: FloatArray  # (anchors, columns)

    @abstractmethod
    def hand_back(self, D: FloatArray, out: FloatArray) -> None:
        """Add Σ over anchors i of row j, and columns c, of F[j, c] D[i, c] to ``out[j]``."""

    @abstractmethod
    def feature_sums(self, column: int, Z: FloatArray) -> FloatArray:
        """Sums over partners of one column of F times features Z (n, q), (anchors, q)."""

    @abstractmethod
    def feature_back(self, column: int, D: FloatArray) -> tuple[IntArray, FloatArray]:
        """Rows, and for each F times the sum of D (anchors, q) over the anchors that reach it."""


def _levels(y: FloatArray, stop: IntArray) -> FloatArray:
    """Return a typical label of each run of overlapping windows, (rows, s) or (1, s).

    Labels measured from it keep power sums small; medians are not moved by outliers.  No tuple
    crosses from one run to the next, so a jump between them costs no digit.
    """
    n = y.shape[0]
    starts = np.flatnonzero(stop[:-1] <= np.arange(1, n)) + 1
    if starts.size == 0:
        return np.median(y[:: max(1, n // 101)], axis=0, keepdims=True)
    starts = np.concatenate([[0], starts])
    sizes = np.diff(starts, append=n)
    places = starts[:, None] + (sizes[:, None] - 1) * np.arange(5) // 4
    return np.repeat(np.median(y[places], axis=1), sizes, axis=0)


@final
class WindowChunk(Chunk):
    """Consecutive anchors of sorted windows; partner sums are running sums."""

    def __init__(
        self,
        windows: Windows,
        rows: RowValues,
        columns: Sequence[Column],
        degree: int,
        first: int,
        last: int,
        *,
        centred: bool,
    ) -> None:
        end = int(windows.stop[last - 1])
        self.rows = windows.order[first:end]
        local = rows.take(self.rows)
        if centred:
            local = local.shifted(_levels(local.y, windows.stop[first:end] - first))
        self.hi = windows.stop[first:last] - first
        self.lo = np.arange(1, last - first + 1, dtype=np.int64)
        self.anchors = self.rows[: last - first]
        self.own = local.take(slice(0, last - first))
        self.n_partners = (self.hi - self.lo).astype(np.float64)
        self.F = column_values(local, columns, degree)
        self.sums = window_sums(self.F, self.lo, self.hi)

    def hand_back(self, D: FloatArray, out: FloatArray) -> None:
        value = np.einsum("jc,jc->j", self.F, self._reached(D))
        np.add.at(out, self.rows, value)  # a row may recur, in the leaves of several trees

    def feature_sums(self, column: int, Z: FloatArray) -> FloatArray:
        return window_sums(self.F[:, column, None] * Z[self.rows], self.lo, self.hi)

    def feature_back(self, column: int, D: FloatArray) -> tuple[IntArray, FloatArray]:
        return self.rows, self.F[:, column, None] * self._reached(D)

    def _reached(self, D: FloatArray) -> FloatArray:
        """Sum of D over the anchors whose window reaches each place."""
        place = np.arange(self.rows.size, dtype=np.int64)
        lo = np.searchsorted(self.hi, place, side="right").astype(np.int64)
        hi = np.maximum(np.minimum(place, self.lo.size), lo)
        return window_sums(np.ascontiguousarray(D), lo, hi)


@final
class GraphChunk(Chunk):
    """Consecutive anchors of a graph; partner sums are sums over edges."""

    def __init__(
        self,
        graph: Graph,
        rows: RowValues,
        columns: Sequence[Column],
        degree: int,
        first: int,
        last: int,
        *,
        centred: bool,
    ) -> None:
        self.anchors = np.arange(first, last, dtype=np.int64)
        begin, end = int(graph.indptr[first]), int(graph.indptr[last])
        self.partners = graph.indices[begin:end]
        sizes = np.diff(graph.indptr[first : last + 1])
        self.of_edge = np.repeat(np.arange(last - first), sizes)
        self.own = rows.take(self.anchors)
        local = rows.take(self.partners)
        if centred:  # each anchor's own label is the best level for its partners
            local = local.shifted(self.own.y[self.of_edge])
            self.own = self.own.shifted(self.own.y)
        self.n_partners = sizes.astype(np.float64)
        self.F = column_values(local, columns, degree)
        self.sums = np.zeros((last - first, len(columns)))
        some = sizes > 0
        if len(columns) and np.any(some):
            starts = (graph.indptr[first:last] - begin)[some]
            self.sums[some] = np.add.reduceat(self.F, starts, axis=0)

    def hand_back(self, D: FloatArray, out: FloatArray) -> None:
        value = np.einsum("ec,ec->e", self.F, D[self.of_edge])
        out += np.bincount(self.partners, weights=value, minlength=out.size)

    def feature_sums(self, column: int, Z: FloatArray) -> FloatArray:
        return np.asarray(self._edges(column, Z.shape[0]) @ Z)

    def feature_back(self, column: int, D: FloatArray) -> tuple[IntArray, FloatArray]:
        n = int(self.partners.max(initial=-1)) + 1
        return np.arange(n, dtype=np.int64), np.asarray(self._edges(column, n).T @ D)

    def _edges(self, column: int, n: int) -> sparse.csr_array:
        """One column of F as a matrix of anchors by rows."""
        pointers = np.concatenate([[0], np.cumsum(self.n_partners)]).astype(np.int64)
        shape = (self.anchors.size, n)
        return sparse.csr_array((self.F[:, column], self.partners, pointers), shape=shape)


def chunks(
    tuples: Windows | Graph,
    rows: RowValues,
    columns: Sequence[Column],
    degree: int,
    centred: bool,
    *,
    largest: int = 1 << 15,
) -> Iterator[Chunk]:
    """Cut the anchors into runs that fit the cache but stay longer than a window."""
    if isinstance(tuples, Windows):
        n = tuples.order.size
        width = tuples.n_partners
        typical, widest = (int(width.mean()), int(width.max())) if n else (0, 0)
        size = max(min(max(16 * typical, 2048), largest), widest // 2, 1)
        for first in range(0, n, size):
            last = min(first + size, n)
            yield WindowChunk(tuples, rows, columns, degree, first, last, centred=centred)
        return
    held = max(1, min(1 << 20, 32 * largest) // max(1, len(columns)))  # edges at once
    first = 0
    while first < tuples.n_rows:
        last = int(np.searchsorted(tuples.indptr, tuples.indptr[first] + held, side="right")) - 1
        last = min(max(last, first + 1), tuples.n_rows)
        yield GraphChunk(tuples, rows, columns, degree, first, last, centred=centred)
        first = last


@final
class Evaluator:
    """Evaluates kernels on chunks: sums over the tuples of each anchor, as series in ζ."""

    def __init__(
        self, kernels: Sequence[tuple[Monomials, int]], rows: RowValues, keep_counts: bool = False
    ) -> None:
        self.kernels = tuple(kernels)
        self.rows = rows
        self.p = rows.U.shape[1]
        self.degree = max((degree for _, degree in kernels), default=0)
        wanted = needed_columns(kernels, self.p)
        zero = (0,) * rows.y.shape[1]
        # Without weights the sum of ones is the number of partners.
        known = rows.weight is None and not keep_counts
        self.columns = [c for c in wanted if not (known and c[0][1] == zero and c[1] == 0)]
        self.where = {column: i for i, column in enumerate(self.columns)}
        self.centred = all(kernel.shift_invariant for kernel, _ in kernels)

    def chunks(self, tuples: Windows | Graph, largest: int = 1 << 15) -> Iterator[Chunk]:
        """Chunks of at most so many anchors with the plain sums that the kernels need."""
        every = self.rows, self.columns, self.degree, self.centred
        return chunks(tuples, *every, largest=largest)

    def block_series(self, chunk: Chunk, block: Block, degree: int) -> Series:
        """Plain sum of one block over the partners, as a series."""
        times = block[0]
        scale = series.exp_weights(self.p, degree, times)
        out: Series = []
        for a, factor in enumerate(scale):
            c = self.where.get((block, a))
            column = chunk.n_partners if c is None else chunk.sums[:, c]
            out.append(column if factor == 1.0 else factor * column)
        return out

    def own_series(self, chunk: Chunk, degree: int) -> Series:
        """w_i exp(ζ·u_i) of the anchors, as a series."""
        scale = series.exp_weights(self.p, degree, 1)
        values = series.powers_of(chunk.own.U, degree)
        weight = chunk.own.weight
        if weight is None:
            return [v * f for v, f in zip(values, scale, strict=True)]
        return [v * (f * weight) for v, f in zip(values, scale, strict=True)]

    def anchor_sums(self, chunk: Chunk, kernel: Monomials, degree: int) -> Series:
        """Σ over the tuples of each anchor of w_T h(y_T) exp(ζ·Σu), as a series."""
        total = [np.zeros(chunk.anchors.size) for _ in series.monomials(self.p, degree)]
        cache: dict[tuple[Block, ...], Series] = {}
        by_own: dict[Exponent, Series] = {}
        for coefficient, own, blocks in recipe(kernel):
            product = self._product(chunk, blocks, degree, cache)
            held = by_own.get(own)
            if held is None:
                by_own[own] = [coefficient * each for each in product]
            else:
                for each, more in zip(held, product, strict=True):
                    each += coefficient * more
        for own, values in by_own.items():
            label = powers(chunk.own.y, own)
            for each, more in zip(total, values, strict=True):
                each += label * more
        if kernel.arity > 2:  # too few partners: the identity cancels, but not to the last bit
            enough = chunk.n_partners >= kernel.arity - 1
            total = [each * enough for each in total]
        return series.multiply(total, self.own_series(chunk, degree), self.p, degree)

    def partner_factors(self, chunk: Chunk, kernel: Monomials, degree: int) -> dict[Block, Series]:
        """For each block: what multiplies it when one of its slots is held at a given partner."""
        out: dict[Block, Series] = {}
        cache: dict[tuple[Block, ...], Series] = {}
        own_series = self.own_series(chunk, degree)
        for coefficient, own, blocks in recipe(kernel):
            label = powers(chunk.own.y, own)
            for block in sorted(set(blocks)):
                rest = list(blocks)
                rest.remove(block)
                product = self._product(chunk, tuple(rest), degree, cache)
                share = coefficient * block[0] * blocks.count(block)
                term = [share * label * each for each in product]
                held = out.get(block)
                out[block] = (
                    term if held is None else [a + b for a, b in zip(held, term, strict=True)]
                )
        return {
            block: series.multiply(values, own_series, self.p, degree)
            for block, values in out.items()
        }

    def _product(
        self,
        chunk: Chunk,
        blocks: tuple[Block, ...],
        degree: int,
        cache: dict[tuple[Block, ...], Series],
    ) -> Series:
        if blocks in cache:
            return cache[blocks]
        if not blocks:
            size = len(series.monomials(self.p, degree))
            n = chunk.anchors.size
            found = [np.ones(n), *(np.zeros(n) for _ in range(size - 1))]
        elif len(blocks) == 1:
            found = self.block_series(chunk, blocks[0], degree)
        else:
            head = self._product(chunk, blocks[:-1], degree, cache)
            tail = self._product(chunk, blocks[-1:], degree, cache)
            found = series.multiply(head, tail, self.p, degree)
        cache[blocks] = found
        return found
