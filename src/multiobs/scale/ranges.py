"""Ranges of (key, x), and the rows of a range with those around it that its tuples may contain."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.samplers import Reach
from multiobs.scale.columns import ReadRows
from multiobs.scale.runs import Run
from multiobs.tuples import order_by

Cut = tuple[float, float]  # key and x of the first row that is not below it
END: Cut = (np.inf, np.inf)


@final
@dataclass(frozen=True)
class Range:
    """Rows with ``first <= (key, x) < last``; rows with the same key and x are never parted."""

    number: int
    first: Cut
    last: Cut


def cut(keys: FloatArray, x: FloatArray, count: int) -> tuple[Range, ...]:
    """Ranges of about equally many rows, by the quantiles of a sample.

    >>> [r.last for r in cut(np.zeros(4), np.array([1.0, 2.0, 3.0, 4.0]), 2)]
    [(0.0, 3.0), (inf, inf)]
    """
    order = np.lexsort((x, keys))
    places = (np.arange(1, count) * x.size) // count
    found = [(float(keys[order[i]]), float(x[order[i]])) for i in places] if x.size else []
    edges: list[Cut] = [(-np.inf, -np.inf), *found, END]
    return tuple(Range(i, edges[i], edges[i + 1]) for i in range(len(edges) - 1))


@final
@dataclass(frozen=True)
class Stretch:
    """Sorted rows, of which ``first .. last - 1`` are the range's own.

    Attributes
    ----------
    rows : Rows
        In the order of key, x and row number.
    first, last : int
        Where the range begins and ends.
    rank : int
        How many rows of the first row's key come before the range.
    """

    rows: ReadRows
    first: int
    last: int
    rank: int

    @property
    def own(self) -> slice:
        """The range's own rows."""
        return slice(self.first, self.last)


def load(runs: Sequence[Run], which: Range, reach: Reach, before: int, after: int) -> Stretch:
    """Rows of a range, and of as many reaches before and after it.

    Parameters
    ----------
    runs : sequence of Run
        In the order of the rows.
    which : Range
        The range.
    reach : Reach
        How far tuples reach.
    before, after : int
        How many times that far.
    """
    marks = [_Bisected(run) for run in runs]
    low = np.array([each.place(which.first) for each in marks], dtype=np.int64)
    high = np.array([each.place(which.last) for each in marks], dtype=np.int64)
    own = int((high - low).sum())
    begin, end, rank = low, high, 0
    if own:
        key, x = min(each.at(i) for each, i, j in zip(marks, low, high, strict=True) if i < j)
        starts = np.array([each.place((key, -np.inf)) for each in marks], dtype=np.int64)
        rank = int((low - starts).sum())
        for _ in range(before):
            begin, x = _earlier(marks, starts, begin, (key, x), reach)
        key, x = max(each.at(j - 1) for each, i, j in zip(marks, low, high, strict=True) if i < j)
        ends = np.array([each.place((key, np.inf)) for each in marks], dtype=np.int64)
        for _ in range(after):
            end, x = _later(marks, np.maximum(ends, high), end, (key, x), reach)
    blocks = [run.read(int(i), int(j)) for run, i, j in zip(runs, begin, end, strict=True)]
    whole = np.concatenate(blocks, axis=1) if blocks else np.empty((0, 0))
    del blocks
    rows = runs[0].layout.unpack(whole)
    order = order_by(rows.x[:, 0], rows.key)
    if reach.drawn:
        order = _drawn_order(rows, order, begin, end)
    rows = rows.take(order)
    first = int((low - begin).sum())
    return Stretch(rows, first, first + own, rank)


def _drawn_order(rows: ReadRows, order: IntArray, begin: IntArray, end: IntArray) -> IntArray:
    """Rows of equal key and x in an order that is drawn, the same whichever range reads them."""
    x = rows.x[order, 0]
    same = x[1:] == x[:-1]
    if rows.key is not None:
        same &= rows.key[order][1:] == rows.key[order][:-1]
    if not np.any(same):
        return order
    places = zip(begin, end, strict=True)
    names = [(np.uint64(r) << np.uint64(40)) + np.arange(i, j, dtype=np.uint64)
             for r, (i, j) in enumerate(places)]  # fmt: skip
    tie = np.concatenate([[0], np.cumsum(~same)])
    return np.asarray(order[np.lexsort((_scrambled(np.concatenate(names))[order], tie))])


