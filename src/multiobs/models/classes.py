"""Fitted classes of functions as a file holds them: values, intervals and tables without rows."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from multiobs._types import FloatArray
from multiobs.fit import Design, LabelUnits, LinearColumns
from multiobs.inference import (
    Curve,
    Method,
    Shares,
    Skewness,
    Summary,
    TermSummary,
    TermTest,
    bootstrap,
    coefficient_table,
    holding,
    limits,
    range_of,
    unit_rows,
)
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
        Degrees of freedom, averaged over directions.
    cubic : Cubic or None
        Skewness.
    shares : Shares or None
        Degrees of freedom in each direction.
    """

    w: FloatArray
    matrix: FloatArray
    bread: FloatArray
    df: float
    cubic: Cubic | None = None
    shares: Shares | None = None

    def df_along(self, z: FloatArray) -> FloatArray:
        """Degrees of freedom (q,) of the estimates z w at features z (q, p), as in the fit."""
        if self.shares is None:
            return np.full(z.shape[0], self.df)
        return self.shares.along(z @ self.bread)

    def skewness(self, z: FloatArray, spread: FloatArray) -> Skewness | None:
        """Skewness of the estimates z w at features z (q, p) of variance (q,), as in the fit."""
        if self.cubic is None:
            return None
        scale = np.where(spread > 0, spread, np.inf) ** 1.5
        bend, centre = (
            np.clip(-value / scale, -1.0, 1.0) for value in self.cubic.along(z @ self.bread)
        )
        return Skewness(bend, centre)


class StoredClass(ABC):
    """A fitted class of functions, in the user's units."""

    @property
    @abstractmethod
    def has_intervals(self) -> bool:
        """Whether the file holds what intervals need."""

    @abstractmethod
    def predict(self, X: FloatArray) -> FloatArray:
        """The statistic (n,) at X (n, d)."""

    @abstractmethod
    def with_interval(
        self, X: FloatArray, level: float, method: Method
    ) -> tuple[FloatArray, FloatArray]:
        """Predictions (n,) and their limits (n, 2)."""

    @abstractmethod
    def table(self, facts: "Facts", level: float) -> Summary | TermSummary:
        """Coefficients, or terms."""


@final
@dataclass(frozen=True)
class LinearClass(StoredClass):
    """A linear class with its coefficients."""

    statistic: Statistic
    units: LabelUnits
    design: Design
    w: FloatArray
    names: tuple[str, ...]
    uncertainty: Uncertainty | None

    @property
    def has_intervals(self) -> bool:
        return self.uncertainty is not None

    def predict(self, X: FloatArray) -> FloatArray:
        return self.units.outward(self.design.columns(X) @ self.w)

    def with_interval(
        self, X: FloatArray, level: float, method: Method
    ) -> tuple[FloatArray, FloatArray]:
        known = self._known("predict_interval")
        z = self.design.columns(X)  # made once for both
        centre = self.units.outward(z @ known.w)
        along, size = unit_rows(z)
        spread = np.maximum(np.einsum("ia,ia->i", along @ known.matrix, along), 0.0)
        error = np.sqrt(spread) * size * self.units.factor
        domain, skewness = self.statistic.domain, known.skewness(along, spread)
        df = known.df_along(along)
        found = limits(centre, error, df, level, method, domain, skewness=skewness)
        return self.units.outward(z @ self.w), found

    def table(self, facts: "Facts", level: float) -> Summary:
        known = self._known("summary")
        slopes, intercept = self.design.coefficients(known.w)
        estimate = slopes * self.units.factor
        names = self.names
        if self.design.intercept:
            first = intercept * self.units.factor + self.units.offset
            estimate, names = np.concatenate([[first], estimate]), ("intercept", *names)
        jacobian = self.design.jacobian() * self.units.factor
        df = known.df_along(jacobian)
        table = coefficient_table(estimate, jacobian @ known.matrix @ jacobian.T, df, level)
        told = facts.told(self.statistic, ("Degrees of freedom", range_of(df)))
        title = f"Multi-observation regression of the {self.statistic.title}"
        return Summary(title, told, names, table, level)

    def _known(self, what: str) -> Uncertainty:
        if self.uncertainty is None:
            raise ValueError(f"{what} needs a file with a covariance, got one without")
        return self.uncertainty


