"""From tuples and labels to fitted functions: the linear class, and any regressor."""

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from scipy import optimize
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from multiobs import pooling
from multiobs._types import FloatArray, IntArray
from multiobs.contract import LIMIT, Features, Lifted, Plan, plan
from multiobs.designs import Design
from multiobs.kernels import Kernel
from multiobs.losses import BregmanLoss, PolynomialLoss, RootLoss
from multiobs.risk import (
    MomentRisk,
    Risk,
    TupleRisk,
    constant_direction,
    empirical_risk,
    reference_level,
    ridge,
    root_tensors,
    total_weight,
)
from multiobs.solve import Solution, Status, highest_start, solve
from multiobs.statistics import Statistic
from multiobs.transport import Carried
from multiobs.tuples import Tuples, TupleSet

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
    Z = design.features(X)
    rows = Z.function(Z.X) if isinstance(Z, Lifted) else Z
    reference = None
    if isinstance(statistic.loss, RootLoss):
        reference = reference_level(statistic.loss, rows, carried.labels)
    affine = not isinstance(Z, Lifted)
    branches = tuple(
        (k, plan(tuples, kernel, k, affine)) for k, kernel in loss_kernels(statistic)
    )
    pooled = not affine and tuples.count() > POOL_ABOVE and not isinstance(tuples, Tuples)
    if pooled:
        if carried.offset is not None:
            raise ValueError(
                "features that are not affine in x, a transport that moves the statistic and "
                f"more than {POOL_ABOVE:.0g} tuples do not go together, got "
                f"{tuples.count():.4g} tuples: use SlidingWindow, or transport=None"
            )
        found: Risk = _pooled_risk(statistic, tuples, design, X, carried, weight, reference, limit)
        branches = tuple(
            (k, replace(each, branch="running sums", reason="each anchor's tuples are pooled"))
            for k, each in branches
        )
    else:
        found = _risk(statistic, tuples, Z, carried, weight, reference, limit)
    if alpha > 0:
        total = total_weight(tuples, statistic.n_columns, weight)
        found = found + ridge(_strengths(design, rows.shape[1], alpha * total))
    one = constant_direction(rows)
    solution = solve(found, _start(found, one))
    if reference is not None and solution.status.success:
        below = rows @ solution.w - (carried.offset if carried.offset is not None else 0.0)
        if np.any(below < rows @ reference - 1e-9):
            solution = replace(solution, status=Status.LEFT_REGION)
    return LinearFit(solution.w, solution, found, reference, branches)


def loss_kernels(statistic: Statistic) -> list[tuple[int, Kernel]]:
    """Kernels of the powers of r whose sums a fit needs."""
    loss = statistic.loss
    if isinstance(loss, RootLoss):
        m = loss.arity
        parts = (loss.constant, loss.linear, loss.quadratic)
        return [(k + 2, kernel.with_arity(m)) for k, kernel in enumerate(parts)]
    if isinstance(loss, PolynomialLoss):
        return [(k, h) for k, h in enumerate(loss.kernels) if h is not None and k > 0]
    return []


def _risk(
    statistic: Statistic,
    tuples: TupleSet,
    Z: Features,
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
        extended = np.column_stack([Z, carried.offset])
    whole = empirical_risk(
        statistic, tuples, extended, y, weight=weight, reference=reference, limit=limit
    )
    return whole.fixed(-1.0)


def _pooled_risk(
    statistic: Statistic,
    tuples: TupleSet,
    design: Design,
    X: FloatArray,
    carried: Carried,
    weight: FloatArray | None,
    reference: FloatArray | None,
    limit: int,
) -> MomentRisk:
    kernels = loss_kernels(statistic)
    if not kernels:
        raise ValueError(
            f"a loss that is not a polynomial needs every tuple, got {tuples.count():.4g} of them "
            "with features that are not affine in x: use SlidingWindow or a smaller epsilon"
        )
    pool = pooling.pool(
        tuples, [h for _, h in kernels], X, carried.labels, weight=weight, limit=limit
    )
    z = design.columns(pool.x)
    tensors: dict[int, FloatArray] = {}
    for (k, _), mean in zip(kernels, pool.values.T, strict=True):
        values = mean * pool.weight
        letters = "abcdef"[:k]
        spec = "t," + ",".join(f"t{c}" for c in letters) + "->" + letters
        tensors[k] = np.einsum(spec, values, *[z] * k, optimize=True)
    if isinstance(statistic.loss, RootLoss) and reference is not None:
        return root_tensors(tensors[2], tensors[3], tensors[4], reference)
    top = max(tensors)
    return MomentRisk([None, *(tensors.get(k) for k in range(1, top + 1))])


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


@final
@dataclass(frozen=True)
class PooledFit:
    """A regressor fitted to pooled pseudo-observations."""

    estimator: Any
    pooled: pooling.Pooled


def fit_estimator(
    estimator: Any,
    statistic: Statistic,
    tuples: TupleSet,
    X: FloatArray,
    carried: Carried,
    weight: FloatArray | None,
    rng: np.random.Generator,
    limit: int = LIMIT,
) -> PooledFit:
    """Fit any regressor to the pooled pseudo-observations of a mean- or ratio-type statistic.

    A regressor whose ``fit`` takes no ``sample_weight`` gets a weighted resample of the
    pseudo-observations of the same size.
    """
    if statistic.psi is None:
        raise ValueError(
            "estimator must be None for a statistic that is neither a mean nor a ratio, "
            f"got {type(estimator).__name__} for {statistic!r}"
        )
    kernels = [statistic.psi] if statistic.chi is None else [statistic.psi, statistic.chi]
    pool = pooling.pool(tuples, kernels, X, carried.labels, weight=weight, limit=limit)
    target, importance = pool.values[:, 0], pool.weight
    if statistic.chi is not None:
        chi = pool.values[:, 1]
        usable = chi > 0
        target = np.where(usable, target / np.where(usable, chi, 1.0), 0.0)
        importance = importance * np.where(usable, chi, 0.0)
    if carried.offset is not None and carried.pilot is not None:
        target = target + carried.pilot.predict(pool.x)
    importance = importance / importance.mean()
    model = clone(estimator)
    if _takes_weights(model):
        model.fit(pool.x, target, **_weight_argument(model, importance))
    else:
        chosen: IntArray = rng.choice(
            target.size, size=target.size, p=importance / importance.sum()
        )
        model.fit(pool.x[chosen], target[chosen])
    return PooledFit(model, pool)


def _takes_weights(model: Any) -> bool:
    last = model.steps[-1][1] if type(model).__name__ == "Pipeline" else model
    return bool(has_fit_parameter(last, "sample_weight"))


def _weight_argument(model: Any, importance: FloatArray) -> dict[str, FloatArray]:
    if type(model).__name__ == "Pipeline":
        return {f"{model.steps[-1][0]}__sample_weight": importance}
    return {"sample_weight": importance}
