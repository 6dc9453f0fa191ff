"""The catalogue: one function a statistic, each with its formula and an example."""

from collections.abc import Callable, Mapping
from functools import partial
from math import comb, inf
from typing import Any, Literal

import numpy as np

from multiobs import _check
from multiobs._types import FloatArray
from multiobs.statistics.kernels import (
    Equality,
    Kernel,
    Monomials,
    Opaque,
    OrderStatistic,
    constant,
    moment,
)
from multiobs.statistics.losses import PolynomialLoss, RootLoss, ratio, squared
from multiobs.statistics.statistic import Statistic


def _mean_type(name: str, psi: Kernel, **facts: Any) -> Statistic:
    return Statistic(name, squared(psi), psi=psi, n_columns=psi.n_columns, catalogued=True, **facts)


def mean() -> Statistic:
    r"""Mean :math:`\mathbb{E}[Y]`, the case of one observation: ordinary least squares.

    >>> mean().arity
    1
    """
    return _mean_type("mean", moment(1), shift="equivariant", scale=1)


def variance() -> Statistic:
    r"""Variance, :math:`\mathbb{E}[\tfrac12 (Y_1 - Y_2)^2]`, in squared units of y.

    Loss :math:`(r - \tfrac12 (y_1-y_2)^2)^2`: section 4.2 of the paper, after Casalaina-Martin
    et al. (2017).

    >>> variance().psi(np.array([[1.0, 3.0]]))
    array([2.])
    """
    return _mean_type(
        "variance", _VARIANCE, shift="invariant", scale=2, domain=(0.0, inf), unit="unit of y²"
    )


def covariance() -> Statistic:
    r"""Covariance of two columns of y, :math:`\mathbb{E}[\tfrac12 (A_1-A_2)(B_1-B_2)]`.

    >>> covariance().n_columns
    2
    """
    psi = moment(1, 1) - moment(1, 0) * moment(0, 1)
    return _mean_type("covariance", psi, shift="invariant", scale=2, unit="unit of a · unit of b")


def central_moment(order: int) -> Statistic:
    r"""Central moment :math:`\mathbb{E}[(Y - \mathbb{E}Y)^k]` by its unbiased kernel of k labels.

    The kernel is the U-statistic kernel of Hoeffding (1948):
    :math:`\mu_k = \sum_j \binom{k}{j} (-1)^j\, \mathbb{E}[Y^{k-j}]\, \mathbb{E}[Y]^j`.

    >>> central_moment(3).arity
    3
    """
    k = _check.integer("order", order, low=2)
    return _mean_type(
        "central_moment",
        _central(k),
        shift="invariant",
        scale=k,
        domain=(0.0 if k % 2 == 0 else -inf, inf),
        unit=f"unit of y^{k}",
        parameters={"order": k},
    )


def cumulant(order: int) -> Statistic:
    r"""Cumulant :math:`\kappa_k` by its unbiased kernel of k labels (the k-statistic's kernel).

    >>> cumulant(2).psi(np.array([[1.0, 3.0]]))
    array([2.])
    """
    k = _check.integer("order", order, low=1)
    return _mean_type(
        "cumulant",
        _cumulant(k),
        shift="equivariant" if k == 1 else "invariant",
        scale=k,
        domain=(0.0 if k == 2 else -inf, inf),
        unit=f"unit of y^{k}",
        parameters={"order": k},
    )


def gini_mean_difference() -> Statistic:
    r"""Gini's mean difference :math:`\mathbb{E}|Y_1 - Y_2|`.

    >>> gini_mean_difference().psi(np.array([[1.0, 4.0]]))
    array([3.])
    """
    psi = OrderStatistic([-1.0, 1.0])
    return _mean_type("gini_mean_difference", psi, shift="invariant", scale=1, domain=(0.0, inf))


def minvar(k: int = 1) -> Statistic:
    r"""MINVAR :math:`\rho_k = \mathbb{E}\min(Y_1..Y_{k+1})` (Cherny and Madan 2009).

    >>> minvar(4).arity
    5
    """
    k = _check.integer("k", k, low=1)
    psi = OrderStatistic([1.0] + [0.0] * k)
    return _mean_type("minvar", psi, shift="equivariant", scale=1, parameters={"k": k})


