r"""Rows with equal x are exchangeable: what an order of the rows means where it is not unique.

A sampler that puts rows in the order of x averages over the orders of each tie,
or draws one of them from its generator.
With :math:`j` rows of a tie of size :math:`c` in a window, each of the
:math:`\binom cj` subsets is as likely as any other, so the average over all orders is a
weighted list of tuples.
"""

import numpy as np

from multiobs._types import IntArray
from multiobs.tuples import Tuples, binomial, unrank_subsets

EXACT = 2_000_000  # tuples that the average over the orders of ties may be spread over


def shuffled_ties(order: IntArray, sizes: IntArray, rng: np.random.Generator) -> IntArray:
    """Sorted row numbers with each tie in random order; no number is drawn without ties."""
    if sizes.size == order.size:
        return order
    run = np.repeat(np.arange(sizes.size), sizes)
    return order[np.lexsort((rng.random(order.size), run))]


def sliding_average(
    order: IntArray, sizes: IntArray, ends: IntArray, arity: int, most: int = EXACT
) -> Tuples | None:
    r"""All windows of m adjacent rows, averaged over the orders of ties.

    Parameters
    ----------
    order : ndarray of int (n,)
        Row numbers by group and x.
    sizes : ndarray of int
        Sizes of the ties, in that order.
    ends : ndarray of int (n,)
        One past the last position of each position's group.
    arity : int
        The number m of rows in a window.
    most : int
        The most tuples that are listed.

    Returns
    -------
    Tuples or None
        Weighted, with the number of windows as total weight; None if they would be too many.

    Examples
    --------
    >>> two = sliding_average(np.arange(3), np.array([2, 1]), np.array([3, 3, 3]), 2)
    >>> two.members.tolist(), two.weight.tolist()
    ([[0, 1], [0, 2], [1, 2]], [1.0, 0.5, 0.5])
    """
    n, m = order.size, arity
    begin = np.repeat(np.cumsum(sizes) - sizes, sizes)
    size = np.repeat(sizes, sizes)
    first = np.arange(n, dtype=np.int64)
    first = first[first + m <= ends]
    last = first + m - 1
    inside = begin[first] == begin[last]
    # all windows inside one tie are alike: its first one stands for them
    alone = first[inside & (first == begin[first])]
    across = first[~inside]
    start = np.concatenate([alone, across])
    left = np.where(begin[start] == begin[start + m - 1], m, begin[start] + size[start] - start)
    right = np.where(left == m, 0, start + m - begin[start + m - 1])
    times = np.where(left == m, size[start] - m + 1, 1)
    far = begin[start + m - 1]
    options_left, options_right = np.ones(start.size), np.ones(start.size)
    for j in range(1, m + 1):
        options_left[left == j] = binomial(size[start[left == j]], j)
        options_right[right == j] = binomial(size[start[right == j] + m - 1], j)
    count = options_left * options_right
    if not float(count.sum()) <= most:
        return None
    members, weights = [], []
    for j in range(m, 0, -1):
        for k in range(m - j + 1):
            (mine,) = np.nonzero((left == j) & (right == k))
            if mine.size == 0:
                continue
            per = count[mine].astype(np.int64)
            entry = np.repeat(mine, per)
            number = np.arange(entry.size) - np.repeat(np.cumsum(per) - per, per)
            beyond = options_right[entry].astype(np.int64)
            low = unrank_subsets(number // beyond, j, int(size[start[mine]].max()))
            high = unrank_subsets(number % beyond, k, int(size[start[mine] + m - 1].max()))
            between = start[entry][:, None] + np.arange(j, m - k)
            place = [begin[start[entry]][:, None] + low, between, far[entry][:, None] + high]
            members.append(order[np.concatenate(place, axis=1)])
            weights.append(times[entry] / count[entry])
    if not members:
        return Tuples(np.empty((0, m), dtype=np.int64), n)
    return Tuples(np.concatenate(members), n, None, np.concatenate(weights))
