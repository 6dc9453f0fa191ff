"""From prepared rows to a linear fit: evened out by a first one, slopes shrunk where left open."""

from dataclasses import replace

import numpy as np

from multiobs._types import FloatArray
from multiobs.auto.choice import MANY_COLUMNS
from multiobs.auto.preparation import Prepared, evened
from multiobs.fit.design import Design
from multiobs.fit.linear import LinearFit, fit_linear
from multiobs.fit.shrinkage import shrunk
from multiobs.fit.solvers import Solution
from multiobs.inference import Inference, Record, covariance
from multiobs.samplers import Leaves
from multiobs.sums.contraction import LIMIT

PROBE = 5_000  # rows that errors of slopes are measured on, where there are more than twice as many


def minimise(
    ready: Prepared, design: Design, strength: float, limit: int = LIMIT
) -> tuple[Prepared, LinearFit]:
    """Fit the linear class, and once more with even weights where the loss is uneven.

    Parameters
    ----------
    ready : Prepared
        What is fitted to.
    design : Design
        The linear class.
    strength : float
        Of the ridge penalty, per unit of tuple weight.
    limit : int
        The most tuples that are enumerated.

    Returns
    -------
    tuple of Prepared and LinearFit
        With the weights of the last fit, and that fit.
    """

    def once(given: Prepared) -> LinearFit:
        rows = given.statistic, given.tuples, design, given.X, given.carried, given.weight
        return fit_linear(*rows, strength, limit)

    fitted = once(ready)
    if ready.uneven is None or not fitted.solution.status.success:
        return ready, fitted
    ready = evened(ready, design.columns(ready.X) @ fitted.w)
    return ready, once(ready)


def shrink(ready: Prepared, design: Design, fitted: LinearFit, known: Inference) -> Solution:
    """Return the solution with the slopes of columns that show no effect shrunk.

    Parameters
    ----------
    ready : Prepared
        What was fitted to.
    design : Design
        The linear class.
    fitted : LinearFit
        Its minimiser.
    known : Inference
        Covariance of the coefficients, computed when asked for.

    Returns
    -------
    Solution
        That of ``fitted`` itself with few columns, or where no second derivative is known.
    """
    hessian = fitted.risk.hessian(fitted.w)
    few = design.transformer is not None or design.spread.size < MANY_COLUMNS
    if few or hessian is None or not fitted.solution.status.success:
        return fitted.solution
    many = ready.X.shape[0] > 2 * PROBE and isinstance(ready.sampler, Leaves)
    V = _errors_of_some(ready, design) if many else known.covariance.matrix
    w = shrunk(fitted.w, hessian, V, int(design.intercept))
    return replace(fitted.solution, w=w)


def _errors_of_some(ready: Prepared, design: Design) -> FloatArray:
    """Covariance of the coefficients from every k-th row: they are k times as uncertain."""
    n = ready.X.shape[0]
    rows = np.arange(0, n, n // PROBE)
    carried, weight, leaves = ready.carried, ready.weight, ready.sampler
    assert isinstance(leaves, Leaves)
    part = replace(
        carried,
        labels=carried.labels[rows],
        offset=None if carried.offset is None else carried.offset[rows],
    )
    weight = None if weight is None else weight[rows]
    codes = leaves.codes[rows]
    X, statistic = ready.X[rows], ready.statistic
    # any generator: leaves leave nothing to chance
    tuples = Leaves(codes).build(X, statistic.arity, np.random.default_rng(0), ready.apart_at(rows))
    found = fit_linear(statistic, tuples, design, X, part, weight, 0.0)
    record = Record(
        statistic, tuples, design, X, part, weight, found.w, found.risk, found.reference
    )
    return np.asarray(covariance(record).matrix * (rows.size / n))
