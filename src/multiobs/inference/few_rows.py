"""How many rows a standard error rests on."""

import numpy as np

from multiobs._types import FloatArray
from multiobs.fit import Problem
from multiobs.statistics import Statistic

ENOUGH = 25.0  # rows of equal weight, below which intervals cover less than they say


def effective_rows(problem: Problem) -> float:
    r"""How many rows of equal size the powers of the residuals that errors rest on are worth.

    :math:`(\sum_i w_i |e_i|^k)^2 / \sum_i w_i^2 |e_i|^{2k}` with k the highest power of a label in
    the loss: a third of the rows for a variance of normal labels, fewer with heavier tails.

    Parameters
    ----------
    problem : Problem
        What was fitted.
    """
    labels = problem.residuals.labels
    left = labels.reshape(labels.shape[0], -1)
    left = np.abs(left - np.median(left, axis=0)).max(axis=1)
    size = left ** highest_power(problem.statistic) * _weights(problem)
    return _worth(size)


def free_rows(problem: Problem, n_coefficients: float) -> float:
    """How many rows are left when the coefficients and the mean have taken theirs.

    Parameters
    ----------
    problem : Problem
        What was fitted.
    n_coefficients : float
        Coefficients, or effective degrees of freedom.
    """
    used = problem.tuples.membership_counts() > 0
    number = _worth(_weights(problem)[used])
    pilot, mean = problem.residuals.pilot, 0.0
    if problem.statistic.arity > 1:  # what varies is measured from a mean
        smooth = None if pilot is None else pilot.smooth
        mean = 1.0 if smooth is None else max(1.0, float(smooth.effective_df_))
    return number - n_coefficients - mean


def highest_power(statistic: Statistic) -> int:
    """Return the highest power of a label in the loss; one for ranks, none for categories.

    >>> from multiobs import statistics
    >>> highest_power(statistics.variance()), highest_power(statistics.minvar(4))
    (2, 1)
    """
    kernels = [h.polynomial for _, h in statistic.loss.sums if h.polynomial is not None]
    powers = [sum(e) for h in kernels for term in h.terms for e in term]
    return max([*powers, statistic.scale or 0])


def _weights(problem: Problem) -> FloatArray:
    return np.ones(problem.n_rows) if problem.weight is None else problem.weight


def _worth(size: FloatArray) -> float:
    largest = float(size.max(initial=0.0))
    if not largest > 0:
        return float(size.size)
    size = size / largest
    return float(size.sum() ** 2 / (size @ size))
