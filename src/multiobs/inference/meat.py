r"""Variance of the summed score when metasamples share labels.

The scores of two tuples are dependent exactly when the tuples share a row, so

.. math:: V = \sum_{t \cap t' \ne \emptyset} s_t s_{t'}'

estimates the variance of the gradient without bias, whatever the sampler.  It is never formed
like that.  With :math:`g_i` the scores of the tuples that contain row i,

.. math:: V = \sum_i g_i g_i' - \sum_{|t \cap t'| \ge 2} (|t \cap t'| - 1)\, s_t s_{t'}',

where the second sum is :math:`\sum_t s_t s_t'` for pairs and a small correction for wide
windows; and with :math:`a_i` the scores of the tuples anchored at row i,

.. math:: V = \sum_{i, j:\ \text{their tuples may share a row}} a_i a_j',

exact for sliding windows, and noisier the more anchors a window holds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, final

import numpy as np
from scipy import sparse

from multiobs._types import FloatArray, IntArray
from multiobs.inference.chain import Chain, draw_in_graph
from multiobs.inference.pairs import pair_row_sums
from multiobs.inference.skewness import Third, of_band, of_independent, of_pairs
from multiobs.native.window_sums import window_sums
from multiobs.statistics.kernels import Monomials
from multiobs.statistics.losses import Loss
from multiobs.sums.contraction import LIMIT, Features, Lifted, features_of, tuple_weights
from multiobs.sums.scores import Slope, Term, sum_scores, tuple_scores
from multiobs.tuples import (
    Graph,
    Tuples,
    TupleSet,
    Windows,
    binomial,
    first_anchors,
    membership_counts,
    spread_evenly,
)

SAMPLED = 1_000  # tuples drawn for what rows count twice
LISTED = 30_000  # tuples that are listed rather than drawn
OVERLAPS = 20_000_000  # pairs of overlapping tuples or anchors that are kept
NARROW = 0.1  # movement of features inside a window that scores of rows may neglect
FEW_OVERLAPS = 500_000  # and up to how many nothing else is as quick


class Overlap(Protocol):
    """Which units (rows, tuples or anchors) are dependent."""

    def spread(self, values: FloatArray, /) -> FloatArray:
        """Sum of the values of all units that overlap each unit, itself included, (u, p)."""
        ...


@final
@dataclass(frozen=True)
class Independent:
    """Units that share nothing."""

    def spread(self, values: FloatArray, /) -> FloatArray:
        """Return the values themselves."""
        return values


@final
@dataclass(frozen=True)
class Band:
    """Anchors of sorted windows: those overlap whose first row lies in the other's window."""

    first: IntArray
    stop: IntArray

    def spread(self, values: FloatArray, /) -> FloatArray:
        """Sum over the band by running sums."""
        return window_sums(np.ascontiguousarray(values), self.first, self.stop)


@final
@dataclass(frozen=True)
class Pattern:
    """Units whose overlaps are listed in a sparse 0/1 matrix."""

    matrix: sparse.csr_array

    def spread(self, values: FloatArray, /) -> FloatArray:
        """Multiply by the pattern."""
        return np.asarray(self.matrix @ values)


@final
@dataclass(frozen=True)
class Meat:
    """The estimated variance of the gradient with its parts.

    Attributes
    ----------
    units : ndarray (u, p)
        Scores of the units: rows, tuples or anchors.
    overlap : Overlap
        Which units are dependent.
    correction : ndarray (p, p)
        What rows count twice; zero for tuples and anchors.
    naive : ndarray (p, p)
        Σ_t s_t s_t', right only if no label were shared.
    kind : str
        "rows", "tuples" or "anchors".
    near : Overlap or None
        Which units vary together although their scores were treated as uncorrelated.
    third : Third or None
        How lopsided the gradient is; None for more than two rows in overlapping tuples other
        than sliding windows, where it is not known well enough.
    """

    units: FloatArray
    overlap: Overlap
    correction: FloatArray
    naive: FloatArray
    kind: str
    near: Overlap | None = None
    third: Third | None = None

    def variance(self) -> FloatArray:
        """V, symmetric but in small samples not always positive."""
        V = self.units.T @ self.overlap.spread(self.units) - self.correction
        return np.asarray((V + V.T) / 2)


