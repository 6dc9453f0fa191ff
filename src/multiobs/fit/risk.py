"""Risks: the summed loss as a function of coefficients.  They add.

A penalty is a risk, a part of the data is a risk, and the whole is ``reduce(add, parts)``.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from math import comb
from typing import final

import numpy as np
from scipy import optimize

from multiobs._types import FloatArray
from multiobs.statistics.kernels import Kernel, constant
from multiobs.statistics.losses import Loss
from multiobs.sums.contraction import (
    LIMIT,
    Affine,
    Features,
    Lifted,
    contract_all,
    enumerate_tuples,
    features_of,
    tuple_weights,
    weighted_power,
)
from multiobs.sums.joined import TupleFeatures
from multiobs.sums.wide import many_features
from multiobs.tuples import TupleSet, concatenate

MANY = 2_000  # rows from which a reference level comes from normal equations
TAME = 1e6  # condition of normal equations that lose at most six of sixteen digits


class Risk(ABC):
    """A function of p coefficients with its first two derivatives.

    Examples
    --------
    >>> risk = MomentRisk([None, np.array([-2.0]), np.eye(1)])
    >>> (risk + risk).value(np.ones(1)) == 2 * risk.value(np.ones(1))
    True
    """

    @property
    @abstractmethod
    def n_coefficients(self) -> int:
        """The number p of coefficients."""

    @abstractmethod
    def value(self, w: FloatArray) -> float:
        """The summed loss at coefficients w (p,)."""

    @abstractmethod
    def gradient(self, w: FloatArray) -> FloatArray:
        """Derivative in w, (p,)."""

    @abstractmethod
    def hessian(self, w: FloatArray) -> FloatArray | None:
        """Second derivative in w, (p, p), or None where it is not known."""

    @abstractmethod
    def start(self, one: FloatArray | None) -> FloatArray:
        """Where to begin a minimisation: the best constant function, (p,).

        Parameters
        ----------
        one : ndarray (p,) or None
            Coefficients of the constant function 1, if it is in the class.
        """

    @abstractmethod
    def __add__(self, other: "Risk") -> "Risk":
        """Return the sum of two risks of the same coefficients."""


@final
class MomentRisk(Risk):
    r"""A polynomial of the coefficients, :math:`\sum_k \langle M_k, w^{\otimes k}\rangle`.

    Parameters
    ----------
    tensors : sequence of ndarray or None
        :math:`M_k` of shape (p,) * k for k = 0, 1, …; None is zero.

    Examples
    --------
    >>> risk = MomentRisk([None, np.array([-2.0]), np.array([[1.0]])])
    >>> risk.value(np.array([1.0])), risk.gradient(np.array([1.0]))
    (-1.0, array([0.]))
    """

    def __init__(self, tensors: Sequence[FloatArray | None]) -> None:
        self.tensors = tuple(tensors)
        self._p = next(int(M.shape[0]) for M in self.tensors if M is not None and M.ndim)

    @staticmethod
    def by_power(tensors: Mapping[int, FloatArray]) -> "MomentRisk":
        """Make a risk of the tensors by their power."""
        return MomentRisk([tensors.get(k) for k in range(max(tensors) + 1)])

    @property
    def n_coefficients(self) -> int:
        return self._p

    @property
    def degree(self) -> int:
        """The highest power of the coefficients."""
        return max(k for k, M in enumerate(self.tensors) if M is not None)

    def value(self, w: FloatArray) -> float:
        return float(sum(_applied(M, w, k) for k, M in self._terms()))

    def gradient(self, w: FloatArray) -> FloatArray:
        total = np.zeros(self._p)
        for k, M in self._terms():
            if k >= 1:
                total = total + k * _applied(M, w, k - 1)
        return total

    def hessian(self, w: FloatArray) -> FloatArray:
        total = np.zeros((self._p, self._p))
        for k, M in self._terms():
            if k >= 2:
                total = total + k * (k - 1) * _applied(M, w, k - 2)
        return total

    def start(self, one: FloatArray | None) -> FloatArray:
        # The highest root of the derivative: an upper and a spurious lower minimum are told apart
        # by entering from above.
        return np.zeros(self._p) if one is None else one * highest_turn(self.along(one))

    def along(self, direction: FloatArray) -> FloatArray:
        """Coefficients, from power 0, of the risk as a polynomial in s at w = s · direction."""
        out = np.zeros(len(self.tensors))
        for k, M in self._terms():
            out[k] = float(_applied(M, direction, k))
        return out

    def fixed(self, value: float) -> "MomentRisk":
        """Return the risk of the other coefficients when the last one is held at a value."""
        p = self._p - 1
        out: list[FloatArray] = [np.zeros((p,) * k) for k in range(len(self.tensors))]
        for k, M in self._terms():
            part = M
            for j in range(k + 1):  # j of the k slots hold the last coefficient
                free = part[(slice(0, p),) * (k - j)]
                out[k - j] = out[k - j] + comb(k, j) * value**j * free
                if j < k:
                    part = part[..., -1]
        return MomentRisk(out)

    def scaled(self, factor: float) -> "MomentRisk":
        """Return the risk multiplied by a number."""
        return MomentRisk([None if M is None else M * factor for M in self.tensors])

    def __add__(self, other: Risk) -> Risk:
        if not isinstance(other, MomentRisk):
            return SumRisk([self, other])
        size = max(len(self.tensors), len(other.tensors))
        out: list[FloatArray | None] = []
        for k in range(size):
            parts = [r.tensors[k] for r in (self, other) if k < len(r.tensors)]
            some = [M for M in parts if M is not None]
            out.append(None if not some else some[0] if len(some) == 1 else some[0] + some[1])
        return MomentRisk(out)

    def _terms(self) -> list[tuple[int, FloatArray]]:
        return [(k, M) for k, M in enumerate(self.tensors) if M is not None]


def highest_turn(coefficients: FloatArray) -> float:
    """Highest real root of the derivative of a polynomial, given from power 0; 0 if none is.

    >>> highest_turn(np.array([0.0, -3.0, 0.0, 1.0]))  # s³ - 3 s turns at -1 and 1
    1.0
    """
    roots = np.polynomial.Polynomial(coefficients).deriv().roots()
    real = roots[np.abs(roots.imag) <= 1e-6 * (1 + np.abs(roots.real))].real
    return float(real.max()) if real.size else 0.0


def _applied(M: FloatArray, w: FloatArray, times: int) -> FloatArray:
    for _ in range(times):
        M = M @ w
    return M


@final
class TupleRisk(Risk):
    """The summed loss of listed tuples, for any loss.

    Parameters
    ----------
    loss : Loss
        Loss in r-space.
    z : ndarray (t, p) or TupleFeatures
        Features of the representatives.
    Y : ndarray (t, m) or (t, m, s)
        Labels of the members.
    weight : ndarray (t,) or None
        Weights of the tuples.
    offset : ndarray (t,) or None
        Added to the predictions.
    """

    def __init__(
        self,
        loss: Loss,
        z: FloatArray | TupleFeatures,
        Y: FloatArray,
        weight: FloatArray | None = None,
        offset: FloatArray | None = None,
    ) -> None:
        self.loss, self.z, self.Y, self.weight = loss, z, Y, weight
        self.offset = np.zeros(Y.shape[0]) if offset is None else offset

    @property
    def n_coefficients(self) -> int:
        return self.z.n_columns if isinstance(self.z, TupleFeatures) else int(self.z.shape[1])

    def value(self, w: FloatArray) -> float:
        return float(self._weighted(self.loss.value(self._at(w), self.Y)).sum())

    def gradient(self, w: FloatArray) -> FloatArray:
        return weighted_power(self._weighted(self.loss.gradient(self._at(w), self.Y)), self.z, 1)

    def hessian(self, w: FloatArray) -> FloatArray | None:
        curvature = self.loss.hessian(self._at(w), self.Y)
        return None if curvature is None else weighted_power(self._weighted(curvature), self.z, 2)

    def start(self, one: FloatArray | None) -> FloatArray:
        if one is None:
            return np.zeros(self.n_coefficients)
        known = self.loss.start(self.Y)
        if known is None:
            known = float(optimize.minimize_scalar(lambda s: self.value(one * s)).x)
        return one * known

    def fixed(self, value: float) -> "TupleRisk":
        """Return the risk of the other coefficients when the last one is held at a value."""
        if isinstance(self.z, TupleFeatures):
            return TupleRisk(self.loss, self.z.fixed(value), self.Y, self.weight, self.offset)
        held = self.offset + value * self.z[:, -1]
        return TupleRisk(self.loss, self.z[:, :-1], self.Y, self.weight, held)

    def __add__(self, other: Risk) -> Risk:
        return SumRisk([self, other])

    def _at(self, w: FloatArray) -> FloatArray:
        """Predictions of the tuples, (t,)."""
        here = self.z.forms(w) if isinstance(self.z, TupleFeatures) else self.z @ w
        return np.asarray(here + self.offset)

    def _weighted(self, values: FloatArray) -> FloatArray:
        return values if self.weight is None else values * self.weight


@final
class SumRisk(Risk):
    """A sum of risks that have no common closed form."""

    def __init__(self, parts: Sequence[Risk]) -> None:
        self.parts: list[Risk] = []
        for part in parts:
            self.parts.extend(part.parts if isinstance(part, SumRisk) else [part])

    @property
    def n_coefficients(self) -> int:
        return self.parts[0].n_coefficients

    def value(self, w: FloatArray) -> float:
        return sum(part.value(w) for part in self.parts)

    def gradient(self, w: FloatArray) -> FloatArray:
        return np.asarray(np.sum([part.gradient(w) for part in self.parts], axis=0))

    def hessian(self, w: FloatArray) -> FloatArray | None:
        found = [part.hessian(w) for part in self.parts]
        if any(each is None for each in found):
            return None
        return np.asarray(np.sum([each for each in found if each is not None], axis=0))

    def start(self, one: FloatArray | None) -> FloatArray:
        first = next((part for part in self.parts if not isinstance(part, MomentRisk)), None)
        return np.zeros(self.n_coefficients) if first is None else first.start(one)

    def __add__(self, other: Risk) -> Risk:
        return SumRisk([*self.parts, other])


def ridge(strength: FloatArray) -> MomentRisk:
    r"""Penalty :math:`\sum_c s_c w_c^2` as a risk.

    >>> ridge(np.array([0.0, 2.0])).value(np.array([5.0, 1.0]))
    2.0
    """
    return MomentRisk([None, np.zeros(strength.size), np.diag(strength)])


def risk_of_loss(
    loss: Loss,
    tuples: TupleSet,
    Z: Features | Affine,
    y: FloatArray,
    *,
    weight: FloatArray | None = None,
    reference: FloatArray | None = None,
    limit: int = LIMIT,
) -> MomentRisk | TupleRisk:
    """Sum a loss over the tuples: :func:`multiobs.empirical_risk` behind its door."""
    if not loss.sums:
        part = concatenate(list(enumerate_tuples(tuples, limit)), tuples.arity, tuples.n_rows)
        z: FloatArray | TupleFeatures
        if isinstance(Z, np.ndarray) and many_features(Z):
            z = TupleFeatures(part, Z)
        else:
            z = features_of(part, Z)
        return TupleRisk(loss, z, y[part.members], tuple_weights(part, weight))
    gamma = reference_level(loss, Z, y) if reference is None else reference
    if gamma is None:
        loss, gamma = loss.settled(y), np.zeros(0)  # a settled loss asks for no level
    level = gamma
    top = max(k for k, _ in loss.sums)
    kernels: list[Kernel | None] = [None] * (top + 1)
    for k, kernel in loss.sums:
        kernels[k] = kernel
    found = contract_all(tuples, kernels, Z, y, weight=weight, limit=limit)
    sums = {k: each for k, each in enumerate(found) if each is not None}
    return MomentRisk.by_power(loss.by_power(sums, lambda tensor: np.asarray(tensor @ level)))


def total_weight(tuples: TupleSet, n_columns: int, weight: FloatArray | None) -> float:
    """Summed weight of the tuples: their number when nothing is weighted."""
    ones = constant(1.0, tuples.arity)
    Z = np.ones((tuples.n_rows, 1))
    found = contract_all(tuples, [ones], Z, np.zeros(tuples.n_rows), weight=weight)[0]
    assert found is not None
    return float(found)


def reference_level(loss: Loss, Z: Features | Affine, y: FloatArray) -> FloatArray | None:
    r"""Coefficients of the level c(x) of a root-type loss, or None if it cannot be in the class.

    A level that follows the mean is the least-squares line plus the loss's own offset of the
    residuals; any other level is a constant.  None for a loss without a level, too.
    """
    level = loss.level(y)
    if level is None:
        return None
    rows = some_rows(Z)
    one = constant_direction(rows)
    if one is None:
        return None if level != 0.0 else np.zeros(rows.shape[1])
    if loss.deviations is None:
        return one * level
    line = _least_squares(rows, y)
    above = loss.level(y - rows @ line)
    assert above is not None
    return np.asarray(line + one * above)


def _least_squares(Z: FloatArray, y: FloatArray) -> FloatArray:
    """Least-squares line; of many rows by the normal equations, where these lose few digits."""
    if Z.shape[0] > MANY:
        gram = Z.T @ Z
        if np.linalg.cond(gram) < TAME:
            return np.asarray(np.linalg.solve(gram, Z.T @ y))
    return np.asarray(np.linalg.lstsq(Z, y, rcond=None)[0])


def some_rows(Z: Features | Affine) -> FloatArray:
    """Columns of the rows, or of some thousand of them where they are not made yet."""
    if isinstance(Z, Lifted):
        return Z.function(Z.X)
    return Z.columns(max(1, Z.X.shape[0] // 1000)) if isinstance(Z, Affine) else Z


def constant_direction(Z: FloatArray) -> FloatArray | None:
    """Coefficients of the constant function 1 in the span of the features, or None."""
    sample = Z if Z.shape[0] <= 2000 else Z[:: Z.shape[0] // 1000]
    found = np.linalg.lstsq(sample, np.ones(sample.shape[0]), rcond=None)[0]
    if np.max(np.abs(sample @ found - 1.0), initial=0.0) > 1e-8:
        return None
    return np.asarray(found)
