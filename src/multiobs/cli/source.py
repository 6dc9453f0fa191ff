"""An opened table: where it came from, its format and its columns."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, final

from multiobs.cli.problems import Refusal

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
class OpenedTable:
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
