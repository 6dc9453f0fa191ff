r"""Rows that depend on each other: variance of the gradient by clusters, or along x.

Shared labels make metasamples dependent; here the rows themselves are.  What each row alone
contributes, :math:`u_i` (:mod:`multiobs.inference.influence`), is summed within clusters,

.. math:: V = \frac{C}{C-1} \sum_c \Big(\sum_{i \in c} u_i\Big)\Big(\sum_{i \in c} u_i\Big)',

scaled such that with every row a cluster of its own it has the size of the V for independent rows.
Along x, V is the spectrum of the contributions near frequency zero, with equal weights on the first
cosines of the rank of x (Lazarus, Lewis, Stock and Watson 2018),

.. math:: V = \frac{1}{\nu} \sum_{j=1}^{\nu + p - 1} \Lambda_j \Lambda_j', \qquad
   \Lambda_j = \sqrt2 \sum_i \cos\Big(\pi j\, \frac{i - 1/2}{n}\Big) u_i, \qquad
   \nu = 0.4\, n^{2/3}.

Where p coefficients were fitted, the residuals have p - 1 of these directions less.  t quantiles
with :math:`\nu` degrees of freedom belong to it.  A sum over lags would have to reach past the
overlap of the tuples, where it is mostly noise; low frequencies do not see where overlaps end.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal, final

import numpy as np
import numpy.typing as npt

from multiobs import _check
from multiobs._check.labelling import codes as group_codes
from multiobs._types import FloatArray, IntArray
from multiobs.inference.gradient import Gradient
from multiobs.inference.influence import contributions, influences, row_scores
from multiobs.inference.meat import Meat

LARGEST_SCALE = 2.0  # of the correction of influences to the V of independent rows
COSINES, POWER = 0.4, 2 / 3  # how many of them n rows allow, at a good balance of size and power


class Dependence(ABC):
    """How rows depend on each other."""

    name: str

    @abstractmethod
    def df(self, fitted: int) -> float:
        """Degrees of freedom of the variance of a gradient after so many coefficients."""

    @abstractmethod
    def weights(self, rng: np.random.Generator) -> FloatArray:
        """Exponential weights (n,) of rows for a bootstrap, alike where rows depend."""

    @abstractmethod
    def variance(self, found: Meat, gradient: Gradient) -> FloatArray:
        """Variance of a gradient, from the scores that it is summed from."""


@final
@dataclass(frozen=True)
class Clusters(Dependence):
    """Rows of one cluster depend on each other, in any way; clusters do not.

    Attributes
    ----------
    codes : ndarray of int (n,)
        The cluster of each row, numbered from 0.

    Examples
    --------
    >>> Clusters(np.array([0, 0, 1])).outer(np.array([[1.0], [2.0], [-3.0]]))
    array([[36.]])
    """

    codes: IntArray
    name = "clusters"

    @property
    def count(self) -> int:
        """How many clusters there are."""
        return int(self.codes.max(initial=-1)) + 1

    def df(self, fitted: int) -> float:
        return max(self.count - 1.0, 1.0)

    def outer(self, u: FloatArray) -> FloatArray:
        """Estimated variance (p, p) of the sum of the rows u (n, p)."""
        count = self.count
        sums = np.zeros((count, u.shape[1]))
        np.add.at(sums, self.codes, u)
        sums = sums - sums.mean(axis=0)  # under a hypothesis the gradient is not zero
        return np.asarray(sums.T @ sums * (count / max(count - 1, 1)))

    def weights(self, rng: np.random.Generator) -> FloatArray:
        return np.asarray(rng.exponential(size=self.count)[self.codes])

    def variance(self, found: Meat, gradient: Gradient) -> FloatArray:
        u = influences(row_scores(found, gradient.tuples), gradient.tuples).rows
        alone, known = u.T @ u, found.usable_variance()
        rank = max(int(np.linalg.matrix_rank(alone, hermitian=True)), 1)
        scale = float(np.trace(np.linalg.pinv(alone, hermitian=True) @ known)) / rank
        return self.outer(u) * float(np.clip(scale, 1.0 / LARGEST_SCALE, LARGEST_SCALE))


@final
@dataclass(frozen=True)
class SerialDependence(Dependence):
    """Rows depend on those that come shortly before and after in the order of x.

    Attributes
    ----------
    codes : ndarray of int (n,)
        The place of each row's x among the different ones; rows with equal x have no order.
    """

    codes: IntArray
    name = "low frequencies in x"

    @property
    def counts(self) -> IntArray:
        """How many rows there are at each x."""
        return np.bincount(self.codes)

    def df(self, fitted: int) -> float:
        counts = self.counts
        worth = self.codes.size**2 / float(np.sum(counts.astype(np.float64) ** 2))
        most = min(int(COSINES * worth**POWER), counts.size - fitted)
        return float(max(most, 1))

    def outer(self, u: FloatArray, fitted: int) -> FloatArray:
        """Estimated variance (p, p) of the sum of the rows u (n, p) after so many coefficients."""
        from scipy import fft

        counts = self.counts
        sums = np.zeros((counts.size, u.shape[1]))
        np.add.at(sums, self.codes, u)
        along = np.repeat(sums / counts[:, None], counts, axis=0)
        df = int(self.df(fitted))
        waves = fft.dct(along, axis=0)[1 : df + fitted] / np.sqrt(2.0)
        return np.asarray(waves.T @ waves / df)

    def weights(self, rng: np.random.Generator) -> FloatArray:
        counts, length = self.counts, 1.5 * self.codes.size / self.df(1)  # as wide as the cosines
        middle = np.cumsum(counts) - counts / 2
        block = ((middle + rng.uniform(0.0, length)) / length).astype(np.int64)
        return np.asarray(rng.exponential(size=int(block[-1]) + 1)[block][self.codes])

    def variance(self, found: Meat, gradient: Gradient) -> FloatArray:
        u = contributions(row_scores(found, gradient.tuples), gradient)
        return self.outer(u, gradient.n_fitted)


def dependence_of(
    clusters: npt.ArrayLike | Literal["serial"] | None, place: FloatArray
) -> Dependence | None:
    """Read what the user said about dependent rows.

    Parameters
    ----------
    clusters : array-like (n,), "serial" or None
        Labels of clusters, or that rows follow each other in x.
    place : ndarray (n, d)
        Positions of the rows of the fit.
    """
    if clusters is None:
        return None
    n, d = place.shape
    if isinstance(clusters, str):
        if clusters != "serial":
            raise ValueError(
                "clusters must be one label for each row, 'serial' or None, got "
                f"{_check.shown(clusters)}{_check.near(clusters, ['serial'])}"
            )
        if d != 1:
            raise ValueError(f"clusters='serial' needs one column of x, got {d}")
        return SerialDependence(np.unique(place[:, 0], return_inverse=True)[1].reshape(-1))
    codes = group_codes("clusters", clusters, n)
    if int(codes.max(initial=-1)) < 1:
        raise ValueError("clusters must name at least two clusters, got one")
    return Clusters(codes)
