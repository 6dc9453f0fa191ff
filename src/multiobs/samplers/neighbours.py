"""Which rows are near each other in several columns, where many may share the very same x.

Rows of equal x are one node with a count.  Nodes are sought in a tree, and the one definition of
'within a distance' decides: the square root of the summed squares of the differences, compared in
floating point.  Rows take the place of nodes only as long as the pairs are not too many.
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.spatial import KDTree

from multiobs._types import BoolArray, FloatArray, IntArray
from multiobs.tuples import Graph, Windows

PAIRS = 10_000_000  # of rows that a graph may hold before partners are drawn
TIED = 64  # partners a row, on average, from which blocks of equal x cost less than their pairs
EQUAL = 1e-12  # relative difference of distances that is rounding
ROUNDING = 1e-9  # margin with which a tree is asked, so that it leaves out nobody
LISTED = 1 << 18  # pairs that are made at once
CHUNK = 1 << 16  # nodes whose candidates are held at once

Finder = Callable[[FloatArray, IntArray], tuple[IntArray, IntArray]]


@final
@dataclass(frozen=True)
class Nodes:
    """Distinct positions of rows.

    Attributes
    ----------
    rows : ndarray of int (n,)
        Row numbers, node by node.
    first : ndarray of int (u,)
        Where the rows of each node begin.
    sizes : ndarray of int (u,)
        How many rows each has.
    points : ndarray (u, d)
        Positions.
    """

    rows: IntArray
    first: IntArray
    sizes: IntArray
    points: FloatArray


def nodes_of(points: FloatArray, rows: IntArray) -> Nodes:
    """Distinct positions among some rows of points (n, d).

    >>> found = nodes_of(np.array([[1.0], [0.0], [1.0]]), np.arange(3))
    >>> found.sizes.tolist(), found.rows.tolist()
    ([1, 2], [1, 0, 2])
    """
    here = points[rows]
    order = np.lexsort(here.T[::-1])
    sorted_points = here[order]
    new = np.append(True, np.any(sorted_points[1:] != sorted_points[:-1], axis=1))
    if np.all(new):  # no ties: keep the rows in their order
        one = np.ones(rows.size, dtype=np.int64)
        return Nodes(rows, np.arange(rows.size, dtype=np.int64), one, here)
    first = np.flatnonzero(new).astype(np.int64)
    sizes = np.diff(first, append=rows.size).astype(np.int64)
    return Nodes(rows[order], first, sizes, sorted_points[first])


def distances(points: FloatArray, first: IntArray, second: IntArray) -> FloatArray:
    """Euclidean distances of points, the same from either side."""
    gap = points[first] - points[second]
    return np.asarray(np.sqrt(np.einsum("...k,...k->...", gap, gap)))


def in_ball(points: FloatArray, radius: float) -> tuple[IntArray, IntArray]:
    """Points within a distance of each point, itself included: how many, and which, sorted."""
    tree = KDTree(points)
    sizes, found = [], []
    for start in range(0, points.shape[0], CHUNK):
        some = np.arange(start, min(start + CHUNK, points.shape[0]), dtype=np.int64)
        near = tree.query_ball_point(points[some], radius * (1 + ROUNDING), return_sorted=True)
        count = np.fromiter((len(each) for each in near), dtype=np.int64, count=some.size)
        which = np.concatenate([np.asarray(each, dtype=np.int64) for each in near])
        own = np.repeat(some, count)
        within = distances(points, own, which) <= radius
        sizes.append(np.bincount(own[within] - start, minlength=some.size).astype(np.int64))
        found.append(which[within])
    return np.concatenate(sizes), np.concatenate(found)


def nearest_nodes(points: FloatArray, counts: IntArray, k: int) -> tuple[IntArray, IntArray]:
    """Points as near as the k-th other row, for every point: how many, and which, sorted.

    Parameters
    ----------
    points : ndarray (u, d)
        Distinct positions.
    counts : ndarray of int (u,)
        Rows at each.
    k : int
        Other rows that are wanted; everybody as near as the last of them is taken in.
    """
    u = points.shape[0]
    if k < 1:
        return np.ones(u, dtype=np.int64), np.arange(u, dtype=np.int64)
    tree = KDTree(points)
    asked = min(u, k + 1 + 3)
    sizes, found = [], []
    for start in range(0, u, CHUNK):
        some = np.arange(start, min(start + CHUNK, u), dtype=np.int64)
        _, index = tree.query(points[some], k=np.arange(1, asked + 1), workers=-1)
        gap = distances(points, np.broadcast_to(some[:, None], index.shape), index)
        by_gap = np.argsort(gap, axis=1, kind="stable")
        index, gap = np.take_along_axis(index, by_gap, 1), np.take_along_axis(gap, by_gap, 1)
        others = np.cumsum(counts[index], axis=1) - 1
        last = np.minimum(np.argmax(others >= k, axis=1), asked - 1)
        last = np.where(others[:, -1] >= k, last, asked - 1)
        radius = gap[np.arange(some.size), last] * (1 + EQUAL)
        near = gap <= radius[:, None]
        crowded = near[:, -1] & (asked < u)  # more ties than were asked for: sought again
        near[crowded] = False
        # what is not near goes to the end of its row
        places = np.sort(np.where(near, index, u), axis=1)
        size = near.sum(axis=1, dtype=np.int64)
        which = places[places < u].astype(np.int64)
        if np.any(crowded):
            lists = np.split(which, np.cumsum(size)[:-1])
            for i in np.flatnonzero(crowded):
                wide = tree.query_ball_point(points[some[i]], radius[i] * (1 + ROUNDING))
                each = np.sort(np.asarray(wide, dtype=np.int64))
                within = distances(points, np.full(each.size, some[i]), each) <= radius[i]
                lists[i], size[i] = each[within], int(within.sum())
            which = np.concatenate(lists)
        sizes.append(size)
        found.append(which)
    return np.concatenate(sizes), np.concatenate(found)


def rows_together(
    points: FloatArray,
    parts: list[IntArray],
    arity: int,
    find: Finder,
    rng: np.random.Generator,
    least: int,
) -> Graph | Windows:
    """Rows whose nodes are near: a graph, or blocks of equal rows where pairs are too many.

    Parameters
    ----------
    points : ndarray (n, d)
        Positions in units of the distance.
    parts : list of ndarray of int
        Rows of each group.
    arity : int
        The number m of rows in a tuple.
    find : callable
        ``find(points, counts)`` gives how many nodes are near each node, and which.
    rng : Generator
        Draws some of the partners where all of them would be too many.
    least : int
        Partners that each row keeps then, where it has as many; zero takes a share of them, and
        says so.

    Returns
    -------
    Graph or Windows
        Windows, which hold every tuple once, where each node is near itself only.
    """
    n = points.shape[0]
    groups = [nodes_of(points, rows) for rows in parts]
    found = [find(each.points, each.sizes) for each in groups]
    total, alone = 0, True
    for nodes, (sizes, which) in zip(groups, found, strict=True):
        own = np.repeat(np.arange(sizes.size), sizes)
        partners = np.bincount(own, nodes.sizes[which].astype(np.float64), sizes.size) - 1
        total += int(nodes.sizes @ partners)
        alone = alone and bool(np.all(sizes <= 1))
    if total <= (TIED * n if alone else PAIRS) or all(np.all(each.sizes == 1) for each in groups):
        return _graph([_Everybody(*each) for each in zip(groups, found, strict=True)], n, arity)
    if alone:
        order = np.concatenate([each.rows for each in groups])
        sizes = np.concatenate([each.sizes for each in groups])
        return Windows(order, np.repeat(np.cumsum(sizes), sizes), arity)
    share = PAIRS / total
    if not least:  # as many nearest as were asked for are nothing to talk about
        least = arity - 1
        warnings.warn(
            f"rows have {total:.3g} partners within epsilon: each goes with a random {share:.2g} "
            "of its own",
            UserWarning,
            stacklevel=4,
        )
    drawn = [_Drawn.of(*each, share, least, rng) for each in zip(groups, found, strict=True)]
    return _graph(drawn, n, arity)


class _Listing(ABC):
    """Pairs of rows of near nodes, to be listed a few rows at a time."""

    nodes: Nodes

    @property
    @abstractmethod
    def counts(self) -> IntArray:
        """How many partners each row has, in the order of the nodes' rows."""

    @abstractmethod
    def pairs(self, some: IntArray) -> tuple[IntArray, IntArray]:
        """Anchors and partners of the rows at these places."""


