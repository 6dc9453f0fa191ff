"""What can be read: files, folders, globs, datasets, lazy frames, Dask frames and SQL queries.

A source becomes a list of :class:`Part`: pieces that any worker can read on its own, a record
batch at a time.
"""

import hashlib
import os
import secrets
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from glob import glob, has_magic
from pathlib import Path
from typing import Any, final

FORMATS = {
    ".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".gz": "csv",
    ".feather": "feather", ".arrow": "feather", ".ipc": "feather",
}  # fmt: skip
BATCH = 1 << 17  # rows of a record batch


class SourcePart(ABC):
    """A piece of a source."""

    name: str
    rows: int | None  # how many, where that is known without reading
    size: int  # bytes, or a guess of them

    @abstractmethod
    def batches(self, columns: list[str]) -> Iterator[Any]:
        """Record batches of these columns, in order."""

    @abstractmethod
    def stamp(self) -> str:
        """Whatever changes when the piece does."""


@final
@dataclass(frozen=True)
class Query:
    """An SQL query that DuckDB answers.

    Parameters
    ----------
    sql : str
        The query; it may name files.
    database : str
        A DuckDB file, opened for reading; by default none.

    Examples
    --------
    >>> Query("SELECT x, y FROM 'rows.parquet' WHERE x > 0").database
    ':memory:'
    """

    sql: str
    database: str = ":memory:"


@final
@dataclass(frozen=True)
class FilePart(SourcePart):
    """Row groups of a file, or all of it."""

    name: str
    fragment: Any
    rows: int | None
    size: int
    path: str
    known: str = ""  # a stamp that does not depend on when the file was written

    def batches(self, columns: list[str]) -> Iterator[Any]:
        schema = self.fragment.physical_schema
        missing = [name for name in columns if name not in schema.names]
        if missing:
            raise ValueError(
                f"every file must have the column {missing[0]!r}, got {self.path} with "
                f"{', '.join(schema.names)}"
            )
        try:
            scanner = self.fragment.scanner(
                schema=schema, columns=columns, batch_size=BATCH, use_threads=False,
                batch_readahead=1,
            )  # fmt: skip
            yield from scanner.to_batches()
        except OSError as error:
            raise ValueError(f"{self.path} must be a whole, readable file: {error}") from error

    def stamp(self) -> str:
        if self.known:
            return self.known + self.name.removeprefix(self.path)
        return f"{self.name} {file_stamp(self.path)}"


@final
@dataclass(frozen=True)
class TablePart(SourcePart):
    """A table in memory, which nobody can change."""

    name: str
    table: Any
    rows: int | None
    size: int
    content: str  # digest of its values

    def batches(self, columns: list[str]) -> Iterator[Any]:
        yield from self.table.select(columns).to_batches(max_chunksize=BATCH)

    def stamp(self) -> str:
        return self.content


@final
@dataclass(frozen=True)
class QueryPart(SourcePart):
    """The answer to an SQL query, as DuckDB streams it.

    Whatever the query reads may change between two answers, so its stamp is a digest of the answer:
    another pass over it, a small part of the time of a sort.
    """

    name: str
    query: Query
    columns: tuple[str, ...]
    rows: int | None = None
    size: int = 0

    def batches(self, columns: list[str]) -> Iterator[Any]:
        with _connected(self.query) as connection:
            found = connection.sql(f"SELECT {_quoted(columns)} FROM ({self.query.sql})")
            try:
                reader: Any = found.to_arrow_reader(BATCH)
            except AttributeError:  # duckdb 1
                reader = found.fetch_arrow_reader(BATCH)
            yield from reader

    def stamp(self) -> str:
        with _connected(self.query) as connection:
            found = connection.sql(
                f"SELECT count(*), sum(hash({_quoted(self.columns)})::HUGEINT) "
                f"FROM ({self.query.sql})"
            ).fetchall()
        return f"{self.query.sql} {found[0]}"


def _connected(query: Query) -> Any:
    import duckdb

    return duckdb.connect(query.database, read_only=query.database != ":memory:")


