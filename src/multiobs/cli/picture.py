"""A small picture of a curve with its band, in letters."""

from collections.abc import Callable

import numpy as np

from multiobs._types import FloatArray


def picture(
    x: FloatArray,
    curve: FloatArray,
    band: FloatArray | None = None,
    *,
    width: int = 60,
    height: int = 12,
    label: Callable[[float], str] = "{:.4g}".format,
) -> str:
    """Draw a curve and its band.

    Parameters
    ----------
    x : ndarray (n,)
        Increasing positions.
    curve : ndarray (n,)
        Values.
    band : ndarray (n, 2), optional
        Lower and upper limits.
    width, height : int
        Letters of the drawing, without the labels.
    label : callable
        How a position is written under the axis.

    Examples
    --------
    >>> print(picture(np.arange(3.0), np.arange(3.0), width=9, height=3))
    2 ┤      •••
      │   •••
    0 ┤•••
      └─────────
       0       2
    """
    at = np.linspace(x[0], x[-1], width)
    line = np.interp(at, x, curve)
    low, high = (
        (line, line) if band is None else tuple(np.interp(at, x, band[:, side]) for side in (0, 1))
    )
    # A band that explodes at one end would flatten the curve: it is cut at twice its usual width.
    usual = 2.0 * float(np.median(high - low))
    reach = max(float(np.ptp(line)), usual) or abs(float(line[0])) or 1.0
    bottom = max(float(low.min()), float(line.min()) - reach)
    top = min(float(high.max()), float(line.max()) + reach)
    if not top > bottom:
        bottom, top = bottom - 0.5 * abs(reach), top + 0.5 * abs(reach)
    rows = np.arange(height)[:, None]

    def place(value: FloatArray) -> FloatArray:
        return (top - value) / (top - bottom) * (height - 1)

    marks = np.full((height, width), " ")
    if band is not None:
        inside = (rows >= np.floor(place(high) + 0.5)) & (rows <= np.floor(place(low) + 0.5))
        marks[inside] = "░"
    marks[np.clip(np.rint(place(line)).astype(int), 0, height - 1), np.arange(width)] = "•"
    ends = {0: f"{top:.4g}", height - 1: f"{bottom:.4g}"}
    margin = max(map(len, ends.values()))
    lines = [
        f"{ends.get(row, ''):>{margin}} {'┤' if row in ends else '│'}{''.join(marks[row])}".rstrip()
        for row in range(height)
    ]
    left, right = label(float(x[0])), label(float(x[-1]))
    lines.append(" " * (margin + 1) + "└" + "─" * width)
    lines.append(" " * (margin + 2) + left + right.rjust(max(width - len(left), len(right) + 1)))
    return "\n".join(lines)
