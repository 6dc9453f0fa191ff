"""Coefficients of a fitted linear class with their intervals."""

from collections.abc import Sequence
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt
from scipy import stats

from multiobs import _check
from multiobs._types import FloatArray
from multiobs.plots._style import BLUE, GREY, axes, finish, label


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
        Of the intervals, by normal quantiles.
    quantity : str
        What the coefficients are of.

    Attributes
    ----------
    figure_, ax_ : Figure, Axes
        Set by :meth:`plot`.

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
    ) -> None:
        if not len(names) == len(coef) == len(se):
            raise ValueError(
                "names, coef and se must have one length, got "
                f"{len(names)}, {len(coef)} and {len(se)}"
            )
        if not 0 < _check.real("level", level) < 1:
            raise ValueError(f"level must lie between 0 and 1, got {level!r}")
        self.names, self.coef, self.se = list(names), coef, se
        self.level, self.quantity = level, quantity

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        names: Sequence[str] | None = None,
        scale: npt.ArrayLike | None = None,
        level: float = 0.95,
        ax: Any = None,
    ) -> Self:
        """Draw the slopes of a fitted MultiObservationRegressor with a linear class.

        Parameters
        ----------
        estimator : fitted MultiObservationRegressor
            With ``coef_`` and ``coef_cov_``.
        names : sequence of str, optional
            Features; by default those of the estimator, else x0, x1, …
        scale : array-like (p,), optional
            Multiplies coefficients and errors: the standard deviations of the features make them
            comparable.
        level : float
            Of the intervals.
        ax : Axes, optional
            Where to draw.
        """
        coef = np.atleast_1d(np.asarray(estimator.coef_, dtype=np.float64))
        spread = np.sqrt(np.diag(np.asarray(estimator.coef_cov_, dtype=np.float64)))
        se = spread[spread.size - coef.size :]  # the intercept, if there is one, comes first
        if names is None:
            known = getattr(estimator, "feature_names_in_", None)
            names = [f"x{i}" for i in range(coef.size)]
            if known is not None and len(known) == coef.size:
                names = list(known)
        factor = np.ones(coef.size) if scale is None else np.asarray(scale, dtype=np.float64)
        suffix = "" if scale is None else ", per sd of the feature"
        quantity = estimator.statistic_.title + suffix
        return cls(names, coef * factor, se * np.abs(factor), level, quantity).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw on new axes, or on those given."""
        self.figure_, (self.ax_,) = axes(ax)
        places = np.arange(len(self.names))
        reach = float(stats.norm.ppf(0.5 + self.level / 2))
        self.ax_.axvline(0, color=GREY, ls="--", lw=1, label="no effect")
        self.ax_.errorbar(
            self.coef, places, xerr=reach * self.se, fmt="o", color=BLUE, capsize=3, lw=1.5,
            label=f"coefficient, {100 * self.level:g} % interval",
        )  # fmt: skip
        self.ax_.set_yticks(places, self.names)
        self.ax_.set_ylim(len(self.names) - 0.5, -0.5 - 0.15 * len(self.names))
        what = f"coefficient of the {self.quantity}" if self.quantity else "coefficient"
        self.ax_.set_xlabel(label(what, ""))
        finish(self.ax_, place="upper right")
        return self
