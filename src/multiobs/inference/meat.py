r"""Variance of the summed score when metasamples share labels.

The scores of two tuples are dependent exactly when the tuples share a row, so

.. math:: V = \sum_{t \cap t' \ne \emptyset} s_t s_{t'}'

estimates the variance of the gradient without bias, whatever the sampler.  It is never formed
like that.  With :math:`g_i` the scores of the tuples that contain row i,

.. math:: V = \sum_i g_i g_i' - \sum_{|t \cap t'| \ge 2} (|t \cap t'| - 1)\, s_t s_{t'}',

where the second sum is :math:`\sum_t s_t s_t'` for pairs and a small correction for wide
windows (:mod:`multiobs.inference.meat_of_rows`); and with :math:`a_i` the scores of the tuples
anchored at row i,

.. math:: V = \sum_{i, j:\ \text{their tuples may share a row}} a_i a_j',

exact for sliding windows, and noisier the more anchors a window holds
(:mod:`multiobs.inference.meat_of_windows`).  Tuples that are listed
(:mod:`multiobs.inference.meat_of_tuples`) are taken one by one.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.inference.skewness import Third
from multiobs.sums.overlaps import Overlap


@final
@dataclass(frozen=True)
class Meat:
    """The estimated variance of the gradient with its parts.

    Attributes
    ----------
    units : ndarray (u, p)
        Scores of the units: rows, tuples or anchors.
    overlap : Overlap
        Which units are dependent.
    correction : ndarray (p, p)
        What rows count twice; zero for tuples and anchors.
    naive : ndarray (p, p)
        Σ_t s_t s_t', right only if no label were shared.
    kind : str
        "rows", "tuples" or "anchors".
    features : ndarray (u, p)
        Summed features of the units' tuples: their scores are about these times a number.
    rows : ndarray of int (u,)
        A row of each unit.
    twice : bool
        Whether units are the summed scores of rows, which hold those of their neighbours too.
    near : Overlap or None
        Which units vary together although their scores were treated as uncorrelated.
    third : Third or None
        Third cumulants of the gradient; None for more than two rows in overlapping tuples other
        than sliding windows, where they are not known well enough.
    """

    units: FloatArray
    overlap: Overlap
    correction: FloatArray
    naive: FloatArray
    kind: str
    features: FloatArray
    rows: IntArray
    twice: bool = False
    near: Overlap | None = None
    third: Third | None = None

    def variance(self) -> FloatArray:
        """V, symmetric but in small samples not always positive."""
        V = self.units.T @ self.overlap.spread(self.units) - self.correction
        return np.asarray((V + V.T) / 2)

    def usable_variance(self) -> FloatArray:
        """V as far as it is positive."""
        V = self.variance()
        return positive_or(V, V + (self.correction + self.correction.T) / 2)


def positive_part(V: FloatArray) -> FloatArray:
    """Project on the positive semidefinite matrices: V is unbiased, but can miss them."""
    size = np.sqrt(np.maximum(np.abs(np.diag(V)), 1e-300))
    values, vectors = np.linalg.eigh(V / np.outer(size, size))
    if values[0] >= 0:
        return V
    kept = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return np.asarray(kept * np.outer(size, size))


def positive_or(V: FloatArray, uncorrected: FloatArray) -> FloatArray:
    """Positive part of V; of the uncorrected one, which is too large, where nothing is left."""
    kept = positive_part(V)
    return kept if np.any(kept) else positive_part(uncorrected)
