"""Columns of an opened table as Arrow tables: all rows at once, or part by part."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from multiobs.cli.problems import Refusal
from multiobs.cli.source import HEAD, OpenedTable

if TYPE_CHECKING:
    import pyarrow as pa

PART = 1 << 21  # bytes of a text file that are read at a time


def read_table(source: OpenedTable, parsed: Sequence[str], also: Sequence[str] = ()) -> "pa.Table":
    """Read columns of an opened table.

    Parameters
    ----------
    source : Source
        From :func:`open_source`.
    parsed : sequence of str
        Columns to be understood as numbers, dates or texts.
    also : sequence of str
        Columns that only pass through; of text files they come as they are written.
    """
    import pyarrow as pa

    names = list(dict.fromkeys([*parsed, *also]))
    try:
        if source.format in ("csv", "tsv"):
            return _read_text(source, names, [name for name in also if name not in parsed])
        if source.format == "jsonl":
            return _read_json(source).select(names)
        if source.format == "parquet":
            import pyarrow.parquet as pq

            return pq.read_table(_bytes_of(source), columns=names, partitioning=None)
        return _opened_arrow(source).read_all().select(names)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowKeyError, pa.ArrowTypeError) as e:
        raise _refusal(source, e) from None


def parts_of(
    source: OpenedTable, types: Mapping[str, "pa.DataType | None"], rows: int = 1 << 16
) -> "Iterator[pa.Table]":
    """Read columns part by part, never more than a few parts in memory.

    Parameters
    ----------
    source : Source
        A file that is no JSON lines.
    types : mapping of str to DataType or None
        The columns in order, of text files with the type that each has; None is by the first part.
    rows : int
        About how many rows a part of a Parquet file has.
    """
    import pyarrow as pa

    names = list(types)
    try:
        if source.format in ("csv", "tsv"):
            known = {name: kind for name, kind in types.items() if kind is not None}
            yield from _text_parts(source, names, known)
        elif source.format == "parquet":
            import pyarrow.parquet as pq

            with pq.ParquetFile(_bytes_of(source)) as file:
                for batch in file.iter_batches(rows, columns=names):
                    yield pa.Table.from_batches([batch]).select(names)
        else:
            for batch in _batches(_opened_arrow(source)):
                yield pa.Table.from_batches([batch]).select(names)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowKeyError, pa.ArrowTypeError) as e:
        raise _refusal(source, e) from None


def _batches(opened: Any) -> "Iterator[pa.RecordBatch]":
    import pyarrow as pa

    if isinstance(opened, pa.ipc.RecordBatchFileReader):
        for place in range(opened.num_record_batches):
            yield opened.get_batch(place)
    else:
        yield from opened


def _refusal(source: OpenedTable, problem: Exception) -> Refusal:
    import pyarrow as pa

    if isinstance(problem, pa.ArrowInvalid):
        return Refusal(_said(source, str(problem)))
    return Refusal(f"{source.name} cannot be read as {source.format}: {problem}")


def unreadable(path: Path) -> bool:
    """Whether a file cannot even be opened, whatever it holds."""
    try:
        with path.open("rb") as file:
            file.read(1)
    except OSError:
        return True
    return False


def names_in(source: OpenedTable) -> tuple[str, ...]:
    """Names of the columns of a table that is no text, or a sentence about why it is no table."""
    import pyarrow as pa

    try:
        if source.format == "parquet":
            import pyarrow.parquet as pq

            return tuple(pq.read_schema(_bytes_of(source)).names)
        if source.format == "jsonl":
            return tuple(_read_json(source).column_names)
        return tuple(_opened_arrow(source).schema.names)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as problem:
        if source.path is not None and unreadable(source.path):
            raise
        raise Refusal(f"{source.name} cannot be read as {source.format}: {problem}") from None


def _bytes_of(source: OpenedTable) -> Any:
    """Return what pyarrow opens: the path, or what is in memory."""
    import pyarrow as pa

    return pa.BufferReader(source.data) if source.data is not None else str(source.path)


def _opened_arrow(source: OpenedTable) -> Any:
    """Return something with a schema and batches; a file is mapped, not read."""
    import pyarrow as pa

    def opened() -> Any:
        return (
            pa.BufferReader(source.data)
            if source.data is not None
            else pa.memory_map(str(source.path))
        )

    with opened() as file:
        start = file.read(4)
    if start == b"FEA1":
        import pyarrow.feather as feather

        table = feather.read_table(opened())
        return pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    if start == b"ARRO":
        return pa.ipc.open_file(opened())
    return pa.ipc.open_stream(opened())


def _read_json(source: OpenedTable) -> "pa.Table":
    import pyarrow as pa
    import pyarrow.json as pj

    try:
        with source.stream() as stream:
            return pj.read_json(stream, pj.ReadOptions(block_size=HEAD))
    except pa.ArrowInvalid as problem:
        raise Refusal(
            f"{source.name} must hold one JSON object a line, got: {str(problem).strip()}"
        ) from None


def _read_text(source: OpenedTable, names: list[str], raw: list[str]) -> "pa.Table":
    import pyarrow as pa
    import pyarrow.csv as pc

    with _decodable(source), source.stream() as stream:
        return pc.read_csv(stream, *_text_options(source, names, dict.fromkeys(raw, pa.string())))


def _text_parts(
    source: OpenedTable, names: list[str], types: Mapping[str, "pa.DataType"]
) -> "Iterator[pa.Table]":
    import pyarrow as pa
    import pyarrow.csv as pc

    with _decodable(source), source.stream() as stream:
        for batch in pc.open_csv(stream, *_text_options(source, names, types, PART)):
            yield pa.Table.from_batches([batch])


def _text_options(
    source: OpenedTable, names: list[str], types: Mapping[str, "pa.DataType"], block: int = HEAD
) -> tuple[Any, Any, Any]:
    """How to read, parse and convert a text file."""
    import pyarrow.csv as pc

    dialect = source.dialect
    # Texts stay as they are ("NA" in a column that only passes through is not ours to blank);
    # what is missing among categories is decided in columns.py.
    convert = pc.ConvertOptions(
        include_columns=names,
        column_types=dict(types),
        strings_can_be_null=False,
        decimal_point=dialect.decimal,
        auto_dict_encode=False,
    )
    # A line break inside quotes must not be taken for the end of a row where blocks are cut.
    parse = pc.ParseOptions(
        delimiter=source.delimiter, newlines_in_values=source.data is not None or _quoted(source)
    )
    encoding = "utf8" if dialect.encoding.lower() in ("utf-8", "utf8") else dialect.encoding
    return pc.ReadOptions(encoding=encoding, block_size=block), parse, convert


@contextmanager
def _decodable(source: OpenedTable) -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError as problem:
        raise Refusal(
            f"{source.name} must be {source.dialect.encoding}, got bytes that are not: "
            f"{problem.reason}"
        ) from None


def _quoted(source: OpenedTable) -> bool:
    """Whether there is a quotation mark anywhere: far faster to find out than a parse."""
    with source.stream() as stream:
        while block := stream.read(HEAD):
            if b'"' in block:
                return True
    return False


def _said(source: OpenedTable, problem: str) -> str:
    """One sentence about what Arrow did not like, with the row where that can be found."""
    if "Expected" in problem and "columns, got" in problem:
        width = len(source.columns)
        found = _ragged(source, width)
        if found is not None:
            row, cells = found
            return (
                f"every row of {source.name} must have {width} cells as the header, got {cells} in "
                f"row {row}: a cell with {source.delimiter!r} in it needs quotes"
            )
    return f"{source.name} cannot be read as {source.format}: {problem.strip()}"


def _ragged(source: OpenedTable, width: int) -> tuple[int, int] | None:
    """Number and width of the first row that is not as wide as the header."""
    with source.stream() as stream:
        text = io.TextIOWrapper(stream, source.dialect.encoding, errors="replace", newline="")
        rows = (row for row in csv.reader(text, delimiter=source.delimiter) if row)
        try:
            for number, row in enumerate(rows):
                if len(row) != width:
                    return number, len(row)
        except csv.Error:
            return None
    return None
