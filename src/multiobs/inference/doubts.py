"""Reasons to doubt standard errors, in sentences: few rows, heavy tails, rows that depend."""

from dataclasses import dataclass
from typing import final

from multiobs.fit import Problem
from multiobs.inference.alike import Ties, repeated, serial, shared_at_x
from multiobs.inference.few_rows import ENOUGH, effective_rows, free_rows, highest_power
from multiobs.inference.tails import heavy_tails


@final
@dataclass(frozen=True)
class Doubts:
    """What speaks against the standard errors of a fit.

    Attributes
    ----------
    few : tuple of str
        That they rest on few rows, or on labels that are not among them.
    dependent : tuple of str
        That rows are not independent, which ``clusters=`` takes into account.
    """

    few: tuple[str, ...] = ()
    dependent: tuple[str, ...] = ()


def doubts_about(problem: Problem, n_coefficients: float) -> Doubts:
    """Look for reasons to doubt the standard errors of a fit.

    Parameters
    ----------
    problem : Problem
        What was fitted.
    n_coefficients : float
        Coefficients, or effective degrees of freedom.
    """
    return Doubts(tuple(_few(problem, n_coefficients)), tuple(_dependent(problem)))


def _few(problem: Problem, n_coefficients: float) -> list[str]:
    n, number = problem.n_rows, effective_rows(problem)
    if free_rows(problem, n_coefficients) < 1.0:
        found = (
            f"{n} rows leave none to estimate an error from, after {n_coefficients:.3g} "
            "coefficients and a mean: standard errors, limits and p-values are NaN; use more rows "
            "or fewer columns"
        )
    elif number < ENOUGH:
        found = (
            f"{n} rows with residuals of such unequal size are worth {number:.0f} equal ones, "
            f"fewer than {ENOUGH:.0f}: intervals that should cover 95 % may cover 70 to 90 %; use "
            "more rows, or a statistic that extreme labels move less"
        )
    elif heavy_tails(problem):
        found = (
            "the labels cannot be told from ones with tails so heavy that a moment of order "
            f"{2 * highest_power(problem.statistic)} does not exist, on which standard errors of "
            f"{problem.statistic.name} rest: intervals that should cover 95 % may cover 50 to 90, "
            "and miss on the side of the tails; use a statistic that extreme labels move less, as "
            "gini_mean_difference"
        )
    else:
        return []
    return [found]


def _dependent(problem: Problem) -> list[str]:
    residuals = problem.residuals
    labels = residuals.labels
    if residuals.scale is None and residuals.pilot is not None and labels.ndim == 1:
        labels = labels + residuals.pilot.at_rows
    ties = Ties.of(problem.X, labels)
    twice = repeated(ties)
    # copies of a row have everything in common, which need not be said again
    found = [twice, None if twice else shared_at_x(ties), serial(ties)]
    return [
        f"{each}: independent rows do not, and errors that take them to be independent are too "
        f"small; say which rows belong together with clusters={how}"
        for each, how in zip(found, ("", "", "'serial'"), strict=True)
        if each is not None
    ]
