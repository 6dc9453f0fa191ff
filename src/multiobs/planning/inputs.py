"""What users hand to a plan: pools, rows and labels, checked at the door."""

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from multiobs import _check
from multiobs._files import as_path
from multiobs._types import FloatArray


def read_path(path: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """Refuse what is no path: a number would be taken for an open file, and closed."""
    as_path("path", path)
    return path


def read_pool(X: npt.ArrayLike) -> FloatArray:
    """Rows of a pool (N, d), finite numbers; one column may come as (N,).

    >>> read_pool([1.0, 2.0]).shape
    (2, 1)
    """
    points = _check.numbers("X", X)
    points = points[:, None] if points.ndim == 1 else points
    if points.ndim != 2 or points.shape[0] == 0 or points.shape[1] == 0:
        raise ValueError(f"X must have shape (N, d) with N, d >= 1, got {np.shape(X)}")
    if not np.isfinite(points).all():
        raise ValueError("X must be finite, got NaN or infinity")
    with np.errstate(over="ignore"):
        widths = np.ptp(points, axis=0)
    if not np.isfinite(widths).all():
        raise ValueError(
            "the columns of X must have a range that is a number, got "
            f"{points.min():g} to {points.max():g}"
        )
    return points


def read_labels(
    rows: npt.ArrayLike, labels: npt.ArrayLike, columns: int
) -> tuple[npt.NDArray[Any], FloatArray]:
    """Row numbers (k,) and their finite labels (k, s); one of each may come as numbers.

    >>> read_labels(3, 1.5, 1)
    (array([3]), array([[1.5]]))
    """
    try:
        which = np.atleast_1d(np.asarray(rows))
    except ValueError:  # lists of unequal length
        which = np.zeros((1, 1))
    if which.ndim != 1 or (which.size and not np.issubdtype(which.dtype, np.integer)):
        raise ValueError(f"rows must be a list of row numbers, got {_check.shown(rows)}")
    values = np.atleast_1d(_check.numbers("labels", labels))
    fits = (
        values.shape in ((which.size,), (which.size, 1))
        if columns == 1
        else (
            values.shape == (which.size, columns)
            or (which.size == 1 and values.shape == (columns,))
        )
    )
    if values.size + which.size and not fits:
        raise ValueError(f"labels must have shape ({which.size}, {columns}), got {values.shape}")
    values = values.reshape(which.size, columns)
    if not np.isfinite(values).all():
        bad = which[~np.isfinite(values).all(axis=1)][0]
        raise ValueError(f"labels must be finite, got a non-finite one for row {bad}")
    return which, values
