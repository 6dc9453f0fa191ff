"""Which format a file has, and which columns."""

import csv
import io
import os
import stat
import sys
from dataclasses import replace
from pathlib import Path

from multiobs.cli.problems import Code, Refusal
from multiobs.cli.source import (
    DELIMITERS,
    HEAD,
    PACKED,
    STANDARD,
    SUFFIXES,
    Dialect,
    Format,
    OpenedTable,
)
from multiobs.cli.tables import names_in, unreadable


def open_source(where: str, dialect: Dialect) -> OpenedTable:
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
    if format_ in ("parquet", "arrow", "jsonl"):
        bare = OpenedTable(name, path, data, format_, "", (), dialect)
        return replace(bare, columns=names_in(bare))
    text = _decoded(head, name, dialect.encoding)
    delimiter = dialect.delimiter or ("\t" if format_ == "tsv" else _delimiter(text))
    columns = _header(text, delimiter, name)
    return OpenedTable(name, path, data, format_, delimiter, columns, dialect)


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
        if path is not None and path.suffix in PACKED and not unreadable(path):
            raise Refusal(f"{name} cannot be unpacked: {problem}", Code.FILE) from None
        raise


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
