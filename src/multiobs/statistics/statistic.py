"""A statistic as an object: what it is, how it is elicited, and checks of a user's own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf, isfinite, sqrt
from typing import Any, Literal, NamedTuple, final

import numpy as np

from multiobs import _check
from multiobs._types import FloatArray
from multiobs.statistics.facts import KernelMeans, MomentFunction, Ranges, itself, quotient
from multiobs.statistics.kernels import Kernel, OrderStatistic
from multiobs.statistics.losses import BregmanLoss, Loss, RootLoss, squared

Shift = Literal["invariant", "equivariant"] | None


@final
@dataclass(frozen=True)
class Statistic:
    """A functional of a law, the loss that elicits it, and how it moves with the units of y.

    Attributes
    ----------
    name : str
        The catalogue name.
    loss : Loss
        A loss of ``arity`` observations that the statistic minimises in mean.
    psi, chi : Kernel or None
        Kernels of a mean-type (psi) or ratio-type (psi over chi) statistic.
    shift : {"invariant", "equivariant"} or None
        What adding a constant to y does to it.
    scale : int or None
        The power of c by which it grows when y is multiplied by c > 0.
    domain : tuple of float
        Values a law can have; a fit outside it is reported.
    unit : str
        Its unit in terms of the unit of y.
    parameters : mapping
        What it was built with, such as ``{"lam": 8.0}``.
    n_columns : int
        Columns of y it needs.
    trusted : bool
        False for a user's own functions, which are checked on the data.
    catalogued : bool
        Whether :func:`build` makes it again from its name and parameters.
    title : str
        Its name on the axes of a picture; the name with spaces by default.
    moments : MomentFunction or None
        It as a function of mean and variance, where it is one.
    ranges : Ranges or None
        Its range and the constants of its loss for labels in an interval, where they are known.
    kernel_means : KernelMeans or None
        For a root: it as a function of the means of kernels.
    parts : Parts or None
        Statistics that a smooth class learns one by one, where it is a function of several.
    arity : int
        How many observations its loss takes.
    loss_growth : int
        The power of c by which the loss grows when y grows c times and r with it.
    of_spread : bool
        Whether it says how far labels are spread, wherever they are: a power of their scale.

    Examples
    --------
    >>> from multiobs import statistics
    >>> variance = statistics.variance()
    >>> variance.arity, variance.domain, variance.unit_in("minutes")
    (2, (0.0, inf), 'minutes²')
    """

    name: str
    loss: Loss
    psi: Kernel | None = None
    chi: Kernel | None = None
    shift: Shift = None
    scale: int | None = None
    domain: tuple[float, float] = (-inf, inf)
    unit: str = "unit of y"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    n_columns: int = 1
    trusted: bool = True
    catalogued: bool = False
    title: str = ""
    moments: MomentFunction | None = None
    ranges: Ranges | None = None
    kernel_means: KernelMeans | None = None
    parts: "Parts | None" = None
    arity: int = field(init=False, repr=False)
    loss_growth: int = field(init=False, repr=False)
    of_spread: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not self.title:
            object.__setattr__(self, "title", self.name.replace("_", " "))
        object.__setattr__(self, "arity", self.loss.arity)
        grown = 0 if self.scale is None else self.loss.growth(self.scale)
        object.__setattr__(self, "loss_growth", grown)
        positive = self.domain[0] == 0.0 and self.psi is not None
        spread = positive and self.shift == "invariant" and bool(self.scale)
        object.__setattr__(self, "of_spread", spread)

    @property
    def form(self) -> Literal["mean", "ratio", "root", "loss"]:
        """Which of the forms of the catalogue it has."""
        if self.psi is not None:
            return "mean" if self.chi is None else "ratio"
        rooted = isinstance(self.loss, RootLoss) or self.kernel_means is not None
        return "root" if rooted else "loss"

    @property
    def means(self) -> KernelMeans | None:
        """The statistic as a function of the means of kernels, None when only its loss is known."""
        if self.psi is None:
            return self.kernel_means
        if self.chi is None:
            return KernelMeans((self.psi,), itself)
        return KernelMeans((self.psi, self.chi), quotient)

    def unit_in(self, unit: str | None) -> str:
        """Return its unit for labels in ``unit``, in words where that is None, "" for a number.

        >>> from multiobs.statistics.kernels import moment
        >>> Statistic("v", squared(moment(2)), unit="unit of y²").unit_in("m")
        'm²'
        """
        if self.unit == "1":
            return ""
        if unit is not None and not isinstance(unit, str):
            raise TypeError(f"unit must be a text or None, got {_check.shown(unit)}")
        return self.unit if unit is None else self.unit.replace("unit of y", unit)

    def replicates(self, n: int) -> int:
        """How many labels at one x the paper's empirical approach draws from a budget of n.

        The square root of n, or as many as the loss takes when that is of order statistics.
        """
        if isinstance(self.psi, OrderStatistic):
            return self.arity
        return max(self.arity, round(sqrt(_check.nonnegative("n", n))))

    @_check.arithmetic("r and Y")
    def identification(self, r: FloatArray, Y: FloatArray) -> FloatArray:
        r"""Identification function V(r, y): zero in mean at the statistic, (t,)."""
        r, Y = _check.finite("r", r), _check.finite("Y", Y)
        shape = (self.arity,) if self.n_columns == 1 else (self.arity, self.n_columns)
        if Y.ndim == 0 or Y.shape[1:] != shape or r.shape not in ((), Y.shape[:1]):
            raise ValueError(
                f"r and Y must have shapes (t,) and (t, {', '.join(map(str, shape))}), got "
                f"{r.shape} and {Y.shape}"
            )
        if self.psi is not None:
            weight = 1.0 if self.chi is None else self.chi(Y)
            return self.psi(Y) - weight * r
        return self.loss.identification(r, Y)

    def with_loss(self, kind: Literal["squared", "gamma", "poisson"]) -> "Statistic":
        """Return the same mean-type statistic with another consistent loss."""
        _check.choice("loss", kind, ("squared", "gamma", "poisson"))
        if self.form != "mean" or self.psi is None:
            raise ValueError(f"only a mean-type statistic has a {kind} loss, got {self.name!r}")
        if kind != "squared" and self.domain[0] < 0:
            raise ValueError(f"a {kind} loss needs a nonnegative statistic, got {self.name!r}")
        loss = squared(self.psi) if kind == "squared" else BregmanLoss(kind, self.psi)
        return replace(self, loss=loss, catalogued=self.catalogued and kind == "squared")

    def __repr__(self) -> str:
        inside = ", ".join(f"{key}={value!r}" for key, value in self.parameters.items())
        return f"{self.name}({inside})"


class Parts(NamedTuple):
    """A statistic as a function of others that are means or ratios: combine(r_1, r_2, …).

    The upper confidence bound is the mean plus a multiple of the root of the variance; a smooth
    mean and a smooth positive variance make a smooth bound above the mean.

    Where the first two grow with y alike, ``mixed(beta)`` has the first less beta times the second
    as its first part: with skewed labels that is known much better than the first itself.
    """

    statistics: tuple[Statistic, ...]
    combine: Callable[..., FloatArray]
    mixed: Callable[[float], "Parts"] | None = None
    beta: float = 0.0  # how these were mixed


def verify(statistic: Statistic, Y: FloatArray) -> None:
    """Check a user's own functions on labels (t, m): shape, symmetry, finiteness, derivative."""
    loss = statistic.loss
    spread = float(np.std(Y)) or 1.0
    r = np.linspace(0.5, 1.5, Y.shape[0]) * spread
    flipped = np.ascontiguousarray(Y[:, ::-1])
    shuffled = np.ascontiguousarray(np.roll(Y, 1, axis=1))
    parts: dict[str, Callable[[FloatArray], FloatArray]] = {}
    if statistic.psi is not None:
        parts["psi"] = statistic.psi
    if statistic.chi is not None:
        parts["chi"] = statistic.chi
    parts["the loss"] = partial(loss.value, r)
    for name, function in parts.items():
        here = function(Y)
        if not np.all(np.isfinite(here)):
            bad = _check.shown(Y[int(np.flatnonzero(~np.isfinite(here))[0])].tolist())
            raise ValueError(f"{name} must be finite, got a non-finite value at y = {bad}")
        size = np.maximum(np.abs(here), np.max(np.abs(here), initial=0.0) * 1e-6)
        for other in (flipped, shuffled):
            wrong = np.abs(function(other) - here) > 1e-7 * size
            if np.any(wrong):
                bad = _check.shown(Y[int(np.flatnonzero(wrong)[0])].tolist())
                raise ValueError(
                    f"{name} must not depend on the order of the observations, "
                    f"got another value after permuting y = {bad}"
                )
    if statistic.chi is not None and float(np.mean(statistic.chi(Y))) <= 0.0:
        raise ValueError(
            f"chi must have a positive mean, got {float(np.mean(statistic.chi(Y))):g} on these y"
        )
    step = 1e-4 * spread
    slope = (loss.value(r + step, Y) - loss.value(r - step, Y)) / (2 * step)
    given = loss.gradient(r, Y)
    tolerance = 1e-3 * (np.abs(given) + np.abs(slope)) + 1e-4 * np.max(np.abs(given), initial=0.0)
    wrong = np.abs(slope - given) > tolerance
    # A loss may have kinks (absolute errors): a wrong gradient is wrong at most points.
    if np.mean(wrong) > 0.2:
        at = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            "gradient must be the derivative of value in r, got "
            f"{given[at]:g} where finite differences give {slope[at]:g}"
        )


def outside_domain(statistic: Statistic, r: FloatArray) -> FloatArray:
    """Predictions that no law can have, in the order they came."""
    low, high = statistic.domain
    slack = 1e-9 * (abs(low) if isfinite(low) else 1.0)
    return np.asarray(r[(r < low - slack) | (r > high + slack)])
