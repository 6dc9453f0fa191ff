r"""Robust score test of several linear hypotheses about the coefficients.

Fitted under the hypothesis :math:`R w = q`, the risk has the gradient :math:`U`, zero but for the
tested directions.  With A the Hessian there and V the variance of U under shared labels,

.. math:: T = (R A^{-1} U)'\, (R A^{-1} V A^{-1} R')^{-1}\, (R A^{-1} U) \sim \chi^2_h.

Wald's statistic with V at the unconstrained fit rejects too often (a fit that happens to be low has
a V that is too low as well), and Hotelling's factor with the degrees of freedom of V never does.
Where tuples are many, V comes from the rows' own influences
(:mod:`multiobs.inference.influence`): sums of overlapping scores would be correlated with U and
grow with what they are to detect, which costs most of the power.  Their variances are smoothed
(:mod:`multiobs.inference.score_variance`): one by one they are too noisy to keep the size.
Between dependent rows V is the mean square of so many independent units or low frequencies, and T
is compared to Hotelling's distribution.
"""

from dataclasses import replace

import numpy as np
from scipy import special

from multiobs._types import FloatArray
from multiobs.fit import LinearFit, Risk, risk_of
from multiobs.inference.deciding import NAMED, RowInfluence, influence_of
from multiobs.inference.dependence import Dependence
from multiobs.inference.hypotheses import TestResult, hotelling
from multiobs.inference.influence import influences, row_scores
from multiobs.inference.sandwich import gradient_of, hessian_of, inverse_of
from multiobs.inference.score_variance import (
    curvature_under_hypothesis,
    variance_under_hypothesis,
)
from multiobs.inference.variance import meat

STEPS = 50  # of Newton's method towards the fit under the hypothesis
NEAREST = 0.25  # distance to a reference level, of its mean: beyond it scores weigh too unevenly


def score_test(
    fit: LinearFit, R: FloatArray, q: FloatArray, what: str, dependence: Dependence | None = None
) -> TestResult:
    """Test R w = q.

    Parameters
    ----------
    fit : LinearFit
        What was fitted, without the hypothesis.
    R, q : ndarray (h, p), (h,)
        The hypotheses, about the coefficients of the design's columns.
    what : str
        The hypotheses in words.
    dependence : Dependence, optional
        How rows depend on each other; they are independent by default.
    """
    w, free = constrained(fit.risk, fit.w, R, q)
    if fit.problem.weighed_by is not None and not fit.alpha > 0:
        fit = weighed_under(fit, w)
        w, free = constrained(fit.risk, w, R, q)
    if fit.reference is not None:
        fit = at_one_level(fit, w)
        w, free = constrained(fit.risk, w, R, q)
    gradient = gradient_of(fit, w, free)
    found = meat(gradient)
    if dependence is None:
        V = variance_under_hypothesis(fit.problem, gradient, found)
    else:
        V = dependence.variance(found, gradient)
    curvature = curvature_under_hypothesis(fit.problem, gradient, hessian_of(fit.risk, w))
    side = R @ inverse_of(curvature)
    gap, spread = side @ fit.risk.gradient(w), side @ V @ side.T
    size = np.sqrt(np.maximum(np.diag(spread), 1e-300))
    inner = spread / np.outer(size, size)
    rank = max(int(np.linalg.matrix_rank(inner, tol=1e-10, hermitian=True)), 1)
    scaled = gap / size
    value = float(scaled @ np.linalg.pinv(inner, rcond=1e-10, hermitian=True) @ scaled)
    if dependence is not None:
        h = int(np.linalg.matrix_rank(R))
        return hotelling(value, h, dependence.df(gradient.n_fitted), what)
    u = influences(row_scores(found, fit.problem.tuples), fit.problem.tuples).rows
    few = _few_rows(u @ side.T / size, inner)
    chance = float(special.chdtrc(rank, max(value, 0.0)))
    return TestResult(what, value / rank, rank, np.inf, chance, few_rows=few)


