"""Distances and neighbours in x, for the samplers: widths, scales, nearest rows, groups."""

from collections.abc import Callable
from math import floor, sqrt
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.spatial import KDTree

from multiobs import _check
from multiobs._types import FloatArray, IntArray
from multiobs.native.window_sums import stable_sort, window_stops
from multiobs.samplers.neighbours import nodes_of
from multiobs.tuples import Tuples, Windows, group_ends, order_by

GAPS = 50_000  # gaps between rows that a typical one is taken of

Scale = Literal["robust", "none"] | npt.ArrayLike


def paper_epsilon(X: FloatArray) -> float:
    r"""The paper's :math:`1/(2\sqrt n)` on Unif(0, 1), in the units of these x.

    In one column the median gap between a row and the one :math:`\sqrt n/2` places further on;
    in more columns the median distance to the :math:`\sqrt n`-th neighbour.  Outliers, clusters
    and ties change it as little as they change the typical distance of neighbours.

    Parameters
    ----------
    X : ndarray (n, d)
        Positions of the rows.

    Examples
    --------
    >>> x = np.linspace(0, 1, 1001)[:, None]
    >>> float(round(paper_epsilon(x) / (1 / (2 * np.sqrt(1001))), 2))
    1.0
    """
    X = _check.finite("X", X)
    if X.ndim != 2 or X.shape[1] == 0:
        raise ValueError(f"X must have shape (n, d), got {X.shape}")
    _check.refuse_wide("X", X)
    n, d = X.shape
    if n < 2:
        return 0.0
    if d > 1:
        return _typical_distance(X, min(max(round(sqrt(n)), 1), n - 1))
    return float(epsilon_holding(X, sqrt(n) / 2))


def _typical_distance(X: FloatArray, k: int) -> float:
    """Median distance of a row to its k-th other row; rows of equal x are one node."""
    n = X.shape[0]
    nodes = nodes_of(X, np.arange(n, dtype=np.int64))
    tree, u = KDTree(nodes.points), nodes.sizes.size
    if u == n:
        probe = X if n <= 20_000 else X[:: n // 10_000]
        return float(np.median(tree.query(probe, k=[k + 1])[0]))
    some = np.arange(0, u, max(1, u // 10_000))
    radius, open_ = np.zeros(some.size), np.ones(some.size, dtype=np.bool_)
    asked = 1
    while np.any(open_) and asked < u:
        asked = min(8 * asked, u)
        distance, index = tree.query(nodes.points[some[open_]], k=np.arange(1, asked + 1))
        enough = np.cumsum(nodes.sizes[index], axis=1) > k
        reached = enough[:, -1]
        at = np.argmax(enough, axis=1)
        where = np.flatnonzero(open_)
        radius[where[reached]] = distance[reached, at[reached]]
        open_[where[reached]] = False
    order = np.argsort(radius, kind="stable")
    share = np.cumsum(nodes.sizes[some[order]])
    return float(radius[order[np.searchsorted(share, 0.5 * share[-1])]])


def epsilon_holding(X: FloatArray, partners: float) -> float:
    """Width of an interval that holds about so many further rows at a typical place."""
    return _typical_gap(np.sort(X[:, 0]), partners)


def intervals(x: FloatArray, epsilon: float | None, arity: int, groups: IntArray | None) -> Windows:
    """Intervals of width epsilon, None being the paper's, from one sort of x."""
    order, ordered = stable_sort(x)
    if groups is not None:
        order = order_by(x, groups)
        ordered = x[order]
    if epsilon is None:
        whole = ordered if groups is None else np.sort(x)
        epsilon = _typical_gap(whole, sqrt(x.size) / 2)
    return Windows(order, window_stops(ordered, epsilon, group_ends(order, groups)), arity)


def _typical_gap(x: FloatArray, partners: float) -> float:
    """Median gap between a row of sorted x and the one so many places further on."""
    n = x.size
    if n < 2:
        return 0.0
    lag = min(partners, n - 1.0)
    low = max(floor(lag), 1)
    high = min(low + 1, n - 1)
    every = max(1, n // GAPS)  # the median of so many is known to half a percent
    gaps = [_median(x[step::every] - x[: n - step : every]) for step in (low, high)]
    share = min(max(lag - low, 0.0), 1.0)
    return float(gaps[0] + share * (gaps[1] - gaps[0]) if lag >= 1 else gaps[0] * lag)


def _median(values: FloatArray) -> float:
    """Median of finite values; numpy's looks for NaN too, which takes half as long again."""
    middle = [(values.size - 1) // 2, values.size // 2]
    values.partition(middle)
    return float(values[middle].mean())


def column_scales(X: FloatArray, scale: Scale) -> FloatArray:
    """Units of distance for each column: interquartile range, else standard deviation, else 1."""
    d = X.shape[1]
    if isinstance(scale, str):
        refuse_no_scale(scale)
        if scale == "none" or d == 1:
            return np.ones(d)
        low, high = np.quantile(X, [0.25, 0.75], axis=0)
        with np.errstate(over="ignore", invalid="ignore"):  # a constant near the largest float
            spread = np.where(high > low, (high - low) / 1.349, X.std(axis=0))
        return np.where((spread > 0) & np.isfinite(spread), spread, 1.0)
    given = _check.numbers("scale", scale)
    if given.shape != (d,):
        raise ValueError(f"scale must be {d} positive numbers, got {_check.shown(scale)}")
    refuse_no_scale(scale)
    return given


def refuse_no_scale(scale: Scale) -> None:
    """Refuse a unit of distance that is neither a word nor a row of positive numbers."""
    if isinstance(scale, str):
        _check.choice("scale", scale, ("robust", "none"))
        return
    given = _check.numbers("scale", scale)
    if given.ndim != 1 or not np.all((given > 0) & np.isfinite(given)):
        raise ValueError(f"scale must be positive numbers, got {_check.shown(scale)}")


def in_proportion(rows: int, members: IntArray, n: int, arity: int) -> IntArray:
    """Partners of a row in groups of so many among n rows, at least m - 1.

    >>> in_proportion(16, np.array([1000, 250, 10]), 1000, 2).tolist()
    [16, 8, 2]
    """
    wanted = np.round(rows * np.sqrt(members / n)).astype(np.int64)
    return np.maximum(wanted, max(arity - 1, 1))


def no_tuples(arity: int) -> tuple[IntArray, IntArray]:
    """An empty list of tuples and of representatives."""
    return np.empty((0, arity), dtype=np.int64), np.empty(0, dtype=np.int64)


def row_groups(n: int, groups: IntArray | None) -> list[IntArray]:
    """Row numbers of each group, or all rows."""
    if groups is None:
        return [np.arange(n, dtype=np.int64)]
    order = np.argsort(groups, kind="stable").astype(np.int64)
    cuts = np.flatnonzero(np.diff(groups[order])) + 1
    return np.split(order, cuts)


def by_group(
    one: Callable[[IntArray], tuple[IntArray, IntArray]],
    n: int,
    arity: int,
    rng: np.random.Generator,
    groups: IntArray | None,
    shuffle: bool,
) -> Tuples:
    """Build tuples within each group, from rows in their own or in random order."""
    members, representative = [], []
    for rows in row_groups(n, groups):
        found, rep = one(rng.permutation(rows) if shuffle else rows)
        members.append(found)
        representative.append(rep)
    return Tuples(np.concatenate(members), n, np.concatenate(representative))
