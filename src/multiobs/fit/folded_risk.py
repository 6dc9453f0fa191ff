"""Risk of a high degree in many coefficients: no tensor of them is ever formed."""

from collections.abc import Sequence
from typing import final

import numpy as np

from multiobs._types import FloatArray
from multiobs.fit.kept_risk import KeptRisk
from multiobs.fit.risk import highest_turn
from multiobs.statistics.kernels import Monomials
from multiobs.statistics.losses import Factor, Loss
from multiobs.sums import Affine, Features, added, contract, folded, many_features
from multiobs.tuples import Tuples, TupleSet

Part = tuple[float, Monomials, int, int]  # a number, a kernel, powers of r and of the level


@final
class FoldedRisk(KeptRisk):
    r"""The summed loss over tuples in closed form, evaluated where it is asked for.

    The loss is :math:`\sum c\, h(y) r^j \gamma^l` with r the prediction and γ the reference level
    at the representative; see :mod:`multiobs.sums.folding`.

    Parameters
    ----------
    tuples : TupleSet
        Which rows go together.
    derivative : sequence of Factor
        Terms of the derivative of the loss in r.
    Z : ndarray (n, p)
        Features of the rows.
    y : ndarray (n,) or (n, s)
        Labels.
    weight : ndarray (n,) or None
        Weights of the rows.
    level : ndarray (n,)
        The reference level at the rows.
    offset : ndarray (n,), optional
        Added to the predictions.
    """

    def __init__(
        self,
        tuples: TupleSet,
        derivative: Sequence[Factor],
        Z: FloatArray,
        y: FloatArray,
        weight: FloatArray | None,
        level: FloatArray,
        *,
        offset: FloatArray | None = None,
    ) -> None:
        super().__init__()
        self._tuples, self._factors, self._Z, self._y = tuples, derivative, Z, y
        self._weight, self._level = weight, level
        self._offset = np.zeros(Z.shape[0]) if offset is None else offset
        slope = [part for factor in derivative for part in _expanded(factor)]
        self._orders = (
            _summed([(c / (j + 1), h, j + 1, power) for c, h, j, power in slope]),
            _summed(slope),
            _summed([(c * j, h, j - 1, power) for c, h, j, power in slope if j]),
        )
        self._degree = 1 + max(j for _, _, j, _ in slope)

    @property
    def n_coefficients(self) -> int:
        return int(self._Z.shape[1])

    def _formed(self, w: FloatArray, order: int) -> FloatArray:
        labels = np.column_stack([self._y, self._Z @ w + self._offset, self._level])
        kernel = self._orders[order]
        return contract(self._tuples, kernel, self._Z, labels, order, weight=self._weight)

    def start(self, one: FloatArray | None) -> FloatArray:
        if one is None:
            return np.zeros(self.n_coefficients)
        at = np.linspace(-2.0, 2.0, self._degree + 1)  # as many values as the polynomial needs
        values = [self.value(s * one) for s in at]
        fitted = np.polynomial.Polynomial.fit(at, values, self._degree).convert()
        return np.asarray(one * highest_turn(np.asarray(fitted.coef, dtype=np.float64)))

    def fixed(self, value: float) -> "FoldedRisk":
        """Return the risk of the other coefficients when the last one is held at a value."""
        held = self._offset + value * self._Z[:, -1]
        Z = np.ascontiguousarray(self._Z[:, :-1])
        given = (self._tuples, self._factors, Z, self._y, self._weight, self._level)
        return FoldedRisk(*given, offset=held)


def folds(loss: Loss, Z: Features | Affine, level: FloatArray | None) -> bool:
    """Whether tensors of the coefficients of this loss would be too large to be formed."""
    if (loss.degree or 0) <= 2 or not isinstance(Z, np.ndarray) or not many_features(Z):
        return False
    needs_level = any(part.above_level for part in loss.derivative)
    known = all(part.kernel.polynomial is not None for part in loss.derivative)
    return bool(loss.derivative) and known and (level is not None or not needs_level)


def folded_risk(
    loss: Loss,
    tuples: TupleSet,
    Z: Features | Affine,
    y: FloatArray,
    weight: FloatArray | None,
    level: FloatArray | None,
    *,
    held: float | None = None,
) -> FoldedRisk:
    """Return the risk of a loss that :func:`folds`.

    Parameters
    ----------
    loss : Loss
        What is summed.
    tuples, Z, y, weight
        As in :class:`FoldedRisk`.
    level : ndarray (p,) or None
        Coefficients of the reference level.
    held : float, optional
        Value at which the last coefficient is held.
    """
    assert isinstance(Z, np.ndarray)
    if isinstance(tuples, Tuples) and tuples.representative is not None:
        # every member as a row of its own, which lies where the representative does
        members, m = tuples.members.reshape(-1), tuples.arity
        Z, y = np.repeat(Z[tuples.representative], m, axis=0), y[members]
        weight = None if weight is None else weight[members]
        own = np.arange(members.size, dtype=np.int64).reshape(-1, m)
        tuples = Tuples(own, members.size, weight=tuples.weight)
    at_rows = np.zeros(Z.shape[0]) if level is None else Z @ level
    found = FoldedRisk(tuples, loss.derivative, Z, y, weight, at_rows)
    return found if held is None else found.fixed(held)


def _expanded(factor: Factor) -> list[Part]:
    """Write h(y) (r - γ)^above r^power, above zero or one, as powers of r and γ."""
    kernel = factor.kernel.polynomial
    assert kernel is not None
    if not factor.above_level:
        return [(1.0, kernel, factor.power, 0)]
    return [(1.0, kernel, factor.power + 1, 0), (-1.0, kernel, factor.power, 1)]


def _summed(parts: Sequence[Part]) -> Monomials:
    return added([(c, folded(kernel, (j, power))) for c, kernel, j, power in parts])
