"""From validated rows to everything a fit needs: units, carried labels, tuples, weights."""

import warnings
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.auto import validation
from multiobs.auto.choice import Choice, choose
from multiobs.auto.forest import honest_leaves
from multiobs.auto.weights import balanced, even_curvature
from multiobs.estimator.rows import ValidRows
from multiobs.fit.units import LabelUnits, label_units
from multiobs.samplers import Leaves, Sampler
from multiobs.samplers.geometry import column_scales
from multiobs.statistics import Statistic
from multiobs.statistics.losses import RootLoss
from multiobs.sums.contraction import Plan
from multiobs.transport import Carried, Transport, carry, fit_spread, restored
from multiobs.tuples import Graph, TupleSet

TOO_WIDE = 0.7  # distance of neighbours relative to that of any two rows


@final
@dataclass(frozen=True)
class FitPlan:
    """What a fit did and why; ``print`` it."""

    reasons: tuple[str, ...]
    branches: tuple[tuple[int, Plan], ...]
    solver: str

    def __str__(self) -> str:
        sums = [f"sum for r^{k}: {each}" for k, each in self.branches]
        return "\n".join([*self.reasons, *sums, f"solver: {self.solver}"])


@final
@dataclass(frozen=True)
class Uneven:
    """What is needed to even out the curvature of an upper confidence bound's loss.

    Attributes
    ----------
    lam : float
        The multiple of the standard deviation.
    level : float
        Standard deviation of all carried labels.
    weight : ndarray (n,)
        Weights of the rows before.
    """

    lam: float
    level: float
    weight: FloatArray


@final
@dataclass(frozen=True)
class Prepared:
    """What a fit works on; inference reads it again.

    Attributes
    ----------
    statistic : Statistic
        What is estimated.
    X : ndarray (n, d)
        Positions of the rows that are present.
    carried : Carried
        Labels in comfortable units, carried by transport.
    tuples : TupleSet
        Which rows go together.
    weight : ndarray (n,) or None
        Weights of the rows, balance included.
    units : LabelUnits
        The way back to the user's units.
    sampler : Sampler
        What built the tuples.
    count : int
        How many tuples there are.
    reasons : tuple of str
        Sentences for ``plan_``.
    uneven : Uneven or None
        How to even out the loss by a first fit, where that helps.
    apart : ndarray of int (n,) or None
        Codes that a tuple never crosses.
    """

    statistic: Statistic
    X: FloatArray
    carried: Carried
    tuples: TupleSet
    weight: FloatArray | None
    units: LabelUnits
    sampler: Sampler
    count: int
    reasons: tuple[str, ...]
    uneven: Uneven | None = None
    apart: IntArray | None = None

    def apart_at(self, rows: IntArray) -> IntArray | None:
        """Codes of some rows that a tuple never crosses."""
        return None if self.apart is None else self.apart[rows]


