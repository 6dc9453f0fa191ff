"""Who runs the parts of a plan: one method, ``map``, results in the order of the items.

The plan never depends on who runs it, so every executor returns the same bits.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, TypeVar, final

from multiobs import _check

Item = TypeVar("Item")
Result = TypeVar("Result")
RETRIES = 3  # of a Dask task whose worker died


class Executor(Protocol):
    """Anything with an ordered ``map``.

    Examples
    --------
    >>> list(Serial().map(abs, [-1, 2]))
    [1, 2]
    """

    def map(self, function: Callable[[Item], Result], items: Iterable[Item], /) -> Iterator[Result]:
        """Results of the function in the order of the items."""
        ...


@final
@dataclass(frozen=True)
class Serial:
    """One part after the other, in this thread.

    >>> list(Serial().map(abs, [-1, 2]))
    [1, 2]
    """

    def map(self, function: Callable[[Item], Result], items: Iterable[Item], /) -> Iterator[Result]:
        return map(function, items)


@final
@dataclass(frozen=True)
class Threads:
    """A pool of threads: numpy, pyarrow and the compiled loops release the interpreter lock.

    Parameters
    ----------
    workers : int
        How many.

    Examples
    --------
    >>> list(Threads(2).map(abs, [-1, 2]))
    [1, 2]
    """

    workers: int

    def __post_init__(self) -> None:
        _check.integer("workers", self.workers, low=1)

    def map(self, function: Callable[[Item], Result], items: Iterable[Item], /) -> Iterator[Result]:
        pool = ThreadPoolExecutor(self.workers)
        try:
            yield from pool.map(function, items)
        finally:  # a failed part: those that have not started never will
            pool.shutdown(wait=True, cancel_futures=True)


@final
@dataclass(frozen=True)
class Processes:
    """A pool of processes of this machine, joblib's.

    Parameters
    ----------
    workers : int
        How many.

    Examples
    --------
    >>> list(Processes(1).map(abs, [-1, 2]))
    [1, 2]
    """

    workers: int

    def __post_init__(self) -> None:
        _check.integer("workers", self.workers, low=1)

    def map(self, function: Callable[[Item], Result], items: Iterable[Item], /) -> Iterator[Result]:
        from joblib import Parallel, delayed

        try:
            tasks = (delayed(function)(item) for item in items)
            yield from Parallel(n_jobs=self.workers, return_as="generator")(tasks)
        except BrokenProcessPool as error:
            raise RuntimeError(
                "a worker process must survive its part, but one was killed (out of memory?): "
                "finished parts are kept, the same call resumes from them"
            ) from error


@final
@dataclass(frozen=True)
class DaskFutures:
    """Futures of a Dask cluster: the same functions, on workers that share the scratch folder.

    Parameters
    ----------
    client : distributed.Client
        Connected to the cluster.

    Examples
    --------
    >>> from dask.distributed import Client  # doctest: +SKIP
    >>> list(DaskFutures(Client()).map(abs, [-1, 2]))  # doctest: +SKIP
    [1, 2]
    """

    client: Any

    def map(self, function: Callable[[Item], Result], items: Iterable[Item], /) -> Iterator[Result]:
        listed = list(items)
        with warnings.catch_warnings():  # a forest is large, and sent once
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            sent = self.client.submit(_same, function, pure=False, retries=RETRIES)
        futures = self.client.map(
            _applied, [sent] * len(listed), listed, pure=False, retries=RETRIES
        )
        try:
            for future in futures:
                yield self._result(future)
                future.release()
        finally:
            if self.client.status == "running":
                self.client.cancel([*futures, sent])

    def _result(self, future: Any) -> Any:
        """Wait for one result, or say what died."""
        distributed: Any = import_module("distributed")
        lost = (distributed.CancelledError, distributed.comm.core.CommClosedError)
        try:
            return future.result()
        except lost as error:
            raise RuntimeError(
                "the scheduler must live until all parts are done, but the connection to it was "
                "lost: finished parts are kept, the same call resumes from them"
            ) from error
        except distributed.scheduler.KilledWorker as error:
            raise RuntimeError(
                "workers must survive their parts, but several died of one (out of memory?): use "
                "a smaller memory= or larger workers; the same call resumes from finished parts"
            ) from error


def _same(function: Callable[[Item], Result]) -> Callable[[Item], Result]:
    """The function itself, on a worker: not part of every task, and made again if it is lost."""
    return function


def _applied(function: Callable[[Item], Result], item: Item) -> Result:
    return function(item)
