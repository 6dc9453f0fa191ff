r"""Degrees of freedom of a standard error, for each direction on its own.

The variance of an estimate in direction d is a sum :math:`\sum_i q_i` over nearly independent
units, with :math:`q_i = (d \cdot u_i)(d \cdot \sum_{j \sim i} u_j)`.  How unequal these are says
how well it is known (Satterthwaite),

.. math:: \mathrm{df}(d) = \frac{2 (\sum_i q_i)^2}{\sum_{i \sim j} (q_i - \bar q)(q_j - \bar q)},

the number of units when they are independent and normal.  Both sums are forms of d, of degree two
and four, and are kept as such, in coordinates in which no direction is much larger than another:
fourth powers of badly scaled ones would cancel.  One number for all directions would not do: a
single row far out decides some direction of a spline, and says nothing about where thousands of
others lie.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import Any, final

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.inference.meat import Meat
from multiobs.sums.overlaps import Independent

LARGEST = 2**25  # numbers in a temporary array
COEFFICIENTS = 15  # up to which p⁴ numbers are few


@final
@dataclass(frozen=True)
class Shares:
    """Shares of the units in the variance of the gradient, as forms of the direction.

    Attributes
    ----------
    number : float
        How many units there are.
    total : ndarray (r, r)
        Their summed shares.
    near, own : ndarray (r², r²)
        Products of centred shares of units that vary together, and their squares.
    frame : ndarray (p, r)
        Takes a direction to the coordinates of these forms.

    Examples
    --------
    >>> q = np.array([10.0, *[0.1] * 29])  # one of thirty units decides
    >>> found = Shares.of_sums(30.0, np.array([[q.sum()]]), np.array([[q @ q]]))
    >>> float(found.along(np.eye(1))[0].round(2)), float(found.effective(np.eye(1))[0].round(2))
    (3.51, 1.66)
    """

    number: float
    total: FloatArray
    near: FloatArray
    own: FloatArray
    frame: FloatArray

    @staticmethod
    def of_sums(
        number: float,
        total: FloatArray,
        squares: FloatArray,
        near: tuple[FloatArray, FloatArray, float] | None = None,
        frame: FloatArray | None = None,
    ) -> "Shares":
        """Centre the sums of shares.

        Parameters
        ----------
        number : float
            Of units.
        total : ndarray (r, r)
            Summed shares.
        squares : ndarray (r², r²)
            Their summed squares.
        near : tuple of ndarray (r², r²), ndarray (r²,), float, optional
            Products, sums and number over pairs of units that vary together; without it units do
            so with themselves only.
        frame : ndarray (p, r), optional
            Takes a direction to the coordinates of these forms; they are its own by default.
        """
        q = total.reshape(-1)
        own = both = squares - np.outer(q, q) / number
        if near is not None:
            products, times, pairs = near
            middle = np.outer(times, q) / number
            both = products - middle - middle.T + pairs / number**2 * np.outer(q, q)
        return Shares(number, total, both, own, np.eye(total.shape[0]) if frame is None else frame)

    @staticmethod
    def by_parts(total: Mapping[str, Any], frame: FloatArray) -> "Shares":
        """Return the shares of units whose sums were formed part by part, in some coordinates."""
        near = (total["q near"], total["q times"], float(total["pairs"]))
        q = np.asarray(total["q"]).reshape(frame.shape[1], -1)
        return Shares.of_sums(float(total["units"]), q, total["q squares"], near, frame)

    def along(self, directions: FloatArray) -> FloatArray:
        """Degrees of freedom (q,) in each of the directions (q, p)."""
        return self._of(self._squares(directions), 1)

    def effective(self, directions: FloatArray) -> FloatArray:
        """How many units of equal shares would leave the variance as uneven, (q,)."""
        forms = self._squares(directions)
        summed = forms @ self.total.reshape(-1)
        own = np.maximum(np.einsum("qa,qa->q", forms @ self.own, forms), 0.0)
        even = summed**2 / self.number
        return np.asarray(self.number * even / np.maximum(own + even, 1e-300))

    def averaged(self, V: FloatArray) -> float:
        """Degrees of freedom of the whole of V (p, p), averaged over directions."""
        inverse = self.frame.T @ np.linalg.pinv(V, hermitian=True) @ self.frame
        return float(self._of(inverse.reshape(1, -1), V.shape[0])[0])

    def _squares(self, directions: FloatArray) -> FloatArray:
        """Outer products (q, r²) of directions with themselves, of any length."""
        inner = directions @ self.frame
        length = np.abs(inner).max(axis=1, keepdims=True)  # fourth powers are soon too small
        d = inner / np.where(length > 0, length, 1.0)
        return np.asarray((d[:, :, None] * d[:, None, :]).reshape(d.shape[0], d.shape[1] ** 2))

    def _of(self, forms: FloatArray, rank: int) -> FloatArray:
        summed = forms @ self.total.reshape(-1)
        near, own = (np.einsum("qa,qa->q", forms @ each, forms) for each in (self.near, self.own))
        noise = np.maximum(near, own)
        known = 2.0 / rank * summed**2
        even = noise * self.number <= known  # the largest number there can be
        found = np.clip(known / np.where(even, 1.0, noise), 1.0, self.number)
        return np.asarray(np.where(even, self.number, found))

    def packed(self) -> tuple[FloatArray, FloatArray]:
        """Coefficients of both quartic forms, for each product of four that there is."""
        r = self.total.shape[0]
        every = np.sort(np.indices((r,) * 4).reshape(4, -1), axis=0)
        numbers = {each: i for i, each in enumerate(combinations_with_replacement(range(r), 4))}
        at = np.array([numbers[tuple(each)] for each in every.T.tolist()])
        found = np.zeros((2, len(numbers)))
        for each, form in zip(found, (self.near, self.own), strict=True):
            np.add.at(each, at, form.reshape(-1))
        return found[0], found[1]

    def with_packed(self, near: FloatArray, own: FloatArray) -> "Shares":
        """Return the shares with these coefficients of both quartic forms."""
        r = self.total.shape[0]
        at: IntArray = np.array(list(combinations_with_replacement(range(r), 4))).T
        forms = []
        for each in (near, own):
            form = np.zeros((r,) * 4)
            form[tuple(at)] = each
            forms.append(form.reshape(r * r, r * r))
        return replace(self, near=forms[0], own=forms[1])


def n_packed(p: int) -> int:
    """How many coefficients a quartic form of p numbers has.

    >>> n_packed(2)
    5
    """
    return p * (p + 1) * (p + 2) * (p + 3) // 24


def shares_of(found: Meat) -> Shares | None:
    """Shares of the units in V, or None where there are too many numbers for all directions.

    Parameters
    ----------
    found : Meat
        Scores of the units, and which of them overlap.
    """
    n, p = found.units.shape
    if p > COEFFICIENTS or n * p * p > LARGEST:
        return None
    size = np.sqrt(np.einsum("ua,ua->a", found.units, found.units))
    size = np.where(size > 0, size, 1.0)
    units, way = np.linalg.qr(found.units / size)
    frame = np.asarray(way.T * size[:, None])
    spread = units if isinstance(found.overlap, Independent) else found.overlap.spread(units)
    q = (units[:, :, None] * spread[:, None, :]).reshape(n, -1)
    total = q.sum(axis=0).reshape(frame.shape[1], -1)
    overlap = found.overlap if found.near is None else found.near
    near = None
    if not isinstance(overlap, Independent):
        around = overlap.spread(q)
        pairs = float(overlap.spread(np.ones((n, 1))).sum())
        near = (q.T @ around, around.sum(axis=0), pairs)
    return Shares.of_sums(float(n), total, q.T @ q, near, frame)
