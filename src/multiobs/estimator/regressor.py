"""MultiObservationRegressor: scikit-learn's conventions around the rooms that do the work."""

import warnings
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from multiobs import _check, samplers, scoring, statistics
from multiobs._types import FloatArray
from multiobs.auto import two_step
from multiobs.auto.preparation import FitPlan, Prepared, prepare
from multiobs.estimator import categories
from multiobs.estimator.categories import Categories
from multiobs.estimator.diagnostics import MetasampleReport, metasample_report
from multiobs.estimator.intervals import InferenceMixin
from multiobs.estimator.rows import batch, generator, positions, valid_rows
from multiobs.fit import regressor, stream
from multiobs.fit.design import make_design
from multiobs.fit.solvers import Solution
from multiobs.fit.stream import Stream
from multiobs.samplers import Replicates, Sampler
from multiobs.statistics import Statistic, outside_domain
from multiobs.sums.contraction import LIMIT, Plan
from multiobs.transport import Transport

if TYPE_CHECKING:
    from sklearn.utils import Tags  # scikit-learn 1.6


def _streams(estimator: "MultiObservationRegressor") -> bool:
    return stream.possible(estimator.sampler)


class MultiObservationRegressor(InferenceMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    r"""Regression on a statistic of Y given x by a loss of several observations.

    Builds metasamples :math:`(\tilde x, y_1..y_m)` from ordinary rows and minimises
    :math:`\sum_t \ell(f(\tilde x_t), y_{t,1}..y_{t,m})` over f.

    Parameters
    ----------
    statistic : str or Statistic, default="variance"
        What is estimated: a name of the catalogue or an object of :mod:`multiobs.statistics`.
    sampler : str or Sampler, default="auto"
        How rows become metasamples: "auto", "naive", "improved", "sliding", "disjoint",
        "nearby", "nearest", "replicates", or an object of :mod:`multiobs.samplers`.
    features : transformer, optional
        The class is linear in ``features(x~)``; None is x itself. The sampler sees X.
    estimator : regressor, optional
        Another hypothesis class, fitted to pooled pseudo-observations with weights; None is
        the exact minimiser over the linear class.
    transport : "auto", "location", "location-scale" or None, default="auto"
        How labels are carried to the representative; None is the paper's estimator.
    alpha : float or "auto", default="auto"
        Ridge penalty on the slopes, added to the mean loss. "auto" is no penalty, except that
        with ``sampler="auto"`` and four or more columns the slopes of columns that show no
        effect are shrunk (:mod:`multiobs.fit.shrinkage`); intervals and tests then remain those of
        the fit before. 0.0 is the exact minimiser.
    fit_intercept : bool, default=True
        Whether the linear class contains the constants.
    max_tuples : int, optional
        Use a uniform random subset of this many tuples (an incomplete U-statistic).
    n_jobs : int, optional
        Processes or threads for resampling.
    random_state : int, Generator or None
        Seed of the samplers that draw.
    verbose : bool, default=False
        Print the plan of the fit.

    Attributes
    ----------
    coef_, intercept_ : ndarray (p,), float
        Of the linear class, in the units of the data.
    n_metasamples_ : int
        How many tuples there were.
    sampler_ : Sampler
        The sampler that was used.
    solution_ : Solution
        How the coefficients were found.
    plan_ : FitPlan
        What was chosen and how the sums were formed; ``print(reg.plan_)``.
    coef_cov_ : ndarray (1 + p, 1 + p)
        Covariance of (intercept, slopes) under shared labels; computed when first asked for.
    statistic_ : Statistic
        The statistic itself.
    estimator_ : regressor
        The fitted regressor, when ``estimator`` was given.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=(2000, 1))
    >>> y = np.sin(4 * np.pi * x[:, 0]) + rng.normal(scale=0.5 + x[:, 0])
    >>> reg = MultiObservationRegressor("variance").fit(x, y)
    >>> bool(abs(reg.predict([[0.5]])[0] - 1.0) < 0.15)
    True
    """

    _stream: Stream | None = None  # rows of partial_fit
    _categories: Categories | None = None

    def __init__(
        self,
        statistic: str | Statistic = "variance",
        sampler: str | Sampler = "auto",
        *,
        features: Any = None,
        estimator: Any = None,
        transport: Transport = "auto",
        alpha: float | Literal["auto"] = "auto",
        fit_intercept: bool = True,
        max_tuples: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.statistic = statistic
        self.sampler = sampler
        self.features = features
        self.estimator = estimator
        self.transport = transport
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.max_tuples = max_tuples
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
        groups: npt.ArrayLike | None = None,
    ) -> Self:
        """Fit the statistic of y given X.

        Parameters
        ----------
        X : array-like (n, d)
            Positions.
        y : array-like (n,) or (n, s)
            Labels; (n, 2) for statistics of two outputs; (n, r) replicates with
            ``sampler="replicates"``.
        sample_weight : array-like (n,), optional
            Weights, multiplied within a tuple; zero is absent.
        groups : array-like (n,), optional
            Tuples never cross a group.

        Returns
        -------
        self
        """
        alpha = None if self.alpha == "auto" else _check.nonnegative("alpha", self.alpha)
        statistic = statistics.resolve(self.statistic)
        rng = generator(self.random_state)
        self._categories, self._stream = categories.find(X), None
        replicated = self.sampler == "replicates" or isinstance(self.sampler, Replicates)
        rows = valid_rows(
            self, statistic, replicated, X, y, sample_weight, groups, self._categories
        )
        n, m = rows.X.shape[0], statistic.arity
        if n < m:
            raise ValueError(
                f"{statistic.name} needs at least {m} rows (observations in one metasample), "
                f"got n_samples={n}"
            )
        if not statistic.trusted:
            drawn = rng.integers(0, n, size=(min(256, 4 * n), m))
            statistics.verify(statistic, rows.y[drawn])
        size = self.max_tuples
        if size is not None:
            size = _check.integer("max_tuples", size, low=1)
        ready = prepare(
            statistic,
            self.sampler,
            self.transport,
            rows,
            rng,
            may_shift=bool(self.fit_intercept),
            max_tuples=size,
        )
        self._prepared = ready
        self.statistic_, self.sampler_, self.tuples_ = statistic, ready.sampler, ready.tuples
        self.n_metasamples_, self.units_ = ready.count, ready.units
        limit = LIMIT if size is None else max(LIMIT, size)
        if self.estimator is not None:
            fitted = regressor.fit_estimator(
                self.estimator,
                statistic,
                ready.tuples,
                rows.X,
                ready.carried,
                ready.weight,
                rng,
                limit,
            )
            self.estimator_ = fitted.estimator
            self._remember_problem(ready, self.estimator, rng, limit)
            self.plan_ = FitPlan(ready.reasons, (), type(self.estimator).__name__)
        else:
            self._fit_linear(ready, alpha, limit)
        self._warn_outside(rows.X)
        if self.verbose:
            print(self.plan_)
        return self

    @available_if(_streams)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None
    ) -> Self:
        """Fit rows that arrive in increasing x; equal to ``fit`` on all rows so far.

        Needs one column of x, ``SlidingWindow()`` or ``Nearby`` with a number for epsilon, and no
        transport; only the rows within one window of the last are kept.

        Parameters
        ----------
        X : array-like (k, 1)
            Positions, none before those already seen.
        y : array-like (k,)
            Labels.
        sample_weight : array-like (k,), optional
            Weights, multiplied within a tuple.
        """
        first = self._stream is None
        x, labels, weight = batch(self, X, y, sample_weight, first)
        if self.transport is not None and self.transport != "auto":
            raise ValueError(f"partial_fit needs transport=None, got {self.transport!r}")
        if self._stream is None:
            self.statistic_ = statistics.resolve(self.statistic)
            self.sampler_ = samplers.resolve(self.sampler)
            self._stream = stream.begin(
                self.statistic_, self.sampler_, x, labels, bool(self.fit_intercept)
            )
        self._stream = stream.extend(self._stream, x, labels, weight)
        held = self._stream
        self.n_metasamples_, self.units_, self.design_ = held.count, held.units, held.design
        self._accept(held.solution(), ("rows as they come",), ())
        return self

    def metasample_report(self) -> MetasampleReport:
        """Diameters, label use, drift inside tuples and effective number of metasamples."""
        check_is_fitted(self, "plan_")
        if self._stream is not None:
            raise ValueError("metasample_report needs fit, got an estimator of partial_fit")
        ready = self._prepared
        y = ready.carried.labels
        level = None if ready.carried.pilot is None else ready.carried.pilot.at_rows
        if level is not None and y.ndim == 1:
            y = y + level
        return metasample_report(
            ready.statistic, ready.tuples, ready.X, y, level=level, rng=np.random.default_rng(0)
        )

    def predict(self, X: npt.ArrayLike) -> FloatArray:
        """Predict the statistic at X.

        Parameters
        ----------
        X : array-like (n, d)
            Positions.

        Returns
        -------
        ndarray (n,)
        """
        check_is_fitted(self, "plan_")
        return self._predict(self._positions(X))

    def _positions(self, X: npt.ArrayLike) -> FloatArray:
        return positions(self, X, self._categories)

    def score(
        self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None
    ) -> float:
        """Minus the mean loss on metasamples of adjacent rows of (X, y): larger is better.

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
        return -scoring.score(
            self.statistic_,
            self._positions(X),
            np.asarray(y),
            prediction,
            sample_weight=sample_weight,
        )

    def __sklearn_tags__(self) -> "Tags":
        """Declare that predictions are of a statistic and not of y."""
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # R² of y means nothing for a statistic of y
        tags.target_tags.two_d_labels = statistics.resolve(self.statistic).n_columns > 1
        return tags

    def _more_tags(self) -> dict[str, bool]:
        """Declare the same to scikit-learn 1.5."""
        return {"poor_score": True}

    def _fit_linear(self, ready: Prepared, alpha: float | None, limit: int) -> None:
        units = ready.units
        self.design_ = make_design(self.features, ready.X, bool(self.fit_intercept))
        strength = alpha * units.penalty if alpha else 0.0
        ready, fitted = two_step.minimise(ready, self.design_, strength, limit)
        self._remember_linear(ready, self.design_, fitted, strength, limit)
        solution, reasons, known = fitted.solution, ready.reasons, self._inference
        if alpha is None and self.sampler == "auto" and known is not None:
            solution = two_step.shrink(ready, self.design_, fitted, known)
        if solution is not fitted.solution:
            reasons = (*reasons, "slopes: shrunk by how little their t-values say for them")
        self._accept(solution, reasons, fitted.branches)

    def _accept(
        self, solution: Solution, reasons: tuple[str, ...], branches: tuple[tuple[int, Plan], ...]
    ) -> None:
        """Show the coefficients in the user's units, and say so if they are not to be trusted."""
        self._w, self.solution_ = solution.w, solution
        gradient, intercept = self.design_.coefficients(solution.w)
        self.coef_ = gradient * self.units_.factor
        self.intercept_ = intercept * self.units_.factor + self.units_.offset
        self.plan_ = FitPlan(reasons, branches, solution.solver)
        if not solution.status.success:
            warnings.warn(
                f"{self.statistic_.name}: {solution.status.value}",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _predict(self, X: FloatArray) -> FloatArray:
        if self.estimator is not None:
            raw: FloatArray = np.asarray(self.estimator_.predict(X), dtype=np.float64).reshape(-1)
        else:
            raw = self.design_.columns(X) @ self._w
        return self.units_.outward(raw)

    def _warn_outside(self, X: FloatArray) -> None:
        """Say once that the fit leaves the statistic's domain on its own training x."""
        if self.estimator is None:
            limits = self.units_.outward(np.array(self.design_.bounds(self._w)))
            if not outside_domain(self.statistic_, limits).size:
                return
        wrong = outside_domain(self.statistic_, self._predict(X))
        if wrong.size:
            low, high = self.statistic_.domain
            warnings.warn(
                f"{self.statistic_.name} lies in [{low:g}, {high:g}], but the fit reaches "
                f"{wrong[np.argmax(np.abs(wrong))]:.4g} at {wrong.size} of {X.shape[0]} training "
                "rows: use features= or estimator= with a class that stays inside (splines, "
                "boosting with a gamma loss), or statistic.with_loss('gamma')",
                UserWarning,
                stacklevel=3,
            )
