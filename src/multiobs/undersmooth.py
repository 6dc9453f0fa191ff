"""Refitting with the narrowest tuples, for intervals where smoothing bias spoils coverage."""

from dataclasses import replace

import numpy as np

from multiobs import fitting
from multiobs._types import IntArray
from multiobs.inference import Record
from multiobs.samplers import Nearest, Sampler, SlidingWindow


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
    fitted = fitting.fit_linear(
        record.statistic,
        tuples,
        record.design,
        record.X,
        record.carried,
        record.weight,
        record.alpha,
        record.limit,
    )
    return replace(
        record,
        tuples=tuples,
        w=fitted.w,
        risk=fitted.risk,
        reference=fitted.reference,
        pooled=False,
    )


def _apart(record: Record) -> IntArray | None:
    """Codes that a tuple never crosses: the user's groups and the folds of the pilot."""
    groups, folds = record.groups, record.carried.folds
    if groups is None or folds is None:
        return folds if groups is None else groups
    return groups * (int(folds.max()) + 1) + folds
