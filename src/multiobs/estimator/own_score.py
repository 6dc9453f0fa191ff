"""The estimator's own score, refused where a search compares losses of different statistics."""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy.typing as npt

from multiobs import scoring
from multiobs._types import FloatArray
from multiobs.statistics import Statistic


class ScoreMixin(ABC):
    """What a search over parameters sees of an estimator."""

    _statistic_set = False  # by set_params, as a search over statistics does

    @property
    @abstractmethod
    def statistic_(self) -> Statistic:
        """The statistic itself."""

    @abstractmethod
    def predict(self, X: npt.ArrayLike) -> FloatArray:
        """Predict the statistic at X."""

    @abstractmethod
    def _positions(self, X: npt.ArrayLike) -> FloatArray:
        """Return validated positions (n, d)."""

    def set_params(self, **params: Any) -> Self:
        """Set parameters, as of every estimator of scikit-learn.

        A statistic that is set here may be one of several of a search: :meth:`score` is then
        refused, because losses of different statistics cannot be compared.

        Parameters
        ----------
        **params : dict
            Parameters by name; unknown ones are refused.
        """
        super().set_params(**params)  # type: ignore[misc]
        if "statistic" in params:
            self._statistic_set = True
        return self

    def score(
        self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None
    ) -> float:
        """Minus the mean loss on metasamples of near rows of (X, y): larger is better.

        The same as :func:`multiobs.scoring.score` with its defaults: labels are moved along a pilot
        of their mean, so that its movement between rows does not count as spread.

        Parameters
        ----------
        X : array-like (n, d)
            Held-out positions.
        y : array-like (n,) or (n, s)
            Held-out labels.
        sample_weight : array-like (n,), optional
            Weights, multiplied within a tuple.
        """
        prediction = self.predict(X)
        if self._statistic_set:
            raise ValueError(
                "score compares models of one statistic, got one set by set_params as in a search "
                "over statistics, whose losses cannot be compared: use scoring=make_scorer('own') "
                "of multiobs.scoring in the search, or pass the statistic to the constructor"
            )
        return -scoring.score(
            self.statistic_,
            self._positions(X),
            y,
            prediction,
            sample_weight=sample_weight,
        )
