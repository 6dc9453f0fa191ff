"""Tables and pictures for people: laid out here, computed elsewhere."""

import csv
import io
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from rich.table import Table as RichTable


def aligned(lines: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> list[str]:
    """Lay lines of c cells out in columns, those of ``left`` to the left, the others to the right.

    >>> aligned([("hour", "sd"), ("06:00", "28.5")])
    ['hour     sd', '06:00  28.5']
    """
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if c in left else cell.rjust(width)
            for c, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


@final
@dataclass(frozen=True)
class Table:
    """A titled table of texts, words to the left and numbers to the right.

    Parameters
    ----------
    title : str
        Printed above.
    head : sequence of str, length c
        Column names.
    rows : sequence of sequences of str, each of length c
        Cells, already formatted.
    left : collection of int
        Columns of words.

    Examples
    --------
    >>> print(Table("Delays", ("hour", "sd"), (("06:00", "28"), ("18:00", "54"))).plain())
    Delays
    hour   sd
    06:00  28
    18:00  54
    """

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: Collection[int] = (0,)

    def plain(self) -> str:
        """Lay it out with spaces."""
        return "\n".join([self.title, *aligned([self.head, *self.rows], self.left)])

    def csv(self) -> str:
        """Write it as comma-separated values, without the title."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([self.head, *self.rows])
        return text.getvalue()

    def rich(self) -> "RichTable":
        """Lay it out for a terminal; needs rich."""
        from rich.table import Table as RichTable

        table = RichTable(title=self.title, title_justify="left")
        for c, name in enumerate(self.head):
            table.add_column(name, justify="left" if c in self.left else "right")
        for row in self.rows:
            table.add_row(*row)
        return table


def print_table(table: Table) -> None:
    """Print a table on standard output, by rich where it is installed."""
    if find_spec("rich") is None:
        print(table.plain())
        return
    from rich.console import Console

    Console().print(table.rich())
