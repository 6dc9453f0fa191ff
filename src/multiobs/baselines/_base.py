"""What all baselines share: validation in scikit-learn's manner, and a score that makes sense."""

import warnings
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from multiobs import scoring, statistics
from multiobs._check import validate_data
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

    def predict(self, X: npt.ArrayLike) -> FloatArray:
        """Return the statistic of Y given X at X of shape (q, d), shape (q,)."""
        check_is_fitted(self)
        return self._predict(validate_data(self, X, reset=False, dtype=np.float64))

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
        data, labels = validate_data(
            self, X, y, dtype=np.float64, y_numeric=True, multi_output=several or what.n_columns > 1
        )
        labels = np.asarray(labels, dtype=np.float64)
        if what.n_columns > 1 and (labels.ndim < 2 or labels.shape[1] != what.n_columns):
            raise ValueError(
                f"{what.name} needs y with {what.n_columns} columns, got shape {labels.shape}"
            )
        return data, labels, what


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
