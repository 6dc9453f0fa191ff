r"""Variance of the gradient at a constrained fit, with smooth variances of the rows' own scores.

A unit (a row, a tuple or an anchor) with summed features :math:`a_i` has the score
:math:`u_i \approx a_i e_i`, with a number :math:`e_i` of mean zero.  White's
:math:`\sum_i e_i^2 a_i a_i'` takes each :math:`e_i^2` for the variance at its own place: squares of
squares, so noisy and so strongly correlated with the gradient that a test with several hypotheses
is off by a factor of two in size either way, with thousands of rows still.  Here

.. math:: V = \sum_i \hat v(x_i)\, a_i a_i',

where :math:`\hat v` is a regression of the :math:`e_i^2` (for tuples and anchors
:math:`e_t \sum_{t' \cap t \ne \emptyset} e_{t'}`) on powers of the columns of x, as many as rows
allow, and on the statistic fitted under the hypothesis, with which spread usually grows.
"""

import numpy as np

from multiobs._types import FloatArray
from multiobs.fit import Problem
from multiobs.inference.gradient import Gradient
from multiobs.inference.influence import influences
from multiobs.inference.meat import Meat
from multiobs.sums.overlaps import Independent, neighbour_sums
from multiobs.tuples import TupleSet

ROWS_FOR_A_POWER = 400  # of a column, in the regression of squares: they are that noisy
HIGHEST_POWER = 4
CURVATURE_POWER = 2  # of a column, for second derivatives: less noisy than squares of scores
LEAST = 0.2  # a variance, of their mean: a polynomial can be negative where rows are few


def variance_under_hypothesis(problem: Problem, gradient: Gradient, found: Meat) -> FloatArray:
    """Variance (p, p) of the gradient at a constrained fit.

    Parameters
    ----------
    problem : Problem
        What was fitted.
    gradient : Gradient
        What is summed, at the constrained fit.
    found : Meat
        Scores of the units, and what they count twice.
    """
    a, alone = found.features, isinstance(found.overlap, Independent)
    u, share = found.units, np.ones(found.units.shape[0])
    if found.twice:
        a = a if gradient.local else around(a, problem.tuples)
        own = influences(u, problem.tuples)
        u, share = own.rows, own.share
    inverse = np.linalg.pinv(a.T @ a, rcond=1e-12, hermitian=True)
    along = a @ inverse
    size = np.einsum("ia,ia->i", along, a)
    e = np.einsum("ia,ia->i", along, u) / np.where(size > 0, size, 1.0)
    near = e if alone else found.overlap.spread(e[:, None])[:, 0]
    products = share * e * near
    if not size @ products >= size @ e**2:  # shared labels never make a sum less variable
        products = e**2
    place, fitted = problem.place[found.rows], gradient.fitted[found.rows]
    V = (a * smooth(products, size, place, fitted)[:, None]).T @ a
    if not found.twice:
        return np.asarray(V)
    # what rows count twice, as one number: entry by entry it is too noisy to be taken off
    known = np.linalg.pinv(V, rcond=1e-12, hermitian=True)
    rank = max(int(np.linalg.matrix_rank(V, hermitian=True)), 1)
    twice, naive = (float(np.trace(known @ M)) / rank for M in (found.correction, found.naive))
    return np.asarray(V * max(1.0 - twice, naive))


def around(a: FloatArray, tuples: TupleSet) -> FloatArray:
    """Features (n, p) at the representatives of each row's tuples, from those at the row itself."""
    m, counts = tuples.arity, tuples.membership_counts()
    z = a / np.maximum(counts, 1.0)[:, None]
    near = neighbour_sums(tuples, np.column_stack([z, np.ones(z.shape[0])]))
    mean = near[:, :-1] / np.maximum(near[:, -1:], 1.0)
    return np.asarray(counts[:, None] * (z + (m - 1) * mean) / m)


