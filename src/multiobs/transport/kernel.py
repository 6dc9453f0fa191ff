r"""A smooth pilot that sees interactions: a Gaussian process with a length scale for each column.

With :math:`k(x, x') = \exp(-\tfrac12 \sum_j (x_j - x_j')^2 / \ell_j^2)` the length scales come from
the marginal likelihood of a few hundred rows, the fit to all rows from ridge regression on the
kernel at a few hundred landmarks (Nystroem), its strength from generalised cross-validation. Given
the length scales the fit is linear in the labels, so what it takes of their noise is known.
"""

from collections.abc import Sequence
from typing import Self, final

import numpy as np
from scipy import linalg, optimize

from multiobs._types import FloatArray
from multiobs.transport.basis import INFLATION

LEARNED_ON = 300  # rows for the length scales
LANDMARKS = 300
STEPS = 12  # of the search for length scales: later ones change little
MOST_COLUMNS = 40
_JITTER = 1e-6
_CHUNK = 16_384
_FAR = 1e4
_STARTS = (2.0, 0.5)  # length scales in units of the root of d standard deviations
_NOISE = 0.5  # standard deviation of the noise that the search starts from, of that of y


@final
class KernelPilot:
    r"""Gaussian process regression with automatic relevance of columns, on landmarks.

    Parameters
    ----------
    scales : ndarray (d,), optional
        Length scales in the units of the columns; learned when they are None.
    ridge : float
        Multiple of the ridge that cross-validation chooses; below one the fit is undersmoothed.

    Attributes
    ----------
    effective_df_ : float
        Trace of the smoother matrix.
    scales_ : ndarray (d,)
        Length scales; a column that does not matter has a large one.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(500, 3))
    >>> mean = np.sin(4 * X[:, 0] * X[:, 1])
    >>> pilot = KernelPilot().fit(X, mean + 0.1 * rng.standard_normal(500))
    >>> bool(np.mean((pilot.predict(X) - mean) ** 2) < 0.002)
    True
    >>> bool(pilot.scales_[2] > 3 * pilot.scales_[:2].max())
    True
    """

    def __init__(self, scales: FloatArray | None = None, ridge: float = 1.0) -> None:
        self.scales = scales
        self.ridge = ridge

    def fit(self, X: FloatArray, y: FloatArray, sample_weight: FloatArray | None = None) -> Self:
        """Fit to X of shape (n, d) and y of shape (n,), weights of shape (n,) or None."""
        n = y.size
        weight = np.ones(n) if sample_weight is None else sample_weight * (n / sample_weight.sum())
        # Drawn from a fixed seed: the caller's order of rows is what decides.
        drawn = np.random.default_rng(0).permutation(n)
        self.scales_ = (
            length_scales(X[drawn[:LEARNED_ON]], y[drawn[:LEARNED_ON]])
            if self.scales is None
            else self.scales
        )
        self._middle = np.median(X[drawn[:LEARNED_ON]], axis=0)
        self._landmarks = self._scaled(X[drawn[:LANDMARKS]])
        inner = self._kernel(self._landmarks)
        inner[np.diag_indices(len(inner))] += _JITTER
        factor = linalg.cholesky(inner, lower=True, check_finite=False)
        size = len(inner)
        self._whiten = linalg.solve_triangular(factor, np.eye(size), lower=True, check_finite=False)
        self._level = float(np.average(y, weights=weight))
        target = y - self._level
        gram, moment = np.zeros((size, size)), np.zeros(size)
        for start in range(0, n, _CHUNK):
            part = slice(start, start + _CHUNK)
            design = self._design(X[part])
            weighted = design * weight[part, None]
            gram += weighted.T @ design
            moment += weighted.T @ target[part]
        values, vectors = linalg.eigh(gram, check_finite=False)
        values = np.maximum(values, 0.0)
        score = vectors.T @ moment
        strength = self.ridge * _by_gcv(values, score, float(np.sum(weight * target**2)), n)
        scale = values + strength
        self._coefficients = self._whiten.T @ (vectors @ (score / scale))
        self._inverse = (vectors / scale) @ vectors.T
        self._sandwich = (vectors * (values / scale**2)) @ vectors.T
        self.effective_df_ = float(np.sum(values / scale)) + 1.0
        return self

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the fitted mean at X of shape (q, d), shape (q,)."""
        out = np.empty(X.shape[0])
        for start in range(0, X.shape[0], _CHUNK):
            part = slice(start, start + _CHUNK)
            out[part] = self._kernel(self._scaled(X[part])) @ self._coefficients
        return out + self._level

    def pair_share(self, X: FloatArray, others: FloatArray) -> FloatArray:
        """Share of the noise variance left in half a squared difference of residuals, (q,).

        The same as :meth:`SplinePilot.pair_share`, for rows of the fit at X and others (q, d).
        """
        gap = self._design(X) - self._design(others)
        matrix = self._inverse - 0.5 * self._sandwich
        return np.asarray(1.0 - np.einsum("ij,ij->i", gap @ matrix, gap))

    def _scaled(self, X: FloatArray) -> FloatArray:
        # so far out that nobody is near; farther ones would only cost digits
        return np.clip((X - self._middle) / self.scales_, -_FAR, _FAR)

    def _kernel(self, Z: FloatArray) -> FloatArray:
        return gaussian_kernel(Z, self._landmarks)

    def _design(self, X: FloatArray) -> FloatArray:
        return np.asarray(self._kernel(self._scaled(X)) @ self._whiten.T)


def gaussian_kernel(A: FloatArray, B: FloatArray) -> FloatArray:
    """exp(-|a - b|²/2) for all rows of A (n, d) and B (m, d), shape (n, m)."""
    distance = (A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1)
    distance -= 2.0 * (A @ B.T)
    np.maximum(distance, 0.0, out=distance)
    distance *= -0.5
    return np.asarray(np.exp(distance, out=distance))


def length_scales(
    X: FloatArray, y: FloatArray, together: Sequence[Sequence[int]] = ()
) -> FloatArray:
    """Length scale of each column, (d,), by penalised marginal likelihood.

    Parameters
    ----------
    X : ndarray (n, d)
        Positions; n³ operations a step.
    y : ndarray (n,)
        Labels.
    together : sequence of sequences of int
        Columns that share one: the indicators of a category.
    """
    d = X.shape[1]
    shared = {column for columns in together for column in columns}
    groups = [*([c] for c in range(d) if c not in shared), *(list(each) for each in together)]
    # Quantiles, so that a far outlier does not make all others neighbours.
    low, high = np.quantile(X, [0.02, 0.98], axis=0)
    unit = np.clip(X, low, high).std(axis=0)
    unit = np.where(unit > 0, unit, np.where(np.ptp(X, axis=0) > 0, np.ptp(X, axis=0), 1.0))
    unit[list(shared)] = 1.0
    centred = y - y.mean()
    spread = float(centred.std())
    if not spread > 0:
        return np.asarray(unit * _STARTS[0] * np.sqrt(d))
    search = _Evidence(X / unit, centred / spread, groups)
    found = min((search.best(start) for start in _STARTS), key=lambda each: each[0])[1]
    # To two digits: rounding in the labels then changes nothing that follows.
    scales = unit.copy()
    for columns, log in zip(groups, np.round(found, 2), strict=False):
        scales[columns] *= np.exp(log)
    return scales


@final
class _Evidence:
    """Minus the log marginal likelihood of log length scales, log signal and log noise."""

    def __init__(self, Z: FloatArray, y: FloatArray, groups: Sequence[Sequence[int]]) -> None:
        self._n, self._d = Z.shape[0], len(groups)
        self._y = y
        self._gaps = [
            np.sum([np.subtract.outer(Z[:, c], Z[:, c]) ** 2 for c in columns], axis=0)
            for columns in groups
        ]
        d = self._d
        root = np.log(_STARTS[0] * np.sqrt(d))
        self._prior = np.concatenate([np.full(d, root), [0.0, np.log(_NOISE)]])
        self._width = np.concatenate([np.full(d, 1.5), [2.0, 2.0]])
        self._bounds = [(np.log(0.05), np.log(100.0))] * d + [(-4.0, 3.0), (-4.0, 2.0)]

    def best(self, start: float) -> tuple[float, FloatArray]:
        """Value and place of the minimum found from one length scale for all columns."""
        first = self._prior.copy()
        first[: self._d] = np.log(start * np.sqrt(self._d))
        found = optimize.minimize(
            self._value, first, jac=True, method="L-BFGS-B", bounds=self._bounds,
            options={"maxiter": STEPS},
        )  # fmt: skip
        return float(found.fun), np.asarray(found.x)

    def _value(self, t: FloatArray) -> tuple[float, FloatArray]:
        d, y = self._d, self._y
        inverse = np.exp(-2.0 * t[:d])
        exponent = np.zeros_like(self._gaps[0])
        for factor, gap in zip(inverse, self._gaps, strict=True):
            exponent += factor * gap
        signal = np.exp(2.0 * t[d] - 0.5 * exponent)
        whole = signal.copy()
        noise = float(np.exp(2.0 * t[d + 1]))
        whole[np.diag_indices(self._n)] += noise + 1e-8
        factor = linalg.cholesky(whole, lower=True, check_finite=False)
        lower, _ = linalg.lapack.dpotri(factor, lower=1)
        precision = np.tril(lower) + np.tril(lower, -1).T
        a = precision @ y
        away = (t - self._prior) / self._width
        value = 0.5 * float(y @ a + away @ away) + float(np.log(np.diag(factor)).sum())
        weight = precision - np.outer(a, a)
        gradient = away / self._width
        gradient[d + 1] += noise * float(np.trace(weight))
        weight *= signal
        gradient[d] += float(weight.sum())
        for j, gap in enumerate(self._gaps):
            gradient[j] += 0.5 * inverse[j] * float(np.vdot(weight, gap))
        return value, gradient


def _by_gcv(values: FloatArray, score: FloatArray, energy: float, rows: int) -> float:
    """Strength of the ridge, for a Gram matrix with these eigenvalues."""
    grid = np.exp(np.linspace(np.log(1e-4), np.log(1e4), 73))
    scale = values + grid[:, None]
    kept = values / scale
    rss = energy - (score**2 / scale * (2.0 - kept)).sum(axis=1)
    freedom = rows - 1.0 - INFLATION * kept.sum(axis=1)
    safe = np.where(freedom > 0, freedom, 1.0)
    gcv = np.where(freedom > 0, np.maximum(rss, 0.0) / safe**2, np.inf)
    return float(grid[len(grid) - 1 - int(np.argmin(gcv[::-1]))])  # the smoothest of equals
