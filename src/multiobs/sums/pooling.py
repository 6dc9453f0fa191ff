"""Each anchor's tuples pooled into one weighted pseudo-observation.

Exact for squared loss up to the spread of x~ inside one window, n rows whatever m is, and it
gives any regressor with ``sample_weight`` the whole of the tuples' information.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.statistics.kernels import Kernel, Monomials, OrderStatistic, constant
from multiobs.sums import moments, series
from multiobs.sums.contraction import (
    LIMIT,
    enumerate_tuples,
    plan,
    ranked_anchor_sums,
    representatives,
    tuple_weights,
)
from multiobs.sums.overlaps import AT_ONCE, COLUMNS
from multiobs.tuples import Graph, Tuples, TupleSet, Windows


@final
@dataclass(frozen=True)
class Pooled:
    """Pseudo-observations: one per anchor, or one per tuple where tuples are listed.

    Attributes
    ----------
    x : ndarray (g, d)
        Mean representative.
    weight : ndarray (g,)
        Summed weight of the tuples pooled.
    values : ndarray (g, q)
        Mean of each kernel over the tuples pooled.
    anchors : ndarray of int (g,)
        Row number of the anchor, or of the first member.
    """

    x: FloatArray
    weight: FloatArray
    values: FloatArray
    anchors: IntArray


def pool(
    tuples: TupleSet,
    kernels: Sequence[Kernel],
    X: FloatArray,
    y: FloatArray,
    *,
    weight: FloatArray | None = None,
    limit: int = LIMIT,
) -> Pooled:
    """Pool the tuples of each anchor: summed weight, mean kernels, mean representative.

    Parameters
    ----------
    tuples : TupleSet
        Which rows go together.
    kernels : sequence of Kernel
        Functions of the m labels.
    X : ndarray (n, d)
        Positions of the rows.
    y : ndarray (n,) or (n, s)
        Labels.
    weight : ndarray (n,), optional
        Weights of the rows, multiplied within a tuple.

    Anchors with the same x and the same window share their tuples evenly: the order of rows in a
    tie does not matter.

    Returns
    -------
    Pooled
        Only anchors that have a tuple of positive weight.
    """
    if isinstance(tuples, Tuples):
        w = tuple_weights(tuples, weight)
        total = np.ones(tuples.count()) if w is None else w
        values = np.stack([kernel(y[tuples.members]) for kernel in kernels], axis=1)
        return _positive(representatives(tuples, X), total, values, tuples.members[:, 0])
    assert isinstance(tuples, Windows | Graph)
    labels = y[:, None] if y.ndim == 1 else y
    places = tuples.order if isinstance(tuples, Windows) else np.arange(tuples.n_rows)
    recurring = places.size > tuples.n_rows  # rows, in the leaves of several trees
    anchors = np.arange(tuples.n_rows) if recurring else places
    d, middle = X.shape[1], X.mean(axis=0)  # x far from zero would spoil the sums below
    few = max(COLUMNS, AT_ONCE // max(1, places.size))  # columns at once
    ties = _ties(tuples, X, few) if isinstance(tuples, Windows) else None
    total, x_sum, sums = np.empty(0), np.empty((anchors.size, d)), np.empty((0, 0))
    for first in range(0, max(d, 1), few):
        some = slice(first, min(first + few, d))
        rows = moments.RowValues(X[:, some] - middle[some], labels, weight)
        found = _place_sums(tuples, () if first else kernels, rows, places, limit)
        if ties is not None:
            found = _alike_in_ties(found, ties)
        if recurring:
            n = tuples.n_rows
            found = np.stack([np.bincount(places, each, n) for each in found.T], axis=1)
        total, x_sum[:, some], more = np.split(found, [1, 1 + rows.U.shape[1]], axis=1)
        sums = sums if first else more
    total = total[:, 0]
    safe = np.where(total > 0, total, 1.0)
    x = middle + x_sum / (safe * tuples.arity)[:, None]
    return _positive(x, total, sums / safe[:, None], anchors)


def _place_sums(
    tuples: Windows | Graph,
    kernels: Sequence[Kernel],
    rows: moments.RowValues,
    places: IntArray,
    limit: int,
) -> FloatArray:
    """Sums over the tuples of each place: their weight, features and kernels, (n, 1 + d + q)."""
    n, d, labels, weight = places.size, rows.U.shape[1], rows.y, rows.weight
    out = np.zeros((n, 1 + d + len(kernels)))
    sums = out[:, 1 + d :]
    known = ((i, kernel.polynomial) for i, kernel in enumerate(kernels))
    quick = [(i, polynomial) for i, polynomial in known if polynomial is not None]
    for shift in (True, False):  # shift-invariant kernels are measured from a local level
        group = [(i, kernel) for i, kernel in quick if kernel.shift_invariant == shift]
        tasks: list[tuple[Monomials, int]] = [(kernel, 0) for _, kernel in group]
        if shift:
            tasks = [(constant(1.0, tuples.arity, labels.shape[1]), 1), *tasks]
        if not tasks:
            continue
        evaluator = moments.Evaluator(tasks, rows)
        first = 0
        for chunk in evaluator.chunks(tuples):
            part = slice(first, first + chunk.anchors.size)
            first = part.stop
            found = [evaluator.anchor_sums(chunk, kernel, degree) for kernel, degree in tasks]
            if shift:
                out[part, 0] = found[0][0]
                # coefficients of exp(ζ·Σu): monomials of degree one come right after the constant
                where = series.position(d, 1)
                for c in range(d):
                    alpha = tuple(int(v == c) for v in range(d))
                    out[part, 1 + c] = found[0][where[alpha]]
                found = found[1:]
            for (i, _), sum_of in zip(group, found, strict=True):
                sums[part, i] = sum_of[0]
    y = labels[:, 0] if labels.shape[1] == 1 else labels
    for i, kernel in enumerate(kernels):
        if kernel.polynomial is not None:
            continue
        ranked = kernel.ranked
        if ranked is not None and plan(tuples, kernel, 0).branch == "rank tree":
            sums[:, i] = _ranked_means(tuples, ranked, labels[:, 0], weight)
        else:
            sums[:, i] = _enumerated_sums(tuples, kernel, y, weight, places, limit)
    return out


def _ties(windows: Windows, X: FloatArray, few: int) -> IntArray | None:
    """First places of runs with the same x and the same window, or None if all are alone."""
    new = np.asarray(windows.stop[1:] != windows.stop[:-1])
    for first in range(0, X.shape[1], few):
        x = X[windows.order, first : first + few]
        new |= np.any(x[1:] != x[:-1], axis=1)
    return None if np.all(new) else np.flatnonzero(np.concatenate([[True], new]))


def _alike_in_ties(sums: FloatArray, first: IntArray) -> FloatArray:
    """Spread sums of anchors evenly over those with the same x and the same window.

    Which of them a tuple is anchored at is only a matter of the order of the rows.
    """
    size = np.diff(first, append=sums.shape[0])
    return np.repeat(np.add.reduceat(sums, first, axis=0) / size[:, None], size, axis=0)


def _ranked_means(
    tuples: Windows | Graph, kernel: OrderStatistic, y: FloatArray, weight: FloatArray | None
) -> FloatArray:
    none = np.empty((y.size, 0))
    return ranked_anchor_sums(tuples, kernel, none, y, weight)[:, 0]


def _enumerated_sums(
    tuples: Windows | Graph,
    kernel: Kernel,
    y: FloatArray,
    weight: FloatArray | None,
    anchors: IntArray,
    limit: int,
) -> FloatArray:
    by_row = np.zeros(tuples.n_rows)
    for part in enumerate_tuples(tuples, limit):
        values = kernel(y[part.members])
        w = tuple_weights(part, weight)
        values = values if w is None else values * w
        by_row += np.bincount(part.members[:, 0], weights=values, minlength=by_row.size)
    rows, first = np.unique(anchors, return_index=True)
    out = np.zeros(anchors.size)
    out[first] = by_row[rows]  # a row that recurs has all of its tuples at its first place
    return out


def _positive(x: FloatArray, total: FloatArray, values: FloatArray, anchors: IntArray) -> Pooled:
    keep = total > 0
    if np.all(keep):
        return Pooled(x, total, values, anchors)
    return Pooled(x[keep], total[keep], values[keep], anchors[keep])
