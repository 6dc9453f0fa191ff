"""Weights of rows that make every row count alike, however crowded its neighbourhood is.

All m-subsets of a window are many where rows are dense and few at the ends of the data.  Equal
weights of tuples then give the ends of x, on which a slope depends most, almost no say.
"""

import numpy as np

from multiobs._types import FloatArray
from multiobs.tuples import TupleSet, membership_counts


def balanced(tuples: TupleSet, weight: FloatArray | None) -> FloatArray:
    r"""Row weights :math:`c_i^{-1/m}`, with :math:`c_i` the number of tuples that contain row i.

    They multiply within a tuple, so each row's tuples together weigh about the same.

    Parameters
    ----------
    tuples : TupleSet
        Which rows go together.
    weight : ndarray (n,) or None
        The user's own weights, which are kept as factors.

    Returns
    -------
    ndarray (n,)
        Weights of mean one over the rows that are in a tuple.
    """
    counts = membership_counts(tuples)
    used = counts > 0
    factor = np.ones(counts.size)
    factor[used] = counts[used] ** (-1.0 / tuples.arity)
    factor /= factor[used].mean() if np.any(used) else 1.0
    return factor if weight is None else factor * weight
