"""Reliability diagram of a predicted statistic."""

from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

from multiobs import scoring, statistics
from multiobs._types import FloatArray
from multiobs.plots._style import BLUE, GREY, ORANGE, Style, axes, can, finish, label, styled
from multiobs.samplers import Sampler
from multiobs.scoring import Reliability
from multiobs.statistics import Statistic

_TIMES = 1.96  # standard errors in a 95 % interval


@final
class ReliabilityDisplay:
    """What the statistic was where it was forecast to be r; the diagonal is calibration.

    Parameters
    ----------
    curve : Reliability
        From :func:`multiobs.scoring.reliability_curve`.
    name : str
        Of the forecast.

    Attributes
    ----------
    figure_, ax_, axes_ : Figure, Axes, ndarray with it
        Set by :meth:`plot`.
    line_, errorbar_ : Line2D or None, ErrorbarContainer
        The isotonic regression and the bins.

    Notes
    -----
    Intervals of a statistic that cannot be negative are symmetric about the logarithm of the
    observed value, so that no bar goes below zero.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=500)
    >>> y = rng.normal(scale=1 + x)
    >>> display = ReliabilityDisplay.from_predictions("variance", x, y, (1 + x) ** 2)
    >>> display.ax_.get_xlabel()
    'forecast variance [unit of y²]'
    """

    def __init__(self, curve: Reliability, name: str = "forecast") -> None:
        self.curve = curve
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: npt.ArrayLike,
        *,
        statistic: str | Statistic | None = None,
        n_bins: int = 10,
        sampler: str | Sampler = "adjacent",
        name: str | None = None,
        ax: Any = None,
        y_unit: str | None = None,
        line_kw: Style = None,
        errorbar_kw: Style = None,
    ) -> Self:
        """Draw a fitted estimator on held-out rows (n, d), (n,).

        ``statistic`` is the estimator's own by default; the rest as in
        :func:`multiobs.scoring.reliability_curve`. ``line_kw`` and ``errorbar_kw`` are keywords of
        matplotlib for the isotonic regression and the bins.
        """
        what = can(estimator, "statistic").statistic if statistic is None else statistic
        return cls.from_predictions(
            what,
            X,
            y,
            can(estimator, "predict").predict(X),
            n_bins=n_bins,
            sampler=sampler,
            name=type(estimator).__name__ if name is None else name,
            ax=ax,
            y_unit=y_unit,
            line_kw=line_kw,
            errorbar_kw=errorbar_kw,
        )

    @classmethod
    def from_predictions(
        cls,
        statistic: str | Statistic,
        X: Any,
        y: npt.ArrayLike,
        prediction: npt.ArrayLike,
        *,
        n_bins: int = 10,
        sampler: str | Sampler = "adjacent",
        name: str = "forecast",
        ax: Any = None,
        y_unit: str | None = None,
        line_kw: Style = None,
        errorbar_kw: Style = None,
    ) -> Self:
        """Draw predictions (n,) of anybody at held-out rows (n, d), (n,)."""
        curve = scoring.reliability_curve(
            statistics.resolve(statistic), X, y, prediction, sampler, n_bins=n_bins
        )
        return cls(curve, name).plot(ax=ax, y_unit=y_unit, line_kw=line_kw, errorbar_kw=errorbar_kw)

    def limits(self) -> tuple[FloatArray, FloatArray]:
        """Return the ends of the 95 % intervals of the bins."""
        observed, half = self.curve.observed, _TIMES * self.curve.se
        low, high = observed - half, observed + half
        positive = (observed > 0) & (self.curve.statistic.domain[0] == 0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            factor = np.exp(half / observed)
            return np.where(positive, observed / factor, low), np.where(
                positive, observed * factor, high
            )

    def plot(
        self,
        *,
        ax: Any = None,
        y_unit: str | None = None,
        line_kw: Style = None,
        errorbar_kw: Style = None,
    ) -> Self:
        """Draw on new axes, or on those given."""
        c = self.curve
        ends = self.limits()
        if not np.all(np.isfinite([c.forecast, c.observed, c.observed + 4 * _TIMES * c.se])):
            raise ValueError("reliability is drawn where its bins are finite, got other values")
        if c.forecast.size == 0:
            raise ValueError("reliability needs a bin of two metasamples, got none")
        self.figure_, self.axes_ = axes(ax)
        self.ax_ = self.axes_[0]
        low = float(min(np.nanmin(c.forecast), np.nanmin(ends[0])))
        high = float(max(np.nanmax(c.forecast), np.nanmax(c.observed + 2 * _TIMES * c.se)))
        self.ax_.axline((low, low), slope=1, ls="--", color=GREY, lw=1, label="calibrated")
        left, right = float(c.forecast.min()), float(c.forecast.max())
        # Beyond the outer bins an isotonic regression follows single metasamples.
        inside = (c.curve_forecast >= left) & (c.curve_forecast <= right)
        self.line_ = None
        if np.count_nonzero(inside) > 1:
            look = {"color": BLUE, "linewidth": 1.5, "label": "isotonic regression"}
            (self.line_,) = self.ax_.plot(
                c.curve_forecast[inside], c.curve_observed[inside], **styled(look, line_kw)
            )
        bars = {
            "marker": "o", "linestyle": "", "markersize": 5, "color": ORANGE, "capsize": 2,
            "linewidth": 1.2, "elinewidth": 1.2, "label": f"{self.name}, bins with 95 % intervals",
        }  # fmt: skip
        self.errorbar_ = self.ax_.errorbar(
            c.forecast,
            c.observed,
            np.stack([c.observed - ends[0], ends[1] - c.observed]),
            **styled(bars, errorbar_kw),
        )
        pad = 0.05 * (high - low)
        floor = 0.0 if c.statistic.domain[0] == 0 and low >= 0 else low - pad
        self.ax_.set_ylim(floor, high + pad)
        margin = 0.08 * (right - left) or 0.1 * (abs(right) or 1.0)
        self.ax_.set_xlim(left - margin, right + margin)
        unit = c.statistic.unit_in(y_unit)
        self.ax_.set_xlabel(label(f"forecast {c.statistic.title}", unit))
        self.ax_.set_ylabel(label(f"observed {c.statistic.title}", unit))
        finish(self.ax_)
        return self
