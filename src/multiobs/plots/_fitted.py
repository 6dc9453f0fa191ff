"""Data with the fitted statistic and its band."""

from typing import Any, Self, final

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_consistent_length

from multiobs import _check, statistics
from multiobs._types import FloatArray
from multiobs.estimator.regressor import MultiObservationRegressor
from multiobs.plots._columns import columns_of, label_name, read_labels
from multiobs.plots._style import (
    BLUE,
    GREY,
    ORANGE,
    SKY,
    Style,
    axes,
    can,
    finish,
    label,
    ordinal,
    styled,
)
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
    x_name, y_name : str
        What the axes are called unless :meth:`plot` is told otherwise.

    Attributes
    ----------
    figure_, axes_, ax_ : Figure, ndarray of Axes, the first of them
        Set by :meth:`plot`.
    line_, band_ : Line2D, PolyCollection or None
        The fitted statistic and its band.

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
        *,
        band: FloatArray | None = None,
        level: float | None = None,
        mean: FloatArray | None = None,
        x_name: str = "x",
        y_name: str = "y",
    ) -> None:
        self.statistic = statistic
        self.x, self.y, self.grid, self.fitted = x, y, grid, fitted
        self.band, self.level, self.mean = band, level, mean
        self.x_name, self.y_name = x_name, y_name

    @classmethod
    @_check.arithmetic("X and y")
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: npt.ArrayLike,
        *,
        feature: int | str = 0,
        level: float | None = 0.95,
        ax: Any = None,
        x_label: str | None = None,
        y_unit: str | None = None,
        scatter_kw: Style = None,
        line_kw: Style = None,
        band_kw: Style = None,
    ) -> Self:
        """Draw a fitted estimator of a statistic.

        Parameters
        ----------
        estimator : fitted regressor with a ``statistic``
            Ours or a baseline; the band is ``predict_interval`` of ours.
        X, y : array-like or data frame (n, d), (n,)
            Data to show.
        feature : int or str
            The column of X on the axis; the others are held at their medians, or at their
            commonest value where they are no numbers.
        level : float or None
            Level of the band; None draws none.
        ax : Axes or list of Axes, optional
            Where to draw.
        x_label, y_unit : str, optional
            Name (and unit) of x, the column's name by default; unit of y.
        scatter_kw, line_kw, band_kw : dict, optional
            Keywords of matplotlib for the data, the fitted line and its band.
        """
        can(estimator, "statistic", "predict")
        columns = columns_of(X)
        place = columns.index(feature)
        across = columns.values(place)
        at = columns.along(place, np.linspace(across.min(), across.max(), 201))
        band = None
        if level is not None and isinstance(estimator, MultiObservationRegressor):
            band = np.asarray(estimator.predict_interval(at, level))
        what = statistics.resolve(estimator.statistic)
        labels = read_labels(y)
        check_consistent_length(across, labels)
        made = cls(
            what,
            across,
            labels,
            columns_of(at).values(place),
            np.asarray(estimator.predict(at), dtype=np.float64),
            band=band,
            level=level if band is not None else None,
            mean=_mean(what, columns.numbers(), labels, columns_of(at).numbers()),
            x_name=columns.names[place],
            y_name=label_name(y),
        )
        return made.plot(
            ax=ax, x_label=x_label, y_unit=y_unit, scatter_kw=scatter_kw, line_kw=line_kw,
            band_kw=band_kw,
        )  # fmt: skip

    @classmethod
    @_check.arithmetic("X and y")
    def from_predictions(
        cls,
        statistic: str | Statistic,
        X: Any,
        y: npt.ArrayLike,
        prediction: npt.ArrayLike,
        *,
        band: npt.ArrayLike | None = None,
        level: float | None = None,
        ax: Any = None,
        x_label: str | None = None,
        y_unit: str | None = None,
        scatter_kw: Style = None,
        line_kw: Style = None,
        band_kw: Style = None,
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
        ax, x_label, y_unit, scatter_kw, line_kw, band_kw
            As in :meth:`from_estimator`.
        """
        columns = columns_of(X)
        if columns.count != 1:
            raise ValueError(f"predictions need one column of x, got {columns.count}")
        x, labels, what = columns.values(0), read_labels(y), statistics.resolve(statistic)
        order = np.argsort(x, kind="stable")
        r = _check.finite("prediction", prediction)
        if r.shape not in ((), (1,), (order.size,)):
            raise ValueError(f"prediction must be one number per row, got shape {r.shape}")
        if labels.size != order.size:
            raise ValueError(f"y must have one label per row, {order.size}, got {labels.size}")
        r = np.broadcast_to(r, (order.size,))
        limits = None if band is None else _check.finite("band", band)
        if limits is not None and limits.shape != (order.size, 2):
            raise ValueError(f"band must have shape ({order.size}, 2), got {limits.shape}")
        limits = None if limits is None else limits[order]
        made = cls(
            what, x, labels, x[order], r[order],
            band=limits, level=level, mean=_mean(what, x[:, None], labels, x[order][:, None]),
            x_name=columns.names[0], y_name=label_name(y),
        )  # fmt: skip
        return made.plot(
            ax=ax, x_label=x_label, y_unit=y_unit, scatter_kw=scatter_kw, line_kw=line_kw,
            band_kw=band_kw,
        )  # fmt: skip

    def plot(
        self,
        *,
        ax: Any = None,
        x_label: str | None = None,
        y_unit: str | None = None,
        scatter_kw: Style = None,
        line_kw: Style = None,
        band_kw: Style = None,
    ) -> Self:
        """Draw on new axes, or on those given (two when the statistic has its own panel)."""
        over = self.statistic.shift == "equivariant" and self.statistic.scale == 1
        self.figure_, self.axes_ = axes(ax, 1 if over else 2)
        self.ax_ = self.axes_[0]
        top, bottom = self.axes_[0], self.axes_[-1]
        step = max(1, -(-self.x.size // _POINTS))
        shown = f"data ({self.x.size} rows)"
        if step > 1:
            shown = f"data (every {ordinal(step)} of {self.x.size} rows)"
        dots = {"marker": ".", "markersize": 3, "linestyle": "", "color": GREY, "alpha": 0.5}
        top.plot(
            self.x[::step],
            self.y[::step],
            **styled(dots | {"label": shown, "zorder": 1}, scatter_kw),
        )
        if self.mean is not None:
            self._ribbons(top)
        name = self.statistic.title
        self.band_ = None
        if self.band is not None:
            share = "band" if self.level is None else f"{100 * self.level:g} % confidence band"
            shade = {"color": ORANGE, "alpha": 0.25, "linewidth": 0, "label": share, "zorder": 2}
            self.band_ = bottom.fill_between(
                self.grid, self.band[:, 0], self.band[:, 1], **styled(shade, band_kw)
            )
        look = {"color": ORANGE, "linewidth": 2, "label": f"fitted {name}", "zorder": 3}
        (self.line_,) = bottom.plot(self.grid, self.fitted, **styled(look, line_kw))
        top.set_ylabel(label(self.y_name, "" if y_unit is None else y_unit))
        if not over:
            bottom.set_ylabel(label(name, self.statistic.unit_in(y_unit)))
            if self.statistic.domain[0] == 0 and np.min(self.fitted) >= 0:
                bottom.set_ylim(bottom=0)
        bottom.set_xlabel(self.x_name if x_label is None else x_label)
        for each in self.axes_:
            finish(each)
        return self

    def _ribbons(self, ax: Any) -> None:
        moments = self.statistic.moments
        if self.mean is None or moments is None or moments.spread is None:
            return
        sd = moments.spread(self.fitted)
        for times, shade in ((2, 0.25), (1, 0.4)):
            ax.fill_between(
                self.grid, self.mean - times * sd, self.mean + times * sd, color=SKY, alpha=shade,
                linewidth=0, label="mean ± sd" if times == 1 else f"mean ± {times} sd", zorder=2,
            )  # fmt: skip
        ax.plot(self.grid, self.mean, color=BLUE, linewidth=1.5, label="mean (spline)", zorder=3)


def _mean(what: Statistic, X: FloatArray, y: FloatArray, at: FloatArray) -> FloatArray | None:
    """Mean of y at places, for statistics whose value tells the spread about it."""
    if what.moments is None or what.moments.spread is None:
        return None
    return np.asarray(SplinePilot().fit(X, y).predict(at))
