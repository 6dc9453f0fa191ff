"""A progress bar on a terminal, and nothing anywhere else."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")
PATIENCE = 1.0  # seconds of silence: short work shows no bar


def progress(
    items: Iterable[Item],
    total: float,
    what: str,
    size: Callable[[Item], float] = lambda item: 1.0,
) -> Iterator[Item]:
    """Pass the items on, and say how far along they are when somebody is looking.

    >>> list(progress([1, 2], 2, "steps"))
    [1, 2]
    """
    if not sys.stderr.isatty():
        yield from items
        return
    start = shown = time.monotonic()
    done = 0.0
    written = False
    try:
        for item in items:
            yield item
            done += size(item)
            now = time.monotonic()
            if now - start > PATIENCE and now - shown > 0.2 and done:
                shown, written = now, True
                share = min(done / total, 1.0) if total else 1.0
                bar = "#" * round(24 * share)
                left = (now - start) * (1 - share) / share
                pace = f"{done / (now - start):.3g}/s, {left:.0f} s left"
                sys.stderr.write(f"\r[{bar:<24}] {share:4.0%} of {what}, {pace} ")
                sys.stderr.flush()
    finally:
        if written:
            sys.stderr.write("\r" + " " * 80 + "\r")
            sys.stderr.flush()


def as_they_come(kind: str = "generator") -> str:
    """Return what joblib's ``return_as`` may be: a list where the backend has no generators.

    >>> as_they_come()
    'generator'
    """
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend()
    return kind if backend.supports_return_generator else "list"  # Dask's had none at first
