"""Which rows were put together."""

from typing import Any, Self, final

import numpy as np
import numpy.typing as npt
from matplotlib.collections import LineCollection

from multiobs import _check, statistics
from multiobs._types import BoolArray, FloatArray
from multiobs.estimator.listing import Metasamples, metasamples
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
    styled,
)
from multiobs.samplers import Sampler
from multiobs.statistics import Statistic


@final
class MetasamplesDisplay:
    """Rows, with a line through the members of each metasample, and how often each label is used.

    Of more than ``max_rows`` rows those about the middle of x are shown, with the metasamples that
    lie among them: all at once would be a blot.

    Parameters
    ----------
    X, y : ndarray (n, d), (n,)
        Rows.
    found : Metasamples
        From :func:`multiobs.metasamples`.
    max_tuples : int
        The most metasamples that are drawn, a random subset of them.
    max_rows : int
        The most rows that are drawn.
    names : tuple of str
        Of the columns of x, and of y at the end.

    Attributes
    ----------
    figure_, axes_, ax_ : Figure, ndarray of Axes, the first of them
        Set by :meth:`plot`.
    shown_, shown_rows_ : int
        How many metasamples and rows were drawn.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.uniform(size=(30, 1)), rng.normal(size=30)
    >>> display = MetasamplesDisplay.from_data(x, y, sampler="sliding")
    >>> display.shown_
    29
    """

    def __init__(
        self,
        X: FloatArray,
        y: FloatArray,
        found: Metasamples,
        *,
        max_tuples: int = 400,
        max_rows: int = 300,
        names: tuple[str, ...] = (),
    ) -> None:
        self.X, self.y, self.found = X, y, found
        self.max_tuples = _check.integer("max_tuples", max_tuples, low=1)
        self.max_rows = _check.integer("max_rows", max_rows, low=2)
        plain = ("x",) if X.shape[1] == 1 else tuple(f"x{j}" for j in range(X.shape[1]))
        self.names = names or (*plain, "y")

    @classmethod
    def from_data(
        cls,
        X: Any,
        y: npt.ArrayLike,
        *,
        statistic: str | Statistic = "variance",
        sampler: str | Sampler = "auto",
        max_tuples: int = 400,
        max_rows: int = 300,
        random_state: int | np.random.Generator | None = 0,
        ax: Any = None,
        x_label: str | None = None,
        y_unit: str | None = None,
        scatter_kw: Style = None,
        line_kw: Style = None,
    ) -> Self:
        """Draw the metasamples that a statistic and a sampler make of rows (n, d), (n,)."""
        columns = columns_of(X)
        what = statistics.resolve(statistic)
        labels = read_labels(y, what.n_columns)
        found = metasamples(columns.given, labels, what, sampler, random_state=random_state)
        names = (*(columns.names[j] for j in columns.numeric()), label_name(y))
        up = labels if labels.ndim == 1 else labels[:, 0]
        made = cls(
            columns.numbers(), up, found, max_tuples=max_tuples, max_rows=max_rows, names=names
        )
        return made.plot(
            ax=ax, x_label=x_label, y_unit=y_unit, scatter_kw=scatter_kw, line_kw=line_kw
        )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: npt.ArrayLike,
        *,
        max_tuples: int = 400,
        max_rows: int = 300,
        ax: Any = None,
        x_label: str | None = None,
        y_unit: str | None = None,
        scatter_kw: Style = None,
        line_kw: Style = None,
    ) -> Self:
        """Draw the metasamples of a fitted MultiObservationRegressor."""
        return cls.from_data(
            X,
            y,
            statistic=can(estimator, "statistic").statistic,
            sampler=estimator.sampler_,
            max_tuples=max_tuples,
            max_rows=max_rows,
            ax=ax,
            x_label=x_label,
            y_unit=y_unit,
            scatter_kw=scatter_kw,
            line_kw=line_kw,
        )

    def plot(
        self,
        *,
        ax: Any = None,
        x_label: str | None = None,
        y_unit: str | None = None,
        scatter_kw: Style = None,
        line_kw: Style = None,
    ) -> Self:
        """Draw on new axes, or on the two given (one with several columns of x)."""
        flat = self.X.shape[1] > 1
        self.figure_, self.axes_ = axes(ax, 1 if flat else 2, None if flat else (3, 1))
        self.ax_ = top = self.axes_[0]
        across = self.X[:, 0]
        up = self.X[:, 1] if flat else self.y
        rows = self._rows()
        self.shown_rows_ = int(np.count_nonzero(rows))
        self._lines(top, across, up, rows, line_kw)
        use = self.found.label_use
        dots: dict[str, Any] = {"marker": "o", "markersize": 4, "linestyle": "", "color": BLUE}
        part = "" if rows.all() else f" ({self.shown_rows_} of {rows.size} rows shown)"
        for mask, look in (
            (rows & (use > 0), dots | {"label": "rows used" + part}),
            (rows & (use == 0), dots | {"marker": "x", "color": ORANGE, "label": "rows in none"}),
        ):
            if mask.any():
                top.plot(across[mask], up[mask], **styled(look, scatter_kw))
        unit = "" if y_unit is None else y_unit
        top.set_ylabel(self.names[1] if flat else label(self.names[-1], unit))
        finish(top)
        if not flat:
            bottom = self.axes_[1]
            order = np.flatnonzero(rows)[np.argsort(across[rows], kind="stable")]
            bottom.vlines(across[order], 0, use[order], color=GREY, linewidth=1.2)
            bottom.set_ylim(bottom=0)
            bottom.set_ylabel("uses of label")
            finish(bottom, legend=False)
        self.axes_[-1].set_xlabel(self.names[0] if x_label is None else x_label)
        return self

    def _rows(self) -> BoolArray:
        """Rows about the middle: consecutive in one column, nearest to the median in several."""
        n = self.X.shape[0]
        if n <= self.max_rows:
            return np.ones(n, dtype=np.bool_)
        spread = np.std(self.X, axis=0)
        gap = (self.X - np.median(self.X, axis=0)) / np.where(spread > 0, spread, 1.0)
        chosen = np.zeros(n, dtype=np.bool_)
        chosen[np.argsort((gap**2).sum(axis=1), kind="stable")[: self.max_rows]] = True
        return chosen

    def _lines(
        self, ax: Any, across: FloatArray, up: FloatArray, rows: BoolArray, line_kw: Style
    ) -> None:
        """Draw a line through the members of the metasamples among the rows shown."""
        inside = np.flatnonzero(rows[self.found.members].all(axis=1))
        chosen = inside
        if inside.size > self.max_tuples:
            rng = np.random.default_rng(0)
            chosen = np.sort(rng.choice(inside, self.max_tuples, replace=False))
        self.shown_ = int(chosen.size)
        members = self.found.members[chosen]
        if members.size:
            order = np.argsort(across[members], axis=1, kind="stable")
            members = np.take_along_axis(members, order, axis=1)
        total = len(self.found)
        text = f"{total} metasamples" + ("" if total == chosen.size else f", {chosen.size} shown")
        look = styled({"color": SKY, "linewidth": 0.9, "alpha": 0.7, "label": text}, line_kw)
        lines = np.stack([across[members], up[members]], axis=-1)
        ax.add_collection(LineCollection(list(lines), **look))