def smooth(
    values: FloatArray, size: FloatArray, place: FloatArray, fitted: FloatArray
) -> FloatArray:
    """Regress nonnegative values (u,) on the place (u, d) of their units and what is fitted there.

    Parameters
    ----------
    values : ndarray (u,)
        Squares, or products of scores that overlap.
    size : ndarray (u,)
        Weights; the weighted sum of the values is kept.
    place : ndarray (u, d)
        Positions.
    fitted : ndarray (u,)
        The statistic under the hypothesis.

    Examples
    --------
    >>> x = np.linspace(0, 1, 2000)
    >>> found = smooth(1 + x, np.ones(2000), x[:, None], np.ones(2000))
    >>> bool(np.allclose(found, 1 + x))
    True
    """
    n, d = place.shape
    highest = min(HIGHEST_POWER, n // (ROWS_FOR_A_POWER * d))
    B, root = powers(place, fitted, highest), np.sqrt(size)
    if not np.all(np.isfinite(values)):  # LAPACK would print a complaint
        raise FloatingPointError("scores under the hypothesis overflow")
    found = B @ np.linalg.lstsq(B * root[:, None], values * root, rcond=None)[0]
    total = float(size @ values)
    least = LEAST * total / max(float(size.sum()), 1e-300)
    found = np.maximum(found, least)
    return np.asarray(found * (total / max(float(size @ found), 1e-300)))


def powers(place: FloatArray, fitted: FloatArray, highest: int) -> FloatArray:
    """One, powers of the columns of the place (n, d) and two of what is fitted, (n, k)."""
    basis = [np.ones(fitted.size)]
    for column, power in [*((column, highest) for column in place.T), (fitted, 2)]:
        centred = column - column.mean()
        spread = float(np.sqrt(np.mean(centred**2)))
        if spread > 1e-8 * max(float(np.abs(column).max(initial=0.0)), 1e-300):
            basis += [(centred / spread) ** k for k in range(1, power + 1)]
    return np.stack(basis, axis=1)


def curvature_under_hypothesis(
    problem: Problem, gradient: Gradient, hessian: FloatArray
) -> FloatArray:
    r"""Hessian (p, p) with the second derivatives of losses smoothed along x.

    Where they depend on labels, as those of an upper confidence bound do, the sum
    :math:`A = \sum_t d_t z_t z_t'` at a constrained fit goes up and down with the gradient, which
    takes part of what is to be detected off again: tests of true hypotheses rejected less than half
    as often as they should.  With :math:`d(x)` a polynomial whose sum is nearest to A it does not.

    Parameters
    ----------
    problem : Problem
        What was fitted.
    gradient : Gradient
        What is summed, at the constrained fit.
    hessian : ndarray (p, p)
        A itself; returned as it is where labels do not enter.
    """
    if not gradient.slope.bends_with_labels:
        return hessian
    z, times = gradient.rows, gradient.tuples.membership_counts()
    times = times if gradient.importance is None else times * gradient.importance
    if not gradient.local:
        z = around(z * times[:, None], gradient.tuples) / np.maximum(times, 1e-300)[:, None]
    size = np.sqrt(np.maximum(np.abs(np.diag(hessian)), 1e-300))
    z = z / size
    basis = powers(problem.place, gradient.fitted, CURVATURE_POWER) * times[:, None]
    grams = np.stack([(z * each[:, None]).T @ z for each in basis.T])
    # columns as alike as the features of many tuples are
    values, vectors = np.linalg.eigh(grams[0])
    kept = values > 1e-10 * values[-1]
    frame = vectors[:, kept] / np.sqrt(values[kept])
    whitened = np.einsum("ai,kab,bj->kij", frame, grams, frame).reshape(len(grams), -1)
    target = (frame.T @ (hessian / np.outer(size, size)) @ frame).reshape(-1)
    shares = np.linalg.lstsq(whitened.T, target, rcond=1e-8)[0]
    found = np.einsum("k,kab->ab", shares, grams)
    if np.linalg.eigvalsh(frame.T @ found @ frame)[0] <= 0:
        return hessian
    return np.asarray(found * np.outer(size, size))
