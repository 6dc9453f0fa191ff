"""Statistics that are the mean of a kernel, each with its formula and an example."""

from collections.abc import Callable
from functools import partial
from math import comb, inf
from typing import Any

import numpy as np

from multiobs import _check
from multiobs._types import FloatArray
from multiobs.statistics import facts
from multiobs.statistics.facts import VARIANCE
from multiobs.statistics.kernels import (
    Equality,
    Kernel,
    Monomials,
    Opaque,
    OrderStatistic,
    constant,
    moment,
)
from multiobs.statistics.losses import squared
from multiobs.statistics.statistic import Parts, Statistic

# Observations beyond which a kernel costs minutes (its products are as many as the partitions of
# their number), or is a difference of numbers so large that no digit is left
MOST_FACTORS, MOST_BLOCKS, MOST_RANKS, MOST_PARTNERS = 24, 16, 60, 100_000


def _mean_type(name: str, psi: Kernel, **known: Any) -> Statistic:
    return Statistic(name, squared(psi), psi=psi, n_columns=psi.n_columns, catalogued=True, **known)


def mean() -> Statistic:
    r"""Mean :math:`\mathbb{E}[Y]`, the case of one observation: ordinary least squares.

    >>> mean().arity
    1
    """
    return _mean_type(
        "mean",
        moment(1),
        shift="equivariant",
        scale=1,
        moments=facts.MEAN_MOMENTS,
        ranges=facts.kernel_ranges("mean"),
    )


def variance() -> Statistic:
    r"""Variance, :math:`\mathbb{E}[\tfrac12 (Y_1 - Y_2)^2]`, in squared units of y.

    Loss :math:`(r - \tfrac12 (y_1-y_2)^2)^2`: section 4.2 of the paper, after Casalaina-Martin
    et al. (2017).

    >>> variance().psi(np.array([[1.0, 3.0]]))
    array([2.])
    """
    return _mean_type(
        "variance",
        VARIANCE,
        shift="invariant",
        scale=2,
        domain=(0.0, inf),
        unit="unit of y²",
        **facts.moment_facts(2),
    )


def covariance() -> Statistic:
    r"""Covariance of two columns of y, :math:`\mathbb{E}[\tfrac12 (A_1-A_2)(B_1-B_2)]`.

    >>> covariance().n_columns
    2
    """
    psi = moment(1, 1) - moment(1, 0) * moment(0, 1)
    return _mean_type(
        "covariance",
        psi,
        shift="invariant",
        scale=2,
        unit="unit of a · unit of b",
        ranges=facts.kernel_ranges("covariance"),
    )


def central_moment(order: int) -> Statistic:
    r"""Central moment :math:`\mathbb{E}[(Y - \mathbb{E}Y)^k]` by its unbiased kernel of k labels.

    The kernel is the U-statistic kernel of Hoeffding (1948):
    :math:`\mu_k = \sum_j \binom{k}{j} (-1)^j\, \mathbb{E}[Y^{k-j}]\, \mathbb{E}[Y]^j`.

    Parameters
    ----------
    order : int
        k, from 2 to 24, the number of observations.

    Examples
    --------
    >>> central_moment(3).arity
    3
    """
    k = _check.integer("order", order, 2, MOST_FACTORS)
    return _mean_type(
        "central_moment",
        central_kernel(k),
        shift="invariant",
        scale=k,
        domain=(0.0 if k % 2 == 0 else -inf, inf),
        unit=_unit(k),
        parameters={"order": k},
        title=f"central moment of order {k}",
        **facts.moment_facts(k),
    )


