"""Colours, axes, legends and style keywords that all displays share."""

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.cbook import normalize_kwargs
from matplotlib.lines import Line2D

from multiobs import _check

# Okabe and Ito's colours, which most colour-blind readers distinguish.
BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
SKY, GOLD, BLACK, GREY = "#56B4E9", "#E69F00", "#000000", "#7F7F7F"
CYCLE = (BLUE, ORANGE, GREEN, PURPLE, GOLD, SKY, BLACK)
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))
LIGHTS = {"green": GREEN, "yellow": GOLD, "red": ORANGE}

Style = Mapping[str, Any] | None

_LETTERS_IN_A_ROW = 84  # of a legend above axes of the default width


def axes(
    ax: Any, rows: int = 1, ratios: tuple[float, ...] | None = None, share: bool = True
) -> tuple[Any, npt.NDArray[Any]]:
    """Return the figure and ``rows`` axes above each other, new ones unless ``ax`` is given.

    Parameters
    ----------
    ax : Axes, sequence of Axes or None
        Where to draw.
    rows : int
        How many axes the display needs.
    ratios : tuple of float, optional
        Relative heights.
    share : bool
        Whether they share their x.
    """
    if ax is None:
        height = 4.8 if rows == 1 else 6.4
        figure, made = plt.subplots(
            rows,
            1,
            sharex=share,
            squeeze=False,
            figsize=(6.4, height),
            layout="constrained",
            height_ratios=ratios,
        )
        return figure, made[:, 0]
    given = [ax] if not isinstance(ax, (list, tuple, np.ndarray)) else list(np.ravel(np.array(ax)))
    if len(given) != rows:
        raise ValueError(f"ax must hold {rows} axes, got {len(given)}")
    for each in given:
        if not isinstance(each, Axes):
            raise TypeError(f"ax must be matplotlib's Axes, got {_check.shown(each)}")
    found = np.empty(rows, dtype=object)
    found[:] = given
    return given[0].figure, found


def can(estimator: Any, *names: str) -> Any:
    """Return an estimator that has these parameters and methods, or refuse it."""
    for name in names:
        if isinstance(estimator, type) or getattr(estimator, name, None) is None:
            raise TypeError(f"estimator must have {name!r}, got {_check.shown(estimator)}")
    return estimator


def styled(defaults: Mapping[str, Any], given: Style) -> dict[str, Any]:
    """Return the defaults of a line with a user's keywords over them, short names or long.

    >>> styled({"linewidth": 2, "color": BLUE}, {"lw": 1})
    {'linewidth': 1, 'color': '#0072B2'}
    """
    return {**defaults, **normalize_kwargs(dict(given or {}), Line2D)}


def label(text: str, unit: str) -> str:
    """Return an axis label with its unit in brackets."""
    return f"{text} [{unit}]" if unit else text


def ordinal(number: int) -> str:
    """Return a number as an English ordinal.

    >>> [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 102, 111)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '13th', '21st', '102nd', '111th']
    """
    teens = number // 10 % 10 == 1
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def finish(ax: Any, legend: bool = True) -> None:
    """Remove the frame's upper and right sides, and put the legend above, where it covers nothing.

    Layouts that know it (constrained, tight) make room for it.
    """
    ax.spines[["top", "right"]].set_visible(False)
    handles, texts = ax.get_legend_handles_labels()
    if not (legend and handles):
        return
    widest = max(map(len, texts)) + 6  # and its line
    columns = max(1, min(4, len(texts), _LETTERS_IN_A_ROW // widest))
    ax.legend(
        handles, texts, frameon=False, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=columns,
        fontsize="small", borderaxespad=0.2, columnspacing=1.4, handlelength=1.8,
    )  # fmt: skip
