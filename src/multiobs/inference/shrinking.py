"""Slopes of columns that show no effect, shrunk by how little their t-values say for them."""

from contextlib import nullcontext
from dataclasses import replace

import numpy as np

from multiobs._types import FloatArray
from multiobs.fit import LinearFit, fit_linear, shrunk
from multiobs.inference.fitted import Inference
from multiobs.inference.sandwich import covariance
from multiobs.samplers import Sampler
from multiobs.transport import one_thread

PROBE = 5_000  # rows that errors of slopes are measured on, where there are more than twice as many
SMALL = 32  # columns of matrices so small that several threads would only wait for each other


def shrink(known: Inference, sampler: Sampler) -> LinearFit:
    """Return the fit with the slopes of columns that show no effect shrunk.

    Parameters
    ----------
    known : Inference
        The unshrunken fit, and its covariance when asked for.
    sampler : Sampler
        What built its tuples.

    Returns
    -------
    LinearFit
        The fit itself where it failed or no second derivative is known.
    """
    fit = known.fit
    hessian = fit.risk.hessian(fit.w)
    if hessian is None or not fit.solution.status.success:
        return fit
    many = fit.problem.n_rows > 2 * PROBE
    with one_thread() if fit.w.size <= SMALL else nullcontext():
        V = _errors_of_some(fit, sampler) if many else known.covariance.matrix
    if not np.all(np.isfinite(V)):  # too few rows to say what shows an effect
        return fit
    w = shrunk(fit.w, hessian, V, int(fit.design.intercept), fit.problem.indicators)
    return replace(fit, solution=replace(fit.solution, w=w))


def _errors_of_some(fit: LinearFit, sampler: Sampler) -> FloatArray:
    """Covariance of the coefficients from every k-th row: they are k times as uncertain."""
    problem = fit.problem
    rows = np.arange(0, problem.n_rows, problem.n_rows // PROBE)
    blocks = None if problem.blocks is None else problem.blocks[rows]
    # any generator: leaves leave nothing to chance
    rng = np.random.default_rng(0)
    tuples = sampler.at(rows).build(problem.place[rows], problem.statistic.arity, rng, blocks)
    found = fit_linear(problem.at(rows, tuples), fit.design, 0.0)
    return np.asarray(covariance(found).matrix * (rows.size / problem.n_rows))
