"""Tables in files: which format they have, and an Arrow table of the columns asked for."""

import csv
import difflib
import io
import os
import stat
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, final

from multiobs.cli.problems import Code, Refusal

if TYPE_CHECKING:
    import pyarrow as pa

Format = Literal["csv", "tsv", "parquet", "arrow", "jsonl"]
FORMATS: tuple[Format, ...] = ("csv", "tsv", "parquet", "arrow", "jsonl")
SUFFIXES: dict[str, Format] = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
}
PACKED = (".gz", ".bz2", ".zst")
HEAD = 2**22  # bytes in which the header must end
STANDARD = "-"
DELIMITERS = ",;\t|"


@final
@dataclass(frozen=True)
class Dialect:
    """How text is to be read where it does not say so itself.

    Attributes
    ----------
    format : str or None
        One of ``FORMATS``; None is by the name of the file, or by its first bytes.
    delimiter : str or None
        Between the cells of a line; None is the most frequent of , ; tab and | in the header.
    decimal : str
        The decimal point.
    encoding : str
        Of the text.
    """

    format: Format | None = None
    delimiter: str | None = None
    decimal: str = "."
    encoding: str = "utf-8"


@final
@dataclass(frozen=True)
class Source:
    """An opened table: where it came from, its format and its columns.

    Attributes
    ----------
    name : str
        For messages.
    path : Path or None
        A regular file, or None when the bytes are in memory.
    data : bytes or None
        What standard input or a pipe held.
    format : str
        One of ``FORMATS``.
    delimiter : str
        Of text.
    columns : tuple of str
        Names in the order of the file, repeated names repeated.
    dialect : Dialect
        As given.
    """

    name: str
    path: Path | None
    data: bytes | None
    format: Format
    delimiter: str
    columns: tuple[str, ...]
    dialect: Dialect

    def find(self, wanted: str, option: str) -> str:
        """Return a column's name, or say which names there are."""
        count = self.columns.count(wanted)
        if count == 1:
            return wanted
        if count > 1:
            raise Refusal(
                f"{option} must name one column, got {wanted!r}, which {self.name} has {count} "
                "times: rename the others"
            )
        near = difflib.get_close_matches(wanted, self.columns, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise Refusal(
            f"{option} must name a column of {self.name} ({listed(self.columns)}), "
            f"got {wanted!r}{hint}"
        )

    def stream(self) -> Any:
        """Return the bytes as an Arrow input stream, unpacked."""
        import pyarrow as pa

        if self.data is not None:
            return pa.BufferReader(self.data)
        return pa.input_stream(str(self.path), compression="detect")


def listed(names: Sequence[str], limit: int = 8) -> str:
    """Names for a message, the first few of many.

    >>> listed(["a", "b"]), listed([str(i) for i in range(100)], 2)
    ("'a', 'b'", "'0', '1' and 98 more")
    """
    shown = ", ".join(repr(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit:,} more"


def open_source(where: str, dialect: Dialect) -> Source:
    """Find out what a file is, and which columns it has; nothing else is read.

    Parameters
    ----------
    where : str
        A path, or - for standard input.
    dialect : Dialect
        What the user says about it.
    """
    name = "standard input" if where == STANDARD else where
    path: Path | None = None
    data: bytes | None = None
    if where == STANDARD:
        data = sys.stdin.buffer.read()
    else:
        path = Path(where)
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            raise Refusal(f"DATA must be a file, got the directory {where}", Code.FILE)
        if not stat.S_ISREG(mode):  # a pipe can be read once only
            data, path = path.read_bytes(), None
    head = data[:HEAD] if data is not None else _head(path, name)
    if not head:
        raise Refusal(f"{name} must hold a table, got an empty file")
    format_ = dialect.format or _by_name(where) or _by_bytes(head)
    if format_ in ("parquet", "arrow"):
        bare = Source(name, path, data, format_, "", (), dialect)
        columns = tuple(_schema(bare).names)
        return Source(name, path, data, format_, "", columns, dialect)
    if format_ == "jsonl":
        bare = Source(name, path, data, format_, "", (), dialect)
        columns = tuple(_read_json(bare).column_names)
        return Source(name, path, data, format_, "", columns, dialect)
    text = _decoded(head, name, dialect.encoding)
    delimiter = dialect.delimiter or ("\t" if format_ == "tsv" else _delimiter(text))
    columns = _header(text, delimiter, name)
    return Source(name, path, data, format_, delimiter, columns, dialect)


def read_table(source: Source, parsed: Sequence[str], also: Sequence[str] = ()) -> "pa.Table":
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

            where = pa.BufferReader(source.data) if source.data is not None else str(source.path)
            return pq.read_table(where, columns=names, partitioning=None)
        return _read_arrow(source).select(names)
    except pa.ArrowInvalid as problem:
        raise Refusal(_said(source, str(problem))) from None
    except (pa.ArrowNotImplementedError, pa.ArrowKeyError, pa.ArrowTypeError) as problem:
        raise Refusal(f"{source.name} cannot be read as {source.format}: {problem}") from None


def _head(path: Path | None, name: str) -> bytes:
    import pyarrow as pa

    try:
        with pa.input_stream(str(path), compression="detect") as stream:
            return bytes(stream.read(HEAD))
    except (pa.ArrowInvalid, EOFError) as problem:
        raise Refusal(f"{name} cannot be unpacked: {problem}", Code.FILE) from None
    except PermissionError:
        raise
    except OSError as problem:
        if path is not None and path.suffix in PACKED and not _unreadable(path):
            raise Refusal(f"{name} cannot be unpacked: {problem}", Code.FILE) from None
        raise


def _unreadable(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            file.read(1)
    except OSError:
        return True
    return False


def _by_name(where: str) -> Format | None:
    suffixes = [suffix.lower() for suffix in Path(where).suffixes]
    if suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
    return SUFFIXES.get(suffixes[-1]) if suffixes else None


def _by_bytes(head: bytes) -> Format:
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith((b"ARROW1", b"FEA1", b"\xff\xff\xff\xff")):
        return "arrow"
    if head.lstrip().startswith(b"{"):
        return "jsonl"
    return "csv"


def _decoded(head: bytes, name: str, encoding: str) -> str:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) and encoding == "utf-8":
        raise Refusal(f"{name} must be UTF-8, got UTF-16: --encoding utf-16 reads it")
    try:
        text = head.decode(encoding)
    except LookupError:
        raise Refusal(f"--encoding must name a text encoding, got {encoding!r}") from None
    except UnicodeDecodeError as problem:
        if len(head) == HEAD and problem.start > HEAD - 8:
            text = head[: problem.start].decode(encoding)  # cut in the middle of a letter
        else:
            line = head[: problem.start].count(b"\n") + 1
            raise Refusal(
                f"{name} must be {encoding}, got byte 0x{head[problem.start]:02x} in line {line}: "
                "say --encoding latin-1, or whatever it was written in"
            ) from None
    if "\0" in text:
        raise Refusal(f"{name} must be a table, got bytes that are no text")
    return text.removeprefix("\ufeff")


def _delimiter(text: str) -> str:
    first = text.lstrip("\r\n").partition("\n")[0]
    return max(DELIMITERS, key=first.count)


def _header(text: str, delimiter: str, name: str) -> tuple[str, ...]:
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise Refusal(f"--delimiter must be one character, got {delimiter!r}")
    csv.field_size_limit(HEAD + 1)
    try:
        row = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
        while not row and text:
            text = text.partition("\n")[2]
            row = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
    except csv.Error as problem:
        raise Refusal(f"the header of {name} cannot be read: {problem}") from None
    if not row:
        raise Refusal(f"{name} must hold a table, got blank lines only")
    return tuple(row)


def _schema(source: Source) -> "pa.Schema":
    import pyarrow as pa

    try:
        if source.format == "parquet":
            import pyarrow.parquet as pq

            where = pa.BufferReader(source.data) if source.data is not None else str(source.path)
            return pq.read_schema(where)
        return _read_arrow(source).schema
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as problem:
        if source.path is not None and _unreadable(source.path):
            raise
        raise Refusal(f"{source.name} cannot be read as {source.format}: {problem}") from None


def _read_arrow(source: Source) -> "pa.Table":
    import pyarrow as pa

    def opened() -> Any:
        return (
            pa.BufferReader(source.data) if source.data is not None else pa.OSFile(str(source.path))
        )

    with opened() as file:
        start = file.read(4)
    if start == b"FEA1":
        import pyarrow.feather as feather

        return feather.read_table(opened())
    if start == b"ARRO":
        return pa.ipc.open_file(opened()).read_all()
    return pa.ipc.open_stream(opened()).read_all()


def _read_json(source: Source) -> "pa.Table":
    import pyarrow as pa
    import pyarrow.json as pj

    try:
        with source.stream() as stream:
            return pj.read_json(stream, pj.ReadOptions(block_size=HEAD))
    except pa.ArrowInvalid as problem:
        raise Refusal(
            f"{source.name} must hold one JSON object a line, got: {str(problem).strip()}"
        ) from None


def _read_text(source: Source, names: list[str], raw: list[str]) -> "pa.Table":
    import pyarrow as pa
    import pyarrow.csv as pc

    dialect = source.dialect
    # Texts stay as they are ("NA" in a column that only passes through is not ours to blank);
    # what is missing among categories is decided in columns.py.
    convert = pc.ConvertOptions(
        include_columns=names,
        column_types={name: pa.string() for name in raw},
        strings_can_be_null=False,
        decimal_point=dialect.decimal,
        auto_dict_encode=False,
    )
    # A line break inside quotes must not be taken for the end of a row where blocks are cut.
    parse = pc.ParseOptions(
        delimiter=source.delimiter, newlines_in_values=source.data is not None or _quoted(source)
    )
    encoding = "utf8" if dialect.encoding.lower() in ("utf-8", "utf8") else dialect.encoding
    read = pc.ReadOptions(encoding=encoding, block_size=HEAD)
    try:
        with source.stream() as stream:
            return pc.read_csv(stream, read, parse, convert)
    except UnicodeDecodeError as problem:
        raise Refusal(
            f"{source.name} must be {dialect.encoding}, got bytes that are not: {problem.reason}"
        ) from None


def _quoted(source: Source) -> bool:
    """Whether there is a quotation mark anywhere: far faster to find out than a parse."""
    with source.stream() as stream:
        while block := stream.read(HEAD):
            if b'"' in block:
                return True
    return False


def _said(source: Source, problem: str) -> str:
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


def _ragged(source: Source, width: int) -> tuple[int, int] | None:
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
