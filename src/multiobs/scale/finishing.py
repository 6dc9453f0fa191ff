"""From the minimum of the summed risk to an ordinary fitted regressor."""

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from multiobs.estimator import FitPlan, Fitted, MultiObservationRegressor, warn_of
from multiobs.fit import LinearFit, Problem
from multiobs.inference import Covariance
from multiobs.samplers import Sampler
from multiobs.scale.recipe import Encoding, Recipe
from multiobs.sums import Plan, plan


@final
@dataclass(frozen=True)
class Found:
    """What a fit by parts found out.

    Attributes
    ----------
    result : LinearFit
        The minimiser, with the problem of the sample.
    sampler : Sampler
        What built the tuples.
    count : int
        How many there were.
    reasons : tuple of str
        Sentences for ``plan_``.
    rows : int
        How many there are.
    encoding : Encoding or None
        Of matched categories.
    covariance : Covariance or None
        Of the coefficients, where it was asked for.
    """

    result: LinearFit
    sampler: Sampler
    count: int
    reasons: tuple[str, ...]
    rows: int
    encoding: Encoding | None = None
    covariance: Covariance | None = None


def branches_of(problem: Problem, recipe: Recipe, count: int) -> tuple[tuple[int, Plan], ...]:
    """How the sums were formed, with the number of tuples of all rows."""
    affine = recipe.design.transformer is None
    found = []
    for k, kernel in problem.statistic.loss.sums:
        each = plan(problem.tuples, kernel, k, affine)
        each = each.pooled() if recipe.pooled else each
        found.append((k, replace(each, tuples=count)))
    return tuple(found)


def finished(
    template: MultiObservationRegressor, found: Found, columns: tuple[str, ...]
) -> MultiObservationRegressor:
    """Make the template a fitted regressor of these columns."""
    result = found.result
    categories = None if found.encoding is None else found.encoding.categories
    names = list(columns)
    if categories is not None:
        names = categories.names(names)
    if result.design.transformer is not None:
        given = result.design.transformer.get_feature_names_out(names)
        names = [str(each) for each in given]
    fitted = Fitted(
        result,
        result.problem.statistic,
        found.sampler,
        found.count,
        FitPlan(found.reasons, result.branches, result.solution.solver),
        categories,
        names=tuple(names),
        known=found.covariance,
        rows=found.rows,
    )
    warn_of(fitted, result.problem.X, richer=result.design.transformer is None)
    template.become(fitted, np.array(columns, dtype=object))
    return template
