"""The fitted function of an additive class, with its errors, without the rows it came from."""

from dataclasses import dataclass
from typing import final

import numpy as np

from multiobs._types import FloatArray
from multiobs.fit.additive import LinearColumns, SmoothDesign
from multiobs.fit.links import LinkedLoss
from multiobs.fit.units import LabelUnits
from multiobs.inference.intervals import Method, limits, quantile
from multiobs.statistics import Parts, Statistic


@final
@dataclass(frozen=True)
class CurvePart:
    """One part: η = columns(x) w behind a link.

    Attributes
    ----------
    design : SmoothDesign or LinearColumns
        Its columns.
    w : ndarray (p,)
        Coefficients.
    covariances : tuple of ndarray (p, p)
        Of the coefficients about the truth, by two estimates of the noise; a direction's error is
        the larger of the two.
    loss : LinkedLoss
        Knows the link.
    units : LabelUnits
        From working units to the user's.
    """

    design: SmoothDesign | LinearColumns
    w: FloatArray
    covariances: tuple[FloatArray, FloatArray]
    loss: LinkedLoss
    units: LabelUnits

    def errors(self, z: FloatArray) -> FloatArray:
        """Standard errors of z w for columns z (n, p), (n,)."""
        one, two = (np.einsum("na,ab,nb->n", z, C, z) for C in self.covariances)
        larger: FloatArray = np.maximum(one, two)
        return np.sqrt(np.maximum(larger, 0.0))

    def eta(self, X: FloatArray) -> FloatArray:
        """The linear predictor at X (n, d), (n,)."""
        return self.design.columns(X) @ self.w

    def outward(self, eta: FloatArray) -> FloatArray:
        """The statistic in the user's units from the linear predictor."""
        return self.units.outward(self.loss.inverse(eta))

    def slope(self, eta: FloatArray) -> FloatArray:
        """Derivative of :meth:`outward`."""
        return self.units.factor * self.loss.inverse_slope(eta)

    def marginal(self, X: FloatArray) -> FloatArray:
        """By how much each coefficient moves the statistic at X (n, d), (n, p)."""
        return self.design.columns(X) * self.slope(self.eta(X))[:, None]

    def coefficients(self) -> tuple[FloatArray, float]:
        """Slopes and intercept of a linear class on the scale of its link, in the user's units."""
        slopes, intercept = self._linear.design.coefficients(self.w)
        factor, shift = self._link_units
        return slopes * factor, intercept * factor + shift

    @property
    def coef_cov(self) -> FloatArray:
        """Covariance of (intercept, slopes) of a linear class on the scale of its link."""
        jacobian = self._linear.design.jacobian() * self._link_units[0]
        return np.asarray(jacobian @ self.covariances[0] @ jacobian.T)

    @property
    def _linear(self) -> LinearColumns:
        if not isinstance(self.design, LinearColumns):
            raise AttributeError("coefficients need a linear class, got smooth terms")
        return self.design

    @property
    def _link_units(self) -> tuple[float, float]:
        """What the units of y do to η: a factor without a link, a shift of the intercept with."""
        if self.loss.link == "identity":
            return self.units.factor, self.units.offset
        return 1.0, float(np.log(self.units.factor)) if self.loss.link == "log" else 0.0


@final
@dataclass(frozen=True)
class _Moves:
    """How far the parts of a statistic may move it.

    Attributes
    ----------
    slopes : ndarray (k, n)
        Derivative of the statistic in each part.
    parts : ndarray (k, n)
        Standard error of the statistic by each part alone.
    shared : dict of (int, int) to ndarray (n,)
        Covariances of what two parts do to it.
    """

    slopes: FloatArray
    parts: FloatArray
    shared: dict[tuple[int, int], FloatArray]

    def size(self, reach: FloatArray | None = None) -> FloatArray:
        """Standard error of all parts together, each stretched by its reach (k, n), (n,)."""
        times = np.ones_like(self.parts) if reach is None else reach
        total = np.sum((self.parts * times) ** 2, axis=0)
        for (j, k), both in self.shared.items():
            total += 2 * both * times[j] * times[k]
        return np.asarray(np.sqrt(np.maximum(total, 0.0)))


