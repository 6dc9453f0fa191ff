"""Sums of order statistics over all tuples of an anchor, without listing a tuple.

With y_(0) <= ... <= y_(m-1) the ordered labels of a tuple T, the kernel is
psi_T = sum_r coefs[r] y_(r): minimum, maximum, range, Gini's difference, L-moments. The tuples of
anchor i are {i} with every choice of m - 1 of its partners, each weighted by the product of its
members' weights. Products run over numbers v + zeta.d with zeta_c zeta_d = 0 (a value and p
derivatives), so that w_l (1 + zeta.U_l) carries the members' sum of U along with each product. The
sum over the tuples that contain row j is the derivative of the total with respect to log w_j.
"""

from collections.abc import Iterator

import numpy as np

from multiobs import _native
from multiobs._types import FloatArray, IntArray

__all__ = [
    "order_statistic_row_sums",
    "order_statistic_row_sums_lists",
    "order_statistic_sums",
    "order_statistic_sums_lists",
]

# Windows of at most NARROW rows are scanned, wider ones get a tree with BLOCK ranks in a leaf. Both
# are measured by benchmarks/ranks_switch.py and change the time only.
NARROW = 64
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
    y, U, weight = _arrays(y, U, weight)
    stop = np.ascontiguousarray(stop, dtype=np.int64)
    out = np.zeros((stop.size, 1 + U.shape[1]))
    if coefs.size == 1:
        return _singletons(y, U, weight, coefs, out, rows)
    lib = _native.library()
    if lib is None:
        partners = (np.arange(i + 1, stop[i]) for i in range(stop.size))
        _each_anchor(y, U, weight, partners, coefs, out, rows)
        return out
    for labels, part in _parts(y, coefs):
        one = np.empty_like(out)
        if lib.mo_rank_windows(
            labels.ctypes.data,
            U.ctypes.data,
            U.shape[1],
            _native.address(weight),
            stop.ctypes.data,
            stop.size,
            part.ctypes.data,
            part.size,
            int(part[1:].any()),
            NARROW,
            BLOCK,
            one.ctypes.data,
            _native.address(rows),
        ):
            raise MemoryError("no memory for the rank tree of one window")
        out += one
    return out


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
    y, U, weight = _arrays(y, U, weight)
    indptr = np.ascontiguousarray(indptr, dtype=np.int64)
    indices = np.ascontiguousarray(indices, dtype=np.int64)
    out = np.zeros((indptr.size - 1, 1 + U.shape[1]))
    if coefs.size == 1:
        return _singletons(y, U, weight, coefs, out, rows)
    lib = _native.library()
    if lib is None:
        partners = (indices[indptr[i] : indptr[i + 1]] for i in range(out.shape[0]))
        _each_anchor(y, U, weight, partners, coefs, out, rows)
        return out
    for labels, part in _parts(y, coefs):
        one = np.empty_like(out)
        if lib.mo_rank_lists(
            labels.ctypes.data,
            U.ctypes.data,
            U.shape[1],
            _native.address(weight),
            indptr.ctypes.data,
            indices.ctypes.data,
            out.shape[0],
            part.ctypes.data,
            part.size,
            int(part[1:].any()),
            one.ctypes.data,
            _native.address(rows),
        ):
            raise MemoryError("no memory for the partners of one anchor")
        out += one
    return out


def _arrays(
    y: FloatArray, U: FloatArray, weight: FloatArray | None
) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """Make the arrays contiguous, as the compiled loops read them."""
    return (
        np.ascontiguousarray(y, dtype=np.float64),
        np.ascontiguousarray(U, dtype=np.float64),
        None if weight is None else np.ascontiguousarray(weight, dtype=np.float64),
    )


