"""Sums of order statistics over all tuples of an anchor, without listing a tuple.

With y_(0) <= ... <= y_(m-1) the ordered labels of a tuple T, the kernel is
psi_T = sum_r coefs[r] y_(r): minimum, maximum, range, Gini's difference, L-moments. The tuples of
anchor i are {i} with every choice of m - 1 of its partners, each weighted by the product of its
members' weights. Products run over numbers v + zeta.d with zeta_c zeta_d = 0 (a value and p
derivatives), so that w_l (1 + zeta.U_l) carries the members' sum of U along with each product. The
sum over the tuples that contain row j is the derivative of the total with respect to log w_j.
"""

from collections.abc import Callable, Iterator

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.native import loader
from multiobs.native.rank_sums_numpy import sum_each_anchor

__all__ = [
    "order_statistic_row_sums",
    "order_statistic_row_sums_lists",
    "order_statistic_sums",
    "order_statistic_sums_lists",
]

# Windows of at most NARROW rows are scanned, wider ones get a tree with BLOCK ranks in a leaf. Both
# are measured by benchmarks/ranks_switch.py and change the time only.
NARROW = 24
BLOCK = 16


def order_statistic_sums(
    y: FloatArray,
    U: FloatArray,
    weight: FloatArray | None,
    stop: IntArray,
    coefs: FloatArray,
    n_anchors: int,
) -> FloatArray:
    """Sum an order-statistic kernel over the tuples of each anchor of a sorted segment.

    ``out[i, 0] = sum_T (prod_{l in T} weight_l) psi_T`` and
    ``out[i, 1 + c] = sum_T (prod_{l in T} weight_l) psi_T sum_{l in T} U[l, c]``, where T runs over
    {i} with m - 1 of the partners i + 1 .. stop[i] - 1. O(n m^2 log w) time, O(w) extra memory.

    Parameters
    ----------
    y : (L,) labels in the order of x
    U : (L, p) columns to sum over members; p may be 0
    weight : (L,) or None
    stop : (n_anchors,) or longer, nondecreasing, stop[i] > i
    coefs : (m,) weights of the order statistics, smallest first
    n_anchors : the first so many rows are anchors

    Returns
    -------
    (n_anchors, 1 + p) array (MINVAR of the paper is coefs = [1, 0, .., 0])

    Examples
    --------
    >>> y = np.array([3.0, 1.0, 2.0])
    >>> order_statistic_sums(y, y[:, None], None, np.array([3, 3, 3]), np.array([1.0, 0.0]), 3)
    array([[ 3., 14.],
           [ 1.,  3.],
           [ 0.,  0.]])
    """
    return _windows(y, U, weight, stop[:n_anchors], coefs, None)


def order_statistic_row_sums(
    y: FloatArray,
    U: FloatArray,
    weight: FloatArray | None,
    stop: IntArray,
    coefs: FloatArray,
    seeds: FloatArray,
) -> FloatArray:
    """Sum an order-statistic kernel over all tuples that contain each row of a sorted segment.

    ``out[j, c] = sum_{T containing j} (prod weight) psi_T (seeds[c, 0] + sum_d seeds[c, 1 + d]
    sum_{l in T} U[l, d])`` over the tuples of all anchors, j being the anchor or a partner.

    Parameters
    ----------
    y, U, weight, stop, coefs : as in order_statistic_sums; the first stop.size rows are anchors
    seeds : (q, 1 + p)

    Returns
    -------
    (L, q) array, the score sums g_i that standard errors need

    Examples
    --------
    >>> y = np.array([3.0, 1.0, 2.0])
    >>> stop, coefs, seeds = np.array([3, 3, 3]), np.array([1.0, 0.0]), np.array([[1.0]])
    >>> order_statistic_row_sums(y, np.empty((3, 0)), None, stop, coefs, seeds).ravel().tolist()
    [3.0, 2.0, 3.0]
    """
    rows = np.zeros((y.size, 1 + U.shape[1]))
    _windows(y, U, weight, stop, coefs, rows)
    return rows @ seeds.T


def order_statistic_sums_lists(
    y: FloatArray,
    U: FloatArray,
    weight: FloatArray | None,
    indptr: IntArray,
    indices: IntArray,
    coefs: FloatArray,
) -> FloatArray:
    """Sum an order-statistic kernel over the tuples of each anchor, its partners listed.

    As order_statistic_sums, where anchor i is row i and has the partners
    ``indices[indptr[i]:indptr[i + 1]]``, any rows but i, each once.

    Parameters
    ----------
    y, U, weight, coefs : as in order_statistic_sums
    indptr : (a + 1,) and indices : the lists, as in a compressed sparse matrix

    Returns
    -------
    (a, 1 + p) array

    Examples
    --------
    >>> y, lists = np.array([3.0, 1.0, 2.0]), (np.array([0, 2]), np.array([1, 2]))
    >>> order_statistic_sums_lists(y, np.empty((3, 0)), None, *lists, np.array([1.0, 0.0]))
    array([[3.]])
    """
    return _lists(y, U, weight, indptr, indices, coefs, None)


