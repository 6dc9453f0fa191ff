"""Sums of order-statistic kernels over windows and graphs, a bounded number of rows at a time."""

from collections.abc import Iterator

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.native import rank_sums
from multiobs.statistics.kernels import OrderStatistic
from multiobs.sums.features import Affine, split_constants, tensor_map
from multiobs.tuples import Graph, TupleSet, Windows

RANKED = 1 << 18  # anchors whose order statistics are summed at once


def ranked_total(
    tuples: TupleSet,
    kernel: OrderStatistic,
    Z: FloatArray | Affine,
    y: FloatArray,
    k: int,
    weight: FloatArray | None,
) -> FloatArray:
    """Sum an order-statistic kernel times the k-th power of the features, k = 0 or 1."""
    if isinstance(Z, Affine) and isinstance(tuples, Windows):
        first, p = int(Z.intercept), int(Z.intercept) + Z.X.shape[1]
        fixed, varying = {0: 1.0} if first else {}, list(range(first, p))
        parts = _ranked_parts(tuples, kernel, Z if k else None, y, weight)
    else:
        columns = Z.columns() if isinstance(Z, Affine) else Z
        U, fixed, varying = split_constants(columns)
        p = columns.shape[1]
        parts = _ranked_parts(tuples, kernel, U if k else None, y, weight)
    sums = sum((part.sum(axis=0) for part in parts), np.zeros(1 + len(varying) * (k > 0)))
    at, size = tensor_map(k, tuples.arity, p, tuple(fixed.items()), tuple(varying))
    return np.asarray(size * sums[at])


def ranked_anchor_sums(
    tuples: TupleSet,
    kernel: OrderStatistic,
    U: FloatArray,
    y: FloatArray,
    weight: FloatArray | None,
) -> FloatArray:
    """Per anchor: Σ ψ, then Σ ψ Σu for each feature, in the anchors' own order, (n, 1 + p)."""
    parts = list(_ranked_parts(tuples, kernel, U if U.shape[1] else None, y, weight))
    return np.concatenate(parts) if parts else np.zeros((0, 1 + U.shape[1]))


def _ranked_parts(
    tuples: TupleSet,
    kernel: OrderStatistic,
    U: FloatArray | Affine | None,
    y: FloatArray,
    weight: FloatArray | None,
) -> Iterator[FloatArray]:
    """Sums of each anchor, some anchors at a time, so that few rows are copied at once."""
    if isinstance(tuples, Windows):
        widest = int(tuples.n_partners.max(initial=0))
        size = max(RANKED, 8 * widest)  # long beside a window, whose rows are copied twice
        for first in range(0, tuples.order.size, size):
            last = min(first + size, tuples.order.size)
            rows = tuples.order[first : tuples.stop[last - 1]]
            labels = y[rows]
            if kernel.shift_invariant:
                labels -= np.median(labels[:: max(1, labels.size // 1001)])
            stop = tuples.stop[first:last] - first
            w = None if weight is None else weight[rows]
            yield rank_sums.order_statistic_sums(
                labels, _taken(U, rows), w, stop, kernel.coefs, last - first
            )
        return
    assert isinstance(tuples, Graph)
    y = y - np.median(y) if kernel.shift_invariant else y
    columns = _taken(U, np.arange(y.size))
    yield rank_sums.order_statistic_sums_lists(
        y, columns, weight, tuples.indptr, tuples.indices, kernel.coefs
    )


def _taken(U: FloatArray | Affine | None, rows: IntArray) -> FloatArray:
    """Varying features of some rows, contiguous."""
    if U is None:
        return np.empty((rows.size, 0))
    if isinstance(U, Affine):
        return np.ascontiguousarray(U.take(rows))
    return np.ascontiguousarray(U[rows])
