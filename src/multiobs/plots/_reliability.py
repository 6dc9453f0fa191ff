"""Reliability diagram of a predicted statistic."""

from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

from multiobs import scoring, statistics
from multiobs.plots._style import BLUE, GREY, ORANGE, axes, finish, label
from multiobs.samplers import Sampler
from multiobs.scoring import Reliability
from multiobs.statistics import Statistic


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
    figure_, ax_ : Figure, Axes
        Set by :meth:`plot`.

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
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        *,
        statistic: str | Statistic | None = None,
        n_bins: int = 10,
        sampler: str | Sampler = "adjacent",
        name: str | None = None,
        ax: Any = None,
        y_unit: str | None = None,
    ) -> Self:
        """Draw a fitted estimator on held-out rows (n, d), (n,).

        ``statistic`` is the estimator's own by default; the rest as in
        :func:`multiobs.scoring.reliability_curve`.
        """
        what = estimator.statistic if statistic is None else statistic
        return cls.from_predictions(
            what,
            X,
            y,
            estimator.predict(X),
            n_bins=n_bins,
            sampler=sampler,
            name=type(estimator).__name__ if name is None else name,
            ax=ax,
            y_unit=y_unit,
        )

    @classmethod
    def from_predictions(
        cls,
        statistic: str | Statistic,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        prediction: npt.ArrayLike,
        *,
        n_bins: int = 10,
        sampler: str | Sampler = "adjacent",
        name: str = "forecast",
        ax: Any = None,
        y_unit: str | None = None,
    ) -> Self:
        """Draw predictions (n,) of anybody at held-out rows (n, d), (n,)."""
        curve = scoring.reliability_curve(
            statistics.resolve(statistic), X, y, prediction, sampler, n_bins=n_bins
        )
        return cls(curve, name).plot(ax=ax, y_unit=y_unit)

    def plot(self, *, ax: Any = None, y_unit: str | None = None) -> Self:
        """Draw on new axes, or on those given."""
        self.figure_, (self.ax_,) = axes(ax)
        c = self.curve
        low = float(min(np.nanmin(c.forecast), np.nanmin(c.observed - 2 * c.se)))
        high = float(max(np.nanmax(c.forecast), np.nanmax(c.observed + 2 * c.se)))
        self.ax_.axline((low, low), slope=1, ls="--", color=GREY, lw=1, label="calibrated")
        left, right = float(c.forecast.min()), float(c.forecast.max())
        # Beyond the outer bins an isotonic regression follows single metasamples.
        inside = (c.curve_forecast >= left) & (c.curve_forecast <= right)
        if np.count_nonzero(inside) > 1:
            self.ax_.plot(
                c.curve_forecast[inside],
                c.curve_observed[inside],
                color=BLUE,
                lw=1.5,
                label="isotonic regression",
            )
        self.ax_.errorbar(
            c.forecast, c.observed, 1.96 * c.se, fmt="o", ms=5, color=ORANGE, capsize=2, lw=1.2,
            label=f"{self.name}, bins with 95 % intervals",
        )  # fmt: skip
        pad = 0.05 * (high - low)
        self.ax_.set_ylim(low - pad, high + 4 * pad)  # room for the legend
        margin = 0.08 * (right - left) or 0.1 * (abs(right) or 1.0)
        self.ax_.set_xlim(left - margin, right + margin)
        unit = c.statistic.unit_in(y_unit)
        self.ax_.set_xlabel(label(f"forecast {c.statistic.title}", unit))
        self.ax_.set_ylabel(label(f"observed {c.statistic.title}", unit))
        finish(self.ax_, place="upper left")
        return self
