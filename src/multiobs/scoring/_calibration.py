"""Whether a forecast is calibrated: identification functions, their tests, and bins."""

import warnings
from dataclasses import dataclass, replace
from typing import Any, Literal, final

import numpy as np
import numpy.typing as npt
from scipy import stats
from sklearn.isotonic import IsotonicRegression

from multiobs import _check, statistics
from multiobs._types import FloatArray
from multiobs.samplers import Sampler
from multiobs.scoring._errors import Errors, covariance, standard_error
from multiobs.scoring._heldout import HeldOut, held_out
from multiobs.scoring._moved import Moved, of_independent
from multiobs.scoring._table import Columns
from multiobs.statistics import Statistic

ROUNDING = 1e-12  # of a value that is the same everywhere

Instruments = Literal["constant", "linear"] | npt.ArrayLike


@final
@dataclass(frozen=True)
class CalibrationTest:
    r"""Test that the identification function has mean zero, :math:`\mathbb{E}[V(r,Y)\,h]=0`.

    Attributes
    ----------
    mean, se, t, p : float
        Mean of V alone, its standard error, their ratio and its two-sided p-value. A positive
        mean says that the forecast is too low.
    wald, df, joint_p : float, int, float
        Wald statistic of V times all instruments, its degrees of freedom and p-value. Tests of a
        V without spread are NaN, with a warning.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=(1000, 1))
    >>> y = rng.normal(scale=1 + x[:, 0])
    >>> test = calibration_test("variance", x, y, np.full(1000, 1.0))
    >>> test.mean > 0, test.p < 0.001  # the forecast is too low
    (True, True)
    """

    mean: float
    se: float
    t: float
    p: float
    wald: float
    df: int
    joint_p: float

    def __str__(self) -> str:
        return (
            f"mean identification {self.mean:.4g} (se {self.se:.4g}, t {self.t:.2f}, "
            f"p {self.p:.3g}); joint Wald {self.wald:.2f} on {self.df} df, p {self.joint_p:.3g}"
        )


@_check.arithmetic("X, y and predictions")
def calibration_test(
    statistic: str | Statistic,
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    prediction: npt.ArrayLike,
    sampler: str | Sampler = "adjacent",
    *,
    instruments: Instruments = "linear",
    errors: Errors = "shared",
    bandwidth: int | None = None,
    sample_weight: npt.ArrayLike | None = None,
    groups: npt.ArrayLike | None = None,
    transport: Moved = "auto",
) -> CalibrationTest:
    r"""Test whether a forecast is calibrated.

    The identification function :math:`V(r, y_1..y_m)` has mean zero at the statistic, so the means
    of :math:`V(r_t, y_t)\,h_t` are compared with their covariance under shared labels
    (Nolde and Ziegel 2017).

    Parameters
    ----------
    statistic : str or Statistic
        What was predicted.
    X, y, prediction : array-like
        As in :func:`score`.
    instruments : "constant", "linear" or array-like (n, k)
        Functions h of the row: 1; 1 and the standardised forecast; or the columns given, averaged
        over the members of a metasample.
    sampler, errors, bandwidth, sample_weight, groups, transport
        As in :func:`compare`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=3000)
    >>> y = rng.normal(scale=1 + x)
    >>> calibration_test("variance", x, y, (1 + x) ** 2).joint_p > 0.01
    True
    >>> calibration_test("variance", x, y, 1.5 * (1 + x) ** 2).joint_p < 0.01
    True
    """
    chosen = statistics.resolve(statistic)
    moved = of_independent(transport, errors)
    held = held_out(chosen, X, y, sampler, sample_weight, groups, transport=moved)
    return judge_held(chosen, held, held.at(prediction), instruments, errors, bandwidth)


def judge_held(
    statistic: Statistic,
    held: HeldOut,
    r: FloatArray,
    instruments: Instruments,
    errors: Errors,
    bandwidth: int | None,
) -> CalibrationTest:
    """Test a forecast of metasamples that are already built."""
    V = statistic.identification(r, held.Y)
    mean = held.mean(V)
    se = standard_error(held, V, errors, bandwidth)
    H = _instruments(held, r, instruments)
    if not float(np.ptp(V)) > ROUNDING * float(np.max(np.abs(V))):
        return _without_spread(statistic, held, V, H)
    t = mean / se
    p = 2.0 * float(stats.t.sf(abs(t), max(held.rows_used - 1, 1)))
    moments = V[:, None] * H
    middle = held.weight @ moments
    S = covariance(held, moments, errors, bandwidth)
    wald = float(middle @ np.linalg.pinv(S) @ middle)
    df = int(np.linalg.matrix_rank(H))
    return CalibrationTest(mean, se, t, p, wald, df, float(stats.chi2.sf(wald, df)))


