"""From a problem to the exact minimiser over a linear class."""

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from multiobs._types import BoolArray, FloatArray
from multiobs.fit.anchor_risk import joined_risk, pooled_risk
from multiobs.fit.design import Design
from multiobs.fit.folded_risk import folded_risk, folds
from multiobs.fit.problem import Problem
from multiobs.fit.risk import (
    Risk,
    constant_direction,
    reference_level,
    ridge,
    risk_of_loss,
    some_rows,
    total_weight,
)
from multiobs.fit.roots import newton_root
from multiobs.fit.solvers import Quadratic, Solution, Status, choose_solver, solve
from multiobs.sums import Affine, Features, Lifted, Plan, few_pairs, plan, pool
from multiobs.tuples import Graph, Tuples, TupleSet, Windows

POOL_ABOVE = 2_000_000  # tuples with features that are not affine: pooled beyond this many
POOL_NEAR = 30_000  # or this many, where a row's partners are all near it
NEAR = 0.05  # of the rows


STEPS = 60  # of Newton where the risk itself leads to the wrong root
WHOLE = 8  # of these steps are whole ones
STILL = 1e-3  # a last step of this size, relative to the distance of the roots, is taken as the end


@final
@dataclass(frozen=True)
class LinearFit:
    """Coefficients of a linear class with all that inference needs to know about them.

    Attributes
    ----------
    problem : Problem
        What was fitted, with the weights of the last step.
    design : Design
        The class of functions.
    solution : Solution
        The coefficients of the design's columns, in working units, and how they were found.
    risk : Risk
        The risk that was minimised, penalty included.
    reference : ndarray (p,) or None
        Coefficients of the reference level of a root-type loss.
    branches : tuple of (int, Plan)
        How the sum for each power of r was formed.
    alpha : float
        Strength of the penalty, per unit of tuple weight.
    pooled : bool
        Whether each anchor's tuples were pooled.

    Examples
    --------
    >>> import numpy as np
    >>> from multiobs import MultiObservationRegressor
    >>> x = np.linspace(0, 1, 200)[:, None]
    >>> y = np.random.default_rng(0).normal(scale=1 + x[:, 0])
    >>> model = MultiObservationRegressor("variance").fit(x, y)
    >>> bool(np.allclose(model.result_.predict(x), model.predict(x)))
    True
    """

    problem: Problem
    design: Design
    solution: Solution
    risk: Risk
    reference: FloatArray | None
    branches: tuple[tuple[int, Plan], ...]
    alpha: float = 0.0
    pooled: bool = False

    @property
    def w(self) -> FloatArray:
        """Coefficients of the design's columns, (p,)."""
        return self.solution.w

    def predict(self, X: FloatArray) -> FloatArray:
        """The statistic (n,) at positions X (n, d), in the user's units."""
        Z = self.design.columns(X)
        found = self.problem.units.outward(Z @ self.w)
        one_sided = self.problem.statistic.loss.deviations is not None
        bad = self.solution.status is Status.LEFT_REGION
        if self.reference is None or not (one_sided and bad):
            return found
        # a value below the level is known to be wrong, and is not returned
        way_back = self.problem.residuals.map_at(X, self.problem.statistic.scale)
        return np.where(way_back.inward(Z @ self.w) < Z @ self.reference - 1e-9, np.nan, found)

    def limits(self) -> tuple[float, float]:
        """Values between which all predictions at the rows lie, found without a look at them."""
        low, high = self.problem.units.outward(np.array(self.design.bounds(self.w)))
        return float(low), float(high)

    def coefficients(self) -> tuple[FloatArray, float]:
        """Slopes (p,) and intercept, in the user's units."""
        slopes, intercept = self.design.coefficients(self.w)
        units = self.problem.units
        return slopes * units.factor, intercept * units.factor + units.offset


def fit_linear(problem: Problem, design: Design, alpha: float) -> LinearFit:
    """Minimise the empirical risk over functions linear in the design's columns.

    Where the problem says how a first fit improves its weights, there is a second one.

    Parameters
    ----------
    problem : Problem
        What is fitted.
    design : Design
        The class of functions.
    alpha : float
        Strength of the ridge penalty on the slopes, per unit of tuple weight.
    """
    first = _minimised(problem, design, alpha)
    if problem.reweighting is None or not first.solution.status.success:
        return first
    problem = problem.reweighted(design.columns(problem.X) @ first.w)
    del first  # its risk may be large
    return _minimised(problem, design, alpha)


