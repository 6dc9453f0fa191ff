"""Results on disk: appended as they come, never lost, never mixed up, the same bytes at the end.

Finished cells are appended to a journal beside the results file. When all are there the journal's
rows are sorted into the results file, which appears under its name only when it is complete. Every
row carries a checksum of itself, so a damaged or foreign file is recognised and left alone.
"""

import csv
import io
import math
import os
import sys
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self, final

if sys.platform != "win32":  # there, two runs in one directory are not noticed
    import fcntl

from multiobs._files import beside

__all__ = ["Cell", "Outcome", "ResultsError", "ResultsStore", "read_results"]

COLUMNS = ("scenario", "method", "n", "trial", "mse", "status", "seed", "check")
HEADER = ",".join(COLUMNS)


class Cell(NamedTuple):
    """One trial of one method on one law with n labels."""

    scenario: str
    method: str
    n: int
    trial: int


class Outcome(NamedTuple):
    """What came out: the mean squared error, and ``"ok"`` or ``"warned"``."""

    mse: float
    status: str


@final
class ResultsError(OSError):
    """A results file that cannot be used or written; the message says why and what to do."""


@final
class ResultsStore:
    """Finished cells of a directory's ``results.csv`` and of its journal, open for appending.

    Parameters
    ----------
    path : Path
        The results file; the journal is ``.journal`` beside it.
    seed : int
        The seed all its cells must share.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "results.csv"
    ...     with ResultsStore(path, seed=0) as store:
    ...         store.append([(Cell("variance-sine", "sliding", 50, 0), Outcome(0.25, "ok"))])
    ...         store.finish()
    ...     print(path.read_text().splitlines()[1].rpartition(",")[0])
    variance-sine,sliding,50,0,0.25,ok,0
    """

    def __init__(self, path: Path, seed: int) -> None:
        self.path = path
        self.journal = path.with_name(path.name + ".journal")
        self.seed = seed
        self.cells: dict[Cell, Outcome] = {}
        self._descriptor = -1

    def __enter__(self) -> Self:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.exists():
            self.cells.update(_load(self.path, self.seed)[0])
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
        self._descriptor = os.open(self.journal, flags, 0o666)
        try:
            self._lock()
            kept, size = _load(self.journal, self.seed, torn_tail=True)
            self.cells.update(kept)
            os.ftruncate(self._descriptor, size)  # half a row from an interrupted write
            os.lseek(self._descriptor, size, os.SEEK_SET)
            if size == 0:
                self._write(HEADER + "\n")
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()

    def append(self, rows: Iterable[tuple[Cell, Outcome]]) -> None:
        """Add finished cells; after return they survive whatever happens to this process."""
        rows = list(rows)
        self._write("".join(_line(cell, outcome, self.seed) for cell, outcome in rows))
        self.cells.update(rows)

    def finish(self) -> None:
        """Write all cells, sorted, as the results file, and drop the journal."""
        lines = [_line(cell, self.cells[cell], self.seed) for cell in sorted(self.cells)]
        try:
            with (
                beside(self.path) as fresh,
                open(fresh, "w", encoding="utf-8", newline="") as file,
            ):
                file.write(HEADER + "\n")
                file.writelines(lines)
        except OSError as error:
            raise self._unwritable(self.path, error) from error
        self._close()
        self.journal.unlink()

    def _write(self, text: str) -> None:
        data = text.encode()
        start = os.lseek(self._descriptor, 0, os.SEEK_CUR)
        written = 0
        try:
            while written < len(data):
                written += os.write(self._descriptor, data[written:])
        except OSError as error:
            os.ftruncate(self._descriptor, start)
            os.lseek(self._descriptor, start, os.SEEK_SET)
            raise self._unwritable(self.journal, error) from error

    def _unwritable(self, path: Path, error: OSError) -> ResultsError:
        return ResultsError(
            f"{path} could not be written ({error.strerror}); the {len(self.cells)} finished cells "
            f"are kept, and the same command goes on from there once there is room"
        )

    def _lock(self) -> None:
        if sys.platform == "win32":
            return
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ResultsError(
                f"{self.journal} must belong to one run at a time, and another holds it now"
            ) from error

    def _close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def read_results(path: Path) -> Mapping[Cell, Outcome]:
    """Read a finished results file of any seed.

    Raises
    ------
    ResultsError
        When the file is damaged or is no results file.
    """
    return _load(path, None)[0]


def _line(cell: Cell, outcome: Outcome, seed: int) -> str:
    text = io.StringIO()
    # repr of a float is the shortest text that reads back as the same float
    csv.writer(text, lineterminator="").writerow([*cell, repr(outcome.mse), outcome.status, seed])
    body = text.getvalue()
    return f"{body},{zlib.crc32(body.encode()):08x}\n"


def _load(path: Path, seed: int | None, torn_tail: bool = False) -> tuple[dict[Cell, Outcome], int]:
    """Cells of a file and how many of its bytes are whole rows."""
    data = path.read_bytes()
    head = (HEADER + "\n").encode()
    if torn_tail and head.startswith(data):
        return {}, len(data) if data == head else 0
    if not data.startswith(head):
        first = data[:80].split(b"\n")[0].decode(errors="replace")
        raise ResultsError(
            f"{path} must be a results file with the header {HEADER!r}, it begins with {first!r}; "
            "move it away or choose another directory"
        )
    whole = data.rfind(b"\n") + 1
    if whole < len(data) and not torn_tail:
        raise _damaged(path, data.count(b"\n") + 1)
    cells: dict[Cell, Outcome] = {}
    for number, raw in enumerate(data[len(head) : whole].split(b"\n")[:-1], start=2):
        body, _, check = raw.rpartition(b",")
        if check != b"%08x" % zlib.crc32(body):
            raise _damaged(path, number)
        fields = next(csv.reader([body.decode()]))
        if len(fields) != len(COLUMNS) - 1:
            raise _damaged(path, number)
        scenario, method, n, trial, mse, status, own_seed = fields
        if seed is not None and own_seed != str(seed):
            raise ResultsError(
                f"{path} must hold results of seed {seed}, line {number} has seed {own_seed}; "
                "choose another directory"
            )
        value = float(mse)
        if math.isnan(value):
            raise _damaged(path, number)
        cells[Cell(scenario, method, int(n), int(trial))] = Outcome(value, status)
    return cells, whole


def _damaged(path: Path, line: int) -> ResultsError:
    return ResultsError(
        f"{path} must carry a checksum of each row, line {line} does not match its own; the file "
        "is damaged and was left as it is: move it away or choose another directory"
    )
