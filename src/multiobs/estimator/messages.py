"""What a fit refuses, and what it says about itself: one warning for each thing wrong."""

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from multiobs import _check, samplers, statistics
from multiobs._check.advice import OutsideDomain
from multiobs._check.estimators import require_regressor, require_transformer
from multiobs._check.rows import Rows
from multiobs._types import FloatArray
from multiobs.estimator.additive import LINKS
from multiobs.estimator.fitted import Fitted
from multiobs.fit import LinearFit, RegressorFit, Smooth
from multiobs.inference import RowInfluence
from multiobs.statistics import Statistic, outside_domain

NAMED_FROM = 0.05  # share of the variance from which a row is named
LONG = 30.0  # seconds of an interval that are told beforehand


def warn_of(fitted: Fitted, X: FloatArray, richer: bool) -> None:
    """Say what is wrong with a fit, before it replaces another.

    Parameters
    ----------
    fitted : Fitted
        What was fitted.
    X : ndarray (n, d)
        Positions of the rows.
    richer : bool
        Whether the class was the plainest one, so that a richer one may help.
    """
    warn_of_status(fitted, stacklevel=4)
    result, statistic = fitted.result, fitted.statistic
    if isinstance(result, LinearFit):
        below, above = result.limits()
        if statistic.domain[0] <= below and above <= statistic.domain[1]:
            return
    wrong = outside_domain(statistic, result.predict(X))
    if wrong.size:
        low, high = statistic.domain
        remedy = "estimator= with a class that stays inside (boosting with a gamma loss)"
        if richer and isinstance(result, LinearFit):
            remedy = "link='log', features='smooth', " + remedy
        finding = (
            f"{statistic.name} lies in [{low:g}, {high:g}], but the fit reaches "
            f"{wrong[np.argmax(np.abs(wrong))]:.4g} at {wrong.size} of {X.shape[0]} training rows"
        )
        use = f"use {remedy}, or statistic.with_loss('gamma')"
        warnings.warn(OutsideDomain(finding, use), stacklevel=3)


def warn_of_status(fitted: Fitted, stacklevel: int = 3) -> None:
    """Say that the coefficients are not to be trusted, if so."""
    result = fitted.result
    if not isinstance(result, RegressorFit) and not result.solution.status.success:
        warnings.warn(
            f"{fitted.statistic.name}: {result.solution.status.value}",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )


def few_decide(found: RowInfluence, what: str) -> str:
    """Sentence that few rows decide.

    Parameters
    ----------
    found : RowInfluence
        The rows, where they are too few.
    what : str
        What they decide, as the subject of the sentence.
    """
    rows = ", ".join(
        f"row {row} with {100 * share:.0f} % of the variance"
        for row, share in zip(found.rows.tolist(), found.share.tolist(), strict=True)
        if share >= NAMED_FROM
    )
    return (
        f"{what} on few rows, as if there were {float(found.effective.min()):.2g}: {rows} (rows "
        "counted from 0). influential_rows() lists them. Where they lie far out in x, knots at "
        "quantiles, features='smooth' or a transformation of x let more rows decide; where a label "
        "is an outlier, statistics such as gini_mean_difference do"
    )


def is_auto(value: Any) -> bool:
    """Whether a parameter is the word "auto"."""
    return isinstance(value, str) and value == "auto"


def refuse_parameters(model: Any) -> None:
    """Refuse parameters of an estimator that its fit cannot use."""
    if not is_auto(model.alpha):
        _check.nonnegative("alpha", model.alpha)
    if model.max_tuples is not None:
        _check.integer("max_tuples", model.max_tuples, low=1)
    if not is_auto(model.link):
        _check.choice("link", model.link, LINKS)
    if model.n_jobs is not None and _check.integer("n_jobs", model.n_jobs, low=-(2**31)) == 0:
        raise ValueError("n_jobs must be a number of processes, or negative, got 0")
    if not is_auto(model.sampler):
        samplers.resolve(model.sampler)
    if model.transport is not None:
        _check.choice("transport", model.transport, ("auto", "location", "location-scale"))
    if model.estimator is not None and not is_auto(model.estimator):
        require_regressor("estimator", model.estimator)
    if not (model.features is None or isinstance(model.features, str | Smooth)):
        require_transformer("features", model.features)
    _check.flags(verbose=model.verbose, fit_intercept=model.fit_intercept)


def refuse_unfit(statistic: Statistic, rows: Rows, rng: np.random.Generator) -> None:
    """Refuse fewer rows than a metasample needs, and functions that are not what they claim."""
    n, m = rows.X.shape[0], statistic.arity
    if n < m:
        raise ValueError(
            f"{statistic.name} needs at least {m} rows (observations in one metasample), "
            f"got n_samples={n}"
        )
    if not statistic.trusted:
        drawn = rng.integers(0, n, size=(min(256, 4 * n), m))
        statistics.verify(statistic, rows.y[drawn])


def warn_of_doubts(
    fitted: Fitted, independent: bool, found: RowInfluence | None = None, what: str = ""
) -> None:
    """Say what speaks against standard errors that are about to be claimed.

    Parameters
    ----------
    fitted : Fitted
        What was fitted.
    independent : bool
        Whether rows are taken to be independent.
    found : RowInfluence, optional
        Rows that decide, where they are too few: they are named, and that rows are few in general
        is not said as well.
    what : str
        What they decide, as the subject of the sentence.
    """
    doubts = fitted.doubts
    few = doubts.few if found is None else (few_decide(found, what),)
    for each in (*few, *(doubts.dependent if independent else ())):
        warnings.warn(each, UserWarning, stacklevel=3)


def warn_of_cost(seconds: float) -> None:
    """Say beforehand how long an interval takes, if long."""
    if seconds > LONG:
        warnings.warn(
            f"the replicates of this interval will take about {seconds:.0f} seconds, by the first "
            "of them: a smaller n_bootstrap= takes fewer, n_jobs= shares them",
            UserWarning,
            stacklevel=5,
        )
