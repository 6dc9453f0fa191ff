"""Positions of held-out rows from arrays and data frames: numbers, and cells of categories."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from multiobs import _check
from multiobs._types import FloatArray, IntArray

FRAMES = ("pandas", "polars")


@final
@dataclass(frozen=True)
class Positions:
    """Where the rows are.

    Attributes
    ----------
    place : ndarray (n, q)
        Numeric columns, in which neighbours are sought.
    columns : ndarray (n, d)
        The same with an indicator for each further level of a category: what a pilot sees.
    cells : ndarray of int (n,) or None
        Combination of categories of each row, which no metasample crosses.
    """

    place: FloatArray
    columns: FloatArray
    cells: IntArray | None


def read_positions(X: npt.ArrayLike) -> Positions:
    """Split what the user calls X into numbers and categories.

    Text and categorical columns of a data frame are categories; dates are days.

    >>> read_positions([1.0, 2.0]).place.shape
    (2, 1)
    """
    if type(X).__module__.split(".")[0] not in FRAMES or len(np.shape(X)) != 2:
        place = _check.numbers("X", X)
        place = place[:, None] if place.ndim == 1 else place
        if place.ndim != 2 or place.shape[1] == 0:
            raise ValueError(f"X must have shape (n, d) or (n,), got {np.shape(X)}")
        return Positions(_finite(place), place, None)
    frame: Any = X
    n = len(frame)
    numeric, codes = [], []
    for position, name in enumerate(frame.columns):
        values = np.asarray(frame.iloc[:, position] if _pandas(frame) else frame[name])
        dtype = str(frame.dtypes.iloc[position] if _pandas(frame) else frame[name].dtype).lower()
        if values.dtype.kind == "M":
            numeric.append((values - values.min()) / np.timedelta64(1, "D"))
        elif values.dtype.kind in "buif" and "cat" not in dtype:
            numeric.append(values.astype(np.float64))
        else:
            codes.append(_coded(str(name), values))
    place = np.column_stack(numeric) if numeric else np.zeros((n, 1))
    if not codes:
        return Positions(_finite(place), place, None)
    cells = np.zeros(n, dtype=np.int64)
    blocks = [place]
    for code in codes:
        levels = int(code.max(initial=0)) + 1
        cells = np.unique(cells * levels + code, return_inverse=True)[1].reshape(-1)
        blocks.append((code[:, None] == np.arange(1, levels)).astype(np.float64))
    return Positions(_finite(place), np.concatenate(blocks, axis=1), cells.astype(np.int64))


def _pandas(frame: Any) -> bool:
    return type(frame).__module__.startswith("pandas")


def _coded(name: str, values: npt.NDArray[Any]) -> IntArray:
    listed = values.tolist()
    missing = [each for each in listed if each is None or each != each]
    if missing:
        raise ValueError(f"column {name!r} must not hold missing categories, got {missing[0]!r}")
    known = {each: i for i, each in enumerate(sorted(set(listed), key=lambda v: (str(type(v)), v)))}
    return np.array([known[each] for each in listed], dtype=np.int64)


def _finite(values: FloatArray) -> FloatArray:
    if not np.all(np.isfinite(values)):
        raise ValueError("X must be finite, got NaN or infinity")
    return values
