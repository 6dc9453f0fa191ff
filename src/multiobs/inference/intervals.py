"""Confidence limits that stay inside the domain of the statistic."""

from typing import Literal

import numpy as np
from scipy import stats

from multiobs import _check
from multiobs._types import BoolArray, FloatArray

Method = Literal["auto", "linear", "log"]


def limits(
    centre: FloatArray,
    error: FloatArray,
    df: float,
    level: float,
    method: Method,
    domain: tuple[float, float],
) -> FloatArray:
    r"""Confidence limits (n, 2) of a statistic from its estimates and standard errors.

    On the log scale :math:`\exp(\log \hat r \pm q\, \mathrm{se}/\hat r)` (delta method), which
    keeps a positive statistic positive; "auto" takes the log of the distance to each finite end
    of the domain, and the plain scale where there is none or the estimate lies outside.

    Parameters
    ----------
    centre, error : ndarray (n,)
        Estimates and their standard errors.
    df : float
        Degrees of freedom of the t quantile; infinite is normal.
    level : float
        Nominal coverage.
    method : {"auto", "linear", "log"}
        The scale.
    domain : tuple of float
        Values the statistic can have.

    Examples
    --------
    >>> limits(np.array([1.0]), np.array([0.5]), np.inf, 0.95, "log", (0.0, np.inf)).round(2)
    array([[0.38, 2.66]])
    """
    q = quantile(level, df)
    _check.choice("method", method, ("auto", "linear", "log"))
    plain = np.stack([centre - q * error, centre + q * error], axis=1)
    if method == "linear":
        return plain
    low, high = domain
    if method == "log":
        if not np.all(centre > 0):
            raise ValueError(
                f"method 'log' needs positive estimates, got {float(np.min(centre)):.4g}: "
                "use 'auto' or 'linear'"
            )
        low, high = 0.0, np.inf
    with np.errstate(all="ignore"):
        inside: BoolArray = (centre > low) & (centre < high)
        if np.isfinite(low) and np.isfinite(high):
            # log-odds of the place in the domain
            share = (centre - low) / (high - low)
            spread = q * error / ((high - low) * share * (1.0 - share))
            odds = np.log(share / (1.0 - share))
            ends = [1.0 / (1.0 + np.exp(-(odds + sign * spread))) for sign in (-1.0, 1.0)]
            bent = low + (high - low) * np.stack(ends, axis=1)
        elif np.isfinite(low):
            ratio = np.exp(q * error / (centre - low))
            bent = low + np.stack([(centre - low) / ratio, (centre - low) * ratio], axis=1)
        elif np.isfinite(high):
            ratio = np.exp(q * error / (high - centre))
            bent = high - np.stack([(high - centre) * ratio, (high - centre) / ratio], axis=1)
        else:
            return plain
    return np.where(inside[:, None], bent, plain)


def quantile(level: float, df: float) -> float:
    """Two-sided t quantile of a nominal coverage.

    >>> round(quantile(0.95, np.inf), 2)
    1.96
    """
    number = _check.real("level", level)
    if not 0.0 < number < 1.0:
        raise ValueError(f"level must lie between 0 and 1, got {level!r}")
    return float(stats.t.ppf(0.5 + number / 2, df))
