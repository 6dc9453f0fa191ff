r"""Losses seen through a link: r = g⁻¹(η), and a loss under which η elicits the same statistic.

Every loss here is linear in the kernels of the labels,

.. math:: \ell(\eta, y) = \sum_k h_k(y)\, F_k(\eta),

so an anchor's tuples enter through the means of their kernels alone and pooling loses nothing.
The derivative is zero in mean exactly at the statistic, whatever the law of y:

* identity: :math:`\tfrac12 \chi \eta^2 - \psi \eta`;
* log above a lower end a: :math:`(\psi - a \chi) e^{-\eta} + \chi \eta`, the gamma deviance;
* softplus above a lower end a: the gamma deviance of :math:`r - a = k \log(1 + e^\eta)`, which is
  exponential below the knee k and straight above it;
* logit on (a, b): :math:`\chi \log(1 + e^\eta) - \eta (\psi - a \chi)/(b - a)`, the log loss.

All are Bregman divergences between psi / chi and r, with weight chi.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Literal, final

import numpy as np
from scipy.special import expit

from multiobs._types import FloatArray
from multiobs.statistics import Statistic
from multiobs.statistics.kernels import Kernel, constant

LARGEST = 500.0  # |η| beyond which an exponential is no number any more

LinkName = Literal["identity", "log", "softplus", "logit"]


class LinkedLoss(ABC):
    """A loss of η that is linear in kernels of the labels.

    All arrays of functions of η (g,) have one column for each kernel, (g, q).
    """

    @property
    @abstractmethod
    def kernels(self) -> Sequence[Kernel]:
        """The q kernels of m labels."""

    @property
    @abstractmethod
    def link(self) -> LinkName:
        """Name of the link."""

    @property
    @abstractmethod
    def knee(self) -> float:
        """Above the lower end, where the link bends; one for links that do not."""

    @abstractmethod
    def inverse(self, eta: FloatArray) -> FloatArray:
        """The statistic r = g⁻¹(η), (g,)."""

    @abstractmethod
    def inverse_slope(self, eta: FloatArray) -> FloatArray:
        """Derivative of r in η, (g,)."""

    @abstractmethod
    def forward(self, r: FloatArray) -> FloatArray:
        """Return η of values r inside the domain, (g,)."""

    @abstractmethod
    def moved(self, psi: FloatArray, here: FloatArray, there: FloatArray) -> FloatArray:
        """Pseudo-observations psi / chi from where the statistic is ``there`` to ``here``.

        In mean they are ``here`` if they were ``there``.
        """

    @abstractmethod
    def integrals(self, eta: FloatArray) -> FloatArray:
        """F_k(η): the loss is their sum times the kernels, (g, q)."""

    @abstractmethod
    def slopes(self, eta: FloatArray) -> FloatArray:
        """Derivatives of :meth:`integrals` in η, (g, q)."""

    @abstractmethod
    def curvatures(self, eta: FloatArray) -> FloatArray:
        """Second derivatives in η, (g, q)."""

    @abstractmethod
    def expected_curvature(self, eta: FloatArray, means: FloatArray) -> FloatArray:
        """Curvature in mean where η is right, from the kernels' means (g, q): Fisher's weights."""

    @abstractmethod
    def constant(self, means: FloatArray) -> float | None:
        """η of the best constant for kernels of these means (q,), or None if there is none."""


@final
@dataclass(frozen=True)
class IdentityLoss(LinkedLoss):
    """Squared loss of a mean psi or a ratio psi / chi, η = r.

    >>> from multiobs.statistics.kernels import constant, moment
    >>> loss = IdentityLoss(moment(1), constant(1.0, 1))
    >>> loss.constant(np.array([3.0, 1.5]))
    2.0
    """

    psi: Kernel
    chi: Kernel

    @property
    def kernels(self) -> Sequence[Kernel]:
        return self.psi, self.chi

    @property
    def link(self) -> LinkName:
        return "identity"

    @property
    def knee(self) -> float:
        return 1.0

    def inverse(self, eta: FloatArray) -> FloatArray:
        return eta

    def inverse_slope(self, eta: FloatArray) -> FloatArray:
        return np.ones_like(eta)

    def forward(self, r: FloatArray) -> FloatArray:
        return r

    def moved(self, psi: FloatArray, here: FloatArray, there: FloatArray) -> FloatArray:
        return psi + (here - there)

    def integrals(self, eta: FloatArray) -> FloatArray:
        return np.stack([-eta, eta**2 / 2], axis=1)

    def slopes(self, eta: FloatArray) -> FloatArray:
        return np.stack([-np.ones_like(eta), eta], axis=1)

    def curvatures(self, eta: FloatArray) -> FloatArray:
        return np.stack([np.zeros_like(eta), np.ones_like(eta)], axis=1)

    def expected_curvature(self, eta: FloatArray, means: FloatArray) -> FloatArray:
        return np.maximum(means[:, 1], 0.0)

    def constant(self, means: FloatArray) -> float | None:
        return float(means[0] / means[1]) if means[1] > 0 else None


@final
@dataclass(frozen=True)
class LogLoss(LinkedLoss):
    """Gamma deviance of a mean or ratio above a lower end, r = low + exp η.

    >>> from multiobs.statistics.kernels import constant, moment
    >>> loss = LogLoss(moment(1), constant(1.0, 1), 0.0)
    >>> loss.slopes(np.array([0.0])) @ np.array([1.0, 1.0])
    array([0.])
    """

    psi: Kernel
    chi: Kernel
    low: float

    @property
    def kernels(self) -> Sequence[Kernel]:
        return self.psi, self.chi

    @property
    def link(self) -> LinkName:
        return "log"

    @property
    def knee(self) -> float:
        return 1.0

    def inverse(self, eta: FloatArray) -> FloatArray:
        return self.low + _exp(eta)

    def inverse_slope(self, eta: FloatArray) -> FloatArray:
        return _exp(eta)

    def forward(self, r: FloatArray) -> FloatArray:
        return np.asarray(np.log(r - self.low))

    def moved(self, psi: FloatArray, here: FloatArray, there: FloatArray) -> FloatArray:
        # by a factor, so that a positive kernel stays positive
        return self.low + (psi - self.low) * ((here - self.low) / (there - self.low))

    def integrals(self, eta: FloatArray) -> FloatArray:
        inverse = _exp(-eta)
        return np.stack([inverse, eta - self.low * inverse], axis=1)

    def slopes(self, eta: FloatArray) -> FloatArray:
        inverse = _exp(-eta)
        return np.stack([-inverse, 1.0 + self.low * inverse], axis=1)

    def curvatures(self, eta: FloatArray) -> FloatArray:
        inverse = _exp(-eta)
        return np.stack([inverse, -self.low * inverse], axis=1)

    def expected_curvature(self, eta: FloatArray, means: FloatArray) -> FloatArray:
        return np.maximum(means[:, 1], 0.0)

    def constant(self, means: FloatArray) -> float | None:
        above = means[0] - self.low * means[1]
        return float(np.log(above / means[1])) if above > 0 and means[1] > 0 else None


@final
@dataclass(frozen=True)
class SoftplusLoss(LinkedLoss):
    """Gamma deviance of a mean or ratio above a lower end, r = low + knee log(1 + exp η).

    >>> from multiobs.statistics.kernels import constant, moment
    >>> loss = SoftplusLoss(moment(1), constant(1.0, 1), 0.0, 2.0)
    >>> loss.inverse(np.array([-30.0, 30.0])).round(6)
    array([ 0., 60.])
    """

    psi: Kernel
    chi: Kernel
    low: float
    bend: float

    @property
    def kernels(self) -> Sequence[Kernel]:
        return self.psi, self.chi

    @property
    def link(self) -> LinkName:
        return "softplus"

    @property
    def knee(self) -> float:
        return self.bend

    def inverse(self, eta: FloatArray) -> FloatArray:
        return self.low + self._above(eta)

    def inverse_slope(self, eta: FloatArray) -> FloatArray:
        return np.asarray(self.knee * expit(eta))

    def forward(self, r: FloatArray) -> FloatArray:
        z = (r - self.low) / self.knee
        return np.asarray(z + np.log(-np.expm1(-z)))

    def moved(self, psi: FloatArray, here: FloatArray, there: FloatArray) -> FloatArray:
        return self.low + (psi - self.low) * ((here - self.low) / (there - self.low))

    def integrals(self, eta: FloatArray) -> FloatArray:
        above = self._above(eta)
        return np.stack([1.0 / above, np.log(above) - self.low / above], axis=1)

    def slopes(self, eta: FloatArray) -> FloatArray:
        above, one, _ = self._relative(eta)
        return np.stack([-one / above, one + self.low * one / above], axis=1)

    def curvatures(self, eta: FloatArray) -> FloatArray:
        above, one, two = self._relative(eta)
        psi = (2 * one**2 - two) / above
        return np.stack([psi, two - one**2 - self.low * psi], axis=1)

    def expected_curvature(self, eta: FloatArray, means: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(means[:, 1], 0.0) * self._relative(eta)[1] ** 2)

    def constant(self, means: FloatArray) -> float | None:
        above = means[0] - self.low * means[1]
        if not (above > 0 and means[1] > 0):
            return None
        return float(self.forward(np.array(self.low + above / means[1])))

    def _above(self, eta: FloatArray) -> FloatArray:
        return np.asarray(self.knee * np.logaddexp(0.0, np.maximum(eta, -LARGEST)))

    def _relative(self, eta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Height above the lower end, and its two derivatives divided by it."""
        above, share = self._above(eta), expit(np.maximum(eta, -LARGEST))
        one = self.knee * share / above
        return above, one, one * (1.0 - share)


