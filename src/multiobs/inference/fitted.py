"""Inference about one fitted linear class, in the user's units; computed when first asked for."""

from functools import cached_property
from typing import final

import numpy as np

from multiobs._types import FloatArray
from multiobs.fit.units import LabelUnits
from multiobs.inference.covariance import Covariance, Record, covariance
from multiobs.inference.intervals import Method, limits
from multiobs.inference.wald import TestResult, varying_directions, wald
from multiobs.sums.contraction import Lifted


@final
class Inference:
    """Covariance, intervals and tests of a linear fit.

    Parameters
    ----------
    record : Record
        What the fit left behind.
    units : LabelUnits
        From comfortable units to the user's.
    """

    def __init__(self, record: Record, units: LabelUnits) -> None:
        self.record = record
        self.units = units

    @cached_property
    def covariance(self) -> Covariance:
        """Covariance of the design's coefficients, in comfortable units."""
        return covariance(self.record)

    @property
    def df(self) -> float:
        """Degrees of freedom of the t quantiles."""
        return self.covariance.df

    @property
    def estimate(self) -> FloatArray:
        """Intercept, if there is one, and slopes."""
        slopes, intercept = self.record.design.coefficients(self.record.w)
        scaled = slopes * self.units.factor
        if not self.record.design.intercept:
            return scaled
        return np.concatenate([[intercept * self.units.factor + self.units.offset], scaled])

    @property
    def coef_cov(self) -> FloatArray:
        """Covariance of :attr:`estimate`."""
        return self._outward(self.covariance.matrix)

    @property
    def effective_size(self) -> float:
        """How many independent metasamples would have given the same errors.

        The number of metasamples (of anchors, where their tuples are pooled) times the share of
        the naive variance in the one that knows about shared labels, mean over coefficients.
        """
        naive = np.diag(self._outward(self.covariance.naive))
        known = np.diag(self.coef_cov)
        ok = known > 0
        share = float(np.mean(naive[ok] / known[ok])) if np.any(ok) else 1.0
        return share * self.covariance.n_units

    def standard_errors(self, X: FloatArray) -> FloatArray:
        """Standard errors (n,) of the fitted statistic at positions X (n, d)."""
        z = self.record.design.columns(X)
        variance = np.einsum("ia,ab,ib->i", z, self.covariance.matrix, z)
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)) * self.units.factor)

    def interval(self, X: FloatArray, level: float, method: Method) -> FloatArray:
        """Confidence limits (n, 2) of the fitted statistic at positions X (n, d)."""
        z = self.record.design.columns(X)
        centre = self.units.outward(z @ self.record.w)
        domain = self.record.statistic.domain
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
        record = self.record
        Z = record.design.features(record.X)
        rows = Z.function(Z.X) if isinstance(Z, Lifted) else Z
        R = varying_directions(rows)
        if R.shape[0] == 0:
            raise ValueError("the features must vary over the rows, got constant ones only")
        name = f"{record.statistic!r} is constant in x"
        return wald(record.w, self.covariance.matrix, R, np.zeros(R.shape[0]), self.df, name)

    def _outward(self, matrix: FloatArray) -> FloatArray:
        jacobian = self.record.design.jacobian() * self.units.factor
        return np.asarray(jacobian @ matrix @ jacobian.T)
