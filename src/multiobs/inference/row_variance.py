r"""Variance of the gradient of a penalised risk whose tuples share rows.

With :math:`g_i` the summed scores of the tuples that contain row i,

.. math:: V = \sum_i g_i g_i' - \text{what tuples that share several rows count twice}.

The kernels' sums over the tuples of each row do not depend on the coefficients and are formed once;
the variance at any fit is then a product of n rows.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.fit.links import LinkedLoss
from multiobs.fit.penalised import RowProblem, Variance
from multiobs.inference.chain import Chain, draw_in_graph
from multiobs.inference.gradient import inflation
from multiobs.inference.meat import positive_part
from multiobs.inference.meat_of_rows import mutual
from multiobs.sums.contraction import tuple_weights
from multiobs.tuples import Graph, Tuples, TupleSet, Windows, spread_evenly

DRAWN = 10_000  # tuples from which double counts are estimated; all of fewer


@final
@dataclass(frozen=True)
class Overlaps:
    """Some tuples, and tuples that share several rows with them.

    Attributes
    ----------
    one, two : ndarray of int (t, m)
        Members.
    kernels_one, kernels_two : ndarray (t, 2)
        Their weighted kernels.
    factor : ndarray (t,)
        How often each pair is to be taken off.
    """

    one: IntArray
    two: IntArray
    kernels_one: FloatArray
    kernels_two: FloatArray
    factor: FloatArray


def overlaps(
    loss: LinkedLoss, tuples: TupleSet, y: FloatArray, weight: FloatArray | None
) -> Overlaps:
    """Draw tuples and partners of theirs that share more than one row.

    Parameters
    ----------
    loss : LinkedLoss
        Names the kernels.
    tuples : TupleSet
        Which rows go together.
    y : ndarray (n,) or (n, s)
        Labels.
    weight : ndarray (n,) or None
        Weights of the rows.
    """
    m, count = tuples.arity, tuples.count()
    drawn = spread_evenly(tuples, min(count, DRAWN), np.random.default_rng(0))
    share = count / drawn.count()
    recurring = isinstance(tuples, Windows) and tuples.order.size > tuples.n_rows
    other, factor = drawn, np.full(drawn.count(), share * (m - 1))
    chain = None
    if m > 2 and isinstance(tuples, Windows) and not recurring:
        chain = Chain.draw(tuples, drawn, np.random.default_rng(1))
    elif m > 2 and isinstance(tuples, Graph):
        chain = draw_in_graph(tuples, drawn, np.random.default_rng(1))
    if m == 2 and isinstance(tuples, Graph):  # a pair that both rows name has both in common
        factor = factor * (1.0 + mutual(tuples, drawn))
    if chain is not None:
        other, factor = chain.other, share * chain.factor
    values = []
    for part in (drawn, other):
        product = tuple_weights(Tuples(part.members, part.rows, part.representative), weight)
        kernels = np.stack([h(y[part.members]) for h in loss.kernels], axis=1)
        values.append(kernels if product is None else kernels * product[:, None])
    return Overlaps(drawn.members, other.members, values[0], values[1], factor)


def variance_of(
    problem: RowProblem,
    tuples: TupleSet,
    y: FloatArray,
    offset: FloatArray | None,
    weight: FloatArray | None,
) -> Variance:
    """Return the function that gives V (p, p) at coefficients and the inverse Hessian there.

    Parameters
    ----------
    problem : RowProblem
        What is fitted.
    tuples : TupleSet
        Which rows go together.
    y, offset, weight : ndarray
        Labels (n,) or (n, s); what is added to their statistic at the rows (n,) or None; weights
        (n,) or None.
    """
    m = tuples.arity
    added = np.zeros(tuples.n_rows) if offset is None else offset
    shared = overlaps(problem.loss, tuples, y, weight)

    def variance(w: FloatArray, bread: FloatArray) -> FloatArray:
        scores = row_scores(problem, w, bread, m)
        factor, scaled, r = scores.inflation, scores.scaled, scores.statistic
        parts = []
        for members, kernels in (
            (shared.one, shared.kernels_one),
            (shared.two, shared.kernels_two),
        ):
            left = kernels[:, 0] - kernels[:, 1] * (r - added)[members].mean(axis=1)
            size = m * left * factor[members].mean(axis=1)
            parts.append(scaled[members].mean(axis=1) * size[:, None])
        g = scores.rows
        V = g.T @ g - (parts[0] * shared.factor[:, None]).T @ parts[1]
        return positive_part((V + V.T) / 2)

    return variance


@final
@dataclass(frozen=True)
class RowScores:
    """Scores of the rows at a fit.

    Attributes
    ----------
    rows : ndarray (n, p)
        Summed scores of the tuples of each row, corrected for leverage.
    scaled : ndarray (n, p)
        Columns times the factor of the kernel in the score.
    inflation : ndarray (n,)
        The leverage correction.
    statistic : ndarray (n,)
        The fitted statistic.
    """

    rows: FloatArray
    scaled: FloatArray
    inflation: FloatArray
    statistic: FloatArray


def row_scores(problem: RowProblem, w: FloatArray, bread: FloatArray, arity: int) -> RowScores:
    """Scores of the rows at coefficients w."""
    loss, sums, Z = problem.loss, problem.sums, problem.Z
    eta = Z @ w + problem.offset
    r = loss.inverse(eta)
    there = sums.blurred(r)
    scaled = Z * loss.slopes(loss.forward(there))[:, :1]
    left = sums.psi - sums.chi * there
    size = np.maximum(sums.chi, 0.0)
    around = sums.blurred(scaled)
    # the share of a row's tuples in their own fitted values, as in HC2 errors
    curved = size * loss.expected_curvature(eta, np.ones((eta.size, 2)))
    h = arity * min(arity, 2) * curved * np.einsum("na,na->n", Z @ bread, Z)
    factor = inflation(h)[:, 0]
    return RowScores(arity * around * (left * factor)[:, None], scaled, factor, r)