def cumulant(order: int) -> Statistic:
    r"""Cumulant :math:`\kappa_k` by its unbiased kernel of k labels (the k-statistic's kernel).

    Parameters
    ----------
    order : int
        k, from 1 to 16, the number of observations.

    Examples
    --------
    >>> cumulant(2).psi(np.array([[1.0, 3.0]]))
    array([2.])
    """
    k = _check.integer("order", order, 1, MOST_BLOCKS)
    return _mean_type(
        "cumulant",
        _cumulant(k),
        shift="equivariant" if k == 1 else "invariant",
        scale=k,
        domain=(0.0 if k == 2 else -inf, inf),
        unit=_unit(k),
        parameters={"order": k},
        title=f"cumulant of order {k}",
        **facts.moment_facts(k),
    )


def gini_mean_difference() -> Statistic:
    r"""Gini's mean difference :math:`\mathbb{E}|Y_1 - Y_2|`.

    >>> gini_mean_difference().psi(np.array([[1.0, 4.0]]))
    array([3.])
    """
    psi = OrderStatistic([-1.0, 1.0])
    return _mean_type(
        "gini_mean_difference",
        psi,
        shift="invariant",
        scale=1,
        domain=(0.0, inf),
        title="Gini's mean difference",
        ranges=facts.kernel_ranges("gini_mean_difference"),
    )


def _beyond_mean(name: str, psi: OrderStatistic) -> Statistic:
    """Distance of an extreme from the mean: a kernel that no label makes negative."""
    m = psi.arity
    sign = 1.0 if psi.coefs[-1] > 0 else -1.0
    beyond = OrderStatistic([sign * (c - 1.0 / m) for c in psi.coefs])
    return Statistic(
        name, squared(beyond), psi=beyond, shift="invariant", scale=1, domain=(0.0, inf)
    )


def _extreme_parts(name: str, psi: OrderStatistic, beta: float = 0.0) -> Parts:
    """Mean less ``beta`` times the distance of an extreme from it, and that distance."""
    beyond = _beyond_mean(name, psi)
    sign = 1.0 if psi.coefs[-1] > 0 else -1.0
    first = mean()
    if beta:
        assert isinstance(beyond.psi, OrderStatistic)
        mixture = OrderStatistic([1.0 / psi.arity - beta * c for c in beyond.psi.coefs])
        first = Statistic(
            f"mean less {beta:.2g} times the {name}",
            squared(mixture),
            psi=mixture,
            shift="equivariant",
            scale=1,
        )
    combine = partial(facts.weighted_sum, sign + beta)
    return Parts((first, beyond), combine, partial(_extreme_parts, name, psi), beta)


def minvar(k: int = 1) -> Statistic:
    r"""Least of k + 1 labels in mean, MINVAR :math:`\rho_k = \mathbb{E}\min(Y_1..Y_{k+1})`.

    It takes k + 1 observations, one more than its parameter says: ``minvar(4)`` is the mean of the
    smallest of five (Cherny and Madan 2009).

    Parameters
    ----------
    k : int
        One less than the number of draws.

    Examples
    --------
    >>> minvar(4).arity
    5
    """
    k = _check.integer("k", k, 1, MOST_PARTNERS)
    psi = OrderStatistic([1.0] + [0.0] * k)
    return _mean_type(
        "minvar",
        psi,
        shift="equivariant",
        scale=1,
        parameters={"k": k},
        title=f"MINVAR (k = {k})",
        ranges=facts.kernel_ranges("minvar"),
        parts=_extreme_parts("shortfall", psi),
    )


def maxvar(k: int = 1) -> Statistic:
    r"""Expected maximum of k + 1 draws, :math:`\mathbb{E}\max(Y_1..Y_{k+1})`.

    Parameters
    ----------
    k : int
        One less than the number of draws.

    Examples
    --------
    >>> maxvar(2).psi(np.array([[1.0, 5.0, 2.0]]))
    array([5.])
    """
    k = _check.integer("k", k, 1, MOST_PARTNERS)
    psi = OrderStatistic([0.0] * k + [1.0])
    return _mean_type(
        "maxvar",
        psi,
        shift="equivariant",
        scale=1,
        parameters={"k": k},
        title=f"MAXVAR (k = {k})",
        ranges=facts.kernel_ranges("maxvar"),
        parts=_extreme_parts("excess", psi),
    )


