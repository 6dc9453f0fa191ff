"""From x to tuples of rows.  No sampler ever sees a label, so labels can be bought later.

Each sampler has ``build(X, arity, rng, groups=None)``: X is (n, d), ``groups`` holds codes that
a tuple never crosses.  Ties in x are broken by row order, never by y: sorting ties by y would
make adjacent differences too small.
"""

from dataclasses import dataclass
from typing import Literal, final

import numpy as np

from multiobs import _check
from multiobs._types import FloatArray, IntArray
from multiobs.samplers.base import Sampler
from multiobs.samplers.batches import Improved, Naive
from multiobs.samplers.geometry import (
    Scale,
    column_scales,
    graph_of,
    in_ball,
    intervals,
    nearest_with_ties,
    paper_epsilon,
    sorted_column,
)
from multiobs.tuples import Graph, Tuples, Windows, sorted_windows


@final
@dataclass(frozen=True)
class SlidingWindow(Sampler):
    """Algorithm 3 of the paper: every m adjacent rows, n - m + 1 metasamples, one column of x.

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
    ) -> Windows:
        order, ends = sorted_column("SlidingWindow", X, groups)
        stop = np.minimum(np.arange(order.size, dtype=np.int64) + arity, ends)
        return Windows(order, stop, arity)


@final
@dataclass(frozen=True)
class Adjacent(Sampler):
    """Each row with the next rows in the order of x, all m-subsets that contain it; one column.

    Intervals that hold a number of rows instead of having a width: no row is without partners,
    however unevenly x is spread.  Rows with the same x are never told apart: as many further
    rows are taken in as it needs to reach ``n_rows`` beyond them, and none where they are more
    than ``n_rows`` themselves.

    Parameters
    ----------
    n_rows : int
        How many further rows, at least m - 1.

    Examples
    --------
    >>> x = np.array([[0.3], [0.1], [9.0], [0.2]])
    >>> Adjacent(2).build(x, 2, np.random.default_rng(0)).listed().members.tolist()
    [[1, 3], [1, 0], [3, 0], [3, 2], [0, 2]]
    """

    n_rows: int = 16

    def __post_init__(self) -> None:
        _check.integer("n_rows", self.n_rows, low=1)

    def build(
        self,
        X: FloatArray,
        arity: int,
        rng: np.random.Generator,
        groups: IntArray | None = None,
    ) -> Windows:
        if self.n_rows < arity - 1:
            raise ValueError(
                f"n_rows must be at least {arity - 1} for {arity} observations, got {self.n_rows}"
            )
        order, ends = sorted_column("Adjacent", X, groups)
        x, n = X[order, 0], order.size
        # runs of rows with the same x in the same group: where each ends, and how long it is
        last = np.append(np.flatnonzero((x[1:] != x[:-1]) | (ends[1:] != ends[:-1])), n - 1)
        size = np.diff(last, prepend=-1)
        end = np.repeat(last + 1, size)
        reached = end[np.minimum(end - 1 + self.n_rows, ends - 1)]
        stop = np.where(np.repeat(size, size) > self.n_rows, end, reached)
        return Windows(order, stop.astype(np.int64), arity)


@final
@dataclass(frozen=True)
class Disjoint(Sampler):
    """The partition into blocks of m adjacent rows (footnote to Algorithm 3), one column of x.

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
        order, ends = sorted_column("Disjoint", X, groups)
        position = np.arange(order.size, dtype=np.int64)
        begins = np.searchsorted(ends, ends, side="left")
        first = position[((position - begins) % arity == 0) & (position + arity <= ends)]
        return Tuples(order[first[:, None] + np.arange(arity)], X.shape[0])


@final
@dataclass(frozen=True)
class Nearby(Sampler):
    r"""Algorithm 4 of the paper: all m-subsets of rows inside an interval of width epsilon.

    In one column the tuple belongs to its leftmost row.  In more columns the interval becomes a
    ball around each row: all subsets of the row and m - 1 others within epsilon of it.

    Parameters
    ----------
    epsilon : float, "paper" or "auto"
        Width in the units of x.  "paper" is :math:`1/(2\sqrt{n})` scaled to the data: the width
        that holds :math:`\sqrt{n}/2` rows at a typical place.  "auto" asks the estimator to
        choose by validation; a sampler on its own then takes "paper".
    scale : {"robust", "none"} or array of d scales
        Units of the distance in several columns; "robust" divides by interquartile ranges.
    """

    epsilon: float | Literal["paper", "auto"] = "auto"
    scale: Scale = "robust"

    def __post_init__(self) -> None:
        if self.epsilon not in ("paper", "auto"):
            _check.nonnegative("epsilon", self.epsilon)

    def build(
        self,
        X: FloatArray,
        arity: int,
        rng: np.random.Generator,
        groups: IntArray | None = None,
    ) -> Windows | Graph:
        if X.shape[1] == 1:
            width = None if isinstance(self.epsilon, str) else float(self.epsilon)
            return intervals(X[:, 0], width, arity, groups)
        points = X / column_scales(X, self.scale)
        epsilon = paper_epsilon(points) if isinstance(self.epsilon, str) else float(self.epsilon)
        return graph_of(lambda rows: in_ball(points[rows], epsilon), X.shape[0], arity, groups)


