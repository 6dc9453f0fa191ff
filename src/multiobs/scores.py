r"""Scores of rows: what each row's label contributes to the gradient of the risk.

With :math:`s_t = w_t\, \ell'(\tilde r_t, y_t)\, \tilde z_t` the score of a tuple,
:math:`g_i = \sum_{t \ni i} s_t` sums the tuples that contain row i.  Metasamples share labels,
so it is the g that are nearly independent, not the s.
"""

from dataclasses import dataclass
from math import factorial, prod
from typing import final

import numpy as np

from multiobs import _ranks, _series, _sums
from multiobs._types import FloatArray
from multiobs.contract import (
    LIMIT,
    Features,
    enumerate_tuples,
    features_of,
    plan,
    same_label,
    split_constants,
    tuple_weights,
)
from multiobs.kernels import Equality, Kernel, Monomials, OrderStatistic, constant
from multiobs.losses import PolynomialLoss
from multiobs.tuples import Graph, Tuples, TupleSet, Windows

SAMPLED = 200_000  # tuples from which the sum of squared tuple scores is estimated


@final
@dataclass(frozen=True)
class Scores:
    """Scores of rows and of tuples.

    Attributes
    ----------
    rows : ndarray (n, p)
        g_i, the summed scores of the tuples that contain row i.
    tuples_outer : ndarray (p, p)
        Σ_t s_t s_t', exactly or from a random subset of the tuples.
    """

    rows: FloatArray
    tuples_outer: FloatArray


def row_scores(
    loss: PolynomialLoss,
    tuples: TupleSet,
    Z: Features,
    y: FloatArray,
    w: FloatArray,
    *,
    weight: FloatArray | None = None,
    rng: np.random.Generator | None = None,
    limit: int = LIMIT,
) -> Scores:
    """Scores of all rows at coefficients w, by the same sums as the risk.

    Parameters
    ----------
    loss : PolynomialLoss
        The loss, a root-type one with its reference level fixed.
    tuples : TupleSet
        Which rows go together.
    Z : ndarray (n, p) or Lifted
        Features of the rows.
    y : ndarray (n,) or (n, s)
        Labels.
    w : ndarray (p,)
        Coefficients.
    weight : ndarray (n,), optional
        Weights of the rows, multiplied within a tuple.
    rng : Generator, optional
        For the random subset of tuples; seeded with 0 by default.

    Returns
    -------
    Scores
    """
    kernels = [(k, h) for k, h in enumerate(loss.kernels) if h is not None and k > 0]
    p = w.size
    total = np.zeros((tuples.n_rows, p))
    affine = isinstance(Z, np.ndarray)
    listed: list[tuple[int, Kernel]] = []
    summed: list[tuple[int, Monomials, TupleSet]] = []
    for k, kernel in kernels:
        branch = plan(tuples, kernel, k, affine).branch
        if branch == "list" or not isinstance(Z, np.ndarray):
            listed.append((k, kernel))
        elif isinstance(kernel, Monomials):
            summed.append((k, kernel, tuples))
        elif isinstance(kernel, Equality):
            labels = y[:, None] if y.ndim == 1 else y
            even = constant(kernel.scale, kernel.arity)
            summed.append((k, even, same_label(tuples, labels)))
        elif isinstance(kernel, OrderStatistic):
            assert k == 1
            total += _ranked_scores(tuples, kernel, Z, y, weight)
    for k, monomial, over in summed:
        assert isinstance(Z, np.ndarray)
        total += _running_scores(over, k, monomial, Z, y, w, weight)
    outer = np.zeros((p, p))
    if listed:
        part_loss = PolynomialLoss(
            [dict(listed).get(k) for k in range(max(k for k, _ in listed) + 1)]
        )
        for part in enumerate_tuples(tuples, limit):
            s = tuple_scores(part_loss, part, Z, y, w, weight)
            for a in range(part.arity):
                for c in range(p):
                    total[:, c] += np.bincount(
                        part.members[:, a], weights=s[:, c], minlength=tuples.n_rows
                    )
            if len(listed) == len(kernels):
                outer += s.T @ s
    if len(listed) < len(kernels):
        outer = _outer_by_sampling(loss, tuples, Z, y, w, weight, rng)
    return Scores(total, outer)


def tuple_scores(
    loss: PolynomialLoss,
    part: Tuples,
    Z: Features,
    y: FloatArray,
    w: FloatArray,
    weight: FloatArray | None,
) -> FloatArray:
    """Scores s_t (t, p) of listed tuples."""
    z = features_of(part, Z)
    slope = loss.gradient(z @ w, y[part.members])
    importance = tuple_weights(part, weight)
    if importance is not None:
        slope = slope * importance
    return slope[:, None] * z


