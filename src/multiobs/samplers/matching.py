"""Maximum matchings between representatives and candidates within a distance."""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching
from scipy.spatial import KDTree

from multiobs._types import FloatArray, IntArray


def maximum(points: FloatArray, candidates: FloatArray, epsilon: float) -> IntArray:
    """Candidate matched to each point, or -1: as many pairs within epsilon as there can be.

    In one column intervals of equal length are matched greedily from the left, which is
    maximum; in more columns scipy's Hopcroft-Karp does it.

    >>> maximum(np.array([[0.0], [1.0]]), np.array([[0.9], [0.1]]), 0.2).tolist()
    [1, 0]
    """
    if points.shape[1] == 1:
        return _greedy(points[:, 0], candidates[:, 0], epsilon)
    near = KDTree(candidates).query_ball_point(points, epsilon, return_sorted=True)
    sizes = np.fromiter((len(each) for each in near), dtype=np.int64, count=len(near))
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    indices = np.concatenate([np.asarray(each, dtype=np.int64) for each in near])
    # older versions of scipy match graphs with 32-bit row numbers only
    where = (indices.astype(np.int32), indptr.astype(np.int32))
    edges = csr_array((np.ones(indices.size), *where), shape=(points.shape[0], candidates.shape[0]))
    matched = maximum_bipartite_matching(edges, perm_type="column")
    return np.asarray(matched, dtype=np.int64)


def complete(points: FloatArray, candidates: FloatArray, epsilon: float) -> IntArray:
    """Return a maximum matching; whoever is left over takes the free candidates in order."""
    matched = maximum(points, candidates, epsilon)
    left = np.flatnonzero(matched < 0)
    if left.size:
        free = np.setdiff1d(np.arange(candidates.shape[0]), matched[matched >= 0])
        matched[left] = free[: left.size]
    return matched


def batch_bounds(total: int, n: int, batches: int) -> list[tuple[int, int]]:
    """Bounds of the equal batches of candidates that follow the first n rows."""
    per = (total - n) // batches if batches else 0
    return [(n + j * per, n + (j + 1) * per) for j in range(batches)]


def largest_perfect(points: FloatArray, batches: int, epsilon: float) -> int:
    """Largest n, by binary search, whose first n rows are all matched in every batch."""
    total = int(points.shape[0])
    if batches == 0:
        return total

    def perfect(n: int) -> bool:
        return all(
            last - first >= n
            and bool(np.all(maximum(points[:n], points[first:last], epsilon) >= 0))
            for first, last in batch_bounds(total, n, batches)
        )

    low, high = 0, total // (batches + 1)
    while low < high:
        middle = (low + high + 1) // 2
        if perfect(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _greedy(x: FloatArray, candidates: FloatArray, epsilon: float) -> IntArray:
    by_x = np.argsort(x, kind="stable")
    by_candidate = np.argsort(candidates, kind="stable")
    matched = np.full(x.size, -1, dtype=np.int64)
    ordered = candidates[by_candidate].tolist()
    j, last = 0, len(ordered)
    for i, value in zip(by_x.tolist(), x[by_x].tolist(), strict=True):
        while j < last and value - ordered[j] > epsilon:
            j += 1
        if j == last:
            break
        if ordered[j] - value <= epsilon:
            matched[i] = by_candidate[j]
            j += 1
    return matched
