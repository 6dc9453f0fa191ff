"""Covariance of linear coefficients under shared labels."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from multiobs._types import FloatArray
from multiobs.fit import LinearFit, Problem, Risk, framed
from multiobs.inference.dependence import Dependence
from multiobs.inference.few_rows import free_rows
from multiobs.inference.gradient import Gradient
from multiobs.inference.intervals import Skewness
from multiobs.inference.meat import Meat
from multiobs.inference.shares import Shares, shares_of
from multiobs.inference.skewness import Third, of_tensors
from multiobs.inference.variance import meat
from multiobs.sums import pool
from multiobs.sums.scores import slope_of
from multiobs.tuples import Anchored, Windows

COMPACT = 15  # coefficients up to which p³ numbers are fewer than those of the rows


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
        Degrees of freedom, averaged over directions.
    kind : str
        Whose scores were summed: "rows", "tuples", "anchors", "clusters" or "low frequencies in x".
    bread : ndarray (p, p)
        The inverse Hessian :math:`A^{-1}`.
    third : Third or None
        Third cumulants of the gradient, where they are known well.
    shares : Shares or None
        Of the units in V, where degrees of freedom are known for each direction.
    """

    matrix: FloatArray
    naive: FloatArray
    df: float
    kind: str
    bread: FloatArray
    third: Third | None = None
    shares: Shares | None = None

    def compact(self) -> "Covariance":
        """Return the same without arrays as long as the rows, where its tensors are smaller."""
        p = self.matrix.shape[0]
        if self.third is None or p > COMPACT:
            return self
        return replace(self, third=of_tensors(*self.third.tensors()))

    def df_along(self, z: FloatArray) -> FloatArray:
        """Degrees of freedom (q,) of the t quantiles of the estimates z w at features z (q, p)."""
        if self.shares is None:
            return np.full(z.shape[0], self.df)
        return self.shares.along(z @ self.bread)

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


def covariance(
    fit: LinearFit,
    dependence: Dependence | None = None,
    *,
    keep: Callable[[Meat], None] = lambda found: None,
) -> Covariance:
    r"""Estimate the covariance :math:`A^{-1} V A^{-1}` of the coefficients.

    A is the Hessian of the risk with its penalty, V the variance of the gradient under shared
    labels.  Degrees of freedom follow Satterthwaite (:mod:`multiobs.inference.shares`).

    Parameters
    ----------
    fit : LinearFit
        What was fitted.
    dependence : Dependence, optional
        How rows depend on each other; they are independent by default.
    keep : callable
        Is given the variance of the gradient where it has no shares of units.
    """
    found_none = not np.all(np.isfinite(fit.w))
    if found_none or free_rows(fit.problem, rank_of(fit)) < 1.0:  # no certainty from nothing
        unknown = np.full((fit.w.size, fit.w.size), np.nan)
        return Covariance(unknown, unknown, np.nan, "rows", unknown)
    gradient = gradient_of(fit)
    found = meat(gradient)
    if dependence is not None:
        V = dependence.variance(found, gradient)
        df = dependence.df(gradient.n_fitted)
        return assembled(fit, V, found.naive, df, dependence.name, None)
    V = found.usable_variance()
    shares = shares_of(found)
    if shares is None:
        keep(found)
    df = degrees_of_freedom(found, V)
    return assembled(fit, V, found.naive, df, found.kind, found.third, shares=shares)


def rank_of(fit: LinearFit) -> float:
    """How many coefficients the rows determine, counted only where rows are hardly more."""
    p = fit.w.size
    if fit.problem.n_rows > 4 * p:
        return float(p)
    return float(np.linalg.matrix_rank(fit.design.columns(fit.problem.X)))


def assembled(
    fit: LinearFit,
    V: FloatArray,
    naive: FloatArray,
    df: float,
    kind: str,
    third: Third | None,
    *,
    shares: Shares | None = None,
) -> Covariance:
    """Put the sandwich together.

    Parameters
    ----------
    fit : LinearFit
        The coefficients and the risk.
    V, naive : ndarray (p, p)
        Variance of the gradient, and the same as if no label were shared.
    df : float
        Degrees of freedom of V.
    kind : str
        Whose scores were summed.
    third : Third or None
        Third cumulants of the gradient.
    shares : Shares, optional
        Of the units in V.
    """
    bread = inverse_of(hessian_of(fit.risk, fit.w))
    return Covariance(bread @ V @ bread, bread @ naive @ bread, df, kind, bread, third, shares)


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


