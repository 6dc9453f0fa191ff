"""Calibration of risk forecasts with their lights, and what the window does to it."""

from collections.abc import Mapping
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

from multiobs import _check
from multiobs.plots._style import (
    CYCLE,
    DASHES,
    GREY,
    LIGHTS,
    Style,
    axes,
    finish,
    label,
    styled,
)
from multiobs.scoring import Backtest


@final
class BacktestDisplay:
    """Calibration of each forecast with its light, and the sensitivity to the window.

    Parameters
    ----------
    report : Backtest
        From :func:`multiobs.scoring.backtest`.

    Attributes
    ----------
    figure_, axes_, ax_ : Figure, ndarray of Axes, the first of them
        Set by :meth:`plot`.

    Examples
    --------
    >>> from multiobs import scoring
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=400)
    >>> forecasts = {"one": np.ones(400), "two": np.full(400, 2.0)}
    >>> report = scoring.backtest("variance", np.arange(400), y, forecasts)
    >>> len(BacktestDisplay(report).plot().axes_)
    2
    """

    def __init__(self, report: Backtest) -> None:
        self.report = report

    @classmethod
    @_check.arithmetic("y and forecasts")
    def from_predictions(
        cls,
        statistic: Any,
        time: npt.ArrayLike,
        y: npt.ArrayLike,
        forecasts: Mapping[str, npt.ArrayLike],
        *,
        window: int | None = None,
        ax: Any = None,
        y_unit: str | None = None,
        line_kw: Style = None,
        errorbar_kw: Style = None,
    ) -> Self:
        """Backtest and draw; arguments as in :func:`multiobs.scoring.backtest`."""
        from multiobs import scoring

        return cls(scoring.backtest(statistic, time, y, forecasts, window)).plot(
            ax=ax, y_unit=y_unit, line_kw=line_kw, errorbar_kw=errorbar_kw
        )

    def plot(
        self,
        *,
        ax: Any = None,
        y_unit: str | None = None,
        line_kw: Style = None,
        errorbar_kw: Style = None,
    ) -> Self:
        """Draw on two new axes, or on those given.

        ``errorbar_kw`` and ``line_kw`` are keywords of matplotlib for the calibration and for the
        scores against the window.
        """
        report = self.report
        # the panels have different things across
        self.figure_, self.axes_ = axes(ax, 2, share=False)
        self.ax_ = top = self.axes_[0]
        bottom = self.axes_[1]
        names = report.comparison.names
        for place, name in enumerate(names):
            test = report.calibration[name]
            bars = {
                "marker": "o", "linestyle": "", "markersize": 9, "capsize": 3, "linewidth": 1.5,
                "color": LIGHTS[report.lights[name]], "markeredgecolor": "black",
                "markeredgewidth": 0.6,
            }  # fmt: skip
            top.errorbar(test.mean, place, xerr=1.96 * test.se, **styled(bars, errorbar_kw))
        top.axvline(0, color=GREY, ls="--", lw=1)
        texts = [f"{name}: {report.lights[name]}" for name in names]
        top.set_yticks(range(len(names)), texts)
        top.set_ylim(len(names) - 0.5, -0.5)
        unit = report.statistic.unit_in(y_unit) if report.statistic.form == "mean" else ""
        top.set_xlabel(label("too low by: mean identification, 95 % interval", unit))
        finish(top, legend=False)
        table = report.sensitivity.columns
        windows = np.asarray(table["window"])
        who = np.asarray(table["forecast"])
        score = np.asarray(table["score"], dtype=np.float64)
        sizes = np.unique(windows)
        best = {size: score[windows == size].min() for size in sizes}
        for i, name in enumerate(names):
            mine = who == name
            excess = [s - best[w] for s, w in zip(score[mine], windows[mine], strict=True)]
            look = {
                "marker": "o", "markersize": 4, "linewidth": 1.5, "color": CYCLE[i % 7],
                "linestyle": DASHES[i % 7], "label": name,
            }  # fmt: skip
            bottom.plot(windows[mine], excess, **styled(look, line_kw))
        bottom.set_xscale("log")
        bottom.set_xticks(sizes, [str(size) for size in sizes])
        bottom.minorticks_off()
        bottom.set_xlabel("window [rows in time]")
        bottom.set_ylabel("score less the best")
        top.set_title(f"Backtest of {report.statistic.title}", fontsize="medium", loc="left")
        bottom.margins(y=0.1)
        finish(bottom)
        return self
