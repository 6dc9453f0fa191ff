"""The risk of a linear class when each anchor's tuples are put at their mean representative."""

import numpy as np

from multiobs._types import FloatArray
from multiobs.fit.design import Design
from multiobs.fit.problem import Problem
from multiobs.fit.risk import MomentRisk
from multiobs.sums import pool, weighted_power
from multiobs.tuples import shown


def pooled_risk(problem: Problem, design: Design, reference: FloatArray | None) -> MomentRisk:
    """Risk of a polynomial loss with every anchor's tuples put at their mean representative.

    Parameters
    ----------
    problem : Problem
        What is fitted.
    design : Design
        The class of functions.
    reference : ndarray (p,) or None
        Coefficients of the reference level of a root-type loss.
    """
    tuples, loss = problem.tuples, problem.statistic.loss
    if not loss.sums:
        raise ValueError(
            f"a loss that is not a polynomial needs every tuple, got {shown(tuples.count())} of "
            "them with features that are not affine in x: use SlidingWindow or a smaller epsilon"
        )
    kernels = [h for _, h in loss.sums]
    found = pool(
        tuples,
        kernels,
        problem.X,
        problem.residuals.labels,
        weight=problem.weight,
        limit=problem.limit,
    )
    z, level, size = framed(problem, design, reference, found.x)
    sums = {k: mean for (k, _), mean in zip(loss.sums, found.values.T, strict=True)}
    powers = loss.by_power(sums, lambda values: values * level)
    weight = found.weight * size
    tensors = {k: weighted_power(values * weight, z, k) for k, values in powers.items()}
    return MomentRisk.by_power(tensors).fixed(-1.0)


def framed(
    problem: Problem, design: Design, reference: FloatArray | None, x: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Features of the statistic of residuals at x (n, d).

    With the location-scale map r = shift + stretch r', r' = (w·z - shift) / stretch: the shift is
    one more feature, held at minus one.

    Returns
    -------
    tuple of ndarray
        Features (n, p + 1), reference level (n,) and the size (n,) of the loss.
    """
    statistic = problem.statistic
    columns = design.columns(x)
    way_back = problem.residuals.map_at(x, statistic.scale)
    level = np.zeros(x.shape[0]) if reference is None else columns @ reference
    z = np.column_stack([columns, way_back.shift]) / way_back.stretch[:, None]
    growth = statistic.loss_growth / (float(statistic.scale or 0) or 1.0)
    return z, level, way_back.stretch**growth
