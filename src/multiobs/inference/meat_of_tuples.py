"""Variance of the gradient from listed tuples, each with those that share a row with it."""

import numpy as np

from multiobs._types import FloatArray
from multiobs.inference.gradient import Gradient, inflation
from multiobs.inference.meat import Meat
from multiobs.inference.skewness import Third, of_independent, of_pairs
from multiobs.sums import tuple_weights
from multiobs.sums.overlaps import Independent, Overlap, tuple_overlap
from multiobs.tuples import Tuples


def meat_of_tuples(gradient: Gradient, most: int) -> Meat | None:
    """Sum over all pairs of tuples that share a row; None if more than so many do.

    Parameters
    ----------
    gradient : Gradient
        What is summed.
    most : int
        Pairs of tuples that are listed.
    """
    part = gradient.tuples.listed()
    pattern = tuple_overlap(part.members, part.n_rows, most)
    if pattern is None:
        return None
    s = gradient.scores(part)
    product = tuple_weights(part, gradient.weight)
    times = np.ones(part.count()) if product is None else product
    z = gradient.features(part)
    h = pattern.spread(times[:, None])[:, 0] * gradient.leverage(z, times)
    units, none = s * inflation(h), np.zeros((gradient.p, gradient.p))
    third = _third(units, part, pattern)
    summed, first = z * times[:, None], part.members[:, 0]
    return Meat(units, pattern, none, s.T @ s, "tuples", summed, first, third=third)


def _third(units: FloatArray, part: Tuples, overlap: Overlap) -> Third | None:
    """Sums over triples of listed tuples, where they are known well."""
    if isinstance(overlap, Independent):
        return of_independent(units)
    if part.arity != 2:
        return None
    columns = (
        np.bincount(part.members.ravel(), np.repeat(u, 2), minlength=part.n_rows) for u in units.T
    )
    g: FloatArray = np.stack([np.asarray(each, dtype=np.float64) for each in columns], axis=1)
    return of_pairs(g, units, np.ones(part.count()), 1.0)