def maxvar(k: int = 1) -> Statistic:
    r"""Expected maximum of k + 1 draws, :math:`\mathbb{E}\max(Y_1..Y_{k+1})`.

    >>> maxvar(2).psi(np.array([[1.0, 5.0, 2.0]]))
    array([5.])
    """
    k = _check.integer("k", k, low=1)
    psi = OrderStatistic([0.0] * k + [1.0])
    return _mean_type("maxvar", psi, shift="equivariant", scale=1, parameters={"k": k})


def l_moment(order: int) -> Statistic:
    r"""L-moment :math:`\lambda_r = \tfrac1r \sum_j (-1)^j \binom{r-1}{j} \mathbb{E}Y_{(r-j:r)}`.

    Hosking (1990).  Order 2 is half of Gini's mean difference.

    >>> l_moment(2).psi(np.array([[1.0, 4.0]]))
    array([1.5])
    """
    r = _check.integer("order", order, low=1)
    psi = OrderStatistic([(-1) ** (r - 1 - i) * comb(r - 1, i) / r for i in range(r)])
    return _mean_type(
        "l_moment",
        psi,
        shift="equivariant" if r == 1 else "invariant",
        scale=1,
        domain=(0.0 if r == 2 else -inf, inf),
        parameters={"order": r},
    )


def collision_probability() -> Statistic:
    r"""Probability that two draws agree, the squared 2-norm of a discrete law.

    Casalaina-Martin et al. (2017): elicited with two observations, or with
    :math:`|\mathcal{Y}| - 1` dimensions.

    >>> collision_probability().domain
    (0.0, 1.0)
    """
    return _mean_type("collision_probability", Equality(2), domain=(0.0, 1.0), unit="1")


def kendall_tau() -> Statistic:
    r"""Kendall's tau of two columns of y, :math:`\mathbb{E}\,\mathrm{sign}((A_1-A_2)(B_1-B_2))`.

    >>> kendall_tau().psi(np.array([[[0.0, 0.0], [1.0, 2.0]]]))
    array([1.])
    """
    psi = Opaque(_concordance, 2, n_columns=2)
    return _mean_type("kendall_tau", psi, shift="invariant", scale=0, domain=(-1.0, 1.0), unit="1")


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
    _check.choice("loss", loss, ("quartic", "cubic"))
    parameters = {"lam": lam, "loss": loss, "reference": reference}
    m1 = moment(1).with_arity(2)
    d = moment(1) * moment(1) - _VARIANCE * lam**2
    facts: dict[str, Any] = {
        "shift": "equivariant" if reference == "auto" or loss == "cubic" else None,
        "scale": 1 if reference in ("auto", 0) or loss == "cubic" else None,
        "parameters": parameters,
        "catalogued": True,
    }
    if loss == "cubic":
        if reference != "auto":
            raise ValueError(f"reference belongs to the quartic loss, got {reference!r} with cubic")
        one = constant(1 / 3, 2)
        return Statistic("ucb", PolynomialLoss([None, d, m1 * -1.0, one]), **facts)
    level: float | Callable[[FloatArray], float]
    if reference == "auto":
        level = partial(_mean_minus, lam)
    else:
        level = _check.real("reference", reference)
    root = RootLoss(d, m1 * -2.0, constant(1.0, 2), level, follows_mean=reference == "auto")
    return Statistic("ucb", root, **facts)


def standard_deviation() -> Statistic:
    r"""Standard deviation, the positive root of :math:`r^2 = \mathbb{E}[\tfrac12(Y_1-Y_2)^2]`.

    Loss :math:`\tfrac14 r^4 - \tfrac12 \psi r^2` on :math:`r \ge 0`.

    >>> standard_deviation().unit
    'unit of y'
    """
    zero = constant(0.0, 2)
    root = RootLoss(_VARIANCE * -1.0, zero, constant(1.0, 2), 0.0)
    return Statistic(
        "standard_deviation",
        root,
        shift="invariant",
        scale=1,
        domain=(0.0, inf),
        catalogued=True,
    )