def meat(
    slope: Slope,
    tuples: TupleSet,
    Z: Features,
    y: FloatArray,
    w: FloatArray,
    weight: FloatArray | None,
    p: int,
    limit: int = LIMIT,
    local: bool = False,
) -> Meat:
    """Estimate the variance of the gradient of the risk at its minimum.

    Parameters
    ----------
    slope : sequence of Term, or Loss
        Derivative of the loss in r.
    tuples : TupleSet
        Which rows go together.
    Z : ndarray (n, q) or Lifted
        Features of the rows.
    y : ndarray (n,) or (n, s)
        Labels.
    w : ndarray (q,)
        Coefficients, of which the first p were estimated.
    weight : ndarray (n,) or None
        Weights of the rows.
    p : int
        How many coefficients were estimated.
    limit : int
        The most tuples that are enumerated.
    local : bool
        Put each tuple at the row it is counted for, which costs the same for any features.
    """
    count = tuples.count()
    none = np.zeros((p, p))
    given = isinstance(tuples, Tuples)
    if given or (tuples.arity > 2 and count <= LISTED and not _sliding(tuples)):
        part = tuples.listed()
        pattern = tuple_overlap(part, OVERLAPS if given else FEW_OVERLAPS)
        if pattern is not None:
            s = tuple_scores(slope, part, Z, y, w, weight)[:, :p]
            product = tuple_weights(part, weight)
            times = np.ones(part.count()) if product is None else product
            h = pattern.spread(times[:, None])[:, 0] * unit_leverage(
                features_of(part, Z)[:, :p], times
            )
            units = s * inflation(h)
            return Meat(units, pattern, none, s.T @ s, "tuples", third=_third(units, part, pattern))
    rows = (Z.function(Z.X) if isinstance(Z, Lifted) else Z)[:, :p]
    # weights multiply within a tuple, whose rows lie close together and weigh about the same
    importance = None if weight is None else weight**tuples.arity
    if _sliding(tuples):
        overlap = anchor_overlap(tuples)
        if overlap is not None:
            assert isinstance(tuples, Windows)
            a, rows = window_scores(slope, tuples, Z, y, w, weight)[:, :p], rows[tuples.order]
            times = binomial(tuples.n_partners, tuples.arity - 1)
            if importance is not None:
                times = times * importance[tuples.order]
            h = overlap.spread(times[:, None])[:, 0] * unit_leverage(rows, times)
            naive, a = a.T @ a, a * inflation(h)
            third = of_band(a, overlap.spread(a), np.maximum(tuples.stop, 1))
            return Meat(a, overlap, none, naive, "anchors", third=third)
    counts = membership_counts(tuples)
    near = local or (isinstance(tuples, Windows) and _narrow(tuples, rows))
    if near and not isinstance(slope, Loss) and isinstance(Z, np.ndarray):
        g = local_scores(slope, tuples, Z, y, weight, counts, limit)[:, :p]
    else:
        g = sum_scores(slope, tuples, Z, y, w, weight, limit=limit)[:, :p]
    few = count <= 4 * SAMPLED and tuples.arity == 2
    drawn = spread_evenly(tuples, count if few else SAMPLED, np.random.default_rng(0))
    times = counts if importance is None else counts * importance
    share = count / drawn.count()
    chain = None
    if isinstance(tuples, Windows) and tuples.arity > 2 and not _recurring(tuples):
        chain = Chain.draw(tuples, drawn, np.random.default_rng(1))
    if isinstance(tuples, Graph) and tuples.arity > 2:
        chain = draw_in_graph(tuples, drawn, np.random.default_rng(1))
    h = _touching(tuples, times, counts, chain) * unit_leverage(rows, times / tuples.arity)
    factor = inflation(h)
    unweighted = _unweighted(drawn, tuples)
    s = tuple_scores(slope, unweighted, Z, y, w, weight)[:, :p]
    naive = share * (s.T @ s)
    s = s * factor[drawn.members].mean(axis=1)
    squares = share * (s.T @ s)
    g = g * factor
    cubes: Third | None = None
    if chain is not None:
        other = tuple_scores(slope, chain.other, Z, y, w, weight)[:, :p]
        other = other * factor[chain.other.members].mean(axis=1)
        correction = share * ((s * chain.factor[:, None]).T @ other)
    elif tuples.arity == 2:
        again = mutual(tuples, drawn) if isinstance(tuples, Graph) else np.zeros(drawn.count())
        correction = squares + share * (s.T @ (s * again[:, None]))
        cubes = of_pairs(g, s, 1.0 + again, share)
    else:
        correction = (tuples.arity - 1) * squares
        cubes = of_independent(g) if tuples.arity == 1 else None
    if chain is None:
        return Meat(g, Independent(), correction, naive, "rows", third=cubes)
    order = tuples.order if isinstance(tuples, Windows) else np.arange(tuples.n_rows)
    return Meat(g[order], Independent(), correction, naive, "rows", anchor_overlap(tuples))


