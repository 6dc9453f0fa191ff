"""Covariance of linear coefficients under shared labels."""

from dataclasses import dataclass
from typing import final

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.fit.design import Design
from multiobs.fit.regressor import frame_at
from multiobs.fit.risk import Risk
from multiobs.fit.units import loss_degree
from multiobs.inference.intervals import Skewness
from multiobs.inference.meat import Meat, meat
from multiobs.inference.skewness import Third
from multiobs.statistics import Statistic
from multiobs.sums.contraction import LIMIT, Features, Lifted
from multiobs.sums.scores import slope_of
from multiobs.transport import Carried
from multiobs.tuples import TupleSet


@final
@dataclass(frozen=True)
class Record:
    """What a linear fit leaves behind for inference: references, nothing computed.

    Attributes
    ----------
    statistic : Statistic
        What was estimated.
    tuples : TupleSet
        Which rows went together.
    design : Design
        The class of functions.
    X : ndarray (n, d)
        Positions of the rows.
    carried : Carried
        Labels in comfortable units.
    weight : ndarray (n,) or None
        Weights of the rows.
    w : ndarray (p,)
        Coefficients of the design's columns.
    risk : Risk
        The risk that was minimised, penalty included.
    reference : ndarray (p,) or None
        Coefficients of the reference level of a root-type loss.
    alpha : float
        Strength of the penalty, as in the fit.
    groups : ndarray of int (n,) or None
        Codes that a tuple never crosses.
    pooled : bool
        Whether each anchor's tuples were pooled.
    """

    statistic: Statistic
    tuples: TupleSet
    design: Design
    X: FloatArray
    carried: Carried
    weight: FloatArray | None
    w: FloatArray
    risk: Risk
    reference: FloatArray | None
    alpha: float = 0.0
    groups: IntArray | None = None
    pooled: bool = False
    limit: int = LIMIT


@final
@dataclass(frozen=True)
class Covariance:
    """Covariance of the coefficients of the design's columns.

    Attributes
    ----------
    matrix : ndarray (p, p)
        The sandwich :math:`A^{-1} V A^{-1}`.
    naive : ndarray (p, p)
        The same as if no label were shared: wrong, for comparison.
    df : float
        Degrees of freedom of the t quantiles.
    kind : str
        Whose scores were summed: "rows", "tuples" or "anchors".
    n_units : int
        How many metasamples (or pooled anchors) the naive errors took as independent.
    bread : ndarray (p, p)
        The inverse Hessian :math:`A^{-1}`.
    third : Third or None
        How lopsided the gradient is, where that is known well.
    """

    matrix: FloatArray
    naive: FloatArray
    df: float
    kind: str
    n_units: int
    bread: FloatArray
    third: Third | None = None

    def skewness(self, z: FloatArray) -> Skewness | None:
        """Skewness of the estimates z w at features z (q, p), or None if not known well.

        At most one, as that of a single unit in a sum of independent ones.
        """
        if self.third is None:
            return None
        spread = np.einsum("qa,ab,qb->q", z, self.matrix, z)
        scale = np.where(spread > 0, spread, np.inf) ** 1.5
        # the estimate moves by minus the inverse Hessian times the gradient
        bend, centre = (
            np.clip(-value / scale, -1.0, 1.0) for value in self.third.along(z @ self.bread)
        )
        return Skewness(bend, centre)


def covariance(record: Record) -> Covariance:
    r"""Estimate the covariance :math:`A^{-1} V A^{-1}` of the coefficients.

    A is the Hessian of the risk with its penalty, V the variance of the gradient under shared
    labels.  Degrees of freedom follow Satterthwaite: V is a sum over nearly independent units,
    and how unequal these are says how well it is known.
    """
    bread = _inverse(_hessian(record.risk, record.w))
    found = _pooled_meat(record) if record.pooled else _meat(record)
    V = _positive_part(found.variance())
    df = degrees_of_freedom(found, V)
    anchors = int(np.count_nonzero(np.any(found.units != 0, axis=1)))
    n_units = anchors if found.kind == "anchors" else record.tuples.count()
    naive = bread @ found.naive @ bread
    return Covariance(bread @ V @ bread, naive, df, found.kind, n_units, bread, found.third)


