"""From validated rows to a problem: choose, move labels, build tuples, weigh rows."""

import warnings
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from multiobs._check.advice import FarNeighbours
from multiobs._check.rows import Rows
from multiobs._types import FloatArray, IntArray
from multiobs.auto import validation
from multiobs.auto.choice import Choice, choose
from multiobs.auto.forest import honest_leaves
from multiobs.auto.weights import equal_curvature
from multiobs.auto.widths import follow_data
from multiobs.fit import Problem, label_units
from multiobs.samplers import Leaves, Sampler, column_scales
from multiobs.statistics import Statistic
from multiobs.sums import LIMIT
from multiobs.transport import (
    PilotFit,
    Residuals,
    Transport,
    fit_pilot,
    leverage_corrected,
    residuals_of,
)
from multiobs.tuples import Graph, shown

TOO_WIDE = 0.7  # distance of neighbours relative to that of any two rows


@final
@dataclass(frozen=True)
class Request:
    """What the user asked for, "auto" where it was left open.

    Attributes
    ----------
    statistic : Statistic
        What is estimated.
    sampler : str or Sampler
        How rows become metasamples.
    transport : "auto", "location", "location-scale" or None
        How labels are moved to the representative.
    may_shift : bool
        Whether the class of functions contains the constants.
    max_tuples : int or None
        Size of a random subset of the tuples.
    may_be_empty : bool
        Whether no tuple at all is an answer.
    near : bool
        Whether neighbours are sought by distance in any number of columns.
    precision : ndarray (n,) or None
        Inverse variance of each label up to a factor, for the pilot of the mean.
    pilot : callable
        What fits the pilot: one that remembers, where several classes are fitted to the same rows.
    """

    statistic: Statistic
    sampler: str | Sampler
    transport: Transport
    may_shift: bool = True
    max_tuples: int | None = None
    may_be_empty: bool = False
    near: bool = False
    precision: FloatArray | None = None
    pilot: PilotFit = fit_pilot


@final
@dataclass(frozen=True)
class Prepared:
    """A problem, and what was chosen on the way to it.

    Attributes
    ----------
    problem : Problem
        What is fitted.
    sampler : Sampler
        What built the tuples, with nothing left open.
    count : int
        How many tuples there were, before any random subset.
    reasons : tuple of str
        Sentences for ``plan_``.
    """

    problem: Problem
    sampler: Sampler
    count: int
    reasons: tuple[str, ...]


def prepare(request: Request, rows: Rows, rng: np.random.Generator) -> Prepared:
    """Choose what was left open, move the labels, build the tuples, balance the rows.

    Parameters
    ----------
    request : Request
        What the user asked for.
    rows : Rows
        Positions, labels, weights and codes.
    rng : Generator
        For samplers that draw.
    """
    statistic = request.statistic
    choice = choose(statistic, request.sampler, request.transport, rows.place, near=request.near)
    units = label_units(statistic, rows.y, request.may_shift, rows.weight)
    labels = units.inward(rows.y)
    residuals = residuals_of(
        choice.transport,
        statistic,
        rows.X,
        labels,
        weighted(rows.weight, request.precision),
        indicators=rows.indicators,
        fit=request.pilot,
    )
    reasons = list(choice.reasons)
    if residuals.pilot is not None:
        reasons.append(f"pilot: {residuals.pilot.name}")
    blocks = _crossed(rows.groups, residuals.folds)
    working = replace(rows, y=labels, groups=blocks)
    built, why = _settled(choice, statistic, working, residuals, rng)
    if why is not None:
        reasons.append(f"sampler: {why}")
    tuples = built.build(rows.place, statistic.arity, rng, blocks)
    count = tuples.count()
    if count == 0 and not request.may_be_empty:
        raise ValueError(
            f"{built!r} must find at least one tuple of {statistic.arity} rows, got none among "
            f"{rows.X.shape[0]} rows: widen its neighbourhood, or use another sampler"
        )
    if isinstance(tuples, Graph) and residuals.pilot is None and count:
        _warn_wide(tuples, rows.place)
    limit = LIMIT
    if request.max_tuples is not None:
        limit = max(LIMIT, request.max_tuples)
        if request.max_tuples < count:
            tuples = tuples.sample(request.max_tuples, rng)
            reasons.append(f"tuples: a random {request.max_tuples} of {shown(count)}")
    if count:
        # An average over many pairs, no choice of the user's: the same whenever it is taken.
        residuals = leverage_corrected(residuals, rows.X, tuples, np.random.default_rng(0))
    problem = Problem(
        statistic,
        rows.X,
        rows.place,
        residuals,
        tuples,
        rows.weight,
        units,
        blocks=blocks,
        limit=limit,
        indicators=rows.indicators,
    )
    if choice.balanced and statistic.arity > 1 and count:
        problem = replace(problem, weight=tuples.balance(rows.weight))  # every row counts alike
        if statistic.loss.deviations is not None:
            problem = equal_curvature(problem, statistic.loss.deviations)
        if problem.reweighting is not None:
            reasons.append("weights: the curvature of the loss is made equal at every x")
    return Prepared(problem, built, count, tuple(reasons))


def _settled(
    choice: Choice,
    statistic: Statistic,
    working: Rows,
    residuals: Residuals,
    rng: np.random.Generator,
) -> tuple[Sampler, str | None]:
    """Return a sampler with nothing left to choose, and why it is another one."""
    chosen = choice.sampler
    if isinstance(chosen, str):
        return Leaves(honest_leaves(working.X, working.y, statistic.arity, rng)), None
    if choice.follows is not None:
        place, X, blocks = working.place, working.X, working.groups
        return follow_data(choice.follows, statistic.arity, place, X, residuals, blocks)
    if choice.balanced or not chosen.is_open() or statistic.arity == 1:
        return chosen, None
    found = validation.by_validation(chosen, statistic, working, residuals)
    return found, f"{found!r}, by validation on adjacent held-out rows"


def _warn_wide(tuples: Graph, place: FloatArray) -> None:
    """Say so when neighbours are hardly nearer than any two rows, as in many columns."""
    n = tuples.n_rows
    if n < 100 or tuples.indices.size == 0:  # a handful of rows is far apart anyway
        return
    points = place / column_scales(place, "robust")
    edges = np.arange(0, tuples.indices.size, max(1, tuples.indices.size // 500))
    near = points[tuples.indices[edges]] - points[tuples.anchor_of_edges()[edges]]
    some = np.arange(0, n, max(1, n // 500))
    far = points[some] - points[(some + n // 2) % n]
    share = float(
        np.median(np.sum(near**2, axis=1)) / max(np.median(np.sum(far**2, axis=1)), 1e-300)
    )
    if np.sqrt(share) > TOO_WIDE:
        finding = (
            f"neighbours are {np.sqrt(share):.0%} as far apart as any two rows in "
            f"{place.shape[1]} columns: without structure no method can tell the spread at x from "
            "the movement of the mean (the paper's lower bound)"
        )
        use = (
            "use sampler='auto' with transport='auto', which learn which columns matter, or fewer "
            "columns"
        )
        warnings.warn(FarNeighbours(finding, use), stacklevel=4)


def weighted(weight: FloatArray | None, precision: FloatArray | None) -> FloatArray | None:
    """Weights of the rows times something else, either of which may be missing."""
    if weight is None or precision is None:
        return precision if weight is None else weight
    return weight * precision


def _crossed(groups: IntArray | None, folds: IntArray | None) -> IntArray | None:
    """Codes that change when either of two codes does."""
    if groups is None or folds is None:
        return folds if groups is None else groups
    return groups * (int(folds.max()) + 1) + folds