def window_scores(
    slope: Slope,
    windows: Windows,
    Z: Features,
    y: FloatArray,
    w: FloatArray,
    weight: FloatArray | None,
) -> FloatArray:
    """Scores of windows with at most one tuple each, in the order of x; zero without one."""
    m = windows.arity
    (full,) = np.nonzero(windows.n_partners == m - 1)
    members = windows.order[full[:, None] + np.arange(m)]
    out = np.zeros((windows.order.size, w.size))
    out[full] = tuple_scores(slope, Tuples(members, windows.n_rows), Z, y, w, weight)
    return out


def _third(units: FloatArray, part: Tuples, overlap: Overlap) -> Third | None:
    """Sums over triples of listed tuples, where they are known well."""
    if isinstance(overlap, Independent):
        return of_independent(units)
    if part.arity != 2:
        return None
    columns = (
        np.bincount(part.members.ravel(), np.repeat(u, 2), minlength=part.n_rows) for u in units.T
    )
    g: FloatArray = np.stack([np.asarray(each, dtype=np.float64) for each in columns], axis=1)
    return of_pairs(g, units, np.ones(part.count()), 1.0)


def local_scores(
    terms: Sequence[Term],
    tuples: TupleSet,
    Z: FloatArray,
    y: FloatArray,
    weight: FloatArray | None,
    counts: FloatArray,
    limit: int,
) -> FloatArray:
    """Scores of rows with the features of each tuple taken at the row itself, (n, p)."""
    one, ones = np.ones(1), np.ones((tuples.n_rows, 1))
    total = np.zeros(tuples.n_rows)
    paired = tuples.arity == 2 and isinstance(tuples, Windows) and not _recurring(tuples)
    for term in terms:
        kernel = term.kernel
        if weight is None and isinstance(kernel, Monomials) and set(kernel.terms) <= {()}:
            value = counts * kernel.terms.get((), 0.0)
        elif paired and isinstance(kernel, Monomials) and isinstance(tuples, Windows):
            value = pair_row_sums(tuples, kernel, y, weight)
        else:
            bare = Term(kernel, ())
            value = sum_scores([bare], tuples, ones, y, one, weight, limit=limit)[:, 0]
        for form in term.forms:
            value = value * (Z @ form)
        total += value
    return total[:, None] * Z