def dispersion_index() -> Statistic:
    r"""Index of dispersion :math:`\mathrm{Var}(Y)/\mathbb{E}Y` of a nonnegative y.

    >>> dispersion_index().form
    'ratio'
    """
    chi = moment(1).with_arity(2)
    return _ratio_type("dispersion_index", _VARIANCE, chi, scale=1, domain=(0.0, inf))


def squared_cv() -> Statistic:
    r"""Squared coefficient of variation :math:`\mathrm{Var}(Y)/(\mathbb{E}Y)^2`.

    >>> squared_cv().scale
    0
    """
    return _ratio_type(
        "squared_cv", _VARIANCE, moment(1) * moment(1), scale=0, domain=(0.0, inf), unit="1"
    )


def skewness() -> Statistic:
    r"""Skewness :math:`\mu_3/\sigma^3`: a root of :math:`\mu_3^2 = r^2 \sigma^6`, six labels.

    Its sign is taken from a pilot (the skewness of all labels): the other root is spurious,
    as for the upper confidence bound.  A skewness that changes sign in x is out of reach of
    this loss; regress on ``central_moment(3)`` there.

    >>> skewness().arity
    6
    """
    third = _central(3)
    root = RootLoss(
        third * third * -1.0, constant(0.0, 6), _VARIANCE * _VARIANCE * _VARIANCE, _minus_skewness
    )
    return Statistic("skewness", root, shift="invariant", scale=0, unit="1", catalogued=True)


def kurtosis() -> Statistic:
    r"""Kurtosis :math:`\mu_4/\sigma^4` (3 for a normal law), four labels.

    >>> kurtosis().arity
    4
    """
    return _ratio_type(
        "kurtosis",
        _central(4),
        _VARIANCE * _VARIANCE,
        shift="invariant",
        scale=0,
        domain=(1.0, inf),
        unit="1",
    )


def _ratio_type(name: str, psi: Monomials, chi: Monomials, **facts: Any) -> Statistic:
    m = max(psi.arity, chi.arity)
    psi, chi = psi.with_arity(m), chi.with_arity(m)
    return Statistic(name, ratio(psi, chi), psi=psi, chi=chi, catalogued=True, **facts)


def _central(k: int) -> Monomials:
    total = moment(k)
    mean_power = constant(1.0, 1)
    for j in range(1, k + 1):
        mean_power = mean_power * moment(1)
        top = moment(k - j) if j < k else constant(1.0, 1)
        total = total + top * mean_power * float((-1) ** j * comb(k, j))
    return total


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


def _mean_minus(lam: float, y: FloatArray) -> float:
    return float(np.mean(y) - lam * np.std(y))


def _minus_skewness(y: FloatArray) -> float:
    flat = y.reshape(-1)
    centred = flat - flat.mean()
    spread = float(np.sqrt(np.mean(centred**2)))
    return -float(np.mean(centred**3)) / spread**3 if spread > 0 else 0.0


_VARIANCE = moment(2) - moment(1) * moment(1)

CATALOGUE: dict[str, Callable[[], Statistic]] = {
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
    "ucb": ucb,
    "standard_deviation": standard_deviation,
    "dispersion_index": dispersion_index,
    "squared_cv": squared_cv,
    "skewness": skewness,
    "kurtosis": kurtosis,
}


def build(name: str, parameters: Mapping[str, Any]) -> Statistic:
    """Return the catalogue's statistic of this name with these parameters.

    >>> build("ucb", {"lam": 8.0}).parameters["lam"]
    8.0
    """
    _check.choice("statistic", name, tuple(CATALOGUE))
    made = CATALOGUE[name]
    # A name alone stands for a default of some; their functions take any parameter.
    make = made.func if isinstance(made, partial) else made
    try:
        return make(**parameters)
    except TypeError as error:
        raise ValueError(
            f"parameters of {name} must be ones it has, got {dict(parameters)!r}"
        ) from error


def resolve(statistic: str | Statistic) -> Statistic:
    """Return the statistic itself, or the catalogue's default of that name.

    >>> resolve("minvar")
    minvar(k=1)
    """
    if isinstance(statistic, Statistic):
        return statistic
    if isinstance(statistic, str):
        _check.choice("statistic", statistic, tuple(CATALOGUE))
        return CATALOGUE[statistic]()
    raise TypeError(f"statistic must be a name or a Statistic, got {statistic!r}")
