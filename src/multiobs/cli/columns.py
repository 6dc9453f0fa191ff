"""From columns of a table to x, y, weights and groups, or a sentence with column and row."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, final

import numpy as np
import numpy.typing as npt

from multiobs._types import BoolArray, FloatArray
from multiobs.cli.problems import Refusal, rows_text
from multiobs.cli.room import COPIES, check_room
from multiobs.cli.source import OpenedTable
from multiobs.cli.tables import read_table

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Kind = Literal["number", "category", "date"]
MISSING = frozenset({"", "NA", "N/A", "NaN", "nan", "null", "NULL", "#N/A", "n/a", "<NA>", "None"})
DAY = 86_400.0  # seconds


@final
@dataclass(frozen=True)
class Wanted:
    """Which columns play which part.

    Attributes
    ----------
    x, y : tuple of str
        Positions; labels (two columns for statistics of two outputs).
    weights, groups, clusters : str or None
        Weights of rows; groups that a metasample never crosses; rows that depend on each other.
    categories : tuple of str
        Columns of x to be taken as categories although they look like numbers.
    drop_missing : bool
        Whether rows with a missing value are left out.
    label_codes : bool
        Whether y may hold texts, of which only equality counts.
    """

    x: tuple[str, ...]
    y: tuple[str, ...] = ()
    weights: str | None = None
    groups: str | None = None
    clusters: str | None = None
    categories: tuple[str, ...] = ()
    drop_missing: bool = False
    label_codes: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """All columns that are needed, once each."""
        asked = (self.weights, self.groups, self.clusters)
        single = [name for name in asked if name is not None]
        return tuple(dict.fromkeys([*self.x, *self.y, *single]))


@final
@dataclass(frozen=True)
class FileRows:
    """Rows of a file, ready for the estimator.

    Attributes
    ----------
    X : DataFrame (n, d)
        Numbers as floats (dates in days since 1970), categories as texts.
    y : ndarray (n,), (n, 2) or None
        Labels.
    weights, groups, clusters : ndarray (n,) or None
        As asked for.
    kinds : dict of str to str
        "number", "category" or "date" for each column of X.
    read, dropped : int
        Rows in the file, and how many of them had a missing value and were left out.
    missing : dict of str to int
        Missing values by column, where there are any.
    kept : ndarray of bool (read,)
        Which rows of the file these are.
    total : int or None
        How many rows there are, where X is a sample of them.
    known_ranges : dict of str to (float, float) or None
        Least and largest value of each column of numbers, where X is a sample.
    """

    X: "pd.DataFrame"
    y: FloatArray | None
    weights: FloatArray | None
    groups: npt.NDArray[Any] | None
    kinds: dict[str, Kind]
    read: int
    dropped: int
    kept: BoolArray
    missing: dict[str, int] = field(default_factory=dict)
    clusters: npt.NDArray[np.int64] | None = None
    total: int | None = None
    known_ranges: dict[str, tuple[float, float]] | None = None

    @property
    def size(self) -> int:
        """How many rows there are."""
        return int(self.X.shape[0]) if self.total is None else self.total

    @property
    def ranges(self) -> dict[str, tuple[float, float]]:
        """Least and largest value of each column of numbers or dates."""
        if self.known_ranges is not None:
            return self.known_ranges
        return {
            name: (float(self.X[name].min()), float(self.X[name].max()))
            for name, kind in self.kinds.items()
            if kind != "category"
        }


def names_of(given: Sequence[str], source: OpenedTable, option: str) -> tuple[str, ...]:
    """Columns from options: one name each, or several with commas where no name has one.

    Parameters
    ----------
    given : sequence of str
        As typed.
    source : Source
        The table, for its names.
    option : str
        For messages.
    """
    found: list[str] = []
    for text in given:
        parts = [part.strip() for part in text.split(",")]
        several = text not in source.columns and len(parts) > 1
        found += [source.find(part, option) for part in (parts if several else [text])]
    repeated = [name for name in found if found.count(name) > 1]
    if repeated:
        raise Refusal(f"{option} must name each column once, got {repeated[0]!r} twice")
    return tuple(found)


def take(source: OpenedTable, wanted: Wanted, copies: int = COPIES) -> FileRows:
    """Read the rows that a command works on.

    Parameters
    ----------
    source : Source
        An opened table.
    wanted : Wanted
        Which columns, and what to do about missing values.
    copies : int
        Numbers that the command holds for each number of a row.
    """
    check_room(source, len(wanted.names), copies)
    return rows_of(read_table(source, wanted.names), source.name, wanted)


def rows_of(table: "pa.Table", where: str, wanted: Wanted, first: int | None = None) -> FileRows:
    """Turn an Arrow table into rows for the estimator.

    Parameters
    ----------
    table : Table
        The columns.
    where : str
        Name of the file, for messages.
    wanted : Wanted
        Which columns, and what to do about missing values.
    first : int, optional
        How many rows of the file come before, where the table is a part of it.
    """
    import pandas as pd

    n = table.num_rows
    if n == 0:
        raise Refusal(f"{where} must hold rows, got a header and nothing below it")
    absent = {name: _absent(table.column(name)) for name in wanted.names}
    missing = {name: int(gone.sum()) for name, gone in absent.items() if gone.any()}
    kept = ~np.logical_or.reduce(list(absent.values())) if absent else np.ones(n, dtype=bool)
    if missing and not wanted.drop_missing:
        _refuse_missing(where, absent, missing, int(n - kept.sum()), first)
    if not kept.any() and first is None:
        raise Refusal(f"{where} must hold a row without missing values, got none among {n:,}")
    if not kept.all():
        table = table.filter(kept)
    numbers = np.flatnonzero(kept) + 1 + (first or 0)  # rows as counted in the file, from one
    columns: dict[str, npt.NDArray[Any]] = {}
    kinds: dict[str, Kind] = {}
    for name in wanted.x:
        column = table.column(name)
        columns[name], kinds[name] = position(column, name, numbers, name in wanted.categories)
    y = None
    if wanted.y:
        labels = [label(table.column(name), name, numbers, wanted.label_codes) for name in wanted.y]
        y = labels[0] if len(labels) == 1 else np.stack(labels, axis=1)
    weights = None
    if wanted.weights is not None:
        weights = label(table.column(wanted.weights), wanted.weights, numbers)
        if np.any(weights < 0):
            at = int(np.flatnonzero(weights < 0)[0])
            raise Refusal(
                f"column {wanted.weights!r} must hold nonnegative weights, got {weights[at]:g} in "
                f"row {numbers[at]:,}"
            )
    groups, clusters = (
        None if name is None else _codes(table.column(name))
        for name in (wanted.groups, wanted.clusters)
    )
    if clusters is not None and weights is not None:
        clusters = clusters[weights > 0]  # the fit leaves out the others
    if all(kind != "category" for kind in kinds.values()):
        # one block of floats, which the estimator takes as it is
        X = pd.DataFrame(np.column_stack(list(columns.values())), columns=list(columns))
    else:
        X = pd.DataFrame(columns)
    return FileRows(X, y, weights, groups, kinds, n, int(n - kept.sum()), kept, missing, clusters)


def position(
    column: "pa.ChunkedArray", name: str, numbers: npt.NDArray[np.int64], category: bool = False
) -> tuple[npt.NDArray[Any], Kind]:
    """Values of a column of x, and of which kind they are."""
    import pyarrow as pa
    from pyarrow import types

    column = _plain(column)
    kind = column.type
    if category and not types.is_nested(kind):
        return _texts(column.cast(pa.string()), name), "category"
    if types.is_boolean(kind) or _is_text(kind):
        texts = column.cast(pa.string())
        if _is_text(kind):
            _refuse_mixture(texts, name, numbers)
        return _texts(texts, name), "category"
    if types.is_temporal(kind):
        return finite(_days(column, name), name, numbers), "date"
    return finite(_floats(column, name, numbers), name, numbers), "number"


def label(
    column: "pa.ChunkedArray", name: str, numbers: npt.NDArray[np.int64], codes: bool = False
) -> FloatArray:
    """Values of a column that must hold numbers."""
    from pyarrow import types

    column = _plain(column)
    kind = column.type
    if codes and _is_text(kind):
        return np.asarray(_codes(column), dtype=np.float64)
    if _is_text(kind) or types.is_temporal(kind):
        values = column.to_pylist() if len(column) < 10_000 else column[:10_000].to_pylist()
        at = next((i for i, value in enumerate(values) if not _is_number(value)), 0)
        raise Refusal(
            f"column {name!r} must hold numbers, got {values[at]!r} in row {numbers[at]:,}"
        )
    if types.is_boolean(kind):
        return np.asarray(column.to_numpy(), dtype=np.float64)
    return finite(_floats(column, name, numbers), name, numbers)


def finite(values: FloatArray, name: str, numbers: npt.NDArray[np.int64]) -> FloatArray:
    """Return the values, none of them infinite, or say where the first is."""
    fine = np.isfinite(values)
    if not fine.all():
        at = int(np.argmin(fine))
        raise Refusal(
            f"column {name!r} must be finite, got {values[at]} in row {numbers[at]:,}: correct it, "
            "or leave the cell empty and say --drop-missing"
        )
    return values


def _plain(column: "pa.ChunkedArray") -> "pa.ChunkedArray":
    """Return the column without dictionaries."""
    from pyarrow import types

    if types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    return column


def _absent(column: "pa.ChunkedArray") -> BoolArray:
    """Which values are missing: null, NaN, or a text that stands for it."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import types

    column = _plain(column)
    if types.is_null(column.type):
        return np.ones(len(column), dtype=bool)
    gone = column.is_null(nan_is_null=types.is_floating(column.type))
    if _is_text(column.type):
        blank = pc.is_in(pc.utf8_trim_whitespace(column), value_set=pa.array(sorted(MISSING)))
        gone = pc.or_(gone, blank)
    return np.asarray(gone.to_numpy(), dtype=bool)