def _quoted(names: Iterable[str]) -> str:
    return ", ".join('"' + name.replace('"', '""') + '"' for name in names)


@final
@dataclass(frozen=True)
class DelayedPart(SourcePart):
    """A partition of a Dask DataFrame, computed where it is read."""

    name: str
    delayed: Any
    token: str
    rows: int | None = None
    size: int = 0

    def batches(self, columns: list[str]) -> Iterator[Any]:
        import pyarrow as pa

        frame = self.delayed.compute(scheduler="synchronous")
        yield from pa.Table.from_pandas(frame[columns], preserve_index=False).to_batches(BATCH)

    def stamp(self) -> str:
        return self.token


@final
@dataclass(frozen=True)
class Source:
    """Everything that is known of a source before it is read.

    Attributes
    ----------
    parts : tuple of Part
        Pieces in the order of their rows.
    schema : pyarrow.Schema
        Types of the columns, of the first piece.
    """

    parts: tuple[SourcePart, ...]
    schema: Any

    @cached_property
    def stamps(self) -> tuple[str, ...]:
        """Stamp of each piece when it was first asked for: before anything is read."""
        return tuple(part.stamp() for part in self.parts)

    @property
    def rows(self) -> int | None:
        """How many rows, where all pieces know."""
        known = [part.rows for part in self.parts]
        return None if any(each is None for each in known) else sum(each or 0 for each in known)

    def guess(self, width: int) -> int:
        """How many rows there are, by the size of the files where nobody counted."""
        return sum(
            part.size // (8 * width) if part.rows is None else part.rows for part in self.parts
        )


def file_stamp(path: str) -> str:
    """Size and time of the last change of a file."""
    found = os.stat(path)
    return f"{os.path.abspath(path)}-{found.st_size}-{found.st_mtime_ns}"


def is_lazy_frame(source: Any) -> bool:
    """Whether this is a polars LazyFrame."""
    return type(source).__module__.startswith("polars") and type(source).__name__ == "LazyFrame"


def is_dask_frame(source: Any) -> bool:
    """Whether this is a Dask DataFrame."""
    return type(source).__module__.startswith("dask") and type(source).__name__ == "DataFrame"


@contextmanager
def open_source(source: Any, most: int, scratch: Path) -> Iterator[Source]:
    """Cut a source into pieces of about ``most`` rows; what is written for that is removed.

    Parameters
    ----------
    source : path, glob, list of paths, Dataset, Table, LazyFrame, Dask DataFrame or Query
        What the user gave.
    most : int
        Rows of a piece, where the source can be cut.
    scratch : Path
        Folder for a LazyFrame's rows, which polars streams to a file first.
    """
    if not is_lazy_frame(source):
        yield _source(source, most)
        return
    staged = scratch / f"multiobs-{secrets.token_hex(8)}.parquet"
    try:
        source.sink_parquet(staged)
        with staged.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        yield _source(staged, most, content)
    finally:
        staged.unlink(missing_ok=True)


def _source(source: Any, most: int, stamp: str = "") -> Source:
    import pyarrow as pa
    import pyarrow.dataset as ds

    if isinstance(source, Query):
        schema, rows = _described(source)
        return Source((QueryPart("query", source, tuple(schema.names), rows),), schema)
    if is_dask_frame(source):
        pieces = zip(source.to_delayed(), source.__dask_keys__(), strict=True)
        # Keys of Dask's older frames, which have no expression, do not tell that a file changed.
        once = "" if getattr(source, "expr", None) is not None else secrets.token_hex(8)
        parts = tuple(
            DelayedPart(f"partition {i}", piece, f"{name}{once}")
            for i, (piece, name) in enumerate(pieces)
        )
        return Source(parts, pa.Schema.from_pandas(source._meta, preserve_index=False))
    if isinstance(source, ds.InMemoryDataset):
        source = source.to_table()
    if isinstance(source, pa.Table):
        return Source((table_part("table", source),), source.schema)
    if isinstance(source, ds.Dataset):
        fragments = list(source.get_fragments())
    else:
        fragments = [fragment for path in _paths(source) for fragment in _fragments(path)]
    if not fragments:
        raise ValueError(f"source must hold at least one file, got none in {source!r}")
    cut = tuple(part for fragment in fragments for part in _cut(fragment, most, stamp))
    return Source(cut, fragments[0].physical_schema)


