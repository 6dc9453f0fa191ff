"""Intervals, tests and a summary for the estimator: thin methods over the rooms below."""

from abc import ABC, abstractmethod
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from multiobs import _check
from multiobs._types import FloatArray
from multiobs.auto.preparation import Prepared
from multiobs.fit.design import Design
from multiobs.fit.linear import LinearFit
from multiobs.fit.units import LabelUnits
from multiobs.inference import Inference, Record, TestResult, bootstrap, limits
from multiobs.inference.intervals import Method
from multiobs.inference.summary import Summary, coefficient_table
from multiobs.inference.undersmooth import undersmoothed
from multiobs.samplers import Nearby, Sampler, column_scales, paper_epsilon
from multiobs.statistics import Statistic
from multiobs.sums.contraction import LIMIT


class InferenceMixin(ABC):
    """What a fitted estimator can say about its own uncertainty.

    Nothing here is computed by ``fit``: it keeps references to the rows and tuples, and the
    first question pays.
    """

    n_jobs: int | None
    n_metasamples_: int
    sampler_: Sampler
    statistic_: Statistic
    units_: LabelUnits
    _inference: Inference | None
    _problem: bootstrap.Problem | None
    _replicates: bootstrap.Replicates | None
    _seed: np.random.SeedSequence
    _status: str

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
        return self._linear("coef_cov_").coef_cov

    def predict_interval(
        self,
        X: npt.ArrayLike,
        level: float = 0.95,
        method: Method = "auto",
        *,
        bias: Literal["undersmooth"] | None = None,
        n_bootstrap: int = 200,
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
            Replicates of the row bootstrap, with ``estimator=`` only.

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
        check_is_fitted(self, "plan_")
        positions = self._positions(X)
        if bias is not None:
            _check.choice("bias", bias, ("undersmooth",))
        if self._problem is None:
            known = self._linear("predict_interval")
            if bias is not None:
                rng = np.random.default_rng(0)
                known = Inference(undersmoothed(known.record, rng), self.units_)
            return known.interval(positions, level, method)
        if bias is not None:
            raise ValueError("bias must be None with estimator=, got 'undersmooth'")
        count = _check.integer("n_bootstrap", n_bootstrap, low=2)
        held = self._replicates
        if held is None or len(held.models) != count:
            held = bootstrap.replicate(self._problem, count, self._seed, self.n_jobs)
            self._replicates = held
        error = held.standard_errors(positions) * self.units_.factor
        domain = self.statistic_.domain
        return limits(self.predict(X), error, np.inf, level, method, domain)

    def wald_test(self, R: npt.ArrayLike, q: npt.ArrayLike = 0.0) -> TestResult:
        """Test the linear hypotheses R b = q about b = (intercept, slopes).

        Parameters
        ----------
        R : array-like (h, p) or (p,)
            One row for each hypothesis.
        q : array-like (h,) or float
            Values under the hypothesis.
        """
        known = self._linear("wald_test")
        return known.wald(
            np.asarray(R, dtype=np.float64), np.asarray(q, dtype=np.float64).reshape(-1)
        )

    def test_constant(self) -> TestResult:
        """Test whether the statistic is constant in x, within the linear class.

        Examples
        --------
        >>> from multiobs import MultiObservationRegressor
        >>> rng = np.random.default_rng(0)
        >>> x = rng.uniform(size=(1000, 1))
        >>> y = rng.normal(scale=np.sqrt(0.5 + x[:, 0]))
        >>> MultiObservationRegressor("variance").fit(x, y).test_constant().p_value < 0.01
        True
        """
        return self._linear("test_constant").constant()

    def summary(self, level: float = 0.95) -> Summary:
        """Table of coefficients with errors under shared labels; ``print`` it.

        Parameters
        ----------
        level : float
            Nominal coverage of the limits.

        Returns
        -------
        Summary
            Has ``to_frame()``.
        """
        known = self._linear("summary")
        table = coefficient_table(known.estimate, known.coef_cov, known.df, level)
        rows = known.record.X.shape[0]
        facts = [
            ("Statistic", repr(self.statistic_)),
            ("Rows", f"{rows:,}"),
            ("Metasamples", f"{self.n_metasamples_:,}"),
            ("Effective metasamples", f"{known.effective_size:,.0f}"),
            ("Degrees of freedom", f"{known.df:.1f}"),
            ("Sampler", type(self.sampler_).__name__),
            ("Epsilon", _epsilon(self.sampler_, known.record.X)),
            ("Transport", "none" if known.record.carried.pilot is None else "location"),
            ("Errors", f"shared labels, by {known.covariance.kind}"),
            ("Status", self._status),
        ]
        notes = ("Metasamples share labels; the errors account for it.",)
        title = f"Multi-observation regression of the {self.statistic_.name.replace('_', ' ')}"
        names = coefficient_names(known.record.design, self)
        return Summary(title, tuple(facts), names, table, level, notes)

    def _remember_linear(
        self,
        ready: Prepared,
        design: Design,
        fitted: LinearFit,
        alpha: float,
        limit: int = LIMIT,
    ) -> None:
        """Keep what inference about a linear fit needs: references, no copies."""
        record = Record(
            ready.statistic,
            ready.tuples,
            design,
            ready.X,
            ready.carried,
            ready.weight,
            fitted.w,
            fitted.risk,
            fitted.reference,
            alpha,
            ready.apart,
            any("pooled" in plan.reason for _, plan in fitted.branches),
            limit,
        )
        self._inference, self._problem = Inference(record, ready.units), None
        self._status = fitted.solution.status.name.lower().replace("_", " ")

    def _remember_problem(
        self, ready: Prepared, estimator: Any, rng: np.random.Generator, limit: int
    ) -> None:
        """Keep what the bootstrap of a regressor needs: references, no copies."""
        self._problem = bootstrap.Problem(
            estimator,
            ready.statistic,
            ready.tuples,
            ready.X,
            ready.carried,
            ready.weight,
            limit,
        )
        self._inference, self._replicates = None, None
        self._seed = np.random.SeedSequence(int(rng.integers(2**63 - 1)))

    def _linear(self, what: str) -> Inference:
        check_is_fitted(self, "plan_")
        if self._inference is None:
            raise AttributeError(
                f"{what} needs the linear class and its rows in memory, got a fit without them: "
                "predict_interval works with estimator= as well"
            )
        return self._inference


def coefficient_names(design: Design, estimator: Any) -> tuple[str, ...]:
    """Names of the intercept and the columns, from the transformer or the data frame."""
    q = design.spread.size
    given = getattr(estimator, "feature_names_in_", None)
    names = [f"x{j}" for j in range(q)] if given is None else [str(name) for name in given]
    if design.transformer is not None:
        ask = getattr(design.transformer, "get_feature_names_out", None)
        names = [f"f{j}" for j in range(q)] if ask is None else [str(name) for name in ask()]
    return ("intercept", *names) if design.intercept else tuple(names)


def _epsilon(sampler: Sampler, X: FloatArray) -> str:
    if not isinstance(sampler, Nearby):
        return "-"
    if isinstance(sampler.epsilon, str):
        return f"{paper_epsilon(X / column_scales(X, sampler.scale)):.4g} ({sampler.epsilon})"
    return f"{sampler.epsilon:.4g}"