@final
@dataclass(frozen=True)
class _Everybody(_Listing):
    """All rows of near nodes: how many nodes are near each, and which."""

    nodes: Nodes
    near: tuple[IntArray, IntArray]

    @property
    def counts(self) -> IntArray:
        sizes, which = self.near
        ends = np.append(0, np.cumsum(self.nodes.sizes[which]))
        last = np.cumsum(sizes)
        return np.repeat(ends[last] - ends[last - sizes] - 1, self.nodes.sizes)

    def pairs(self, some: IntArray) -> tuple[IntArray, IntArray]:
        (sizes, which), nodes = self.near, self.nodes
        node = np.searchsorted(nodes.first, some, side="right") - 1
        edge_of, anchor = _spans((np.cumsum(sizes) - sizes)[node], sizes[node])
        partner_of, at = _spans(nodes.first[which[edge_of]], nodes.sizes[which[edge_of]])
        first, second = nodes.rows[some[anchor[at]]], nodes.rows[partner_of]
        others = first != second
        return first[others], second[others]


@final
@dataclass(frozen=True)
class _Drawn(_Listing):
    """A random share of the partners of each row.

    Partners of a node stand one after the other; each of its rows takes a stretch of them, from a
    place of its own on and round the end, which makes every partner as likely as any other.
    """

    nodes: Nodes
    near: tuple[IntArray, IntArray]
    shuffled: IntArray
    take: IntArray
    place: IntArray

    @staticmethod
    def of(
        nodes: Nodes,
        near: tuple[IntArray, IntArray],
        share: float,
        least: int,
        rng: np.random.Generator,
    ) -> "_Drawn":
        """Draw."""
        node = np.repeat(np.arange(nodes.sizes.size), nodes.sizes)
        shuffled = nodes.rows[np.lexsort((rng.random(nodes.rows.size), node))]
        others = _Everybody(nodes, near).counts
        take = np.minimum(np.maximum(np.ceil(share * others).astype(np.int64), least), others)
        place = rng.integers(0, np.maximum(others + 1, 1))
        return _Drawn(nodes, near, shuffled, take, place)

    @property
    def counts(self) -> IntArray:
        return self.take

    def pairs(self, some: IntArray) -> tuple[IntArray, IntArray]:
        (sizes, which), nodes, take = self.near, self.nodes, self.take[some]
        per_edge = nodes.sizes[which]
        before = np.cumsum(per_edge) - per_edge
        node = np.searchsorted(nodes.first, some, side="right") - 1
        last = np.cumsum(sizes)[node]
        ends = np.append(before, per_edge.sum())
        begin, length = ends[last - sizes[node]], ends[last] - ends[last - sizes[node]]
        # a stretch holds one more, in case it meets the row itself
        place, row = _spans(self.place[some], take + 1)
        place = begin[row] + place % length[row]
        edge = np.searchsorted(before, place, side="right") - 1
        first = nodes.rows[some[row]]
        second = self.shuffled[nodes.first[which[edge]] + place - before[edge]]
        keep: BoolArray = first != second
        surplus = np.bincount(row[keep], minlength=some.size) > take
        keep[(np.cumsum(take + 1) - 1)[surplus]] = False
        return first[keep], second[keep]


