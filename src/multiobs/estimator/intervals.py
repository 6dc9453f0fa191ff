"""Intervals, tests and a summary for the estimator: thin methods over the rooms below."""

from abc import ABC, abstractmethod
from typing import Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from multiobs import _check
from multiobs._types import FloatArray
from multiobs.estimator.fitted import Fitted
from multiobs.estimator.messages import warn_of_doubts
from multiobs.estimator.replicated import Bootstrap, ClusterLabels, replicated_interval
from multiobs.fit import Design, RegressorFit
from multiobs.inference import (
    AdditiveFit,
    Inference,
    Method,
    PartialEffect,
    RowInfluence,
    Summary,
    TermSummary,
    TestResult,
    coefficient_table,
    constant_test,
    dependence_of,
    holding,
    partial_effects,
    range_of,
    term_tests,
    undersmoothed,
)
from multiobs.tuples import effective_count

LOOKED_AT = 200  # rows at which influences are looked at when no position is given


class InferenceMixin(ABC):
    """What a fitted estimator can say about its own uncertainty.

    Nothing here is computed by ``fit``: it keeps references to the rows and tuples, and the
    first question pays.
    """

    n_jobs: int | None
    _fitted: Fitted

    @abstractmethod
    def predict(self, X: npt.ArrayLike) -> FloatArray:
        """Predict the statistic at X."""

    @abstractmethod
    def _positions(self, X: npt.ArrayLike) -> FloatArray:
        """Return validated positions (n, d)."""

    @property
    def coef_cov_(self) -> FloatArray:
        """Covariance of (intercept, slopes) under shared labels, in the units of the data.

        The sandwich :math:`A^{-1} V A^{-1}`; slopes only when there is no intercept.
        """
        result = self._additive()
        return self._linear("coef_cov_").coef_cov if result is None else result.coef_cov

    @property
    def inference_(self) -> Inference:
        """Covariance, intervals and tests of the linear class, computed when first asked for."""
        return self._linear("inference_")

    @_check.arithmetic("X")
    def predict_interval(
        self,
        X: npt.ArrayLike,
        level: float = 0.95,
        method: Method = "auto",
        *,
        bias: Literal["undersmooth"] | None = None,
        n_bootstrap: int = 100,
        clusters: ClusterLabels = None,
    ) -> FloatArray:
        """Confidence limits of the statistic at X.

        Parameters
        ----------
        X : array-like (n, d)
            Positions.
        level : float
            Nominal coverage at each position.
        method : {"auto", "linear", "log"}
            Scale of the interval; "auto" keeps it inside the statistic's domain. "auto" and "log"
            lean with the skewness of the estimate, "linear" is estimate ± error.
        bias : {"undersmooth"}, optional
            "undersmooth" centres the interval at a refit to the narrowest tuples (adjacent or
            nearest rows), for laws whose mean or spread moves inside a neighbourhood; linear
            class only.
        n_bootstrap : int
            Replicates of the row bootstrap, with ``estimator=`` only: each costs a fit of the
            estimator (a forest: of five of its trees). ``n_jobs`` shares them, a terminal shows
            how long is left, and a warning says so beforehand where it is more than 30 seconds.
        clusters : array-like (n of the fit,), "serial" or None
            Which rows depend on each other: labels of clusters (repeated measurements of one
            subject), or "serial" where rows follow each other in one column of x. ``groups`` of
            ``fit`` says which rows may be paired, and nothing about errors. Without clusters rows
            are taken to be independent.

        Returns
        -------
        ndarray (n, 2)
            Lower and upper limits.

        Examples
        --------
        >>> from multiobs import MultiObservationRegressor
        >>> rng = np.random.default_rng(0)
        >>> x = rng.uniform(size=(500, 1))
        >>> reg = MultiObservationRegressor("variance").fit(x, rng.normal(size=500))
        >>> low, high = reg.predict_interval([[0.5]])[0]
        >>> bool(low < 1.0 < high)
        True
        """
        check_is_fitted(self)
        at = self._positions(X)
        if bias is not None:
            _check.choice("bias", bias, ("undersmooth",))
        result, independent = self._fitted.result, clusters is None
        if isinstance(result, AdditiveFit):
            if bias is not None:
                raise ValueError("bias must be None with smooth features or a link, got " + bias)
            self._additive(clusters)
            warn_of_doubts(self._fitted, independent)
            if self._fitted.too_few:
                return np.full((at.shape[0], 2), np.nan)
            return holding(result.interval(at, level, method), self._fitted.predict(at))
        if not isinstance(result, RegressorFit):
            known = self._linear("predict_interval", clusters)
            if bias is not None:
                if self._fitted.rows is not None:
                    raise ValueError("bias must be None without the rows, got 'undersmooth'")
                narrow = undersmoothed(known.fit, np.random.default_rng(0))
                known = Inference(narrow, dependence=known.dependence)
            few = known.few_rows(known.fit.design.columns(at))
            what = "intervals at some of these positions rest"
            warn_of_doubts(self._fitted, independent, few, what)
            found = known.interval(at, level, method)
            if self._fitted.unshrunken is None or bias is not None:
                return found
            used = np.clip(self._fitted.predict(at), *self._fitted.statistic.domain)
            return holding(found, used)  # of the minimiser, and narrow ones may miss what is used
        if bias is not None:
            raise ValueError("bias must be None with estimator=, got 'undersmooth'")
        warn_of_doubts(self._fitted, independent)
        asked = Bootstrap(n_bootstrap, clusters, self.n_jobs)
        return replicated_interval(self._fitted, asked, at, level, method)

    @_check.arithmetic("R and q")
    def wald_test(
        self, R: npt.ArrayLike, q: npt.ArrayLike = 0.0, *, clusters: ClusterLabels = None
    ) -> TestResult:
        """Test the linear hypotheses R b = q about b = (intercept, slopes).

        Parameters
        ----------
        R : array-like (h, p) or (p,)
            One row for each hypothesis.
        q : array-like (h,) or float
            Values under the hypothesis.
        clusters : array-like, "serial" or None
            Which rows depend on each other, as in :meth:`predict_interval`.
        """
        rows, values = _check.finite("R", R), _check.finite("q", q).reshape(-1)
        result = self._additive(clusters)
        known = self._linear("wald_test", clusters) if result is None else result
        found = known.wald(rows, values)
        warn_of_doubts(self._fitted, clusters is None, found.few_rows, "the test rests")
        return found

    def test_constant(self, *, clusters: ClusterLabels = None) -> TestResult:
        """Test whether the statistic is constant in x, within the linear class.

        Parameters
        ----------
        clusters : array-like, "serial" or None
            Which rows depend on each other, as in :meth:`predict_interval`.

        Examples
        --------
        >>> from multiobs import MultiObservationRegressor
        >>> rng = np.random.default_rng(0)
        >>> x = rng.uniform(size=(1000, 1))
        >>> y = rng.normal(scale=np.sqrt(0.5 + x[:, 0]))
        >>> MultiObservationRegressor("variance").fit(x, y).test_constant().p_value < 0.01
        True
        """
        result = self._additive(clusters)
        if result is not None:
            found = constant_test(result)
        else:
            found = self._linear("test_constant", clusters).constant()
        warn_of_doubts(self._fitted, clusters is None, found.few_rows, "the test rests")
        return found

    def influential_rows(self, X: npt.ArrayLike | None = None, most: int = 10) -> RowInfluence:
        """Return the rows that decide the statistic at X, by their shares in its variance.

        Parameters
        ----------
        X : array-like (n, d), optional
            Positions; some of the rows of the fit by default.
        most : int
            How many rows are listed.

        Examples
        --------
        >>> from multiobs import MultiObservationRegressor
        >>> x = np.linspace(0, 1, 500)[:, None]
        >>> y = np.random.default_rng(0).normal(size=500)
        >>> y[250] = 20.0
        >>> found = MultiObservationRegressor("variance").fit(x, y).influential_rows([[0.5]])
        >>> int(found.rows[0]), bool(found.share[0] > 0.9)
        (250, True)
        """
        known = self._linear("influential_rows")
        rows = known.fit.problem.X
        at = rows[:: -(-rows.shape[0] // LOOKED_AT)] if X is None else self._positions(X)
        return known.influence(at, _check.integer("most", most, low=1))

    def partial_effects(self, level: float = 0.95, n_points: int = 100) -> list[PartialEffect]:
        """Return each term of a smooth class with its band, on the scale of its link.

        Parameters
        ----------
        level : float
            Nominal pointwise coverage of the bands.
        n_points : int
            Values of each numeric column.

        Examples
        --------
        >>> from multiobs import MultiObservationRegressor
        >>> rng = np.random.default_rng(0)
        >>> x = rng.uniform(size=(400, 1))
        >>> y = rng.normal(scale=1 + np.sin(3 * x[:, 0]))
        >>> reg = MultiObservationRegressor("variance", features="smooth").fit(x, y)
        >>> [(each.name, each.link) for each in reg.partial_effects()]
        [('s(x0)', 'softplus')]
        """
        result = self._additive()
        if result is None:
            raise AttributeError("partial_effects needs features='smooth', got another class")
        points = _check.integer("n_points", n_points, low=2)
        return partial_effects(result, result.problem.X, level, points)

    def summary(
        self, level: float = 0.95, *, clusters: ClusterLabels = None
    ) -> Summary | TermSummary:
        """Table of coefficients, or of smooth terms, under shared labels; ``print`` it.

        Parameters
        ----------
        level : float
            Nominal coverage of the limits.
        clusters : array-like, "serial" or None
            Which rows depend on each other, as in :meth:`predict_interval`.

        Returns
        -------
        Summary
            Has ``to_frame()``.
        """
        smooth, fitted = self._additive(clusters), self._fitted
        if smooth is not None:
            warn_of_doubts(fitted, clusters is None)
            return self._terms(smooth) if smooth.linear is None else self._linked(smooth, level)
        known = self._linear("summary", clusters)
        what = "errors of some coefficients rest"
        warn_of_doubts(fitted, clusters is None, known.few_rows(), what)
        problem = known.fit.problem
        effective = fitted.effective
        if effective is None:
            more = (fitted.rows or problem.n_rows) / problem.n_rows
            effective = effective_count(problem.tuples) * more
        table = known.table(level)
        status = known.fit.solution.status.name.lower().replace("_", " ")
        facts = (
            ("Statistic", repr(fitted.statistic)),
            ("Rows", f"{self._fitted.rows or problem.n_rows:,}"),
            ("Metasamples", f"{fitted.count:,}"),
            ("Effective metasamples", f"{effective:,.0f}"),
            ("Degrees of freedom", range_of(known.coef_df)),
            ("Sampler", repr(fitted.sampler)),
            ("Transport", "none" if problem.residuals.pilot is None else "location"),
            ("Errors", f"shared labels, by {known.covariance.kind}"),
            ("Status", status),
        )
        notes = ["Metasamples share labels; the errors account for it."]
        shrunken = None
        if fitted.unshrunken is not None:
            shrunken = self._coefficients(fitted.result.coefficients())  # type: ignore[union-attr]
            notes.append(
                "coef, errors and tests are those of the minimiser; shrunk is what predict uses "
                "(coef_)."
            )
        title = f"Multi-observation regression of the {fitted.statistic.name.replace('_', ' ')}"
        return Summary(title, facts, self._names(known), table, level, tuple(notes), shrunken)

    def _terms(self, smooth: AdditiveFit) -> TermSummary:
        links = ", ".join(f"{part.loss.link} ({part.statistic.title})" for part in smooth.parts)
        facts = (
            *self._facts(smooth),
            ("Links", links),
            ("Effective degrees of freedom", f"{smooth.edf:.2f}"),
        )
        title = f"Smooth multi-observation regression of the {self._fitted.statistic.title}"
        notes = ["Tests and smoothness know that metasamples share labels."]
        if smooth.tested:
            notes.append("Interactions are there since tests found them: their p-values flatter.")
        if self._fitted.beside is not None:
            notes.append(
                "Terms, tests and limits are those of the smooth class; predictions are averaged "
                f"with a line of weight {self._fitted.beside.weight:.2f}."
            )
        return TermSummary(title, facts, tuple(term_tests(smooth)), tuple(notes))

    def _linked(self, result: AdditiveFit, level: float) -> Summary:
        design, link = result.linear, result.parts[0].loss.link
        assert design is not None
        slopes, intercept = result.coefficients()
        estimate = np.concatenate([[intercept], slopes]) if design.intercept else slopes
        table = coefficient_table(estimate, result.coef_cov, np.inf, level)
        title = f"Multi-observation regression of the {self._fitted.statistic.title}, {link} link"
        notes = (f"Coefficients are those of the {link} of the statistic.",)
        names = self._column_names(design)
        return Summary(title, self._facts(result), names, table, level, notes)

    def _facts(self, result: AdditiveFit) -> tuple[tuple[str, str], ...]:
        fitted, problem = self._fitted, result.problem
        return (
            ("Statistic", repr(fitted.statistic)),
            ("Rows", f"{self._fitted.rows or problem.n_rows:,}"),
            ("Metasamples", f"{fitted.count:,}"),
            ("Sampler", repr(fitted.sampler)),
            ("Transport", "none" if problem.residuals.pilot is None else "location"),
            ("Status", result.status.name.lower().replace("_", " ")),
        )

    def _additive(self, clusters: ClusterLabels = None) -> AdditiveFit | None:
        """Return the fitted smooth or linked class, None for another."""
        check_is_fitted(self)
        result = self._fitted.result
        if not isinstance(result, AdditiveFit):
            return None
        if clusters is not None:
            raise ValueError("clusters must be None with smooth features or a link, got labels")
        return result

    def _names(self, known: Inference) -> tuple[str, ...]:
        return self._column_names(known.fit.design)

    def _column_names(self, design: Design) -> tuple[str, ...]:
        """Names of the intercept, if there is one, and the columns of the class."""
        names = self._fitted.names or tuple(f"f{j}" for j in range(design.spread.size))
        return ("intercept", *names) if design.intercept else names

    def _coefficients(self, found: tuple[FloatArray, float]) -> FloatArray:
        slopes, intercept = found
        known = self._linear("summary")
        return np.concatenate([[intercept], slopes]) if known.fit.design.intercept else slopes

    def _linear(self, what: str, clusters: ClusterLabels = None) -> Inference:
        check_is_fitted(self)
        known = self._fitted.inference
        if known is not None:
            if clusters is not None and self._fitted.effective is not None:
                raise ValueError("clusters must be None after drop_rows, got labels")
            if known.by_parts and clusters is not None:
                raise ValueError(
                    "clusters must be None for a fit by parts, whose rows are not at hand"
                )
            dependence = dependence_of(clusters, known.fit.problem.place)
            return known if dependence is None else Inference(known.fit, dependence=dependence)
        if isinstance(self._fitted.result, RegressorFit):
            raise AttributeError(
                f"{what} needs the linear class, got a fit with estimator=: predict_interval works "
                "with it"
            )
        if self._fitted.rows is not None:
            raise AttributeError(
                f"{what} needs standard errors, got a fit by parts without them: use errors=True"
            )
        raise AttributeError(
            f"{what} needs the rows in memory, got an estimator of partial_fit: use fit"
        )