def l_moment(order: int) -> Statistic:
    r"""L-moment :math:`\lambda_r = \tfrac1r \sum_j (-1)^j \binom{r-1}{j} \mathbb{E}Y_{(r-j:r)}`.

    Hosking (1990).  Order 2 is half of Gini's mean difference.

    Parameters
    ----------
    order : int
        r, from 1 to 60, the number of observations.

    Examples
    --------
    >>> l_moment(2).psi(np.array([[1.0, 4.0]]))
    array([1.5])
    """
    r = _check.integer("order", order, 1, MOST_RANKS)
    psi = OrderStatistic([(-1) ** (r - 1 - i) * comb(r - 1, i) / r for i in range(r)])
    return _mean_type(
        "l_moment",
        psi,
        shift="equivariant" if r == 1 else "invariant",
        scale=1,
        domain=(0.0 if r == 2 else -inf, inf),
        parameters={"order": r},
        title=f"L-moment of order {r}",
        ranges=facts.kernel_ranges("l_moment", r),
    )


def collision_probability() -> Statistic:
    r"""Probability that two draws agree, the squared 2-norm of a discrete law.

    Casalaina-Martin et al. (2017): elicited with two observations, or with
    :math:`|\mathcal{Y}| - 1` dimensions.

    >>> collision_probability().domain
    (0.0, 1.0)
    """
    ranges = facts.kernel_ranges("collision_probability")
    return _mean_type(
        "collision_probability", Equality(2), domain=(0.0, 1.0), unit="1", ranges=ranges
    )


def kendall_tau() -> Statistic:
    r"""Kendall's tau of two columns of y, :math:`\mathbb{E}\,\mathrm{sign}((A_1-A_2)(B_1-B_2))`.

    >>> kendall_tau().psi(np.array([[[0.0, 0.0], [1.0, 2.0]]]))
    array([1.])
    """
    psi = Opaque(_concordance, 2, n_columns=2)
    return _mean_type(
        "kendall_tau",
        psi,
        shift="invariant",
        scale=0,
        domain=(-1.0, 1.0),
        unit="1",
        title="Kendall's tau",
        ranges=facts.kernel_ranges("kendall_tau"),
    )


def central_kernel(k: int) -> Monomials:
    """Return the unbiased kernel of the central moment of order k."""
    total = moment(k)
    mean_power = constant(1.0, 1)
    for j in range(1, k + 1):
        mean_power = mean_power * moment(1)
        top = moment(k - j) if j < k else constant(1.0, 1)
        total = total + top * mean_power * float((-1) ** j * comb(k, j))
    return total


def _unit(power: int) -> str:
    return "unit of y" + ("" if power == 1 else "²" if power == 2 else f"^{power}")


def _cumulant(k: int) -> Monomials:
    cumulants: list[Monomials] = [constant(0.0, 1)]
    for order in range(1, k + 1):
        total = moment(order)
        for j in range(1, order):
            total = total - cumulants[j] * moment(order - j) * float(comb(order - 1, j - 1))
        cumulants.append(total)
    return cumulants[k].with_arity(k)


def _concordance(Y: FloatArray) -> FloatArray:
    gaps = Y[:, 0, :] - Y[:, 1, :]
    return np.asarray(np.sign(gaps[:, 0]) * np.sign(gaps[:, 1]))


MEAN_TYPE: dict[str, Callable[[], Statistic]] = {
    "mean": mean,
    "variance": variance,
    "covariance": covariance,
    "central_moment": partial(central_moment, 3),
    "cumulant": partial(cumulant, 3),
    "gini_mean_difference": gini_mean_difference,
    "minvar": minvar,
    "maxvar": maxvar,
    "l_moment": partial(l_moment, 2),
    "collision_probability": collision_probability,
    "kendall_tau": kendall_tau,
}
