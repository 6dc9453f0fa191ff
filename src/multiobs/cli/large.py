"""Tables too large for memory: read once in parts, kept as plain columns, fitted by parts."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, final

import numpy as np

from multiobs.cli.columns import FileRows, Kind, Wanted, rows_of
from multiobs.cli.modelling import FittedModel, Settings, refuse_failure, refuse_overflow
from multiobs.cli.problems import Refusal
from multiobs.cli.room import COPIES, rows_in
from multiobs.cli.session import caught
from multiobs.cli.source import OpenedTable
from multiobs.cli.tables import parts_of

if TYPE_CHECKING:
    import pyarrow as pa

SHARE = 4  # of the memory that the parts at work get: imports and buffers take the rest
WHOLE = 1 << 30  # bytes of a file that is never read whole
SAMPLE = 20_000  # rows that are kept for the picture


@final
@dataclass(frozen=True)
class Plain:
    """The rows of a table as plain columns in a file of their own.

    Attributes
    ----------
    path : Path
        An Arrow file: columns of x and y by number, weights and groups.
    x, y : tuple of str
        Names of its columns.
    weight, group : str or None
        Columns of weights and groups.
    rows : Rows
        A sample of the rows, which knows how many there are and their ranges.
    """

    path: Path
    x: tuple[str, ...]
    y: tuple[str, ...]
    weight: str | None
    group: str | None
    rows: FileRows


def needs_parts(source: OpenedTable, wanted: Wanted, settings: Settings, memory: int) -> bool:
    """Whether a fit in memory would need more than it may, and a fit by parts is possible.

    Parameters
    ----------
    source : Source
        The table.
    wanted : Wanted
        Its columns.
    settings : Settings
        How it is fitted: smooth terms and boosting need all rows at once.
    memory : int
        Bytes.
    """
    if source.path is None or source.format == "jsonl" or wanted.label_codes:
        return False
    if settings.hypothesis != "line" or settings.what().arity == 1:
        return False
    return 8 * COPIES * len(wanted.names) * rows_in(source) > memory


@contextmanager
def plain_rows(source: OpenedTable, wanted: Wanted) -> Iterator[Plain]:
    """Check a table part by part and write its columns to a scratch file; gone afterwards."""
    import pyarrow as pa

    with TemporaryDirectory(prefix="multiobs-") as folder:
        path = Path(folder) / "rows.arrow"
        survey = _Survey(wanted)
        with pa.OSFile(str(path), "wb") as file:
            writer = None
            for table in parts_of(source, _types(source, wanted)):
                if table.num_rows:
                    rows = rows_of(table, source.name, wanted, survey.read)
                    clean = survey.add(rows, table)
                    writer = writer or pa.ipc.new_file(file, clean.schema)
                    writer.write_table(clean)
            if writer is not None:
                writer.close()
        pa.default_memory_pool().release_unused()
        if survey.used == 0:
            raise Refusal(
                f"{source.name} must hold a row without missing values, got none among "
                f"{survey.read:,}"
            )
        weight = None if wanted.weights is None else _free("weight", wanted)
        group = None if wanted.groups is None else _free("group", wanted)
        yield Plain(path, wanted.x, _labels(wanted), weight, group, survey.rows())


def _free(name: str, wanted: Wanted) -> str:
    """Return a name that no column of x has."""
    while name in wanted.x:
        name += "_"
    return name


def _labels(wanted: Wanted) -> tuple[str, ...]:
    return tuple(_free(f"y{k}", wanted) for k in range(len(wanted.y)))


def _types(source: OpenedTable, wanted: Wanted) -> dict[str, "pa.DataType | None"]:
    """Types for text files by their first part: whole numbers may be followed by others."""
    import pyarrow as pa
    from pyarrow import types

    if source.format not in ("csv", "tsv"):
        return dict.fromkeys(wanted.names)
    first = next(parts_of(source, dict.fromkeys(wanted.names)), None)
    found: dict[str, pa.DataType | None] = {}
    for name in wanted.names:
        kind = pa.null() if first is None else first.schema.field(name).type
        number = types.is_integer(kind) or types.is_null(kind)
        found[name] = pa.float64() if number else kind
    for name in wanted.categories:
        found[name] = pa.string()
    return found


@final
class _Survey:
    """What is gathered while parts go by."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._kinds: dict[str, Kind] = {}
        self._low: dict[str, float] = {}
        self._high: dict[str, float] = {}
        self._missing: dict[str, int] = {}
        self._sample: list[FileRows] = []
        self.read = 0
        self.used = 0

    def add(self, rows: FileRows, table: "pa.Table") -> "pa.Table":
        """Return the columns of a part, plain, and remember what is asked for later."""
        import pyarrow as pa

        self.read += rows.read
        self.used += rows.size
        self._kinds = dict(rows.kinds)
        for name, count in rows.missing.items():
            self._missing[name] = self._missing.get(name, 0) + count
        columns: dict[str, Any] = {}
        for name, kind in rows.kinds.items():
            columns[name] = rows.X[name].to_numpy()
            if kind != "category" and rows.size:
                low, high = float(columns[name].min()), float(columns[name].max())
                self._low[name] = min(low, self._low.get(name, low))
                self._high[name] = max(high, self._high.get(name, high))
                _refuse_coarse(name, low, high)
        assert rows.y is not None
        values = rows.y.T if rows.y.ndim == 2 else [rows.y]
        for name, each in zip(_labels(self._wanted), values, strict=True):
            columns[name] = np.ascontiguousarray(each)
        if rows.weights is not None:
            columns[_free("weight", self._wanted)] = rows.weights
        if self._wanted.groups is not None:  # their codes would differ from part to part
            given = table.filter(rows.kept).column(self._wanted.groups)
            columns[_free("group", self._wanted)] = given.cast(pa.string())
        if len(self._sample) * 1000 < SAMPLE and rows.size:
            self._sample.append(rows)
        return pa.table(columns)

    def rows(self) -> FileRows:
        """Return a sample of the rows that knows the rest."""
        import pandas as pd

        some = pd.concat([each.X.iloc[:1000] for each in self._sample], ignore_index=True)
        ranges = {name: (self._low[name], self._high[name]) for name in self._low}
        return FileRows(
            some, None, None, None, self._kinds, self.read, self.read - self.used,
            np.ones(0, dtype=bool), self._missing, None, self.used, ranges,
        )  # fmt: skip