def _without_spread(
    statistic: Statistic, held: HeldOut, V: FloatArray, H: FloatArray
) -> CalibrationTest:
    """A forecast that is off by one and the same amount everywhere, or never."""
    df, mean = int(np.linalg.matrix_rank(H)), held.mean(V)
    if not np.any(V):  # right in each metasample: nothing speaks against it
        return CalibrationTest(0.0, 0.0, 0.0, 1.0, 0.0, df, 1.0)
    warnings.warn(
        f"the identification function of {statistic!r} is {mean:.4g} in each of "
        f"{held.members.shape[0]} metasamples: without any spread there is no test",
        UserWarning,
        stacklevel=5,
    )
    return CalibrationTest(mean, 0.0, np.nan, np.nan, np.nan, df, np.nan)


def _instruments(held: HeldOut, r: FloatArray, instruments: Instruments) -> FloatArray:
    one = np.ones((r.size, 1))
    if isinstance(instruments, str):
        _check.choice("instruments", instruments, ("constant", "linear"))
        spread = float(np.std(r))
        if instruments == "constant" or not spread > 1e-12 * (abs(float(np.mean(r))) or 1.0):
            return one
        return np.column_stack([one, (r - r.mean()) / spread])
    given = _check.finite("instruments", instruments)
    given = given[:, None] if given.ndim == 1 else given
    if given.ndim != 2 or given.shape[0] != held.n_rows or given.shape[1] == 0:
        raise ValueError(
            f"instruments must have one row per row of X, {held.n_rows}, got shape {given.shape}"
        )
    return np.asarray(given[held.members].mean(axis=1))


@final
@dataclass(frozen=True)
class Reliability:
    """A forecast against what it should have been, by bins of the forecast.

    Attributes
    ----------
    forecast, observed, se : ndarray (b,)
        Mean forecast in each bin, the calibrated value there, and its standard error under shared
        labels.
    count : ndarray of int (b,)
        Metasamples in each bin.
    curve_forecast, curve_observed : ndarray
        The isotonic recalibration (pool adjacent violators) of mean- and ratio-type statistics;
        empty for others.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=(1000, 1))
    >>> y = rng.normal(scale=1 + x[:, 0])
    >>> curve = reliability_curve("variance", x, y, (1 + x[:, 0]) ** 2, n_bins=4)
    >>> curve.forecast.shape, bool(np.all(np.diff(curve.curve_observed) >= 0))
    ((4,), True)
    """

    statistic: Statistic
    forecast: FloatArray
    observed: FloatArray
    se: FloatArray
    count: npt.NDArray[np.int64]
    curve_forecast: FloatArray
    curve_observed: FloatArray

    def to_frame(self) -> Any:
        """Return the bins as a pandas DataFrame."""
        return self._table().to_frame()

    def __str__(self) -> str:
        return str(self._table())

    def _table(self) -> Columns:
        return Columns(
            f"Reliability of {self.statistic!r}",
            {
                "forecast": self.forecast.tolist(),
                "observed": self.observed.tolist(),
                "se": self.se.tolist(),
                "count": self.count.tolist(),
            },
        )


