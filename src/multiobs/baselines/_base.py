"""What all baselines share: validation in scikit-learn's manner, and a score that makes sense."""

import warnings
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.linear_model import LinearRegression
from sklearn.utils.validation import check_is_fitted

from multiobs import _check, scoring, statistics
from multiobs._check import validate_data
from multiobs._check.estimators import require_regressor
from multiobs._types import FloatArray
from multiobs.statistics import Statistic


class Baseline(RegressorMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A regressor of a statistic of Y given X = x that is not the paper's method."""

    statistic: str | Statistic

    @abstractmethod
    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> "Baseline":
        """Fit to X of shape (n, d) and y of shape (n,)."""

    @abstractmethod
    def _predict(self, X: FloatArray) -> FloatArray:
        """Return the statistic at validated X."""

    @_check.arithmetic("X and y")
    def predict(self, X: npt.ArrayLike) -> FloatArray:
        """Return the statistic of Y given X at X of shape (q, d), shape (q,)."""
        check_is_fitted(self)
        try:
            data = validate_data(self, X, reset=False, dtype=np.float64)
        except (ValueError, OverflowError, TypeError):
            refuse_text(X=X)
            raise
        return self._predict(data)

    def score(self, X: npt.ArrayLike, y: npt.ArrayLike) -> float:
        """Return minus the mean loss on metasamples of (X, y): larger is better.

        The score of :class:`multiobs.MultiObservationRegressor`; R² against single labels would
        compare a statistic with what it is not an estimate of.
        """
        prediction = self.predict(X)
        return -scoring.score(self.statistic, np.asarray(X), np.asarray(y), prediction)

    def __sklearn_tags__(self) -> Any:
        """Declare that predictions are of a statistic and not of y."""
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # R² of y means nothing for a statistic of y
        return tags

    def _more_tags(self) -> dict[str, bool]:  # the same for scikit-learn 1.5
        return {"poor_score": True}

    def _checked(
        self, X: npt.ArrayLike, y: npt.ArrayLike, several: bool = False
    ) -> tuple[FloatArray, FloatArray, Statistic]:
        what = statistics.resolve(self.statistic)
        several = several or what.n_columns > 1
        if sparse.issparse(y):
            raise TypeError("y must be a dense array, got a sparse one")
        try:
            with np.errstate(invalid="ignore"):  # a sum of huge labels, for a quick look at them
                data, labels = validate_data(
                    self, X, y, dtype=np.float64, y_numeric=True, multi_output=several
                )
        except (ValueError, OverflowError, TypeError):
            refuse_text(X=X, y=y)
            raise
        labels = _check.numbers("y", labels)
        _check.refuse_wide("X", data)
        with np.errstate(over="ignore"):
            square = labels.size * np.square(np.abs(labels).max())
        if not np.isfinite(square):
            raise ValueError(
                "y must have squares that a float holds, got values from "
                f"{labels.min():g} to {labels.max():g}"
            )
        if what.n_columns > 1 and (labels.ndim < 2 or labels.shape[1] != what.n_columns):
            raise ValueError(
                f"{what.name} needs y with {what.n_columns} columns, got shape {labels.shape}"
            )
        return data, labels, what


def refuse_text(**given: Any) -> None:
    """Say in one sentence which of the arguments holds text, dates or rows of unequal length."""
    for name, value in given.items():
        # scikit-learn has its own sentences for arrays of objects and for no labels at all
        if value is None or (isinstance(value, np.ndarray) and value.dtype.kind == "O"):
            continue
        try:
            kind = np.asarray(value).dtype.kind
        except ValueError:
            kind = "O"
        if kind in "USOMm":
            _check.numbers(name, value)


def chosen(name: str, given: Any) -> Any:
    """Return a clone of the user's regressor, or a line."""
    return LinearRegression() if given is None else clone(require_regressor(name, given))


def positive_variance(who: str, variance: FloatArray, floor: float) -> FloatArray:
    """Raise variances to a floor, saying once how many were below it."""
    below = int(np.count_nonzero(variance < floor))
    if below:
        warnings.warn(
            f"{who}: {below} of {variance.size} estimated variances are below {floor:g} and have "
            "no usable root; the floor is used in their place",
            UserWarning,
            stacklevel=3,
        )
    return np.maximum(variance, floor)
