"""Weights that make a loss of an upper confidence bound count every error alike."""

from dataclasses import replace

import numpy as np

from multiobs.fit import Problem, Reweighting
from multiobs.transport import fit_scale_pilot


def equal_curvature(problem: Problem, deviations: float) -> Problem:
    """Return the problem with weights by a first guess of the spread at each row.

    Parameters
    ----------
    problem : Problem
        With weights that balance the rows.
    deviations : float
        How many standard deviations the statistic lies above the mean.
    """
    residuals, weight = problem.residuals, problem.weight
    if weight is None or not residuals.located or residuals.scale is not None:
        return problem
    level = float(np.sqrt(np.mean(residuals.labels**2)))
    known = Reweighting(deviations, level, weight)
    spread = fit_scale_pilot(problem.X, residuals.labels, None).predict(problem.X)
    return replace(problem, weight=known.by_spread(spread), reweighting=known)