@final
@dataclass(frozen=True)
class LogitLoss(LinkedLoss):
    """Log loss of a mean or ratio between two ends, r = low + (high - low) / (1 + exp(-η)).

    >>> from multiobs.statistics.kernels import constant, moment
    >>> loss = LogitLoss(moment(1), constant(1.0, 1), 0.0, 1.0)
    >>> loss.inverse(np.array([0.0]))
    array([0.5])
    """

    psi: Kernel
    chi: Kernel
    low: float
    high: float

    @property
    def kernels(self) -> Sequence[Kernel]:
        return self.psi, self.chi

    @property
    def link(self) -> LinkName:
        return "logit"

    @property
    def knee(self) -> float:
        return 1.0

    def inverse(self, eta: FloatArray) -> FloatArray:
        return np.asarray(self.low + (self.high - self.low) * expit(eta))

    def inverse_slope(self, eta: FloatArray) -> FloatArray:
        return np.asarray((self.high - self.low) * expit(eta) * expit(-eta))

    def forward(self, r: FloatArray) -> FloatArray:
        return np.asarray(np.log((r - self.low) / (self.high - r)))

    def moved(self, psi: FloatArray, here: FloatArray, there: FloatArray) -> FloatArray:
        return psi + (here - there)

    def integrals(self, eta: FloatArray) -> FloatArray:
        width = self.high - self.low
        return np.stack([-eta / width, np.logaddexp(0.0, eta) + eta * (self.low / width)], axis=1)

    def slopes(self, eta: FloatArray) -> FloatArray:
        width = self.high - self.low
        return np.stack([np.full_like(eta, -1 / width), expit(eta) + self.low / width], axis=1)

    def curvatures(self, eta: FloatArray) -> FloatArray:
        return np.stack([np.zeros_like(eta), expit(eta) * expit(-eta)], axis=1)

    def expected_curvature(self, eta: FloatArray, means: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(means[:, 1], 0.0) * expit(eta) * expit(-eta))

    def constant(self, means: FloatArray) -> float | None:
        r = float(means[0] / means[1]) if means[1] > 0 else np.nan
        return float(self.forward(np.array(r))) if self.low < r < self.high else None