def _few_rows(moved: FloatArray, inner: FloatArray) -> RowInfluence | None:
    """Rows that decide all tested directions (n, h) of this variance (h, h), where they are few."""
    known = np.linalg.pinv(inner, rcond=1e-10, hermitian=True)
    distance = np.sqrt(np.maximum(np.einsum("ih,ih->i", moved @ known, moved), 0.0))
    found = influence_of(distance[:, None], np.ones((1, 1)), NAMED)
    return found if found.few else None


def weighed_under(fit: LinearFit, w: FloatArray) -> LinearFit:
    """Return the fit with weights by coefficients under the hypothesis.

    Weights by a fit that follows the labels are large where these happen to lie together, so that
    a true hypothesis is rejected too often.
    """
    problem = fit.problem.reweighted(fit.design.columns(fit.problem.X) @ w)
    risk = risk_of(problem, fit.design, fit.reference, fit.pooled, tensors=False)
    return replace(fit, problem=problem, risk=risk)


def at_one_level(fit: LinearFit, w: FloatArray) -> LinearFit:
    """Return the fit with one reference level of a root-type loss, for a constant statistic.

    Scores are weighted by the distance of the statistic to its reference level, and a level that
    follows the labels dampens what is to be detected.  A score test may weigh as it likes.

    Parameters
    ----------
    fit : LinearFit
        A fit with a reference level.
    w : ndarray (p,)
        Coefficients under the hypothesis.

    Returns
    -------
    LinearFit
        The same fit where the statistic is not constant under the hypothesis, the risk is
        penalised, or one level would lie too near to the statistic of some row.
    """
    assert fit.reference is not None
    problem, Z = fit.problem, fit.design.columns(fit.problem.X)
    statistic = Z @ w
    middle = float(statistic.mean())
    if fit.alpha > 0 or float(np.ptp(statistic)) > 1e-6 * abs(middle):
        return fit
    level = float(np.mean(Z @ fit.reference))
    way_back = problem.residuals.map_at(problem.X, problem.statistic.scale)
    above = way_back.inward(statistic) - level
    if float(above.min()) < NEAREST * float(above.mean()):
        return fit
    reference = level / middle * w  # the same number at all rows
    risk = risk_of(problem, fit.design, reference, fit.pooled, tensors=False)
    return replace(fit, risk=risk, reference=reference)


def constrained(
    risk: Risk, w: FloatArray, R: FloatArray, q: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Minimise the risk subject to R w = q: coefficients (p,), and the free directions (p, f).

    Parameters
    ----------
    risk : Risk
        What is minimised.
    w : ndarray (p,)
        Its minimiser without the constraint.
    R, q : ndarray (h, p), (h,)
        The constraint.

    Examples
    --------
    >>> from multiobs.fit import MomentRisk
    >>> bowl = MomentRisk([None, np.array([-2.0, -4.0]), np.eye(2)])
    >>> constrained(bowl, np.array([1.0, 2.0]), np.array([[1.0, 1.0]]), np.zeros(1))[0]
    array([-0.5,  0.5])
    """
    _, sizes, directions = np.linalg.svd(R, full_matrices=True)
    rank = int(np.sum(sizes > 1e-10 * max(float(sizes.max(initial=0.0)), 1e-300)))
    free = directions[rank:].T
    bread = inverse_of(hessian_of(risk, w))
    towards = bread @ R.T @ np.linalg.pinv(R @ bread @ R.T, rcond=1e-10, hermitian=True)
    at = w - towards @ (R @ w - q)
    at = at - np.linalg.pinv(R) @ (R @ at - q)  # where the data do not determine R w
    if free.shape[1] == 0:
        return at, free
    for _ in range(STEPS):
        slope = free.T @ risk.gradient(at)
        step = -inverse_of(free.T @ hessian_of(risk, at) @ free) @ slope
        before, length = risk.value(at), 1.0
        while length > 1e-6 and not risk.value(at + free @ (length * step)) <= before:
            length /= 2
        if length <= 1e-6:  # rounding, or a direction in which nothing falls
            break
        at = at + free @ (length * step)
        if float(np.max(np.abs(step))) <= 1e-12 * max(float(np.max(np.abs(at))), 1e-300):
            break
    return at, free
