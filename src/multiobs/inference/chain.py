"""Tuples that share two rows with drawn tuples: what scores of rows count more than once."""

from dataclasses import dataclass
from typing import final

import numpy as np

from multiobs._types import BoolArray, FloatArray, IntArray
from multiobs.tuples import (
    Graph,
    Tuples,
    Windows,
    binomial,
)


@final
@dataclass(frozen=True)
class Chain:
    r"""For drawn tuples t: two of the rows of each, A, and a tuple t' that contains A.

    Estimates :math:`\sum_{o \ge 2} (o - 1) s_t s_{t'}'` over tuples with o common rows: a pair
    with o of them is reached through o(o-1)/2 choices of A, hence the weight 2/o.

    Attributes
    ----------
    rows : ndarray of int (t, 2)
        The rows A.
    number : ndarray (t,)
        How many tuples contain A.
    other : Tuples
        The tuples t'.
    factor : ndarray (t,)
        Weights of the products.
    """

    rows: IntArray
    number: FloatArray
    other: Tuples
    factor: FloatArray

    def times_of(self, times: FloatArray) -> FloatArray:
        """Return the mean over A of a value of rows."""
        return np.asarray(times[self.rows].mean(axis=1))

    @staticmethod
    def draw(windows: Windows, drawn: Tuples, rng: np.random.Generator) -> "Chain":
        """Draw A and t' for each of the drawn tuples."""
        m, n, size = windows.arity, windows.order.size, drawn.count()
        place = np.empty(windows.n_rows, dtype=np.int64)
        place[windows.order] = np.arange(n)
        t = np.sort(place[drawn.members], axis=1)
        slots = np.sort(_distinct(np.full(size, m), 2, rng), axis=1)
        a, b = (np.take_along_axis(t, slots[:, [k]], axis=1)[:, 0] for k in (0, 1))
        partners = windows.n_partners
        # tuples that contain a < b: anchored before a with both as partners, or anchored at a
        before = np.concatenate([[0.0], np.cumsum(binomial(partners - 2, m - 3))])
        low = np.searchsorted(windows.stop, b, side="right")
        outside = before[a] - before[low]
        number = outside + binomial(partners[a] - 1, m - 2)
        u = rng.random(size) * number
        inside = u >= outside
        anchor = np.searchsorted(before, before[low] + u, side="right") - 1
        anchor = np.where(inside, a, np.clip(anchor, low, np.maximum(a - 1, low)))
        other = np.empty((size, m), dtype=np.int64)
        for kind, held in ((inside, 2), (~inside, 3)):
            k, aa, bb = anchor[kind], a[kind], b[kind]
            rest = _distinct(partners[k] - held + 1, m - held, rng)
            rest = np.sort(rest, axis=1) + (k + 1)[:, None]
            rest = _skip(_skip(rest, aa, k), bb, k)
            first = [k, bb] if held == 2 else [k, aa, bb]
            other[kind] = np.concatenate([np.stack(first, axis=1), rest], axis=1)
        common = np.sum(t[:, :, None] == other[:, None, :], axis=(1, 2))
        order = windows.order
        return Chain(
            np.stack([order[a], order[b]], axis=1),
            number,
            Tuples(order[other], windows.n_rows),
            number * (m * (m - 1)) / common,
        )


