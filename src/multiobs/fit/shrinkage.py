r"""Slopes of irrelevant columns, shrunk to nearly zero by how little evidence there is for them.

A linear class pays for every column, whether it matters or not.  With several columns their
t-values tell how many matter and how much: a mixture

.. math:: t_j \sim (1 - \pi)\, N(0, 1) + \pi\, N(0, 1 + \tau^2)

is averaged over its unknown π and τ² (uniform on a grid of π and log τ²), which gives each slope
the share of itself that it is expected to keep.  Few strong columns among many leave next to
nothing of the rest; many moderate ones lose little.  This is the empirical-Bayes thresholding of
Johnstone and Silverman (2004) with a normal slab and a prior over its hyperparameters.
"""

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


def shrunk(w: FloatArray, hessian: FloatArray, V: FloatArray, first: int) -> FloatArray:
    r"""Coefficients with the slopes of irrelevant columns shrunk, the others adjusted to that.

    Minimises :math:`(u - w)' A (u - w) + \sum_j k_j u_j^2 / (A^{-1})_{jj}`, the risk near its
    minimum with a ridge of its own for every slope: :math:`k_j = (1 - s_j)/s_j` with
    :math:`s_j` the share that slope j keeps, so that :math:`u_j = s_j w_j` where columns are
    uncorrelated.

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

    Returns
    -------
    ndarray (p,)
    """
    B, variance = np.linalg.pinv(hessian, hermitian=True), np.diag(V)
    # a constant column has neither slope nor error
    known = np.flatnonzero((variance > 0) & (np.diag(B) > 0))
    slopes = known[known >= first]
    if slopes.size == 0:
        return w
    keep = np.maximum(kept_shares(w[slopes] / np.sqrt(variance[slopes])), 1e-12)
    penalty = np.zeros(w.size)
    penalty[slopes] = (1.0 - keep) / keep / np.diag(B)[slopes]
    # u = w - B K^(1/2) (I + K^(1/2) B K^(1/2))^-1 K^(1/2) w, with B the inverse of A
    root = np.sqrt(penalty)
    inner = np.eye(w.size) + root[:, None] * B * root
    return np.asarray(w - B @ (root * np.linalg.solve(inner, root * w)))