def _parts(y: FloatArray, coefs: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Labels and coefficients of one or two runs: a maximum is minus the minimum of -y, and the
    minimum alone needs polynomials in one variable instead of two.
    """
    coefs = np.ascontiguousarray(coefs, dtype=np.float64)
    m = coefs.size
    if coefs[1:-1].any() or (m == 2 and coefs.all()):
        yield y, coefs
        return
    lowest = np.zeros(m)
    if coefs[0] != 0.0:
        lowest[0] = coefs[0]
        yield y, lowest
    if coefs[-1] != 0.0:
        lowest = np.zeros(m)
        lowest[0] = -coefs[-1]
        yield -y, lowest


def _ring(U: FloatArray, weight: FloatArray | None) -> FloatArray:
    """Rows w_l (1 + zeta.U_l), shape (n, 1 + p)."""
    elements = np.column_stack([np.ones(U.shape[0]), U])
    return elements if weight is None else elements * weight[:, None]


def _times(a: FloatArray, b: FloatArray) -> FloatArray:
    """Multiply numbers v + zeta.d held in the last axis."""
    product: FloatArray = a[..., :1] * b
    product[..., 1:] += a[..., 1:] * b[..., :1]
    return product


def _singletons(
    y: FloatArray,
    U: FloatArray,
    weight: FloatArray | None,
    coefs: FloatArray,
    out: FloatArray,
    rows: FloatArray | None,
) -> FloatArray:
    """Arity one: each tuple is its anchor."""
    out[:] = (coefs[0] * y[:, None] * _ring(U, weight))[: out.shape[0]]
    if rows is not None:
        rows[: out.shape[0]] += out
    return out


def _each_anchor(
    y: FloatArray,
    U: FloatArray,
    weight: FloatArray | None,
    partners: Iterator[IntArray],
    coefs: FloatArray,
    out: FloatArray,
    rows: FloatArray | None,
) -> None:
    """Fill `out`, and add to `rows`, one anchor after the other, without compiled loops."""
    ring = _ring(U, weight)
    for i, members in enumerate(partners):
        ranked = members[np.argsort(y[members], kind="stable")]
        below = int(np.searchsorted(y[ranked], y[i]))
        total, shares = _anchor(
            y[ranked], ring[ranked], below, y[i], ring[i], coefs, rows is not None
        )
        out[i] = total
        if rows is not None:
            rows[i] += total
            rows[ranked] += shares


def _prefixes(x: FloatArray, degree: int) -> list[FloatArray]:
    """Elementary symmetric polynomials e_k of the first j rows of x: list over k of (w + 1, 1 + p)."""
    w, components = x.shape
    e = [np.zeros((w + 1, components))]
    e[0][:, 0] = 1.0
    for _ in range(degree):
        following = np.zeros((w + 1, components))
        np.cumsum(_times(x, e[-1][:-1]), axis=0, out=following[1:])
        e.append(following)
    return e


def _prefix_gradients(x: FloatArray, e: list[FloatArray], g: list[FloatArray]) -> FloatArray:
    """Carry gradients g[k] with respect to e[k] = _prefixes(x)[k] back to the rows of x."""
    gx = np.zeros_like(x)
    carried = np.zeros_like(x)  # from e[k + 1], one row further on
    for k in range(len(e) - 1, 0, -1):
        g[k][:-1] += carried
        whole = np.cumsum(g[k][::-1], axis=0)[::-1]
        gx += _times(whole[1:], e[k - 1][:-1])
        carried = _times(x, whole[1:])
    return gx


def _anchor(
    y: FloatArray,
    x: FloatArray,
    below: int,
    y_anchor: float,
    x_anchor: FloatArray,
    coefs: FloatArray,
    reverse: bool,
) -> tuple[FloatArray, FloatArray]:
    """Sum over the tuples of one anchor, and with `reverse` over those that contain each partner.

    y (w,) and x (w, 1 + p) are the partners in rank order, `below` of them ranked below the anchor.
    """
    m, w = coefs.size, y.size
    low = _prefixes(x, m - 1)
    high = [e[::-1] for e in _prefixes(x[::-1], m - 1)]  # high[k][j]: e_k of rows j, j + 1, ..
    g_low = [np.zeros_like(e) for e in low]
    g_high = [np.zeros_like(e) for e in low]
    total, shares = np.zeros_like(x_anchor), np.zeros_like(x)
    value = _times(y[:, None] * x, x_anchor[None, :])
    itself = y_anchor * x_anchor
    for r in np.flatnonzero(coefs):
        c = coefs[r]
        total += c * _times(itself, _times(low[r][below], high[m - 1 - r][below]))
        g_low[r][below] += c * _times(itself, high[m - 1 - r][below])
        g_high[m - 1 - r][below] += c * _times(itself, low[r][below])
        # The anchor is one of those above a partner that is ranked below it, and the other way round.
        for side, a, b in ((slice(0, below), r, m - 2 - r), (slice(below, w), r - 1, m - 1 - r)):
            if a < 0 or b < 0:
                continue
            after = slice(side.start + 1, side.stop + 1)
            term = c * _times(value[side], _times(low[a][side], high[b][after]))
            total += term.sum(axis=0)
            if reverse:
                shares[side] += term
                g_low[a][side] += c * _times(value[side], high[b][after])
                g_high[b][after] += c * _times(value[side], low[a][side])
    if reverse:
        g = _prefix_gradients(x, low, g_low)
        flipped = [e[::-1] for e in high], [e[::-1].copy() for e in g_high]
        g += _prefix_gradients(x[::-1], *flipped)[::-1]
        shares += _times(x, g)
    return total, shares
