"""Fits to pooled tuples: linear classes of any features, and any regressor."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from multiobs._types import FloatArray, IntArray
from multiobs.fit.design import Design
from multiobs.fit.risk import MomentRisk
from multiobs.fit.units import loss_degree
from multiobs.statistics import Statistic
from multiobs.statistics.kernels import Kernel
from multiobs.statistics.losses import PolynomialLoss, RootLoss
from multiobs.sums import pooling
from multiobs.sums.contraction import LIMIT, weighted_power
from multiobs.transport import Carried
from multiobs.transport.pilots import one_thread
from multiobs.transport.spline import SplinePilot
from multiobs.tuples import TupleSet

ROUNDS = 6  # of reweighting for a root-type statistic


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


@final
@dataclass(frozen=True)
class Frame:
    """Where carried labels live at the pooled positions: r = shift + stretch · r'."""

    shift: FloatArray
    stretch: FloatArray


def frame_at(statistic: Statistic, carried: Carried, x: FloatArray) -> Frame:
    """Return the way back from the statistic of carried labels to that of the labels at x."""
    shift = np.zeros(x.shape[0])
    if carried.offset is not None and carried.pilot is not None:
        shift = carried.pilot.predict(x)
    stretch = np.ones(x.shape[0])
    if carried.spread is not None:
        stretch = carried.spread.predict(x) ** float(statistic.scale or 0)
    return Frame(shift, stretch)


def pooled_risk(
    statistic: Statistic,
    tuples: TupleSet,
    design: Design,
    X: FloatArray,
    carried: Carried,
    weight: FloatArray | None,
    reference: FloatArray | None,
    limit: int = LIMIT,
) -> MomentRisk:
    """Risk of a polynomial loss with every anchor's tuples put at their mean representative."""
    kernels = loss_kernels(statistic)
    if not kernels:
        raise ValueError(
            f"a loss that is not a polynomial needs every tuple, got {tuples.count():.4g} of them "
            "with features that are not affine in x: use SlidingWindow or a smaller epsilon"
        )
    pool = pooling.pool(
        tuples, [h for _, h in kernels], X, carried.labels, weight=weight, limit=limit
    )
    columns = design.columns(pool.x)
    frame = frame_at(statistic, carried, pool.x)
    powers = {k: mean for (k, _), mean in zip(kernels, pool.values.T, strict=True)}
    if isinstance(statistic.loss, RootLoss):
        c = 0.0 if reference is None else columns @ reference
        d, b, a = powers[2], powers[3], powers[4]
        powers = {1: -c * d, 2: (d - c * b) / 2, 3: (b - c * a) / 3, 4: a / 4}
    # r' = (w·z - shift) / stretch: the shift is one more feature, held at minus one.
    z = np.column_stack([columns, frame.shift]) / frame.stretch[:, None]
    scale = float(statistic.scale or 0) or 1.0
    size = pool.weight * frame.stretch ** (loss_degree(statistic) / scale)
    top = max(powers)
    tensors = [
        weighted_power(powers[k] * size, z, k) if k in powers else None for k in range(1, top + 1)
    ]
    return MomentRisk([None, *tensors]).fixed(-1.0)


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
    """Fit any regressor to pooled pseudo-observations.

    A mean is regressed on psi, a ratio on psi/chi with weight chi.  A root-type statistic is
    reached by Newton steps on its identification function V: regress r + V/V', repeat.  A
    regressor whose ``fit`` takes no ``sample_weight`` gets a weighted resample of the same size.
    """
    if statistic.psi is not None:
        kernels = [statistic.psi] if statistic.chi is None else [statistic.psi, statistic.chi]
    elif isinstance(statistic.loss, RootLoss):
        kernels = [h for _, h in loss_kernels(statistic)]
    else:
        raise ValueError(
            "estimator must be None for a statistic known by its loss alone, "
            f"got {type(estimator).__name__} for {statistic!r}"
        )
    pool = pooling.pool(tuples, kernels, X, carried.labels, weight=weight, limit=limit)
    frame = frame_at(statistic, carried, pool.x)
    importance = pool.weight / pool.weight.mean()
    if statistic.psi is None:
        return PooledFit(_fit_root(estimator, pool, frame, importance, rng), pool)
    target = pool.values[:, 0]
    if statistic.chi is not None:
        chi = pool.values[:, 1]
        usable = chi > 0
        target = np.where(usable, target / np.where(usable, chi, 1.0), 0.0)
        importance = importance * np.where(usable, chi, 0.0)
    target = frame.shift + frame.stretch * target
    return PooledFit(_fit_once(estimator, pool.x, target, importance, rng), pool)


def _fit_root(
    estimator: Any,
    pool: pooling.Pooled,
    frame: Frame,
    importance: FloatArray,
    rng: np.random.Generator,
) -> Any:
    d, b, a = pool.values.T
    mean = [float(np.average(each, weights=importance)) for each in (d, b, a)]
    # The vertex between the roots is the local mean; smoothed, so that no window's noise enters.
    with one_thread():
        vertex = SplinePilot().fit(pool.x, -b / (2 * mean[2]), importance).predict(pool.x)
    inside = mean[2] * vertex**2 - d  # E[a r² + b r + d] = a (r - vertex)² - inside
    gap = float(np.sqrt(max(np.average(inside, weights=importance) / mean[2], 0.0))) or 1.0
    r = vertex + gap
    model = None
    for _ in range(ROUNDS):
        slope = 2 * mean[2] * np.maximum(r - vertex, 0.2 * gap)  # never near the vertex
        target = r - (a * r**2 + b * r + d) / slope
        model = _fit_once(estimator, pool.x, frame.shift + frame.stretch * target, importance, rng)
        found = (np.asarray(model.predict(pool.x), dtype=np.float64) - frame.shift) / frame.stretch
        moved = float(np.max(np.abs(found - r)))
        r = found
        if moved < 1e-6 * gap:
            break
    return model


def _fit_once(
    estimator: Any, x: FloatArray, target: FloatArray, weight: FloatArray, rng: np.random.Generator
) -> Any:
    model = clone(estimator)
    if type(model).__name__ == "Pipeline":
        last, name = model.steps[-1][1], f"{model.steps[-1][0]}__sample_weight"
    else:
        last, name = model, "sample_weight"
    if has_fit_parameter(last, "sample_weight"):
        return model.fit(x, target, **{name: weight / weight.mean()})
    chosen: IntArray = rng.choice(target.size, size=target.size, p=weight / weight.sum())
    return model.fit(x[chosen], target[chosen])
