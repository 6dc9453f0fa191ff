"""Choosing m distinct candidates within epsilon for each anchor, in very large pools.

The matching of :mod:`multiobs.samplers.matching` deals the candidates into batches, as
Algorithm 2 does for its proof. When labels are bought the pool is much larger than the number of
anchors, and
one assignment of m candidates to each anchor from the whole pool contains every batched one, so
it completes at least as many metasamples; and it can prefer the nearest.
"""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching
from scipy.spatial import KDTree
from sklearn.isotonic import isotonic_regression

from multiobs._types import BoolArray, FloatArray, IntArray
from multiobs.samplers import matching

EDGES = 20_000_000  # most (anchor, candidate) pairs held at once


def assign(anchors: FloatArray, candidates: FloatArray, m: int, epsilon: float) -> IntArray:
    """Give each anchor m candidates within epsilon, no candidate twice.

    Parameters
    ----------
    anchors : array of shape (n, d)
    candidates : array of shape (N, d)
    m : int
        Candidates an anchor needs.
    epsilon : float
        Largest Euclidean distance.

    Returns
    -------
    array of int, shape (n, m)
        Candidate numbers; a row of -1 for an anchor that got none. In one dimension the number of
        complete rows is the largest possible; in more dimensions it is whenever all anchors can
        be completed or m = 1 (to maximise it in general contains set packing).

    Examples
    --------
    >>> assign(np.array([[0.0], [1.0]]), np.array([[0.9], [0.1], [1.1], [0.2]]), 2, 0.25).tolist()
    [[1, 3], [0, 2]]
    """
    n = anchors.shape[0]
    if n == 0 or candidates.shape[0] < m:
        return np.full((n, m), -1, dtype=np.int64)
    if anchors.shape[1] == 1:
        return _assign_sorted(anchors[:, 0], candidates[:, 0], m, epsilon)
    return _assign_tree(anchors, candidates, m, epsilon)


# One dimension: m consecutive candidates for each anchor, in the order of the anchors.


def _assign_sorted(a: FloatArray, c: FloatArray, m: int, epsilon: float) -> IntArray:
    by_a, by_c = np.argsort(a), np.argsort(c)
    a, c = a[by_a], c[by_c]
    starts = _nearest_starts(a, c, m)
    kept = np.arange(a.size)
    if starts is None or not _within(a, c, starts, m, epsilon).all():
        kept, starts = matching.leftmost(a, c, m, epsilon)
        # The greedy pass takes the leftmost candidates: keep its anchors, look again for nearer
        # ones, and fall back to its own choice if those do not all lie within epsilon.
        nearer = _nearest_starts(a[kept], c, m)
        if nearer is not None and _within(a[kept], c, nearer, m, epsilon).all():
            starts = nearer
    members = np.full((a.size, m), -1, dtype=np.int64)
    members[by_a[kept]] = by_c[starts[:, None] + np.arange(m)]
    return members


def _within(a: FloatArray, c: FloatArray, starts: IntArray, m: int, epsilon: float) -> BoolArray:
    # The same comparison as everywhere: a difference of coordinates, <= epsilon.
    return np.asarray((a - c[starts] <= epsilon) & (c[starts + m - 1] - a <= epsilon))


def _nearest_starts(a: FloatArray, c: FloatArray, m: int) -> IntArray | None:
    """First of m consecutive candidates about each sorted anchor, with the least moves.

    Wanted starts s_i need s_{i+1} >= s_i + m, that is, s_i - m i must not decrease: isotonic
    regression finds the nearest such sequence, and rounding down keeps it one.
    """
    n, total = a.size, c.size
    if n == 0 or n * m > total:
        return None if n else np.empty(0, dtype=np.int64)
    place = np.searchsorted(c, a)
    options = np.clip(place[:, None] - np.arange(m + 1), 0, total - m)
    reach = np.maximum(a[:, None] - c[options], c[options + m - 1] - a[:, None])
    best = np.take_along_axis(options, reach.argmin(axis=1)[:, None], axis=1)[:, 0]
    wanted = best - m * np.arange(n)
    if np.any(np.diff(wanted) < 0):
        wanted = np.floor(isotonic_regression(wanted.astype(np.float64))).astype(np.int64)
    return np.clip(wanted, 0, total - m * n) + m * np.arange(n)


# More dimensions: nearest neighbours first, an exact matching only when they collide too often.


def _assign_tree(anchors: FloatArray, candidates: FloatArray, m: int, epsilon: float) -> IntArray:
    n, total = anchors.shape[0], candidates.shape[0]
    # An unbalanced tree is built in half the time and answers these few queries as quickly.
    tree = KDTree(candidates, balanced_tree=False, compact_nodes=False)
    most = min(total, n * m)  # an anchor with n m candidates is never the bottleneck
    k = min(2 * m, most)
    while True:
        distance, index = tree.query(
            anchors, k=np.arange(1, k + 1), distance_upper_bound=np.nextafter(epsilon, np.inf)
        )
        near = distance <= epsilon
        members = _greedy_nearest(distance, index, near, m)
        if (members >= 0).all():
            return members
        members = _exact(index, near, m, total)
        if (members >= 0).all() or not near[:, -1].any() or k == most or 4 * k * n > EDGES:
            return _refill(members, distance, index, near, m)
        k = min(4 * k, most)


def _greedy_nearest(distance: FloatArray, index: IntArray, near: BoolArray, m: int) -> IntArray:
    """Take the pairs from the shortest on, as long as anchor and candidate are free."""
    n, k = index.shape
    order = np.argsort(np.where(near, distance, np.inf), axis=None, kind="stable")[: near.sum()]
    members = np.full((n, m), -1, dtype=np.int64)
    filled = [0] * n
    taken: set[int] = set()
    for i, j in zip((order // k).tolist(), index.ravel()[order].tolist(), strict=True):
        if filled[i] < m and j not in taken:
            members[i, filled[i]] = j
            filled[i] += 1
            taken.add(j)
    return members


def _exact(index: IntArray, near: BoolArray, m: int, total: int) -> IntArray:
    """Maximum matching of m copies of each anchor (Hopcroft-Karp)."""
    n = index.shape[0]
    sizes = np.repeat(near.sum(axis=1), m)
    columns = np.concatenate(
        [row[ok] for row, ok in zip(index, near, strict=True) for _ in range(m)]
    )
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    # older versions of scipy match graphs with 32-bit row numbers only
    where = (columns.astype(np.int32), indptr.astype(np.int32))
    edges = csr_array((np.ones(columns.size), *where), shape=(n * m, total))
    matched = maximum_bipartite_matching(edges, perm_type="column")
    return np.asarray(matched, dtype=np.int64).reshape(n, m)


def _refill(
    members: IntArray, distance: FloatArray, index: IntArray, near: BoolArray, m: int
) -> IntArray:
    """Free the candidates of incomplete anchors and complete whom they suffice for."""
    members = members.copy()
    incomplete = np.flatnonzero((members < 0).any(axis=1))
    members[incomplete] = -1
    taken = set(members[members >= 0].tolist())
    for i in incomplete[np.argsort(near[incomplete].sum(axis=1), kind="stable")].tolist():
        free = [j for j in index[i][near[i]].tolist() if j not in taken][:m]
        if len(free) == m:
            members[i] = free
            taken.update(free)
    return members