def degrees_of_freedom(found: Meat, V: FloatArray) -> float:
    r"""Satterthwaite's degrees of freedom of V, averaged over directions.

    With :math:`q_i` the share of unit i in the trace of :math:`V^{-1} V`,
    :math:`\mathrm{df} = (2/p)\,(\sum q_i)^2 / \sum_{i \sim j} (q_i - \bar q)(q_j - \bar q)`,
    which is the number of units when they are independent and normal.
    """
    n, p = found.units.shape
    inverse = np.linalg.pinv(V, hermitian=True)
    q = np.einsum("ia,ia->i", found.units @ inverse, found.overlap.spread(found.units))
    centred = (q - q.mean())[:, None]
    near = found.overlap if found.near is None else found.near
    noise = float((centred * near.spread(centred)).sum())
    noise = max(noise, float((centred**2).sum()), 1e-300)
    return float(np.clip(2.0 / p * q.sum() ** 2 / noise, 1.0, n))


def _meat(record: Record) -> Meat:
    Z, w, reference = _extended(record)
    slope = slope_of(record.statistic.loss, w, reference)
    p = record.w.size
    return meat(slope, record.tuples, Z, record.carried.labels, w, record.weight, p, record.limit)


def _extended(record: Record) -> tuple[Features, FloatArray, FloatArray | None]:
    """Features, coefficients and reference level with the pilot as one more, held, column."""
    Z = record.design.features(record.X)
    carried = record.carried
    if carried.offset is None or carried.pilot is None:
        return Z, record.w, record.reference
    w = np.append(record.w, -1.0)
    reference = None if record.reference is None else np.append(record.reference, 0.0)
    if isinstance(Z, Lifted):
        pilot, function = carried.pilot, Z.function
        lifted = Lifted(Z.X, lambda x: np.column_stack([function(x), pilot.predict(x)]))
        return lifted, w, reference
    return np.column_stack([Z, carried.offset]), w, reference


def _pooled_meat(record: Record) -> Meat:
    """Scores of rows whose tuples were pooled, each tuple put at the row it is counted for.

    Features that are not affine in x, and labels that were divided by a pilot of their spread,
    vary little inside a neighbourhood; this approximation is as good as the pooling itself.
    """
    p, weight = record.w.size, record.weight
    w = np.concatenate([record.w, [-1.0, 0.0]])
    level = np.concatenate([np.zeros(p + 1), [1.0]])
    reference = None if record.reference is None else level
    slope = slope_of(record.statistic.loss, w, reference)
    z, size = _framed(record, record.X)
    share = size ** (1.0 / record.tuples.arity)
    if np.any(share != 1.0):
        weight = share if weight is None else share * weight
    return meat(
        slope, record.tuples, z, record.carried.labels, w, weight, p, record.limit, local=True
    )


def _framed(record: Record, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Features of carried labels at x: scaled columns, pilot and level; and the loss's size."""
    statistic = record.statistic
    columns, frame = record.design.columns(x), frame_at(statistic, record.carried, x)
    level = np.zeros(x.shape[0]) if record.reference is None else columns @ record.reference
    scaled = np.column_stack([columns, frame.shift]) / frame.stretch[:, None]
    size = frame.stretch ** (loss_degree(statistic) / (float(statistic.scale or 0) or 1.0))
    return np.column_stack([scaled, level]), size


def _hessian(risk: Risk, w: FloatArray) -> FloatArray:
    found = risk.hessian(w)
    if found is None:  # a loss without a second derivative: differences of the gradient
        columns = []
        for j in range(w.size):
            step = np.zeros(w.size)
            step[j] = 1e-5 * max(abs(w[j]), 1.0)
            columns.append((risk.gradient(w + step) - risk.gradient(w - step)) / (2 * step[j]))
        found = np.stack(columns, axis=1)
    return np.asarray((found + found.T) / 2)


def _inverse(A: FloatArray) -> FloatArray:
    size = np.sqrt(np.abs(np.diag(A)))
    size = np.where(size > 0, size, 1.0)
    inner = np.linalg.pinv(A / np.outer(size, size), rcond=1e-12, hermitian=True)
    return np.asarray(inner / np.outer(size, size))


def _positive_part(V: FloatArray) -> FloatArray:
    """Project on the positive semidefinite matrices: V is unbiased, but can miss them."""
    size = np.sqrt(np.maximum(np.abs(np.diag(V)), 1e-300))
    values, vectors = np.linalg.eigh(V / np.outer(size, size))
    if values[0] >= 0:
        return V
    kept = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return np.asarray(kept * np.outer(size, size))