def table_part(name: str, table: Any) -> TablePart:
    """A table in memory as a piece of a source."""
    import pyarrow as pa

    content = hashlib.sha256()
    for batch in table.to_batches(max_chunksize=BATCH):
        with pa.BufferOutputStream() as sink:
            with pa.ipc.new_stream(sink, batch.schema) as writer:  # dictionaries included
                writer.write_batch(batch)
            content.update(sink.getvalue())
    return TablePart(name, table, table.num_rows, table.nbytes, content.hexdigest())


def _described(query: Query) -> tuple[Any, int]:
    """Types of the columns of a query, and how many rows it has."""
    with _connected(query) as connection:
        schema = connection.sql(f"SELECT * FROM ({query.sql}) LIMIT 0").to_arrow_table().schema
        counted = connection.sql(f"SELECT count(*) FROM ({query.sql})").fetchall()
        return schema, int(counted[0][0])


def _paths(source: Any) -> list[str]:
    """Files named by a path, a folder, a glob or a list of those, in sorted order each."""
    if isinstance(source, list | tuple):
        return [path for each in source for path in _paths(each)]
    if not isinstance(source, str | os.PathLike):
        raise TypeError(
            "source must be a path, a glob, a list of paths, a pyarrow Dataset or Table, a polars "
            f"LazyFrame, a Dask DataFrame or a scale.Query, got {type(source).__name__}"
        )
    name = os.fspath(source)
    if os.path.isdir(name):
        inside = [p for p in sorted(Path(name).rglob("*")) if p.suffix.lower() in FORMATS]
        return [str(p) for p in inside if not p.name.startswith((".", "_"))]
    if has_magic(name):
        return sorted(glob(name, recursive=True))
    if not os.path.exists(name):
        raise FileNotFoundError(f"source must exist, got {name!r}")
    return [name]


def _fragments(path: str) -> list[Any]:
    import pyarrow as pa
    import pyarrow.csv as csv
    import pyarrow.dataset as ds

    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise ValueError(
            f"source must be Parquet, Arrow, Feather or CSV ({', '.join(FORMATS)}), got {path!r}"
        )
    try:
        kind: Any = FORMATS[suffix]
        found = ds.dataset(path, format=kind)
        if kind == "csv":  # whole numbers at the top of a file may be followed by others
            wide = {
                each.name: pa.float64()
                for each in found.schema
                if pa.types.is_integer(each.type) or pa.types.is_null(each.type)
            }
            options = csv.ConvertOptions(column_types=wide)
            found = ds.dataset(path, format=ds.CsvFileFormat(convert_options=options))
        return list(found.get_fragments())
    except (OSError, pa.ArrowInvalid) as error:
        raise ValueError(f"{path} must be a whole, readable file: {error}") from error


def _cut(fragment: Any, most: int, stamp: str) -> Iterator[SourcePart]:
    """A Parquet file by row groups, any other as it is."""
    import pyarrow.dataset as ds

    path = str(getattr(fragment, "path", ""))
    if not isinstance(fragment, ds.ParquetFileFragment):
        yield FilePart(path, fragment, None, os.stat(path).st_size, path, stamp)
        return
    held: list[int] = []
    rows = size = 0
    groups = list(fragment.row_groups)
    for number, group in enumerate(groups):
        held.append(group.id)
        rows, size = rows + group.num_rows, size + (group.total_byte_size or 0)
        following = groups[number + 1].num_rows if number + 1 < len(groups) else most + 1
        if rows + following > most:
            name = f"{path} row groups {held[0]}-{held[-1]}"
            yield FilePart(name, fragment.subset(row_group_ids=held), rows, size, path, stamp)
            held, rows, size = [], 0, 0
