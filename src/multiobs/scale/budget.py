"""How many rows are handled at once for a given memory."""

import re

from multiobs import _check
from multiobs.statistics import Statistic

UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
         "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}  # fmt: skip
AT_ONCE = 4  # parts in memory at the same time, whoever runs them
COPIES = 10  # numbers held for each number of a row while a part is worked on
LEAST = 10_000  # rows of a part
TENSOR = 10_000_000  # numbers of a sum that parts hand on


def bytes_of(memory: str | float) -> int:
    """Bytes of a size such as "1GB".

    >>> bytes_of("1.5 GB"), bytes_of(1000)
    (1500000000, 1000)
    """
    if not isinstance(memory, str):
        return int(_check.positive("memory", memory))
    found = re.fullmatch(r"\s*([0-9.]+)\s*([KMGT]?I?B?)\s*", memory.upper())
    if found is None or found[2] not in UNITS:
        raise ValueError(f"memory must be a number of bytes such as '1GB', got {memory!r}")
    return int(_check.positive("memory", float(found[1]) * UNITS[found[2]]))


def rows_at_once(memory: int, width: int) -> int:
    """Rows of a part with ``width`` numbers a row, so that a few parts fit in memory.

    >>> rows_at_once(10**9, 2)
    1562500
    """
    return max(memory // (AT_ONCE * COPIES * 8 * width), LEAST)


def leaves_at_once(memory: int, columns: int) -> int:
    """Leaves of a forest whose sums, of all columns of x and their products with a form, fit.

    >>> leaves_at_once(10**9, 10)
    651041
    """
    return max(memory // (AT_ONCE * 8 * 4 * (columns + 2)), 1000)


def refuse_tensors(statistic: Statistic, columns: int) -> None:
    """Refuse more columns than a sum of the statistic's risk, of all their products, can have.

    >>> from multiobs import statistics
    >>> refuse_tensors(statistics.variance(), 200), refuse_tensors(statistics.ucb(1.0), 40)
    (None, None)
    """
    degree = statistic.loss.degree or 0
    if columns**degree > TENSOR:
        most = int(TENSOR ** (1 / degree))
        raise ValueError(
            f"{statistic.name} must have at most {most} columns by parts, whose risks are sums of "
            f"all products of {degree} of them, got {columns}: fit in memory, by "
            "MultiObservationRegressor"
        )
