"""Rows that arrive in increasing x: risks of parts add, and only the last window is kept.

A new batch adds the tuples that contain a new row: those of (tail + batch) less those of the tail.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from multiobs import samplers
from multiobs._types import FloatArray
from multiobs.fit.design import Design, make_design
from multiobs.fit.risk import MomentRisk, risk_of_loss
from multiobs.fit.solvers import Solution, solve
from multiobs.fit.units import LabelUnits, label_units
from multiobs.samplers import Sampler
from multiobs.statistics import Statistic


@final
@dataclass(frozen=True)
class Stream:
    """State between two batches: the summed risk, and the rows that may still find partners.

    Attributes
    ----------
    statistic, sampler, design, units
        What is estimated, how, and in which units; fixed by the first batch.
    risk : MomentRisk or None
        Summed over all tuples so far; None before there are any.
    count : int
        How many tuples there were.
    x, y : ndarray (k,)
        The tail: rows within one window of the last, in working units.
    weight : ndarray (k,)
        Weights of the tail.
    largest : float or None
        What weights are divided by: the largest of the first batch.
    """

    statistic: Statistic
    sampler: Sampler
    design: Design
    units: LabelUnits
    risk: MomentRisk | None
    count: int
    x: FloatArray
    y: FloatArray
    weight: FloatArray
    largest: float | None = None

    def fitted(self) -> "StreamFit":
        """Minimiser of the risk so far."""
        if self.risk is None:
            raise ValueError(
                f"{self.statistic.name} needs a tuple of {self.statistic.arity} rows before it "
                "can be fitted, got none yet"
            )
        return StreamFit(self, solve(self.risk))


@final
@dataclass(frozen=True)
class StreamFit:
    """Coefficients of a linear class after some batches; the rows themselves are gone.

    Attributes
    ----------
    stream : Stream
        Where the next batch goes on.
    solution : Solution
        The coefficients, in working units, and how they were found.
    """

    stream: Stream
    solution: Solution

    def predict(self, X: FloatArray) -> FloatArray:
        """The statistic (n,) at positions X (n, 1), in the user's units."""
        return self.stream.units.outward(self.stream.design.columns(X) @ self.solution.w)

    def coefficients(self) -> tuple[FloatArray, float]:
        """Slopes (p,) and intercept, in the user's units."""
        slopes, intercept = self.stream.design.coefficients(self.solution.w)
        units = self.stream.units
        return slopes * units.factor, intercept * units.factor + units.offset


def possible(sampler: str | Sampler) -> bool:
    """Whether rows can be taken as they come: only windows whose width is settled allow it."""
    found = samplers.resolve(sampler) if sampler != "auto" else None
    if found is not None and found.can_stream():
        return True
    raise AttributeError(
        "partial_fit needs sampler=SlidingWindow() or Nearby with a number for epsilon, "
        f"got {sampler!r}"
    )


def begin(
    statistic: Statistic, sampler: Sampler, x: FloatArray, y: FloatArray, intercept: bool
) -> Stream:
    """Fix units by the first batch and start with nothing."""
    if not statistic.loss.sums or statistic.loss.level(y) is not None:
        raise ValueError(
            f"partial_fit needs a loss that is fixed in advance, got {statistic!r}, "
            "whose reference level depends on all rows"
        )
    if not sampler.can_stream():
        raise ValueError(
            "partial_fit needs SlidingWindow() or Nearby with a number for epsilon, "
            f"got {sampler!r}"
        )
    units = label_units(statistic, y, may_shift=intercept)
    design = make_design(None, x[:, None], intercept)
    empty = np.empty(0)
    return Stream(statistic, sampler, design, units, None, 0, empty, empty, empty)


def extend(stream: Stream, x: FloatArray, y: FloatArray, weight: FloatArray | None) -> Stream:
    """Return the stream with another batch of rows, in increasing x and after all rows so far."""
    if x.size == 0:
        return stream
    if np.any(np.diff(x) < 0) or (stream.x.size and x[0] < stream.x[-1]):
        at = int(np.flatnonzero(np.diff(x) < 0)[0]) + 1 if np.any(np.diff(x) < 0) else 0
        before = x[at - 1] if at else stream.x[-1]
        raise ValueError(f"partial_fit needs rows in increasing x, got {x[at]:g} after {before:g}")
    largest = stream.largest
    if largest is None:
        largest = 1.0 if weight is None or not np.any(weight) else float(weight.max())
    new_weight = (np.ones(x.size) if weight is None else weight) / largest
    whole = (
        np.concatenate([stream.x, x]),
        np.concatenate([stream.y, stream.units.inward(y)]),
        np.concatenate([stream.weight, new_weight]),
    )
    added, count = _risk(stream, *whole)
    again, counted = _risk(stream, stream.x, stream.y, stream.weight)
    if added is not None and again is not None:
        total = added + again.scaled(-1.0)
        assert isinstance(total, MomentRisk)
        added = total
    risk = stream.risk
    if added is not None:
        both = added if risk is None else risk + added
        assert isinstance(both, MomentRisk)
        risk = both
    keep = stream.sampler.stream_tail(whole[0], stream.statistic.arity)
    return Stream(
        stream.statistic,
        stream.sampler,
        stream.design,
        stream.units,
        risk,
        stream.count + count - counted,
        whole[0][keep:],
        whole[1][keep:],
        whole[2][keep:],
        largest,
    )


def _risk(
    stream: Stream, x: FloatArray, y: FloatArray, weight: FloatArray
) -> tuple[MomentRisk | None, int]:
    if x.size < stream.statistic.arity:
        return None, 0
    X = x[:, None]
    tuples = stream.sampler.build(X, stream.statistic.arity, np.random.default_rng(0))
    count = tuples.count()
    if count == 0:
        return None, 0
    even = None if np.all(weight == 1.0) else weight
    Z = stream.design.columns(X)
    found = risk_of_loss(stream.statistic.loss, tuples, Z, y, weight=even)
    assert isinstance(found, MomentRisk)
    return found, count
