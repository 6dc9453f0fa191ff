"""Score and estimate against the width of the windows."""

from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

from multiobs import scoring
from multiobs.plots._columns import columns_of
from multiobs.plots._style import BLUE, CYCLE, DASHES, GREY, Style, axes, finish, label, styled
from multiobs.scoring import EpsilonPath


@final
class EpsilonPathDisplay:
    """Held-out score and estimate against epsilon.

    Parameters
    ----------
    path : EpsilonPath
        From :func:`multiobs.scoring.epsilon_path`.

    Attributes
    ----------
    figure_, axes_, ax_ : Figure, ndarray of Axes, the first of them
        Set by :meth:`plot`.
    x_name : str
        Whose units epsilon has: the column's name after a data frame.

    Examples
    --------
    >>> from multiobs import MultiObservationRegressor
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=(200, 1))
    >>> y = rng.normal(scale=1 + x[:, 0])
    >>> model = MultiObservationRegressor("variance")
    >>> display = EpsilonPathDisplay.from_estimator(model, x, y, epsilons=[0.05, 0.1], cv=2)
    >>> len(display.axes_)
    2
    """

    def __init__(self, path: EpsilonPath, x_name: str = "x") -> None:
        self.path = path
        self.x_name = x_name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: npt.ArrayLike,
        *,
        epsilons: npt.ArrayLike | None = None,
        at: npt.ArrayLike | None = None,
        cv: int = 5,
        ax: Any = None,
        x_label: str | None = None,
        y_unit: str | None = None,
        line_kw: Style = None,
        errorbar_kw: Style = None,
    ) -> Self:
        """Fit, score and draw; arguments as in :func:`multiobs.scoring.epsilon_path`."""
        path = scoring.epsilon_path(estimator, X, y, epsilons=epsilons, at=at, cv=cv)
        names = columns_of(X).names
        return cls(path, names[0] if len(names) == 1 else "x").plot(
            ax=ax, x_label=x_label, y_unit=y_unit, line_kw=line_kw, errorbar_kw=errorbar_kw
        )

    def plot(
        self,
        *,
        ax: Any = None,
        x_label: str | None = None,
        y_unit: str | None = None,
        line_kw: Style = None,
        errorbar_kw: Style = None,
    ) -> Self:
        """Draw on two new axes, or on those given.

        ``errorbar_kw`` and ``line_kw`` are keywords of matplotlib for the scores and for the
        estimates.
        """
        p = self.path
        self.figure_, self.axes_ = axes(ax, 2)
        self.ax_ = top = self.axes_[0]
        bottom = self.axes_[1]
        bars = {
            "marker": "o", "markersize": 4, "linewidth": 1.5, "color": BLUE, "capsize": 2,
            "label": "held-out score ± se of its difference from the best",
        }  # fmt: skip
        top.errorbar(p.epsilon, p.score, p.score_se, **styled(bars, errorbar_kw))
        top.axvline(p.best, color=GREY, ls="--", lw=1, label=f"best: ε = {p.best:.3g}")
        bottom.axvline(p.best, color=GREY, ls="--", lw=1)
        top.set_xscale("log")
        bottom.set_xscale("log")
        top.set_ylabel("mean loss (smaller is better)")
        for q, place in enumerate(p.at):
            where = ", ".join(f"{value:.3g}" for value in np.atleast_1d(place))
            look = {
                "marker": "o", "markersize": 4, "linewidth": 1.5, "color": CYCLE[(q + 1) % 7],
                "linestyle": DASHES[q % 7], "label": f"at {self.x_name} = {where}",
            }  # fmt: skip
            bottom.plot(p.epsilon, p.estimate[:, q], **styled(look, line_kw))
        bottom.set_ylabel(label(p.statistic.title, p.statistic.unit_in(y_unit)))
        bottom.set_xlabel(f"ε, in the units of {self.x_name if x_label is None else x_label}")
        finish(top)
        finish(bottom)
        return self