def _minimised(problem: Problem, design: Design, alpha: float) -> LinearFit:
    statistic, tuples, residuals = problem.statistic, problem.tuples, problem.residuals
    Z = _columns(problem, design)
    reference = reference_level(statistic.loss, Z, residuals.labels)
    affine = not isinstance(Z, Lifted)
    p = design.n_columns
    branches = tuple((k, plan(tuples, kernel, k, affine, p)) for k, kernel in statistic.loss.sums)
    pooled = residuals.scale is not None or (not affine and _is_many(tuples))
    risk: Risk
    if pooled:
        risk = pooled_risk(problem, design, reference, tensors=False)
        branches = tuple((k, each.pooled()) for k, each in branches)
    else:
        risk = _risk(problem, design, Z, reference, tensors=False)
    if alpha > 0:
        total = total_weight(tuples, statistic.n_columns, problem.weight)
        risk = with_ridge(risk, design, alpha * total)
    solution = _solved(risk, problem, Z, reference)
    fit = LinearFit(problem, design, solution, risk, reference, branches, alpha, pooled)
    return fit if reference is None else above_level(fit, some_rows(Z))


def risk_of(
    problem: Problem,
    design: Design,
    reference: FloatArray | None,
    pooled: bool,
    *,
    tensors: bool = True,
) -> Risk:
    """Risk of a problem over a linear class; risks of parts of the tuples add.

    Parameters
    ----------
    problem : Problem
        What is fitted.
    design : Design
        The class of functions.
    reference : ndarray (p,) or None
        Coefficients of the reference level of a root-type loss.
    pooled : bool
        Whether each anchor's tuples are put at their mean representative.
    tensors : bool
        Whether the risk must be one of tensors, which add up over parts of the tuples.
    """
    if pooled:
        return pooled_risk(problem, design, reference, tensors=tensors)
    return _risk(problem, design, _columns(problem, design), reference, tensors=tensors)


def with_ridge(risk: Risk, design: Design, strength: float) -> Risk:
    """Add a ridge penalty on the slopes, of the strength of all tuples together."""
    if not strength > 0:
        return risk
    return risk + ridge(_strengths(design, risk.n_coefficients, strength))


def minimiser(
    risk: Risk, problem: Problem, design: Design, reference: FloatArray | None
) -> Solution:
    """Minimise a risk, and say so if the minimum lies below the reference level at some row.

    Parameters
    ----------
    risk : Risk
        Penalty included.
    problem : Problem
        Whose rows are looked at.
    design : Design
        The class of functions.
    reference : ndarray (p,) or None
        Coefficients of the reference level of a root-type loss.
    """
    return _solved(risk, problem, _columns(problem, design), reference)


def _solved(
    risk: Risk, problem: Problem, Z: Features | Affine, reference: FloatArray | None
) -> Solution:
    solver = choose_solver(risk)
    start = None
    if not isinstance(solver, Quadratic):
        start = risk.start(constant_direction(some_rows(Z)))
    solution = solve(risk, start, solver)
    if reference is not None and solution.status.success:
        rows = some_rows(Z)
        # a class fitted below its reference level may sit at the wrong root of the quadratic
        above = _above(problem, solution.w, rows, reference)
        if np.any(above < -1e-9):
            solution = replace(solution, status=Status.LEFT_REGION)
        if problem.statistic.loss.deviations is None:
            size = 1e-12 + 1e-9 * float(np.max(np.abs(rows @ reference), initial=0.0))
            if np.all(np.abs(above) <= size):
                unknown = np.full(solution.w.shape, np.nan)
                solution = replace(solution, w=unknown, status=Status.NO_ROOT)
    return solution