def _narrow(windows: Windows, rows: FloatArray) -> bool:
    """Whether features hardly move inside a window: by less than a tenth of their deviation."""
    if _recurring(windows):
        return False
    some = np.arange(0, windows.order.size, max(1, windows.order.size // 2000))
    z = rows[windows.order[some]]
    last = rows[windows.order[np.maximum(windows.stop[some], 1) - 1]]
    moved = np.mean((last - z) ** 2, axis=0)
    return bool(np.all(moved <= NARROW**2 * z.var(axis=0)))


def unit_leverage(z: FloatArray, times: FloatArray) -> FloatArray:
    """Share z' (Σ times · z z')^{-1} z of one tuple at each z in the fit, (u,)."""
    info = (z * times[:, None]).T @ z
    inverse = np.linalg.pinv(info, rcond=1e-12, hermitian=True)
    return np.asarray(np.einsum("ia,ia->i", z @ inverse, z))


def inflation(h: FloatArray) -> FloatArray:
    """Return (1 - h)^-1/2, (u, 1): what the fit takes away from scores it was fitted to.

    With h the share of all tuples that depend on a unit, this makes V unbiased when all units
    are alike, as the HC2 errors of least squares are.
    """
    return np.asarray((1.0 - np.clip(h, 0.0, 0.8)) ** -0.5)[:, None]


def _touching(
    tuples: TupleSet, times: FloatArray, counts: FloatArray, chain: Chain | None
) -> FloatArray:
    """About how many tuples share a row with a tuple that contains each row."""
    m = tuples.arity
    if chain is None:
        return m * times
    # rows of one tuple share some of their tuples: each further row adds the part not yet seen
    shared = min(float(np.mean(chain.number / chain.times_of(counts))), 1.0)
    return times * ((1.0 - (1.0 - shared) ** m) / shared if shared > 0 else m)


def tuple_overlap(part: Tuples, most: int = OVERLAPS) -> Overlap | None:
    """Which listed tuples share a row, or None if too many do."""
    t, m = part.members.shape
    uses = np.bincount(part.members.ravel(), minlength=part.n_rows).astype(np.float64)
    if uses.max(initial=0.0) <= 1:
        return Independent()
    if float(np.sum(uses**2)) > most:
        return None
    rows = np.repeat(np.arange(t), m)
    member = sparse.csr_array(
        (np.ones(t * m), (rows, part.members.ravel())), shape=(t, part.n_rows)
    )
    return Pattern(_zero_one(member @ member.T))


def anchor_overlap(tuples: TupleSet) -> Overlap | None:
    """Which anchors' tuples may share a row, or None if too many do."""
    if isinstance(tuples, Windows):
        place = np.arange(1, tuples.order.size + 1, dtype=np.int64)
        return Band(first_anchors(tuples), np.maximum(tuples.stop, place))
    assert isinstance(tuples, Graph)
    n = tuples.n_rows
    uses = np.bincount(tuples.indices, minlength=n) + 1.0
    if float(np.sum(uses**2)) > OVERLAPS:
        return None
    near = sparse.csr_array(
        (np.ones(tuples.indices.size), tuples.indices, tuples.indptr), shape=(n, n)
    )
    member = near + sparse.eye_array(n, format="csr")
    return Pattern(_zero_one(member @ member.T))


def _zero_one(matrix: sparse.csr_array) -> sparse.csr_array:
    found = sparse.csr_array(matrix)
    found.data[:] = 1.0
    return found


def _sliding(tuples: TupleSet) -> bool:
    """Whether no window holds more than one tuple."""
    if not isinstance(tuples, Windows) or _recurring(tuples):
        return False
    return bool(np.all(tuples.n_partners < tuples.arity))


def _recurring(windows: Windows) -> bool:
    """Whether a row has several places, as in the leaves of several trees."""
    return windows.order.size > windows.n_rows


def _unweighted(drawn: Tuples, tuples: TupleSet) -> Tuples:
    if isinstance(tuples, Tuples) and drawn.weight is not None:  # less the weight of the drawing
        own = drawn.weight * (drawn.count() / tuples.count())
        return Tuples(drawn.members, drawn.rows, drawn.representative, own)
    return Tuples(drawn.members, drawn.rows, drawn.representative)


def mutual(graph: Graph, drawn: Tuples) -> FloatArray:
    """Return 1 for each drawn pair (i, j) that the graph also holds as (j, i), else 0."""
    n = graph.n_rows
    keys = np.sort(graph.anchor_of_edges() * n + graph.indices)
    back = drawn.members[:, 1] * n + drawn.members[:, 0]
    place = np.minimum(np.searchsorted(keys, back), keys.size - 1)
    return np.asarray(keys[place] == back, dtype=np.float64)
