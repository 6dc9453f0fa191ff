"""Choosing the rows of a pool: anchors, and m rows near each, from x alone."""

from dataclasses import dataclass
from math import sqrt
from typing import Literal, final

import numpy as np
import numpy.typing as npt

from multiobs import _check
from multiobs._types import FloatArray, IntArray
from multiobs.planning.inputs import read_pool
from multiobs.planning.pool import assign


@final
@dataclass(frozen=True)
class Selection:
    """Rows chosen from a pool.

    anchors (n,): rows whose x represent the metasamples, their labels are not needed; members
    (n, m): rows to label; x_anchors (n, d) and x_members (n, m, d): their x; radius (n,): largest
    distance of a member to its anchor in the units of epsilon, its limit; n_pool: rows there were.
    """

    anchors: IntArray
    members: IntArray
    x_anchors: FloatArray
    x_members: FloatArray
    radius: FloatArray
    epsilon: float
    n_pool: int


def select(
    X: npt.ArrayLike,
    m: int,
    n: int,
    *,
    algorithm: Literal["improved", "naive"],
    epsilon: float | Literal["paper"],
    scale: Literal["range", "none"],
    shortfall: Literal["raise", "fewer"],
    rng: np.random.Generator,
) -> Selection:
    """Draw n anchors from the pool X (N, d) and give each m rows within epsilon.

    Parameters are those of :meth:`LabelPlan.from_pool`.

    Examples
    --------
    >>> chosen = select(
    ...     np.arange(9.0), 2, 3, algorithm="improved", epsilon=4.0, scale="none",
    ...     shortfall="raise", rng=np.random.default_rng(0),
    ... )
    >>> sorted([*chosen.anchors.tolist(), *chosen.members.reshape(-1).tolist()])
    [0, 1, 2, 3, 4, 5, 6, 7, 8]
    """
    points = read_pool(X)
    _check.generator("rng", rng)
    total = points.shape[0]
    _check.choice("algorithm", algorithm, ("improved", "naive"))
    _check.choice("scale", scale, ("range", "none"))
    _check.choice("shortfall", shortfall, ("raise", "fewer"))
    if n * (m + 1) > total:
        raise ValueError(
            f"a pool of {total} rows has room for {total // (m + 1)} metasamples of {m} labels "
            f"and an anchor each, got {n}"
        )
    paper = isinstance(epsilon, str) and _check.choice("epsilon", epsilon, ("paper",)) == "paper"
    limit = 1 / sqrt(n) if paper else _check.positive("epsilon", epsilon)
    scaled = _unit_box(points) if scale == "range" else points
    anchors = np.asarray(rng.choice(total, size=n, replace=False), dtype=np.int64)
    free = np.ones(total, dtype=np.bool_)
    free[anchors] = False
    others = np.flatnonzero(free)
    if algorithm == "improved":
        members = assign(scaled[anchors], scaled[others], m, limit)
    else:
        members = _own_candidates(scaled[anchors], scaled, others, m, limit, rng)
    full = members[:, 0] >= 0
    if not full.all():
        if shortfall == "raise":
            raise ValueError(
                f"every anchor must have {m} rows within epsilon = {limit:g}, got "
                f"{int(full.sum())} of {n} anchors that do: widen epsilon, enlarge the pool, "
                "lower the budget, or pass shortfall='fewer'"
            )
        anchors, members = anchors[full], members[full]
    rows = others[members]
    gap = scaled[rows] - scaled[anchors][:, None, :]
    radius = np.sqrt(np.einsum("ijk,ijk->ij", gap, gap)).max(axis=1, initial=0.0)
    return Selection(anchors, rows, points[anchors], points[rows], radius, limit, total)


def wanted(budget: int | None, n_metasamples: int | None, m: int) -> int:
    """Return the number of metasamples that a budget, or a number given, stands for."""
    if (budget is None) == (n_metasamples is None):
        raise ValueError("give exactly one of budget and n_metasamples, got both or neither")
    if n_metasamples is not None:
        return _check.integer("n_metasamples", n_metasamples, low=1)
    labels = _check.integer("budget", budget, low=1)
    if labels < m:
        raise ValueError(f"budget must cover one metasample of {m} labels, got {labels}")
    return labels // m


def _unit_box(points: FloatArray) -> FloatArray:
    low = points.min(axis=0)
    width = points.max(axis=0) - low
    return np.asarray((points - low) / np.where(width > 0, width, 1.0))


def _own_candidates(
    anchors: FloatArray,
    scaled: FloatArray,
    others: IntArray,
    m: int,
    epsilon: float,
    rng: np.random.Generator,
) -> IntArray:
    """Algorithm 1: deal the other rows out, and take each anchor's m nearest of its own."""
    n = anchors.shape[0]
    per = others.size // n
    dealt = rng.permutation(others.size)[: n * per].reshape(n, per)
    gap = scaled[others[dealt]] - anchors[:, None, :]
    distance = np.einsum("ijk,ijk->ij", gap, gap)
    first = np.argpartition(distance, m - 1, axis=1)[:, :m]
    worst = np.sqrt(np.take_along_axis(distance, first, axis=1).max(axis=1))
    members = np.take_along_axis(dealt, first, axis=1)
    members[worst > epsilon] = -1
    return np.asarray(members, dtype=np.int64)
