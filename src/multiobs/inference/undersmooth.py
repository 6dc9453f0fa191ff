"""Refitting with the narrowest tuples, for intervals where smoothing bias spoils coverage."""

from dataclasses import replace

import numpy as np

from multiobs.fit import linear
from multiobs.inference import Record
from multiobs.samplers import narrowest
from multiobs.transport import Carried, restored
from multiobs.tuples import TupleSet


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
    tuples = sampler.build(record.X, m, rng, record.groups)
    carried = _restored(record, tuples, rng)
    fitted = linear.fit_linear(
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
