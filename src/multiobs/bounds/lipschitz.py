"""An estimate of K, the total-variation Lipschitz constant of assumption (A1), from data."""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ._inputs import FloatArray, generator, numbers, representable, single, whole

IntArray = npt.NDArray[np.int64]


class TVLipschitz(NamedTuple):
    """An estimate of K with what it was computed from.

    Attributes
    ----------
    estimate : float
        The largest debiased slope.
    noise : float
        The same from labels shuffled over the rows: an estimate that does not clearly exceed it is
        indistinguishable from K = 0.
    raw : float
        The largest slope before the noise correction.
    n_cells, n_bins : int
        The resolution, below which nothing is seen.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=(4000, 1))
    >>> found = estimate_tv_lipschitz(x, rng.normal(size=4000) + 4 * x[:, 0], rng=rng)
    >>> found.estimate > found.noise
    True
    """

    estimate: float
    noise: float
    raw: float
    n_cells: int
    n_bins: int


def _cells(X: FloatArray, n_cells: int) -> IntArray:
    """Halve the largest cell at the median of its widest coordinate until there are n_cells."""
    label = np.zeros(X.shape[0], dtype=np.int64)
    members = [np.arange(X.shape[0])]
    while len(members) < n_cells:
        members.sort(key=len)
        largest = members.pop()
        widths = np.ptp(X[largest], axis=0)
        axis = int(widths.argmax())
        if widths[axis] == 0:
            members.append(largest)
            break
        order = largest[np.argsort(X[largest, axis], kind="stable")]
        members += [order[: order.size // 2], order[order.size // 2 :]]
    for number, rows in enumerate(members):
        label[rows] = number
    return label


def _slopes(
    category: IntArray, cell: IntArray, centre: FloatArray, n_bins: int
) -> tuple[float, float]:
    """Largest debiased and raw total variation over distance among all pairs of cells."""
    n_cells = centre.shape[0]
    counts = np.zeros((n_cells, n_bins))
    np.add.at(counts, (cell, category), 1.0)
    size = counts.sum(axis=1)
    law = counts / size[:, None]
    first, second = np.triu_indices(n_cells, 1)
    distance = np.sqrt(((centre[first] - centre[second]) ** 2).sum(axis=1))
    distinct = distance > 0
    first, second, distance = first[distinct], second[distinct], distance[distinct]
    if distance.size == 0:
        return 0.0, 0.0
    gap = np.abs(law[first] - law[second])
    pooled = (counts[first] + counts[second]) / (size[first] + size[second])[:, None]
    # Two samples of one law differ by this much on average (normal approximation of each bin).
    spread = pooled * (1 - pooled) * (1 / size[first] + 1 / size[second])[:, None]
    null = 0.5 * np.sqrt(2 * spread / math.pi).sum(axis=1)
    total = 0.5 * gap.sum(axis=1)
    return float((np.maximum(total - null, 0) / distance).max()), float((total / distance).max())


@representable
def estimate_tv_lipschitz(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    n_cells: int | None = None,
    n_bins: int | None = None,
    rng: np.random.Generator,
) -> TVLipschitz:
    r"""Estimate K of assumption (A1) by comparing histograms of y between cells of x.

    .. math:: \hat K = \max_{a,b} \frac{\max(0, \mathrm{TV}(\hat D_a, \hat D_b) - \nu_{ab})}
              {\|\bar x_a - \bar x_b\|_2}

    with :math:`\nu_{ab}` the total variation that two samples of one law show by chance.

    Parameters
    ----------
    X : array_like of shape (n,) or (n, d)
    y : array_like of shape (n,)
        At most ``n_bins`` distinct values are kept as they are; otherwise y is cut at quantiles.
    n_cells : int, optional
        Cells of x, default max(2, n^(1/3)): each then holds about n^(2/3) rows.
    n_bins : int, optional
        Bins of y, default max(2, n^(1/4)).

    Notes
    -----
    No finite sample bounds K from above. Binning y and averaging over a cell both *lower* the
    total variation, so that a law that changes within a cell is not seen; taking the largest of
    many noisy slopes *raises* the estimate. Compare it with ``noise``, refine ``n_cells``, and
    trust it as an order of magnitude. K is in units of 1/x: rescale X to [0, 1]^d first if the
    result is to go into the theorems.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(20_000)
    >>> y = (rng.random(20_000) < 0.2 + 0.5 * x).astype(float)   # K = 0.5
    >>> found = estimate_tv_lipschitz(x, y, n_cells=6, rng=rng)
    >>> 0.4 < found.estimate < 0.65 and found.noise < found.estimate
    True
    """
    points = numbers("X", X)
    points = points[:, None] if points.ndim == 1 else points
    labels = numbers("y", y)
    generator(rng)
    if points.ndim != 2 or labels.shape != points.shape[:1]:
        raise ValueError(
            f"X must have shape (n, d) and y shape (n,), got {points.shape} and {labels.shape}"
        )
    if not (np.isfinite(points).all() and np.isfinite(labels).all()):
        raise ValueError("X and y must be finite, got NaN or infinity")
    with np.errstate(over="ignore"):
        square = np.square(np.ptp(points, axis=0)).sum() if points.size else 0.0
    if not np.isfinite(square):
        raise ValueError("X must have distances that a float holds: rescale it to [0, 1]^d")
    n = labels.size
    cells_wanted = max(2, round(n ** (1 / 3)))
    if n_cells is not None:
        cells_wanted = int(single("n_cells", whole("n_cells", n_cells)))
    bins_wanted = (
        max(2, round(n**0.25)) if n_bins is None else int(single("n_bins", whole("n_bins", n_bins)))
    )
    if not 2 <= cells_wanted <= n // 2:
        raise ValueError(f"n_cells must be between 2 and n/2 = {n // 2}, got {cells_wanted}")
    if bins_wanted < 2:
        raise ValueError(f"n_bins must be at least 2, got {bins_wanted}")
    values = np.unique(labels)
    if values.size > bins_wanted:
        edges = np.unique(np.quantile(labels, np.arange(1, bins_wanted) / bins_wanted))
        category = np.searchsorted(edges, labels, side="right")
    else:
        category = np.searchsorted(values, labels)
    used = int(category.max()) + 1
    cell = _cells(points, cells_wanted)
    found = int(cell.max()) + 1
    size = np.bincount(cell, minlength=found).astype(np.float64)
    sums = np.zeros((found, points.shape[1]))
    np.add.at(sums, cell, points)
    centre = sums / size[:, None]
    estimate, raw = _slopes(category, cell, centre, used)
    noise = float(
        np.mean([_slopes(rng.permutation(category), cell, centre, used)[0] for _ in range(5)])
    )
    return TVLipschitz(estimate, noise, raw, found, used)
