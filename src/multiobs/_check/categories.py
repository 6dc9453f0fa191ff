"""Categorical columns: matched exactly by every sampler, one indicator a level in the class."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from multiobs._check import shown
from multiobs._check.labelling import is_missing
from multiobs._types import FloatArray, IntArray

FRAMES = ("pandas", "polars")
WORDS = ("cat", "enum", "str", "utf8", "object")  # in the names of dtypes that hold categories


@final
@dataclass(frozen=True)
class Categories:
    """Levels of the categorical columns of a data frame, as seen in fit.

    Attributes
    ----------
    levels : dict of str to tuple
        Levels of each categorical column, by its name; sorted, or by how many rows they have.
    places : tuple of int
        Where those columns stand among all columns.
    """

    levels: dict[str, tuple[Any, ...]]
    places: tuple[int, ...]

    def coded(self, X: Any) -> Any:
        """Return the frame with codes 0, 1, … in place of levels; refuse unknown levels."""
        out = X
        for name, levels in self.levels.items():
            codes = _codes(name, np.asarray(X[name], dtype=object), levels)
            if type(X).__module__.startswith("pandas"):
                out = out.assign(**{name: codes})
            else:
                out = out.with_columns(type(X[name])(name, codes))
        return out

    def by_frequency(self, X: Any, y: FloatArray) -> "Categories":
        """Return the same levels in an order that does not depend on what they are called.

        The most frequent one comes first, so that the indicators leave it out; of equally frequent
        ones the one with the smaller mean label.  Trees depend on the order of their columns.

        Parameters
        ----------
        X : data frame
            As it was given.
        y : ndarray (n,)
            Labels.
        """
        found = {}
        for name, levels in self.levels.items():
            codes = _codes(name, np.asarray(X[name], dtype=object), levels)
            count = np.bincount(codes, minlength=len(levels))
            mean = np.bincount(codes, y, minlength=len(levels)) / np.maximum(count, 1)
            found[name] = tuple(levels[place] for place in np.lexsort((mean, -count)))
        return Categories(found, self.places)

    def expand(self, coded: FloatArray) -> tuple[FloatArray, IntArray]:
        """Numeric columns followed by indicators, and one code for each combination of levels."""
        numeric = [c for c in range(coded.shape[1]) if c not in self.places]
        blocks = [coded[:, numeric]]
        joint = np.zeros(coded.shape[0], dtype=np.int64)
        for place, levels in zip(self.places, self.levels.values(), strict=True):
            code = coded[:, place].astype(np.int64)
            joint = joint * len(levels) + code
            # the first level is the one the intercept stands for
            blocks.append((code[:, None] == np.arange(1, len(levels))).astype(np.float64))
        return np.concatenate(blocks, axis=1), joint

    def indicators(self, n_columns: int) -> list[tuple[str, tuple[int, ...]]]:
        """Name of each categorical column and where :meth:`expand` puts its indicators.

        Parameters
        ----------
        n_columns : int
            Columns of X before they were expanded.
        """
        out, at = [], n_columns - len(self.places)
        for name, levels in self.levels.items():
            out.append((str(name), tuple(range(at, at + len(levels) - 1))))
            at += len(levels) - 1
        return out

    def names(self, columns: list[str]) -> list[str]:
        """Names of the expanded columns."""
        numeric = [name for c, name in enumerate(columns) if c not in self.places]
        dummies = [f"{name}={level}" for name, all_ in self.levels.items() for level in all_[1:]]
        return numeric + dummies


def refuse_repeated(columns: Any) -> None:
    """Refuse a frame two of whose columns have one name."""
    names = [str(name) for name in columns]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"columns of X must have different names, got {twice[0]!r} twice")


def find(X: Any) -> Categories | None:
    """Levels of the categorical columns of a pandas or polars frame, or None if it has none.

    >>> find(np.zeros((2, 1))) is None
    True
    """
    if type(X).__module__.split(".")[0] not in FRAMES or len(X.shape) != 2:
        return None
    refuse_repeated(X.columns)
    levels: dict[str, tuple[Any, ...]] = {}
    places = []
    for place, name in enumerate(X.columns):
        dtype = str(X[name].dtype).lower()
        if not any(word in dtype for word in WORDS):
            continue
        values = np.asarray(X[name], dtype=object)
        if "object" in dtype and all(isinstance(v, int | float | np.number) for v in values):
            continue  # numbers that happen to be stored as objects
        missing = [v for v in values.tolist() if is_missing(v)]
        if missing:
            raise ValueError(
                f"column {name!r} must not hold missing categories, got {missing[0]!r}"
            )
        try:
            distinct = sorted(set(values.tolist()), key=lambda v: (str(type(v)), v))
        except TypeError:
            raise ValueError(
                f"column {name!r} must hold numbers or categories, got {shown(values[0])}"
            ) from None
        levels[name] = tuple(distinct)
        places.append(place)
    return Categories(levels, tuple(places)) if levels else None


def _codes(name: str, values: Any, levels: tuple[Any, ...]) -> IntArray:
    known = {level: code for code, level in enumerate(levels)}
    unknown = [v for v in values if v not in known]
    if unknown:
        raise ValueError(
            f"column {name!r} must hold one of the {len(levels)} categories seen in fit, "
            f"got {unknown[0]!r}"
        )
    return np.fromiter((known[v] for v in values), dtype=np.int64, count=len(values))
