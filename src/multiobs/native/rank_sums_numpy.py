"""Order-statistic sums by numpy, one anchor at a time: what _ranks does without compiled loops.

Partners are taken in rank order; elementary symmetric polynomials of those below and above each
place are cumulative sums, and their gradients cumulative sums the other way. Nothing is subtracted.
"""

from collections.abc import Iterator

import numpy as np

from multiobs._types import FloatArray, IntArray

__all__ = ["sum_each_anchor"]


def _ring(U: FloatArray, weight: FloatArray | None) -> FloatArray:
    """Rows w_l (1 + zeta.U_l), shape (n, 1 + p)."""
    elements = np.column_stack([np.ones(U.shape[0]), U])
    return elements if weight is None else elements * weight[:, None]


def _times(a: FloatArray, b: FloatArray) -> FloatArray:
    """Multiply numbers v + zeta.d held in the last axis."""
    product: FloatArray = a[..., :1] * b
    product[..., 1:] += a[..., 1:] * b[..., :1]
    return product


def sum_each_anchor(
    y: FloatArray,
    U: FloatArray,
    weight: FloatArray | None,
    a: int,
    partners: Iterator[IntArray],
    coefs: FloatArray,
    rows: FloatArray | None,
) -> FloatArray:
    """Sum over the tuples of the anchors 0 .. a - 1, one after the other.

    Parameters
    ----------
    y, U, weight, coefs : as in multiobs.native.rank_sums.order_statistic_sums
    partners : row numbers of the partners of each anchor
    rows : (n, 1 + p), or None: the sums of the tuples that contain each row are added to it

    Returns
    -------
    (a, 1 + p) array

    Examples
    --------
    >>> y, pairs = np.array([3.0, 1.0, 2.0]), iter([np.array([1, 2])])
    >>> sum_each_anchor(y, np.empty((3, 0)), None, 1, pairs, np.array([1.0, 0.0]), None)
    array([[3.]])
    """
    ring = _ring(U, weight)
    if coefs.size == 1:  # each tuple is its anchor
        out: FloatArray = (coefs[0] * y[:, None] * ring)[:a]
        if rows is not None:
            rows[:a] += out
        return out
    out = np.zeros((a, ring.shape[1]))
    for i, members in enumerate(partners):
        ranked = members[np.argsort(y[members], kind="stable")]
        below = int(np.searchsorted(y[ranked], y[i]))
        sides = y[ranked], ring[ranked], below
        out[i], shares = _anchor(*sides, y[i], ring[i], coefs, rows is not None)
        if rows is not None:
            rows[i] += out[i]
            rows[ranked] += shares
    return out


def _prefixes(x: FloatArray, degree: int) -> list[FloatArray]:
    """Elementary symmetric polynomials of the first j rows: list over degrees of (w + 1, 1 + p)."""
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
    passed_on = np.zeros_like(x)  # from e[k + 1], one row further on
    for k in range(len(e) - 1, 0, -1):
        g[k][:-1] += passed_on
        whole = np.cumsum(g[k][::-1], axis=0)[::-1]
        gx += _times(whole[1:], e[k - 1][:-1])
        passed_on = _times(x, whole[1:])
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
        # The anchor is above each partner that is ranked below it, and the other way round.
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
