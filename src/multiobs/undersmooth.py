"""Refitting with the narrowest tuples, for intervals where smoothing bias spoils coverage."""

from dataclasses import replace

import numpy as np

from multiobs import fitting
from multiobs._types import IntArray
from multiobs.inference import Record
from multiobs.samplers import Nearest, Sampler, SlidingWindow
from multiobs.transport import Carried, restored
from multiobs.tuples import TupleSet


def narrowest(d: int, arity: int) -> Sampler:
    """Return the sampler with the least bias: adjacent rows, or the nearest ones.

    >>> narrowest(1, 2)
    SlidingWindow()
    """
    return SlidingWindow() if d == 1 else Nearest(n_neighbors=max(arity - 1, 1))


def undersmoothed(record: Record, rng: np.random.Generator) -> Record:
    """Refit the same class, transport and penalty to the narrowest tuples.

    The bias of a metasample grows with the square of its width, so adjacent rows have next to
    none; the price is a larger variance, which the interval then shows.

    Parameters
    ----------
    record : Record
        What the fit left behind.
    rng : Generator
        Passed to the sampler.
    """
    m = record.statistic.arity
    sampler = narrowest(record.X.shape[1], m)
    tuples = sampler.build(record.X, m, rng, _apart(record))
    carried = _restored(record, tuples, rng)
    fitted = fitting.fit_linear(
        record.statistic,
        tuples,
        record.design,
        record.X,
        carried,
        record.weight,
        record.alpha,
        record.limit,
    )
    return replace(
        record,
        tuples=tuples,
        carried=carried,
        w=fitted.w,
        risk=fitted.risk,
        reference=fitted.reference,
        pooled=False,
    )


def _restored(record: Record, tuples: TupleSet, rng: np.random.Generator) -> Carried:
    """Stretch labels by what the pilot took of their spread in these tuples, not the old ones."""
    carried = record.carried
    old, new = (restored(carried, record.X, each, rng).labels for each in (record.tuples, tuples))
    size = float(np.linalg.norm(old))
    factor = float(np.linalg.norm(new)) / size if size > 0 else 1.0
    return replace(carried, labels=carried.labels * factor)


def _apart(record: Record) -> IntArray | None:
    """Codes that a tuple never crosses: the user's groups and the folds of the pilot."""
    groups, folds = record.groups, record.carried.folds
    if groups is None or folds is None:
        return folds if groups is None else groups
    return groups * (int(folds.max()) + 1) + folds
