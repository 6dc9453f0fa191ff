"""A model from a file: predicts and gives intervals as the one that was saved, without its rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
import numpy.typing as npt

from multiobs import scoring
from multiobs._check.categories import Categories
from multiobs._types import FloatArray
from multiobs.fit import Design, LabelUnits
from multiobs.inference import Method, Skewness, Summary, coefficient_table, limits
from multiobs.statistics import Statistic


@final
@dataclass(frozen=True)
class Cubic:
    """Symmetric cubic forms of a direction: how skewed the gradient is.

    Attributes
    ----------
    bend, centre : ndarray (p, p, p)
        The two forms of :class:`multiobs.inference.skewness.Third`.
    """

    bend: FloatArray
    centre: FloatArray

    def along(self, directions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values of both forms in each of the directions (q, p), each (q,)."""
        q, p = directions.shape
        squares = (directions[:, :, None] * directions[:, None, :]).reshape(q, p * p)
        bend, centre = (
            np.einsum("qa,qa->q", squares @ form.reshape(p * p, p), directions)
            for form in (self.bend, self.centre)
        )
        return bend, centre


@final
@dataclass(frozen=True)
class Uncertainty:
    """What intervals of a linear class need.

    Attributes
    ----------
    w : ndarray (p,)
        Coefficients that the intervals are about (before any shrinkage).
    matrix, bread : ndarray (p, p)
        Their covariance and the inverse Hessian.
    df : float
        Degrees of freedom.
    cubic : Cubic or None
        Skewness.
    """

    w: FloatArray
    matrix: FloatArray
    bread: FloatArray
    df: float
    cubic: Cubic | None = None

    def skewness(self, z: FloatArray, spread: FloatArray) -> Skewness | None:
        """Skewness of the estimates z w at features z (q, p) of variance (q,), as in the fit."""
        if self.cubic is None:
            return None
        scale = np.where(spread > 0, spread, np.inf) ** 1.5
        bend, centre = (
            np.clip(-value / scale, -1.0, 1.0) for value in self.cubic.along(z @ self.bread)
        )
        return Skewness(bend, centre)


@final
@dataclass(frozen=True)
class LinearClass:
    """A linear class with its coefficients."""

    design: Design
    w: FloatArray
    names: tuple[str, ...]
    uncertainty: Uncertainty | None

    def raw(self, X: FloatArray) -> FloatArray:
        """The statistic (n,) in working units."""
        return np.asarray(self.design.columns(X) @ self.w)


@final
@dataclass(frozen=True)
class RegressorClass:
    """A scikit-learn regressor, fitted in working units."""

    regressor: Any

    def raw(self, X: FloatArray) -> FloatArray:
        """The statistic (n,) in working units."""
        return np.asarray(self.regressor.predict(X), dtype=np.float64).reshape(-1)


@final
@dataclass(frozen=True)
class Facts:
    """What is known about the fit.

    Attributes
    ----------
    rows, metasamples : int
        How many there were.
    sampler : str
        What built the metasamples.
    reasons : tuple of str
        What was chosen, a sentence each.
    status : str
        How the minimisation ended.
    written_by : str
        Version of multiobs.
    """

    rows: int
    metasamples: int
    sampler: str
    reasons: tuple[str, ...]
    status: str
    written_by: str


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
    function : LinearClass or RegressorClass
        The fitted class.
    units : LabelUnits
        From working units to the user's.
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
    function: LinearClass | RegressorClass
    units: LabelUnits
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
        values = np.asarray(X, dtype=np.float64)
        if values.ndim != 2 or values.shape[1] != self.n_features:
            raise ValueError(
                f"X must have {self.n_features} columns as in the fit, got shape {values.shape}"
            )
        if not np.all(np.isfinite(values)):
            raise ValueError("X must be finite, got NaN or infinity")
        return values if self.categories is None else self.categories.expand(values)[0]

    def predict(self, X: Any) -> FloatArray:
        """Predict the statistic at X, (n,)."""
        return self.units.outward(self.function.raw(self.positions(X)))

    @property
    def has_intervals(self) -> bool:
        """Whether the file holds what intervals need."""
        return isinstance(self.function, LinearClass) and self.function.uncertainty is not None

    def predict_interval(self, X: Any, level: float = 0.95, method: Method = "auto") -> FloatArray:
        """Confidence limits (n, 2) of the statistic at X, those of the model that was saved."""
        return self.with_interval(X, level, method)[1]

    def with_interval(
        self, X: Any, level: float = 0.95, method: Method = "auto"
    ) -> tuple[FloatArray, FloatArray]:
        """Predictions (n,) and their limits (n, 2), the features of x made once for both."""
        linear, known = self._linear("predict_interval")
        z = linear.design.columns(self.positions(X))
        centre = self.units.outward(z @ known.w)
        spread = np.maximum(np.einsum("ia,ia->i", z @ known.matrix, z), 0.0)
        error = np.sqrt(spread) * self.units.factor
        domain, skewness = self.statistic.domain, known.skewness(z, spread)
        found = limits(centre, error, known.df, level, method, domain, skewness=skewness)
        return self.units.outward(z @ linear.w), found

    def summary(self, level: float = 0.95) -> Summary:
        """Table of coefficients; ``print`` it."""
        linear, known = self._linear("summary")
        slopes, intercept = linear.design.coefficients(known.w)
        estimate = slopes * self.units.factor
        names = linear.names
        if linear.design.intercept:
            first = intercept * self.units.factor + self.units.offset
            estimate, names = np.concatenate([[first], estimate]), ("intercept", *names)
        jacobian = linear.design.jacobian() * self.units.factor
        table = coefficient_table(estimate, jacobian @ known.matrix @ jacobian.T, known.df, level)
        facts = (
            ("Statistic", repr(self.statistic)),
            ("Rows", f"{self.facts.rows:,}"),
            ("Metasamples", f"{self.facts.metasamples:,}"),
            ("Degrees of freedom", f"{known.df:.1f}"),
            ("Sampler", self.facts.sampler),
            ("Status", self.facts.status),
        )
        title = f"Multi-observation regression of the {self.statistic.name.replace('_', ' ')}"
        return Summary(title, facts, names, table, level)

    def score(self, X: Any, y: npt.ArrayLike) -> float:
        """Minus the mean loss on metasamples of adjacent rows: larger is better."""
        positions = self.positions(X)
        return -scoring.score(self.statistic, positions, np.asarray(y), self.predict(X))

    def _linear(self, what: str) -> tuple[LinearClass, Uncertainty]:
        if not isinstance(self.function, LinearClass) or self.function.uncertainty is None:
            raise ValueError(
                f"{what} needs a linear class saved with its covariance, got a file without"
            )
        return self.function, self.function.uncertainty
