"""The risk of a linear class when each anchor's tuples are put at their mean representative."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import comb, perm
from typing import final

import numpy as np

from multiobs._types import FloatArray
from multiobs.fit.design import Design
from multiobs.fit.kept_risk import KeptRisk
from multiobs.fit.problem import Problem
from multiobs.fit.risk import MomentRisk, Risk, highest_turn
from multiobs.statistics.losses import Loss
from multiobs.sums import (
    Affine,
    Features,
    TupleFeatures,
    distinct,
    pool,
    tuple_weights,
    weighted_power,
)
from multiobs.tuples import Tuples, TupleSet, shown

ROWS = 1 << 16  # tuples whose kernels are formed at once
WIDE = 12  # columns from which tensors of a third and fourth power cost more than the rows


@final
class RowRisk(KeptRisk):
    r"""A polynomial in the prediction at each row, :math:`\sum_i \sum_k c_{ik} (o_i + z_i w)^k`.

    The same function as a :class:`MomentRisk`, whose tensors of p^k numbers it does not need.

    Parameters
    ----------
    z : ndarray (n, p) or TupleFeatures
        Features.
    powers : mapping of int to ndarray (n,)
        Coefficients of the powers.
    offset : ndarray (n,), optional
        Added to the predictions; tuples have one of their own.

    Examples
    --------
    >>> risk = RowRisk(np.ones((1, 1)), {1: np.array([-2.0]), 2: np.ones(1)}, np.zeros(1))
    >>> risk.value(np.ones(1)), risk.gradient(np.ones(1)), risk.start(np.ones(1))
    (-1.0, array([0.]), array([1.]))
    """

    def __init__(
        self,
        z: FloatArray | TupleFeatures,
        powers: Mapping[int, FloatArray],
        offset: FloatArray | float = 0.0,
    ) -> None:
        super().__init__()
        self._z, self._powers, self._offset = z, dict(powers), offset

    @property
    def n_coefficients(self) -> int:
        return self._z.n_columns if isinstance(self._z, TupleFeatures) else int(self._z.shape[1])

    def _formed(self, w: FloatArray, order: int) -> FloatArray:
        return weighted_power(self._derivative(w, order), self._z, order)

    def start(self, one: FloatArray | None) -> FloatArray:
        if one is None:
            return np.zeros(self.n_coefficients)
        along = np.zeros(max(self._powers) + 1)
        offset = self._at(np.zeros(one.size))
        here = self._at(one) - offset
        for k, c in self._powers.items():
            for j in range(k + 1):
                along[j] += comb(k, j) * float(np.sum(c * offset ** (k - j) * here**j))
        return one * highest_turn(along)

    def _derivative(self, w: FloatArray, order: int) -> FloatArray:
        """Derivative of that order in the prediction, at each row (n,)."""
        r = self._at(w)
        total = np.zeros(r.size)
        for k in range(max(self._powers), order - 1, -1):  # Horner's way
            total *= r
            if k in self._powers:
                each = self._powers[k]
                total += each if order == 0 else perm(k, order) * each
        return total

    def _at(self, w: FloatArray) -> FloatArray:
        """Predictions of the rows, (n,)."""
        if isinstance(self._z, TupleFeatures):
            return self._z.forms(w)
        return np.asarray(self._z @ w + self._offset)


def joined_risk(
    loss: Loss,
    tuples: TupleSet,
    Z: Features | Affine,
    y: FloatArray,
    weight: FloatArray | None,
    level: FloatArray | None,
    *,
    held: float | None = None,
) -> RowRisk:
    """Risk of a polynomial loss over listed tuples of many features.

    Parameters
    ----------
    loss : Loss
        What is summed.
    tuples : TupleSet
        Which rows go together.
    Z : ndarray (n, p)
        Features of the rows.
    y, weight : ndarray
        Labels, and weights of the rows (n,) or None.
    level : ndarray (p,) or None
        Coefficients of the reference level.
    held : float, optional
        Value at which the last coefficient is held.
    """
    assert isinstance(Z, np.ndarray)
    part = distinct(tuples if isinstance(tuples, Tuples) else tuples.listed())
    at, powers = TupleFeatures(replace(part, weight=None), Z), dict[int, FloatArray]()
    for first in range(0, part.count(), ROWS):
        some = part.take(slice(first, first + ROWS))
        Y, importance = y[some.members], tuple_weights(some, weight)
        sums = {k: kernel(Y) for k, kernel in loss.sums}
        if importance is not None:
            sums = {k: values * importance for k, values in sums.items()}
        high = np.zeros(some.count()) if level is None else TupleFeatures(some, Z).forms(level)
        for k, values in loss.by_power(sums, partial(np.multiply, high)).items():
            powers.setdefault(k, np.empty(part.count()))[first : first + ROWS] = values
    return RowRisk(at if held is None else at.fixed(held), powers)


def pooled_risk(
    problem: Problem, design: Design, reference: FloatArray | None, *, tensors: bool = True
) -> Risk:
    """Risk of a polynomial loss with every anchor's tuples put at their mean representative.

    Parameters
    ----------
    problem : Problem
        What is fitted.
    design : Design
        The class of functions.
    reference : ndarray (p,) or None
        Coefficients of the reference level of a root-type loss.
    tensors : bool
        Whether the risk must be one of tensors, which add up over parts of the tuples.
    """
    tuples, loss = problem.tuples, problem.statistic.loss
    if not loss.sums:
        raise ValueError(
            f"a loss that is not a polynomial needs every tuple, got {shown(tuples.count())} of "
            "them with features that are not affine in x: use SlidingWindow or a smaller epsilon"
        )
    kernels = [h for _, h in loss.sums]
    found = pool(
        tuples,
        kernels,
        problem.X,
        problem.residuals.labels,
        weight=problem.weight,
        limit=problem.limit,
    )
    z, level, size = framed(problem, design, reference, found.x)
    sums = {k: mean for (k, _), mean in zip(loss.sums, found.values.T, strict=True)}
    powers = loss.by_power(sums, lambda values: values * level)
    weight = found.weight * size
    values = {k: each * weight for k, each in powers.items()}
    if not tensors and max(values) > 2 and z.shape[1] > WIDE:
        return RowRisk(z[:, :-1], values, -z[:, -1])
    return MomentRisk.by_power({k: weighted_power(each, z, k) for k, each in values.items()}).fixed(
        -1.0
    )


def framed(
    problem: Problem, design: Design, reference: FloatArray | None, x: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Features of the statistic of residuals at x (n, d).

    With the location-scale map r = shift + stretch r', r' = (w·z - shift) / stretch: the shift is
    one more feature, held at minus one.

    Returns
    -------
    tuple of ndarray
        Features (n, p + 1), reference level (n,) and the size (n,) of the loss.
    """
    statistic = problem.statistic
    columns = design.columns(x)
    way_back = problem.residuals.map_at(x, statistic.scale)
    level = np.zeros(x.shape[0]) if reference is None else columns @ reference
    z = np.column_stack([columns, way_back.shift]) / way_back.stretch[:, None]
    growth = statistic.loss_growth / (float(statistic.scale or 0) or 1.0)
    return z, level, way_back.stretch**growth
