"""Rows of several columns on disk with their leaves: written once, read by every pass."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from multiobs._types import IntArray
from multiobs.scale.columns import ReadRows
from multiobs.scale.forest import fold_of
from multiobs.scale.leaf_recipe import LeafRecipe, Moved
from multiobs.scale.runs import Run
from multiobs.scale.scratch import kept
from multiobs.scale.storage import Place, written

CHUNK = 1 << 15  # rows at once: what is made of them stays near the processor


@final
@dataclass(frozen=True)
class CodedRows:
    """Some rows: as read, less their pilot, and the leaf (n, trees) of each."""

    rows: ReadRows
    moved: Moved
    codes: IntArray


@final
@dataclass(frozen=True)
class CodedRun:
    """A run with the labels less their pilot and the leaves of its rows.

    Attributes
    ----------
    run : Run
        The rows.
    path : Place
        Labels, offsets and leaves.
    labels, trees : int
        Columns of y, and of leaves.
    located : bool
        Whether there are offsets.
    """

    run: Run
    path: Place
    labels: int
    trees: int
    located: bool

    def write(self, pieces: Iterator[tuple[int, CodedRows]]) -> None:
        """Write the pieces, each with the number of its first row."""
        n, wide = self.run.rows, self.labels + int(self.located)
        with written(self.path) as temporary, temporary.open("r+b") as file:
            for first, piece in pieces:
                columns = list(piece.moved.labels.T)
                if piece.moved.offset is not None:
                    columns.append(piece.moved.offset)
                for c, values in enumerate(columns):
                    file.seek(8 * (c * n + first))
                    file.write(np.ascontiguousarray(values).data)
                for t, leaves in enumerate(piece.codes.T):
                    file.seek(8 * wide * n + 4 * (t * n + first))
                    file.write(np.ascontiguousarray(leaves, dtype=np.int32).data)

    def chunks(self) -> Iterator[CodedRows]:
        """The rows in their order, some at a time."""
        n, wide = self.run.rows, self.labels + int(self.located)
        for first in range(0, n, CHUNK):
            last = min(first + CHUNK, n)
            floats = np.empty((wide, last - first))
            names = np.empty((self.trees, last - first), dtype=np.int32)
            with self.path.open("rb") as file:
                for c in range(wide):
                    file.seek(8 * (c * n + first))
                    self._filled(file.readinto(floats[c].data), floats[c])
                for t in range(self.trees):
                    file.seek(8 * wide * n + 4 * (t * n + first))
                    self._filled(file.readinto(names[t].data), names[t])
            rows = self.run.layout.unpack(self.run.read(first, last))
            moved = Moved(floats[: self.labels].T, floats[-1] if self.located else None)
            yield CodedRows(rows, moved, names.T.astype(np.int64))

    def _filled(self, number: int, into: "np.typing.NDArray[Any]") -> None:
        if number != into.nbytes:
            raise OSError(f"{self.path} must hold {self.run.rows} rows, but it is cut short")


@final
@dataclass(frozen=True)
class CodeRun:
    """Find the leaves of a run's rows, or those that were found before; count the rows of leaves.

    Attributes
    ----------
    folder : Place
        Where leaves are kept.
    recipe : LeafRecipe
        Forest and pilots.
    """

    folder: Place
    recipe: LeafRecipe

    def coded(self, number: int, run: Run) -> CodedRun:
        """Where the leaves of a run are."""
        found = self.recipe
        path = self.folder / f"leaves-{number:06d}.bin"
        columns = found.statistic.n_columns
        return CodedRun(run, path, columns, found.forest.trees, found.located)

    def __call__(self, task: tuple[int, Run]) -> dict[str, Any]:
        """Number of the run's rows in every leaf of every tree."""
        number, run = task
        path = self.folder / f"leaves-{number:06d}.npz"
        return {**kept(path, lambda: self._make(number, run))}

    def _make(self, number: int, run: Run) -> dict[str, Any]:
        starts = self.recipe.forest.starts
        size = np.zeros(int(starts[-1]), dtype=np.int64)

        def pieces() -> Iterator[tuple[int, CodedRows]]:
            for first in range(0, run.rows, CHUNK):
                block = run.read(first, min(first + CHUNK, run.rows))
                found = self._coded(run.layout.unpack(block))
                for tree in range(found.codes.shape[1]):
                    here = slice(int(starts[tree]), int(starts[tree + 1]))
                    size[here] += np.bincount(
                        found.codes[:, tree], minlength=here.stop - here.start
                    )
                yield first, found

        self.coded(number, run).write(pieces())
        return {"size": size, "rows": run.rows}

    def _coded(self, rows: ReadRows) -> CodedRows:
        assert rows.draw is not None
        X, fold = self.recipe.columns(rows), fold_of(rows.draw)
        codes = self.recipe.forest.codes(X, fold, rows.key)
        return CodedRows(rows, self.recipe.moved(X, rows.y, fold), codes)
