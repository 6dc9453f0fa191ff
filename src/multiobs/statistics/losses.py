"""Losses of a prediction r and m observations, in r-space: value, gradient, hessian.

They know neither x nor coefficients.  ``r`` has shape (t,), ``Y`` (t, m) or (t, m, s).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Literal, final

import numpy as np
import numpy.typing as npt

from multiobs._check import numbers
from multiobs._check.functions import answer
from multiobs._types import FloatArray
from multiobs.statistics.base import Factor as Factor
from multiobs.statistics.base import Loss as Loss
from multiobs.statistics.base import TupleLoss as TupleLoss
from multiobs.statistics.base import refuse_no_kernel
from multiobs.statistics.base import refuse_no_loss as refuse_no_loss
from multiobs.statistics.kernels import Kernel, Monomials, Square, constant


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
        self.arity = arities.pop()
        # the constant does not move the minimum
        self.sums = tuple((k, h) for k, h in enumerate(self.kernels) if h is not None and k > 0)

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

    def identification(self, r: FloatArray, Y: FloatArray) -> FloatArray:
        return -self.gradient(r, Y)

    def by_power(
        self, sums: Mapping[int, FloatArray], times_level: Callable[[FloatArray], FloatArray]
    ) -> dict[int, FloatArray]:
        return dict(sums)

    def growth(self, scale: int) -> int:
        top = self.kernels[self.degree]
        assert top is not None
        return top.homogeneity + self.degree * scale

    def level(self, y: FloatArray) -> float | None:
        return None

    def settled(self, y: FloatArray) -> Loss:
        return self

    @property
    def deviations(self) -> float | None:
        return None

    @property
    def domain(self) -> tuple[float, float]:
        return (-inf, inf)

    def start(self, Y: FloatArray) -> float | None:
        return None

    @property
    def quadratic_kernels(self) -> tuple[Kernel, Kernel, Kernel] | None:
        return None

    def perfect(self, psi: FloatArray) -> FloatArray | None:
        return np.zeros_like(psi)

    @property
    def derivative(self) -> tuple[Factor, ...]:
        return tuple(Factor(h * float(k), 0, k - 1) for k, h in self.sums)

    def _derivative(self, r: FloatArray, Y: FloatArray, order: int) -> FloatArray:
        out = np.zeros_like(r, dtype=np.float64)
        for k, kernel in enumerate(self.kernels):
            if kernel is None or k < order:
                continue
            factor = float(np.prod(np.arange(k - order + 1, k + 1))) if order else 1.0
            out += factor * kernel(Y) * r ** (k - order)
        return out


def squared(psi: Kernel) -> PolynomialLoss:
    r"""Squared loss of a mean-type statistic, :math:`(r - \psi(y))^2`.

    Parameters
    ----------
    psi : Kernel
        The kernel whose mean is estimated.

    Examples
    --------
    >>> from multiobs.statistics.kernels import moment
    >>> squared(moment(1)).value(np.array([3.0]), np.array([[1.0]]))
    array([4.])
    """
    refuse_no_kernel("psi", psi)
    return PolynomialLoss([Square(psi), psi * -2.0, constant(1.0, psi.arity, psi.n_columns)])


def ratio(psi: Kernel, chi: Kernel) -> PolynomialLoss:
    r"""Loss of a ratio-type statistic E[psi]/E[chi], :math:`\chi r^2 - 2 \psi r`.

    Parameters
    ----------
    psi, chi : Kernel
        Numerator and denominator.

    Examples
    --------
    >>> from multiobs.statistics.kernels import moment
    >>> ratio(moment(2), moment(1)).gradient(np.array([3.0]), np.array([[3.0]]))
    array([0.])
    """
    refuse_no_kernel("psi", psi)
    refuse_no_kernel("chi", chi)
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
    above_mean : float, optional
        How many standard deviations the statistic lies above the mean, where that is what it is:
        the level is then measured from the conditional mean, so that c may depend on x.

    Examples
    --------
    >>> from multiobs.statistics import ucb
    >>> type(ucb(2.0).loss).__name__
    'RootLoss'
    """

    constant: Monomials
    linear: Monomials
    quadratic: Monomials
    reference: float | Callable[[FloatArray], float]
    above_mean: float | None = None
    arity: int = field(init=False, repr=False)
    sums: tuple[tuple[int, Kernel], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        parts = (self.constant, self.linear, self.quadratic)
        m = max(kernel.arity for kernel in parts)
        object.__setattr__(self, "arity", m)
        sums = tuple((k + 2, kernel.with_arity(m)) for k, kernel in enumerate(parts))
        object.__setattr__(self, "sums", sums)

    @property
    def deviations(self) -> float | None:
        return self.above_mean

    def level(self, y: FloatArray) -> float:
        return float(self.reference(y)) if callable(self.reference) else float(self.reference)

    def settled(self, y: FloatArray) -> PolynomialLoss:
        return self.at(self.level(y))

    def identification(self, r: FloatArray, Y: FloatArray) -> FloatArray:
        return -(self.quadratic(Y) * r**2 + self.linear(Y) * r + self.constant(Y))

    def by_power(
        self, sums: Mapping[int, FloatArray], times_level: Callable[[FloatArray], FloatArray]
    ) -> dict[int, FloatArray]:
        d, b, a = sums[2], sums[3], sums[4]
        return {
            1: -times_level(d),
            2: (d - times_level(b)) / 2,
            3: (b - times_level(a)) / 3,
            4: a / 4,
        }

    def growth(self, scale: int) -> int:
        return self.quadratic.homogeneity + 4 * scale

    @property
    def domain(self) -> tuple[float, float]:
        return (-inf, inf)

    def start(self, Y: FloatArray) -> float | None:
        return None

    @property
    def degree(self) -> int:
        return 4

    @property
    def quadratic_kernels(self) -> tuple[Kernel, Kernel, Kernel]:
        return self.constant, self.linear, self.quadratic

    def perfect(self, psi: FloatArray) -> FloatArray | None:
        return None

    @property
    def derivative(self) -> tuple[Factor, ...]:
        return tuple(Factor(h, 1, k - 2) for k, h in self.sums)

    def at(self, c: float) -> PolynomialLoss:
        """Return the quartic with its reference level fixed."""
        m = self.arity
        d, b, a = self.constant, self.linear, self.quadratic
        parts = [d * -c, (d - b * c) * 0.5, (b - a * c) * (1 / 3), a * 0.25]
        return PolynomialLoss([None, *(part.with_arity(m) for part in parts)])

    def value(self, r: FloatArray, Y: FloatArray) -> FloatArray:
        return self.settled(Y).value(r, Y)

    def gradient(self, r: FloatArray, Y: FloatArray) -> FloatArray:
        return self.settled(Y).gradient(r, Y)

    def hessian(self, r: FloatArray, Y: FloatArray) -> FloatArray:
        return self.settled(Y).hessian(r, Y)


@final
@dataclass(frozen=True)
class BregmanLoss(TupleLoss):
    r"""Losses that keep a positive mean-type statistic positive.

    ``"gamma"`` (QLIKE) is :math:`\psi/r + \log r`, ``"poisson"`` is :math:`r - \psi \log r`;
    both are infinite at :math:`r \le 0` and minimised in mean by :math:`\mathbb{E}[\psi]`.

    Parameters
    ----------
    kind : {"gamma", "poisson"}
        Which.
    psi : Kernel
        The kernel whose mean is estimated.

    Examples
    --------
    >>> from multiobs.statistics.kernels import moment
    >>> loss = BregmanLoss("gamma", moment(1))
    >>> loss.gradient(np.array([2.0]), np.array([[2.0]]))
    array([0.])
    """

    kind: Literal["gamma", "poisson"]
    psi: Kernel
    arity: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "arity", self.psi.arity)

    def growth(self, scale: int) -> int:
        return 0 if self.kind == "gamma" else scale

    @property
    def domain(self) -> tuple[float, float]:
        return (0.0, inf)

    def start(self, Y: FloatArray) -> float | None:
        return float(np.mean(self.psi(Y)))

    def perfect(self, psi: FloatArray) -> FloatArray | None:
        if np.any(psi < 0) or (self.kind == "gamma" and np.any(psi == 0)):
            return None
        safe = np.where(psi > 0, psi, 1.0)
        return 1.0 + np.log(safe) if self.kind == "gamma" else psi - psi * np.log(safe)

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
class CallableLoss(TupleLoss):
    """A user's own loss, given by vectorised functions of (r, Y).

    Parameters
    ----------
    value_function, gradient_function, hessian_function : callable
        Of predictions (t,) and labels (t, m), to (t,); the last may be None.
    n_observations : int
        The arity m.

    Examples
    --------
    >>> value, slope = lambda r, Y: (r - Y[:, 0]) ** 2, lambda r, Y: 2 * (r - Y[:, 0])
    >>> loss = CallableLoss(value, slope, None, 1)
    >>> loss.value(np.array([3.0]), np.array([[1.0]]))
    array([4.])
    """

    value_function: Derivative
    gradient_function: Derivative
    hessian_function: Derivative | None
    arity: int

    def growth(self, scale: int) -> int:
        return 0

    @property
    def domain(self) -> tuple[float, float]:
        return (-inf, inf)

    def start(self, Y: FloatArray) -> float | None:
        return None

    def perfect(self, psi: FloatArray) -> FloatArray | None:
        return None

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
        out: FloatArray = numbers(
            f"the {name} of a loss", answer(f"the {name} of a loss", function, r, Y)
        )
        if out.shape != r.shape:
            raise ValueError(
                f"the {name} of a loss must return one number per prediction, shape {r.shape}, "
                f"got shape {out.shape}"
            )
        return out
