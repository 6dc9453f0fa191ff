r"""Skewness of an estimate when metasamples share labels.

Errors of a spread are skewed: an estimate that is too small comes with a standard error that is
too small as well, and an interval that is symmetric about it misses mostly on one side.  How much
depends on the direction: a line's value at one end subtracts what happens at the other.

To second order the studentised sum T of tuple scores is made normal by
:math:`T + (\beta/3) T^2 + \gamma/6` with :math:`\beta = (K + P/2)/V^{3/2}` and
:math:`\gamma = (K + P)/V^{3/2}`.  Both sum :math:`s_t s_{t'} s_{t''}` over triples of tuples: K
over those that overlap mutually, P over those of which one overlaps two that are apart.  K + P is
the third cumulant of the sum; a third of P is missing from the covariance of the sum with V.  For
a mean of independent values P = 0, which is Hall's (1992) case; for one wide window of pairs these
are the terms of a studentised U-statistic (Helmers 1991).
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.native.window_sums import window_sums

CHUNK = 2**17  # numbers in a temporary array


@final
@dataclass(frozen=True)
class Third:
    """Sums over triples of tuples as cubic forms of the direction: K + P/2 and K + P.

    Attributes
    ----------
    products : tuple of (float, float, ndarray (u, p), ndarray (u, p), ndarray (u, p))
        Parts of both forms: their two coefficients, and three linear forms of each unit.
    """

    products: tuple[tuple[float, float, FloatArray, FloatArray, FloatArray], ...]

    def along(self, directions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values of both forms in each of the directions (q, p), each (q,).

        >>> one = np.ones((3, 1))
        >>> Third(((2.0, 1.0, one, one, one),)).along(np.eye(1))
        (array([6.]), array([3.]))
        """
        q, p = directions.shape
        found = np.zeros((2, q))
        for half, whole, a, b, c in self.products:
            value = _along(a, b, c, directions) if p * p > q else _by_tensor(a, b, c, directions)
            found[0] += half * value
            found[1] += whole * value
        return found[0], found[1]

    def tensors(self) -> tuple[FloatArray, FloatArray]:
        """Both forms as tensors (p, p, p): all that is left to know once the units are gone.

        >>> one = np.ones((3, 1))
        >>> Third(((2.0, 1.0, one, one, one),)).tensors()[0]
        array([[[6.]]])
        """
        p = self.products[0][2].shape[1]
        found = np.zeros((2, p, p, p))
        for half, whole, a, b, c in self.products:
            cube = _tensor(a, b, c)
            found[0] += half * cube
            found[1] += whole * cube
        return found[0], found[1]


def _along(a: FloatArray, b: FloatArray, c: FloatArray, directions: FloatArray) -> FloatArray:
    """Σ (a·d)(b·d)(c·d) over units for each direction d."""
    q = directions.shape[0]
    found = np.empty(q)
    step = max(1, CHUNK // max(a.shape[0], 1))
    for at in range(0, q, step):
        d = directions[at : at + step].T
        left = a @ d
        middle = left if b is a else b @ d
        right = left if c is a else middle if c is b else c @ d
        found[at : at + step] = np.einsum("uq,uq,uq->q", left, middle, right)
    return found


def _by_tensor(a: FloatArray, b: FloatArray, c: FloatArray, directions: FloatArray) -> FloatArray:
    """Return the same by the tensor of the form, for many directions."""
    cube = _tensor(a, b, c)
    return np.asarray(np.einsum("abc,qa,qb,qc->q", cube, directions, directions, directions))


def _tensor(a: FloatArray, b: FloatArray, c: FloatArray) -> FloatArray:
    """Σ a ⊗ b ⊗ c over units, (p, p, p)."""
    p = a.shape[1]
    tensor = np.zeros((p * p, p))
    step = max(1, CHUNK // p**2)
    for at in range(0, a.shape[0], step):
        part = slice(at, at + step)
        outer = (a[part, :, None] * b[part, None, :]).reshape(-1, p * p)
        tensor += outer.T @ c[part]
    return tensor.reshape(p, p, p)


def of_tensors(bend: FloatArray, centre: FloatArray) -> Third:
    """Return both forms K + P/2 and K + P from their tensors (p, p, p).

    >>> of_tensors(np.full((1, 1, 1), 6.0), np.full((1, 1, 1), 3.0)).along(np.eye(1))
    (array([6.]), array([3.]))
    """
    p = bend.shape[0]
    i, j, k = np.indices((p, p, p)).reshape(3, -1)
    one = np.eye(p)
    return Third(
        (
            (1.0, 0.0, one[i] * bend.reshape(-1, 1), one[j], one[k]),
            (0.0, 1.0, one[i] * centre.reshape(-1, 1), one[j], one[k]),
        )
    )


def of_independent(units: FloatArray) -> Third:
    """Σ u³ of units that share nothing."""
    return Third(((1.0, 1.0, units, units, units),))


def of_band(units: FloatArray, spread: FloatArray, stop: IntArray) -> Third:
    r"""Sums over windows with one tuple each, in the order of x.

    With :math:`S_t` the sum over the windows that overlap t and :math:`F_t` over those from t on,
    :math:`K = \sum_t F_t^3 - (F_t - s_t)^3` and :math:`K + P/3 = \sum_t s_t S_t^2`.

    Parameters
    ----------
    units, spread : ndarray (u, p)
        Scores of the windows, and their sums over the windows that overlap each.
    stop : ndarray of int (u,)
        The first later window that does not overlap.
    """
    place = np.arange(units.shape[0], dtype=np.int64)
    later = window_sums(np.ascontiguousarray(units), np.minimum(place + 1, stop), stop)
    whole = later + units

    return Third(
        (
            (1.5, 3.0, units, spread, spread),
            (-0.5, -2.0, whole, whole, whole),
            (0.5, 2.0, later, later, later),
        )
    )


def of_pairs(g: FloatArray, s: FloatArray, times: FloatArray, share: float) -> Third:
    r"""Sums over pairs of rows: :math:`\sum_i g_i^3 - \sum_t s_t^3`, the triples with a common row.

    Triples without one are left out: they are few or cancel, and their sum is mostly noise.

    Parameters
    ----------
    g : ndarray (n, p)
        Summed scores of the pairs that contain each row.
    s : ndarray (t, p)
        Scores of some of the pairs.
    times : ndarray (t,)
        How often each of them is listed: twice where each row is a neighbour of the other.
    share : float
        How many listed pairs each of them stands for.
    """
    whole = s * times[:, None]
    return Third(((1.0, 1.0, g, g, g), (-share, -share, whole, whole, s)))
