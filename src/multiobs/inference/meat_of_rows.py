"""Variance of the gradient from the summed scores of the tuples that contain each row."""

from collections.abc import Sequence

import numpy as np

from multiobs._types import FloatArray
from multiobs.inference.chain import Chain, draw_in_graph
from multiobs.inference.gradient import Gradient, inflation
from multiobs.inference.meat import Meat
from multiobs.inference.meat_of_windows import recurring
from multiobs.inference.pairs import pair_row_sums
from multiobs.inference.skewness import Third, of_independent, of_pairs
from multiobs.sums.overlaps import Independent, Placed, anchor_overlap
from multiobs.sums.scores import Slope, Term, sum_scores
from multiobs.tuples import Graph, Tuples, TupleSet, Windows, spread_evenly

SAMPLED = 1_000  # tuples drawn for what rows count twice
NARROW = 0.1  # movement of features inside a window that scores of rows may neglect


def meat_of_rows(gradient: Gradient) -> Meat:
    """Sum over rows, less what tuples that share several rows count more than once.

    Parameters
    ----------
    gradient : Gradient
        What is summed.
    """
    tuples, arity = gradient.tuples, gradient.tuples.arity
    count, counts = tuples.count(), tuples.membership_counts()
    g = row_sums(gradient, counts)
    few = count <= 4 * SAMPLED and arity == 2
    drawn = spread_evenly(tuples, count if few else SAMPLED, np.random.default_rng(0))
    times = counts if gradient.importance is None else counts * gradient.importance
    share = count / drawn.count()
    chain = _chain(tuples, drawn)
    rows = gradient.rows
    h = _touching(tuples, times, counts, chain) * gradient.leverage(rows, times / arity)
    factor = inflation(h)
    s = gradient.scores(_unweighted(drawn, tuples))
    naive = share * (s.T @ s)
    s = s * factor[drawn.members].mean(axis=1)
    squares = share * (s.T @ s)
    g = g * factor
    cubes: Third | None = None
    if chain is not None:
        other = gradient.scores(chain.other) * factor[chain.other.members].mean(axis=1)
        correction = share * ((s * chain.factor[:, None]).T @ other)
    elif arity == 2:
        again = mutual(tuples, drawn) if isinstance(tuples, Graph) else np.zeros(drawn.count())
        correction = squares + share * (s.T @ (s * again[:, None]))
        cubes = of_pairs(g, s, 1.0 + again, share)
    else:
        correction = (arity - 1) * squares
        cubes = of_independent(g) if arity == 1 else None
    summed, own = rows * times[:, None], np.arange(tuples.n_rows, dtype=np.int64)
    if chain is None:
        return Meat(
            g, Independent(), correction, naive, "rows", summed, own, twice=True, third=cubes
        )
    near = anchor_overlap(tuples)
    if near is not None and isinstance(tuples, Windows):
        near = Placed(tuples.order, near)
    return Meat(g, Independent(), correction, naive, "rows", summed, own, twice=True, near=near)


def row_sums(gradient: Gradient, counts: FloatArray, narrow: bool | None = None) -> FloatArray:
    """Summed scores (n, p) of the tuples that contain each row, of which there are so many.

    Whether features hardly move inside a window is found out, unless it is said.
    """
    tuples, Z, slope = gradient.tuples, gradient.Z, gradient.slope
    if narrow is None:
        narrow = isinstance(tuples, Windows) and _narrow(tuples, gradient.rows)
    near = gradient.local or narrow
    if near and slope.loss is None and isinstance(Z, np.ndarray):
        return _local_scores(slope.terms, gradient, Z, counts)[:, : gradient.p]
    found = sum_scores(
        slope, tuples, Z, gradient.y, gradient.w, gradient.weight, limit=gradient.limit
    )
    return found[:, : gradient.p]


def _chain(tuples: TupleSet, drawn: Tuples) -> Chain | None:
    """Tuples that share two rows with the drawn ones, where tuples have more than two."""
    if tuples.arity <= 2:
        return None
    if isinstance(tuples, Windows) and not recurring(tuples):
        return Chain.draw(tuples, drawn, np.random.default_rng(1))
    if isinstance(tuples, Graph):
        return draw_in_graph(tuples, drawn, np.random.default_rng(1))
    return None