def _outer_by_sampling(
    loss: PolynomialLoss,
    tuples: TupleSet,
    Z: Features,
    y: FloatArray,
    w: FloatArray,
    weight: FloatArray | None,
    rng: np.random.Generator | None,
) -> FloatArray:
    drawn = tuples.sample(SAMPLED, np.random.default_rng(0) if rng is None else rng)
    share = 1.0 if drawn.weight is None else float(drawn.weight[0])
    plain = Tuples(drawn.members, drawn.rows, drawn.representative)
    s = tuple_scores(loss, plain, Z, y, w, weight)
    return np.asarray(share * (s.T @ s))


def seeds_of_power(
    k: int, w: FloatArray, fixed: dict[int, float], varying: list[int], m: int
) -> FloatArray:
    """Coefficients (p, monomials) that turn series sums into k (w·z~)^{k-1} z~."""
    v = len(varying)
    where = _series.position(v, k)
    unit = {c: tuple(int(j == i) for j in range(v)) for i, c in enumerate(varying)}
    none = (0,) * v

    def times(left: dict[tuple[int, ...], float], vector: FloatArray) -> dict[tuple[int, ...], float]:
        out: dict[tuple[int, ...], float] = {}
        for alpha, value in left.items():
            for c, factor in enumerate(vector):
                if factor == 0.0:
                    continue
                step, size = (none, fixed[c]) if c in fixed else (unit[c], 1.0)
                key = tuple(a + b for a, b in zip(alpha, step, strict=True))
                out[key] = out.get(key, 0.0) + value * factor * size
        return out

    prediction: dict[tuple[int, ...], float] = {none: float(k)}
    for _ in range(k - 1):
        prediction = times(prediction, w)
    seeds = np.zeros((w.size, len(where)))
    for c in range(w.size):
        for alpha, value in times(prediction, np.eye(w.size)[c]).items():
            size = prod(factorial(a) for a in alpha) / float(m) ** sum(alpha)
            seeds[c, where[alpha]] += value * size
    return seeds


def _running_scores(
    tuples: TupleSet,
    k: int,
    kernel: Monomials,
    Z: FloatArray,
    y: FloatArray,
    w: FloatArray,
    weight: FloatArray | None,
) -> FloatArray:
    assert isinstance(tuples, Windows | Graph)
    U, fixed, varying = split_constants(Z)
    labels = y[:, None] if y.ndim == 1 else y
    seeds = seeds_of_power(k, w, fixed, varying, kernel.arity)
    rows = _sums.Rows(U, labels, weight)
    evaluator = _sums.Evaluator([(kernel, k)], rows, keep_counts=True)
    return membership(evaluator, tuples, kernel, k, seeds)


def membership(
    evaluator: _sums.Evaluator,
    tuples: Windows | Graph,
    kernel: Monomials,
    degree: int,
    seeds: FloatArray,
) -> FloatArray:
    """Sum over the tuples that contain each row of a linear function of their series, (n, q).

    A tuple contributes to its anchor directly, and to a partner j through the sums in which one
    slot is held at j.
    """
    v = evaluator.p
    out = np.zeros((tuples.n_rows, seeds.shape[0]))
    triples = _series.products(v, degree)
    for chunk in evaluator.chunks(tuples):
        series = np.stack(evaluator.anchor_sums(chunk, kernel, degree), axis=1)
        np.add.at(out, chunk.anchors, series @ seeds.T)
        factors = evaluator.partner_factors(chunk, kernel, degree)
        for c in range(seeds.shape[0]):
            D = np.zeros((chunk.anchors.size, len(evaluator.columns)))
            for block, each in factors.items():
                scale = _series.exp_weights(v, degree, block[0])
                for alpha, beta, gamma in triples:
                    if seeds[c, gamma] != 0.0:
                        column = evaluator.where[(block, alpha)]
                        D[:, column] += (seeds[c, gamma] * scale[alpha]) * each[beta]
            chunk.hand_back(D, out[:, c])
    return out


def _ranked_scores(
    tuples: TupleSet,
    kernel: OrderStatistic,
    Z: FloatArray,
    y: FloatArray,
    weight: FloatArray | None,
) -> FloatArray:
    U, fixed, varying = split_constants(Z)
    m = kernel.arity
    seeds = np.zeros((Z.shape[1], 1 + len(varying)))
    for c, value in fixed.items():
        seeds[c, 0] = value
    for i, c in enumerate(varying):
        seeds[c, 1 + i] = 1.0 / m
    if kernel.shift_invariant:
        y = y - np.median(y)
    if isinstance(tuples, Windows):
        rows = tuples.order
        w = None if weight is None else np.ascontiguousarray(weight[rows])
        found = _ranks.order_statistic_row_sums(
            np.ascontiguousarray(y[rows]),
            np.ascontiguousarray(U[rows]),
            w,
            tuples.stop,
            kernel.coefs,
            seeds,
        )
        out = np.zeros((tuples.n_rows, seeds.shape[0]))
        out[rows] = found
        return out
    assert isinstance(tuples, Graph)
    return _ranks.order_statistic_row_sums_lists(
        y, U, weight, tuples.indptr, tuples.indices, kernel.coefs, seeds
    )