@final
@dataclass(frozen=True)
class Nearest(Sampler):
    """Each row with its nearest neighbours, all m-subsets that contain it; any dimension.

    Everybody as near as the last neighbour is taken in, so the tuples do not depend on the
    order of the rows, and duplicates of x are neighbours at distance zero.

    Parameters
    ----------
    n_neighbors : int or "auto"
        Neighbours of a row, at least m - 1.
    scale : {"robust", "none"} or array of d scales
        Units of the distance in several columns; "robust" divides by interquartile ranges.
    """

    n_neighbors: int | Literal["auto"] = "auto"
    scale: Scale = "robust"

    def __post_init__(self) -> None:
        if self.n_neighbors != "auto":
            _check.integer("n_neighbors", self.n_neighbors, low=1)

    def build(
        self,
        X: FloatArray,
        arity: int,
        rng: np.random.Generator,
        groups: IntArray | None = None,
    ) -> Graph:
        k = max(arity - 1, 5) if self.n_neighbors == "auto" else self.n_neighbors
        if k < arity - 1:
            raise ValueError(
                f"n_neighbors must be at least {arity - 1} for {arity} observations, got {k}"
            )
        points = X / column_scales(X, self.scale)
        return graph_of(lambda rows: nearest_with_ties(points[rows], k), X.shape[0], arity, groups)


@final
@dataclass(frozen=True)
class Replicates(Sampler):
    """All m-subsets of the rows that share the very same x; any dimension.

    Examples
    --------
    >>> x = np.array([[0.1], [0.2], [0.1], [0.1]])
    >>> Replicates().build(x, 2, np.random.default_rng(0)).listed().members.tolist()
    [[0, 2], [0, 3], [2, 3]]
    """

    def build(
        self,
        X: FloatArray,
        arity: int,
        rng: np.random.Generator,
        groups: IntArray | None = None,
    ) -> Windows:
        if X.shape[1] == 1:
            return sorted_windows(X[:, 0], 0.0, arity, groups)
        keys = X if groups is None else np.column_stack([X, groups])
        codes = np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)
        order = np.argsort(codes, kind="stable").astype(np.int64)
        stop = np.searchsorted(codes[order], codes[order], side="right").astype(np.int64)
        return Windows(order, stop, arity)


@final
@dataclass(frozen=True)
class Leaves(Sampler):
    """Rows that share a leaf, for every tree of a forest: all m-subsets of each leaf.

    Irrelevant columns do not matter, since a forest does not split on them.  The sampler is
    handed the leaf codes and sees no label; whoever grows the trees must do so on other rows.

    Parameters
    ----------
    codes : array of int, (n, trees)
        Leaf of each row in each tree.

    Examples
    --------
    >>> leaves = Leaves(np.array([[0], [1], [0]]))
    >>> leaves.build(np.zeros((3, 5)), 2, np.random.default_rng(0)).listed().members.tolist()
    [[0, 2]]
    """

    codes: IntArray

    def build(
        self,
        X: FloatArray,
        arity: int,
        rng: np.random.Generator,
        groups: IntArray | None = None,
    ) -> Windows:
        n, trees = self.codes.shape
        if n != X.shape[0]:
            raise ValueError(f"codes must have one row per row of X, got {n} and {X.shape[0]}")
        orders, stops = [], []
        if groups is not None:
            names, group = np.unique(groups, return_inverse=True)
        for tree in range(trees):
            code = self.codes[:, tree]
            if groups is not None:  # a leaf is cut where groups differ
                code = code * names.size + group.reshape(-1)
            order = np.argsort(code, kind="stable").astype(np.int64)
            orders.append(order)
            stops.append(tree * n + np.searchsorted(code[order], code[order], side="right"))
        stop = np.concatenate(stops).astype(np.int64)
        return Windows(np.concatenate(orders), stop, arity, n)

    def __repr__(self) -> str:
        return f"Leaves({self.codes.shape[1]} trees)"


SAMPLERS: dict[str, Sampler] = {
    "naive": Naive(),
    "improved": Improved(),
    "sliding": SlidingWindow(),
    "disjoint": Disjoint(),
    "nearby": Nearby(),
    "nearest": Nearest(),
    "replicates": Replicates(),
}


def resolve(sampler: str | Sampler) -> Sampler:
    """Return the sampler itself, or the default one of that name."""
    if isinstance(sampler, Sampler):
        return sampler
    if isinstance(sampler, str):
        _check.choice("sampler", sampler, ("auto", *SAMPLERS))
        if sampler in SAMPLERS:
            return SAMPLERS[sampler]
        raise ValueError("sampler 'auto' is chosen by an estimator, which sees all the data")
    raise TypeError(f"sampler must be a name or a Sampler, got {sampler!r}")


def narrowest(d: int, arity: int) -> Sampler:
    """Return the sampler with the least bias: adjacent rows, or the nearest ones.

    >>> narrowest(1, 2)
    SlidingWindow()
    """
    return SlidingWindow() if d == 1 else Nearest(n_neighbors=max(arity - 1, 1))
