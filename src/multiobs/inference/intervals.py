"""Confidence limits that stay inside the domain of the statistic."""

import warnings
from dataclasses import dataclass
from typing import Literal, final

import numpy as np
from scipy import special

from multiobs import _check
from multiobs._types import BoolArray, FloatArray

Method = Literal["auto", "linear", "log"]


@final
@dataclass(frozen=True)
class Skewness:
    """Skewness of estimates, see :mod:`multiobs.inference.skewness`.

    Attributes
    ----------
    bend, centre : ndarray (n,)
        Both the skewness of the estimate for a mean of independent values.
    """

    bend: FloatArray
    centre: FloatArray


def limits(
    centre: FloatArray,
    error: FloatArray,
    df: float | FloatArray,
    level: float,
    method: Method,
    domain: tuple[float, float],
    *,
    skewness: Skewness | None = None,
) -> FloatArray:
    r"""Confidence limits (n, 2) of a statistic from its estimates and standard errors.

    On the log scale :math:`\exp(\log \hat r \pm q\, \mathrm{se}/\hat r)` (delta method), which
    keeps a positive statistic positive; "auto" takes the log of the distance to each finite end
    of the domain, and the plain scale where there is none or the estimate lies outside.  The far
    limit :math:`\hat r\, e^{q\, \mathrm{se}/\hat r}` is least at :math:`\hat r = q\, \mathrm{se}`
    and grows without bound towards the end of the domain; with "auto" it goes down from there, on a
    straight line to the plain limit at the end.

    With the skewness of the estimate, the quantiles are bent by Hall's cubic transformation, so
    that each end is missed equally often; on the log scale by what the log has not removed.

    Parameters
    ----------
    centre, error : ndarray (n,)
        Estimates and their standard errors.
    df : float or ndarray (n,)
        Degrees of freedom of the t quantiles; infinite is normal.
    level : float
        Nominal coverage.
    method : {"auto", "linear", "log"}
        The scale.
    domain : tuple of float
        Values the statistic can have.
    skewness : Skewness, optional
        Skewness of the estimates; without it, and with method "linear", the interval is
        symmetric on its scale.

    References
    ----------
    P. Hall, On the removal of skewness by transformation, J. R. Statist. Soc. B 54 (1992).

    Examples
    --------
    >>> limits(np.array([1.0]), np.array([0.5]), np.inf, 0.95, "log", (0.0, np.inf)).round(2)
    array([[0.38, 2.66]])
    >>> anywhere, skewed = (-np.inf, np.inf), Skewness(np.array([0.5]), np.array([0.5]))
    >>> limits(np.zeros(1), np.ones(1), np.inf, 0.95, "auto", anywhere, skewness=skewed).round(2)
    array([[-1.48,  2.63]])
    """
    q = quantile(level, df)
    _check.choice("method", method, ("auto", "linear", "log"))
    lost = np.isfinite(centre) & ~np.isfinite(error)
    if np.any(lost):
        warnings.warn(
            f"standard errors at {np.count_nonzero(lost)} of {lost.size} positions are beyond all "
            "floats: limits there are NaN or infinite",
            UserWarning,
            stacklevel=4,
        )
    if method == "linear":
        return np.stack([centre - q * error, centre + q * error], axis=1)
    low, high = domain
    if method == "log":
        if not np.all(centre > 0):
            raise ValueError(
                f"method 'log' needs positive estimates, got {float(np.min(centre)):.4g}: "
                "use 'auto' or 'linear'"
            )
        low, high = 0.0, np.inf
    up, down = _bent(q, skewness, 0.0)
    plain = np.stack([centre - up * error, centre - down * error], axis=1)
    below, above = bool(np.isfinite(low)), bool(np.isfinite(high))
    if not (below or above):
        return plain
    with np.errstate(all="ignore"):
        inside: BoolArray = (centre > low) & (centre < high)
        found = _on_scale(centre, error, q, skewness, (low, high))
        if method == "auto":
            # within q errors of an end the scale would stretch the far limit the more, the nearer
            half = (high - low) / 2 if below and above else np.inf
            at_low = centre - low < half if below else np.zeros(centre.shape, dtype=bool)
            joint = np.minimum(q * error, half)
            share = np.where(at_low, centre - low, high - centre) / joint
            from_low = _on_scale(low + joint, error, q, skewness, (low, high))[:, 1]
            from_high = _on_scale(high - joint, error, q, skewness, (low, high))[:, 0]
            near_low = low + np.minimum(-down * error, from_low - low)
            near_high = high - np.minimum(up * error, high - from_high)
            rising = (1.0 - share) * near_low + share * from_low
            falling = (1.0 - share) * near_high + share * from_high
            found[:, 1] = np.where(at_low & (share < 1.0), rising, found[:, 1])
            found[:, 0] = np.where(~at_low & (share < 1.0), falling, found[:, 0])
    return np.where(inside[:, None], found, plain)


