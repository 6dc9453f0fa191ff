"""The first stage of a plan: from a source to sorted runs and a sample."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from multiobs._progress import progress
from multiobs._types import FloatArray
from multiobs.scale.columns import Levels, SourceColumns, is_category, plain
from multiobs.scale.executors import Executor
from multiobs.scale.runs import (
    Layout,
    Missing,
    Run,
    Sorted,
    Sorting,
    merged_sample,
    sort_part,
    totals,
)
from multiobs.scale.scratch import check_space, digest
from multiobs.scale.sources import Source, SourcePart
from multiobs.scale.storage import Place


@final
@dataclass(frozen=True)
class Reading:
    """How a source is read.

    Attributes
    ----------
    columns : Columns
        What is read.
    missing : {"refuse", "drop"}
        What to do with rows in which a number is missing.
    replicated : bool
        Whether several columns of y are labels at the same x.
    most : int
        Rows of a run.
    sample : int
        Rows of the sample, about.
    seed : int
        Of the sample.
    """

    columns: SourceColumns
    missing: Missing
    replicated: bool
    most: int
    sample: int
    seed: int

    def layout(self) -> Layout:
        """How rows lie in a run."""
        labels, places = 1 if self.replicated else len(self.columns.y), len(self.columns.x)
        return Layout(
            bool(self.columns.keys), labels, self.columns.weight is not None,
            max(places, 1), drawn=places > 1,
        )  # fmt: skip

    def name(self, source: Source) -> str:
        """Digest of all that the runs depend on."""
        return digest("runs", source.stamps, repr(self))


@final
@dataclass(frozen=True)
class SortedSource:
    """Sorted runs of all rows, and a sample of them.

    Attributes
    ----------
    runs : tuple of Run
        In the order of the rows.
    rows, dropped : int
        How many rows there are, and how many were left out.
    low, high : ndarray (width,)
        Least and largest value of each column of a run.
    members : dict of int to int
        How many rows each key has.
    sample : ndarray (width, s)
        A uniform sample, in the order of the rows.
    levels : tuple of tuple
        Sorted values of each key column.
    """

    runs: tuple[Run, ...]
    rows: int
    dropped: int
    low: FloatArray
    high: FloatArray
    members: dict[int, int]
    sample: FloatArray
    levels: Levels


def columns_of(
    source: Source, x: Sequence[str], y: Sequence[str], weight: str | None, groups: str | None
) -> SourceColumns:
    """Which columns are read, and which of x are matched categories."""
    for name in (*x, *y, *(each for each in (weight, groups) if each is not None)):
        if name not in source.schema.names:
            raise ValueError(
                f"columns must be in the source, got {name!r} among "
                f"{', '.join(source.schema.names)}"
            )
    matched = tuple(name for name in x if is_category(source.schema.field(name).type))
    numeric = tuple(name for name in x if name not in matched)
    return SourceColumns(numeric, matched, tuple(y), weight, groups)


def sort_source(source: Source, how: Reading, folder: Place, executor: Executor) -> SortedSource:
    """Sort every piece, or find those that have been sorted already.

    Parameters
    ----------
    source : Source
        What is read.
    how : Reading
        And how.
    folder : Path or Remote
        Where the runs go.
    executor : Executor
        Who sorts.
    """
    layout = how.layout()
    repeats = len(how.columns.y) if how.replicated else 1
    guess = source.guess(len(how.columns.names)) * repeats
    check_space(folder, 8 * layout.width * guess)
    levels = _levels(source.parts, how.columns, executor)
    task = Sorting(
        folder=folder,
        columns=how.columns,
        levels=levels,
        layout=layout,
        missing=how.missing,
        replicated=how.replicated,
        most=how.most,
        rate=min(1.0, 1.1 * how.sample / max(guess, 1)),
        sample=how.sample,
        seed=how.seed,
    )
    pairs = zip(source.parts, source.stamps, strict=True)
    tasks = [(task, i, part, stamp) for i, (part, stamp) in enumerate(pairs)]
    found: list[Sorted] = list(
        progress(executor.map(sort_part, tasks), guess, "rows", lambda part: part.rows)
    )
    runs = tuple(run for part in found for run in part.runs)
    rows = sum(part.rows for part in found)
    dropped = sum(part.dropped for part in found)
    if not rows:
        raise ValueError(f"the source must hold rows, got none (and {dropped} left out)")
    keyed = totals([np.stack([part.keys, part.members]) for part in found])
    return SortedSource(
        runs,
        rows,
        dropped,
        np.min([part.low for part in found], axis=0),
        np.max([part.high for part in found], axis=0),
        {int(key): int(size) for key, size in keyed.T},
        merged_sample(found, how.sample),
        levels,
    )


def _levels(parts: Sequence[SourcePart], columns: SourceColumns, executor: Executor) -> Levels:
    """Sorted values of each key column."""
    if not columns.keys:
        return ()
    tasks = [(part, columns.keys) for part in parts]
    seen: list[set[Any]] = [set() for _ in columns.keys]
    for found in executor.map(_values, tasks):
        for known, values in zip(seen, found, strict=True):
            known |= values
    return tuple(tuple(sorted(known, key=lambda v: (str(type(v)), v))) for known in seen)


def _values(task: tuple[SourcePart, tuple[str, ...]]) -> list[set[Any]]:
    part, keys = task
    seen: list[set[Any]] = [set() for _ in keys]
    for batch in part.batches(list(dict.fromkeys(keys))):
        for known, name in zip(seen, keys, strict=True):
            known |= set(plain(batch.column(name)).unique().to_pylist()) - {None}
    return seen