def draw_in_graph(graph: Graph, drawn: Tuples, rng: np.random.Generator) -> Chain:
    """Draw A and t' for each of the drawn tuples of a graph, whose pairs have no order."""
    m, n, size = graph.arity, graph.n_rows, drawn.count()
    partners = graph.n_partners
    edges = np.sort(graph.anchor_of_edges() * n + graph.indices)  # neighbours of each row, sorted
    slots = _distinct(np.full(size, m), 2, rng)
    A = np.take_along_axis(drawn.members, slots, axis=1)
    a, b = A[:, 0], A[:, 1]
    # Tuples that contain a and b: anchored at a row with both as neighbours, at a or at b.
    which, anchor = _listing(graph, a)
    both = _held(edges, anchor * n + b[which])
    which, anchor = which[both], anchor[both]
    weight = binomial(partners - 2, m - 3)[anchor]
    own = binomial(partners - 1, m - 2)
    for first, second in ((a, b), (b, a)):
        (found,) = np.nonzero(_held(edges, first * n + second))
        which = np.concatenate([which, found])
        anchor = np.concatenate([anchor, first[found]])
        weight = np.concatenate([weight, own[first[found]]])
    order = np.argsort(which, kind="stable")
    which, anchor, total = which[order], anchor[order], np.cumsum(weight[order])
    ends = np.searchsorted(which, np.arange(size), side="right")
    begins = np.concatenate([[0], ends[:-1]])
    before = np.where(begins > 0, total[begins - 1], 0.0)
    number = total[ends - 1] - before
    place = np.searchsorted(total, before + rng.random(size) * number, side="right")
    k = anchor[np.clip(place, begins, ends - 1)]
    other = np.empty((size, m), dtype=np.int64)
    for kind, held in (((k == a) | (k == b), 2), ((k != a) & (k != b), 3)):
        kk, aa, bb = k[kind], a[kind], b[kind]
        rest = np.sort(_distinct(partners[kk] - held + 1, m - held, rng), axis=1)
        start = graph.indptr[kk]
        if held == 2:
            bb = np.where(kk == aa, bb, aa)
            holes = [np.searchsorted(edges, kk * n + bb) - start]
            first_rows = [kk, bb]
        else:
            holes = [np.searchsorted(edges, kk * n + row) - start for row in (aa, bb)]
            holes = [np.minimum(*holes), np.maximum(*holes)]
            first_rows = [kk, aa, bb]
        for hole in holes:
            rest = rest + (rest >= hole[:, None])
        chosen = edges[np.minimum(start[:, None] + rest, edges.size - 1)] % n
        other[kind] = np.concatenate([np.stack(first_rows, axis=1), chosen], axis=1)
    common = np.sum(drawn.members[:, :, None] == other[:, None, :], axis=(1, 2))
    return Chain(A, number, Tuples(other, n), number * (m * (m - 1)) / common)


def _listing(graph: Graph, rows: IntArray) -> tuple[IntArray, IntArray]:
    """For each of the rows the anchors that list it as a neighbour: (which row, anchor)."""
    by_neighbour = np.argsort(graph.indices, kind="stable")
    anchors = graph.anchor_of_edges()[by_neighbour]
    begin = np.searchsorted(graph.indices[by_neighbour], np.arange(graph.n_rows + 1))
    counts = begin[rows + 1] - begin[rows]
    which = np.repeat(np.arange(rows.size), counts)
    within = np.arange(which.size) - np.repeat(np.cumsum(counts) - counts, counts)
    return which, anchors[begin[rows][which] + within]


def _held(edges: IntArray, keys: IntArray) -> BoolArray:
    """Whether each of the keys is one of the sorted edges."""
    place = np.minimum(np.searchsorted(edges, keys), edges.size - 1)
    return np.asarray(edges[place] == keys)


def _distinct(sizes: IntArray, q: int, rng: np.random.Generator) -> IntArray:
    """Draw q distinct integers below each size, (s, q), by Floyd's method."""
    out = np.empty((sizes.size, q), dtype=np.int64)
    for j in range(q):
        top = sizes - q + j
        pick = (rng.random(sizes.size) * (top + 1)).astype(np.int64)
        taken = np.any(out[:, :j] == pick[:, None], axis=1)
        out[:, j] = np.where(taken, top, pick)
    return out


def _skip(places: IntArray, hole: IntArray, anchor: IntArray) -> IntArray:
    """Step over a place that is already taken."""
    return places + ((places >= hole[:, None]) & (hole > anchor)[:, None])
