"""Rows that are adjacent in the order of one column of x: sliding, adjacent, disjoint."""

from dataclasses import dataclass, field
from typing import final

import numpy as np

from multiobs import _check
from multiobs._types import FloatArray, IntArray
from multiobs.samplers.base import Counted, Sampler, Streaming
from multiobs.samplers.geometry import in_proportion
from multiobs.samplers.ties import shuffled_ties, sliding_average
from multiobs.tuples import Tuples, Windows, group_ends, order_by, tie_sizes


@final
@dataclass(frozen=True)
class SlidingWindow(Streaming):
    """Algorithm 3 of the paper: every m adjacent rows, n - m + 1 metasamples, one column of x.

    Rows with equal x have no order: the windows are averaged over all orders of each tie, as a
    weighted list, or where that would be too long one order is drawn.

    Examples
    --------
    >>> x = np.array([[0.3], [0.1], [0.2]])
    >>> SlidingWindow().build(x, 2, np.random.default_rng(0)).listed().members.tolist()
    [[1, 2], [2, 0]]
    """

    def build(
        self,
        X: FloatArray,
        arity: int,
        rng: np.random.Generator,
        groups: IntArray | None = None,
    ) -> Windows | Tuples:
        X, groups = _check.sampling(X, arity, rng, groups)
        order, ends, sizes = _in_order("SlidingWindow", X, groups)
        if arity > 1 and sizes.size < order.size:
            average = sliding_average(order, sizes, ends, arity)
            if average is not None:
                return average
            order = shuffled_ties(order, sizes, rng)
        stop = np.minimum(np.arange(order.size, dtype=np.int64) + arity, ends)
        return Windows(order, stop, arity)

    def settled(self) -> bool:
        return True

    def tail(self, x: FloatArray, arity: int) -> int:
        # a later row may enlarge the last tie, and with it the windows that reach into it
        reached = max(int(np.searchsorted(x, x[-1])) - (arity - 1), 0) if x.size else 0
        return int(np.searchsorted(x, x[reached])) if x.size else 0


@final
@dataclass(frozen=True)
class Adjacent(Counted):
    """Each row with the next rows in the order of x, all m-subsets that contain it; one column.

    Intervals that hold a number of rows instead of having a width: no row is without partners,
    however unevenly x is spread.  Rows with the same x are treated alike: as many further
    rows are taken in as it needs to reach ``n_rows`` beyond them, and none where they are more
    than ``n_rows`` themselves.

    Parameters
    ----------
    n_rows : int
        How many further rows, at least m - 1.
    by_group : bool
        Whether a group of g among n rows has windows of only ``n_rows`` √(g/n): rows of a small
        group lie far from each other.

    Examples
    --------
    >>> x = np.array([[0.3], [0.1], [9.0], [0.2]])
    >>> Adjacent(2).build(x, 2, np.random.default_rng(0)).listed().members.tolist()
    [[1, 3], [1, 0], [3, 0], [3, 2], [0, 2]]
    """

    n_rows: int = 16
    by_group: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        _check.integer("n_rows", self.n_rows, low=1)
        if self.by_group is not False:
            _check.flags(by_group=self.by_group)

    def partners(self) -> int:
        return self.n_rows

    def with_partners(self, count: int, by_group: bool) -> "Adjacent":
        return Adjacent(count, by_group)

    def build(
        self,
        X: FloatArray,
        arity: int,
        rng: np.random.Generator,
        groups: IntArray | None = None,
    ) -> Windows:
        X, groups = _check.sampling(X, arity, rng, groups)
        if self.n_rows < arity - 1:
            raise ValueError(
                f"n_rows must be at least {arity - 1} for {arity} observations, got {self.n_rows}"
            )
        order, ends, size = _in_order("Adjacent", X, groups)
        end = np.repeat(np.cumsum(size), size)
        rows: IntArray | int = self.n_rows
        if self.by_group:
            members = ends - np.searchsorted(ends, ends, side="left")
            rows = in_proportion(self.n_rows, members, order.size, arity)
        reached = end[np.minimum(end - 1 + rows, ends - 1)]
        stop = np.where(np.repeat(size, size) > rows, end, reached)
        return Windows(order, stop.astype(np.int64), arity)


@final
@dataclass(frozen=True)
class Disjoint(Sampler):
    """The partition into blocks of m adjacent rows (footnote to Algorithm 3), one column of x.

    Rows with equal x have no order: one is drawn.

    Examples
    --------
    >>> x = np.array([[0.3], [0.1], [0.2], [0.4]])
    >>> Disjoint().build(x, 2, np.random.default_rng(0)).members.tolist()
    [[1, 2], [0, 3]]
    """

    def build(
        self,
        X: FloatArray,
        arity: int,
        rng: np.random.Generator,
        groups: IntArray | None = None,
    ) -> Tuples:
        X, groups = _check.sampling(X, arity, rng, groups)
        order, ends, sizes = _in_order("Disjoint", X, groups)
        order = shuffled_ties(order, sizes, rng)
        position = np.arange(order.size, dtype=np.int64)
        begins = np.searchsorted(ends, ends, side="left")
        first = position[((position - begins) % arity == 0) & (position + arity <= ends)]
        return Tuples(order[first[:, None] + np.arange(arity)], X.shape[0])


def _in_order(
    name: str, X: FloatArray, groups: IntArray | None
) -> tuple[IntArray, IntArray, IntArray]:
    """Order of the one column, the end of each position's group, and the sizes of ties."""
    if X.shape[1] != 1:
        raise ValueError(
            f"{name} needs one column of x, got {X.shape[1]}: use Nearest in more columns"
        )
    order = order_by(X[:, 0], groups)
    ends = group_ends(order, groups)
    if ends is None:
        ends = np.full(order.size, order.size, dtype=np.int64)
    return order, ends, tie_sizes(X[order, 0], ends)
