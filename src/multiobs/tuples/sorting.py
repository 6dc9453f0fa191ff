"""Orders of rows: by one column within groups with the windows over it, and a canonical one.

Whatever cuts rows into folds or draws some of them works on rows in the canonical order, so that
permuting a table changes nothing.
"""

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


def tie_sizes(x: FloatArray, ends: IntArray) -> IntArray:
    """Sizes of the runs of equal sorted x (n,) inside groups that end at ``ends`` (n,).

    >>> tie_sizes(np.array([0.0, 0.0, 1.0, 1.0]), np.array([4, 4, 4, 4])).tolist()
    [2, 2]
    """
    if x.size == 0:
        return np.empty(0, dtype=np.int64)
    last = np.append(np.flatnonzero((x[1:] != x[:-1]) | (ends[1:] != ends[:-1])), x.size - 1)
    return np.diff(last, prepend=-1).astype(np.int64)


def canonical_order(X: FloatArray, y: FloatArray, weight: FloatArray | None = None) -> IntArray:
    """Row numbers sorted by the columns of X, then those of y, then the weight.

    Rows that are still equal are equal in everything, so their order does not matter.

    Parameters
    ----------
    X : ndarray (n, d)
        Positions.
    y : ndarray (n,) or (n, s)
        Labels.
    weight : ndarray (n,) or None
        Weights.

    Returns
    -------
    ndarray of int (n,)

    Examples
    --------
    >>> X = np.array([[2.0], [1.0], [1.0]])
    >>> canonical_order(X, np.array([0.0, 7.0, 5.0])).tolist()
    [2, 1, 0]
    """
    order = stable_argsort(np.ascontiguousarray(X[:, 0]))
    first = X[order, 0]
    same = first[1:] == first[:-1]
    if not same.any():
        return order
    # Only rows that share the first column need a look at the others; they keep their places.
    tied = np.concatenate([same, [False]]) | np.concatenate([[False], same])
    rows = order[tied]
    labels = y[:, None] if y.ndim == 1 else y
    keys = [] if weight is None else [weight[rows]]
    keys += [labels[rows, c] for c in range(labels.shape[1] - 1, -1, -1)]
    keys += [X[rows, c] for c in range(X.shape[1] - 1, -1, -1)]
    order[tied] = rows[np.lexsort(keys)]
    return order
