"""Statistics that are a root or a ratio of means of kernels, with formulas and examples."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import inf
from typing import Any, Literal

import numpy as np

from multiobs import _check
from multiobs._types import FloatArray
from multiobs.statistics import facts
from multiobs.statistics.facts import VARIANCE
from multiobs.statistics.kernels import Monomials, constant, moment
from multiobs.statistics.losses import PolynomialLoss, RootLoss, ratio
from multiobs.statistics.means import central_kernel, central_moment, mean, variance
from multiobs.statistics.statistic import Parts, Statistic

MOST_DEVIATIONS = 1e100  # above the mean: their squares are still numbers


def ucb(
    lam: float = 1.0,
    loss: Literal["quartic", "cubic"] = "quartic",
    reference: float | Literal["auto"] = "auto",
) -> Statistic:
    r"""Upper confidence bound :math:`\mathbb{E}Y + \lambda\,\mathrm{sd}(Y)`.

    Identification function (eq. (elicit-ucb-2) of the paper):
    :math:`V = \tfrac{\lambda^2}{2}(y_1-y_2)^2 - y_1 y_2 + (y_1+y_2) r - r^2`, whose mean has the
    roots :math:`\mathbb{E}Y \pm \lambda\,\mathrm{sd}`.

    Parameters
    ----------
    lam : float
        The positive multiple of the standard deviation.
    loss : {"quartic", "cubic"}
        The integral of :math:`-(r-c)V` (bounded below), or of :math:`-V` (the paper's cubic,
        unbounded below; elicits on :math:`r \ge \mathbb{E}Y - 2\lambda\,\mathrm{sd}` only).
    reference : float or "auto"
        The level c of the quartic.  The bound is the unique global minimiser exactly when
        :math:`\mathbb{E}Y - 3\lambda\,\mathrm{sd} < c < \mathbb{E}Y`; 0 is the paper's quartic.
        ``"auto"`` lets c follow a straight-line pilot of the mean, less ``lam`` times the
        standard deviation around it.

    Examples
    --------
    >>> ucb(2.0).identification(np.array([1.0]), np.array([[0.0, 0.0]]))
    array([-1.])
    """
    lam = _check.positive("lam", lam)
    if lam > MOST_DEVIATIONS:
        raise ValueError(f"lam must be at most {MOST_DEVIATIONS:g}, got {lam:g}")
    automatic = isinstance(reference, str) and _check.choice("reference", reference, ("auto",))
    _check.choice("loss", loss, ("quartic", "cubic"))
    parameters = {"lam": lam, "loss": loss, "reference": reference}
    m1 = moment(1).with_arity(2)
    d = moment(1) * moment(1) - VARIANCE * lam**2
    level = None if automatic else _check.real("reference", reference)
    known: dict[str, Any] = {
        "shift": "equivariant" if automatic or loss == "cubic" else None,
        "scale": 1 if automatic or level == 0 or loss == "cubic" else None,
        "parameters": parameters,
        "catalogued": True,
        "title": f"UCB (λ = {lam:g})",
        "moments": facts.ucb_moments(lam),
        "kernel_means": facts.ucb_means(lam),
        "parts": Parts((mean(), variance()), facts.ucb_means(lam).combine),
        "ranges": facts.ucb_ranges(lam, loss == "cubic", level),
    }
    if loss == "cubic":
        if not automatic:
            raise ValueError(f"reference belongs to the quartic loss, got {level:g} with cubic")
        one = constant(1 / 3, 2)
        return Statistic("ucb", PolynomialLoss([None, d, m1 * -1.0, one]), **known)
    root = RootLoss(
        d,
        m1 * -2.0,
        constant(1.0, 2),
        partial(_mean_minus, lam) if level is None else level,
        above_mean=lam if level is None else None,
    )
    return Statistic("ucb", root, **known)


def standard_deviation() -> Statistic:
    r"""Standard deviation, the positive root of :math:`r^2 = \mathbb{E}[\tfrac12(Y_1-Y_2)^2]`.

    Loss :math:`\tfrac14 r^4 - \tfrac12 \psi r^2` on :math:`r \ge 0`.

    >>> standard_deviation().unit
    'unit of y'
    """
    zero = constant(0.0, 2)
    root = RootLoss(VARIANCE * -1.0, zero, constant(1.0, 2), 0.0)
    return Statistic(
        "standard_deviation",
        root,
        shift="invariant",
        scale=1,
        domain=(0.0, inf),
        catalogued=True,
        moments=facts.ROOT_MOMENTS,
        kernel_means=facts.ROOT_MEANS,
        parts=Parts((variance(),), facts.ROOT_MEANS.combine),
        ranges=facts.ROOT_RANGES,
    )


def dispersion_index() -> Statistic:
    r"""Index of dispersion :math:`\mathrm{Var}(Y)/\mathbb{E}Y` of a nonnegative y.

    >>> dispersion_index().form
    'ratio'
    """
    chi = moment(1).with_arity(2)
    positive_mean = replace(mean(), domain=(0.0, inf), catalogued=False)
    return _ratio_type(
        "dispersion_index",
        VARIANCE,
        chi,
        scale=1,
        domain=(0.0, inf),
        moments=facts.ratio_moments(1),
        parts=Parts((variance(), positive_mean), facts.quotient),
        ranges=facts.DISPERSION_RANGES,
    )


def squared_cv() -> Statistic:
    r"""Squared coefficient of variation :math:`\mathrm{Var}(Y)/(\mathbb{E}Y)^2`.

    >>> squared_cv().scale
    0
    """
    return _ratio_type(
        "squared_cv",
        VARIANCE,
        moment(1) * moment(1),
        scale=0,
        domain=(0.0, inf),
        unit="1",
        title="squared CV",
        moments=facts.ratio_moments(2),
        parts=Parts((variance(), mean()), facts.over_square),
    )


def skewness() -> Statistic:
    r"""Skewness :math:`\mu_3/\sigma^3`: a root of :math:`\mu_3^2 = r^2 \sigma^6`, six labels.

    Its sign is taken from a pilot (the skewness of all labels): the other root is spurious,
    as for the upper confidence bound.  A skewness that changes sign in x is out of reach of
    this loss; regress on ``central_moment(3)`` there.

    >>> skewness().arity
    6
    """
    third = central_kernel(3)
    root = RootLoss(
        third * third * -1.0, constant(0.0, 6), VARIANCE * VARIANCE * VARIANCE, _minus_skewness
    )
    return Statistic(
        "skewness",
        root,
        shift="invariant",
        scale=0,
        unit="1",
        catalogued=True,
        kernel_means=facts.skewness_means(third),
        parts=Parts((central_moment(3), variance()), facts.skewness_means(third).combine),
    )


def kurtosis() -> Statistic:
    r"""Kurtosis :math:`\mu_4/\sigma^4` (3 for a normal law), four labels.

    >>> kurtosis().arity
    4
    """
    return _ratio_type(
        "kurtosis",
        central_kernel(4),
        VARIANCE * VARIANCE,
        shift="invariant",
        scale=0,
        domain=(1.0, inf),
        unit="1",
    )


def _ratio_type(name: str, psi: Monomials, chi: Monomials, **known: Any) -> Statistic:
    m = max(psi.arity, chi.arity)
    psi, chi = psi.with_arity(m), chi.with_arity(m)
    return Statistic(name, ratio(psi, chi), psi=psi, chi=chi, catalogued=True, **known)


def _mean_minus(lam: float, y: FloatArray) -> float:
    return float(np.mean(y) - lam * np.std(y))


def _minus_skewness(y: FloatArray) -> float:
    flat = y.reshape(-1)
    centred = flat - flat.mean()
    spread = float(np.sqrt(np.mean(centred**2)))
    return -float(np.mean(centred**3)) / spread**3 if spread > 0 else 0.0


ROOT_AND_RATIO_TYPE: dict[str, Callable[[], Statistic]] = {
    "ucb": ucb,
    "standard_deviation": standard_deviation,
    "dispersion_index": dispersion_index,
    "squared_cv": squared_cv,
    "skewness": skewness,
    "kurtosis": kurtosis,
}
