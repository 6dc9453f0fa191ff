"""A plan at work: sorted runs, ranges, who works and where finished parts are kept."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, final

from multiobs._progress import progress
from multiobs.samplers import Reach
from multiobs.scale.executors import Executor
from multiobs.scale.ranges import Range, Stretch, load
from multiobs.scale.runs import Run
from multiobs.scale.scratch import Arrays, kept
from multiobs.scale.storage import Place


@final
@dataclass(frozen=True)
class Work:
    """Everything a pass over the ranges needs besides what it computes.

    Attributes
    ----------
    folder : Place
        Where finished ranges are kept.
    runs : tuple of Run
        Sorted rows.
    ranges : tuple of Range
        Into which they are cut.
    rows : int
        How many there are.
    """

    folder: Place
    runs: tuple[Run, ...]
    ranges: tuple[Range, ...]
    rows: int

    def over(self, computed: "Pass", executor: Executor) -> list[Arrays]:
        """Arrays of each range, in their order."""
        return list(self.each(computed, executor))

    def each(self, computed: "Pass", executor: Executor) -> Iterator[Arrays]:
        """Arrays of one range after the other."""
        task = _Task(self.folder / computed.name, self.runs, computed)
        done = executor.map(task, self.ranges)
        return progress(done, self.rows, "rows", lambda part: float(part["rows"]))


class Reaching(Protocol):
    """Anything that knows how far its tuples reach."""

    @property
    def reach(self) -> Reach:
        """Rows beyond a range that its tuples may contain."""
        ...


@final
@dataclass(frozen=True)
class Pass:
    """What is computed of each range.

    Attributes
    ----------
    name : str
        Digest of everything it depends on.
    recipe : Reaching
        What makes tuples of the rows.
    before, after : int
        How many reaches around a range it needs.
    function : callable
        From a stretch and its number to arrays.
    """

    name: str
    recipe: Reaching
    before: int
    after: int
    function: Callable[[Any, Stretch, int], dict[str, Any]]


@final
@dataclass(frozen=True)
class _Task:
    folder: Place
    runs: tuple[Run, ...]
    computed: Pass

    def __call__(self, which: Range) -> Arrays:
        """Load a range with its surroundings and compute, or return what was found before."""
        return kept(self.folder / f"range-{which.number:06d}.npz", lambda: self._make(which))

    def _make(self, which: Range) -> dict[str, Any]:
        asked = self.computed
        stretch = load(self.runs, which, asked.recipe.reach, asked.before, asked.after)
        found: dict[str, Any] = {}
        if stretch.first < stretch.last:
            found = asked.function(asked.recipe, stretch, which.number)
        return {**found, "rows": stretch.last - stretch.first}
