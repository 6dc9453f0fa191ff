"""Pseudo-observations of a linked loss, and Newton's method on their penalised sum."""

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy import linalg

from multiobs._types import FloatArray
from multiobs.fit.links import LinkedLoss
from multiobs.fit.solvers import Status

STEPS = 100  # of Newton's method
ENDED = 1e-14  # expected fall per weight at a minimum
SLOW = 0.1  # of the expected fall that a step may leave with the Hessian of another point


@final
@dataclass(frozen=True)
class PseudoData:
    """Pooled pseudo-observations with the columns of a class.

    Attributes
    ----------
    Z : ndarray (g, p)
        Columns at the pooled positions.
    weight : ndarray (g,)
        Summed weight of the tuples pooled.
    means : ndarray (g, q)
        Means of the loss's kernels.
    offset : ndarray (g,)
        Added to η.
    """

    Z: FloatArray
    weight: FloatArray
    means: FloatArray
    offset: FloatArray

    def eta(self, w: FloatArray) -> FloatArray:
        """The linear predictor, (g,)."""
        return self.Z @ w + self.offset

    def value(self, loss: LinkedLoss, w: FloatArray) -> float:
        """The summed loss."""
        return self.value_at(loss, self.eta(w))

    def value_at(self, loss: LinkedLoss, eta: FloatArray) -> float:
        """The summed loss of a linear predictor (g,)."""
        per = np.einsum("gk,gk->g", loss.integrals(eta), self.means)
        return float(self.weight @ per)

    def gradient(self, loss: LinkedLoss, w: FloatArray) -> FloatArray:
        """Derivative of :meth:`value`, (p,)."""
        return self.gradient_at(loss, self.eta(w))

    def gradient_at(self, loss: LinkedLoss, eta: FloatArray) -> FloatArray:
        """Derivative of :meth:`value` where the linear predictor is η (g,)."""
        per = np.einsum("gk,gk->g", loss.slopes(eta), self.means)
        return np.asarray((self.weight * per) @ self.Z)

    def information(self, loss: LinkedLoss, w: FloatArray) -> FloatArray:
        """Expected Hessian A of :meth:`value`, (p, p)."""
        size = self.weight * loss.expected_curvature(self.eta(w), self.means)
        return np.asarray((self.Z * size[:, None]).T @ self.Z)

    def hessian(self, loss: LinkedLoss, w: FloatArray) -> FloatArray:
        """Hessian of :meth:`value`, (p, p)."""
        per = np.einsum("gk,gk->g", loss.curvatures(self.eta(w)), self.means)
        return np.asarray((self.Z * (self.weight * per)[:, None]).T @ self.Z)


@final
@dataclass
class Curvature:
    """The Hessian of a fit nearby, without its penalty, if there was one."""

    hessian: FloatArray | None = None


def minimise(
    data: PseudoData,
    loss: LinkedLoss,
    ridge: FloatArray,
    start: FloatArray,
    held: Curvature | None = None,
) -> tuple[FloatArray, Status]:
    """Newton's method with step halving.

    Parameters
    ----------
    data : PseudoData
        What is fitted to.
    loss : LinkedLoss
        The loss.
    ridge : ndarray (p,)
        λ of each column.
    start : ndarray (p,)
        Where to begin.
    held : Curvature, optional
        A Hessian of nearly the same data nearby, which is used for as long as it serves; the last
        one is left in it. Such a minimum is good to the tolerance and no better.
    """
    w, total = start, float(data.weight.sum())
    last = Curvature() if held is None else held

    def penalised(at: FloatArray, eta: FloatArray) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            found = data.value_at(loss, eta) + 0.5 * float(ridge @ at**2)
        return found if np.isfinite(found) else np.inf

    eta = data.eta(w)
    value, before = penalised(w, eta), np.inf
    for _ in range(STEPS):
        slope = data.gradient_at(loss, eta) + ridge * w
        step = None if held is None else _step(last, ridge, slope)
        own = step is None or -float(slope @ step) > SLOW * before
        if own:
            last.hessian = data.hessian(loss, w)
            step = _step(last, ridge, slope)
            if step is None:  # exact curvature converges fastest where it is positive
                step = _expected_step(data.information(loss, w) + np.diag(ridge), slope)
        assert step is not None
        fall = -float(slope @ step)
        if not fall > ENDED * total:
            return w, Status.CONVERGED
        size = 1.0
        while size > 1e-8:
            trial = w + size * step
            there = data.eta(trial)
            after = penalised(trial, there)
            if after <= value - 1e-4 * size * fall:
                break
            size /= 2
        else:
            if not own:  # by the Hessian of another point: once more by its own
                before = 0.0
                continue
            near = fall < 1e-8 * total  # the value's own rounding
            return w, Status.CONVERGED if near else Status.NOT_CONVERGED
        w, eta, value, before = trial, there, after, fall if size == 1.0 else 0.0
    return w, Status.NOT_CONVERGED


def _step(held: Curvature, ridge: FloatArray, slope: FloatArray) -> FloatArray | None:
    """Return Newton's step with the Hessian held, None if there is none or it is not positive."""
    if held.hessian is None:
        return None
    try:
        factor = linalg.cho_factor(held.hessian + np.diag(ridge))
    except linalg.LinAlgError:
        return None
    return np.asarray(-linalg.cho_solve(factor, slope))


def _expected_step(expected: FloatArray, slope: FloatArray) -> FloatArray:
    lift = 1e-12 * np.diag(expected).max()
    factor = linalg.cho_factor(expected + lift * np.eye(slope.size))
    return np.asarray(-linalg.cho_solve(factor, slope))
