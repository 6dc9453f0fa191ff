"""A user's own statistics: by a kernel, by two, or by a loss; checked before any data is seen."""

from collections.abc import Callable
from inspect import signature
from typing import Any

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
    _refuse_no_name(name)
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
    _refuse_no_name(name)
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
    _refuse_no_name(name)
    for key, function in (("value", value), ("gradient", gradient), ("hessian", hessian)):
        if not callable(function) and not (key == "hessian" and function is None):
            raise TypeError(f"{key} must be a function of r and Y, got {_check.shown(function)}")
    statistic = Statistic(name, CallableLoss(value, gradient, hessian, m), trusted=False)
    _verify_at_door(statistic)
    return statistic


def _refuse_no_name(name: object) -> None:
    if not isinstance(name, str) or not name:
        raise TypeError(f"name must be a text, got {_check.shown(name)}")


def _verify_at_door(statistic: Statistic) -> None:
    """Check shapes and symmetry on made-up positive labels before any data is seen."""
    if not statistic.trusted:
        rng = np.random.default_rng(0)
        verify(statistic, 0.5 + rng.gamma(2.0, size=(64, statistic.arity)))


def _takes_one(function: Callable[..., Any]) -> bool:
    """Whether a function can be called with one argument, as far as it says."""
    try:
        signature(function).bind(None)
    except TypeError:
        return False
    except ValueError:  # a function of C says nothing
        return True
    return True


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
    if not callable(kernel) or not _takes_one(kernel):
        raise TypeError(f"{name} must be a function of labels (t, {m}), got {_check.shown(kernel)}")
    return Opaque(kernel, m)
