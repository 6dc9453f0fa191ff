"""Variance of the gradient from sorted windows that hold at most one tuple each."""

import numpy as np

from multiobs._types import FloatArray
from multiobs.inference.gradient import Gradient, inflation
from multiobs.inference.meat import Meat
from multiobs.inference.skewness import of_band
from multiobs.sums.overlaps import anchor_overlap
from multiobs.tuples import Tuples, TupleSet, Windows, binomial


def sliding(tuples: TupleSet) -> bool:
    """Whether the tuples are windows of which none holds more than one tuple."""
    if not isinstance(tuples, Windows) or recurring(tuples):
        return False
    return bool(np.all(tuples.n_partners < tuples.arity))


def recurring(windows: Windows) -> bool:
    """Whether a row has several places, as in the leaves of several trees."""
    return windows.order.size > windows.n_rows


def meat_of_windows(gradient: Gradient) -> Meat:
    """Sum over windows and those that overlap them, by running sums.

    Parameters
    ----------
    gradient : Gradient
        What is summed, over :func:`sliding` tuples.
    """
    tuples = gradient.tuples
    assert isinstance(tuples, Windows)
    overlap = anchor_overlap(tuples)
    assert overlap is not None
    a, rows = window_scores(gradient, tuples), gradient.rows[tuples.order]
    times = binomial(tuples.n_partners, tuples.arity - 1)
    if gradient.importance is not None:
        times = times * gradient.importance[tuples.order]
    h = overlap.spread(times[:, None])[:, 0] * gradient.leverage(rows, times)
    naive, a = a.T @ a, a * inflation(h)
    third = of_band(a, overlap.spread(a), np.maximum(tuples.stop, 1))
    none, order = np.zeros((gradient.p, gradient.p)), tuples.order
    last = np.minimum(np.arange(order.size) + tuples.arity, order.size) - 1
    around = (rows + gradient.rows[order[last]]) / 2  # a window is about its middle
    return Meat(a, overlap, none, naive, "anchors", around * times[:, None], order, third=third)


def window_scores(gradient: Gradient, windows: Windows) -> FloatArray:
    """Scores of windows with at most one tuple each, in the order of x; zero without one."""
    m = windows.arity
    (full,) = np.nonzero(windows.n_partners == m - 1)
    members = windows.order[full[:, None] + np.arange(m)]
    out = np.zeros((windows.order.size, gradient.p))
    out[full] = gradient.scores(Tuples(members, windows.n_rows))
    return out
