"""Colours, axes and units that all displays share."""

from typing import Any

import matplotlib.pyplot as plt

# Okabe and Ito's colours, told apart by most colour-blind readers.
BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
SKY, GOLD, BLACK, GREY = "#56B4E9", "#E69F00", "#000000", "#7F7F7F"
CYCLE = (BLUE, ORANGE, GREEN, PURPLE, GOLD, SKY, BLACK)
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))
LIGHTS = {"green": GREEN, "yellow": GOLD, "red": ORANGE}


def axes(ax: Any, rows: int = 1, ratios: tuple[float, ...] | None = None) -> tuple[Any, list[Any]]:
    """Return the figure and ``rows`` axes above each other, new ones unless ``ax`` is given.

    Parameters
    ----------
    ax : Axes, sequence of Axes or None
        Where to draw.
    rows : int
        How many axes the display needs; they share their x.
    ratios : tuple of float, optional
        Relative heights.
    """
    if ax is None:
        height = 4.8 if rows == 1 else 6.0
        figure, made = plt.subplots(
            rows,
            1,
            sharex=True,
            squeeze=False,
            figsize=(6.4, height),
            layout="constrained",
            height_ratios=ratios,
        )
        return figure, list(made[:, 0])
    given = [ax] if rows == 1 and not isinstance(ax, (list, tuple)) else list(ax)
    if len(given) != rows:
        raise ValueError(f"ax must hold {rows} axes, got {len(given)}")
    return given[0].figure, given


def label(text: str, unit: str) -> str:
    """Return an axis label with its unit in brackets."""
    return f"{text} [{unit}]" if unit else text


def finish(ax: Any, legend: bool = True, place: str = "best") -> None:
    """Remove the frame's upper and right sides, and draw the legend."""
    ax.spines[["top", "right"]].set_visible(False)
    if legend:
        ax.legend(frameon=False, loc=place)