@final
@dataclass(frozen=True)
class AdditiveClass(StoredClass):
    """Smooth terms, or a linear class behind a link.

    Attributes
    ----------
    curve : Curve
        The fitted function with its errors.
    names : tuple of str
        Columns of a linear class.
    tests : tuple of TermTest
        Of smooth terms, made when the file was written: they need the rows.
    """

    curve: Curve
    names: tuple[str, ...]
    tests: tuple[TermTest, ...]

    @property
    def has_intervals(self) -> bool:
        return True

    def predict(self, X: FloatArray) -> FloatArray:
        return self.curve.predict(X)

    def with_interval(
        self, X: FloatArray, level: float, method: Method
    ) -> tuple[FloatArray, FloatArray]:
        return self.curve.predict(X), self.curve.interval(X, level, method)

    def table(self, facts: "Facts", level: float) -> Summary | TermSummary:
        statistic, part = self.curve.statistic, self.curve.parts[0]
        told = facts.told(statistic)
        if not isinstance(part.design, LinearColumns):
            title = f"Smooth multi-observation regression of the {statistic.title}"
            return TermSummary(title, told, self.tests, ())
        slopes, intercept = part.coefficients()
        names, estimate = self.names, slopes
        if part.design.design.intercept:
            names, estimate = ("intercept", *names), np.concatenate([[intercept], slopes])
        table = coefficient_table(estimate, part.coef_cov, np.inf, level)
        link = part.loss.link
        title = f"Multi-observation regression of the {statistic.title}, {link} link"
        notes = (f"Coefficients are those of the {link} of the statistic.",)
        return Summary(title, told, names, table, level, notes)


@final
@dataclass(frozen=True)
class AveragedClass(StoredClass):
    """The average of a linear and a smooth class, with the limits of the latter.

    Attributes
    ----------
    line, smooth : LinearClass, AdditiveClass
        The two.
    weight : float
        That of the line.
    """

    line: LinearClass
    smooth: AdditiveClass
    weight: float

    @property
    def has_intervals(self) -> bool:
        return self.smooth.has_intervals

    def predict(self, X: FloatArray) -> FloatArray:
        return self.weight * self.line.predict(X) + (1.0 - self.weight) * self.smooth.predict(X)

    def with_interval(
        self, X: FloatArray, level: float, method: Method
    ) -> tuple[FloatArray, FloatArray]:
        centre = self.predict(X)
        return centre, holding(self.smooth.with_interval(X, level, method)[1], centre)

    def table(self, facts: "Facts", level: float) -> Summary | TermSummary:
        found = self.smooth.table(facts, level)
        note = f"Predictions are averaged with a line of weight {self.weight:.2f}."
        return replace(found, notes=(*found.notes, note))


@final
@dataclass(frozen=True)
class RegressorClass(StoredClass):
    """A scikit-learn regressor, fitted in working units.

    Attributes
    ----------
    statistic, units
        What it predicts, and the way to the user's units.
    regressor : regressor
        Fitted.
    replicates : Replicates or None
        Those of a bootstrap, where there are any.
    """

    statistic: Statistic
    units: LabelUnits
    regressor: Any
    replicates: bootstrap.Refits | None = None

    @property
    def has_intervals(self) -> bool:
        return self.replicates is not None

    def predict(self, X: FloatArray) -> FloatArray:
        return self.units.outward(_values(self.regressor, X))

    def with_interval(
        self, X: FloatArray, level: float, method: Method
    ) -> tuple[FloatArray, FloatArray]:
        if self.replicates is None:
            raise ValueError(
                "predict_interval needs the replicates of a bootstrap in the file, got one "
                "without: save it with n_bootstrap=50"
            )
        error = self.replicates.standard_errors(X) * self.units.factor
        centre = self.predict(X)
        return centre, limits(centre, error, np.inf, level, method, self.statistic.domain)

    def table(self, facts: "Facts", level: float) -> Summary:
        raise ValueError("summary needs a linear class or smooth terms, got a regressor")


def _values(regressor: Any, X: FloatArray) -> FloatArray:
    return np.asarray(regressor.predict(X), dtype=np.float64).reshape(-1)


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

    def told(self, statistic: Statistic, *more: tuple[str, str]) -> tuple[tuple[str, str], ...]:
        """Return the facts as lines of a table."""
        return (
            ("Statistic", repr(statistic)),
            ("Rows", f"{self.rows:,}"),
            ("Metasamples", f"{self.metasamples:,}"),
            *more,
            ("Sampler", self.sampler),
            ("Status", self.status),
        )
