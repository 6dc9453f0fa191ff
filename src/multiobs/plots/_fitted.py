"""Data with the fitted statistic and its band."""

from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

from multiobs import _check, statistics
from multiobs._types import FloatArray
from multiobs.estimator.regressor import MultiObservationRegressor
from multiobs.plots._style import BLUE, GREY, ORANGE, SKY, axes, finish, label
from multiobs.statistics import Statistic
from multiobs.transport.spline import SplinePilot

_POINTS = 2000  # more would be a blot


@final
class FittedStatisticDisplay:
    """Data and a fitted statistic of it over one column of x.

    A statistic that moves with y in its units (mean, UCB, MINVAR) is drawn over the data. A
    variance or standard deviation becomes ribbons of mean ± 1 and 2 sd over the data, with the
    statistic and its band below. Any other statistic has the data above and itself below.

    Parameters
    ----------
    statistic : Statistic
        What was fitted.
    x, y : ndarray (n,)
        The data shown.
    grid, fitted : ndarray (g,)
        Where the statistic is drawn, and its values.
    band : ndarray (g, 2) or None
        Confidence limits.
    level : float or None
        Their level.
    mean : ndarray (g,) or None
        Mean of y on the grid, for the ribbons.

    Attributes
    ----------
    figure_, axes_ : Figure, list of Axes
        Set by :meth:`plot`.

    Examples
    --------
    >>> from multiobs import MultiObservationRegressor
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=(300, 1))
    >>> y = rng.normal(scale=1 + x[:, 0])
    >>> model = MultiObservationRegressor("variance").fit(x, y)
    >>> display = FittedStatisticDisplay.from_estimator(model, x, y, level=None)
    >>> len(display.axes_)
    2
    """

    def __init__(
        self,
        statistic: Statistic,
        x: FloatArray,
        y: FloatArray,
        grid: FloatArray,
        fitted: FloatArray,
        band: FloatArray | None = None,
        level: float | None = None,
        mean: FloatArray | None = None,
    ) -> None:
        self.statistic = statistic
        self.x, self.y, self.grid, self.fitted = x, y, grid, fitted
        self.band, self.level, self.mean = band, level, mean

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        *,
        feature: int = 0,
        level: float | None = 0.95,
        ax: Any = None,
        x_label: str = "x",
        y_unit: str | None = None,
    ) -> Self:
        """Draw a fitted estimator of a statistic.

        Parameters
        ----------
        estimator : fitted regressor with a ``statistic``
            Ours or a baseline; the band is ``predict_interval`` of ours.
        X, y : array-like (n, d), (n,)
            Data to show.
        feature : int
            The column of X on the axis; the others are held at their medians.
        level : float or None
            Level of the band; None draws none.
        ax : Axes or list of Axes, optional
            Where to draw.
        x_label, y_unit : str, optional
            Name (and unit) of x, unit of y.
        """
        positions: FloatArray = np.asarray(X, dtype=np.float64)
        positions = positions[:, None] if positions.ndim == 1 else positions
        column = _check.integer("feature", feature, low=0)
        grid = np.linspace(positions[:, column].min(), positions[:, column].max(), 201)
        at = np.tile(np.median(positions, axis=0), (grid.size, 1))
        at[:, column] = grid
        band = None
        if level is not None and isinstance(estimator, MultiObservationRegressor):
            band = np.asarray(estimator.predict_interval(at, level))
        return cls._drawn(
            statistics.resolve(estimator.statistic),
            positions,
            np.asarray(y, dtype=np.float64),
            column,
            at,
            np.asarray(estimator.predict(at), dtype=np.float64),
            band,
            level if band is not None else None,
            ax,
            x_label,
            y_unit,
        )

    @classmethod
    def from_predictions(
        cls,
        statistic: str | Statistic,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        prediction: npt.ArrayLike,
        *,
        band: npt.ArrayLike | None = None,
        level: float | None = None,
        ax: Any = None,
        x_label: str = "x",
        y_unit: str | None = None,
    ) -> Self:
        """Draw predictions of anybody at the rows of one column of x.

        Parameters
        ----------
        statistic : str or Statistic
            What was predicted.
        X, y, prediction : array-like (n,) or (n, 1), (n,), (n,)
            Data and predictions at its rows.
        band : array-like (n, 2), optional
            Limits at the rows.
        level : float, optional
            Their level.
        ax, x_label, y_unit
            As in :meth:`from_estimator`.
        """
        positions: FloatArray = np.asarray(X, dtype=np.float64)
        positions = positions[:, None] if positions.ndim == 1 else positions
        if positions.shape[1] != 1:
            raise ValueError(f"predictions need one column of x, got {positions.shape[1]}")
        order = np.argsort(positions[:, 0], kind="stable")
        r = np.broadcast_to(np.asarray(prediction, dtype=np.float64), (order.size,))
        limits = None if band is None else np.asarray(band, dtype=np.float64)[order]
        return cls._drawn(
            statistics.resolve(statistic),
            positions,
            np.asarray(y, dtype=np.float64),
            0,
            positions[order],
            r[order],
            limits,
            level,
            ax,
            x_label,
            y_unit,
        )

    @classmethod
    def _drawn(
        cls,
        statistic: Statistic,
        X: FloatArray,
        y: FloatArray,
        column: int,
        at: FloatArray,
        fitted: FloatArray,
        band: FloatArray | None,
        level: float | None,
        ax: Any,
        x_label: str,
        y_unit: str | None,
    ) -> Self:
        if y.ndim != 1:
            raise ValueError(f"the display needs y with one column, got shape {y.shape}")
        mean = None
        if statistic.moments is not None and statistic.moments.spread is not None:
            mean = SplinePilot().fit(X, y).predict(at)
        made = cls(statistic, X[:, column], y, at[:, column], fitted, band, level, mean)
        return made.plot(ax=ax, x_label=x_label, y_unit=y_unit)

    def plot(self, *, ax: Any = None, x_label: str = "x", y_unit: str | None = None) -> Self:
        """Draw on new axes, or on those given (two when the statistic has its own panel)."""
        over = self.statistic.shift == "equivariant" and self.statistic.scale == 1
        self.figure_, self.axes_ = axes(ax, 1 if over else 2)
        top, bottom = self.axes_[0], self.axes_[-1]
        step = max(1, -(-self.x.size // _POINTS))
        shown = f"data ({self.x.size} rows)" if step == 1 else f"data (every {step}th row)"
        top.plot(
            self.x[::step], self.y[::step], ".", ms=3, color=GREY, alpha=0.5, label=shown, zorder=1
        )
        if self.mean is not None:
            self._ribbons(top)
        unit = self.statistic.unit_in(y_unit)
        name = self.statistic.title
        if self.band is not None:
            share = "band" if self.level is None else f"{100 * self.level:g} % confidence band"
            bottom.fill_between(
                self.grid, self.band[:, 0], self.band[:, 1], color=ORANGE, alpha=0.25, lw=0,
                label=share, zorder=2,
            )  # fmt: skip
        bottom.plot(self.grid, self.fitted, color=ORANGE, lw=2, label=f"fitted {name}", zorder=3)
        top.set_ylabel(label("y", "" if y_unit is None else y_unit))
        if not over:
            bottom.set_ylabel(label(name, unit))
            if self.statistic.domain[0] == 0 and np.min(self.fitted) >= 0:
                bottom.set_ylim(bottom=0)
        bottom.set_xlabel(x_label)
        for each in dict.fromkeys(self.axes_):
            finish(each)
        return self

    def _ribbons(self, ax: Any) -> None:
        moments = self.statistic.moments
        assert self.mean is not None
        assert moments is not None
        assert moments.spread is not None
        sd = moments.spread(self.fitted)
        for times, shade in ((2, 0.25), (1, 0.4)):
            ax.fill_between(
                self.grid, self.mean - times * sd, self.mean + times * sd, color=SKY, alpha=shade,
                lw=0, label=f"mean ± {times if times > 1 else ''}{' ' if times > 1 else ''}sd",
                zorder=2,
            )  # fmt: skip
        ax.plot(self.grid, self.mean, color=BLUE, lw=1.5, label="mean (spline)", zorder=3)
