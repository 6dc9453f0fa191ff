"""The bias that a drifting mean brings into windows."""

from typing import Any, Self, final

import numpy.typing as npt

from multiobs import scoring
from multiobs.plots._columns import columns_of
from multiobs.plots._style import BLUE, GREY, ORANGE, Style, axes, can, finish, label, styled
from multiobs.scoring import DriftCurve
from multiobs.statistics import Statistic


@final
class DriftBiasDisplay:
    """The statistic averaged over x against the width of the windows: a slope is bias.

    Parameters
    ----------
    curve : DriftCurve
        From :func:`multiobs.scoring.drift_curve`.

    Attributes
    ----------
    figure_, ax_, axes_ : Figure, Axes, ndarray with it
        Set by :meth:`plot`.
    x_name : str
        Whose units the widths have: the column's name after a data frame.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=300)
    >>> y = np.sin(9 * x) + rng.normal(size=300)
    >>> display = DriftBiasDisplay.from_data("variance", x, y)
    >>> len(display.ax_.get_lines())
    3
    """

    def __init__(self, curve: DriftCurve, x_name: str = "x") -> None:
        self.curve = curve
        self.x_name = x_name

    @classmethod
    def from_data(
        cls,
        statistic: str | Statistic,
        X: Any,
        y: npt.ArrayLike,
        *,
        ax: Any = None,
        x_label: str | None = None,
        y_unit: str | None = None,
        line_kw: Style = None,
    ) -> Self:
        """Compute and draw the curve of rows (n, d), (n,)."""
        names = columns_of(X).names
        made = cls(scoring.drift_curve(statistic, X, y), names[0] if len(names) == 1 else "x")
        return made.plot(ax=ax, x_label=x_label, y_unit=y_unit, line_kw=line_kw)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: npt.ArrayLike,
        *,
        ax: Any = None,
        x_label: str | None = None,
        y_unit: str | None = None,
        line_kw: Style = None,
    ) -> Self:
        """Draw the curve of an estimator's statistic on rows (n, d), (n,)."""
        return cls.from_data(
            can(estimator, "statistic").statistic,
            X,
            y,
            ax=ax,
            x_label=x_label,
            y_unit=y_unit,
            line_kw=line_kw,
        )

    def plot(
        self,
        *,
        ax: Any = None,
        x_label: str | None = None,
        y_unit: str | None = None,
        line_kw: Style = None,
    ) -> Self:
        """Draw on new axes, or on those given; ``line_kw`` is for both curves."""
        c = self.curve
        self.figure_, self.axes_ = axes(ax)
        self.ax_ = self.axes_[0]
        look = {"marker": "o", "markersize": 4, "linewidth": 1.8, "color": ORANGE}
        self.ax_.plot(c.width, c.plain, **styled({**look, "label": "labels as they are"}, line_kw))
        if c.transported is not None:
            moved = {
                **look, "marker": "s", "linestyle": "--", "color": BLUE,
                "label": "labels transported along a smooth mean",
            }  # fmt: skip
            self.ax_.plot(c.width, c.transported, **styled(moved, line_kw))
        self.ax_.axvline(c.paper, color=GREY, ls=":", lw=1.2, label=f"paper's ε = {c.paper:.3g}")
        self.ax_.set_xscale("log")
        where = self.x_name if x_label is None else x_label
        self.ax_.set_xlabel(f"width of the windows, in the units of {where}")
        unit = c.statistic.unit_in(y_unit)
        self.ax_.set_ylabel(label(f"{c.statistic.title}, averaged over x", unit))
        if c.statistic.domain[0] == 0:
            self.ax_.set_ylim(bottom=0)
        finish(self.ax_)
        return self
