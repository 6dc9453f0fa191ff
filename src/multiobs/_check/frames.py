"""Data frames at the door: dates become days, and arrays become frames again for a transformer."""

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone

from multiobs._check.categories import Categories, refuse_repeated
from multiobs._types import FloatArray

FRAMES = ("pandas", "polars")
DAY = np.timedelta64(1, "D")


def library_of(X: Any) -> str | None:
    """Name of the library whose data frame X is, or None.

    >>> library_of(np.zeros((2, 1))) is None
    True
    """
    name = type(X).__module__.split(".")[0]
    return name if name in FRAMES and len(X.shape) == 2 else None


def refuse_lazy(X: Any) -> None:
    """Refuse frames whose rows are not in memory, with a word on where they are fitted.

    >>> refuse_lazy(np.zeros((2, 1)))
    """
    kind = type(X).__module__.split(".")[0], type(X).__name__
    dataset = kind[0] == "pyarrow" and kind[1].endswith("Dataset")
    if dataset or kind in (
        ("polars", "LazyFrame"), ("dask", "DataFrame"), ("dask_expr", "DataFrame")
    ):  # fmt: skip
        raise TypeError(
            f"X must be in memory, got a {kind[0]} {kind[1]}: multiobs.scale.fit(source, x=, y=) "
            "fits it in parts"
        )


def with_days(X: Any) -> Any:
    """Return a frame with dates and times as days since 1970, durations as days.

    Anything but a data frame is returned as it is; so is a frame without dates.
    """
    library = library_of(X)
    if library is None:
        return X
    refuse_repeated(X.columns)
    out = X
    for name in X.columns:
        kind = str(X[name].dtype).lower()
        if not kind.startswith(("datetime", "date", "timedelta", "duration")):
            continue
        moments = np.asarray(X[name].to_numpy())
        if moments.dtype == object:
            moments = moments.astype("datetime64[us]")
        start = moments.dtype.type(0, "ns") if moments.dtype.kind == "M" else np.timedelta64(0)
        days = np.asarray((moments - start) / DAY, dtype=np.float64)  # a missing one is NaN
        if library == "pandas":
            out = out.copy(deep=False)
            out[name] = days
        else:
            out = out.with_columns(type(X[name])(name, days))
    return out


@final
@dataclass(frozen=True)
class FrameLayout:
    """How the frame that the user passed looks, so that arrays can be put into that form again.

    Attributes
    ----------
    library : {"pandas", "polars"}
        Which kind of frame.
    columns : tuple of str
        Names of its columns, in their order.
    categories : Categories or None
        Those that hold categories, which stand as indicators after the others in an array.
    """

    library: str
    columns: tuple[str, ...]
    categories: Categories | None

    @staticmethod
    def of(X: Any, categories: Categories | None) -> "FrameLayout | None":
        """Return the layout of a data frame; None for anything else."""
        library = library_of(X)
        return None if library is None else FrameLayout(library, tuple(X.columns), categories)

    def frame(self, X: FloatArray) -> Any:
        """Put positions (n, d), indicators last, into a frame like the one that was passed."""
        levels = {} if self.categories is None else self.categories.levels
        numeric = [name for name in self.columns if name not in levels]
        data: dict[str, Any] = {name: X[:, c] for c, name in enumerate(numeric)}
        first = len(numeric)
        for name, known in levels.items():
            indicators = X[:, first : first + len(known) - 1]
            first += len(known) - 1
            # members of a tuple share their category, so that means of indicators are indicators
            code = np.rint(indicators @ np.arange(1.0, len(known))).astype(np.int64)
            data[name] = np.array(known, dtype=object)[code]
        ordered = {name: data[name] for name in self.columns}
        if self.library == "pandas":
            import pandas as pd

            return pd.DataFrame(ordered)
        import polars as pl

        return pl.DataFrame({name: list(each) for name, each in ordered.items()})


@final
class FrameFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer that sees the data frame the user passed, wherever arrays are handed to it.

    Parameters
    ----------
    transformer : transformer
        The user's own.
    layout : FrameLayout
        What it expects.
    """

    def __init__(self, transformer: Any, layout: FrameLayout) -> None:
        self.transformer = transformer
        self.layout = layout

    def fit(self, X: FloatArray, y: None = None) -> Self:
        """Fit a clone of the user's transformer to positions (n, d)."""
        self.transformer_ = clone(self.transformer).fit(self.layout.frame(X))
        return self

    def transform(self, X: FloatArray) -> Any:
        """Features of positions (n, d)."""
        return self.transformer_.transform(self.layout.frame(X))

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names that the user's transformer gives its features."""
        return self.transformer_.get_feature_names_out()
