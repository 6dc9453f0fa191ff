"""Rows in the order of x, and the windows over them."""

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.native.window_sums import stable_argsort, window_stops
from multiobs.tuples.shapes import Windows


def sorted_windows(x: FloatArray, epsilon: float, arity: int, groups: IntArray | None) -> Windows:
    """Intervals of width epsilon over sorted x: the one definition of 'within epsilon'.

    Row j goes with an earlier row i exactly when ``x_j - x_i <= epsilon`` in floating point.
    Ties in x are kept in row order, whatever the labels are.
    """
    order = order_by(x, groups)
    stop = window_stops(x[order], epsilon, group_ends(order, groups))
    return Windows(order, stop, arity)


def order_by(x: FloatArray, groups: IntArray | None) -> IntArray:
    """Row numbers by group, then x, then row number."""
    order = stable_argsort(x)
    if groups is None:
        return order
    return order[np.argsort(groups[order], kind="stable")]


def group_ends(order: IntArray, groups: IntArray | None) -> IntArray | None:
    """For each sorted position, one past the last position of its group."""
    if groups is None:
        return None
    here = groups[order]
    return np.searchsorted(here, here, side="right").astype(np.int64)
