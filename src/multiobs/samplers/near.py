"""Rows that are near each other in any number of columns: balls, neighbours, replicates, leaves."""

from dataclasses import dataclass, field, replace
from typing import Literal, final

import numpy as np

from multiobs import _check
from multiobs._types import FloatArray, IntArray
from multiobs.samplers.base import Adjustable, Coded, Counted, Sampler, Streaming
from multiobs.samplers.geometry import (
    Scale,
    column_scales,
    in_proportion,
    intervals,
    paper_epsilon,
    refuse_no_scale,
    row_groups,
)
from multiobs.samplers.neighbours import in_ball, nearest_nodes, rows_together
from multiobs.tuples import Graph, Windows, sorted_windows

WIDTHS = (0.5, 1.0, 2.0, 4.0, 8.0)  # times the rows of the paper's epsilon, for validation
NEIGHBOURS = (1, 2, 4, 8, 16)  # times m - 1
FEW = 5  # neighbours of a row where nobody says how many


@final
@dataclass(frozen=True)
class Nearby(Adjustable, Streaming):
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

    Notes
    -----
    In several columns with so many rows of equal x that all pairs would not fit into memory, each
    row goes with a random part of the others, and a warning says so.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 11)[:, None]
    >>> tuples = Nearby(0.15).build(x, 2, np.random.default_rng(0))
    >>> tuples.count()
    10
    """

    epsilon: float | Literal["paper", "auto"] = "auto"
    scale: Scale = "robust"

    def __post_init__(self) -> None:
        if isinstance(self.epsilon, str):
            _check.choice("epsilon", self.epsilon, ("paper", "auto"))
        else:
            _check.nonnegative("epsilon", self.epsilon)
        refuse_no_scale(self.scale)

    def build(
        self,
        X: FloatArray,
        arity: int,
        rng: np.random.Generator,
        groups: IntArray | None = None,
    ) -> Windows | Graph:
        X, groups = _check.sampling(X, arity, rng, groups)
        if X.shape[1] == 1:
            width = None if isinstance(self.epsilon, str) else float(self.epsilon)
            return intervals(X[:, 0], width, arity, groups)
        points = X / column_scales(X, self.scale)
        epsilon = paper_epsilon(points) if isinstance(self.epsilon, str) else float(self.epsilon)
        parts = row_groups(X.shape[0], groups)
        return rows_together(points, parts, arity, lambda at, counts: in_ball(at, epsilon), rng, 0)

    def left_open(self) -> bool:
        return self.epsilon == "auto"

    def widths(self, X: FloatArray, arity: int) -> list[Sampler]:
        points = X if X.shape[1] == 1 else X / column_scales(X, self.scale)
        base = paper_epsilon(points)
        if base == 0.0:
            return [Nearby(0.0, self.scale)]
        # the volume of a ball grows with the d-th power of its width
        growth = 1.0 / X.shape[1]
        return [Nearby(factor**growth * base, self.scale) for factor in WIDTHS]

    def settled(self) -> bool:
        return not isinstance(self.epsilon, str)

    def tail(self, x: FloatArray, arity: int) -> int:
        assert not isinstance(self.epsilon, str)
        return int(np.argmax(x[-1] - x <= self.epsilon)) if x.size else 0


@final
@dataclass(frozen=True)
class Nearest(Adjustable, Counted):
    """Each row with its nearest neighbours, all m-subsets that contain it; any dimension.

    Everybody as near as the last neighbour is taken in, so the tuples do not depend on the
    order of the rows, and duplicates of x are neighbours at distance zero.  Where rows of equal x
    are so many that they are each other's only neighbours, each distinct x is a block whose tuples
    are counted once; where pairs would not fit into memory, some of the equally near are drawn.

    Parameters
    ----------
    n_neighbors : int or "auto"
        Neighbours of a row, at least m - 1.
    scale : {"robust", "none"} or array of d scales
        Units of the distance in several columns; "robust" divides by interquartile ranges.
    by_group : bool
        Whether rows of a group of g among n have only ``n_neighbors`` √(g/n) of them: rows of a
        small group lie far from each other.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 11)[:, None]
    >>> tuples = Nearest(2).build(x, 2, np.random.default_rng(0))
    >>> tuples.count()
    22
    """

    n_neighbors: int | Literal["auto"] = "auto"
    scale: Scale = "robust"
    by_group: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        _check.integer_or("auto", "n_neighbors", self.n_neighbors, low=1)
        _check.flags(by_group=self.by_group)
        refuse_no_scale(self.scale)

    def build(
        self,
        X: FloatArray,
        arity: int,
        rng: np.random.Generator,
        groups: IntArray | None = None,
    ) -> Graph | Windows:
        X, groups = _check.sampling(X, arity, rng, groups)
        k = max(arity - 1, self.partners()) if self.left_open() else self.partners()
        if k < arity - 1:
            raise ValueError(
                f"n_neighbors must be at least {arity - 1} for {arity} observations, got {k}"
            )
        n = X.shape[0]
        points = X / column_scales(X, self.scale)

        def nodes(at: FloatArray, counts: IntArray) -> tuple[IntArray, IntArray]:
            members = np.array([counts.sum()])
            own = int(in_proportion(k, members, n, arity)[0]) if self.by_group else k
            return nearest_nodes(at, counts, own)

        return rows_together(points, row_groups(n, groups), arity, nodes, rng, k)

    def partners(self) -> int:
        return FEW if self.n_neighbors == "auto" else self.n_neighbors

    def with_partners(self, count: int, by_group: bool) -> "Nearest":
        return replace(self, n_neighbors=count, by_group=by_group)

    def left_open(self) -> bool:
        return self.n_neighbors == "auto"

    def widths(self, X: FloatArray, arity: int) -> list[Sampler]:
        most = max(X.shape[0] // 4, arity - 1, 1)
        counts = sorted({min(factor * max(arity - 1, 1), most) for factor in NEIGHBOURS})
        return [Nearest(count, self.scale) for count in counts if count >= arity - 1]


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
        X, groups = _check.sampling(X, arity, rng, groups)
        if X.shape[1] == 1:
            return sorted_windows(X[:, 0], 0.0, arity, groups)
        keys = X if groups is None else np.column_stack([X, groups])
        codes = np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)
        order = np.argsort(codes, kind="stable").astype(np.int64)
        stop = np.searchsorted(codes[order], codes[order], side="right").astype(np.int64)
        return Windows(order, stop, arity)


@final
@dataclass(frozen=True)
class Leaves(Coded):
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

    def __post_init__(self) -> None:
        found = _check.numbers("codes", self.codes)
        if found.ndim != 2 or not np.all(found == np.floor(found)):
            raise ValueError(
                "codes must be whole numbers, a row of X by a tree, (n, trees), got shape "
                f"{found.shape}"
            )

    def build(
        self,
        X: FloatArray,
        arity: int,
        rng: np.random.Generator,
        groups: IntArray | None = None,
    ) -> Windows:
        X, groups = _check.sampling(X, arity, rng, groups)
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

    def subset(self, rows: IntArray) -> "Leaves":
        return Leaves(self.codes[rows])

    def __repr__(self) -> str:
        return f"Leaves({self.codes.shape[1]} trees)"
