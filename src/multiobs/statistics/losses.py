"""Losses of a prediction r and m observations, in r-space: value, gradient, hessian.

They know neither x nor coefficients.  ``r`` has shape (t,), ``Y`` (t, m) or (t, m, s).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, final

import numpy as np
import numpy.typing as npt

from multiobs._types import FloatArray
from multiobs.statistics.kernels import Kernel, Monomials, Square, constant


class Loss(ABC):
    """A function of a prediction and ``arity`` observations, minimised in mean by a statistic."""

    @property
    @abstractmethod
    def arity(self) -> int:
        """How many observations the loss takes."""

    @abstractmethod
    def value(self, r: FloatArray, Y: FloatArray) -> FloatArray:
        """Loss of each prediction, (t,)."""

    @abstractmethod
    def gradient(self, r: FloatArray, Y: FloatArray) -> FloatArray:
        """Derivative in r, (t,)."""

    @abstractmethod
    def hessian(self, r: FloatArray, Y: FloatArray) -> FloatArray | None:
        """Second derivative in r, (t,), or None where it is not known."""


@final
class PolynomialLoss(Loss):
    r"""A polynomial in r whose coefficients are kernels, :math:`\sum_k h_k(y)\,r^k`.

    Parameters
    ----------
    kernels : sequence of Kernel or None
        The kernel of each power of r, from 0; None is a zero kernel.

    Examples
    --------
    >>> from multiobs.statistics.kernels import moment
    >>> loss = squared(moment(2) - moment(1) * moment(1))
    >>> loss.value(np.array([1.0]), np.array([[1.0, 3.0]]))
    array([1.])
    """

    def __init__(self, kernels: Sequence[Kernel | None]) -> None:
        self.kernels = tuple(kernels)
        arities = {kernel.arity for kernel in self.kernels if kernel is not None}
        if len(arities) != 1:
            raise ValueError(f"the kernels of a loss must share one arity, got {sorted(arities)}")
        self._arity = arities.pop()

    @property
    def arity(self) -> int:
        return self._arity

    @property
    def degree(self) -> int:
        """The highest power of r."""
        return max(k for k, kernel in enumerate(self.kernels) if kernel is not None)

    def value(self, r: FloatArray, Y: FloatArray) -> FloatArray:
        return self._derivative(r, Y, 0)

    def gradient(self, r: FloatArray, Y: FloatArray) -> FloatArray:
        return self._derivative(r, Y, 1)

    def hessian(self, r: FloatArray, Y: FloatArray) -> FloatArray:
        return self._derivative(r, Y, 2)

    def _derivative(self, r: FloatArray, Y: FloatArray, order: int) -> FloatArray:
        out = np.zeros_like(r, dtype=np.float64)
        for k, kernel in enumerate(self.kernels):
            if kernel is None or k < order:
                continue
            factor = float(np.prod(np.arange(k - order + 1, k + 1))) if order else 1.0
            out += factor * kernel(Y) * r ** (k - order)
        return out


def squared(psi: Kernel) -> PolynomialLoss:
    r"""Squared loss of a mean-type statistic, :math:`(r - \psi(y))^2`."""
    return PolynomialLoss([Square(psi), psi * -2.0, constant(1.0, psi.arity, psi.n_columns)])


def ratio(psi: Kernel, chi: Kernel) -> PolynomialLoss:
    r"""Loss of a ratio-type statistic E[psi]/E[chi], :math:`\chi r^2 - 2 \psi r`."""
    return PolynomialLoss([None, psi * -2.0, chi])


@final
@dataclass(frozen=True)
class RootLoss(Loss):
    r"""Loss of a statistic that is a root of :math:`a r^2 + b r + d` in expectation.

    The integral of :math:`(r - c)(a r^2 + b r + d)` over r, a quartic that is bounded below.
    With roots :math:`\mu \pm s` of the expected quadratic, the upper root is its unique global
    minimiser exactly when :math:`\mu - 3s < c < \mu`, and the lower one when
    :math:`\mu < c < \mu + 3s`.

    Parameters
    ----------
    constant, linear, quadratic : Monomials
        The kernels d, b and a, with E[a] > 0.
    reference : float or callable
        The level c, or a function of the labels that gives it.
    follows_mean : bool
        Whether the level is to be measured from the conditional mean: then c may depend on x.
    """

    constant: Monomials
    linear: Monomials
    quadratic: Monomials
    reference: float | Callable[[FloatArray], float]
    follows_mean: bool = False

    @property
    def arity(self) -> int:
        return max(k.arity for k in (self.constant, self.linear, self.quadratic))

    def level(self, y: FloatArray) -> float:
        """Return the reference level for these labels."""
        return float(self.reference(y)) if callable(self.reference) else float(self.reference)

    def at(self, c: float) -> PolynomialLoss:
        """Return the quartic with its reference level fixed."""
        m = self.arity
        d, b, a = self.constant, self.linear, self.quadratic
        parts = [d * -c, (d - b * c) * 0.5, (b - a * c) * (1 / 3), a * 0.25]
        return PolynomialLoss([None, *(part.with_arity(m) for part in parts)])

    def value(self, r: FloatArray, Y: FloatArray) -> FloatArray:
        return self.at(self.level(Y)).value(r, Y)

    def gradient(self, r: FloatArray, Y: FloatArray) -> FloatArray:
        return self.at(self.level(Y)).gradient(r, Y)

    def hessian(self, r: FloatArray, Y: FloatArray) -> FloatArray:
        return self.at(self.level(Y)).hessian(r, Y)


@final
@dataclass(frozen=True)
class BregmanLoss(Loss):
    r"""Losses that keep a positive mean-type statistic positive.

    ``"gamma"`` (QLIKE) is :math:`\psi/r + \log r`, ``"poisson"`` is :math:`r - \psi \log r`;
    both are infinite at :math:`r \le 0` and minimised in mean by :math:`\mathbb{E}[\psi]`.

    >>> from multiobs.statistics.kernels import moment
    >>> loss = BregmanLoss("gamma", moment(1))
    >>> loss.gradient(np.array([2.0]), np.array([[2.0]]))
    array([0.])
    """

    kind: Literal["gamma", "poisson"]
    psi: Kernel

    @property
    def arity(self) -> int:
        return self.psi.arity

    def value(self, r: FloatArray, Y: FloatArray) -> FloatArray:
        psi = self.psi(Y)
        with np.errstate(divide="ignore", invalid="ignore"):
            out = psi / r + np.log(r) if self.kind == "gamma" else r - psi * np.log(r)
        return np.where(r > 0, out, np.inf)

    def gradient(self, r: FloatArray, Y: FloatArray) -> FloatArray:
        psi = self.psi(Y)
        return (r - psi) / r**2 if self.kind == "gamma" else 1.0 - psi / r

    def hessian(self, r: FloatArray, Y: FloatArray) -> FloatArray:
        psi = self.psi(Y)
        return (2.0 * psi - r) / r**3 if self.kind == "gamma" else psi / r**2


Derivative = Callable[[FloatArray, FloatArray], npt.ArrayLike]


@final
@dataclass(frozen=True)
class CallableLoss(Loss):
    """A user's own loss, given by vectorised functions of (r, Y)."""

    value_function: Derivative
    gradient_function: Derivative
    hessian_function: Derivative | None
    n_observations: int

    @property
    def arity(self) -> int:
        return self.n_observations

    def value(self, r: FloatArray, Y: FloatArray) -> FloatArray:
        return self._checked("value", self.value_function, r, Y)

    def gradient(self, r: FloatArray, Y: FloatArray) -> FloatArray:
        return self._checked("gradient", self.gradient_function, r, Y)

    def hessian(self, r: FloatArray, Y: FloatArray) -> FloatArray | None:
        if self.hessian_function is None:
            return None
        return self._checked("hessian", self.hessian_function, r, Y)

    @staticmethod
    def _checked(name: str, function: Derivative, r: FloatArray, Y: FloatArray) -> FloatArray:
        out: FloatArray = np.asarray(function(r, Y), dtype=np.float64)
        if out.shape != r.shape:
            raise ValueError(
                f"the {name} of a loss must return one number per prediction, shape {r.shape}, "
                f"got shape {out.shape}"
            )
        return out