def gradient_of(
    fit: LinearFit, w: FloatArray | None = None, free: FloatArray | None = None
) -> Gradient:
    """What the gradient of a fit's risk is summed from, at its own or other coefficients.

    Where tuples were pooled, all those of an anchor are at one place.  Scores of rows take the mean
    of the places of a row's tuples: the row's own x would do where features vary little inside a
    neighbourhood, but where rows are few it is far from any place that was fitted.

    Parameters
    ----------
    fit : LinearFit
        What was fitted.
    w : ndarray (p,), optional
        Coefficients; those of the fit by default.
    free : ndarray (p, f), optional
        Directions in which they were free to move.
    """
    problem, tuples = fit.problem, fit.problem.tuples
    at = fit.w if w is None else w
    labels, weight, p = problem.residuals.labels, problem.weight, at.size
    if not fit.pooled:
        held = problem.held(at)
        slope = slope_of(problem.statistic.loss, held, problem.held_reference(fit.reference))
        Z = problem.features(fit.design)
        return Gradient(slope, tuples, Z, labels, held, weight, p, problem.limit, free=free)
    held = np.concatenate([at, [-1.0, 0.0]])
    level = np.concatenate([np.zeros(p + 1), [1.0]])
    slope = slope_of(problem.statistic.loss, held, None if fit.reference is None else level)
    anchors = None
    if isinstance(tuples, Anchored) and tuples.n_partners.size == problem.n_rows:
        anchors = _framed_columns(fit, _places(problem, tuples))
        rows = means_over_members(tuples, anchors)
    else:  # listed tuples, or rows that recur in the leaves of several trees
        rows = _framed_columns(fit, problem.X)
    Z, size = rows[:, :-1], rows[:, -1]
    share = size ** (1.0 / tuples.arity)
    if np.any(share != 1.0):
        weight = share if weight is None else share * weight
    if anchors is not None:
        anchors = anchors[:, :-1]
    return Gradient(slope, tuples, Z, labels, held, weight, p, problem.limit, True, free, anchors)


def _framed_columns(fit: LinearFit, x: FloatArray) -> FloatArray:
    """Features, reference level and size of the loss of a pooled fit at x, as columns (n, q)."""
    return np.column_stack(framed(fit.problem, fit.design, fit.reference, x))


def _places(problem: Problem, tuples: Anchored) -> FloatArray:
    """Where the tuples of each row as an anchor were put, (n, d); its own x where it has none."""
    found = pool(tuples, [], problem.X, problem.residuals.labels, weight=problem.weight)
    x = problem.X.copy()
    x[found.anchors] = found.x
    return x


def means_over_members(tuples: Anchored, anchors: FloatArray) -> FloatArray:
    """Mean (n, q), over the tuples that contain each row, of values (n, q) of their anchors.

    Examples
    --------
    >>> chain = Windows(np.arange(3), np.array([2, 3, 3]), arity=2)  # pairs 01 and 12
    >>> means_over_members(chain, np.array([[1.0], [10.0], [100.0]])).ravel().tolist()
    [1.0, 5.5, 10.0]
    """
    by_row = anchors
    if isinstance(tuples, Windows):
        anchors = anchors[tuples.order]
    both = tuples.sums_over_members(np.column_stack([anchors, np.ones(anchors.shape[0])]))
    counts = both[:, -1:]
    return np.where(counts > 0.5, both[:, :-1] / np.maximum(counts, 0.5), by_row)


def hessian_of(risk: Risk, w: FloatArray) -> FloatArray:
    """Second derivative (p, p) of a risk, by differences of the gradient where it has none."""
    found = risk.hessian(w)
    if found is None:  # a loss without a second derivative: differences of the gradient
        columns = []
        for j in range(w.size):
            step = np.zeros(w.size)
            step[j] = 1e-5 * max(abs(w[j]), 1.0)
            columns.append((risk.gradient(w + step) - risk.gradient(w - step)) / (2 * step[j]))
        found = np.stack(columns, axis=1)
    return np.asarray((found + found.T) / 2)


def inverse_of(A: FloatArray) -> FloatArray:
    """Pseudo-inverse of a Hessian in columns of equal size."""
    size = np.sqrt(np.abs(np.diag(A)))
    size = np.where(size > 0, size, 1.0)
    inner = np.linalg.pinv(A / np.outer(size, size), rcond=1e-12, hermitian=True)
    return np.asarray(inner / np.outer(size, size))
