"""Score and estimate against the width of the windows."""

from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

from multiobs import scoring
from multiobs.plots._style import BLUE, CYCLE, DASHES, GREY, axes, finish, label
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
    figure_, axes_ : Figure, list of Axes
        Set by :meth:`plot`.

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

    def __init__(self, path: EpsilonPath) -> None:
        self.path = path

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        *,
        epsilons: npt.ArrayLike | None = None,
        at: npt.ArrayLike | None = None,
        cv: int = 5,
        ax: Any = None,
        x_label: str = "x",
        y_unit: str | None = None,
    ) -> Self:
        """Fit, score and draw; arguments as in :func:`multiobs.scoring.epsilon_path`."""
        path = scoring.epsilon_path(estimator, X, y, epsilons=epsilons, at=at, cv=cv)
        return cls(path).plot(ax=ax, x_label=x_label, y_unit=y_unit)

    def plot(self, *, ax: Any = None, x_label: str = "x", y_unit: str | None = None) -> Self:
        """Draw on two new axes, or on those given."""
        p = self.path
        self.figure_, self.axes_ = axes(ax, 2)
        top, bottom = self.axes_
        top.errorbar(
            p.epsilon, p.score, p.score_se, fmt="o-", ms=4, lw=1.5, color=BLUE, capsize=2,
            label="held-out score ± se of its difference from the best",
        )  # fmt: skip
        top.axvline(p.best, color=GREY, ls="--", lw=1, label=f"best: ε = {p.best:.3g}")
        bottom.axvline(p.best, color=GREY, ls="--", lw=1)
        top.set_xscale("log")
        bottom.set_xscale("log")
        top.set_ylabel("mean loss (smaller is better)")
        for q, place in enumerate(p.at):
            where = ", ".join(f"{value:.3g}" for value in np.atleast_1d(place))
            bottom.plot(
                p.epsilon, p.estimate[:, q], marker="o", ms=4, lw=1.5, color=CYCLE[(q + 1) % 7],
                ls=DASHES[q % 7], label=f"at x = {where}",
            )  # fmt: skip
        bottom.set_ylabel(label(p.statistic.title, p.statistic.unit_in(y_unit)))
        bottom.set_xlabel(f"ε, in the units of {x_label}")
        top.margins(y=0.25)
        finish(top)
        finish(bottom)
        return self
