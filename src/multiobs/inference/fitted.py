"""Inference about one fitted linear class, in the user's units; computed when first asked for."""

from functools import cached_property
from typing import final

import numpy as np

from multiobs._types import FloatArray
from multiobs.fit import LinearFit, some_rows
from multiobs.inference.intervals import Method, limits
from multiobs.inference.sandwich import Covariance, covariance
from multiobs.inference.wald import TestResult, varying_directions, wald


@final
class Inference:
    """Covariance, intervals and tests of a linear fit.

    Parameters
    ----------
    fit : LinearFit
        What was fitted, and how.
    """

    def __init__(self, fit: LinearFit) -> None:
        self.fit = fit
        self.units = fit.problem.units

    @cached_property
    def covariance(self) -> Covariance:
        """Covariance of the design's coefficients, in working units."""
        return covariance(self.fit)

    @property
    def df(self) -> float:
        """Degrees of freedom of the t quantiles."""
        return self.covariance.df

    @property
    def estimate(self) -> FloatArray:
        """Intercept, if there is one, and slopes."""
        slopes, intercept = self.fit.coefficients()
        return np.concatenate([[intercept], slopes]) if self.fit.design.intercept else slopes

    @property
    def coef_cov(self) -> FloatArray:
        """Covariance of :attr:`estimate`."""
        return self._outward(self.covariance.matrix)

    def standard_errors(self, X: FloatArray) -> FloatArray:
        """Standard errors (n,) of the fitted statistic at positions X (n, d)."""
        z = self.fit.design.columns(X)
        variance = np.einsum("ia,ab,ib->i", z, self.covariance.matrix, z)
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)) * self.units.factor)

    def interval(self, X: FloatArray, level: float, method: Method) -> FloatArray:
        """Confidence limits (n, 2) of the fitted statistic at positions X (n, d)."""
        z = self.fit.design.columns(X)
        centre = self.units.outward(z @ self.fit.w)
        domain = self.fit.problem.statistic.domain
        skewness = self.covariance.skewness(z)
        return limits(centre, self.standard_errors(X), self.df, level, method, domain, skewness)

    def wald(self, R: FloatArray, q: FloatArray) -> TestResult:
        """Test R b = q for b = :attr:`estimate`."""
        p = self.estimate.size
        R = np.atleast_2d(R)
        if R.shape[1] != p:
            raise ValueError(
                f"R must have {p} columns (intercept first, then slopes), got {R.shape[1]}"
            )
        q = np.broadcast_to(q, (R.shape[0],))
        return wald(self.estimate, self.coef_cov, R, q, self.df, "R b = q")

    def constant(self) -> TestResult:
        """Test that the fitted statistic is the same at all rows."""
        problem = self.fit.problem
        R = varying_directions(some_rows(self.fit.design.features(problem.X)))
        if R.shape[0] == 0:
            raise ValueError("the features must vary over the rows, got constant ones only")
        name = f"{problem.statistic!r} is constant in x"
        return wald(self.fit.w, self.covariance.matrix, R, np.zeros(R.shape[0]), self.df, name)

    def _outward(self, matrix: FloatArray) -> FloatArray:
        jacobian = self.fit.design.jacobian() * self.units.factor
        return np.asarray(jacobian @ matrix @ jacobian.T)
