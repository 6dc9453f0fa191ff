"""Sums of a kernel of two labels over all pairs of sorted windows that contain each row."""

import numpy as np

from multiobs._types import FloatArray
from multiobs.native.window_sums import window_sums
from multiobs.statistics.kernels import Monomials
from multiobs.tuples import Windows

CHUNK = 8192  # anchors whose labels are measured from their own mean, so that sums do not cancel


def pair_row_sums(
    windows: Windows, kernel: Monomials, y: FloatArray, weight: FloatArray | None
) -> FloatArray:
    r"""Return :math:`w_i \sum_j w_j h(y_i, y_j)` over the rows j that share a window with i, (n,).

    Power sums over both sides of each row by additions only, O(n).

    Parameters
    ----------
    windows : Windows
        Pairs of rows; every row has one place.
    kernel : Monomials
        The kernel h of two labels.
    y : ndarray (n,) or (n, s)
        Labels.
    weight : ndarray (n,) or None
        Weights of the rows.

    Examples
    --------
    >>> from multiobs.statistics.kernels import moment
    >>> three = Windows(np.arange(3), np.array([2, 3, 3]), arity=2)
    >>> variance = moment(2) - moment(1) * moment(1)
    >>> pair_row_sums(three, variance, np.array([0.0, 2.0, 3.0]), None)
    array([2. , 2.5, 0.5])
    """
    order, n = windows.order, windows.order.size
    first, stop = windows.first_anchors(), np.maximum(windows.stop, np.arange(1, n + 1))
    labels = (y[:, None] if y.ndim == 1 else y)[order]
    w = np.ones(n) if weight is None else weight[order]
    nothing = (0,) * kernel.n_columns
    terms = [((*term, nothing, nothing)[:2], 0.5 * c) for term, c in kernel.terms.items()]
    if not terms:  # a power of r that the loss does not have
        return np.zeros(n)
    powers = sorted({power for term, _ in terms for power in term})
    centred = kernel.shift_invariant
    found = np.empty(n)
    for at in range(0, n, CHUNK):
        here = slice(at, min(at + CHUNK, n))
        low, high = int(first[at]), int(stop[here.stop - 1])
        part = labels[low:high]
        if centred:
            part = part - part.mean(axis=0)
        values = np.stack([np.prod(part**power, axis=1) for power in powers], axis=1)
        mass = values * w[low:high, None]
        own = slice(here.start - low, here.stop - low)
        sums = window_sums(mass, first[here] - low, stop[here] - low) - mass[own]
        total = np.zeros(here.stop - here.start)
        for (left, right), c in terms:
            a, b = powers.index(left), powers.index(right)
            total += c * (values[own, a] * sums[:, b] + values[own, b] * sums[:, a])
        found[here] = total * w[here]
    out = np.empty(n)
    out[order] = found
    return out
