"""Tables and texts to files, all or nothing, or to standard output."""

import csv
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from multiobs._files import beside
from multiobs.cli.formats import PACKED, STANDARD, SUFFIXES, Format
from multiobs.cli.problems import Code, Refusal

if TYPE_CHECKING:
    import pyarrow as pa


def format_of(where: str, like: Format) -> Format:
    """Return the format to write, by the name of the file or like the input.

    >>> format_of("a.parquet", "csv"), format_of("-", "tsv")
    ('parquet', 'tsv')
    """
    if where == STANDARD:
        return like
    suffixes = [suffix.lower() for suffix in Path(where).suffixes]
    if suffixes and suffixes[-1] in PACKED:
        raise Refusal(f"OUT must not be packed, got {where}: pack it afterwards")
    known = SUFFIXES.get(suffixes[-1]) if suffixes else None
    if known is None:
        raise Refusal(
            f"OUT must end in one of {', '.join(SUFFIXES)} or be -, got {where}", Code.USAGE
        )
    return known


def check_place(where: str) -> None:
    """Say that a file cannot be written before the work is done, not after.

    Parameters
    ----------
    where : str
        A path or -.
    """
    if where == STANDARD:
        return
    path = Path(where)
    if path.is_dir():
        raise Refusal(f"OUT must be a file, got the directory {where}", Code.FILE)
    folder = path.parent
    while not folder.exists():
        folder = folder.parent
    if not folder.is_dir():
        raise Refusal(f"{folder} must be a directory, got a file", Code.FILE)
    if not os.access(folder, os.W_OK):
        raise Refusal(f"{folder} must be writable for {path.name}", Code.FILE)


def write_table(table: "pa.Table", where: str, format_: Format) -> None:
    """Write an Arrow table.

    Parameters
    ----------
    table : Table
        What to write.
    where : str
        A path or - for standard output.
    format_ : str
        The format.
    """
    if where == STANDARD:
        with _to_output() as sink:
            _put(table, sink, format_)
        return
    with beside(where) as temporary, temporary.open("wb") as file:
        _put(table, file, format_)


def write_bytes(data: bytes, where: str) -> None:
    """Write bytes to a file or to standard output."""
    if where == STANDARD:
        with _to_output() as sink:
            sink.write(data)
        return
    with beside(where) as temporary:
        temporary.write_bytes(data)


@contextmanager
def _to_output() -> Iterator[BinaryIO]:
    """Give standard output; end quietly when its reader has gone away, as ``head`` does."""
    try:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        sys.exit(Code.PIPE.value)


def _put(table: "pa.Table", sink: Any, format_: Format) -> None:
    import pyarrow as pa

    if format_ in ("csv", "tsv"):
        import pyarrow.csv as pc

        mark = "\t" if format_ == "tsv" else ","
        head = io.StringIO()  # Arrow would put quotes around every name
        csv.writer(head, delimiter=mark, lineterminator="\n").writerow(table.column_names)
        sink.write(head.getvalue().encode())
        how = pc.WriteOptions(include_header=False, delimiter=mark, quoting_style="needed")
        pc.write_csv(table, sink, how)
    elif format_ == "parquet":
        import pyarrow.parquet as pq

        pq.write_table(table, sink)
    elif format_ == "arrow":
        with pa.ipc.new_file(sink, table.schema) as file:
            file.write_table(table)
    else:
        import json

        for batch in table.to_batches(max_chunksize=10_000):
            for row in batch.to_pylist():
                sink.write((json.dumps(row, default=str, allow_nan=False) + "\n").encode())