def _spans(starts: IntArray, lengths: IntArray) -> tuple[IntArray, IntArray]:
    """Ranges from each start of each length one after the other, and which range each is of."""
    which = np.repeat(np.arange(starts.size, dtype=np.int64), lengths)
    offset = np.cumsum(lengths) - lengths
    return starts[which] + np.arange(which.size) - offset[which], which


def _graph(listings: Sequence[_Listing], n: int, arity: int) -> Graph:
    """Partners of every row, sorted: nothing but these is ever held for all pairs."""
    counts = np.zeros(n, dtype=np.int64)
    for each in listings:
        counts[each.nodes.rows] = each.counts
    indptr = np.append(0, np.cumsum(counts)).astype(np.int64)
    partners = np.empty(int(indptr[-1]), dtype=np.int64)
    for each in listings:
        places = np.arange(each.nodes.rows.size, dtype=np.int64)
        pairs = np.cumsum(each.counts + 1)
        most = pairs[-1] if pairs.size else 0
        cuts = np.searchsorted(pairs, np.arange(LISTED, most, LISTED))
        for some in np.split(places, cuts):
            first, second = each.pairs(some)
            order = np.lexsort((second, first))
            first = first[order]
            within = np.arange(first.size) - np.searchsorted(first, first)
            partners[indptr[first] + within] = second[order]
    return Graph(indptr, partners, arity)
