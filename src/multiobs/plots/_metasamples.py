"""Which rows were put together."""

from typing import Any, Self, final

import numpy as np
import numpy.typing as npt
from matplotlib.collections import LineCollection

from multiobs._types import FloatArray
from multiobs.estimator.listing import Metasamples, metasamples
from multiobs.plots._style import BLUE, GREY, ORANGE, SKY, axes, finish, label
from multiobs.samplers import Sampler
from multiobs.statistics import Statistic


@final
class MetasamplesDisplay:
    """Rows, with a line through the members of each metasample, and how often each label is used.

    Parameters
    ----------
    X, y : ndarray (n, d), (n,)
        Rows.
    found : Metasamples
        From :func:`multiobs.metasamples`.
    max_tuples : int
        The most metasamples that are drawn, a random subset of them.

    Attributes
    ----------
    figure_, axes_ : Figure, list of Axes
        Set by :meth:`plot`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.uniform(size=(30, 1)), rng.normal(size=30)
    >>> display = MetasamplesDisplay.from_data(x, y, sampler="sliding")
    >>> display.shown_
    29
    """

    def __init__(
        self, X: FloatArray, y: FloatArray, found: Metasamples, max_tuples: int = 400
    ) -> None:
        self.X, self.y, self.found, self.max_tuples = X, y, found, max_tuples

    @classmethod
    def from_data(
        cls,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        *,
        statistic: str | Statistic = "variance",
        sampler: str | Sampler = "auto",
        max_tuples: int = 400,
        random_state: int | np.random.Generator | None = 0,
        ax: Any = None,
        x_label: str = "x",
        y_unit: str | None = None,
    ) -> Self:
        """Draw the metasamples that a statistic and a sampler make of rows (n, d), (n,)."""
        positions: FloatArray = np.asarray(X, dtype=np.float64)
        positions = positions[:, None] if positions.ndim == 1 else positions
        labels: FloatArray = np.asarray(y, dtype=np.float64)
        found = metasamples(positions, labels, statistic, sampler, random_state=random_state)
        made = cls(positions, labels, found, max_tuples)
        return made.plot(ax=ax, x_label=x_label, y_unit=y_unit)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        *,
        max_tuples: int = 400,
        ax: Any = None,
        x_label: str = "x",
        y_unit: str | None = None,
    ) -> Self:
        """Draw the metasamples of a fitted MultiObservationRegressor."""
        return cls.from_data(
            X,
            y,
            statistic=estimator.statistic,
            sampler=estimator.sampler_,
            max_tuples=max_tuples,
            ax=ax,
            x_label=x_label,
            y_unit=y_unit,
        )

    def plot(self, *, ax: Any = None, x_label: str = "x", y_unit: str | None = None) -> Self:
        """Draw on new axes, or on the two given (one with several columns of x)."""
        flat = self.X.shape[1] > 1
        self.figure_, self.axes_ = axes(ax, 1 if flat else 2, None if flat else (3, 1))
        top = self.axes_[0]
        across = self.X[:, 0]
        up = self.X[:, 1] if flat else self.y
        total = len(self.found)
        rng = np.random.default_rng(0)
        chosen = (
            np.arange(total)
            if total <= self.max_tuples
            else np.sort(rng.choice(total, self.max_tuples, replace=False))
        )
        self.shown_ = int(chosen.size)
        members = self.found.members[chosen]
        if members.size:
            inside = np.argsort(across[members], axis=1, kind="stable")
            members = np.take_along_axis(members, inside, axis=1)
        lines = np.stack([across[members], up[members]], axis=-1)
        text = f"{total} metasamples" + ("" if total == chosen.size else f", {chosen.size} shown")
        top.add_collection(
            LineCollection(list(lines), colors=SKY, linewidths=0.9, alpha=0.7, label=text)
        )
        use = self.found.label_use
        used = use > 0
        top.plot(across[used], up[used], "o", ms=4, color=BLUE, label="rows used")
        if not np.all(used):
            top.plot(across[~used], up[~used], "x", ms=5, color=ORANGE, label="rows in none")
        unit = "" if y_unit is None else y_unit
        top.set_ylabel("x, second column" if flat else label("y", unit))
        finish(top)
        if not flat:
            bottom = self.axes_[1]
            order = np.argsort(across, kind="stable")
            bottom.vlines(across[order], 0, use[order], color=GREY, lw=1.2)
            bottom.set_ylim(bottom=0)
            bottom.set_ylabel("uses of label")
            finish(bottom, legend=False)
        self.axes_[-1].set_xlabel("x, first column" if flat and x_label == "x" else x_label)
        return self