def _exp(eta: FloatArray) -> FloatArray:
    return np.asarray(np.exp(np.clip(eta, -LARGEST, LARGEST)))


def linked(
    statistic: Statistic,
    link: LinkName | Literal["auto"],
    *,
    terms: int = 0,
    knee: float = 1.0,
) -> LinkedLoss:
    """Return the loss under which a link's η elicits a mean- or ratio-type statistic.

    Parameters
    ----------
    statistic : Statistic
        Mean- or ratio-type.
    link : {"auto", "identity", "log", "softplus", "logit"}
        "auto" keeps the statistic's domain: logit between two ends, log above one (softplus for a
        single term, where neither a line nor an exponential has to bend much), else identity.
    terms, knee : int, float
        Smooth terms of the class, and where, above the lower end, a softplus turns into a line.

    Examples
    --------
    >>> from multiobs import statistics
    >>> linked(statistics.variance(), "auto").link, linked(statistics.kendall_tau(), "auto").link
    ('log', 'logit')
    >>> linked(statistics.variance(), "auto", terms=1).link
    'softplus'
    """
    psi, chi = statistic.psi, statistic.chi
    if psi is None:
        raise ValueError(
            f"link must be 'identity' or 'auto' for {statistic!r}, which is neither the mean of a "
            f"kernel nor a ratio of two, got {link!r}"
        )
    bottom = constant(1.0, statistic.arity, statistic.n_columns) if chi is None else chi
    low, high = statistic.domain
    if link == "auto":
        positive: LinkName = "softplus" if terms == 1 else "log"
        link = ("logit" if isfinite(high) else positive) if isfinite(low) else "identity"
    if link == "identity":
        return IdentityLoss(psi, bottom)
    if link in ("log", "softplus"):
        if not isfinite(low):
            raise ValueError(
                f"link {link!r} needs a statistic with a lower end, got {statistic!r} on "
                f"[{low:g}, {high:g}]"
            )
        return LogLoss(psi, bottom, low) if link == "log" else SoftplusLoss(psi, bottom, low, knee)
    if not (isfinite(low) and isfinite(high)):
        raise ValueError(
            f"link 'logit' needs a statistic between two ends, got {statistic!r} on "
            f"[{low:g}, {high:g}]"
        )
    return LogitLoss(psi, bottom, low, high)
