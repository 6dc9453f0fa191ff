"""Murphy diagram of forecasts of a statistic."""

from collections.abc import Mapping
from typing import Any, Self, final

import numpy.typing as npt

from multiobs import scoring
from multiobs.plots._style import CYCLE, DASHES, GREY, Style, axes, finish, label, styled
from multiobs.samplers import Sampler
from multiobs.scoring import Murphy
from multiobs.statistics import Statistic


@final
class MurphyDisplay:
    """Mean elementary score against the threshold; lower is better under every consistent loss.

    Parameters
    ----------
    curve : Murphy
        From :func:`multiobs.scoring.murphy_curve`.

    Attributes
    ----------
    figure_, axes_, ax_ : Figure, ndarray of Axes, the first of them
        Set by :meth:`plot`; with two forecasts, a second panel holds their difference.
    lines_ : list of Line2D
        One of each forecast.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=300)
    >>> y = rng.normal(scale=1 + x)
    >>> forecasts = {"true": (1 + x) ** 2, "constant": 2.3}
    >>> len(MurphyDisplay.from_predictions("variance", x, y, forecasts).axes_)
    2
    """

    def __init__(self, curve: Murphy) -> None:
        self.curve = curve

    @classmethod
    def from_predictions(
        cls,
        statistic: str | Statistic,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        predictions: Mapping[str, npt.ArrayLike],
        *,
        sampler: str | Sampler = "adjacent",
        ax: Any = None,
        y_unit: str | None = None,
        line_kw: Style = None,
        band_kw: Style = None,
    ) -> Self:
        """Draw named predictions, each (n,) or a number, at held-out rows (n, d), (n,)."""
        curve = scoring.murphy_curve(statistic, X, y, predictions, sampler)
        return cls(curve).plot(ax=ax, y_unit=y_unit, line_kw=line_kw, band_kw=band_kw)

    @classmethod
    def from_estimators(
        cls,
        estimators: Mapping[str, Any],
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        *,
        statistic: str | Statistic,
        sampler: str | Sampler = "adjacent",
        ax: Any = None,
        y_unit: str | None = None,
        line_kw: Style = None,
        band_kw: Style = None,
    ) -> Self:
        """Draw named fitted estimators on held-out rows (n, d), (n,)."""
        predictions = {name: model.predict(X) for name, model in estimators.items()}
        return cls.from_predictions(
            statistic, X, y, predictions, sampler=sampler, ax=ax, y_unit=y_unit, line_kw=line_kw,
            band_kw=band_kw,
        )  # fmt: skip

    def plot(
        self,
        *,
        ax: Any = None,
        y_unit: str | None = None,
        line_kw: Style = None,
        band_kw: Style = None,
    ) -> Self:
        """Draw on new axes, or on those given (two of them for two forecasts).

        ``line_kw`` and ``band_kw`` are keywords of matplotlib for the curves of the forecasts and
        for the interval of their difference.
        """
        c = self.curve
        pair = c.difference is not None and c.difference_se is not None
        self.figure_, self.axes_ = axes(ax, 2 if pair else 1, (3, 2) if pair else None)
        self.ax_ = top = self.axes_[0]
        bottom = self.axes_[-1]
        unit = c.statistic.unit_in(y_unit)
        self.lines_ = []
        for i, name in enumerate(c.names):
            look = {"color": CYCLE[i % 7], "linestyle": DASHES[i % 7], "linewidth": 1.8}
            self.lines_ += top.plot(
                c.theta, c.scores[i], **styled({**look, "label": name}, line_kw)
            )
        top.set_ylabel(label("mean elementary score", unit))
        top.set_ylim(bottom=0)
        finish(top)
        if c.difference is not None and c.difference_se is not None:
            half = 1.96 * c.difference_se
            bottom.axhline(0, color=GREY, lw=1, ls="--")
            shade = {"color": CYCLE[2], "alpha": 0.25, "linewidth": 0}
            bottom.fill_between(
                c.theta,
                c.difference - half,
                c.difference + half,
                **styled({**shade, "label": "95 % pointwise interval"}, band_kw),
            )
            bottom.plot(
                c.theta, c.difference, color=CYCLE[2], lw=1.8, label=f"{c.names[0]} − {c.names[1]}"
            )
            bottom.set_ylabel(label("difference", unit))
            finish(bottom)
        bottom.set_xlabel(label(f"threshold θ, {c.statistic.title}", unit))
        return self
