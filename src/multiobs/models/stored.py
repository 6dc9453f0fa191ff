"""A model from a file: predicts and gives intervals as the one that was saved, without its rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
import numpy.typing as npt

from multiobs import _check
from multiobs._check.categories import Categories
from multiobs._types import FloatArray
from multiobs.inference import Method, Summary, TermSummary
from multiobs.models.classes import Facts, StoredClass
from multiobs.statistics import Statistic


@final
@dataclass(frozen=True)
class StoredModel:
    """A fitted model as a file holds it.

    Attributes
    ----------
    statistic : Statistic
        What was estimated.
    names : tuple of str or None
        Columns of X, where they had names.
    n_features : int
        How many columns X has.
    categories : Categories or None
        Categorical columns.
    function : StoredClass
        The fitted class.
    facts : Facts
        About the fit.
    notes : mapping
        Whatever was saved with it.

    Examples
    --------
    >>> import numpy as np
    >>> from multiobs import MultiObservationRegressor, models
    >>> x = np.linspace(0, 1, 200)[:, None]
    >>> y = np.random.default_rng(0).normal(scale=1 + x[:, 0])
    >>> model = MultiObservationRegressor("variance").fit(x, y)
    >>> stored = models.loads(models.dumps(model))
    >>> bool(np.array_equal(stored.predict(x), model.predict(x)))
    True
    """

    statistic: Statistic
    names: tuple[str, ...] | None
    n_features: int
    categories: Categories | None
    function: StoredClass
    facts: Facts
    notes: Mapping[str, Any] = field(default_factory=dict)

    def positions(self, X: Any) -> FloatArray:
        """Return the columns of the class at X, a data frame or an array (n, d).

        A frame's columns are found by name, whatever their order.
        """
        frame = getattr(X, "columns", None) is not None
        if frame and self.names is not None:
            missing = [name for name in self.names if name not in X.columns]
            if missing:
                raise ValueError(
                    f"X must have the columns of the fit ({', '.join(self.names)}), got none "
                    f"called {missing[0]!r}"
                )
            X = X[list(self.names)]
        if self.categories is not None:
            if not frame:
                raise ValueError(
                    "X must be a data frame with the categorical columns of the fit "
                    f"({', '.join(self.categories.levels)}), got {type(X).__name__}"
                )
            X = self.categories.coded(X)
        values = _check.numbers("X", X)
        if values.ndim != 2 or values.shape[1] != self.n_features or values.shape[0] == 0:
            raise ValueError(
                f"X must have rows of {self.n_features} columns as in the fit, got shape "
                f"{values.shape}"
            )
        if not np.all(np.isfinite(values)):
            raise ValueError("X must be finite, got NaN or infinity")
        return values if self.categories is None else self.categories.expand(values)[0]

    @_check.arithmetic("X")
    def predict(self, X: Any) -> FloatArray:
        """Predict the statistic at X, (n,)."""
        return self.function.predict(self.positions(X))

    @property
    def has_intervals(self) -> bool:
        """Whether the file holds what intervals need."""
        return self.function.has_intervals

    def predict_interval(self, X: Any, level: float = 0.95, method: Method = "auto") -> FloatArray:
        """Confidence limits (n, 2) of the statistic at X, those of the model that was saved."""
        return self.with_interval(X, level, method)[1]

    @_check.arithmetic("X")
    def with_interval(
        self, X: Any, level: float = 0.95, method: Method = "auto"
    ) -> tuple[FloatArray, FloatArray]:
        """Predictions (n,) and their limits (n, 2), the features of x made once for both."""
        return self.function.with_interval(self.positions(X), level, method)

    def summary(self, level: float = 0.95) -> Summary | TermSummary:
        """Table of coefficients or terms; ``print`` it."""
        return self.function.table(self.facts, level)

    def score(self, X: Any, y: npt.ArrayLike) -> float:
        """Minus the mean loss on metasamples of adjacent rows: larger is better."""
        from multiobs import scoring  # here: prediction needs no scikit-learn

        positions = self.positions(X)
        return -scoring.score(self.statistic, positions, y, self.predict(X))