def holding(limits: FloatArray, values: FloatArray) -> FloatArray:
    """Stretch limits (n, 2) as far as values (n,), where these lie beyond them.

    >>> holding(np.array([[1.0, 2.0], [1.0, 2.0]]), np.array([1.5, 3.0])).tolist()
    [[1.0, 2.0], [1.0, 3.0]]
    """
    return np.stack([np.minimum(limits[:, 0], values), np.maximum(limits[:, 1], values)], axis=1)


def _on_scale(
    centre: FloatArray,
    error: FloatArray,
    q: float | FloatArray,
    skewness: Skewness | None,
    domain: tuple[float, float],
) -> FloatArray:
    """Limits (n, 2) on the scale of log-odds in the domain, or of the log of a distance."""
    low, high = domain
    below, above = np.isfinite(low), np.isfinite(high)
    if below and above:
        share = (centre - low) / (high - low)
        spread = error / ((high - low) * share * (1.0 - share))
        up, down = _bent(q, skewness, spread * (1.0 - 2.0 * share))
        odds = np.log(share / (1.0 - share))
        ends = [1.0 / (1.0 + np.exp(each * spread - odds)) for each in (up, down)]
        return np.asarray(low + (high - low) * np.stack(ends, axis=1))
    distance = centre - low if below else high - centre
    spread = error / distance
    up, down = _bent(q, skewness, spread if below else -spread)
    factors = (np.exp(-up * spread), np.exp(-down * spread))
    if below:
        return np.asarray(low + np.stack([distance * factor for factor in factors], axis=1))
    return np.asarray(high - np.stack([distance / factor for factor in factors], axis=1))


def _bent(
    q: float | FloatArray, skewness: Skewness | None, removed: FloatArray | float
) -> tuple[FloatArray | float, FloatArray | float]:
    r"""Return quantiles of the studentised estimate at both ends, upper first.

    The studentised estimate T has :math:`T + \beta T^2/3 + \beta^2 T^3/27 + \gamma/6` nearly normal
    (t).  A scale f turns T into :math:`T + \rho T^2/2` with :math:`\rho = -\mathrm{se} f''/f'`, the
    part that it has removed.  The inverse of the cubic is nearly vertical where it stretches most;
    there one end is stretched by what the mirrored end is shrunk, the same to second order.
    """
    if skewness is None:
        return q, -q
    rest = skewness.bend - 1.5 * removed

    def back(x: float | FloatArray) -> FloatArray:
        moved = x - skewness.centre / 6.0
        root = np.cbrt(1.0 + np.abs(rest * moved))
        ratio = (root**2 + root + 1.0) / 3.0
        return np.asarray(np.where(rest * moved > 0.0, moved / ratio, moved * ratio))

    return back(q), back(-q)


def quantile(level: float, df: float | FloatArray) -> FloatArray:
    """Two-sided t quantiles of a nominal coverage.

    >>> quantile(0.95, np.array([10.0, np.inf])).round(2).tolist()
    [2.23, 1.96]
    """
    number = _check.real("level", level)
    if not 0.0 < number < 1.0:
        raise ValueError(f"level must lie between 0 and 1, got {_check.shown(level)}")
    return _t_quantile(0.5 + number / 2, np.asarray(df, dtype=np.float64))


def _t_quantile(share: float, df: FloatArray) -> FloatArray:
    """Quantiles of t by degrees of freedom: many, as by direction, by their expansion in 1/df.

    Its five terms (Abramowitz and Stegun 26.7.5) are exact to rounding from ``few`` on and a
    hundredth of the cost.
    """
    z = float(special.ndtri(share))
    terms = [
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    ]
    few = 300.0 * (1.0 + z**2)
    many = df > few
    inverse = 1.0 / np.where(many, df, few)
    found: FloatArray = np.asarray(np.polynomial.polynomial.polyval(inverse, terms), np.float64)
    found[~many] = special.stdtrit(df[~many], share)
    return found
