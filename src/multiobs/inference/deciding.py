r"""Which rows decide an estimate, and whether they are too few to be told from chance.

An estimate in direction d varies by :math:`\sum_i d \cdot u_i`, with :math:`u_i` what row i alone
contributes (:mod:`multiobs.inference.influence`); leaving row i out moves it by about
:math:`d \cdot u_i`.  The row's share of the variance is :math:`(d \cdot u_i)^2` of their sum, and
as many rows with equal shares as :math:`1 / \sum_i \mathrm{share}_i^2` would be as uneven.  Where a
class reaches out to a few rows (knots of a spline beyond nearly all x), that number is near one:
errors are then what one label makes of them.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from multiobs._tables import aligned
from multiobs._types import FloatArray, IntArray

FEW = 1.5  # rows with equal shares: with fewer, one has four fifths of the variance
NAMED = 3  # rows in a warning
CHUNK = 2**19  # numbers in a temporary array


@final
@dataclass(frozen=True)
class RowInfluence:
    """Rows with the largest shares in the variance of estimates; ``print`` it.

    Attributes
    ----------
    rows : ndarray of int (k,)
        Numbers of the rows, counted from 0.
    share : ndarray (k,)
        Their shares in the variance, averaged over positions.
    effective : ndarray (q,)
        At each position, how many rows with equal shares would leave the variance as uneven.

    Examples
    --------
    >>> found = influence_of(np.array([[1.0], [-1.0], [4.0]]), np.eye(1), most=2)
    >>> print(found)
    row   share
    2    88.9 %
    0     5.6 %
    as uneven as 1.26 rows with equal shares
    """

    rows: IntArray
    share: FloatArray
    effective: FloatArray

    @property
    def few(self) -> bool:
        """Whether fewer than :data:`FEW` rows decide at some position."""
        return bool(np.any(self.effective < FEW))

    def __str__(self) -> str:
        numbers = zip(self.rows.tolist(), self.share.tolist(), strict=True)
        table = aligned([("row", "share"), *((str(i), f"{100 * s:.1f} %") for i, s in numbers)])
        low, high = float(self.effective.min()), float(self.effective.max())
        number = f"{low:.3g}" if high - low < 0.05 * low else f"{low:.3g} to {high:.3g}"
        return "\n".join([*table, f"as uneven as {number} rows with equal shares"])


def influence_of(u: FloatArray, directions: FloatArray, most: int) -> RowInfluence:
    """Shares of rows in the variance of estimates.

    Parameters
    ----------
    u : ndarray (n, p)
        What each row alone contributes to the gradient.
    directions : ndarray (q, p)
        Of the estimates.
    most : int
        How many rows are named.
    """
    n, q = u.shape[0], directions.shape[0]
    mean, effective = np.zeros(n), np.empty(q)
    step = max(1, CHUNK // max(n, 1))
    for at in range(0, q, step):
        moved = u @ directions[at : at + step].T
        size = np.abs(moved).max(axis=0, initial=0.0)
        share = (moved / np.where(size > 0, size, 1.0)) ** 2
        share = share / np.maximum(share.sum(axis=0), 1e-300)
        mean += share.sum(axis=1)
        effective[at : at + step] = 1.0 / np.maximum((share**2).sum(axis=0), 1.0 / n)
    first = np.argsort(-mean, kind="stable")[:most]
    return RowInfluence(first, mean[first] / q, effective)
