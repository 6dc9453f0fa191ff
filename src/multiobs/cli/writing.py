"""Tables and texts to files, all or nothing, or to standard output."""

import csv
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from multiobs._files import beside
from multiobs.cli.problems import Code, Refusal
from multiobs.cli.source import PACKED, STANDARD, SUFFIXES, Format

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


Write = Callable[["pa.Table"], None]


@contextmanager
def table_writer(where: str, format_: Format) -> Iterator[Write]:
    """Give a function that writes Arrow tables of one schema below each other; all or nothing.

    Parameters
    ----------
    where : str
        A path or - for standard output.
    format_ : str
        The format.
    """
    if where == STANDARD:
        with _to_output() as sink, _put(sink, format_) as write:
            yield write
        return
    with beside(where) as temporary, temporary.open("wb") as file, _put(file, format_) as write:
        yield write


@contextmanager
def behind(write: Write) -> Iterator[Write]:
    """Give a function that writes while the next table is being made; never more than one waits.

    Parameters
    ----------
    write : callable
        Of :func:`table_writer`; what goes wrong in it is raised by the next call, or at the end.
    """
    from concurrent.futures import Future, ThreadPoolExecutor

    waiting: list[Future[None]] = []
    with ThreadPoolExecutor(1) as pool:

        def later(table: "pa.Table") -> None:
            while waiting:
                waiting.pop().result()
            waiting.append(pool.submit(write, table))

        yield later
        while waiting:
            waiting.pop().result()


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


@contextmanager
def _put(sink: Any, format_: Format) -> Iterator[Write]:
    """Give a function that writes tables; the first decides the schema."""
    with ExitStack() as stack:
        held: list[Write] = []

        def write(table: "pa.Table") -> None:
            if not held:
                held.append(_writer(sink, format_, table.schema, stack))
            held[0](table)

        yield write


def _writer(sink: Any, format_: Format, schema: "pa.Schema", stack: ExitStack) -> Write:
    import pyarrow as pa

    if format_ in ("csv", "tsv"):
        mark = "\t" if format_ == "tsv" else ","
        head = io.StringIO()  # Arrow would put quotes around every name
        csv.writer(head, delimiter=mark, lineterminator="\n").writerow(schema.names)
        sink.write(head.getvalue().encode())
        return lambda table: sink.write(_csv_bytes(table, mark))
    if format_ == "parquet":
        import pyarrow.parquet as pq

        return stack.enter_context(pq.ParquetWriter(sink, schema)).write_table  # type: ignore[no-any-return]
    if format_ == "arrow":
        return stack.enter_context(pa.ipc.new_file(sink, schema)).write_table  # type: ignore[no-any-return]
    return lambda table: _put_lines(table, sink)


def _csv_bytes(table: "pa.Table", mark: str) -> Any:
    """Rows as text, in quotes only where a cell needs them: Arrow alone would quote every text."""
    import pyarrow as pa
    import pyarrow.csv as pc

    sink = pa.BufferOutputStream()
    try:
        pc.write_csv(table, sink, _csv_options(mark, "none"))
    except pa.ArrowInvalid:  # some cell holds a delimiter, a quotation mark or a line break
        sink = pa.BufferOutputStream()
        pc.write_csv(table, sink, _csv_options(mark, "needed"))
    return sink.getvalue()


def _csv_options(mark: str, quotes: str) -> Any:
    import pyarrow.csv as pc

    return pc.WriteOptions(include_header=False, delimiter=mark, quoting_style=quotes)


def _put_lines(table: "pa.Table", sink: Any) -> None:
    import json

    for batch in table.to_batches(max_chunksize=10_000):
        for row in batch.to_pylist():
            sink.write((json.dumps(row, default=str, allow_nan=False) + "\n").encode())
