"""What a kernel and a loss know of themselves; everything else asks them and never their type."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from multiobs import _check
from multiobs._types import FloatArray

if TYPE_CHECKING:
    from multiobs.statistics.kernels import Monomials, OrderStatistic


class Kernel(ABC):
    """A symmetric function of ``arity`` observations of ``n_columns`` columns each.

    Attributes
    ----------
    arity : int
        How many observations the kernel takes.
    n_columns : int
        How many columns one observation has.
    homogeneity : int
        The power of c by which it grows when y is multiplied by a large c.
    """

    arity: int
    n_columns: int
    homogeneity: int

    @property
    @abstractmethod
    def polynomial(self) -> "Monomials | None":
        """The kernel as a polynomial in moments, None where it is none."""

    @property
    @abstractmethod
    def ranked(self) -> "OrderStatistic | None":
        """The kernel as a combination of order statistics, None where it is none."""

    @property
    @abstractmethod
    def among_equals(self) -> "Monomials | None":
        """What it is where all labels are equal, if it is zero elsewhere; else None."""

    @abstractmethod
    def __call__(self, Y: FloatArray) -> FloatArray:
        """Values (t,) at labels of shape (t, m) or (t, m, s)."""

    @abstractmethod
    def __mul__(self, factor: float) -> "Kernel":
        """Return the kernel multiplied by a number."""


def refuse_no_kernel(name: str, given: object) -> None:
    """Refuse what is no kernel."""
    if not isinstance(given, Kernel):
        raise TypeError(f"{name} must be a Kernel, got {_check.shown(given)}")


class ListedKernel(Kernel):
    """A kernel without structure: its sums are formed by listing the tuples."""

    @property
    @final
    def polynomial(self) -> "Monomials | None":
        return None

    @property
    @final
    def ranked(self) -> "OrderStatistic | None":
        return None

    @property
    @final
    def among_equals(self) -> "Monomials | None":
        return None


class Loss(ABC):
    """A function of a prediction and ``arity`` observations, minimised in mean by a statistic.

    Attributes
    ----------
    arity : int
        How many observations the loss takes.
    sums : tuple of (int, Kernel)
        Kernels whose sums with k-fold features are all a fit needs, as (k, kernel).  Empty for a
        loss that is not a polynomial in r: then every tuple is looked at.
    """

    arity: int
    sums: tuple[tuple[int, Kernel], ...]

    @abstractmethod
    def value(self, r: FloatArray, Y: FloatArray) -> FloatArray:
        """Loss of each prediction, (t,)."""

    @abstractmethod
    def gradient(self, r: FloatArray, Y: FloatArray) -> FloatArray:
        """Derivative in r, (t,)."""

    @abstractmethod
    def hessian(self, r: FloatArray, Y: FloatArray) -> FloatArray | None:
        """Second derivative in r, (t,), or None where it is not known."""

    @abstractmethod
    def identification(self, r: FloatArray, Y: FloatArray) -> FloatArray:
        """Zero in mean at the statistic and positive below it, (t,)."""

    @abstractmethod
    def by_power(
        self, sums: Mapping[int, FloatArray], times_level: Callable[[FloatArray], FloatArray]
    ) -> dict[int, FloatArray]:
        """Turn the sums into what stands with each power of r.

        Parameters
        ----------
        sums : mapping of int to ndarray
            Those of :attr:`sums`, by k.
        times_level : callable
            Multiplies a sum by the reference level: by a number for each tuple or pool, by
            coefficients for a tensor.
        """

    @abstractmethod
    def growth(self, scale: int) -> int:
        """The power of c by which it grows when y grows c times and r with c to the ``scale``."""

    @abstractmethod
    def level(self, y: FloatArray) -> float | None:
        """The level c below which fitted values may not lie, or None if it has none."""

    @abstractmethod
    def settled(self, y: FloatArray) -> "Loss":
        """Return the loss with its level held at the constant for these labels."""

    @property
    @abstractmethod
    def deviations(self) -> float | None:
        """How many standard deviations the statistic lies above the mean, if that is what it is.

        The reference level is then measured from the conditional mean.
        """

    @property
    @abstractmethod
    def domain(self) -> tuple[float, float]:
        """Predictions for which the loss is finite: an open interval."""

    @abstractmethod
    def start(self, Y: FloatArray) -> float | None:
        """The best constant for labels Y (t, m), in closed form, or None if it has none."""

    @property
    @abstractmethod
    def degree(self) -> int | None:
        """The highest power of r, None where it is no polynomial in r."""

    @property
    @abstractmethod
    def quadratic_kernels(self) -> tuple[Kernel, Kernel, Kernel] | None:
        """Kernels d, b and a whose expected d + b r + a r² has the statistic as a root, or None."""

    @abstractmethod
    def perfect(self, psi: FloatArray) -> FloatArray | None:
        """The least loss (t,) a prediction can have where the kernel is psi (t,), if finite."""

    @property
    @abstractmethod
    def derivative(self) -> tuple["Factor", ...]:
        r"""The derivative in r as a sum of :math:`h(y)\,(r-c)^a r^b`; empty if it is not one."""


@final
@dataclass(frozen=True)
class Factor:
    r"""A part :math:`h(y)\,(r-c)^a r^b` of the derivative of a loss, c its reference level."""

    kernel: Kernel
    above_level: int
    power: int


def refuse_no_loss(name: str, given: object) -> None:
    """Refuse what is no loss."""
    if not isinstance(given, Loss):
        raise TypeError(f"{name} must be a Statistic or a Loss, got {_check.shown(given)}")


class TupleLoss(Loss):
    """A loss that is no polynomial in r: sums over tuples do not replace the tuples."""

    sums = ()

    @final
    def identification(self, r: FloatArray, Y: FloatArray) -> FloatArray:
        return -self.gradient(r, Y)

    @final
    def by_power(
        self, sums: Mapping[int, FloatArray], times_level: Callable[[FloatArray], FloatArray]
    ) -> dict[int, FloatArray]:
        return dict(sums)

    @final
    def level(self, y: FloatArray) -> float | None:
        return None

    @final
    def settled(self, y: FloatArray) -> Loss:
        return self

    @property
    @final
    def deviations(self) -> float | None:
        return None

    @property
    @final
    def degree(self) -> int | None:
        return None

    @property
    @final
    def quadratic_kernels(self) -> tuple[Kernel, Kernel, Kernel] | None:
        return None

    @property
    @final
    def derivative(self) -> tuple[Factor, ...]:
        return ()