def _refuse_coarse(name: str, low: float, high: float) -> None:
    if max(-low, high) > 2.0**53:
        raise Refusal(
            f"column {name!r} must hold numbers that a float can tell from their neighbours, got "
            f"{low if -low > high else high:g}: subtract a constant"
        )


def has_numbers(plain: Plain) -> bool:
    """Whether a column of x has numbers: categories alone are fitted at once."""
    return any(kind != "category" for kind in plain.rows.kinds.values())


def fitted_by_parts(settings: Settings, plain: Plain, memory: int) -> FittedModel:
    """Fit the rows of a plain file, never more than a part of them in memory.

    Parameters
    ----------
    settings : Settings
        How.
    plain : Plain
        Of :func:`plain_rows`.
    memory : int
        Bytes that the parts at work may take.
    """
    from multiobs import scale

    said: list[str] = []
    with caught(said):
        model = scale.fit(
            str(plain.path), x=plain.x, y=plain.y, statistic=settings.what(),
            sampler=settings.drawing(), transport=settings.moving(), memory=memory // SHARE,
            sample_weight=plain.weight, groups=plain.group, scratch=plain.path.parent,
            random_state=settings.seed,
        )  # fmt: skip
    refuse_failure(model, said)
    refuse_overflow(model, plain.rows)
    return FittedModel(model, tuple(said), ("rows: sorted on disk and fitted by parts (--memory)",))
