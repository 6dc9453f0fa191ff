"""Sums over windows of sorted rows: where windows end, their column sums, and the sort before it.

Anchor i has the partners i+1 .. stop[i]-1, and power sums over those are all that monomial kernels
need. Everything here only adds, so an outlier that has left a window leaves nothing behind.
"""

import ctypes

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.native import loader

__all__ = ["stable_argsort", "stable_sort", "window_stops", "window_sums"]


def window_stops(x: FloatArray, epsilon: float, group_end: IntArray | None = None) -> IntArray:
    """Find where the window of each row ends.

    ``stop[i] = min { s > i : x[s] - x[i] > epsilon }``, at most ``group_end[i]`` (default: n). The
    test is exactly this subtraction in float64, the one definition of 'within epsilon'.

    Parameters
    ----------
    x : (n,) array, sorted in ascending order within groups that are contiguous
    epsilon : width of the window, in the units of x
    group_end : (n,) array, first position after the group of each row, or None

    Returns
    -------
    (n,) int64 array, nondecreasing (paper, the epsilon-Nearby algorithm)

    Examples
    --------
    >>> window_stops(np.array([0.0, 0.1, 0.3, 1.0]), 0.25).tolist()
    [2, 3, 3, 4]
    """
    n = x.size
    x = np.ascontiguousarray(x, dtype=np.float64)
    if group_end is not None:
        group_end = np.ascontiguousarray(group_end, dtype=np.int64)
    stop = np.empty(n, dtype=np.int64)
    lib = loader.library()
    if lib is not None:
        lib.mo_window_stops(x, n, epsilon, group_end, stop)
        return stop
    start = 0
    while start < n:
        end = n if group_end is None else int(group_end[start])
        stop[start:end] = start + _group_stops(x[start:end], epsilon)
        start = end
    return stop


def _group_stops(x: FloatArray, epsilon: float) -> IntArray:
    """Guess the stops of one group by x + epsilon, which rounds, and move to the exact test."""
    n, i = x.size, np.arange(x.size)
    stop = np.maximum(np.searchsorted(x, x + epsilon, side="right"), i + 1)
    while True:
        early = (stop < n) & ~(x[np.minimum(stop, n - 1)] - x > epsilon)
        if not early.any():
            break
        stop[early] += 1
    while True:
        late = (stop > i + 1) & (x[stop - 1] - x > epsilon)
        if not late.any():
            return stop.astype(np.int64)
        stop[late] -= 1


def window_sums(F: FloatArray, lo: IntArray, hi: IntArray) -> FloatArray:
    """Sum the rows of F over windows.

    ``out[i, c] = sum_{j = lo[i]}^{hi[i] - 1} F[j, c]``, by additions only, O(rows + a).

    Parameters
    ----------
    F : (rows, c) array
    lo, hi : (a,) int64 arrays, both nondecreasing, lo <= hi <= rows; a window may be empty

    Returns
    -------
    (a, c) array

    Examples
    --------
    >>> F = np.array([[1.0], [1e300], [2.0], [3.0]])
    >>> window_sums(F, np.array([0, 1, 2, 4]), np.array([2, 3, 4, 4])).ravel().tolist()
    [1e+300, 1e+300, 5.0, 0.0]
    """
    F = np.ascontiguousarray(F, dtype=np.float64)
    lo = np.ascontiguousarray(lo, dtype=np.int64)
    hi = np.ascontiguousarray(hi, dtype=np.int64)
    a, c = lo.size, F.shape[1]
    lib = loader.library()
    if lib is None:
        return _window_sums_by_doubling(F, lo, hi)
    out = np.empty((a, c))
    if c and lib.mo_window_sums(F, c, lo, hi, a, out):
        raise MemoryError("no memory for the sums of one window")
    return out


def _window_sums_by_doubling(F: FloatArray, lo: IntArray, hi: IntArray) -> FloatArray:
    """Each window is cut into disjoint pieces of 2^k rows, by the binary digits of its length."""
    out = np.zeros((lo.size, F.shape[1]))
    length, at, size = hi - lo, lo.copy(), 1
    widest = int(length.max(initial=0))
    piece = F  # piece[i] = sum of rows i .. i + size - 1
    while size <= widest:
        odd = np.flatnonzero(length & size)
        out[odd] += piece[at[odd]]
        at[odd] += size
        if 2 * size <= widest:
            piece = piece[:-size] + piece[size:]
        size *= 2
    return out


def stable_sort(x: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return ``stable_argsort(x)`` and x in that order.

    >>> stable_sort(np.array([2.0, 0.0, 1.0]))[1].tolist()
    [0.0, 1.0, 2.0]
    """
    x = np.ascontiguousarray(x, dtype=np.float64)
    lib = loader.library()
    if lib is None or x.size >= 2**31:
        order = stable_argsort(x)
        return order, x[order]
    order, ordered = np.empty(x.size, dtype=np.int64), np.empty(x.size)
    place = ordered.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    if lib.mo_stable_argsort(x, x.size, order, place):
        raise MemoryError(f"no memory to sort {x.size} rows")
    return order, ordered


def stable_argsort(x: FloatArray) -> IntArray:
    """Sort row numbers by x, equal values in row order: ``np.argsort(x, kind="stable")``, faster.

    Parameters
    ----------
    x : (n,) array; -0.0 ties with 0.0, NaN comes last

    Returns
    -------
    (n,) int64 array

    Examples
    --------
    >>> stable_argsort(np.array([2.0, 0.0, 1.0, -0.0])).tolist()
    [1, 3, 2, 0]
    """
    x = np.ascontiguousarray(x, dtype=np.float64)
    lib = loader.library()
    if lib is not None and x.size < 2**31:
        order = np.empty(x.size, dtype=np.int64)
        if lib.mo_stable_argsort(x, x.size, order, None):
            raise MemoryError(f"no memory to sort {x.size} rows")
        return order
    # numpy's default sort is the faster one; ties, if few, are put right afterwards.
    order = np.argsort(x).astype(np.int64, copy=False)
    ordered = x[order]
    tied = ordered[1:] == ordered[:-1]
    ties = int(np.count_nonzero(tied))
    if ties > x.size // 8 or (x.size and np.isnan(ordered[-1])):
        return np.argsort(x, kind="stable").astype(np.int64, copy=False)
    if ties:
        inside = np.zeros(x.size, dtype=np.bool_)
        inside[1:] |= tied
        inside[:-1] |= tied
        run = np.cumsum(~np.concatenate(([False], tied)))
        at = np.flatnonzero(inside)
        order[at] = order[at][np.lexsort((order[at], run[at]))]
    return order
