"""Tuples that share two rows with drawn tuples: what scores of rows count more than once."""

from dataclasses import dataclass
from typing import final

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.tuples import Graph, Tuples, Windows


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
    near = np.split(graph.indices, graph.indptr[1:-1])
    by_neighbour = np.argsort(graph.indices, kind="stable")
    ends = np.searchsorted(graph.indices[by_neighbour], np.arange(1, n))
    back = [set(each.tolist()) for each in np.split(graph.anchor_of_edges()[by_neighbour], ends)]
    both = binomial(partners - 2, m - 3)  # tuples of an anchor that contain two given partners
    own = binomial(partners - 1, m - 2)  # and those that contain one given partner
    slots = _distinct(np.full(size, m), 2, rng)
    A = np.take_along_axis(drawn.members, slots, axis=1)
    number = np.empty(size)
    other = np.empty((size, m), dtype=np.int64)
    uniform = rng.random((size, m))
    for t, (a, b) in enumerate(A.tolist()):
        anchors = sorted(back[a] & back[b])
        weights = [both[k] for k in anchors]
        for first, second in ((a, b), (b, a)):
            if first in back[second]:
                anchors.append(first)
                weights.append(own[first])
        cumulated = np.cumsum(weights)
        number[t] = cumulated[-1]
        u = uniform[t, 0] * number[t]
        k = anchors[min(int(np.searchsorted(cumulated, u, side="right")), len(anchors) - 1)]
        chosen = [k, *(row for row in (a, b) if row != k)]
        rest = [row for row in near[k].tolist() if row not in chosen]
        for j in range(m - len(chosen)):  # the first places of a random permutation
            place = j + int(uniform[t, j + 1] * (len(rest) - j))
            rest[j], rest[place] = rest[place], rest[j]
        other[t] = chosen + rest[: m - len(chosen)]
    common = np.sum(drawn.members[:, :, None] == other[:, None, :], axis=(1, 2))
    return Chain(A, number, Tuples(other, n), number * (m * (m - 1)) / common)


def binomial(sizes: IntArray, q: int) -> FloatArray:
    """Binomial coefficients C(size, q) as floats, zero where the size is too small."""
    out = np.where(sizes >= 0, 1.0, 0.0)
    for j in range(q):
        out = out * np.maximum(sizes - j, 0) / (j + 1)
    return out


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
