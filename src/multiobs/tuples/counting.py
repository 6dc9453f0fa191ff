"""How many tuples contain a row, which anchors reach it, and tuples drawn evenly."""

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.native.window_sums import window_sums
from multiobs.tuples.shapes import (
    Anchored,
    Graph,
    Tuples,
    TupleSet,
    Windows,
    subset_counts,
    unrank_subsets,
)


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
    counts = own + window_sums(shared[:, None], first_anchors(tuples), place)[:, 0]
    return bincount(tuples.order, counts, n)


def effective_count(tuples: TupleSet) -> float:
    r"""How many tuples without a common label would use the rows as evenly.

    Kish's effective size of the rows' uses, :math:`(\sum c_i)^2 / (m \sum c_i^2)` with
    :math:`c_i` the number of tuples that contain row i: equal use of n rows is worth n/m tuples
    that share none, however many tuples there are.

    >>> effective_count(Windows(np.arange(4), np.array([2, 3, 4, 4]), arity=2))
    1.8
    """
    use = membership_counts(tuples)
    square = float(np.sum(use**2))
    return float(use.sum()) ** 2 / square / tuples.arity if square > 0 else 0.0


def bincount(rows: IntArray, weights: FloatArray, n: int) -> FloatArray:
    """Summed weight of each of n rows."""
    return np.asarray(np.bincount(rows, weights=weights, minlength=n), dtype=np.float64)


def first_anchors(windows: Windows) -> IntArray:
    """First sorted position whose window reaches each position, (n,).

    >>> first_anchors(Windows(np.arange(4), np.array([2, 4, 4, 4]), arity=2)).tolist()
    [0, 0, 1, 1]
    """
    n = windows.stop.size
    # the first anchor that reaches position j comes after all that stop at or before j
    first = np.cumsum(np.bincount(windows.stop, minlength=n + 1)[:n])
    return np.minimum(first, np.arange(n)).astype(np.int64, copy=False)


def spread_evenly(tuples: TupleSet, size: int, rng: np.random.Generator) -> Tuples:
    """Draw one of every count/size consecutive tuples: no crowded window is left out by chance.

    >>> windows = Windows(np.arange(50), np.minimum(np.arange(4, 54), 50), arity=3)
    >>> drawn = spread_evenly(windows, 10, np.random.default_rng(0))
    >>> drawn.count(), bool(np.all(np.diff(drawn.members[:, 0]) > 0))
    (10, True)
    """
    total = tuples.count()
    if not isinstance(tuples, Anchored) or size >= total or total >= 2**53:
        return tuples.sample(size, rng)
    numbers = ((np.arange(size) + rng.random(size)) * (total / size)).astype(np.int64)
    return numbered(tuples, numbers)


def numbered(tuples: Anchored, numbers: IntArray) -> Tuples:
    """Return the tuples of these numbers, counted anchor by anchor.

    >>> numbered(Windows(np.arange(3), np.array([3, 3, 3]), arity=2), np.array([2])).members
    array([[1, 2]])
    """
    q, partners = tuples.arity - 1, tuples.n_partners
    per_anchor = subset_counts(partners, q)
    ends = np.cumsum(per_anchor)
    anchors = np.searchsorted(ends, numbers, side="right").astype(np.int64)
    within = numbers - (ends[anchors] - per_anchor[anchors])
    chosen = unrank_subsets(within, q, int(partners.max(initial=0)))
    return Tuples(tuples.rows_of(anchors, chosen), tuples.n_rows)


def binomial(sizes: IntArray, q: int) -> FloatArray:
    """Binomial coefficients C(size, q) as floats, zero where the size is too small."""
    out = np.where(sizes >= 0, 1.0, 0.0)
    for j in range(q):
        out = out * np.maximum(sizes - j, 0) / (j + 1)
    return out