def _local_scores(
    terms: Sequence[Term], gradient: Gradient, Z: FloatArray, counts: FloatArray
) -> FloatArray:
    """Scores of rows with the features of each tuple taken at the row itself, (n, q)."""
    tuples, y, weight = gradient.tuples, gradient.y, gradient.weight
    one, ones = np.ones(1), np.ones((tuples.n_rows, 1))
    total = np.zeros(tuples.n_rows)
    for term in terms:
        kernel = term.kernel.polynomial
        constant = None if kernel is None else kernel.constant
        pairs = isinstance(tuples, Windows) and tuples.arity == 2
        if weight is None and constant is not None:
            value = counts * constant
        elif kernel is not None and isinstance(tuples, Windows) and pairs and not recurring(tuples):
            value = pair_row_sums(tuples, kernel, y, weight)
        else:
            bare = Slope.of(term.kernel)
            value = sum_scores(bare, tuples, ones, y, one, weight, limit=gradient.limit)[:, 0]
        for form in term.forms:
            value = value * (Z @ form)
        total += value
    return total[:, None] * Z


def _narrow(windows: Windows, rows: FloatArray) -> bool:
    """Whether features hardly move inside a window: by less than a tenth of their deviation."""
    if recurring(windows):
        return False
    return little(moved(windows, rows, slice(0, windows.order.size)))


def moved(windows: Windows, rows: FloatArray, own: slice) -> FloatArray:
    """Sums (4, p) over some anchors: one, the squared movement of features in a window, z, z²."""
    some = np.arange(own.start, own.stop, max(1, (own.stop - own.start) // 2000))
    z = rows[windows.order[some]]
    last = rows[windows.order[np.maximum(windows.stop[some], 1) - 1]]
    return np.asarray(np.stack([np.ones_like(z), (last - z) ** 2, z, z**2]).sum(axis=1))


def little(sums: FloatArray) -> bool:
    """Whether features move by less than a tenth of their deviation, from sums of :func:`moved`."""
    number, gap, first, second = sums
    number = np.maximum(number, 1.0)
    variance = second / number - (first / number) ** 2
    return bool(np.all(gap / number <= NARROW**2 * variance))


def _touching(
    tuples: TupleSet, times: FloatArray, counts: FloatArray, chain: Chain | None
) -> FloatArray:
    """About how many tuples share a row with a tuple that contains each row."""
    shared = None if chain is None else shared_by(chain, counts)
    return touched(times, tuples.arity, shared)


def shared_by(chain: Chain, counts: FloatArray) -> float:
    """Return the share of a row's tuples that contain another given row of the same tuple."""
    return min(float(np.mean(chain.number / chain.times_of(counts))), 1.0)


def touched(times: FloatArray, m: int, shared: float | None) -> FloatArray:
    """About how many tuples share a row with a tuple that contains each row, (n,)."""
    if shared is None:
        return m * times
    # rows of one tuple share some of their tuples: each further row adds the part not yet seen
    return times * ((1.0 - (1.0 - shared) ** m) / shared if shared > 0 else m)


def _unweighted(drawn: Tuples, tuples: TupleSet) -> Tuples:
    if isinstance(tuples, Tuples) and drawn.weight is not None:  # less the weight of the drawing
        own = drawn.weight * (drawn.count() / tuples.count())
        return Tuples(drawn.members, drawn.rows, drawn.representative, own)
    return Tuples(drawn.members, drawn.rows, drawn.representative)


def mutual(graph: Graph, drawn: Tuples) -> FloatArray:
    """Return 1 for each drawn pair (i, j) that the graph also holds as (j, i), else 0."""
    one, other = drawn.members.T
    partners = graph.n_partners[other]
    which = np.repeat(np.arange(other.size), partners)
    offset = np.cumsum(partners) - partners
    named = graph.indices[graph.indptr[other][which] + np.arange(which.size) - offset[which]]
    back = np.bincount(which[named == one[which]], minlength=other.size)
    return np.asarray(back > 0, dtype=np.float64)
