"""Coefficients of a fitted linear class with their intervals."""

from collections.abc import Sequence
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt
from scipy import stats

from multiobs import _check
from multiobs._types import FloatArray
from multiobs.inference import Summary
from multiobs.plots._style import BLUE, GREY, ORANGE, Style, axes, can, finish, styled


@final
class CoefficientDisplay:
    """Coefficients as points with confidence intervals, one line for each feature.

    Parameters
    ----------
    names : sequence of str, length p
        Features.
    coef, se : ndarray (p,)
        Coefficients and their standard errors.
    level : float
        Of the intervals.
    quantity : str
        What the coefficients are of.
    limits : ndarray (p, 2), optional
        The intervals; by normal quantiles of the errors without them.
    shrunken : ndarray (p,), optional
        What predictions use where that is not ``coef``, marked beside it.

    Attributes
    ----------
    figure_, ax_, axes_ : Figure, Axes, ndarray with it
        Set by :meth:`plot`.
    errorbar_ : ErrorbarContainer
        Coefficients and intervals.

    Examples
    --------
    >>> display = CoefficientDisplay(["a", "b"], np.array([1.0, -2.0]), np.array([0.5, 0.5]))
    >>> [text.get_text() for text in display.plot().ax_.get_yticklabels()]
    ['a', 'b']
    """

    def __init__(
        self,
        names: Sequence[str],
        coef: FloatArray,
        se: FloatArray,
        level: float = 0.95,
        quantity: str = "",
        *,
        limits: FloatArray | None = None,
        shrunken: FloatArray | None = None,
    ) -> None:
        if isinstance(names, str) or not isinstance(names, Sequence | np.ndarray):
            raise TypeError(f"names must be a list of texts, got {_check.shown(names)}")
        if not len(names) == len(coef) == len(se):
            raise ValueError(
                "names, coef and se must have one length, got "
                f"{len(names)}, {len(coef)} and {len(se)}"
            )
        if not 0 < _check.real("level", level) < 1:
            raise ValueError(f"level must lie between 0 and 1, got {level!r}")
        self.names, self.coef, self.se = list(names), coef, se
        self.level, self.quantity, self.shrunken = level, quantity, shrunken
        reach = float(stats.norm.ppf(0.5 + level / 2)) * se
        self.limits = np.column_stack([coef - reach, coef + reach]) if limits is None else limits

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        names: Sequence[str] | None = None,
        scale: npt.ArrayLike | None = None,
        level: float = 0.95,
        ax: Any = None,
        errorbar_kw: Style = None,
    ) -> Self:
        """Draw the slopes of a fitted MultiObservationRegressor with a linear class.

        Names, coefficients and intervals are those of its ``summary(level)``.

        Parameters
        ----------
        estimator : fitted MultiObservationRegressor
            With a linear class.
        names : sequence of str, optional
            Features; by default those of the summary.
        scale : array-like (p,), optional
            Multiplies coefficients and errors: the standard deviations of the features make them
            comparable.
        level : float
            Of the intervals.
        ax : Axes, optional
            Where to draw.
        errorbar_kw : dict, optional
            Keywords of matplotlib for the points and intervals.
        """
        found = can(estimator, "summary").summary(level)
        if not isinstance(found, Summary):
            raise ValueError("coefficients belong to a linear class, got smooth terms")
        slopes = slice(len(found.names) - np.size(estimator.coef_), None)  # the intercept is first
        table = found.table[slopes]
        factor = np.ones(len(table)) if scale is None else _check.numbers("scale", scale)
        if factor.shape != (len(table),):
            raise ValueError(f"scale must have {len(table)} numbers, got shape {factor.shape}")
        suffix = "" if scale is None else ", per sd of the feature"
        return cls(
            found.names[slopes] if names is None else names,
            table[:, 0] * factor,
            table[:, 1] * np.abs(factor),
            level,
            estimator.statistic_.title + suffix,
            limits=np.sort(table[:, 4:6] * factor[:, None], axis=1),
            shrunken=None if found.shrunken is None else found.shrunken[slopes] * factor,
        ).plot(ax=ax, errorbar_kw=errorbar_kw)

    def plot(self, *, ax: Any = None, errorbar_kw: Style = None) -> Self:
        """Draw on new axes, or on those given."""
        self.figure_, self.axes_ = axes(ax)
        self.ax_ = self.axes_[0]
        places = np.arange(len(self.names))
        self.ax_.axvline(0, color=GREY, ls="--", lw=1, label="no effect")
        bars = {
            "marker": "o", "linestyle": "", "color": BLUE, "capsize": 3, "linewidth": 1.5,
            "elinewidth": 1.5, "label": f"coefficient, {100 * self.level:g} % interval",
        }  # fmt: skip
        reach = np.stack([self.coef - self.limits[:, 0], self.limits[:, 1] - self.coef])
        self.errorbar_ = self.ax_.errorbar(
            self.coef, places, xerr=reach, **styled(bars, errorbar_kw)
        )
        if self.shrunken is not None:
            self.ax_.plot(
                self.shrunken, places, "x", color=ORANGE, markersize=7, zorder=4,
                label="shrunken, used by predict",
            )  # fmt: skip
        self.ax_.set_yticks(places, self.names)
        self.ax_.set_ylim(len(self.names) - 0.5, -0.5)
        self.ax_.set_xlabel(
            f"coefficient of the {self.quantity}" if self.quantity else "coefficient"
        )
        finish(self.ax_)
        return self
