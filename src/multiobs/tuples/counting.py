"""How many tuples a set is worth, tuples drawn evenly, and tuples by their number."""

import numpy as np

from multiobs._types import IntArray
from multiobs.tuples.shapes import Anchored, Tuples, TupleSet, subset_counts, unrank_subsets


def effective_count(tuples: TupleSet) -> float:
    r"""How many tuples without a common label would use the rows as evenly.

    Kish's effective size of the rows' uses, :math:`(\sum c_i)^2 / (m \sum c_i^2)` with
    :math:`c_i` the number of tuples that contain row i: equal use of n rows is worth n/m tuples
    that share none, however many tuples there are.

    >>> from multiobs.tuples import Windows
    >>> effective_count(Windows(np.arange(4), np.array([2, 3, 4, 4]), arity=2))
    1.8
    """
    use = tuples.membership_counts()
    square = float(np.sum(use**2))
    return float(use.sum()) ** 2 / square / tuples.arity if square > 0 else 0.0


def spread_evenly(tuples: TupleSet, size: int, rng: np.random.Generator) -> Tuples:
    """Draw one of every count/size consecutive tuples: no crowded window is left out by chance.

    >>> from multiobs.tuples import Windows
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

    >>> from multiobs.tuples import Windows
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
