"""Refitting with the narrowest tuples, for intervals where smoothing bias spoils coverage."""

from dataclasses import replace

import numpy as np

from multiobs.fit import LinearFit, Problem, fit_linear
from multiobs.samplers import narrowest
from multiobs.transport import Residuals, leverage_corrected
from multiobs.tuples import TupleSet


def undersmoothed(fit: LinearFit, rng: np.random.Generator) -> LinearFit:
    """Refit the same class, transport and penalty to the narrowest tuples.

    The bias of a metasample grows with the square of its width, so adjacent rows have next to
    none; the price is a larger variance, which the interval then shows.

    Parameters
    ----------
    fit : LinearFit
        What was fitted.
    rng : Generator
        Passed to the sampler.
    """
    problem = fit.problem
    m = problem.statistic.arity
    sampler = narrowest(problem.place.shape[1], m)
    tuples = sampler.build(problem.place, m, rng, problem.blocks)
    residuals = _corrected(problem, tuples, rng)
    narrow = replace(problem, tuples=tuples, residuals=residuals, reweighting=None)
    return fit_linear(narrow, fit.design, fit.alpha)


def _corrected(problem: Problem, tuples: TupleSet, rng: np.random.Generator) -> Residuals:
    """Stretch labels by what the pilot took of their spread in these tuples, not the old ones."""
    given = problem.residuals
    old, new = (
        leverage_corrected(given, problem.X, each, rng).labels for each in (problem.tuples, tuples)
    )
    size = float(np.linalg.norm(old))
    factor = float(np.linalg.norm(new)) / size if size > 0 else 1.0
    return replace(given, labels=given.labels * factor)
