"""From tuples and labels to the exact minimiser over a linear class."""

from dataclasses import dataclass, replace
from typing import final

import numpy as np
from scipy import optimize

from multiobs._types import FloatArray
from multiobs.fit.design import Design
from multiobs.fit.regressor import loss_kernels, pooled_risk
from multiobs.fit.risk import (
    MomentRisk,
    Risk,
    TupleRisk,
    constant_direction,
    empirical_risk,
    reference_level,
    ridge,
    total_weight,
)
from multiobs.fit.solvers import (
    Quadratic,
    Solution,
    Status,
    choose_solver,
    highest_start,
    solve,
)
from multiobs.statistics import Statistic
from multiobs.statistics.losses import BregmanLoss, RootLoss
from multiobs.sums.contraction import LIMIT, Affine, Features, Lifted, Plan, plan
from multiobs.transport import Carried
from multiobs.tuples import Tuples, TupleSet, Windows

POOL_ABOVE = 2_000_000  # tuples with features that are not affine: pooled beyond this many


@final
@dataclass(frozen=True)
class LinearFit:
    """Coefficients of a linear class with all that inference needs to know about them.

    Attributes
    ----------
    w : ndarray (p,)
        Coefficients of the design's columns, in comfortable units.
    solution : Solution
        How they were found.
    risk : Risk
        The risk that was minimised, penalty included.
    reference : ndarray (p,) or None
        Coefficients of the reference level of a root-type loss.
    branches : tuple of (int, Plan)
        How the sum for each power of r was formed.
    """

    w: FloatArray
    solution: Solution
    risk: Risk
    reference: FloatArray | None
    branches: tuple[tuple[int, Plan], ...]


def fit_linear(
    statistic: Statistic,
    tuples: TupleSet,
    design: Design,
    X: FloatArray,
    carried: Carried,
    weight: FloatArray | None,
    alpha: float,
    limit: int = LIMIT,
) -> LinearFit:
    """Minimise the empirical risk over functions linear in the design's columns.

    Parameters
    ----------
    statistic : Statistic
        What is estimated.
    tuples : TupleSet
        Which rows go together.
    design : Design
        The class of functions.
    X : ndarray (n, d)
        Positions of the rows.
    carried : Carried
        Labels in comfortable units, carried by transport.
    weight : ndarray (n,) or None
        Weights of the rows.
    alpha : float
        Strength of the ridge penalty on the slopes, per unit of tuple weight.
    limit : int
        The most tuples that are enumerated.
    """
    rooted = isinstance(statistic.loss, RootLoss)
    if isinstance(tuples, Windows) and design.transformer is None and not rooted:
        Z: Features | Affine = design.lean(X)  # no column is made before it is known to be needed
    else:
        Z = design.features(X)
    rows = some_rows(Z)
    reference = None
    if isinstance(statistic.loss, RootLoss):
        reference = reference_level(statistic.loss, rows, carried.labels)
    affine = not isinstance(Z, Lifted)
    branches = tuple((k, plan(tuples, kernel, k, affine)) for k, kernel in loss_kernels(statistic))
    many = tuples.count() > POOL_ABOVE and not isinstance(tuples, Tuples)
    if carried.spread is not None or (many and not affine):
        found: Risk = pooled_risk(statistic, tuples, design, X, carried, weight, reference, limit)
        branches = tuple(
            (k, replace(each, branch="running sums", reason="each anchor's tuples are pooled"))
            for k, each in branches
        )
    else:
        found = _risk(statistic, tuples, Z, carried, weight, reference, limit)
    if alpha > 0:
        total = total_weight(tuples, statistic.n_columns, weight)
        found = found + ridge(_strengths(design, rows.shape[1], alpha * total))
    solver = choose_solver(found)
    start = None if isinstance(solver, Quadratic) else _start(found, constant_direction(rows))
    solution = solve(found, start, solver)
    if reference is not None and solution.status.success:
        above = rows @ solution.w - (carried.offset if carried.offset is not None else 0.0)
        if carried.spread is not None:
            above = above / carried.spread.predict(X) ** (statistic.scale or 0)
        if np.any(above < rows @ reference - 1e-9):
            solution = replace(solution, status=Status.LEFT_REGION)
    return LinearFit(solution.w, solution, found, reference, branches)


def some_rows(Z: Features | Affine) -> FloatArray:
    """Columns of the rows, or of some thousand of them where they are not made yet."""
    if isinstance(Z, Lifted):
        return Z.function(Z.X)
    return Z.columns(max(1, Z.X.shape[0] // 1000)) if isinstance(Z, Affine) else Z


def _risk(
    statistic: Statistic,
    tuples: TupleSet,
    Z: Features | Affine,
    carried: Carried,
    weight: FloatArray | None,
    reference: FloatArray | None,
    limit: int,
) -> MomentRisk | TupleRisk:
    y = carried.labels
    if carried.offset is None or carried.pilot is None:
        return empirical_risk(
            statistic, tuples, Z, y, weight=weight, reference=reference, limit=limit
        )
    # r = r' + a(x~) with r' the statistic of the residuals: the pilot becomes one more feature
    # whose coefficient is held at minus one.
    if reference is not None:
        reference = np.append(reference, 0.0)
    extended: Features
    if isinstance(Z, Lifted):
        pilot, function = carried.pilot, Z.function
        extended = Lifted(Z.X, lambda x: np.column_stack([function(x), pilot.predict(x)]))
    else:
        columns = Z.columns() if isinstance(Z, Affine) else Z
        extended = np.column_stack([columns, carried.offset])
    whole = empirical_risk(
        statistic, tuples, extended, y, weight=weight, reference=reference, limit=limit
    )
    return whole.fixed(-1.0)


def _strengths(design: Design, p: int, strength: float) -> FloatArray:
    slopes = strength / design.spread**2
    return slopes if slopes.size == p else np.concatenate([[0.0], slopes])


def _start(risk: Risk, one: FloatArray | None) -> FloatArray:
    parts = [risk] if isinstance(risk, TupleRisk) else getattr(risk, "parts", [])
    tuple_risk = next((each for each in parts if isinstance(each, TupleRisk)), None)
    if tuple_risk is None or one is None:
        return highest_start(risk, one)
    if isinstance(tuple_risk.loss, BregmanLoss):
        return one * float(np.mean(tuple_risk.loss.psi(tuple_risk.Y)))
    unit = one
    best = optimize.minimize_scalar(lambda s: tuple_risk.value(unit * s))
    return one * float(best.x)
