"""Maximum matchings between representatives and candidates within a distance."""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching
from scipy.spatial import KDTree

from multiobs._types import FloatArray, IntArray

LONG, SHORT = 1 << 14, 64  # points of a pass, and fewest that are looked at one by one


def maximum(points: FloatArray, candidates: FloatArray, epsilon: float) -> IntArray:
    """Candidate matched to each point, or -1: as many pairs within epsilon as there can be.

    In one column intervals of equal length are matched greedily from the left, which is
    maximum; in more columns scipy's Hopcroft-Karp does it.

    >>> maximum(np.array([[0.0], [1.0]]), np.array([[0.9], [0.1]]), 0.2).tolist()
    [1, 0]
    """
    if points.shape[1] == 1:
        by_point = np.argsort(points[:, 0], kind="stable")
        by_candidate = np.argsort(candidates[:, 0], kind="stable")
        kept, starts = leftmost(points[by_point, 0], candidates[by_candidate, 0], 1, epsilon)
        matched = np.full(points.shape[0], -1, dtype=np.int64)
        matched[by_point[kept]] = by_candidate[starts]
        return matched
    near = KDTree(candidates).query_ball_point(points, epsilon, return_sorted=True)
    sizes = np.fromiter((len(each) for each in near), dtype=np.int64, count=len(near))
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    indices = np.concatenate([np.asarray(each, dtype=np.int64) for each in near])
    # older versions of scipy match graphs with 32-bit row numbers only
    where = (indices.astype(np.int32), indptr.astype(np.int32))
    edges = csr_array((np.ones(indices.size), *where), shape=(points.shape[0], candidates.shape[0]))
    return np.asarray(maximum_bipartite_matching(edges, perm_type="column"), dtype=np.int64)


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


def leftmost(a: FloatArray, c: FloatArray, m: int, epsilon: float) -> tuple[IntArray, IntArray]:
    """Greedy pass from the left: m consecutive candidates for as many points as possible.

    All intervals have the same length, so the first point that can be completed may always be
    (an optimal choice can exchange its own first point for it), with the leftmost candidates.
    Without a point that fails, starts are a running maximum; a pass stops at each that does.

    Parameters
    ----------
    a, c : ndarray (n,), (N,)
        Points and candidates, sorted.
    m : int
        Candidates a point needs.
    epsilon : float
        Largest distance.

    Returns
    -------
    kept, starts : ndarray of int
        Points that are completed, and the first candidate of each.

    Examples
    --------
    >>> kept, starts = leftmost(np.array([0.0, 0.1, 5.0]), np.array([0.05, 0.2, 5.1]), 1, 0.25)
    >>> kept.tolist(), starts.tolist()
    ([0, 1, 2], [0, 1, 2])
    """
    first = _first_within(a, c, epsilon)
    n, last = a.size, c.size - m
    kept, starts = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    i, free, loop = 0, 0, SHORT
    while i < n and free <= last:
        end = min(i + LONG, n)
        step = m * np.arange(end - i)
        start = np.maximum.accumulate(np.maximum(first[i:end], free) - step) + step
        reach = c[np.minimum(start + m - 1, c.size - 1)]
        failed = np.flatnonzero((start > last) | (reach - a[i:end] > epsilon))
        good = int(failed[0]) if failed.size else end - i
        kept.append(np.arange(i, i + good))
        starts.append(start[:good])
        free = int(start[good - 1]) + m if good else free
        i += good
        if failed.size:  # where one fails others will: one by one for a while
            loop = min(2 * loop, LONG) if good < LONG // 8 else SHORT
            end = min(i + loop, n)
            mine, chosen, free = _one_by_one(a[i:end], first[i:end], c, (m, epsilon), free)
            kept.append(i + mine)
            starts.append(chosen)
            i = end
    return np.concatenate(kept), np.concatenate(starts)


def _one_by_one(
    a: FloatArray, first: IntArray, c: FloatArray, need: tuple[int, float], free: int
) -> tuple[IntArray, IntArray, int]:
    """Complete points in turn from the first free candidate on; also the next free one."""
    m, epsilon = need
    base = free
    furthest = max(free, int(first[-1])) + m * a.size  # no start lies beyond
    ends = c[base + m - 1 : furthest + m].tolist()
    kept, starts = [], []
    for i, (value, begin) in enumerate(zip(a.tolist(), first.tolist(), strict=True)):
        j = max(free, begin)
        if j - base < len(ends) and ends[j - base] - value <= epsilon:
            kept.append(i)
            starts.append(j)
            free = j + m
    return np.array(kept, dtype=np.int64), np.array(starts, dtype=np.int64), free


def _first_within(a: FloatArray, c: FloatArray, epsilon: float) -> IntArray:
    """First sorted candidate with a - c <= epsilon in floating point, for each sorted point."""
    if c.size == 0:
        return np.zeros(a.size, dtype=np.int64)
    # Rounding may put a candidate at the boundary on either side: start before it, and advance.
    margin = 4.0 * np.spacing(np.maximum(np.abs(a), epsilon))
    first = np.searchsorted(c, a - epsilon - margin)
    after = np.searchsorted(c, c, side="right")
    while True:
        short = np.flatnonzero(first < c.size)
        short = short[a[short] - c[first[short]] > epsilon]
        if short.size == 0:
            return first.astype(np.int64)
        first[short] = after[first[short]]
