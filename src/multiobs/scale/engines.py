"""From what the user says about who works to an executor."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Literal

from multiobs import _check
from multiobs.scale.budget import AT_ONCE
from multiobs.scale.executors import DaskFutures, Executor, Serial, Threads

Engine = Literal["local", "dask"] | Executor


@contextmanager
def engine_of(engine: Engine, client: Any, n_jobs: int | None) -> Iterator[Executor]:
    """Give an executor, and close what was opened for it.

    Parameters
    ----------
    engine : {"local", "dask"} or Executor
        As given to :func:`multiobs.scale.fit`.
    client : distributed.Client, str or None
        A Dask client or the address of a scheduler; None is a cluster of this machine.
    n_jobs : int or None
        Threads, or workers of that cluster; by default one a processor, at most four.
    """
    workers = min(os.cpu_count() or 1, AT_ONCE)
    if n_jobs is not None:
        workers = _check.integer("n_jobs", n_jobs, low=1)
    if not isinstance(engine, str):
        yield engine
        return
    _check.choice("engine", engine, ("local", "dask"))
    if engine == "local":
        if client is not None:
            raise ValueError(f"client belongs to engine='dask', got {client!r} with 'local'")
        yield Serial() if workers == 1 else Threads(workers)
        return
    distributed: Any = import_module("distributed")
    if client is not None and not isinstance(client, str):
        yield DaskFutures(client)
    elif isinstance(client, str):
        with distributed.Client(client) as connected:
            yield DaskFutures(connected)
    else:
        with (
            distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=":0"
            ) as cluster,
            distributed.Client(cluster) as connected,
        ):
            yield DaskFutures(connected)
