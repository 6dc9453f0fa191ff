"""Penalised least squares where Gram matrix and penalty are both diagonal, and GCV there."""

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy import linalg

from multiobs._types import FloatArray

# GCV with df counted 1.4 times over avoids its occasional severe undersmoothing (Kim and Gu 2004).
INFLATION = 1.4


@final
@dataclass(frozen=True)
class Penalised:
    """A penalised fit.

    Attributes
    ----------
    coefficients : ndarray (p,)
        Of the basis functions.
    inverse : ndarray (p, p)
        Of the penalised Gram matrix.
    df : float
        Trace of the smoother matrix.
    gcv : float
        RSS / (n - 1.4 df)².
    """

    coefficients: FloatArray
    inverse: FloatArray
    df: float
    gcv: float


@final
class Spectrum:
    """The penalised problem in the basis where Gram matrix and penalty are both diagonal."""

    def __init__(self, gram: FloatArray, penalty: FloatArray, rows: int, free: int = 2) -> None:
        # gram alone is singular where an interval is empty; a trace of the penalty repairs that
        # and is taken out again exactly, since it is diagonal in the same basis.
        shift = 1e-12 * rows
        base = gram + shift * penalty + 1e-14 * np.trace(gram) * np.eye(len(gram))
        rough, self._vectors = linalg.eigh(penalty, base, check_finite=False)
        self._rough = np.maximum(rough, 0.0)
        # what is free, as lines are, costs nothing: a large penalty would show the rounding
        self._rough[:free] = 0.0
        self._signal = np.maximum(1.0 - shift * self._rough, 0.0)
        self._rows = rows

    def _gcv(
        self, log_penalty: FloatArray, score: FloatArray, energy: float, spent: float
    ) -> FloatArray:
        """Criterion for each of several penalties (g,)."""
        scale = self._signal + np.exp(log_penalty)[:, None] * self._rough
        rss = energy - (score**2 / scale * (2.0 - self._signal / scale)).sum(axis=1)
        freedom = self._rows - INFLATION * ((self._signal / scale).sum(axis=1) + spent)
        safe = np.where(freedom > 0, freedom, 1.0)
        return np.where(freedom > 0, np.maximum(rss, 0.0) / safe**2, np.inf)

    def best(self, moment: FloatArray, energy: float, spent: float = 0.0) -> Penalised:
        """Fit with the penalty that minimises the criterion.

        Parameters
        ----------
        moment : ndarray (p,)
            B'Wy.
        energy : float
            y'Wy.
        spent : float
            Degrees of freedom spent before, as on the choice of breaks.
        """
        score = self._vectors.T @ moment
        grid = np.log(self._rows) + np.log(10.0) * np.arange(-11.0, 4.1, 0.5)
        scores = self._gcv(grid, score, energy, spent)
        # Prefer the smoothest of equals: noiseless data and few rows leave GCV flat.
        place = len(grid) - 1 - int(np.argmin(scores[::-1]))
        low, high = grid[max(place - 1, 0)], grid[min(place + 1, len(grid) - 1)]
        fine = np.linspace(low, high, 33)
        refined = self._gcv(fine, score, energy, spent)
        at = len(fine) - 1 - int(np.argmin(refined[::-1]))
        better = refined[at] < scores[place]
        chosen = float(fine[at]) if better else float(grid[place])
        scale = self._signal + np.exp(chosen) * self._rough
        coefficients = self._vectors @ (score / scale)
        inverse = (self._vectors / scale) @ self._vectors.T
        gcv = float(min(refined[at], scores[place]))
        return Penalised(coefficients, inverse, float(np.sum(self._signal / scale)), gcv)
