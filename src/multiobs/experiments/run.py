"""A grid of scenario × method × n × trial: resumable, and the same bits from any workers."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from multiobs import _check
from multiobs._progress import as_they_come
from multiobs.experiments.methods import method
from multiobs.experiments.scenarios import scenario
from multiobs.experiments.store import Cell, Outcome, ResultsStore

__all__ = ["Block", "TrialRequest", "cell_rng", "run", "run_block"]

_ROWS_IN_BLOCK = 40_000
_TRIALS_IN_BLOCK = 50


class TrialRequest(NamedTuple):
    """The trials 0 .. trials - 1 of one method on one law with n labels."""

    scenario: str
    method: str
    n: int
    trials: int


class Block(NamedTuple):
    """Some trials that one process does in one go."""

    scenario: str
    method: str
    n: int
    trials: tuple[int, ...]


def run(
    requests: Sequence[TrialRequest],
    path: Path | str,
    *,
    seed: int = 0,
    workers: int = 1,
    on_progress: Callable[[int, int], Any] | None = None,
) -> Mapping[Cell, Outcome]:
    """Compute the requested cells that ``path`` does not hold yet, and return all requested ones.

    Parameters
    ----------
    requests : sequence of Request
    path : path
        The results file, see :mod:`multiobs.experiments.store`. Cells of earlier runs are kept.
    seed : int, default=0
        Each cell's generators come from this number and the cell's own names and numbers, so a
        number does not depend on the grid around it, the order or the workers.
    workers : int, default=1
        Processes. The work goes through joblib: inside ``with joblib.parallel_config("dask")`` a
        Dask cluster takes it.
    on_progress : callable, optional
        ``on_progress(done, total)`` is told the number of finished cells.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     grid = [TrialRequest("variance-line", "sliding", 100, 3)]
    ...     found = run(grid, Path(folder) / "results.csv")
    >>> sorted(cell.trial for cell in found)
    [0, 1, 2]
    """
    _check.integer("seed", seed, low=0)
    if workers != -1:
        _check.integer("workers", workers, low=1)
    wanted = [
        Cell(request.scenario, request.method, request.n, trial)
        for request in requests
        for trial in range(_check.integer("trials", request.trials, low=1))
    ]
    for request in requests:  # a misspelt name must not surface an hour later
        scenario(request.scenario), method(request.method)
    with ResultsStore(Path(path), seed) as store:
        blocks = _blocks(cell for cell in wanted if cell not in store.cells)
        total = len(set(wanted))
        done = total - sum(len(block.trials) for block in blocks)
        if on_progress is not None:
            on_progress(done, total)
        for block, outcomes in _compute(blocks, seed, workers):
            store.append(
                (Cell(block.scenario, block.method, block.n, trial), outcome)
                for trial, outcome in zip(block.trials, outcomes, strict=True)
            )
            done += len(block.trials)
            if on_progress is not None:
                on_progress(done, total)
        store.finish()
        return {cell: store.cells[cell] for cell in wanted}


def run_block(block: Block, seed: int) -> tuple[Block, list[Outcome]]:
    """Do the trials of a block, one thread, so that results have the same bits anywhere."""
    law, how = scenario(block.scenario), method(block.method)
    outcomes = []
    with threadpool_limits(1):
        for trial in block.trials:
            # The rows depend on law, n and trial alone: methods of one trial see the same data,
            # which is what makes the comparisons over trials paired.
            data = cell_rng(seed, "data", block.scenario, block.n, trial)
            own = cell_rng(seed, "own", block.scenario, block.method, block.n, trial)
            outcomes.append(Outcome(*how.error(law, block.n, data, own)))
    return block, outcomes


def cell_rng(seed: int, *key: str | int) -> np.random.Generator:
    """Return a generator that depends on the seed and the key alone, not on any order.

    >>> bool(cell_rng(0, "a", 1).random() == cell_rng(0, "a", 1).random())
    True
    """
    digest = hashlib.sha256("\x1f".join(map(str, key)).encode()).digest()
    words = [int(word) for word in np.frombuffer(digest, dtype="<u4")]
    return np.random.default_rng(np.random.SeedSequence([seed, *words]))


def _blocks(cells: Iterable[Cell]) -> list[Block]:
    trials: dict[tuple[str, str, int], list[int]] = {}
    for cell in dict.fromkeys(cells):
        trials.setdefault((cell.scenario, cell.method, cell.n), []).append(cell.trial)
    blocks = []
    for (law, how, n), numbers in trials.items():
        size = max(1, min(_TRIALS_IN_BLOCK, _ROWS_IN_BLOCK // n))
        blocks += [
            Block(law, how, n, tuple(numbers[i : i + size])) for i in range(0, len(numbers), size)
        ]
    # Shuffled, dear and cheap blocks alternate, and the time so far foretells the time left.
    return sorted(blocks, key=lambda block: hashlib.sha256(repr(block).encode()).digest())


def _compute(blocks: list[Block], seed: int, workers: int) -> Iterator[tuple[Block, list[Outcome]]]:
    # In order is second best: a finished block then waits in memory for a slower one before it.
    recent = tuple(map(int, joblib.__version__.split(".")[:2])) >= (1, 4)
    how = "generator_unordered" if recent else "generator"
    parallel = Parallel(n_jobs=workers, batch_size=1, return_as=as_they_come(how))
    yield from parallel(delayed(run_block)(block, seed) for block in blocks)
