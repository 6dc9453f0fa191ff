"""The risk of each range, and the sum of all."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

from multiobs._types import FloatArray
from multiobs.fit import LinearFit, MomentRisk, risk_of, total_weight
from multiobs.inference import leverage_sums
from multiobs.scale.ranges import Stretch
from multiobs.scale.recipe import Recipe, anchored
from multiobs.scale.scratch import Arrays


@final
@dataclass(frozen=True)
class RiskOfRange:
    """Sum the risk over the tuples that begin in a range.

    Attributes
    ----------
    fit : LinearFit or None
        The class, where sums for leverages are wanted, too.
    first_fit : ndarray (p,) or None
        Coefficients that improve the weights.
    weighed : bool
        Whether the summed weight of the tuples is wanted, for a penalty.
    """

    fit: LinearFit | None = None
    first_fit: FloatArray | None = None
    weighed: bool = False

    def __call__(self, recipe: Recipe, stretch: Stretch, number: int) -> dict[str, Any]:
        """Tensors of the risk, number and weight of the tuples."""
        problem = recipe.problem(stretch, self.first_fit)
        total: MomentRisk | None = None
        count, weight = 0, 0.0
        for sign, tuples in anchored(problem.tuples, stretch):
            size = tuples.count()
            count += int(sign) * size
            if size == 0:
                continue
            part = replace(problem, tuples=tuples)
            risk = risk_of(part, recipe.design, recipe.reference, recipe.pooled)
            assert isinstance(risk, MomentRisk)
            total = added(total, risk if sign > 0 else risk.scaled(sign))
            if self.weighed:
                weight += sign * total_weight(tuples, recipe.statistic.n_columns, problem.weight)
        found: dict[str, Any] = {"count": str(count), "weight": weight}  # a count of any size
        if self.fit is not None:
            here = replace(self.fit, problem=problem)
            sums = leverage_sums(here, stretch.own)
            found |= {f"leverage {name}": value for name, value in sums.items()}
        if total is None:
            return found
        tensors = enumerate(total.tensors)
        return {**found, **{f"power {k}": tensor for k, tensor in tensors if tensor is not None}}


def added(one: MomentRisk | None, other: MomentRisk) -> MomentRisk:
    """Sum of two risks, the first of which may be nothing yet."""
    if one is None:
        return other
    found = one + other
    assert isinstance(found, MomentRisk)
    return found


@final
@dataclass(frozen=True)
class SummedRanges:
    """What all ranges add up to.

    Attributes
    ----------
    risk : MomentRisk or None
        None where there are no tuples.
    counts : tuple of int
        Tuples that begin in each range.
    weight : float
        Summed weight of the tuples, where it was asked for.
    leverage : tuple of dict
        Sums of each range with rows that leverages need, where they were asked for.
    """

    risk: MomentRisk | None
    counts: tuple[int, ...]
    weight: float
    leverage: tuple[dict[str, Any], ...]

    @property
    def count(self) -> int:
        """How many tuples there are."""
        return sum(self.counts)


def summed(parts: Sequence[Arrays]) -> SummedRanges:
    """Add up the ranges in their order, whoever finished first."""
    total: MomentRisk | None = None
    counts, weight = [], 0.0
    for part in parts:
        counts.append(int(str(part["count"])) if "count" in part else 0)
        weight += float(part.get("weight", 0.0))
        tensors = {int(name): value for name, value in _named(part, "power ").items()}
        if tensors:
            powers = range(max(tensors) + 1)
            total = added(total, MomentRisk([tensors.get(k) for k in powers]))
    return SummedRanges(
        total, tuple(counts), weight, tuple(_named(part, "leverage ") for part in parts)
    )


def _named(part: Arrays, prefix: str) -> dict[str, Any]:
    """Arrays of a range whose names begin so."""
    return {name.removeprefix(prefix): part[name] for name in part if name.startswith(prefix)}
