r"""Rows with equal x are exchangeable: what an order of the rows means where it is not unique.

A sampler that puts rows in the order of x averages over the orders of each tie,
or draws one of them from its generator.
With :math:`j` rows of a tie of size :math:`c` in a window, each of the
:math:`\binom cj` subsets is as likely as any other, so the average over all orders is a
weighted list of tuples.
"""

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.tuples import Tuples, binomial, unrank_subsets

EXACT = 2_000_000  # tuples that the average over the orders of ties may be spread over
AT_ONCE = 1 << 16  # tuples


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
    members = np.empty((int(count.sum()), m), dtype=np.int64)
    weight, filled = np.empty(members.shape[0]), 0
    for j in range(m, 0, -1):
        for k in range(m - j + 1):
            (alike,) = np.nonzero((left == j) & (right == k))
            for mine in _in_turn(alike, count[alike]):
                per = count[mine].astype(np.int64)
                entry = np.repeat(mine, per)
                number = np.arange(entry.size) - np.repeat(np.cumsum(per) - per, per)
                beyond = options_right[entry].astype(np.int64)
                here = members[filled : filled + entry.size]
                low = unrank_subsets(number // beyond, j, int(size[start[mine]].max()))
                here[:, :j] = order[begin[start[entry]][:, None] + low]
                here[:, j : m - k] = order[start[entry][:, None] + np.arange(j, m - k)]
                high = unrank_subsets(number % beyond, k, int(size[start[mine] + m - 1].max()))
                here[:, m - k :] = order[far[entry][:, None] + high]
                weight[filled : filled + entry.size] = times[entry] / count[entry]
                filled += entry.size
    return Tuples(members, n, None, weight) if filled else Tuples(members, n)


def _in_turn(entries: IntArray, counts: FloatArray) -> list[IntArray]:
    """Cut entries into runs of about so many tuples as are made at once."""
    cuts = np.searchsorted(np.cumsum(counts), np.arange(AT_ONCE, counts.sum(), AT_ONCE))
    return [each for each in np.split(entries, cuts) if each.size]
