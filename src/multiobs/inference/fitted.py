"""Inference about one fitted linear class, in the user's units; computed when first asked for."""

from dataclasses import replace
from functools import cached_property
from typing import final

import numpy as np

from multiobs._types import FloatArray
from multiobs.fit import LinearFit, some_rows
from multiobs.inference.deciding import FEW, NAMED, RowInfluence, influence_of
from multiobs.inference.dependence import Dependence
from multiobs.inference.hypotheses import TestResult, varying_directions, wald
from multiobs.inference.influence import influences, row_scores
from multiobs.inference.intervals import Method, limits
from multiobs.inference.meat import Meat
from multiobs.inference.sandwich import Covariance, covariance, gradient_of
from multiobs.inference.score_test import score_test
from multiobs.inference.summary import coefficient_table
from multiobs.inference.variance import meat

LOOKED_AT = 200  # positions, where influences have to be computed for each


@final
class Inference:
    """Covariance, intervals and tests of a linear fit.

    Parameters
    ----------
    fit : LinearFit
        What was fitted, and how.
    known : Covariance, optional
        Of its coefficients, where it need not be computed from the rows of the fit.
    dependence : Dependence, optional
        How rows depend on each other; they are independent by default.
    by_parts : bool
        Whether the problem holds only some of the rows that were fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from multiobs import MultiObservationRegressor
    >>> x = np.linspace(0, 1, 200)[:, None]
    >>> y = np.random.default_rng(0).normal(scale=1 + x[:, 0])
    >>> model = MultiObservationRegressor("variance").fit(x, y)
    >>> model.inference_.standard_errors(x).shape
    (200,)
    """

    def __init__(
        self,
        fit: LinearFit,
        known: Covariance | None = None,
        dependence: Dependence | None = None,
        *,
        by_parts: bool = False,
    ) -> None:
        self.fit = fit
        self.by_parts = by_parts
        self._known = known
        self.dependence = dependence
        self.units = fit.problem.units
        self._scores: FloatArray | None = None

    @cached_property
    def covariance(self) -> Covariance:
        """Covariance of the design's coefficients, in working units."""
        if self._known is not None and self.dependence is None:
            return self._known
        return covariance(self.fit, self.dependence, keep=self._keep)

    def _keep(self, found: Meat) -> None:
        """Take the scores of rows from sums that are dear; :meth:`few_rows` will ask for them."""
        self._scores = self._scores_of(found)

    @property
    def df(self) -> float:
        """Degrees of freedom of the covariance, averaged over directions."""
        return self.covariance.df

    @property
    def estimate(self) -> FloatArray:
        """Intercept, if there is one, and slopes."""
        slopes, intercept = self.fit.coefficients()
        return np.concatenate([[intercept], slopes]) if self.fit.design.intercept else slopes

    @property
    def coef_cov(self) -> FloatArray:
        """Covariance of :attr:`estimate`."""
        return self._outward(self.covariance.matrix)

    def standard_errors(self, X: FloatArray) -> FloatArray:
        """Standard errors (n,) of the fitted statistic at positions X (n, d)."""
        z, size = unit_rows(self.fit.design.columns(X))
        variance = np.einsum("ia,ab,ib->i", z, self.covariance.matrix, z)
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)) * size * self.units.factor)

    def interval(self, X: FloatArray, level: float, method: Method) -> FloatArray:
        """Confidence limits (n, 2) of the fitted statistic at positions X (n, d)."""
        z = self.fit.design.columns(X)
        centre = self.units.outward(z @ self.fit.w)
        domain = self.fit.problem.statistic.domain
        along = unit_rows(z)[0]  # skewness and degrees of freedom know no length
        skewness, df = self.covariance.skewness(along), self.covariance.df_along(along)
        return limits(centre, self.standard_errors(X), df, level, method, domain, skewness=skewness)

    @property
    def coef_df(self) -> FloatArray:
        """Degrees of freedom of each of :attr:`estimate`."""
        return self.covariance.df_along(self._jacobian())

    def table(self, level: float) -> FloatArray:
        """Coefficient, standard error, t, p-value and limits of each of :attr:`estimate`."""
        return coefficient_table(self.estimate, self.coef_cov, self.coef_df, level)

    @cached_property
    def row_scores(self) -> FloatArray:
        """What each row alone contributes to the gradient, (n, p)."""
        if self.by_parts:
            raise ValueError("influences of rows need the rows in memory, got a fit without them")
        if self._scores is None:
            return self._scores_of(meat(gradient_of(self.fit)))
        return self._scores

    def _scores_of(self, found: Meat) -> FloatArray:
        tuples = self.fit.problem.tuples
        return influences(row_scores(found, tuples), tuples).rows

    def influence(self, X: FloatArray, most: int) -> RowInfluence:
        """Rows with the largest shares in the variance of the statistic at positions X (n, d)."""
        z = self.fit.design.columns(X)
        return influence_of(self.row_scores, z @ self.covariance.bread, most)

    def few_rows(self, z: FloatArray | None = None) -> RowInfluence | None:
        """Rows that decide the estimates z w at features z (q, p), where they are too few.

        Looked for among units first, whose shares are at hand; in :attr:`estimate` by default.
        """
        z = self._jacobian() if z is None else z
        if self.dependence is not None or z.shape[0] == 0:
            return None
        shares = self.covariance.shares
        if shares is None:
            z = z[:: -(-z.shape[0] // LOOKED_AT)]
        directions = z @ self.covariance.bread
        if shares is not None:
            uneven = shares.effective(directions) < FEW * self.fit.problem.tuples.arity
            directions = directions[uneven]
        if self.by_parts or directions.shape[0] == 0:
            return None
        found = influence_of(self.row_scores, directions, NAMED)
        return found if found.few else None

    def wald(self, R: FloatArray, q: FloatArray) -> TestResult:
        """Test R b = q for b = :attr:`estimate`."""
        p = self.estimate.size
        R = np.atleast_2d(R)
        if R.ndim != 2 or R.shape[1] != p or R.shape[0] == 0:
            raise ValueError(
                f"R must have {p} columns (intercept first, then slopes), got shape {R.shape}"
            )
        if not np.all(np.any(R != 0, axis=1)):
            raise ValueError("R must name a coefficient in each hypothesis, got a row of zeros")
        if q.size not in (1, R.shape[0]):
            raise ValueError(f"q must be one value or {R.shape[0]}, got {q.size}")
        q = np.broadcast_to(q, (R.shape[0],))
        jacobian = self._jacobian()
        origin = self.estimate - jacobian @ self.fit.w
        return self._test(R @ jacobian, q - R @ origin, "R b = q")

    def constant(self) -> TestResult:
        """Test that the fitted statistic is the same at all rows."""
        problem, design = self.fit.problem, self.fit.design
        if self.by_parts and design.transformer is None and design.intercept:
            R = np.eye(design.n_columns)[1:]  # a rare category may be missing in the sample of rows
        else:
            R = varying_directions(some_rows(design.features(problem.X)))
        if R.shape[0] == 0:
            raise ValueError("the features must vary over the rows, got constant ones only")
        return self._test(R, np.zeros(R.shape[0]), f"{problem.statistic!r} is constant in x")

    def _test(self, R: FloatArray, q: FloatArray, what: str) -> TestResult:
        """Test hypotheses about the design's coefficients: one by its t, several by their score."""
        if np.isnan(self.df):  # too few rows
            return TestResult(what, np.nan, R.shape[0], np.nan, np.nan)
        left, sizes, right = np.linalg.svd(R, full_matrices=False)
        if np.all(sizes[1:] <= 1e-10 * sizes[0]):  # one hypothesis, however often it is stated
            R, q = sizes[:1, None] * right[:1], left[:, 0] @ q[:, None]
            df = float(self.covariance.df_along(R)[0])
            found = wald(self.fit.w, self.covariance.matrix, R, q, df, what)
            return replace(found, few_rows=self.few_rows(R))
        if self.by_parts:  # the scores of all rows are not at hand
            return wald(self.fit.w, self.covariance.matrix, R, q, self.df, what)
        return score_test(self.fit, R, q, what, self.dependence)

    def _jacobian(self) -> FloatArray:
        """Derivative of the user's coefficients in those of the design."""
        return np.asarray(self.fit.design.jacobian() * self.units.factor)

    def _outward(self, matrix: FloatArray) -> FloatArray:
        jacobian = self._jacobian()
        return np.asarray(jacobian @ matrix @ jacobian.T)


def unit_rows(z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rows divided by a power of two near their size, and these (n,): squares stay numbers."""
    size = np.ldexp(1.0, np.frexp(np.max(np.abs(z), axis=1, initial=0.0))[1])
    return z / size[:, None], size