def _refuse_missing(
    where: str,
    absent: dict[str, BoolArray],
    missing: dict[str, int],
    rows: int,
    before: int | None,
) -> None:
    name = max(missing, key=lambda each: missing[each])
    first = int(np.argmax(absent[name])) + 1 + (before or 0)
    if before is not None:  # the rest of the file was not looked at
        raise Refusal(
            f"column {name!r} of {where} has missing values, one of them in row {first:,}: "
            "--drop-missing leaves out such rows"
        )
    others = f" ({len(missing) - 1} more columns have some)" if len(missing) > 1 else ""
    raise Refusal(
        f"column {name!r} of {where} has {rows_text(missing[name], 'missing value')}, the first in "
        f"row {first:,}{others}: --drop-missing leaves out {rows_text(rows)}"
    )


def _is_text(kind: "pa.DataType") -> bool:
    from pyarrow import types

    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or str(kind) == "string_view"  # a format of Arrow that older versions have no test for
    )


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _refuse_mixture(texts: "pa.ChunkedArray", name: str, numbers: npt.NDArray[np.int64]) -> None:
    """Refuse a column of numbers with a few texts: thousands of categories would be nonsense."""
    import pyarrow.compute as pc

    unique = pc.unique(texts).to_pylist()
    numeric = sum(map(_is_number, unique))
    if numeric * 2 > len(unique) and numeric < len(unique):
        offender = next(value for value in unique if not _is_number(value))
        at = int(pc.index(texts, offender).as_py())
        raise Refusal(
            f"column {name!r} must hold numbers or categories, got {offender!r} in row "
            f"{numbers[at]:,} among numbers: correct it, or say --category {name}"
        )
    if len(unique) > 50 and len(unique) * 2 > len(texts):
        raise Refusal(
            f"column {name!r} must hold categories that rows share, got {len(unique):,} different "
            f"texts in {len(texts):,} rows: leave it out of --x"
        )


