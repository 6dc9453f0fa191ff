"""An order of the rows that does not depend on the order in which they were given.

Whatever cuts rows into folds or draws some of them works on rows in this order, so that permuting
a table changes nothing.
"""

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.native.window_sums import stable_argsort


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


def spread_folds(n: int, count: int) -> IntArray:
    """Fold of each of n ordered rows: every run of ``count`` rows holds each fold once.

    Neighbours in the order go to different folds, and which goes where is drawn from a fixed seed:
    equal positions are ordered by their labels, which must not decide the fold.

    >>> np.bincount(spread_folds(10, 5)).tolist()
    [2, 2, 2, 2, 2]
    """
    runs = -(-n // count)
    shuffled = np.random.default_rng(0).permuted(np.tile(np.arange(count), (runs, 1)), axis=1)
    return np.asarray(shuffled.reshape(-1)[:n], dtype=np.int64)
