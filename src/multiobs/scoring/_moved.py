r"""Held-out labels moved along one pilot of the mean, the same for every forecast.

Half a squared difference of two neighbours estimates the variance plus half the squared change of
the mean between them. In several columns no row is near enough, and residuals of a pilot stand in
for the labels; in one column the next row is, but residuals let a row go with further ones too,
which takes a third off the noise of a score of pairs. The pilot is fitted to the held-out rows
themselves, so that it favours no forecast; what a smoother takes of the noise of its own rows is
given back, so it is undersmoothed for less bias, which nothing gives back; and a pilot that can
follow single labels is cross-fitted, with a metasample's rows in one fold.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import Literal, final

import numpy as np
import numpy.typing as npt

from multiobs import _check
from multiobs._check.functions import answer
from multiobs._types import FloatArray, IntArray
from multiobs.samplers import column_scales
from multiobs.scoring._frames import PlacedRows
from multiobs.statistics import Statistic
from multiobs.transport import Residuals, residuals_of

Moved = Literal["auto"] | npt.ArrayLike | Callable[..., npt.ArrayLike] | None

FAR = 0.25  # distance of neighbours, of that of any two rows, from which on they are strangers
FEW = 50  # rows from which no mean can be learned
PAIR = 2
KEPT = 16  # pilots of held-out rows that are remembered


@final
@dataclass(frozen=True)
class _Rows:
    """Rows that a pilot was fitted to, known by their digest."""

    digest: bytes
    columns: FloatArray = field(compare=False)
    y: FloatArray = field(compare=False)
    weight: FloatArray | None = field(compare=False)
    statistic: Statistic = field(compare=False)


@lru_cache(maxsize=KEPT)
def _fitted(rows: _Rows) -> Residuals:
    return residuals_of(
        "location", rows.statistic, rows.columns, rows.y, rows.weight, undersmooth=True
    )


def of_independent(transport: Moved, errors: str) -> Moved:
    """Rows that may depend on each other keep their labels: a pilot would follow the dependence."""
    _check.choice("errors", errors, ("shared", "hac"))
    chosen = errors == "hac" and isinstance(transport, str) and transport == "auto"
    return None if chosen else transport


def residuals(
    transport: Moved,
    statistic: Statistic,
    X: npt.ArrayLike,
    at: PlacedRows,
    y: FloatArray,
    weight: FloatArray | None,
) -> Residuals | None:
    """Residuals of the pilot asked for, or None where labels stay as they are.

    Parameters
    ----------
    transport : "auto", None, array-like (n,) or callable
        "auto" fits a pilot where x has several columns or metasamples are pairs, rows suffice, and
        the statistic declares what a shift of y does to it. An array is the mean of y at the
        rows; a callable gives it.
    statistic : Statistic
        What was predicted.
    X : array-like
        What the user passed, for a callable.
    at : Positions
        Columns of the rows.
    y, weight : ndarray
        Labels (n,) or (n, s) and weights.
    """
    if transport is None:
        return None
    if isinstance(transport, str):
        _check.choice("transport", transport, ("auto",))
        adjacent = at.columns.shape[1] == 1 and statistic.arity != PAIR
        few = y.shape[0] < FEW or statistic.arity == 1
        if adjacent or few or statistic.shift is None:
            return None
        rows = _Rows(_digest(statistic, at.columns, y, weight), at.columns, y, weight, statistic)
        return _fitted(rows)
    if statistic.shift is None:
        raise ValueError(
            f"transport must be None for {statistic!r}, which no shift of y leaves in place"
        )
    given = answer("transport", transport, X) if callable(transport) else transport
    level = _check.numbers("transport", given)
    if level.shape != y.shape or not np.all(np.isfinite(level)):
        raise ValueError(
            f"transport must be 'auto', None or one finite mean per row, shape {y.shape}, "
            f"got shape {level.shape}"
        )
    offset = level if statistic.shift == "equivariant" else None
    return Residuals(y - level, offset, None)


def _digest(
    statistic: Statistic, columns: FloatArray, y: FloatArray, weight: FloatArray | None
) -> bytes:
    found = blake2b(str(statistic.shift).encode())
    for each in (columns, y, weight):
        if each is not None:
            found.update(str(each.shape).encode())
            found.update(np.ascontiguousarray(each).tobytes())
    return found.digest()


def warn_far(place: FloatArray, members: IntArray) -> None:
    """Say so where the rows of a metasample are strangers and nothing moves their labels."""
    n, d = place.shape
    if d == 1 or n < 100 or members.shape[1] < 2:
        return
    points = place / column_scales(place, "robust")
    some = members[:: max(1, members.shape[0] // 500)]
    near = np.sum((points[some[:, 0]] - points[some[:, 1]]) ** 2, axis=1)
    rows = np.arange(0, n, max(1, n // 500))
    far = np.sum((points[rows] - points[(rows + n // 2) % n]) ** 2, axis=1)
    share = float(np.sqrt(np.median(near) / max(float(np.median(far)), 1e-300)))
    if share > FAR:
        warnings.warn(
            f"rows of a metasample are {share:.0%} as far from each other as any two rows in {d} "
            "columns, and their labels are not moved along a pilot of the mean: the score counts "
            "changes of the mean as spread; use transport='auto', or pass the mean at the rows",
            UserWarning,
            stacklevel=4,
        )
