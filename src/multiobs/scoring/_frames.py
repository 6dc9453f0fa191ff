"""Positions of held-out rows from arrays and data frames: numbers, and cells of categories."""

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from multiobs import _check
from multiobs._check.rows import read_table
from multiobs._types import FloatArray, IntArray


@final
@dataclass(frozen=True)
class PlacedRows:
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


def read_positions(X: npt.ArrayLike) -> PlacedRows:
    """Split what the user calls X into numbers and categories.

    Text and categorical columns of a data frame are categories; dates are days.

    >>> read_positions([1.0, 2.0]).place.shape
    (2, 1)
    """
    table = read_table(X)
    if table.layout is None:
        place = _check.finite("X", X)
        place = place[:, None] if place.ndim == 1 else place
        if place.ndim != 2 or 0 in place.shape:
            raise ValueError(f"X must have shape (n, d) or (n,), got {np.shape(place)}")
        _check.refuse_wide("X", place)
        return PlacedRows(place, place, None)
    full = _check.finite("X", table.X.to_numpy())
    if 0 in full.shape:
        raise ValueError(f"X must hold rows and columns, got shape {full.shape}")
    _check.refuse_wide("X", full)
    found = table.categories
    if found is None:
        return PlacedRows(full, full, None)
    numeric = [c for c in range(full.shape[1]) if c not in found.places]
    place = full[:, numeric] if numeric else np.zeros((full.shape[0], 1))
    columns, cells = found.expand(full)
    # the pilot of a table without numbers sees the constant column, too
    return PlacedRows(place, columns if numeric else np.hstack([place, columns]), cells)
