"""Features of rows: given, affine in x, or any function of x~; and tensors of them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import factorial, prod
from typing import Literal, final

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.sums import series

ROWS = 1 << 15  # rows that pass through the cache at once


@final
@dataclass(frozen=True)
class Lifted:
    """Features of the representative that are not affine in x: z~ = function(x~).

    Parameters
    ----------
    X : ndarray, (n, d)
        Positions of the rows.
    function : callable
        Takes representatives (t, d) and returns features (t, p).
    """

    X: FloatArray
    function: Callable[[FloatArray], FloatArray]


@final
@dataclass(frozen=True)
class Affine:
    """Columns [1, (x - centre) / spread] that are made row by row where they are needed.

    Parameters
    ----------
    X : ndarray, (n, d)
        Positions of the rows.
    centre, spread : ndarray, (d,)
        Units of the columns.
    intercept : bool
        Whether the constant comes first.

    Examples
    --------
    >>> Affine(np.array([[1.0], [3.0]]), np.array([2.0]), np.array([0.5]), True).columns()
    array([[ 1., -2.],
           [ 1.,  2.]])
    """

    X: FloatArray
    centre: FloatArray
    spread: FloatArray
    intercept: bool

    def take(self, rows: IntArray) -> FloatArray:
        """Columns of some rows, without the constant."""
        out: FloatArray = self.X[rows]
        out -= self.centre
        out /= self.spread
        return out

    def columns(self, every: int = 1) -> FloatArray:
        """Columns (n, p) of all rows, or of every so many."""
        X, first = self.X[::every], int(self.intercept)
        # One column of x: columns apart in memory, so that each is read without the other.
        order: Literal["F", "C"] = "F" if X.shape[1] == 1 else "C"
        out = np.ones((X.shape[0], first + X.shape[1]), order=order)
        for begin in range(0, X.shape[0], ROWS):
            scaled = out[begin : begin + ROWS, first:]
            np.subtract(X[begin : begin + ROWS], self.centre, out=scaled)
            np.divide(scaled, self.spread, out=scaled)
        return out


Features = FloatArray | Lifted


def split_constants(Z: FloatArray) -> tuple[FloatArray, dict[int, float], list[int]]:
    """Varying columns of Z, the values of the constant ones, and which columns vary."""
    columns = range(Z.shape[1])
    same = [c for c in columns if np.all(Z[:64, c] == Z[0, c])]  # most that vary do so at once
    fixed = {c: float(Z[0, c]) for c in same if np.all(Z[:, c] == Z[0, c])}
    varying = [c for c in columns if c not in fixed]
    chosen = slice(varying[0], varying[0] + 1) if len(varying) == 1 else varying
    return np.ascontiguousarray(Z[:, chosen]), fixed, varying


@lru_cache(maxsize=16)
def tensor_map(
    k: int, m: int, p: int, fixed: tuple[tuple[int, float], ...], varying: tuple[int, ...]
) -> tuple[IntArray, FloatArray]:
    r"""Which coefficients of :math:`e^{\zeta\cdot m \tilde u}` make up the k-th tensor.

    Parameters
    ----------
    k, m, p : int
        The power, the observations of a tuple, the number of columns.
    fixed : tuple of (int, float)
        Constant columns with their values.
    varying : tuple of int
        The other columns.

    Returns
    -------
    (ndarray of int, ndarray), each of shape (p,) * k
        Where the coefficient of each entry stands, and what it is multiplied by.

    Examples
    --------
    >>> at, size = tensor_map(2, 2, 2, ((0, 1.0),), (1,))
    >>> at.tolist(), size.tolist()
    ([[0, 1], [1, 2]], [[1.0, 0.5], [0.5, 0.5]])
    """
    where = series.position(len(varying), k)
    rank, values = {c: i for i, c in enumerate(varying)}, dict(fixed)
    at, sizes = np.zeros((p,) * k, dtype=np.int64), np.ones((p,) * k)
    for entry in product(range(p), repeat=k):
        counts = [0] * len(varying)
        value = 1.0
        for c in entry:
            if c in values:
                value *= values[c]
            else:
                counts[rank[c]] += 1
        alpha = tuple(counts)
        at[entry] = where[alpha]
        sizes[entry] = value * (prod(factorial(a) for a in alpha) / float(m) ** sum(alpha))
    return at, sizes