def order_statistic_row_sums_lists(
    y: FloatArray,
    U: FloatArray,
    weight: FloatArray | None,
    indptr: IntArray,
    indices: IntArray,
    coefs: FloatArray,
    seeds: FloatArray,
) -> FloatArray:
    """Sum an order-statistic kernel over all tuples that contain each row, partners listed.

    As order_statistic_row_sums, with the lists of order_statistic_sums_lists.

    Parameters
    ----------
    y, U, weight, indptr, indices, coefs : as in order_statistic_sums_lists
    seeds : (q, 1 + p)

    Returns
    -------
    (n, q) array

    Examples
    --------
    >>> y, lists = np.array([3.0, 1.0, 2.0]), (np.array([0, 2]), np.array([1, 2]))
    >>> coefs, seeds = np.array([1.0, 0.0]), np.array([[1.0]])
    >>> order_statistic_row_sums_lists(y, np.empty((3, 0)), None, *lists, coefs, seeds).ravel()
    array([3., 1., 2.])
    """
    rows = np.zeros((y.size, 1 + U.shape[1]))
    _lists(y, U, weight, indptr, indices, coefs, rows)
    return rows @ seeds.T


def _windows(
    y: FloatArray,
    U: FloatArray,
    weight: FloatArray | None,
    stop: IntArray,
    coefs: FloatArray,
    rows: FloatArray | None,
) -> FloatArray:
    """Return the sums of each anchor and, given `rows`, add those of each row to it."""
    stop = np.ascontiguousarray(stop, dtype=np.int64)
    lib = loader.library()
    if lib is None or coefs.size == 1:
        partners = (np.arange(i + 1, s) for i, s in enumerate(stop))
        return sum_each_anchor(y, U, weight, stop.size, partners, coefs, rows)
    window = (stop, stop.size, NARROW, BLOCK)
    return _compiled(lib.mo_rank_windows, window, y, U, weight, stop.size, coefs, rows)


def _lists(
    y: FloatArray,
    U: FloatArray,
    weight: FloatArray | None,
    indptr: IntArray,
    indices: IntArray,
    coefs: FloatArray,
    rows: FloatArray | None,
) -> FloatArray:
    """Do for listed partners what _windows does for those of a window."""
    indptr = np.ascontiguousarray(indptr, dtype=np.int64)
    indices = np.ascontiguousarray(indices, dtype=np.int64)
    a = indptr.size - 1
    lib = loader.library()
    if lib is None or coefs.size == 1:
        partners = (indices[indptr[i] : indptr[i + 1]] for i in range(a))
        return sum_each_anchor(y, U, weight, a, partners, coefs, rows)
    lists = (indptr, indices, a)
    return _compiled(lib.mo_rank_lists, lists, y, U, weight, a, coefs, rows)


def _compiled(
    function: Callable[..., int],
    partners: tuple[IntArray | int, ...],
    y: FloatArray,
    U: FloatArray,
    weight: FloatArray | None,
    a: int,
    coefs: FloatArray,
    rows: FloatArray | None,
) -> FloatArray:
    """Run a compiled sum once for each column of U, which is quicker than any number at a time."""
    columns: list[FloatArray | None] = [np.ascontiguousarray(u, dtype=np.float64) for u in U.T]
    if not columns:
        columns = [None]
    y = np.ascontiguousarray(y, dtype=np.float64)
    weight = None if weight is None else np.ascontiguousarray(weight, dtype=np.float64)
    out = np.zeros((a, 1 + U.shape[1]))
    for labels, part in _parts(y, coefs):
        for d, u in enumerate(columns):
            parts = slice(None) if d == 0 else slice(1, None)  # the sum without U is needed once
            into = slice(None, 2) if d == 0 else slice(1 + d, 2 + d)
            one = np.zeros((a, 1 if u is None else 2))
            back = None if rows is None else np.zeros((y.size, one.shape[1]))
            if function(
                labels,
                u,
                weight,
                part,
                part.size,
                int(part[1:].any()),
                one,
                back,
                *partners,
            ):
                raise MemoryError("no memory for the ranks of one window")
            out[:, into] += one[:, parts]
            if rows is not None and back is not None:
                rows[:, into] += back[:, parts]
    return out


def _parts(y: FloatArray, coefs: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Labels and coefficients of one or two runs that add up to the kernel.

    A maximum is minus the minimum of -y, and the minimum alone needs polynomials in one variable
    instead of two. Two of those are quicker than one run for all order statistics from arity 6 on.
    """
    coefs = np.ascontiguousarray(coefs, dtype=np.float64)
    lowest, highest = np.zeros_like(coefs), np.zeros_like(coefs)
    lowest[0], highest[0] = coefs[0], -coefs[-1]
    both = bool(lowest.any() and highest.any())
    if coefs[1:-1].any() or (both and coefs.size < 6):
        yield y, coefs
        return
    if lowest.any():
        yield y, lowest
    if highest.any():
        yield -y, highest
