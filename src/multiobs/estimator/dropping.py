"""A fit without its training rows: what prediction and intervals need, and a few rows."""

from dataclasses import replace

import numpy as np

from multiobs.estimator.fitted import Fitted
from multiobs.fit import LinearFit, MomentRisk, Problem, RegressorFit
from multiobs.inference import hessian_of
from multiobs.sums import Pooled
from multiobs.tuples import Tuples, effective_count

KEPT = 1_000  # rows that stay, to say where x varies


def without_rows(fitted: Fitted) -> Fitted:
    """Return the record with what prediction and intervals need, and at most 1000 of the rows.

    Parameters
    ----------
    fitted : Fitted
        What a fit found out; its covariance is computed now if nobody asked before.

    Raises
    ------
    ValueError
        For smooth classes and streams, whose rows are part of their inference or gone already.
    """
    result = fitted.result
    if isinstance(result, RegressorFit):
        few = _few(result.problem)
        found = result.pooled
        pooled = Pooled(found.x[:0], found.weight[:0], found.values[:0], found.anchors[:0])
        bare: LinearFit | RegressorFit = replace(result, problem=few, pooled=pooled)
    elif isinstance(result, LinearFit):
        bare = _bare(result)
    else:
        raise ValueError(
            "drop_rows needs a linear class or estimator=, got another class: models.save writes "
            "any model without its rows"
        )
    known = fitted.inference
    return replace(
        fitted,
        result=bare,
        unshrunken=None if fitted.unshrunken is None else _bare(fitted.unshrunken),
        known=None if known is None else known.covariance.compact(),
        rows=fitted.rows or result.problem.n_rows,
        effective=effective_count(result.problem.tuples),
    )


def _bare(fit: LinearFit) -> LinearFit:
    """Return a fit of the same coefficients, with the curvature of its risk and few rows."""
    hessian = hessian_of(fit.risk, fit.w)
    risk = MomentRisk([None, -hessian @ fit.w, hessian / 2])
    return replace(fit, problem=_few(fit.problem), risk=risk)


def _few(problem: Problem) -> Problem:
    rows = np.arange(0, problem.n_rows, -(-problem.n_rows // KEPT))
    none = Tuples(np.empty((0, problem.statistic.arity), dtype=np.int64), rows.size)
    few = problem.at(rows, none)
    residuals, pilot = few.residuals, few.residuals.pilot
    if pilot is not None:
        pilot = replace(pilot, at_rows=pilot.at_rows[rows], folds=None)
    copied = replace(residuals, labels=residuals.labels.copy(), pilot=pilot)
    return replace(few, X=few.X.copy(), place=few.place.copy(), residuals=copied)