def _texts(column: "pa.ChunkedArray", name: str) -> npt.NDArray[Any]:
    coded = column.combine_chunks().dictionary_encode()
    levels = np.array(coded.dictionary.to_pylist(), dtype=object)
    return np.asarray(levels[coded.indices.to_numpy()])


def _codes(column: "pa.ChunkedArray") -> npt.NDArray[np.int64]:
    coded = _plain(column).combine_chunks().dictionary_encode()
    return np.asarray(coded.indices.to_numpy(), dtype=np.int64)


def _days(column: "pa.ChunkedArray", name: str) -> FloatArray:
    """Dates, times and durations in days, the first two since 1970 and since midnight."""
    import pyarrow as pa
    from pyarrow import types

    kind = column.type
    if types.is_date(kind):
        return np.asarray(column.cast(pa.date32()).cast(pa.int32()).to_numpy(), dtype=np.float64)
    if types.is_interval(kind):
        raise Refusal(f"column {name!r} must hold dates or numbers, got months and days")
    ticks = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[kind.unit]
    whole = pa.int32() if types.is_time32(kind) else pa.int64()
    return np.asarray(column.cast(whole).to_numpy(), dtype=np.float64) / (ticks * DAY)


def _floats(column: "pa.ChunkedArray", name: str, numbers: npt.NDArray[np.int64]) -> FloatArray:
    import pyarrow as pa
    from pyarrow import types

    kind = column.type
    if not (types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)):
        raise Refusal(f"column {name!r} must hold numbers, dates or texts, got {kind}")
    try:
        return np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float64)
    except pa.ArrowInvalid:
        values = column.to_numpy()
        at = int(np.argmax(np.abs(values.astype(np.float64)) > 2.0**53))
        raise Refusal(
            f"column {name!r} must hold numbers that a float can tell from their neighbours, got "
            f"{values[at]} in row {numbers[at]:,}: subtract a constant"
        ) from None
