"""MultiObservationRegressor: scikit-learn's conventions around the rooms that do the work."""

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from multiobs import _check, samplers, statistics
from multiobs._check.frames import FrameFeatures, FrameLayout
from multiobs._check.rows import (
    GivenTable,
    Labels,
    Rows,
    batch,
    by_frequency,
    generator,
    positions,
    read_table,
    valid_rows,
)
from multiobs._types import FloatArray
from multiobs.auto import MANY_COLUMNS, Prepared, Request, prepare
from multiobs.estimator.additive import Link, class_request, fit_additive
from multiobs.estimator.attributes import FittedAttributes
from multiobs.estimator.fitted import FitPlan, Fitted, averaged, with_regressor
from multiobs.estimator.intervals import InferenceMixin
from multiobs.estimator.messages import refuse_parameters, refuse_unfit, warn_of, warn_of_status
from multiobs.estimator.own_score import ScoreMixin
from multiobs.estimator.selection import Candidate, scored_classes
from multiobs.fit import (
    StreamFit,
    efficiently_weighted,
    fit_linear,
    make_design,
    stream,
)
from multiobs.inference import Inference, shrink
from multiobs.samplers import Sampler
from multiobs.statistics import Statistic
from multiobs.transport import PilotMemory, Transport, one_thread

if TYPE_CHECKING:
    from sklearn.utils import Tags  # scikit-learn 1.6


MARKS = ("n_features_in_", "feature_names_in_", "_fitted")  # everything that fit assigns


def _streams(estimator: "MultiObservationRegressor") -> bool:
    return stream.possible(estimator.sampler)