@_check.arithmetic("X, y and predictions")
def reliability_curve(
    statistic: str | Statistic,
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    prediction: npt.ArrayLike,
    sampler: str | Sampler = "adjacent",
    *,
    n_bins: int = 10,
    sample_weight: npt.ArrayLike | None = None,
    groups: npt.ArrayLike | None = None,
    transport: Moved = "auto",
) -> Reliability:
    r"""Reliability of a forecast: what the statistic was where it was forecast to be r.

    In each bin of equally many metasamples the observed value is the mean forecast plus the shift
    that makes the mean identification function zero, :math:`\sum_t V(r_t + \delta, y_t) = 0`; for
    a mean-type statistic it is the mean of :math:`\psi`. For mean- and ratio-type statistics the
    isotonic regression of :math:`\psi` on r needs no bins (Dimitriadis, Gneiting and Jordan 2021).

    Parameters
    ----------
    statistic, X, y, prediction, sampler, sample_weight, groups, transport
        As in :func:`score`.
    n_bins : int
        The most bins; a forecast with fewer distinct values gets fewer.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=4000)
    >>> y = rng.normal(scale=1 + x)
    >>> bins = reliability_curve("variance", x, y, (1 + x) ** 2, n_bins=4)
    >>> bool(np.all(np.abs(bins.observed - bins.forecast) < 4 * bins.se))
    True
    """
    chosen = statistics.resolve(statistic)
    bins = _check.integer("n_bins", n_bins, low=1)
    held = held_out(chosen, X, y, sampler, sample_weight, groups, transport=transport)
    r = held.at(prediction)
    edges = np.unique(np.quantile(r, np.linspace(0, 1, bins + 1)[1:-1]))
    codes = np.searchsorted(edges, r, side="left")
    rows = []
    for code in np.unique(codes):
        inside = np.flatnonzero((codes == code) & (held.weight > 0))
        if inside.size < 2:
            continue
        w = held.weight[inside] / held.weight[inside].sum()
        part = replace(held, members=held.members[inside], weight=w)
        level = part.mean(r[inside])
        shift, slope = _shift(chosen, part, r[inside])
        V = chosen.identification(r[inside] + shift, part.Y)
        rows.append((level, level + shift, standard_error(part, V) / abs(slope), inside.size))
    table = np.array(rows, dtype=np.float64).reshape(-1, 4)
    curve = np.empty((0, 2))
    if chosen.psi is not None:
        at, unique = np.unique(r, return_index=True)
        curve = np.column_stack([at, recalibrate(chosen, held, r)[unique]])
    return Reliability(
        chosen,
        table[:, 0],
        table[:, 1],
        table[:, 2],
        table[:, 3].astype(np.int64),
        curve[:, 0],
        curve[:, 1],
    )


def recalibrate(statistic: Statistic, held: HeldOut, r: FloatArray) -> FloatArray:
    """Isotonic regression of psi (over chi) on a forecast, at the metasamples, (t,)."""
    if statistic.psi is None:
        raise ValueError(
            f"recalibration needs a mean- or ratio-type statistic, got {statistic!r}: its "
            "identification function cannot be pooled one forecast value at a time"
        )
    target, weight = statistic.psi(held.Y), held.weight
    if statistic.chi is not None:
        chi = statistic.chi(held.Y)
        if np.any(chi < 0):
            raise ValueError(
                f"recalibration of {statistic!r} needs a nonnegative denominator in each "
                f"metasample, got {float(chi.min()):g}"
            )
        target = np.where(chi > 0, target / np.where(chi > 0, chi, 1.0), 0.0)
        weight = weight * chi
    keep = weight > 0
    fit = IsotonicRegression(out_of_bounds="clip").fit(r[keep], target[keep], weight[keep])
    return np.asarray(fit.predict(r), dtype=np.float64)


def _shift(statistic: Statistic, held: HeldOut, r: FloatArray) -> tuple[float, float]:
    """Shift of a forecast that makes its mean identification zero, and the slope of V there."""
    Y = held.Y
    V = held.mean(statistic.identification(r, Y))
    if statistic.psi is not None:
        slope = -1.0 if statistic.chi is None else -held.mean(statistic.chi(Y))
        if not slope < 0:
            raise ValueError(
                f"{statistic!r} needs a positive denominator on average, got {-slope:g} in a bin"
            )
        return -V / slope, slope
    loss = statistic.loss
    if loss.quadratic_kernels is not None:
        _, linear, quadratic = loss.quadratic_kernels
        a = held.mean(quadratic(Y))
        b = held.mean(2.0 * quadratic(Y) * r + linear(Y))
        root = b * b + 4.0 * a * V
        if root < 0:
            return np.nan, np.nan
        size = np.sqrt(root) if b >= 0 else -np.sqrt(root)  # the root on the forecast's side
        return float((size - b) / (2.0 * a)), float(-size)
    h = loss.hessian(r, Y)
    if h is None:
        raise ValueError(f"reliability needs the second derivative of the loss of {statistic!r}")
    slope = -held.mean(h)
    return -V / slope, slope
