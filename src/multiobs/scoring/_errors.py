r"""Covariance of means over metasamples that share labels, or follow each other in time.

With :math:`u_t` the centred and weighted contribution of tuple t, two tuples are correlated when
they share a row: :math:`V = \sum_{t \cap s \ne \emptyset} u_t u_s'`. For pairs this is
:math:`\sum_i g_i g_i' - (m-1) \sum_t u_t u_t'` with :math:`g_i = \sum_{t \ni i} u_t`; for longer
tuples the right-hand side counts two tuples with c common rows c times, so it is used only where
the overlaps are too many to list (wide windows, where c is mostly one). A pair that is listed twice
counts as one.
"""

from typing import Literal

import numpy as np

from multiobs import _check
from multiobs._types import FloatArray, IntArray
from multiobs.scoring._heldout import HeldOut
from multiobs.sums.overlaps import incidence, tuple_overlap

Errors = Literal["shared", "hac"]
LISTED = 20_000_000  # overlaps of tuples that are listed one by one


def covariance(
    held: HeldOut, values: FloatArray, errors: Errors = "shared", bandwidth: int | None = None
) -> FloatArray:
    """Covariance of the weighted mean of values over metasamples.

    Parameters
    ----------
    held : HeldOut
        The metasamples.
    values : ndarray (t,) or (t, k)
        One number, or k of them, for each metasample.
    errors : {"shared", "hac"}
        "shared": rows are independent, metasamples share them. "hac": rows follow each other in
        one column of x and may be dependent (Newey and West 1987).
    bandwidth : int, optional
        Lags of "hac", at least m - 1.

    Returns
    -------
    ndarray (k, k)
    """
    _check.choice("errors", errors, ("shared", "hac"))
    V = values[:, None] if values.ndim == 1 else values
    U = held.weight[:, None] * (V - held.weight @ V)
    if errors == "hac":
        return _newey_west(held, U, bandwidth)
    if bandwidth is not None:
        raise ValueError(
            f"bandwidth belongs to errors='hac', got {_check.shown(bandwidth)} with 'shared'"
        )
    return shared(U, held.members, held.n_rows)


def standard_error(
    held: HeldOut, values: FloatArray, errors: Errors = "shared", bandwidth: int | None = None
) -> float:
    """Return the standard error of the weighted mean of values (t,) over metasamples."""
    return float(np.sqrt(covariance(held, values, errors, bandwidth)[0, 0]))


def shared(U: FloatArray, members: IntArray, n_rows: int) -> FloatArray:
    r"""Covariance of :math:`\sum_t u_t` when tuples that share a row are dependent.

    Examples
    --------
    >>> u = np.array([[1.0], [-2.0], [1.0]])
    >>> pairs = np.array([[0, 1], [1, 2], [3, 4]])
    >>> shared(u, pairs, 5)
    array([[2.]])
    """
    m = members.shape[1]
    g = incidence(members, n_rows).T @ U
    by_rows = np.asarray(g.T @ g)
    overlap = None if m == 2 else tuple_overlap(members, n_rows, LISTED)
    if overlap is not None:
        found = np.asarray(U.T @ overlap.spread(U))
    else:
        once = _pairs_once(U, members, n_rows) if m == 2 else U
        found = by_rows - (m - 1) * (once.T @ once)
    # The sum above is right on average but may come out negative on few tuples; weights c/m for c
    # common rows (Bartlett's, for sliding windows) cannot.
    return np.asarray(0.5 * (found + found.T) if _positive(found) else by_rows / m)


def _pairs_once(U: FloatArray, members: IntArray, n_rows: int) -> FloatArray:
    """Contributions (p, k) of distinct pairs: two neighbours of each other are a pair twice."""
    low, high = np.sort(members, axis=1).T
    pairs, which = np.unique(low * n_rows + high, return_inverse=True)
    return np.stack([np.bincount(which.reshape(-1), u, pairs.size) for u in U.T], axis=1)


def _positive(V: FloatArray) -> bool:
    values = np.linalg.eigvalsh(0.5 * (V + V.T))
    return bool(values[0] > 1e-12 * max(float(values[-1]), 0.0)) if values[-1] > 0 else False


def _newey_west(held: HeldOut, U: FloatArray, bandwidth: int | None) -> FloatArray:
    if held.X.shape[1] != 1:
        raise ValueError(
            f"errors='hac' needs one column of x to order the rows by, got {held.X.shape[1]}"
        )
    m = held.members.shape[1]
    # rows of equal x are one time: nothing depends on their order
    times, place = np.unique(held.X[:, 0], return_inverse=True)
    n = times.size
    positions = place.reshape(-1)[held.members]
    first = positions.min(axis=1)
    span = int((positions.max(axis=1) - first).max())
    least = max(m - 1, span)  # at larger distances no label is shared
    if bandwidth is None:
        lags = least + int(4 * (n / 100) ** (2 / 9))
    else:
        lags = _check.integer("bandwidth", bandwidth, low=least)
    series = np.zeros((n, U.shape[1]))
    np.add.at(series, first, U)
    total = series.T @ series
    for lag in range(1, min(lags, n - 1) + 1):
        gamma = series[lag:].T @ series[:-lag]
        total += (1.0 - lag / (lags + 1.0)) * (gamma + gamma.T)
    return np.asarray(total)
