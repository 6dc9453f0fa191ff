r"""Rows that depend on each other: variance of the gradient by clusters, or along x.

Shared labels make metasamples dependent; here the rows themselves are.  What each row alone
contributes, :math:`u_i` (:mod:`multiobs.inference.influence`), is summed within clusters,

.. math:: V = \frac{C}{C-1} \sum_c \Big(\sum_{i \in c} u_i\Big)\Big(\sum_{i \in c} u_i\Big)',

or over lags in the order of x with Bartlett's weights (Newey and West 1987).  Both are scaled such
that with every row a cluster of its own they have the size of the V for independent rows.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal, final

import numpy as np
import numpy.typing as npt

from multiobs import _check
from multiobs._check.labelling import codes as group_codes
from multiobs._types import FloatArray, IntArray
from multiobs.inference.influence import influences, row_scores
from multiobs.inference.meat import Meat, positive_part
from multiobs.tuples import TupleSet

LARGEST_SCALE = 2.0  # of the correction of influences to the V of independent rows


class Dependence(ABC):
    """How rows depend on each other."""

    name: str

    @property
    @abstractmethod
    def n_units(self) -> float:
        """About how many independent units the rows amount to."""

    @abstractmethod
    def outer(self, u: FloatArray) -> FloatArray:
        """Estimated variance (p, p) of the sum of the rows u (n, p)."""

    @abstractmethod
    def weights(self, rng: np.random.Generator) -> FloatArray:
        """Exponential weights (n,) of rows for a bootstrap, alike where rows depend."""

    def variance(self, found: Meat, tuples: TupleSet) -> FloatArray:
        """Variance of a gradient, from the variance that takes rows as independent."""
        u = influences(row_scores(found, tuples), tuples).rows
        alone, known = u.T @ u, positive_part(found.variance())
        rank = max(int(np.linalg.matrix_rank(alone, hermitian=True)), 1)
        scale = float(np.trace(np.linalg.pinv(alone, hermitian=True) @ known)) / rank
        return self.outer(u) * float(np.clip(scale, 1.0 / LARGEST_SCALE, LARGEST_SCALE))


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
    def n_units(self) -> float:
        return float(self.codes.max(initial=-1)) + 1.0

    def outer(self, u: FloatArray) -> FloatArray:
        count = int(self.n_units)
        sums = np.zeros((count, u.shape[1]))
        np.add.at(sums, self.codes, u)
        return np.asarray(sums.T @ sums * (count / max(count - 1, 1)))

    def weights(self, rng: np.random.Generator) -> FloatArray:
        return np.asarray(rng.exponential(size=int(self.n_units))[self.codes])


@final
@dataclass(frozen=True)
class Serial(Dependence):
    """Rows depend on those that come shortly before and after in the order of x.

    Attributes
    ----------
    order : ndarray of int (n,)
        Row numbers in the order of x.
    """

    order: IntArray
    name = "lags of x"

    @property
    def lags(self) -> int:
        """How many rows back dependence is looked for: 4 (n / 100)^(2/9), and twice that."""
        return max(1, 2 * int(4 * (self.order.size / 100) ** (2 / 9)))

    @property
    def n_units(self) -> float:
        return max(self.order.size / (self.lags + 1.0), 2.0)

    def outer(self, u: FloatArray) -> FloatArray:
        sorted_u = u[self.order]
        total = sorted_u.T @ sorted_u
        for lag in range(1, min(self.lags, self.order.size - 1) + 1):
            product = sorted_u[lag:].T @ sorted_u[:-lag]
            total = total + (1.0 - lag / (self.lags + 1.0)) * (product + product.T)
        return np.asarray(total)

    def weights(self, rng: np.random.Generator) -> FloatArray:
        n, length = self.order.size, self.lags + 1
        drawn = np.repeat(rng.exponential(size=n // length + 2), length)
        out = np.empty(n)
        out[self.order] = drawn[int(rng.integers(length)) :][:n]
        return out


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
        return Serial(np.argsort(place[:, 0], kind="stable"))
    codes = group_codes("clusters", clusters, n)
    if int(codes.max(initial=-1)) < 1:
        raise ValueError("clusters must name at least two clusters, got one")
    return Clusters(codes)