class MultiObservationRegressor(
    FittedAttributes,
    InferenceMixin,
    ScoreMixin,
    RegressorMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
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
    features : transformer, "smooth" or Smooth, optional
        The class is linear in ``features(x~)``; None is x itself. The sampler sees X. "smooth" is
        a sum of penalised splines, one for each column, with automatic smoothness.
    estimator : regressor or "auto", optional
        Another hypothesis class, fitted to pooled pseudo-observations with weights; None is
        the exact minimiser over the linear class. "auto" goes from constant over line,
        smooth and smooth with interactions to boosting, and on as long as the held-out score is
        better by a margin, and averages line and smooth where the score leaves it open
        (:mod:`multiobs.estimator.selection`); ``plan_.scores`` has the table.
    link : {"auto", "identity", "log", "softplus", "logit"}, default="auto"
        Scale on which the class is linear or additive: log and softplus keep a statistic above its
        lower end, the logit between its ends, with a loss that elicits the same statistic. "auto"
        is the identity for a linear class and what keeps the domain for a smooth one.
    transport : "auto", "location", "location-scale" or None, default="auto"
        How labels are moved to the representative; None is the paper's estimator.
    alpha : float or "auto", default="auto"
        Ridge penalty on the slopes, added to the mean loss. "auto" is no penalty, but with
        ``sampler="auto"`` slopes without evidence are shrunk from four columns on, and those of a
        spread in fewer moved towards efficient weights (:mod:`multiobs.fit.shrinkage`,
        ``efficient``); intervals and tests are those of the fit before, the exact minimiser: 0.0.
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

    def __init__(
        self,
        statistic: str | Statistic = "variance",
        sampler: str | Sampler = "auto",
        *,
        features: Any = None,
        estimator: Any = None,
        link: Link = "auto",
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
        self.link = link
        self.transport = transport
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.max_tuples = max_tuples
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @_check.arithmetic("X and y")
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
        if isinstance(self.estimator, str):
            return self._fit_chosen(X, y, sample_weight, groups)
        statistic, table, rows, rng = self._validated(X, y, sample_weight, groups)
        fitted = self._fitted_rows(self._request(statistic), rows, table, rng)
        warn_of(fitted, rows.X, richer=self.features is None)
        self._become(rows.marks, fitted)
        if self.verbose:
            print(fitted.plan)
        return self

    @available_if(_streams)  # type: ignore[untyped-decorator]
    @_check.arithmetic("X and y")
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
        door = copy(self)
        before = vars(self).get("_fitted")
        known = before.result if before is not None else None
        held = known.stream if isinstance(known, StreamFit) else None
        x, labels, weight = batch(door, X, y, sample_weight, first=held is None)
        names = tuple(map(str, vars(door).get("feature_names_in_", ["x0"])))
        refuse_parameters(self)
        if self.transport not in (None, "auto"):
            raise ValueError(f"partial_fit needs transport=None, got {self.transport!r}")
        if held is None:
            statistic = statistics.resolve(self.statistic)
            sampler = samplers.resolve(self.sampler)
            held = stream.begin(statistic, sampler, x, labels, bool(self.fit_intercept))
        held = stream.extend(held, x, labels, weight)
        result = held.fitted()
        reasons = ("rows as they come", "transport: none, since a pilot needs all rows at once")
        plan = FitPlan(reasons, (), result.solution.solver)
        fitted = Fitted(result, held.statistic, held.sampler, held.count, plan, names=names)
        warn_of_status(fitted)
        self._become(vars(door), fitted)
        return self

    @_check.arithmetic("X")
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
        check_is_fitted(self)
        return self._fitted.predict(self._positions(X))

    def _positions(self, X: npt.ArrayLike) -> FloatArray:
        return positions(self, X, self._fitted.categories)

    def __sklearn_tags__(self) -> "Tags":
        """Declare that predictions are of a statistic and not of y."""
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # R² of y means nothing for a statistic of y
        tags.target_tags.two_d_labels = statistics.resolve(self.statistic).n_columns > 1
        return tags

    def _more_tags(self) -> dict[str, bool]:
        """Declare the same to scikit-learn 1.5."""
        return {"poor_score": True}

    def _validated(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None,
        groups: npt.ArrayLike | None,
    ) -> tuple[Statistic, GivenTable, Rows, np.random.Generator]:
        """Return what is estimated, the table and rows it is estimated from, and what draws."""
        table = read_table(X)
        refuse_parameters(self)
        statistic, rng = statistics.resolve(self.statistic), generator(self.random_state)
        replicated = self.sampler != "auto" and samplers.takes_replicates(self.sampler)
        labels = Labels(statistic.name, statistic.n_columns, replicated)
        given = partial(valid_rows, y=y, labels=labels, sample_weight=sample_weight, groups=groups)
        rows = given(type(self).__name__, table)
        if self.estimator is not None and table.categories is not None:
            table = by_frequency(X, y, table)  # trees depend on the order of their columns
            rows = given(type(self).__name__, table)
        refuse_unfit(statistic, rows, rng)
        return statistic, table, rows, rng

    def _fit_chosen(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None,
        groups: npt.ArrayLike | None,
    ) -> Self:
        """Fit the class with the best held-out score, or average two that are about as good."""
        _check.choice("estimator", self.estimator, ("auto",))
        if self.features is not None:
            raise ValueError("features must be None with estimator='auto', got some")
        statistic, table, rows, _ = self._validated(X, y, sample_weight, groups)

        request = replace(self._request(statistic), pilot=PilotMemory())

        def door(each: Candidate) -> "MultiObservationRegressor":
            made: MultiObservationRegressor = clone(self)
            return made.set_params(features=each.features, estimator=each.estimator)

        def fit(each: Candidate, some: Rows, ready: Prepared) -> Fitted:
            return door(each)._fitted_rows(request, some, table, np.random.default_rng(0), ready)

        def whole(each: Candidate) -> Fitted:
            made = door(each)
            _, own, same, rng = made._validated(X, y, sample_weight, groups)
            found = made._fitted_rows(request, same, own, rng)
            warn_of(found, same.X, richer=each.features is None)
            return found

        ready, scores = scored_classes(fit, request, rows)
        taken = compress(ready, scores.weights > 0)
        with one_thread():
            fitted = averaged([whole(each) for each in taken], scores)
        self._become(rows.marks, fitted)
        if self.verbose:
            print(fitted.plan)
        return self

    def _request(self, statistic: Statistic) -> Request:
        """Return what rows become tuples by."""
        shift, most = bool(self.fit_intercept), self.max_tuples
        return Request(statistic, self.sampler, self.transport, shift, max_tuples=most)

    def _fitted_rows(
        self,
        request: Request,
        rows: Rows,
        table: GivenTable,
        rng: np.random.Generator,
        ready: Prepared | None = None,
    ) -> Fitted:
        """Fit the class that was asked for, to tuples that may be ready."""
        alpha = None if isinstance(self.alpha, str) else float(self.alpha)
        wanted = None
        if self.features is not None or self.link != "auto":
            wanted = class_request(self.features, self.link, alpha, bool(self.fit_intercept))
        if self.estimator is None and wanted is not None:
            return fit_additive(wanted.framed(table.layout), request, rows, rng, table.categories)
        ready = prepare(request, rows, rng) if ready is None else ready
        if self.estimator is not None:
            return with_regressor(ready, self.estimator, rng, table.categories)
        return self._fitted_linear(ready, rows, alpha, table.layout)

    def _fitted_linear(
        self,
        ready: Prepared,
        rows: Rows,
        alpha: float | None,
        layout: FrameLayout | None,
    ) -> Fitted:
        problem, features = ready.problem, self.features
        found = None if layout is None else layout.categories
        if layout is not None and features is not None:
            features = FrameFeatures(features, layout)  # it sees what the user passed
        design = make_design(features, problem.X, bool(self.fit_intercept))
        strength = alpha * problem.units.penalty if alpha else 0.0
        result = fit_linear(problem, design, strength)
        reasons, unshrunken, known = ready.reasons, None, None
        many = design.transformer is None and design.spread.size >= MANY_COLUMNS
        free = alpha is None and self.sampler == "auto"
        if free and many:
            unshrunken, errors = result, Inference(result)
            result = shrink(errors, ready.sampler)
            known = vars(errors).get("covariance")  # not computed where rows are many
            reasons = (*reasons, "slopes: shrunk by how little their t-values say for them")
        elif free and (better := efficiently_weighted(result)) is not result:
            unshrunken, result = result, better
            reasons = (*reasons, "slopes: moved towards those of efficient weights")
        plan = FitPlan(reasons, result.branches, result.solution.solver)
        names = design.names(rows.names)
        what = problem.statistic, ready.sampler, ready.count, plan, found, names
        return Fitted(result, *what, unshrunken, known=known)

    def become(self, fitted: Fitted, columns: "npt.NDArray[np.object_]") -> None:
        """Take over a fit that was made elsewhere, of columns with these names."""
        self._become({"n_features_in_": columns.size, "feature_names_in_": columns}, fitted)

    def _become(self, marks: Mapping[str, Any], fitted: Fitted) -> None:
        """Replace everything a fit assigns, in one step."""
        kept = {name: value for name, value in vars(self).items() if name not in MARKS}
        seen = {name: marks[name] for name in MARKS[:2] if name in marks}
        self.__dict__ = {**kept, **seen, "_fitted": fitted}
