"""Standard errors by a second pass over the ranges; the sums are those of inference."""

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.fit import LinearFit
from multiobs.inference import (
    Covariance,
    Leverages,
    covariance_by_parts,
    drawn_blocks,
    leverages,
    overlap_sums,
    score_sums,
)
from multiobs.scale.executors import Executor
from multiobs.scale.ranges import Stretch
from multiobs.scale.recipe import Recipe
from multiobs.scale.risks import SummedRanges
from multiobs.scale.scratch import digest
from multiobs.scale.work import Pass, Work
from multiobs.tuples import Tuples


@final
@dataclass(frozen=True)
class ScoresOfRange:
    """Sum the scores of a range.

    Attributes
    ----------
    fit : LinearFit
        Coefficients and class; its problem is replaced by that of the range.
    first_fit : ndarray (p,) or None
        Coefficients that the weights were improved by.
    known : Leverages
        Of all rows.
    numbers : tuple of ndarray of int
        Tuples of each range that stand for all of them.
    """

    fit: LinearFit
    first_fit: FloatArray | None
    known: Leverages
    numbers: tuple[IntArray, ...]

    def __call__(self, recipe: Recipe, stretch: Stretch, number: int) -> dict[str, Any]:
        """Sums of :func:`multiobs.inference.score_sums`."""
        here = replace(self.fit, problem=recipe.problem(stretch, self.first_fit))
        return score_sums(here, stretch.own, self.known, self.numbers[number])


@final
@dataclass(frozen=True)
class BlocksOfRange:
    """Gather the rows around the drawn tuples of a range; attributes as above."""

    fit: LinearFit
    first_fit: FloatArray | None
    numbers: tuple[IntArray, ...]

    def __call__(self, recipe: Recipe, stretch: Stretch, number: int) -> dict[str, Any]:
        """Arrays of :func:`multiobs.inference.drawn_blocks`."""
        here = replace(self.fit, problem=recipe.problem(stretch, self.first_fit))
        return drawn_blocks(here, stretch.own, self.numbers[number])


def covariance(
    fit: LinearFit, first_fit: FloatArray | None, recipe: Recipe, total: SummedRanges,
    work: Work, executor: Executor,
) -> Covariance:  # fmt: skip
    """Covariance of the coefficients under shared labels.

    Parameters
    ----------
    fit : LinearFit
        The minimiser of the summed risk.
    first_fit : ndarray (p,) or None
        Coefficients that the weights were improved by.
    recipe : Recipe
        What makes a problem of the rows.
    total : Summed
        What the first pass found.
    work, executor
        The ranges, and who works.
    """
    known = leverages(total.leverage, total.counts, recipe.statistic.arity)
    bare, numbers, more = without_rows(fit), tuple(known.drawn()), None
    # tuples that overlap those of a row of the range, with the weights of all their rows
    around = surroundings(recipe, 3)
    if known.kind == "rows" and known.arity > 2:
        blocks = BlocksOfRange(bare, first_fit, numbers)
        name = digest("blocks", fit.w.tolist())
        found = work.over(Pass(name, recipe, *around, blocks), executor)
        known, more = overlap_sums(fit, found, known)
    task = ScoresOfRange(bare, first_fit, known, numbers)
    name = digest("scores", fit.w.tolist())
    sums = work.over(Pass(name, recipe, *around, task), executor)
    return covariance_by_parts(fit, sums, known, more)


def surroundings(recipe: Recipe, times: int) -> tuple[int, int]:
    """How many reaches before and after a range a pass needs."""
    more = 2 if recipe.reach.both else 0
    return times + more, times + 1 + more


def without_rows(fit: LinearFit) -> LinearFit:
    """Return the fit with a problem of none of its rows, to be sent to every worker."""
    problem = fit.problem
    none = Tuples(np.empty((0, problem.statistic.arity), dtype=np.int64), 0)
    empty = replace(problem.at(np.empty(0, dtype=np.int64), none))
    return replace(fit, problem=replace(empty, residuals=replace(empty.residuals, pilot=None)))
