"""Covariance of linear coefficients under shared labels."""

from dataclasses import dataclass
from typing import final

import numpy as np

from multiobs._types import FloatArray
from multiobs.fit import LinearFit, Risk, framed
from multiobs.inference.intervals import Skewness
from multiobs.inference.meat import Meat, meat
from multiobs.inference.skewness import Third
from multiobs.sums.scores import slope_of


@final
@dataclass(frozen=True)
class Covariance:
    """Covariance of the coefficients of the design's columns.

    Attributes
    ----------
    matrix : ndarray (p, p)
        The sandwich :math:`A^{-1} V A^{-1}`.
    naive : ndarray (p, p)
        The same as if no label were shared: wrong, for comparison.
    df : float
        Degrees of freedom of the t quantiles.
    kind : str
        Whose scores were summed: "rows", "tuples" or "anchors".
    bread : ndarray (p, p)
        The inverse Hessian :math:`A^{-1}`.
    third : Third or None
        Third cumulants of the gradient, where they are known well.
    """

    matrix: FloatArray
    naive: FloatArray
    df: float
    kind: str
    bread: FloatArray
    third: Third | None = None

    def skewness(self, z: FloatArray) -> Skewness | None:
        """Skewness of the estimates z w at features z (q, p), or None if not known well.

        At most one, as that of a single unit in a sum of independent ones.
        """
        if self.third is None:
            return None
        spread = np.einsum("qa,ab,qb->q", z, self.matrix, z)
        scale = np.where(spread > 0, spread, np.inf) ** 1.5
        # the estimate moves by minus the inverse Hessian times the gradient
        bend, centre = (
            np.clip(-value / scale, -1.0, 1.0) for value in self.third.along(z @ self.bread)
        )
        return Skewness(bend, centre)


def covariance(fit: LinearFit) -> Covariance:
    r"""Estimate the covariance :math:`A^{-1} V A^{-1}` of the coefficients.

    A is the Hessian of the risk with its penalty, V the variance of the gradient under shared
    labels.  Degrees of freedom follow Satterthwaite: V is a sum over nearly independent units,
    and how unequal these are says how well it is known.
    """
    bread = _inverse(_hessian(fit.risk, fit.w))
    found = _pooled_meat(fit) if fit.pooled else _meat(fit)
    V = _positive_part(found.variance())
    df = degrees_of_freedom(found, V)
    naive = bread @ found.naive @ bread
    return Covariance(bread @ V @ bread, naive, df, found.kind, bread, found.third)


def degrees_of_freedom(found: Meat, V: FloatArray) -> float:
    r"""Satterthwaite's degrees of freedom of V, averaged over directions.

    With :math:`q_i` the share of unit i in the trace of :math:`V^{-1} V`,
    :math:`\mathrm{df} = (2/p)\,(\sum q_i)^2 / \sum_{i \sim j} (q_i - \bar q)(q_j - \bar q)`,
    which is the number of units when they are independent and normal.
    """
    n, p = found.units.shape
    inverse = np.linalg.pinv(V, hermitian=True)
    q = np.einsum("ia,ia->i", found.units @ inverse, found.overlap.spread(found.units))
    centred = (q - q.mean())[:, None]
    near = found.overlap if found.near is None else found.near
    noise = float((centred * near.spread(centred)).sum())
    noise = max(noise, float((centred**2).sum()), 1e-300)
    return float(np.clip(2.0 / p * q.sum() ** 2 / noise, 1.0, n))


def _meat(fit: LinearFit) -> Meat:
    problem = fit.problem
    w = problem.held(fit.w)
    slope = slope_of(problem.statistic.loss, w, problem.held_reference(fit.reference))
    return meat(
        slope,
        problem.tuples,
        problem.features(fit.design),
        problem.residuals.labels,
        w,
        problem.weight,
        fit.w.size,
        problem.limit,
    )


def _pooled_meat(fit: LinearFit) -> Meat:
    """Scores of rows whose tuples were pooled, each tuple put at the row it is counted for.

    Nonlinear features, and labels that were divided by a pilot of their spread, vary little
    inside a neighbourhood; this approximation is as good as the pooling itself.
    """
    problem, p = fit.problem, fit.w.size
    weight = problem.weight
    w = np.concatenate([fit.w, [-1.0, 0.0]])
    level = np.concatenate([np.zeros(p + 1), [1.0]])
    slope = slope_of(problem.statistic.loss, w, None if fit.reference is None else level)
    z, reference, size = framed(problem, fit.design, fit.reference, problem.X)
    share = size ** (1.0 / problem.tuples.arity)
    if np.any(share != 1.0):
        weight = share if weight is None else share * weight
    return meat(
        slope,
        problem.tuples,
        np.column_stack([z, reference]),
        problem.residuals.labels,
        w,
        weight,
        p,
        problem.limit,
        local=True,
    )


def _hessian(risk: Risk, w: FloatArray) -> FloatArray:
    found = risk.hessian(w)
    if found is None:  # a loss without a second derivative: differences of the gradient
        columns = []
        for j in range(w.size):
            step = np.zeros(w.size)
            step[j] = 1e-5 * max(abs(w[j]), 1.0)
            columns.append((risk.gradient(w + step) - risk.gradient(w - step)) / (2 * step[j]))
        found = np.stack(columns, axis=1)
    return np.asarray((found + found.T) / 2)


def _inverse(A: FloatArray) -> FloatArray:
    size = np.sqrt(np.abs(np.diag(A)))
    size = np.where(size > 0, size, 1.0)
    inner = np.linalg.pinv(A / np.outer(size, size), rcond=1e-12, hermitian=True)
    return np.asarray(inner / np.outer(size, size))


def _positive_part(V: FloatArray) -> FloatArray:
    """Project on the positive semidefinite matrices: V is unbiased, but can miss them."""
    size = np.sqrt(np.maximum(np.abs(np.diag(V)), 1e-300))
    values, vectors = np.linalg.eigh(V / np.outer(size, size))
    if values[0] >= 0:
        return V
    kept = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return np.asarray(kept * np.outer(size, size))
