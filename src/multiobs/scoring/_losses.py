r"""Which loss a score takes, with everything that it needs fixed once for all forecasts.

A root-type loss such as the upper confidence bound's quartic has a reference level c(x). Scores of
two forecasts can be compared only under one c, so it comes from the held-out labels, not from a
forecast: :math:`c(x) = \hat m(x) - \lambda \hat s(x)` with spline pilots of mean and spread, which
lies where the bound is the unique minimiser, between mean - 3 lambda sd and mean.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, final

import numpy as np
import numpy.typing as npt

from multiobs import _check
from multiobs._types import FloatArray
from multiobs.scoring._heldout import HeldOut
from multiobs.statistics import Statistic
from multiobs.statistics.losses import Loss
from multiobs.transport.spline import SplinePilot

LossName = Literal["default", "squared", "gamma", "qlike", "poisson"]
NAMES = ("default", "squared", "gamma", "qlike", "poisson")
_SPREAD_FLOOR = 0.05  # of the mean variance: a smooth of squares can fall below zero


@final
@dataclass(frozen=True)
class FixedLoss:
    """The loss of metasamples with its reference level fixed.

    Attributes
    ----------
    statistic : Statistic
        The statistic with the loss asked for.
    held : HeldOut
        The metasamples.
    level : ndarray (t,) or None
        Reference level of a root-type loss.
    """

    statistic: Statistic
    held: HeldOut
    level: FloatArray | None

    def values(self, r: FloatArray) -> FloatArray:
        """Loss of each metasample at predictions r (t,)."""
        loss = self.statistic.loss
        low, high = loss.domain
        if not np.all((r > low) & (r < high)):
            worst = float(np.min(r) if np.min(r) <= low else np.max(r))
            rule = "positive predictions" if low == 0.0 else f"predictions above {low:g}"
            raise ValueError(f"this score needs {rule}, got {worst:g}")
        if loss.quadratic_kernels is not None:
            return self._quartic(r)
        return loss.value(r, self.held.Y)

    def mean(self, r: FloatArray) -> float:
        """Weighted mean loss."""
        return self.held.mean(self.values(r))

    def perfect(self) -> FloatArray | None:
        """Loss of a prediction equal to psi itself, (t,), where that is finite and the least."""
        psi, loss = self.statistic.psi, self.statistic.loss
        if psi is None or self.statistic.chi is not None:
            return None
        return loss.perfect(psi(self.held.Y))

    def best_constant(self) -> float:
        """Return the constant of least mean loss on these metasamples."""
        statistic, held = self.statistic, self.held
        Y = held.Y
        if statistic.psi is not None:
            top = held.mean(statistic.psi(Y))
            return top if statistic.chi is None else top / held.mean(statistic.chi(Y))
        degree = statistic.loss.degree
        return self._searched() if degree is None else self._turning_point(degree)

    def _turning_point(self, degree: int) -> float:
        """Lowest local minimum of the mean loss, a polynomial found from its values."""
        centre, scale = self._units()
        nodes = np.cos(np.pi * (np.arange(degree + 1) + 0.5) / (degree + 1))
        ones = np.ones(self.held.weight.size)
        values = np.array([self.mean((centre + scale * s) * ones) for s in nodes])
        values = values - values.mean()  # the level of the loss would swamp its shape
        curve = np.polynomial.Polynomial(np.polynomial.polynomial.polyfit(nodes, values, degree))
        roots = curve.deriv().roots()
        real = np.real(roots[np.abs(np.imag(roots)) < 1e-6 * (1.0 + np.abs(roots))])
        minima = real[curve.deriv(2)(real) > 0]
        if minima.size == 0:
            raise ValueError(f"{self.statistic!r} has no best constant on these rows")
        return centre + scale * float(minima[np.argmin(curve(minima))])

    def _searched(self) -> float:
        from scipy import optimize  # only for losses given as functions

        centre, scale = self._units()
        ones = np.ones(self.held.weight.size)
        found = optimize.minimize_scalar(
            lambda s: self.mean((centre + scale * float(s)) * ones), bracket=(-0.5, 0.5)
        )
        return centre + scale * float(found.x)

    def _units(self) -> tuple[float, float]:
        labels = self.held.y
        spread = float(np.std(labels)) or 1.0
        if self.statistic.shift == "invariant" or self.statistic.scale == 0:
            unit = spread**self.statistic.scale if self.statistic.scale is not None else spread
            return 0.0, 2.0 * unit
        return float(np.mean(labels)), 4.0 * spread

    def _quartic(self, r: FloatArray) -> FloatArray:
        Y, c, loss = self.held.Y, self.level, self.statistic.loss
        kernels = loss.quadratic_kernels
        assert c is not None
        assert kernels is not None
        if loss.deviations is not None:  # measured from c the powers of r and y stay small
            Y, r, c = Y - c[:, None], r - c, np.zeros_like(c)
        d, b, a = (kernel(Y) for kernel in kernels)
        return np.asarray(
            a * r**4 / 4 + (b - a * c) * r**3 / 3 + (d - b * c) * r**2 / 2 - c * d * r
        )


def fixed_loss(
    statistic: Statistic,
    held: HeldOut,
    loss: LossName = "default",
    reference: npt.ArrayLike | None = None,
) -> FixedLoss:
    """Fix the loss of a score.

    Parameters
    ----------
    statistic : Statistic
        What was predicted.
    held : HeldOut
        The metasamples.
    loss : {"default", "squared", "gamma", "qlike", "poisson"}
        "default" is the statistic's own; "qlike" is another name of "gamma".
    reference : array-like (n,) or float, optional
        Level c(x) of a root-type loss at the rows, in place of the pilot's.
    """
    chosen = with_loss(statistic, loss)
    if chosen.loss.quadratic_kernels is None:
        if reference is not None:
            raise ValueError(f"reference belongs to root-type losses, got {statistic!r}")
        return FixedLoss(chosen, held, None)
    if reference is None:
        rows = reference_level(chosen.loss, held)
    else:
        level = _check.finite("reference", reference)
        if level.shape not in ((), (1,), (held.n_rows,)):
            raise ValueError(
                f"reference must be a number or one per row, {held.n_rows}, got {level.shape}"
            )
        rows = np.broadcast_to(level, (held.n_rows,))
    return FixedLoss(chosen, held, rows[held.members].mean(axis=1))


def with_loss(statistic: Statistic, loss: LossName) -> Statistic:
    """Return the statistic with the loss of that name."""
    _check.choice("loss", loss, NAMES)
    if loss == "default":
        return statistic
    return statistic.with_loss("gamma" if loss == "qlike" else loss)


def reference_level(loss: Loss, held: HeldOut) -> FloatArray:
    """Choose the reference level of a root-type loss from the held-out labels, (n,)."""
    n, y = held.n_rows, held.y
    if loss.deviations is None:
        return np.full(n, _level(loss, y))
    if held.residual is None or held.level is None:
        return level_of(loss, held.X, y)(held.X)
    return _above(loss, held.X, held.level, held.residual)[1]


def level_of(loss: Loss, X: FloatArray, y: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Reference level of a root-type loss as a function of positions, from rows X (n, d), y.

    >>> from multiobs import statistics
    >>> x = np.linspace(0, 1, 50)[:, None]
    >>> level = level_of(statistics.ucb().loss, x, np.tile([0.0, 2.0], 25))
    >>> level(x[:2]).shape
    (2,)
    """
    if loss.deviations is None:
        constant = _level(loss, y)
        return lambda at: np.full(at.shape[0], constant)
    mean = SplinePilot().fit(X, y)
    above, _ = _above(loss, X, np.zeros(y.size), y - mean.predict(X))
    return lambda at: mean.predict(at) + above(at)


def _above(
    loss: Loss, X: FloatArray, mean: FloatArray, residual: FloatArray
) -> tuple[Callable[[FloatArray], FloatArray], FloatArray]:
    """How far the level lies above a mean (n,), as a function of positions; and the level."""
    average = float(np.mean(residual**2))
    if average == 0.0:
        return lambda at: np.zeros(at.shape[0]), mean
    smooth = SplinePilot().fit(X, residual**2)

    def spread(at: FloatArray) -> FloatArray:
        return np.sqrt(np.maximum(smooth.predict(at), _SPREAD_FLOOR * average))

    here = spread(X)
    share = _level(loss, residual / here)
    return lambda at: spread(at) * share, np.asarray(mean + here * share)


def _level(loss: Loss, y: FloatArray) -> float:
    level = loss.level(y)
    assert level is not None  # of a root-type loss
    return level