def above_level(fit: LinearFit, rows: FloatArray) -> LinearFit:
    """Return the fit, or one by another way if it is at the wrong root of the quadratic."""
    if fit.solution.status.success:  # then it lies above its level at all rows
        return fit
    if fit.problem.statistic.loss.deviations is None:  # either root may be the statistic
        return fit
    problem, design = fit.problem, fit.design
    pooled = pool(
        problem.tuples,
        [h for _, h in problem.statistic.loss.sums],
        problem.X,
        problem.residuals.labels,
        weight=problem.weight,
        limit=problem.limit,
    )
    Z = design.columns(pooled.x)
    found = [fit.w]

    def refit(target: FloatArray, weight: FloatArray) -> FloatArray:
        root = np.sqrt(weight)
        if fit.alpha > 0:
            penalty = np.sqrt(_strengths(design, Z.shape[1], fit.alpha * weight.sum()))
            left = np.vstack([Z * root[:, None], np.diag(penalty)])
            right = np.concatenate([target * root, np.zeros(Z.shape[1])])
        else:
            left, right = Z * root[:, None], target * root
        new = np.linalg.lstsq(left, right, rcond=None)[0]
        # whole steps first, then shorter ones, which end where whole ones would go to and fro
        found.append(new if len(found) <= WHOLE else (found[-1] + new) / 2)
        return np.asarray(Z @ found[-1])

    way_back = problem.residuals.map_at(pooled.x, problem.statistic.scale)
    _, _, moved = newton_root(pooled, way_back, refit, STEPS)
    solution = replace(
        fit.solution, w=found[-1], solver="Newton steps on the identification function"
    )
    wrong = int(np.count_nonzero(_below(fit, found[-1], rows)))
    if moved < STILL and wrong == 0:
        return replace(fit, solution=replace(solution, status=Status.OTHER_WAY))
    lost = not np.all(np.isfinite(fit.w)) or fit.solution.status is not Status.LEFT_REGION
    if lost or wrong < np.count_nonzero(_below(fit, fit.w, rows)):
        return replace(fit, solution=replace(solution, status=Status.LEFT_REGION))
    return replace(fit, solution=replace(fit.solution, status=Status.LEFT_REGION))


def _below(fit: LinearFit, w: FloatArray, rows: FloatArray) -> BoolArray:
    """Whether the fitted value at each row lies where no value of the statistic can lie."""
    assert fit.reference is not None
    return np.asarray(_above(fit.problem, w, rows, fit.reference) < -1e-9)


def _above(problem: Problem, w: FloatArray, rows: FloatArray, reference: FloatArray) -> FloatArray:
    """How far fitted values lie above the reference level, in the units of residuals."""
    residuals = problem.residuals
    if residuals.offset is None and residuals.scale is None:
        return np.asarray(rows @ (w - reference))
    found = rows @ w - (0.0 if residuals.offset is None else residuals.offset)
    if residuals.scale is not None:
        found = found / residuals.scale.predict(problem.X) ** (problem.statistic.scale or 0)
    return np.asarray(found - rows @ reference)


def _is_many(tuples: TupleSet) -> bool:
    """Whether the tuples of an anchor are pooled rather than listed one by one.

    Their representatives hardly differ where partners are near, and in a large number of tuples
    listing them costs more than that difference matters.
    """
    if isinstance(tuples, Tuples):
        return False
    assert isinstance(tuples, Windows | Graph)
    return many_tuples(tuples.count(), float(tuples.n_partners.mean()) / tuples.n_rows)


def many_tuples(count: float, share: float) -> bool:
    """Whether so many tuples are pooled, with partners of a row that are this share of all."""
    if count <= POOL_NEAR:
        return False
    return count > POOL_ABOVE or share < NEAR


def _columns(problem: Problem, design: Design) -> Features | Affine:
    """Columns of the class; none is made before it is known to be needed."""
    rooted = problem.statistic.loss.level(problem.residuals.labels) is not None
    if isinstance(problem.tuples, Windows) and design.transformer is None and not rooted:
        return design.lazy(problem.X)
    return design.features(problem.X)


def _risk(
    problem: Problem,
    design: Design,
    Z: Features | Affine,
    reference: FloatArray | None,
    *,
    tensors: bool = True,
) -> Risk:
    """Risk of every tuple; that of parts must be one of tensors, which add up."""
    located = problem.residuals.located
    level = None if reference is None else problem.held_reference(reference)
    columns = problem.features(design) if located else Z
    given = problem.statistic.loss, problem.tuples, columns, problem.residuals.labels
    if not tensors and level is not None and folds(problem.statistic.loss, columns, level):
        way, held = joined_risk if few_pairs(problem.tuples) else folded_risk, -1.0
        return way(*given, problem.weight, level, held=held if located else None)
    found = risk_of_loss(*given, weight=problem.weight, reference=level, limit=problem.limit)
    return found.fixed(-1.0) if located else found


def _strengths(design: Design, p: int, strength: float) -> FloatArray:
    slopes = strength / design.spread**2
    return slopes if slopes.size == p else np.concatenate([[0.0], slopes])
