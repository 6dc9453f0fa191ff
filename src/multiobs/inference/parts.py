r"""The covariance of :mod:`multiobs.inference.sandwich` from parts of the rows.

Two passes over stretches of sorted rows, each with as many rows around its own as tuples reach:
the first sums what leverages need, the second the scores.  Degrees of freedom and skewness depend
on the whole V, but only through third and fourth powers of scores, so these are summed as tensors
of the p coefficients.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np

from multiobs._types import BoolArray, FloatArray, IntArray
from multiobs.fit import LinearFit
from multiobs.inference.gradient import Gradient, inflation
from multiobs.inference.meat import positive_or
from multiobs.inference.meat_of_rows import SAMPLED, little, moved, mutual, row_sums, touched
from multiobs.inference.meat_of_windows import sliding, window_scores
from multiobs.inference.sandwich import Covariance, assembled, gradient_of
from multiobs.inference.shares import Shares
from multiobs.inference.skewness import of_tensors
from multiobs.inference.variance import FEW_OVERLAPS, LISTED
from multiobs.native.window_sums import window_sums
from multiobs.sums import features_of, tuple_weights
from multiobs.sums.overlaps import Independent, Overlap, anchor_overlap, tuple_overlap
from multiobs.tuples import (
    Anchored,
    Graph,
    Tuples,
    Windows,
    binomial,
    numbered,
)

Sums = dict[str, Any]
Kind = Literal["rows", "tuples", "anchors"]


@final
@dataclass(frozen=True)
class Leverages:
    """What the first pass found out about all rows.

    Attributes
    ----------
    kind : {"rows", "tuples", "anchors"}
        Whose scores are summed.
    inverse : ndarray (p, p)
        Of the summed outer products of features.
    narrow : bool
        Whether features hardly move inside a window.
    arity : int
        Rows of a tuple.
    counts : tuple of int
        Tuples that begin in each part.
    shared : float or None
        Share of the tuples of a row that contain another row of one tuple, where that matters.
    """

    kind: Kind
    inverse: FloatArray
    narrow: bool
    arity: int
    counts: tuple[int, ...]
    shared: float | None = None

    def of(self, z: FloatArray) -> FloatArray:
        """Share of one tuple at each z (u, p) in the fit, (u,)."""
        return np.asarray(np.einsum("ia,ia->i", z @ self.inverse, z))

    def axes(self) -> tuple[FloatArray, FloatArray]:
        """Matrix (p, p) that takes scores to coordinates of alike size, and directions to them.

        Shares have fourth powers of scores: where features hardly differ, those of the scores
        themselves would cancel.
        """
        values, vectors = np.linalg.eigh((self.inverse + self.inverse.T) / 2)
        size = np.sqrt(np.maximum(values, 0.0))
        back = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0)
        return vectors * size, vectors * back

    def drawn(self) -> list[IntArray]:
        """Numbers of some tuples among those that begin in each part, spread evenly over all."""
        total = sum(self.counts)
        few = total <= (4 * SAMPLED if self.arity == 2 else SAMPLED)
        size = total if few else SAMPLED
        steps = np.arange(size, dtype=np.float64)
        if not few:
            steps = (steps + np.random.default_rng(0).random(size)) * (total / size)
        numbers = steps.astype(np.int64)
        ends = np.cumsum([float(each) for each in self.counts])
        places = np.searchsorted(ends, numbers, side="right")
        begins = np.concatenate([[0], np.cumsum(self.counts)[:-1]]).astype(np.int64)
        return [numbers[places == i] - begins[i] for i in range(len(self.counts))]


def leverage_sums(fit: LinearFit, own: slice) -> Sums:
    """Sums of one part that leverages need.

    Parameters
    ----------
    fit : LinearFit
        The class, and the problem of a stretch of sorted rows; its coefficients do not matter.
    own : slice
        The part's own rows among them.
    """
    gradient, p = gradient_of(fit), fit.design.n_columns
    tuples, m = gradient.tuples, gradient.tuples.arity
    if isinstance(tuples, Tuples):
        info = _info_of_tuples(tuples, own, gradient)
        return {"kind": "tuples", "info": info, "moved": np.zeros((4, p))}
    rows, importance = gradient.rows, gradient.importance
    counts = tuples.membership_counts()
    times = _times(counts, importance) / m
    found: Sums = {"kind": "rows", "info": _info(rows[own], times[own]), "moved": np.zeros((4, p))}
    if m > 2 and tuples.count() <= LISTED:
        listed = _info_of_tuples(tuples.listed(), own, gradient)
        found |= {"tuples": listed, "uses": float(np.sum(counts[own] ** 2))}
    if isinstance(tuples, Windows):
        if sliding(tuples):
            here = tuples.order[own]
            each = _anchor_times(tuples, importance)[own]
            found |= {"kind": "anchors", "anchors": _info(rows[here], each)}
        found["moved"] = moved(tuples, rows, own)
    return found


def leverages(parts: Sequence[Mapping[str, Any]], counts: tuple[int, ...], arity: int) -> Leverages:
    """What all parts know together."""
    parts = [part for part in parts if part]  # a part without rows knows nothing
    kinds = {str(part["kind"]) for part in parts}
    kind: Kind = "tuples" if kinds == {"tuples"} else "anchors"
    if "rows" in kinds:
        kind = "rows"
    uses = sum(float(part.get("uses", np.inf)) for part in parts)
    if kind == "rows" and sum(counts) <= LISTED and uses <= FEW_OVERLAPS:
        kind = "tuples"  # so few that they are listed
    info = sum(part["info"] if kind == "rows" else part.get(kind, part["info"]) for part in parts)
    gaps = np.sum([part["moved"] for part in parts], axis=0)
    narrow = kind == "rows" and bool(np.all(gaps[0] > 0)) and little(gaps)
    inverse = np.linalg.pinv(np.asarray(info), rcond=1e-12, hermitian=True)
    return Leverages(kind, inverse, narrow, arity, counts)


def score_sums(fit: LinearFit, own: slice, known: Leverages, numbers: IntArray) -> Sums:
    """Sums of the scores of one part.

    Parameters
    ----------
    fit : LinearFit
        The coefficients, and the problem of a stretch of sorted rows.
    own : slice
        The part's own rows among them.
    known : Leverages
        Of all rows.
    numbers : ndarray of int
        Of the tuples, counted from the part's first, that stand for all tuples of the part.
    """
    tuples = fit.problem.tuples
    if isinstance(tuples, Tuples) or known.kind == "tuples":
        return _sums_of_tuples(gradient_of(fit), tuples.listed(), own, known)
    if known.kind == "anchors" and isinstance(tuples, Windows):
        return _sums_of_anchors(gradient_of(fit), tuples, own, known)
    assert isinstance(tuples, Windows | Graph)
    return _sums_of_rows(gradient_of(fit), tuples, own, known, numbers)


def covariance_by_parts(
    fit: LinearFit,
    parts: Sequence[Mapping[str, Any]],
    known: Leverages,
    more: Mapping[str, Any] | None = None,
    shares: tuple[float, float, float] | None = None,
) -> Covariance:
    """Put the sums of all parts together, as :func:`covariance` does with all rows at hand.

    Parameters
    ----------
    fit : LinearFit
        The coefficients and the summed risk.
    parts : sequence of mapping
        From :func:`score_sums`.
    known : Leverages
        Of all rows.
    more : mapping, optional
        From :func:`multiobs.inference.blocks.overlap_sums`.
    shares : tuple of float, optional
        Number of independent units, their summed shares in V, and the squares of these.
    """
    p = fit.w.size
    if more is not None:
        parts = [*parts, {"V": np.zeros((p, p)), **more}]
    parts = [part for part in parts if "V" in part]
    total, V = _totals(parts), variance_by_parts(parts, known)
    share = _share(total, known)
    naive = np.asarray(total["naive"] + share * total["drawn naive"])
    third = None
    if all(bool(part["third"]) for part in parts if "third" in part):
        bend = total["bend"] - share * total["drawn cubes"]
        third = of_tensors(bend, total["centre"] - share * total["drawn cubes"])
    if shares is not None:
        return assembled(fit, V, naive, _df_of_shares(shares, p), known.kind, third)
    found = Shares.by_parts(total, known.axes()[1])
    df = found.averaged(V)
    return assembled(fit, V, naive, df, known.kind, third, shares=found)


def _totals(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {name: sum(np.asarray(part[name]) for part in parts if name in part) for name in NAMES}


def _share(total: Mapping[str, Any], known: Leverages) -> float:
    """How many tuples each drawn one stands for."""
    drawn = float(total["drawn"])
    return sum(known.counts) / drawn if drawn else 1.0


def _df_of_shares(shares: tuple[float, float, float], p: int) -> float:
    """Satterthwaite's degrees of freedom from the units' number, and their shares in V."""
    n, q, squares = shares
    return float(np.clip(2.0 / p * q**2 / max(squares - q**2 / n, 1e-300), 1.0, n))


NAMES = (
    "V", "correction", "naive", "drawn naive", "drawn", "units", "q", "q near", "q times",
    "q squares", "pairs", "bend", "centre", "drawn cubes",
)  # fmt: skip


def _sums_of_tuples(gradient: Gradient, tuples: Tuples, own: slice, known: Leverages) -> Sums:
    overlap = tuple_overlap(tuples.members, tuples.n_rows)
    if overlap is None:
        raise ValueError(
            f"errors of {tuples.count()} overlapping tuples need too much memory: use more "
            "ranges, where x has many ties another sampler, or errors=False"
        )
    z, times = _listed(tuples, gradient)
    s = gradient.scores(tuples)
    units = s * inflation(overlap.spread(times[:, None])[:, 0] * known.of(z))
    mine = _mine(tuples, own)
    found = _unit_sums(units, mine, overlap, overlap, s[mine].T @ s[mine], known)
    if isinstance(overlap, Independent):
        cube = cubes(units[mine], units[mine], units[mine])
        return found | {"bend": cube, "centre": cube, "third": True}
    if tuples.arity != 2:
        return found | {"third": False}
    columns = (
        np.bincount(tuples.members.ravel(), np.repeat(u, 2), minlength=tuples.n_rows)
        for u in units.T
    )
    g: FloatArray = np.stack([np.asarray(each, dtype=np.float64) for each in columns], axis=1)
    cube = cubes(g[own], g[own], g[own]) - cubes(units[mine], units[mine], units[mine])
    return found | {"bend": cube, "centre": cube, "third": True}


def _sums_of_anchors(gradient: Gradient, tuples: Windows, own: slice, known: Leverages) -> Sums:
    overlap = anchor_overlap(tuples)
    assert overlap is not None
    a, rows = window_scores(gradient, tuples), gradient.rows[tuples.order]
    times = _anchor_times(tuples, gradient.importance)
    naive = a[own].T @ a[own]
    a = a * inflation(overlap.spread(times[:, None])[:, 0] * known.of(rows))
    mine = np.zeros(a.shape[0], dtype=np.bool_)
    mine[own] = True
    found = _unit_sums(a, mine, overlap, overlap, naive, known)
    spread = overlap.spread(a)[own]
    stop, place = np.maximum(tuples.stop, 1), np.arange(a.shape[0], dtype=np.int64)
    later = window_sums(np.ascontiguousarray(a), np.minimum(place + 1, stop), stop)[own]
    whole = later + a[own]
    cross = cubes(a[own], spread, spread)
    ends = cubes(whole, whole, whole), cubes(later, later, later)
    return found | {
        "bend": 1.5 * cross - 0.5 * ends[0] + 0.5 * ends[1],
        "centre": 3.0 * cross - 2.0 * ends[0] + 2.0 * ends[1],
        "third": True,
    }


def _sums_of_rows(
    gradient: Gradient, tuples: Windows | Graph, own: slice, known: Leverages, numbers: IntArray
) -> Sums:
    p, m = gradient.p, tuples.arity
    counts = tuples.membership_counts()
    g = row_sums(gradient, counts, known.narrow)
    times = _times(counts, gradient.importance)
    factor = inflation(touched(times, m, known.shared) * known.of(gradient.rows))
    g = g * factor
    mine = np.zeros(g.shape[0], dtype=np.bool_)
    mine[own] = True
    alone: Overlap = Independent()
    reached = anchor_overlap(tuples) if m > 2 else alone
    found = _unit_sums(g, mine, alone, reached or alone, np.zeros((p, p)), known)
    found["third"] = m <= 2
    if m > 2:  # what rows count more than once is known from the blocks
        return found
    drawn = numbered(_from(tuples, own.start), numbers)
    s = gradient.scores(drawn)
    found |= {"drawn": float(drawn.count()), "drawn naive": s.T @ s}
    s = s * factor[drawn.members].mean(axis=1)
    cube = cubes(g[own], g[own], g[own])
    found |= {"bend": cube, "centre": cube}
    if m == 1:
        return found
    again = mutual(tuples, drawn) if isinstance(tuples, Graph) else np.zeros(drawn.count())
    twice = s * (1.0 + again)[:, None]
    return found | {"correction": s.T @ twice, "drawn cubes": cubes(twice, twice, s)}


def variance_by_parts(parts: Sequence[Mapping[str, Any]], known: Leverages) -> FloatArray:
    """The variance of the gradient from all parts."""
    total = _totals(parts)
    raw, known_twice = total["V"], _share(total, known) * total["correction"]
    V = raw - known_twice
    return positive_or(np.asarray((V + V.T) / 2), np.asarray((raw + raw.T) / 2))


def _unit_sums(
    units: FloatArray, mine: BoolArray, overlap: Overlap, near: Overlap, naive: FloatArray,
    known: Leverages,
) -> Sums:  # fmt: skip
    """Sums over the part's own units, others around them being there to overlap."""
    spread, (axes, _) = overlap.spread(units), known.axes()
    F = ((units @ axes)[:, :, None] * (spread @ axes)[:, None, :]).reshape(units.shape[0], -1)
    ones = np.ones((units.shape[0], 1))
    times = near.spread(ones)[mine, 0]
    own = F[mine]
    return {
        "V": units[mine].T @ spread[mine],
        "naive": naive,
        "units": float(np.count_nonzero(mine)),
        "q": own.sum(axis=0),
        "q near": own.T @ near.spread(F)[mine],
        "q times": times @ own,
        "q squares": own.T @ own,
        "pairs": float(times.sum()),
    }