@final
@dataclass(frozen=True)
class Curve:
    """The statistic as a function of x.

    Attributes
    ----------
    statistic : Statistic
        What it is.
    parts : tuple of CurvePart
        One, or one for each statistic it is a function of.
    made_of : Parts or None
        How the parts make the statistic; None for one that is a mean or a ratio itself.
    shared : tuple of ndarray
        Covariance of the coefficients of parts j < k, in the order (0, 1), (0, 2), (1, 2), …
    beta : float
        How many times the error of the second part is in the first, besides its own.
    """

    statistic: Statistic
    parts: tuple[CurvePart, ...]
    made_of: Parts | None
    shared: tuple[FloatArray, ...] = ()
    beta: float = 0.0

    def predict(self, X: FloatArray) -> FloatArray:
        """The statistic in the user's units at X (n, d), (n,)."""
        return self._combined([part.outward(part.eta(X)) for part in self.parts])

    def standard_errors(self, X: FloatArray) -> FloatArray:
        """Standard errors of :meth:`predict` by the delta method, (n,)."""
        return self._moves(X).size()

    def interval(self, X: FloatArray, level: float, method: Method) -> FloatArray:
        r"""Confidence limits (n, 2) at X (n, d): on the log scale above a lower end.

        What has no end of its own, but a part with one, such as a mean plus a multiple of a
        standard deviation, is as uneven as its parts: each goes as far to either side as its own
        limits do (Zou and Donner 2008),

        .. math:: U = \hat r + \Big(\sum_{jk} \rho_{jk} (u_j - \hat r_j) (u_k - \hat r_k)
                  \Big)^{1/2},

        with u the limit of a part times its slope and ρ the correlations of their errors.
        """
        values, domain = self.predict(X), self.statistic.domain
        if method != "auto" or self.made_of is None or np.any(np.isfinite(domain)):
            return limits(values, self.standard_errors(X), np.inf, level, method, domain)
        moves = self._moves(X)
        up, down = np.ones_like(moves.parts), np.ones_like(moves.parts)
        q = quantile(level, np.inf)
        for k, (part, one) in enumerate(zip(self.parts, self.made_of.statistics, strict=True)):
            value = part.outward(part.eta(X))
            error = part.errors(part.marginal(X))
            low, high = limits(value, error, np.inf, level, method, one.domain).T
            with np.errstate(invalid="ignore", divide="ignore"):
                reach = np.stack([high - value, value - low]) / (q * error)
            reach = np.where(np.isfinite(reach), reach, 1.0)
            up[k], down[k] = np.where(moves.slopes[k] >= 0, reach, reach[::-1])
        return np.stack([values - q * moves.size(down), values + q * moves.size(up)], axis=1)

    def _moves(self, X: FloatArray) -> "_Moves":
        etas = [part.eta(X) for part in self.parts]
        values = [part.outward(eta) for part, eta in zip(self.parts, etas, strict=True)]
        slopes = [self._slope(values, k) for k in range(len(values))]
        if self.beta:
            slopes[1] = slopes[1] + self.beta * slopes[0]
        columns = [
            part.marginal(X) * slope[:, None]
            for part, slope in zip(self.parts, slopes, strict=True)
        ]
        both = iter(self.shared)
        shared = {
            (j, k): np.einsum("na,ab,nb->n", columns[j], next(both), columns[k])
            for k in range(len(columns))
            for j in range(k)
        }
        own = [part.errors(z) for part, z in zip(self.parts, columns, strict=True)]
        return _Moves(np.stack(slopes), np.stack(own), shared)

    def _combined(self, values: list[FloatArray]) -> FloatArray:
        if self.made_of is None:
            return values[0]
        return self.made_of.combine(*values)

    def _slope(self, values: list[FloatArray], k: int) -> FloatArray:
        """Derivative of the statistic in its k-th part, by differences."""
        if self.made_of is None:
            return np.ones_like(values[0])
        step = 1e-6 * np.maximum(np.abs(values[k]), 1e-6 * np.abs(values[k]).max(initial=1e-300))
        up, down = ([*values[:k], values[k] + s * step, *values[k + 1 :]] for s in (1, -1))
        return np.asarray((self._combined(up) - self._combined(down)) / (2 * step))
