"""The bias that a drifting mean brings into windows."""

from typing import Any, Self, final

import numpy.typing as npt

from multiobs import scoring
from multiobs.plots._style import BLUE, GREY, ORANGE, axes, finish, label
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
    figure_, ax_ : Figure, Axes
        Set by :meth:`plot`.

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

    def __init__(self, curve: DriftCurve) -> None:
        self.curve = curve

    @classmethod
    def from_data(
        cls,
        statistic: str | Statistic,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        *,
        ax: Any = None,
        x_label: str = "x",
        y_unit: str | None = None,
    ) -> Self:
        """Compute and draw the curve of rows (n, d), (n,)."""
        return cls(scoring.drift_curve(statistic, X, y)).plot(ax=ax, x_label=x_label, y_unit=y_unit)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        *,
        ax: Any = None,
        x_label: str = "x",
        y_unit: str | None = None,
    ) -> Self:
        """Draw the curve of an estimator's statistic on rows (n, d), (n,)."""
        return cls.from_data(estimator.statistic, X, y, ax=ax, x_label=x_label, y_unit=y_unit)

    def plot(self, *, ax: Any = None, x_label: str = "x", y_unit: str | None = None) -> Self:
        """Draw on new axes, or on those given."""
        c = self.curve
        self.figure_, (self.ax_,) = axes(ax)
        self.ax_.plot(
            c.width, c.plain, "o-", ms=4, lw=1.8, color=ORANGE, label="labels as they are"
        )
        if c.carried is not None:
            self.ax_.plot(
                c.width, c.carried, "s--", ms=4, lw=1.8, color=BLUE,
                label="labels carried along a smooth mean",
            )  # fmt: skip
        self.ax_.axvline(c.paper, color=GREY, ls=":", lw=1.2, label=f"paper's ε = {c.paper:.3g}")
        self.ax_.set_xscale("log")
        self.ax_.set_xlabel(f"width of the windows, in the units of {x_label}")
        unit = c.statistic.unit_in(y_unit)
        self.ax_.set_ylabel(label(f"{c.statistic.title}, averaged over x", unit))
        if c.statistic.domain[0] == 0:
            self.ax_.set_ylim(bottom=0)
        finish(self.ax_)
        return self
