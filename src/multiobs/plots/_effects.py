"""Terms of a smooth class with their bands."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, final

import matplotlib.pyplot as plt
import numpy as np

from multiobs.plots._style import BLUE, GREY, Style, axes, can, finish, label, styled

if TYPE_CHECKING:
    from multiobs.inference import PartialEffect


@final
class PartialEffectsDisplay:
    """Partial effects: one panel for each term, on the scale of the link, with pointwise bands.

    Parameters
    ----------
    effects : sequence of PartialEffect
        From ``reg.partial_effects()``.

    Attributes
    ----------
    figure_, axes_, ax_ : Figure, ndarray of Axes, first of them
        Set by :meth:`plot`.

    Examples
    --------
    >>> from multiobs import MultiObservationRegressor
    >>> X = np.random.default_rng(0).uniform(size=(200, 2))
    >>> y = np.random.default_rng(1).normal(scale=1 + X[:, 0])
    >>> reg = MultiObservationRegressor("variance", features="smooth").fit(X, y)
    >>> [ax.get_xlabel() for ax in PartialEffectsDisplay.from_estimator(reg).axes_]
    ['x0', 'x1']
    """

    def __init__(self, effects: Sequence["PartialEffect"]) -> None:
        if not effects:
            raise ValueError("effects must hold at least one term, got none")
        self.effects = list(effects)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        level: float = 0.95,
        n_points: int = 100,
        ax: Any = None,
        line_kw: Style = None,
        band_kw: Mapping[str, Any] | None = None,
    ) -> Self:
        """Draw the terms of a fitted MultiObservationRegressor with smooth features.

        Parameters
        ----------
        estimator : fitted MultiObservationRegressor
            With ``features="smooth"``.
        level : float
            Of the bands.
        n_points : int
            Values of each numeric column.
        ax, line_kw, band_kw
            As in :meth:`plot`.
        """
        found = cls(
            can(estimator, "partial_effects").partial_effects(level=level, n_points=n_points)
        )
        return found.plot(ax=ax, line_kw=line_kw, band_kw=band_kw)

    def plot(
        self, *, ax: Any = None, line_kw: Style = None, band_kw: Mapping[str, Any] | None = None
    ) -> Self:
        """Draw on new axes side by side, or on those given.

        Parameters
        ----------
        ax : sequence of Axes, optional
            One for each term.
        line_kw, band_kw : mapping, optional
            Keywords of matplotlib for the curves and their bands.
        """
        count = len(self.effects)
        if ax is None:  # side by side, each with an x of its own
            wide = (3.4 * count + 1.0, 3.4)
            self.figure_, made = plt.subplots(
                1, count, squeeze=False, figsize=wide, layout="constrained"
            )
            self.axes_ = made[0]
        else:
            self.figure_, self.axes_ = axes(ax, count)
        self.ax_ = self.axes_[0]
        band = {"color": BLUE, "alpha": 0.2, "lw": 0, **(band_kw or {})}
        for panel, each in zip(self.axes_, self.effects, strict=True):
            panel.axhline(0, color=GREY, ls="--", lw=1)
            style = styled({"color": BLUE}, line_kw)
            if each.drawn == "points":
                reach = np.stack([each.effect - each.low, each.high - each.effect])
                panel.errorbar(each.x, each.effect, yerr=reach, fmt="o", capsize=3, **style)
            else:
                panel.fill_between(each.x, each.low, each.high, **band)
                panel.plot(each.x, each.effect, **style)
            panel.set_xlabel(label(each.column, ""))
            words = {"identity": "", "softplus": "softplus scale of the "}
            scale = words.get(each.link, f"{each.link} of the ")
            panel.set_ylabel(label(f"effect on the {scale}{each.part}", ""))
            finish(panel, legend=False)
        return self