def _scrambled(names: "np.typing.NDArray[np.uint64]") -> "np.typing.NDArray[np.uint64]":
    """Another number for each number, as good as random (splitmix64)."""
    with np.errstate(over="ignore"):
        z = names + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))


@final
class _Bisected:
    """A run whose sorted columns can be bisected without being read."""

    def __init__(self, run: Run) -> None:
        self.keys = run.column(0) if run.layout.keyed else None
        self.x = run.column(int(run.layout.keyed))

    def place(self, at: Cut) -> int:
        """Position of the first row that is not below a cut; x of +inf is past all of a key."""
        key, x = at
        low, high = 0, self.x.rows
        if self.keys is not None:
            low = self.keys.search(key, low, high, "left")
            high = self.keys.search(key, low, high, "right")
        elif key != 0.0 and np.isinf(key):
            return 0 if key < 0 else high
        if np.isinf(x):
            return low if x < 0 else high
        return self.x.search(x, low, high, "left")

    def past(self, at: Cut) -> int:
        """Position of the first row above a cut."""
        return self.place((at[0], float(np.nextafter(at[1], np.inf))))

    def at(self, i: int) -> Cut:
        """Key and x of a row."""
        return 0.0 if self.keys is None else self.keys.at(i), self.x.at(i)


def _later(
    marks: Sequence[_Bisected], ends: IntArray, here: IntArray, last: Cut, reach: Reach
) -> tuple[IntArray, float]:
    """Where one reach beyond the last row ends in each run, and the x of the row it ends with."""
    key, x = last
    limit = x
    if reach.width > 0:
        limit = x + reach.width
        limit += 4 * float(np.spacing(max(abs(limit), abs(x))))  # x_j - x_i <= width rounds
    near = [m.x.read(i, min(i + reach.rows, j)) for m, i, j in zip(marks, here, ends, strict=True)]
    if reach.rows:
        following = np.concatenate(near)
        if following.size < reach.rows:
            limit = np.inf
        else:
            reached = np.partition(following, reach.rows - 1)[reach.rows - 1]
            limit = max(limit, float(reached))
    if not np.isfinite(limit):
        return ends, float(np.inf)
    places = [
        int(i + np.searchsorted(some, limit, "right"))  # most end among the rows just read
        if some.size and some[-1] > limit
        else max(m.past((key, limit)), int(i))
        for m, i, some in zip(marks, here, near, strict=True)
    ]
    found = np.minimum(np.array(places, dtype=np.int64), ends)
    added = [m.x.at(j - 1) for m, i, j in zip(marks, here, found, strict=True) if i < j]
    return found, max(added, default=x)


def _earlier(
    marks: Sequence[_Bisected], starts: IntArray, here: IntArray, first: Cut, reach: Reach
) -> tuple[IntArray, float]:
    """Where one reach before the first row begins in each run, and the x of its first row."""
    key, x = first
    limit = x
    if reach.width > 0:
        limit = x - reach.width
        limit -= 4 * float(np.spacing(max(abs(limit), abs(x))))
    near = [
        m.x.read(max(i - reach.rows, j), i) for m, i, j in zip(marks, here, starts, strict=True)
    ]
    if reach.rows:
        preceding = np.concatenate(near)
        if preceding.size < reach.rows:
            limit = -np.inf
        else:
            place = preceding.size - reach.rows
            limit = min(limit, float(np.partition(preceding, place)[place]))
    if not np.isfinite(limit):
        return starts, -np.inf
    places = [
        int(i - some.size + np.searchsorted(some, limit))
        if some.size and some[0] < limit
        else min(m.place((key, limit)), int(i))
        for m, i, some in zip(marks, here, near, strict=True)
    ]
    found = np.maximum(np.array(places, dtype=np.int64), starts)
    added = [m.x.at(j) for m, i, j in zip(marks, here, found, strict=True) if j < i]
    return found, min(added, default=x)
