"""From columns of a file to numbers: any numeric, boolean, date or categorical type."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from multiobs._types import BoolArray, FloatArray, IntArray

TICKS = {"s": 86_400.0, "ms": 864e5, "us": 864e8, "ns": 864e11}  # of a unit of time in a day


@final
@dataclass(frozen=True)
class SourceColumns:
    """Which columns are read, by name.

    Attributes
    ----------
    x : tuple of str
        Numeric columns of x.
    matched : tuple of str
        Categorical columns of x, matched exactly by every tuple.
    y : tuple of str
        Labels.
    weight, groups : str or None
        Weights, and codes that a tuple never crosses.
    """

    x: tuple[str, ...]
    matched: tuple[str, ...]
    y: tuple[str, ...]
    weight: str | None = None
    groups: str | None = None

    @property
    def names(self) -> list[str]:
        """Every column once."""
        wanted = [*self.x, *self.keys, *self.y]
        if self.weight is not None:
            wanted.append(self.weight)
        return list(dict.fromkeys(wanted))

    @property
    def keys(self) -> tuple[str, ...]:
        """Columns whose values must agree within a tuple, the leading sort key."""
        return self.matched if self.groups is None else (self.groups, *self.matched)


Levels = tuple[tuple[Any, ...], ...]  # sorted values of each key column


@final
@dataclass(frozen=True)
class ReadRows:
    """Rows as numbers.

    Attributes
    ----------
    key : ndarray of int (n,) or None
        One code for each combination of the key columns.
    x : ndarray (n, d)
        Positions.
    y : ndarray (n, s)
        Labels.
    weight : ndarray (n,) or None
        Weights.
    draw : ndarray (n,) or None
        A uniform number of each row, where rows are divided at random.
    """

    key: IntArray | None
    x: FloatArray
    y: FloatArray
    weight: FloatArray | None
    draw: FloatArray | None = None

    @property
    def size(self) -> int:
        """How many rows."""
        return int(self.x.shape[0])

    def take(self, rows: IntArray | BoolArray | slice) -> "ReadRows":
        """Return some of the rows."""
        return ReadRows(
            None if self.key is None else self.key[rows],
            self.x[rows],
            self.y[rows],
            None if self.weight is None else self.weight[rows],
            None if self.draw is None else self.draw[rows],
        )

    def whole(self) -> BoolArray:
        """Rows in which no number is missing or infinite, (n,)."""
        good = np.isfinite(self.x).all(axis=1) & np.isfinite(self.y).all(axis=1)
        if self.weight is not None:
            good &= np.isfinite(self.weight)
        if self.key is not None:
            good &= self.key >= 0
        return np.asarray(good)


def join(parts: list[ReadRows]) -> ReadRows:
    """Rows of several batches one after the other."""
    if len(parts) == 1:
        return parts[0]
    keys = [each.key for each in parts if each.key is not None]
    weights = [each.weight for each in parts if each.weight is not None]
    return ReadRows(
        np.concatenate(keys) if keys else None,
        np.concatenate([each.x for each in parts]),
        np.concatenate([each.y for each in parts]),
        np.concatenate(weights) if weights else None,
    )


def numbers(array: Any, name: str) -> FloatArray:
    """An Arrow column as float64: dates and times in days since 1970, durations in days."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = array.type
    if pa.types.is_date(kind):
        array = pc.cast(array, pa.timestamp("s"))
        kind = array.type
    divide = 1.0
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        divide, array = TICKS[kind.unit], pc.cast(array, pa.int64())
    elif pa.types.is_dictionary(kind):
        array = pc.cast(array, kind.value_type)
        kind = array.type
    elif pa.types.is_null(kind):
        return np.full(len(array), np.nan)
    numeric = pa.types.is_integer(array.type) or pa.types.is_floating(array.type)
    if not (numeric or pa.types.is_boolean(kind) or pa.types.is_decimal(kind)):
        raise TypeError(f"column {name!r} must hold numbers, dates or times, got {kind}")
    if not pa.types.is_float64(array.type):
        if pa.types.is_boolean(array.type):
            array = pc.cast(array, pa.int8())
        array = pc.cast(array, pa.float64(), safe=False)
    if array.null_count:
        array = pc.fill_null(array, float("nan"))
    found: FloatArray = np.asarray(array.to_numpy(zero_copy_only=False), dtype=np.float64)
    return found / divide if divide != 1.0 else found


def is_category(kind: Any) -> bool:
    """Whether an Arrow type holds categories rather than numbers."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return not (pa.types.is_integer(kind.value_type) or pa.types.is_floating(kind.value_type))
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return bool(text or pa.types.is_string_view(kind))


def codes(batch: Any, columns: SourceColumns, levels: Levels) -> IntArray | None:
    """One code for each combination of the key columns, -1 where one is missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not columns.keys:
        return None
    joint = np.zeros(batch.num_rows, dtype=np.int64)
    missing = np.zeros(batch.num_rows, dtype=np.bool_)
    for name, known in zip(columns.keys, levels, strict=True):
        array = plain(batch.column(name))
        found = pc.index_in(array, value_set=pa.array(known, type=array.type))
        missing |= np.asarray(pc.is_null(found).to_numpy(zero_copy_only=False))
        place = pc.fill_null(found, 0).to_numpy(zero_copy_only=False).astype(np.int64)
        joint = joint * len(known) + place
    joint[missing] = -1
    return joint


def plain(array: Any) -> Any:
    """An Arrow column without its dictionary."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(array.type):
        return pc.cast(array, array.type.value_type)
    return array


def rows_of(batch: Any, columns: SourceColumns, levels: Levels) -> ReadRows:
    """Numbers of one record batch."""
    n = batch.num_rows
    x = [numbers(batch.column(name), name) for name in columns.x]
    y = [numbers(batch.column(name), name) for name in columns.y]
    weight = None
    if columns.weight is not None:
        weight = numbers(batch.column(columns.weight), columns.weight)
    place = np.stack(x, axis=1) if x else np.zeros((n, 1))
    labels = np.stack(y, axis=1) if y else np.zeros((n, 0))
    return ReadRows(codes(batch, columns, levels), place, labels, weight)


def replicated(rows: ReadRows) -> ReadRows:
    """Rows (x, y_1 .. y_r) as r rows that share x."""
    r = rows.y.shape[1]
    return ReadRows(
        None if rows.key is None else np.repeat(rows.key, r),
        np.repeat(rows.x, r, axis=0),
        rows.y.reshape(-1, 1),
        None if rows.weight is None else np.repeat(rows.weight, r),
    )


def gathered(batches: Iterator[ReadRows], size: int) -> Iterator[ReadRows]:
    """The same rows in batches of at most ``size``, the last one smaller."""
    held: list[ReadRows] = []
    count = 0
    for batch in batches:
        begin = 0
        while begin < batch.size:
            take = min(size - count, batch.size - begin)
            held.append(batch.take(slice(begin, begin + take)))
            begin, count = begin + take, count + take
            if count == size:
                yield join(held)
                held, count = [], 0
    if held:
        yield join(held)