def prepare(
    statistic: Statistic,
    sampler: str | Sampler,
    transport: Transport,
    rows: ValidRows,
    rng: np.random.Generator,
    may_shift: bool,
    max_tuples: int | None,
) -> Prepared:
    """Choose what was left open, carry the labels, build the tuples, balance the rows.

    Parameters
    ----------
    statistic : Statistic
        What is estimated.
    sampler, transport : see MultiObservationRegressor
        May be "auto".
    rows : ValidRows
        Positions, labels, weights and codes.
    rng : Generator
        For samplers that draw.
    may_shift : bool
        Whether the class of functions contains the constants.
    max_tuples : int or None
        Size of a random subset of the tuples.
    """
    X, y, weight, groups = rows.X, rows.y, rows.weight, rows.groups
    choice = choose(statistic, sampler, transport, rows.place)
    units = label_units(statistic, y, may_shift, weight)
    labels = units.inward(y)
    carried = carry(choice.transport, statistic, X, labels, weight)
    reasons = list(choice.reasons)
    if carried.pilot is not None:
        reasons.append(f"pilot: {carried.pilot.name}")
    apart = _crossed(groups, carried.folds)
    built = _settled(choice, statistic, rows, labels, carried, weight, apart, rng, reasons)
    tuples = built.build(rows.place, statistic.arity, rng, apart)
    count = tuples.count()
    if count == 0:
        raise ValueError(
            f"{built!r} must find at least one tuple of {statistic.arity} rows, got none among "
            f"{X.shape[0]} rows: widen its neighbourhood, or use another sampler"
        )
    if isinstance(tuples, Graph) and carried.pilot is None:
        _warn_wide(tuples, rows.place)
    if max_tuples is not None and max_tuples < count:
        tuples = tuples.sample(max_tuples, rng)
        reasons.append(f"tuples: a random {max_tuples} of {count:.4g}")
    carried = restored(carried, X, tuples, rng)
    uneven = None
    if choice.balanced and statistic.arity > 1:
        weight = balanced(tuples, weight)
        lam = statistic.parameters.get("lam")
        follows = isinstance(statistic.loss, RootLoss) and statistic.loss.follows_mean
        located = carried.pilot is not None and carried.spread is None
        if follows and lam is not None and located:
            uneven = Uneven(float(lam), float(np.sqrt(np.mean(carried.labels**2))), weight)
            spread = fit_spread(X, carried.labels, None).predict(X)
            weight = weight * even_curvature(spread, uneven.level)
            reasons.append("weights: the curvature of the loss is evened out")
    because = tuple(reasons)
    return Prepared(
        statistic, X, carried, tuples, weight, units, built, count, because, uneven, apart
    )


def evened(prepared: Prepared, bound: FloatArray) -> Prepared:
    """Even out the curvature of the loss by a fitted bound: less noisy than a smoothed spread.

    Parameters
    ----------
    prepared : Prepared
        With ``uneven``.
    bound : ndarray (n,)
        A first fit of the upper confidence bound at the rows, in comfortable units.
    """
    uneven, offset = prepared.uneven, prepared.carried.offset
    assert uneven is not None
    assert offset is not None
    spread = (bound - offset) / uneven.lam
    return replace(prepared, weight=uneven.weight * even_curvature(spread, uneven.level))


def _settled(
    choice: Choice,
    statistic: Statistic,
    rows: ValidRows,
    labels: FloatArray,
    carried: Carried,
    weight: FloatArray | None,
    groups: IntArray | None,
    rng: np.random.Generator,
    reasons: list[str],
) -> Sampler:
    """Return a sampler with nothing left to choose."""
    chosen = choice.sampler
    if isinstance(chosen, str):
        return Leaves(honest_leaves(rows.X, labels, statistic.arity, rng))
    if not chosen.is_open() or statistic.arity == 1:
        return chosen
    found = validation.by_validation(
        chosen, statistic, rows.X, rows.place, labels, carried, weight, groups
    )
    reasons.append(f"sampler: {found!r}, by validation on adjacent held-out rows")
    return found


def _warn_wide(tuples: Graph, place: FloatArray) -> None:
    """Say so when neighbours are hardly nearer than any two rows, as in many columns."""
    n = tuples.n_rows
    points = place / column_scales(place, "robust")
    edges = np.arange(0, tuples.indices.size, max(1, tuples.indices.size // 500))
    near = points[tuples.indices[edges]] - points[tuples.anchor_of_edges()[edges]]
    some = np.arange(0, n, max(1, n // 500))
    far = points[some] - points[(some + n // 2) % n]
    share = float(
        np.median(np.sum(near**2, axis=1)) / max(np.median(np.sum(far**2, axis=1)), 1e-300)
    )
    if n >= 100 and np.sqrt(share) > TOO_WIDE:  # a handful of rows is far apart anyway
        warnings.warn(
            f"neighbours are {np.sqrt(share):.0%} as far apart as any two rows in "
            f"{place.shape[1]} columns: without structure no method can tell the spread at x from "
            "the movement of the mean (the paper's lower bound); use sampler='auto' with "
            "transport='auto', which learn which columns matter, or fewer columns",
            UserWarning,
            stacklevel=4,
        )


def _crossed(groups: IntArray | None, folds: IntArray | None) -> IntArray | None:
    """Codes that change when either of two codes does."""
    if groups is None or folds is None:
        return folds if groups is None else groups
    return groups * (int(folds.max()) + 1) + folds
