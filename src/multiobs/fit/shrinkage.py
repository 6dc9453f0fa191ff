r"""Slopes of irrelevant columns, shrunk to nearly zero by how little evidence there is for them.

A linear class pays for every column, whether it matters or not.  With several columns their
t-values tell how many matter and how much: a mixture

.. math:: t_j \sim (1 - \pi)\, N(0, 1) + \pi\, N(0, 1 + \tau^2)

is averaged over its unknown π and τ² (uniform on a grid of π and log τ²), which gives each slope
the share of itself that it is expected to keep.  Few strong columns among many leave next to
nothing of the rest; many moderate ones lose little.  This is the empirical-Bayes thresholding of
Johnstone and Silverman (2004) with a normal slab and a prior over its hyperparameters.
"""

from collections.abc import Sequence

import numpy as np

from multiobs._types import FloatArray

SHARES = 24  # values of the share of columns that matter
SIZES = np.logspace(0.0, 4.0, 25)  # values of tau squared


def kept_shares(t: FloatArray) -> FloatArray:
    """Share of each slope that is expected to be real, (d,), from the slopes' t-values.

    Parameters
    ----------
    t : ndarray (d,)
        Slopes divided by their standard errors.

    Examples
    --------
    >>> kept_shares(np.array([9.0, 0.3, -1.0, 0.8, 1.2])).round(2).tolist()
    [0.98, 0.08, 0.11, 0.1, 0.13]
    """
    d = t.size
    share = (np.arange(SHARES) + 0.5) / SHARES
    pi, size = (each.ravel() for each in np.meshgrid(share, SIZES))
    square = np.minimum(t**2, 1400.0)[:, None]  # beyond that the exponential overflows
    # log of how much likelier each t is under the slab
    slab = 0.5 * square * size / (1.0 + size) - 0.5 * np.log1p(size)
    both = np.logaddexp(np.log1p(-pi), np.log(pi) + slab)
    evidence = both.sum(axis=0)
    weight = np.exp(evidence - evidence.max())
    kept = np.exp(np.log(pi) + slab - both) * (size / (1.0 + size))
    return np.asarray(kept @ weight / weight.sum()).reshape(d)


def shrunk(
    w: FloatArray,
    hessian: FloatArray,
    V: FloatArray,
    first: int,
    categories: Sequence[tuple[int, int]] = (),
) -> FloatArray:
    r"""Coefficients with the slopes of irrelevant columns shrunk, the others adjusted to that.

    Minimises :math:`(u - w)' A (u - w) + \sum_j k_j u_j^2 / (A^{-1})_{jj}`, the risk near its
    minimum with a ridge of its own for every slope: :math:`k_j = (1 - s_j)/s_j` with
    :math:`s_j` the share that slope j keeps, so that :math:`u_j = s_j w_j` where columns are
    uncorrelated.  Levels of a category are shrunk towards their common mean, as random effects
    are, so that it does not matter which of them is the reference.

    Parameters
    ----------
    w : ndarray (p,)
        Coefficients.
    hessian : ndarray (p, p)
        A, the second derivative of the risk.
    V : ndarray (p, p)
        Covariance of the coefficients.
    first : int
        Index of the first slope; what comes before is not shrunk.
    categories : sequence of (int, int)
        First and last-plus-one slope of each category, the intercept not counted; its first level
        has none.

    Returns
    -------
    ndarray (p,)
    """
    B: FloatArray = np.asarray(np.linalg.pinv(hessian, hermitian=True), dtype=np.float64)
    variance = np.diag(V)
    # a constant column has neither slope nor error
    usable = (variance > 0) & (np.diag(B) > 0)
    usable[:first] = False
    roots = []
    for start, stop in categories:
        block = np.arange(first + start, first + stop)
        if block.size and np.all(usable[block]):
            root = np.zeros((w.size, block.size))
            root[block] = _level_root(w[block], V[np.ix_(block, block)], B[np.ix_(block, block)])
            roots.append(root)
        usable[block] = False
    slopes = np.flatnonzero(usable)
    if slopes.size:
        keep = np.maximum(kept_shares(w[slopes] / np.sqrt(variance[slopes])), 1e-12)
        root = np.zeros((w.size, slopes.size))
        root[slopes, np.arange(slopes.size)] = np.sqrt((1.0 - keep) / keep / np.diag(B)[slopes])
        roots.append(root)
    if not roots:
        return w
    # u = w - B R (I + R' B R)^-1 R' w, with B the inverse of A and R R' the penalty
    R = np.hstack(roots)
    inner = np.eye(R.shape[1]) + R.T @ B @ R
    return np.asarray(w - B @ (R @ np.linalg.solve(inner, R.T @ w)))


def _level_root(w: FloatArray, V: FloatArray, B: FloatArray) -> FloatArray:
    r"""Root of the penalty on the differences of one category's levels from their mean.

    With effects (0, w) of all L levels, :math:`w' G w = \sum_l (\theta_l - \bar\theta)^2` for
    :math:`G = I - 11'/L`.  In g = G^{1/2} w the effects have the prior N(0, τ²) whatever the
    reference is; τ² is averaged over a grid as in :func:`kept_shares`.
    """
    size = w.size
    values, vectors = np.linalg.eigh(np.eye(size) - 1.0 / (size + 1))
    half = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    errors, axes = np.linalg.eigh(half @ V @ half)
    errors = np.maximum(errors, 1e-12 * max(float(errors.max()), 1e-300))
    g = axes.T @ (half @ w)
    grid = float(errors.mean()) * np.concatenate([[1e-6], np.logspace(-2.0, 4.0, 25)])
    total = errors[:, None] + grid
    evidence = -0.5 * np.sum(np.log(total) + g[:, None] ** 2 / total, axis=0)
    chance = np.exp(evidence - evidence.max())
    keep = np.maximum((grid / total) @ chance / chance.sum(), 1e-12)
    # the covariance V is that of the curvature B times how much less the tuples know
    ratio = float(np.trace(half @ V @ half) / max(float(np.trace(half @ B @ half)), 1e-300))
    return np.asarray(half @ (axes * np.sqrt(ratio * (1.0 - keep) / keep / errors)))
