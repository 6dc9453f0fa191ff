"""The class of functions linear in features: from positions x to columns Z and back."""

from dataclasses import dataclass
from math import inf
from typing import Any, final

import numpy as np
from scipy.sparse import issparse

from multiobs._types import FloatArray
from multiobs.sums.contraction import Affine, Features, Lifted


@final
@dataclass(frozen=True)
class Design:
    """Columns Z = [1, (φ(x) - centre) / spread] of a linear class, well scaled.

    Attributes
    ----------
    transformer : object or None
        Fitted transformer φ; None is x itself.
    centre, spread : ndarray (q,)
        Units of the columns.
    intercept : bool
        Whether the constant comes first.
    """

    transformer: Any
    centre: FloatArray
    spread: FloatArray
    intercept: bool

    @property
    def n_columns(self) -> int:
        """The number p of columns."""
        return int(self.spread.size) + int(self.intercept)

    def raw(self, X: FloatArray) -> FloatArray:
        """Features φ(x) of positions, (n, q)."""
        if self.transformer is None:
            return X
        found = self.transformer.transform(X)
        dense = found.toarray() if issparse(found) else np.asarray(found)
        return np.asarray(dense, dtype=np.float64)

    def columns(self, X: FloatArray) -> FloatArray:
        """Columns Z (n, p) at positions X (n, d)."""
        return Affine(self.raw(X), self.centre, self.spread, self.intercept).columns()

    def lazy(self, X: FloatArray) -> Affine:
        """Columns that are made where they are needed; x itself must be the features."""
        assert self.transformer is None
        return Affine(X, self.centre, self.spread, self.intercept)

    def features(self, X: FloatArray) -> Features:
        """What ``contract`` needs: columns of rows if affine, else how to make them from x~."""
        if self.transformer is None:
            return self.columns(X)
        return Lifted(X, self.columns)

    def coefficients(self, w: FloatArray) -> tuple[FloatArray, float]:
        """Slopes of φ(x) and intercept from coefficients of the columns."""
        slopes = w[1:] if self.intercept else w
        slopes = slopes / self.spread
        if not self.intercept:
            return slopes, 0.0
        return slopes, float(w[0] - slopes @ self.centre)

    def jacobian(self) -> FloatArray:
        """Derivative of (intercept, slopes) in the coefficients w; slopes only without one."""
        q = self.spread.size
        slopes = np.diag(1.0 / self.spread)
        if not self.intercept:
            return slopes
        top = np.concatenate([[1.0], -self.centre / self.spread])
        return np.vstack([top, np.hstack([np.zeros((q, 1)), slopes])])

    def names(self, given: tuple[str, ...]) -> tuple[str, ...]:
        """Names of the columns without the constant, from those of x; () where nobody knows."""
        if self.transformer is None:
            return given
        ask = getattr(self.transformer, "get_feature_names_out", None)
        return () if ask is None else tuple(str(name) for name in ask(list(given)))

    def bounds(self, w: FloatArray) -> tuple[float, float]:
        """Limits that predictions at the rows of the fit respect, without a look at the rows.

        Columns without a transformer lie in [-1, 1] by the choice of their units.
        """
        if self.transformer is not None:
            return -inf, inf
        level = float(w[0]) if self.intercept else 0.0
        reach = float(np.abs(w[int(self.intercept) :]).sum()) * (1 + 1e-12)
        return level - reach, level + reach


def make_design(features: Any, X: FloatArray, intercept: bool) -> Design:
    """Fit the transformer (a clone of it) and choose units for its columns.

    Parameters
    ----------
    features : transformer or None
        Any scikit-learn transformer; None is x itself.
    X : ndarray (n, d)
        Positions of the rows.
    intercept : bool
        Whether the class contains the constants.
    """
    transformer = None
    if features is not None:
        from sklearn.base import clone  # here: a stored line predicts without scikit-learn

        transformer = clone(features).fit(X)
    bare = Design(transformer, np.zeros(1), np.ones(1), intercept=False)
    raw = bare.raw(X)
    low, high = raw.min(axis=0), raw.max(axis=0)
    centre = np.zeros(raw.shape[1])
    if intercept:
        # midrange: exact for few distinct values and immune to how rows are repeated
        centre = low / 2 + high / 2
    spread = np.maximum(high - centre, centre - low)
    fixed = low == high
    if intercept:  # a constant column repeats the intercept: leave it at zero
        centre = np.where(fixed, raw[0], centre)
    spread = np.where((spread > 0) & np.isfinite(spread), spread, 1.0)
    return Design(transformer, centre, spread, intercept)
