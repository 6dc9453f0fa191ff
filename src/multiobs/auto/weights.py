"""Weights of rows that make every row count alike, however crowded its neighbourhood is.

All m-subsets of a window are many where rows are dense and few at the ends of the data.  Equal
weights of tuples then give the ends of x, on which a slope depends most, almost no say.
"""

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.native.window_sums import window_sums
from multiobs.tuples import Graph, Tuples, TupleSet, Windows

LEAST = 0.2  # of the level: no spread is taken to be smaller


def membership_counts(tuples: TupleSet) -> FloatArray:
    """How many tuples contain each row, (n,), without listing them.

    >>> pairs = Windows(np.arange(3), np.array([3, 3, 3]), arity=2)
    >>> membership_counts(pairs).tolist()
    [2.0, 2.0, 2.0]
    """
    n, q = tuples.n_rows, tuples.arity - 1
    if isinstance(tuples, Tuples):
        weight = np.ones(tuples.count()) if tuples.weight is None else tuples.weight
        repeated = np.repeat(weight, tuples.arity)
        return bincount(tuples.members.reshape(-1), repeated, n)
    assert isinstance(tuples, Windows | Graph)
    partners = tuples.n_partners
    own = binomial(partners, q)
    shared = binomial(partners - 1, q - 1) if q else np.zeros(partners.size)
    if isinstance(tuples, Graph):
        edges = np.repeat(shared, partners)
        return own + bincount(tuples.indices, edges, n)
    place = np.arange(partners.size, dtype=np.int64)
    # the first anchor that reaches position j comes after all that stop at or before j
    lo = np.cumsum(np.bincount(tuples.stop, minlength=place.size + 1)[: place.size])
    counts = own + window_sums(shared[:, None], np.minimum(lo, place), place)[:, 0]
    return bincount(tuples.order, counts, n)


def bincount(rows: IntArray, weights: FloatArray, n: int) -> FloatArray:
    """Summed weight of each of n rows."""
    return np.asarray(np.bincount(rows, weights=weights, minlength=n), dtype=np.float64)


def balanced(tuples: TupleSet, weight: FloatArray | None) -> FloatArray:
    r"""Row weights :math:`c_i^{-1/m}`, with :math:`c_i` the number of tuples that contain row i.

    They multiply within a tuple, so each row's tuples together weigh about the same.

    Parameters
    ----------
    tuples : TupleSet
        Which rows go together.
    weight : ndarray (n,) or None
        The user's own weights, which are kept as factors.

    Returns
    -------
    ndarray (n,)
        Weights of mean one over the rows that are in a tuple.
    """
    counts = membership_counts(tuples)
    used = counts > 0
    factor = np.ones(counts.size)
    factor[used] = counts[used] ** (-1.0 / tuples.arity)
    factor /= factor[used].mean() if np.any(used) else 1.0
    return factor if weight is None else factor * weight


def even_curvature(spread: FloatArray, level: float) -> FloatArray:
    r"""Row weights that make a shifted quartic loss count errors alike at every x.

    Near the upper confidence bound the quartic's curvature is :math:`2 (r-c)(r-\mu)`, large where
    the spread is large; weights :math:`((r-c)(r-\mu))^{-1/2}` on each of two members undo that,
    so that the risk measures squared error of the bound.

    Parameters
    ----------
    spread : ndarray (n,)
        Standard deviation at each row, or a guess of it.
    level : float
        Standard deviation of all labels: how far the reference level c lies below the mean.

    Returns
    -------
    ndarray (n,)
        Weights of mean one.
    """
    if not level > 0:
        return np.ones(spread.size)
    held = np.maximum(spread, LEAST * level)
    weight = (held * (held + level)) ** -0.5
    return np.asarray(weight / weight.mean())


def binomial(sizes: IntArray, q: int) -> FloatArray:
    """Binomial coefficients C(size, q) as floats, zero where the size is too small."""
    out = np.where(sizes >= 0, 1.0, 0.0)
    for j in range(q):
        out = out * np.maximum(sizes - j, 0) / (j + 1)
    return out
