"""How much memory the rows of a table need, and whether this machine has it."""

import os

from multiobs.cli.problems import Refusal
from multiobs.cli.source import OpenedTable

COPIES = 20  # numbers that a fit in memory holds for each number of a row
SCORED = 60  # numbers that scores and their tests hold for each number of a row


def rows_in(source: OpenedTable) -> int:
    """How many rows a file has, about."""
    assert source.path is not None
    if source.format == "parquet":
        import pyarrow.parquet as pq

        return int(pq.read_metadata(source.path).num_rows)
    size = source.path.stat().st_size
    if source.format == "arrow":
        return size // (8 * len(source.columns))
    with source.path.open("rb") as file:
        head = file.read(1 << 16)
    return size * (head.count(b"\n") + 1) // len(head)


def memory_of_machine() -> int | None:
    """Bytes of memory, where the system tells."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def check_room(source: OpenedTable, columns: int, copies: int) -> None:
    """Refuse a table whose rows, all held at once, need more memory than the machine has.

    Parameters
    ----------
    source : Source
        The table.
    columns : int
        How many of its columns are read.
    copies : int
        Numbers that are held for each number of a row.
    """
    if source.path is None:
        return
    rows, there = rows_in(source), memory_of_machine()
    needed = 8 * copies * columns * rows
    if there is not None and needed > there:
        raise Refusal(
            f"{source.name} must fit in memory for this command, got about {rows:,} rows that need "
            f"{needed / 1e9:.3g} GB of {there / 1e9:.3g} GB: give it a sample of the rows (fit "
            "--class line and predict work part by part)"
        )
