"""A user's own statistics: by a kernel, by two, or by a loss; checked before any data is seen."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from multiobs import _check
from multiobs._types import FloatArray
from multiobs.statistics.kernels import Kernel, Opaque
from multiobs.statistics.losses import CallableLoss, Derivative, ratio, squared
from multiobs.statistics.statistic import Statistic, verify


def mean_of(
    kernel: Callable[[FloatArray], npt.ArrayLike] | Kernel, arity: int, name: str = "mean_of"
) -> Statistic:
    r"""Mean-type statistic of a user's kernel, :math:`\mathbb{E}[\psi(Y_1..Y_m)]`.

    Parameters
    ----------
    kernel : callable or Kernel
        Takes labels (t, m) and returns (t,); must not depend on the order of the members.
    arity : int
        The number m of observations.

    Examples
    --------
    >>> mean_of(lambda Y: Y.max(axis=1) - Y.min(axis=1), arity=3).arity
    3
    """
    psi = _as_kernel("kernel", kernel, arity)
    statistic = Statistic(name, squared(psi), psi=psi, unit="", trusted=isinstance(kernel, Kernel))
    _verify_at_door(statistic)
    return statistic


def ratio_of(
    psi: Callable[[FloatArray], npt.ArrayLike] | Kernel,
    chi: Callable[[FloatArray], npt.ArrayLike] | Kernel,
    arity: int,
    name: str = "ratio_of",
) -> Statistic:
    r"""Ratio-type statistic :math:`\mathbb{E}[\psi]/\mathbb{E}[\chi]` of two user's kernels.

    Parameters
    ----------
    psi, chi : callable or Kernel
        Symmetric functions of labels (t, m) or (t, m, s) that return (t,); E[chi] must be positive.
    arity : int
        The number m of observations.
    name : str
        For messages and axes.
    n_columns : int
        The number s of columns of y.

    Examples
    --------
    >>> ratio_of(lambda Y: Y.min(axis=1), lambda Y: Y.max(axis=1), arity=2).form
    'ratio'
    """
    top, bottom = _as_kernel("psi", psi, arity), _as_kernel("chi", chi, arity)
    trusted = isinstance(psi, Kernel) and isinstance(chi, Kernel)
    statistic = Statistic(name, ratio(top, bottom), psi=top, chi=bottom, unit="", trusted=trusted)
    _verify_at_door(statistic)
    return statistic


def from_loss(
    value: Derivative,
    gradient: Derivative,
    hessian: Derivative | None,
    arity: int,
    name: str = "from_loss",
) -> Statistic:
    r"""Statistic elicited by a user's loss :math:`\ell(r, y_1..y_m)`, given with derivatives.

    Parameters
    ----------
    value, gradient, hessian : callable
        Functions of r (t,) and Y (t, m) that return (t,); hessian may be None.
    arity : int
        The number m of observations.

    Examples
    --------
    >>> from_loss(lambda r, Y: (r - Y[:, 0]) ** 2, lambda r, Y: 2 * (r - Y[:, 0]), None, 1).arity
    1
    """
    m = _check.integer("arity", arity, low=1)
    statistic = Statistic(name, CallableLoss(value, gradient, hessian, m), trusted=False)
    _verify_at_door(statistic)
    return statistic


def _verify_at_door(statistic: Statistic) -> None:
    """Check shapes and symmetry on made-up positive labels before any data is seen."""
    if not statistic.trusted:
        rng = np.random.default_rng(0)
        verify(statistic, 0.5 + rng.gamma(2.0, size=(64, statistic.arity)))


def _as_kernel(
    name: str, kernel: Callable[[FloatArray], npt.ArrayLike] | Kernel, arity: int
) -> Kernel:
    m = _check.integer("arity", arity, low=1)
    if isinstance(kernel, Kernel):
        if kernel.arity != m:
            raise ValueError(
                f"{name} must take {m} observations, got one that takes {kernel.arity}"
            )
        return kernel
    if not callable(kernel):
        raise TypeError(f"{name} must be a function of labels (t, {m}), got {kernel!r}")
    return Opaque(kernel, m)