def cubes(a: FloatArray, b: FloatArray, c: FloatArray) -> FloatArray:
    """Σ a ⊗ b ⊗ c over units, (p, p, p)."""
    p = a.shape[1]
    outer = (a[:, :, None] * b[:, None, :]).reshape(-1, p * p)
    return np.asarray((outer.T @ c).reshape(p, p, p))


def _mine(tuples: Tuples, own: slice) -> BoolArray:
    """Tuples whose first row is one of the part's own."""
    leftmost = tuples.members.min(axis=1)
    return np.asarray((leftmost >= own.start) & (leftmost < own.stop))


def _from(tuples: Windows | Graph, first: int) -> Anchored:
    """Tuples whose anchor is at ``first`` or later."""
    if isinstance(tuples, Windows):
        order, stop = tuples.order[first:], tuples.stop[first:] - first
        return Windows(order, stop, tuples.arity, tuples.n_rows)
    return tuples.keep(tuples.anchor_of_edges() >= first)


def _info_of_tuples(tuples: Tuples, own: slice, gradient: Gradient) -> FloatArray:
    """Summed outer products of the features of the part's tuples."""
    z, times = _listed(tuples.take(np.flatnonzero(_mine(tuples, own))), gradient)
    return _info(z, times)


def _listed(part: Tuples, gradient: Gradient) -> tuple[FloatArray, FloatArray]:
    """Features and weights of listed tuples."""
    product = tuple_weights(part, gradient.weight)
    times = np.ones(part.count()) if product is None else product
    return features_of(part, gradient.Z)[:, : gradient.p], times


def _times(counts: FloatArray, importance: FloatArray | None) -> FloatArray:
    return counts if importance is None else counts * importance


def _anchor_times(tuples: Windows, importance: FloatArray | None) -> FloatArray:
    times = binomial(tuples.n_partners, tuples.arity - 1)
    return times if importance is None else times * importance[tuples.order]


def _info(rows: FloatArray, times: FloatArray) -> FloatArray:
    return np.asarray((rows * times[:, None]).T @ rows)
