"""Drawn tuples of three rows and more with the rows around them, gathered from all parts.

What scores of rows count more than once is estimated from some tuples and others that share rows
with them (:mod:`multiobs.inference.chain`).  All of those lie within one window of the drawn
tuple, so a block of rows around each is all that has to leave a part.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.fit import LinearFit
from multiobs.inference.chain import Chain
from multiobs.inference.gradient import inflation
from multiobs.inference.meat_of_rows import shared_by, touched
from multiobs.inference.parts import Leverages, Sums
from multiobs.inference.sandwich import gradient_of
from multiobs.tuples import Tuples, Windows, numbered


def drawn_blocks(fit: LinearFit, own: slice, numbers: IntArray) -> Sums:
    """Rows around the drawn tuples of a part.

    Parameters
    ----------
    fit : LinearFit
        The class, and the problem of a stretch of sorted rows.
    own : slice
        The part's own rows among them.
    numbers : ndarray of int
        Of the drawn tuples, counted from the part's first.
    """
    problem, tuples = fit.problem, fit.problem.tuples
    if not isinstance(tuples, Windows):
        raise ValueError(
            "errors need windows of sorted x for more than two observations by parts, got "
            f"{type(tuples).__name__}: use Adjacent or Nearby, or errors=False"
        )
    at = own.start
    begun = Windows(tuples.order[at:], tuples.stop[at:] - at, tuples.arity, tuples.n_rows)
    place = np.empty(tuples.n_rows, dtype=np.int64)
    place[tuples.order] = np.arange(tuples.order.size)
    members = place[numbered(begun, numbers).members]
    low = tuples.first_anchors()[members.min(axis=1)]
    high = np.maximum(tuples.stop[members.max(axis=1)], members.max(axis=1) + 1)
    size = high - low
    start = np.cumsum(size) - size  # where each block begins among all blocks
    inside = np.arange(int(size.sum())) - np.repeat(start - low, size)
    rows = tuples.order[inside]
    end = np.repeat(start + size, size)
    found: Sums = {
        "members": members + (start - low)[:, None],
        "stop": np.minimum(tuples.stop[inside] + np.repeat(start - low, size), end),
        "counts": tuples.membership_counts()[rows],
        "X": problem.X[rows],
        "labels": problem.residuals.labels[rows],
    }
    if problem.residuals.offset is not None:
        found["offset"] = problem.residuals.offset[rows]
    if problem.weight is not None:
        found["weight"] = problem.weight[rows]
    return found


def overlap_sums(
    fit: LinearFit, parts: Sequence[Mapping[str, Any]], known: Leverages
) -> tuple[Leverages, Sums]:
    """Put the blocks together: how much tuples share, and what rows count more than once.

    Parameters
    ----------
    fit : LinearFit
        The coefficients, with the problem of a sample.
    parts : sequence of mapping
        From :func:`drawn_blocks`.
    known : Leverages
        Of all rows.
    """
    parts = [part for part in parts if "members" in part and part["members"].size]
    sizes = [part["stop"].size for part in parts]
    shift = np.cumsum(sizes) - sizes

    def joined(name: str) -> Any:
        if name not in parts[0]:
            return None
        return np.concatenate([part[name] for part in parts])

    members = np.concatenate([part["members"] + at for part, at in zip(parts, shift, strict=True)])
    stop = np.concatenate([part["stop"] + at for part, at in zip(parts, shift, strict=True)])
    n, m = int(stop.size), known.arity
    windows = Windows(np.arange(n), stop, m)
    counts: FloatArray = joined("counts")
    residuals = replace(fit.problem.residuals, labels=joined("labels"), offset=joined("offset"))
    weight = joined("weight")
    problem = replace(
        fit.problem, X=joined("X"), place=joined("X"), residuals=residuals, tuples=windows,
        weight=weight, blocks=None,
    )  # fmt: skip
    gradient = gradient_of(replace(fit, problem=problem))
    drawn = Tuples(members, n)
    chain = Chain.draw(windows, drawn, np.random.default_rng(1))
    known = replace(known, shared=shared_by(chain, counts))
    times = counts if gradient.importance is None else counts * gradient.importance
    factor = inflation(touched(times, m, known.shared) * known.of(gradient.rows))
    s = gradient.scores(drawn)
    naive = s.T @ s
    s = s * factor[members].mean(axis=1)
    other = gradient.scores(chain.other) * factor[chain.other.members].mean(axis=1)
    return known, {
        "drawn": float(drawn.count()),
        "drawn naive": naive,
        "correction": (s * chain.factor[:, None]).T @ other,
    }
