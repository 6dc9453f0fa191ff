"""Sorted runs: each piece of the source on disk in the order of (key, x), ready to be bisected."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal, final

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.scale.columns import Levels, ReadRows, SourceColumns, gathered, replicated, rows_of
from multiobs.scale.scratch import Arrays, kept
from multiobs.scale.sources import SourcePart
from multiobs.scale.storage import Place, remove, size_of, written
from multiobs.tuples import order_by

Missing = Literal["refuse", "drop"]
PAGE = 512  # numbers read at once where a place is sought
OWN = 0x73616D70  # a word of the seed that users do not give
KNOWN = ("low", "high", "keys", "members", "sample", "priority")  # arrays of a sorted piece


@final
@dataclass(frozen=True)
class Layout:
    """How rows lie in a run: one block of float64 a column, in the order of :class:`Rows`.

    Attributes
    ----------
    keyed, weighted : bool
        Whether there are keys and weights.
    labels, places : int
        Columns of y and of x.  Rows of one column of x are sorted by it.
    drawn : bool
        Whether every row has a uniform number of its own.
    """

    keyed: bool
    labels: int
    weighted: bool
    places: int = 1
    drawn: bool = False

    @property
    def width(self) -> int:
        """How many columns."""
        return int(self.keyed) + self.places + self.labels + int(self.weighted) + int(self.drawn)

    @property
    def _weight(self) -> int:
        return int(self.keyed) + self.places + self.labels

    def pack(self, rows: ReadRows) -> FloatArray:
        """Columns (width, n) of rows."""
        out = np.empty((self.width, rows.size))
        at = int(self.keyed)
        if rows.key is not None:
            out[0] = rows.key
        out[at : at + self.places] = rows.x.T
        out[at + self.places : self._weight] = rows.y.T
        if rows.weight is not None:
            out[self._weight] = rows.weight
        if rows.draw is not None:
            out[-1] = rows.draw
        return out

    def unpack(self, block: FloatArray) -> ReadRows:
        """Rows of columns (width, n)."""
        at = int(self.keyed)
        return ReadRows(
            block[0].astype(np.int64) if self.keyed else None,
            block[at : at + self.places].T,
            block[at + self.places : self._weight].T,
            block[self._weight] if self.weighted else None,
            block[-1] if self.drawn else None,
        )


@final
@dataclass(frozen=True)
class Run:
    """A sorted run on disk."""

    path: Place
    rows: int
    layout: Layout

    def whole(self) -> bool:
        """Whether all of it is there."""
        return size_of(self.path) == 8 * self.layout.width * self.rows

    def column(self, which: int) -> "Column":
        """One sorted column, to be bisected."""
        return Column(self.path, 8 * which * self.rows, self.rows)

    def read(self, first: int, last: int) -> FloatArray:
        """Columns (width, last - first) of some rows."""
        out = np.empty((self.layout.width, last - first))
        with self.path.open("rb") as file:
            for c in range(self.layout.width):
                file.seek(8 * (c * self.rows + first))
                if file.readinto(out[c].data) != out[c].nbytes:
                    raise OSError(f"{self.path} must hold {self.rows} rows, but it is cut short")
        return out


@final
@dataclass(frozen=True)
class Column:
    """A sorted column of a run, of which only the pages that are looked at are read, once each.

    A file mapped into memory would count as memory in use, all of it, wherever it is looked at.
    """

    path: Place
    offset: int
    rows: int
    _pages: dict[int, FloatArray] = field(default_factory=dict, repr=False, compare=False)

    def search(self, value: float, low: int, high: int, side: Literal["left", "right"]) -> int:
        """Position among rows ``low .. high - 1`` at which a value would be put."""
        while high - low > PAGE:
            middle = (low + high) // 2
            found = self.at(middle)
            if found < value or (side == "right" and found == value):
                low = middle + 1
            else:
                high = middle
        return low + int(np.searchsorted(self.read(low, high), value, side))

    def at(self, i: int) -> float:
        """Value of a row."""
        return float(self._page(i // PAGE)[i % PAGE])

    def read(self, first: int, last: int) -> FloatArray:
        """Values of some rows."""
        if last <= first:
            return np.empty(0)
        pages = range(first // PAGE, (last - 1) // PAGE + 1)
        found = [self._page(number) for number in pages]
        whole = found[0] if len(found) == 1 else np.concatenate(found)
        start = pages[0] * PAGE
        return whole[first - start : last - start]

    def _page(self, number: int) -> FloatArray:
        page = self._pages.get(number)
        if page is None:
            first = number * PAGE
            page = np.empty(min(PAGE, self.rows - first))
            with self.path.open("rb", buffering=0) as file:
                file.seek(self.offset + 8 * first)
                if file.readinto(page.data) != page.nbytes:
                    raise OSError(f"{self.path} must hold {self.rows} rows, but it is cut short")
            self._pages[number] = page
        return page


@final
@dataclass(frozen=True)
class Sorting:
    """Everything that sorting one piece needs to know.

    Attributes
    ----------
    folder : Place
        Where runs go.
    columns, levels, layout
        What is read, the values of the key columns, and how rows lie in a run.
    missing : {"refuse", "drop"}
        What to do with rows in which a number is missing.
    replicated : bool
        Whether several columns of y are labels at the same x.
    most : int
        Rows of a run.
    rate : float
        Share of the rows that enter the sample.
    sample : int
        The most rows of a piece that do.
    seed : int
        Of the sample.
    """

    folder: Place
    columns: SourceColumns
    levels: Levels
    layout: Layout
    missing: Missing
    replicated: bool
    most: int
    rate: float
    sample: int
    seed: int


@final
@dataclass(frozen=True)
class Sorted:
    """What is known of a sorted piece.

    Attributes
    ----------
    runs : tuple of Run
        In the order of the rows.
    dropped : int
        Rows with a missing number that were left out, or that had weight zero.
    low, high : ndarray (width,)
        Least and largest value of each column.
    keys, members : ndarray of int
        Codes of the keys, and how many rows each has.
    sample : ndarray (width, s)
        A uniform sample of the rows, in their own order.
    priority : ndarray (s,)
        Uniform numbers, by which a smaller sample can be taken.
    """

    runs: tuple[Run, ...]
    dropped: int
    low: FloatArray
    high: FloatArray
    keys: IntArray
    members: IntArray
    sample: FloatArray
    priority: FloatArray

    @property
    def rows(self) -> int:
        """How many rows were kept."""
        return sum(run.rows for run in self.runs)


def sort_part(task: tuple[Sorting, int, SourcePart, str]) -> Sorted:
    """Sort one piece, or find that it has been sorted already."""
    how, number, part, stamp = task
    path = how.folder / f"part-{number:06d}.npz"
    found = _known(how, kept(path, lambda: _sort(how, number, part, stamp)))
    if not all(run.whole() for run in found.runs):  # a power cut: runs are not synced
        remove(path)
        found = _known(how, kept(path, lambda: _sort(how, number, part, stamp)))
    return found


def _known(how: Sorting, found: Arrays) -> Sorted:
    meta = json.loads(str(found["meta"]))
    runs = tuple(
        Run(how.folder / name, rows, how.layout)
        for name, rows in zip(meta["names"], meta["rows"], strict=True)
    )
    known = {name: found[name] for name in KNOWN}
    return Sorted(runs, meta["dropped"], **known)


def _sort(how: Sorting, number: int, part: SourcePart, stamp: str) -> dict[str, Any]:
    _unchanged(part, stamp)
    # numpy pads seeds with zeros: without a word of its own this would repeat default_rng(0), and
    # with rows that were drawn by it the sample would be the rows of smallest x
    rng = np.random.default_rng([how.seed, number, OWN])
    width = how.layout.width
    low, high = np.full(width, np.inf), np.full(width, -np.inf)
    samples, priorities = [np.empty((width, 0))], [np.empty(0)]
    names: list[str] = []
    sizes: list[int] = []
    keys: list[IntArray] = []
    lost = 0
    for rows in gathered(_numbers(how, part), how.most):
        good = _present(how, rows, part)
        lost += rows.size - int(np.count_nonzero(good))
        rows = rows if np.all(good) else rows.take(good)
        if rows.size == 0:
            continue
        u = rng.random(rows.size)
        if how.layout.drawn:
            rows = replace(rows, draw=u)
        chosen = np.flatnonzero(u < how.rate)
        taken = smallest(
            np.concatenate([*samples, how.layout.pack(rows.take(chosen))], axis=1),
            np.concatenate([*priorities, u[chosen]]),
            how.sample,
        )
        samples, priorities = [taken[0]], [taken[1]]
        if how.layout.places == 1:
            rows = rows.take(order_by(rows.x[:, 0], rows.key))
        block = how.layout.pack(rows)
        np.minimum(low, block.min(axis=1), out=low)
        np.maximum(high, block.max(axis=1), out=high)
        name = f"run-{number:06d}-{len(names):04d}.f64"
        with written(how.folder / name) as temporary, temporary.open("wb") as file:
            file.write(block.data)  # a full disk is an error with a number, unlike with tofile
        names.append(name)
        if rows.key is not None:
            keys.append(np.stack(np.unique(rows.key, return_counts=True)))
        sizes.append(rows.size)
    _unchanged(part, stamp)
    members = totals(keys)
    meta = {"names": names, "rows": sizes, "dropped": lost}
    return {
        "meta": json.dumps(meta),
        "low": low,
        "high": high,
        "keys": members[0],
        "members": members[1],
        "sample": np.concatenate(samples, axis=1),
        "priority": np.concatenate(priorities),
    }


def totals(keys: list[IntArray]) -> IntArray:
    """Add up the rows (2, k) of keys and their members of several runs."""
    if not keys:
        return np.empty((2, 0), dtype=np.int64)
    codes, members = np.concatenate(keys, axis=1)
    distinct, place = np.unique(codes, return_inverse=True)
    counts = np.bincount(place.reshape(-1), weights=members).astype(np.int64)
    return np.stack([distinct, counts])


def _numbers(how: Sorting, part: SourcePart) -> Iterator[ReadRows]:
    for batch in part.batches(how.columns.names):
        rows = rows_of(batch, how.columns, how.levels)
        yield replicated(rows) if how.replicated else rows


def _present(how: Sorting, rows: ReadRows, part: SourcePart) -> "np.typing.NDArray[np.bool_]":
    """Rows that count: nothing missing, positive weight."""
    good = rows.whole()
    bad = rows.size - int(np.count_nonzero(good))
    if bad and how.missing == "refuse":
        raise ValueError(
            f"rows must hold finite numbers, got {bad} with a missing or infinite one among "
            f"{rows.size} of {part.name}: clean them, or leave them out with missing='drop'"
        )
    if rows.weight is not None:
        if np.any(rows.weight[good] < 0):
            raise ValueError(f"weights must be nonnegative, got a negative one in {part.name}")
        good &= rows.weight > 0
    return good


def _unchanged(part: SourcePart, stamp: str) -> None:
    if part.stamp() != stamp:
        raise RuntimeError(
            f"the source must not change while it is read, but {part.name} did: start again"
        )


def smallest(sample: FloatArray, priority: FloatArray, size: int) -> tuple[FloatArray, FloatArray]:
    """At most ``size`` rows of a sample (width, s): those of least priority, in their order."""
    if priority.size <= size:
        return sample, priority
    chosen: IntArray = np.sort(np.argpartition(priority, size)[:size])
    return np.asarray(sample[:, chosen]), priority[chosen]


def merged_sample(parts: Iterable[Sorted], size: int) -> FloatArray:
    """A uniform sample (width, s) of all rows, at most ``size`` of them, in the rows' order."""
    held: tuple[FloatArray, FloatArray] | None = None
    for each in parts:  # never more than two samples at once
        if held is None:
            held = smallest(each.sample, each.priority, size)
            continue
        both = np.concatenate([held[0], each.sample], axis=1)
        held = smallest(both, np.concatenate([held[1], each.priority]), size)
    assert held is not None
    return held[0]
