"""Rows handed to a display: numbers to draw, names to write, and places to predict at."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import _get_feature_names

from multiobs import _check
from multiobs._check.categories import refuse_repeated
from multiobs._types import FloatArray


@final
@dataclass(frozen=True)
class NamedColumns:
    """Columns of X with their names.

    given: X as it came, an array (n, d) or a data frame; names: of its columns, those of a frame
    or x (x0, x1, …); named: whether they are a frame's.
    """

    given: Any
    names: tuple[str, ...]
    named: bool

    @property
    def count(self) -> int:
        """Number of columns."""
        return len(self.names)

    def index(self, feature: int | str) -> int:
        """Return the number of a column given by number or by name."""
        if isinstance(feature, str):
            _check.choice("feature", feature, self.names)
            return self.names.index(feature)
        place = _check.integer("feature", feature, low=0)
        if place >= self.count:
            raise ValueError(f"feature must be below {self.count}, got {feature}")
        return place

    def raw(self, place: int) -> npt.NDArray[Any]:
        """Return a column as it is."""
        return np.asarray(self.given[self.names[place]] if self.named else self.given[:, place])

    def values(self, place: int) -> FloatArray:
        """Return a column as numbers."""
        return _check.numbers(f"column {self.names[place]}", self.raw(place))

    def numeric(self) -> list[int]:
        """Return which columns hold numbers."""
        return [j for j in range(self.count) if self.raw(j).dtype.kind in "buif"]

    def numbers(self) -> FloatArray:
        """Return the columns that hold numbers, (n, q)."""
        found = [self.values(j) for j in self.numeric()]
        if not found:
            raise ValueError(f"X must have a column of numbers, got {', '.join(self.names)}")
        return np.column_stack(found)

    def along(self, place: int, grid: FloatArray) -> Any:
        """Return places on a grid of one column, the others at their median or commonest value."""
        columns: dict[str, npt.NDArray[Any]] = {}
        for j, name in enumerate(self.names):
            if j == place:
                columns[name] = grid
            elif j in self.numeric():
                columns[name] = np.full(grid.size, np.median(self.values(j)))
            else:
                levels, counts = np.unique(self.raw(j).astype(str), return_counts=True)
                columns[name] = np.full(grid.size, levels[counts.argmax()], dtype=object)
        if self.named:
            return type(self.given)(columns)
        return np.column_stack(list(columns.values()))


def columns_of(X: Any) -> NamedColumns:
    """Read X of shape (n,), (n, d) or a data frame.

    >>> columns_of([1.0, 2.0]).names, columns_of(np.zeros((3, 2))).names
    (('x',), ('x0', 'x1'))
    """
    if getattr(X, "columns", None) is not None:
        refuse_repeated(X.columns)
    names = _get_feature_names(X)
    if names is not None:
        if len(X) == 0:
            raise ValueError("X must hold rows, got an empty data frame")
        return NamedColumns(X, tuple(map(str, names)), True)
    array = X if isinstance(X, np.ndarray) else _check.numbers("X", X)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"X must have shape (n,) or (n, d) with n, d >= 1, got {np.shape(X)}")
    plain = ("x",) if array.shape[1] == 1 else tuple(f"x{j}" for j in range(array.shape[1]))
    return NamedColumns(array, plain, False)


def label_name(y: Any) -> str:
    """Return the name of a data frame's column of labels, or "y"."""
    name = getattr(y, "name", None)
    return "y" if name is None else str(name)


def read_labels(y: Any, n_columns: int = 1) -> FloatArray:
    """Read labels (n,), or (n, s) for a statistic of several columns."""
    labels = _check.numbers("y", y)
    labels = (
        labels[:, 0] if n_columns == 1 and labels.ndim == 2 and labels.shape[1] == 1 else labels
    )
    if labels.ndim != (1 if n_columns == 1 else 2) or labels.size == 0:
        raise ValueError(f"the display needs y with {n_columns} column, got shape {labels.shape}")
    return labels
