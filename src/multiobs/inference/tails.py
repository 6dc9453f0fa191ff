r"""Labels whose tails may be too heavy for their standard errors.

The variance of a sum of powers :math:`|e|^k` needs a moment of order 2k.  Where labels have none,
most data sets hold no label of the size that the variance rests on, and nothing in their own
sums says so; the shape of the labels does.  On each side of the median, laws with such a moment
(exponential powers, and t and Pareto laws with more than 2k degrees of freedom) are compared by
their likelihoods with laws without one (t and Pareto laws with at most 2k).

Half of the labels do not tell gamma from t labels, so t laws are judged by both sides together.
Where only one side is heavy, the density falls from the median on as that of a Pareto law, and
half of the labels do tell that from an exponential law.
"""

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy import special

from multiobs._types import FloatArray
from multiobs.fit import Problem
from multiobs.inference.alike import Ties, stiff_residuals
from multiobs.inference.few_rows import highest_power
from multiobs.transport import SplinePilot

REJECTED = 1.92  # nats by which a likelihood ratio test with one degree of freedom rejects at 5 %
CERTAIN = 5.41  # and at 0.1 %
HEAVY = np.array([0.25, 0.375, 0.5, 0.625, 0.75, 1.0])  # degrees of freedom, in units of 2k
LIGHTER = np.array([1.25, 1.5, 2.0, 3.0, 5.0, 12.0, 50.0])
POWERS = np.geomspace(0.4, 8.0, 25)  # of exponential powers: one is Laplace's law, two the normal
LEAST_SPREAD = 0.2  # of the mean spread
FEWEST = 10  # labels on a side, to speak of its shape
DIFFERENT = 0.5  # share of the labels below which they are counts or codes
BEYOND_NORMAL = 0.8  # times the rows that normal labels would be worth: not even those look heavy


def heavy_tails(problem: Problem) -> bool:
    """Whether the labels cannot be told from ones without the moment that errors need.

    By likelihood ratio tests at 5 %: lighter laws describe either both sides together no better
    than t and Pareto laws without that moment, or one side no better than Pareto laws, from which
    the other side certainly differs.

    Parameters
    ----------
    problem : Problem
        What was fitted.
    """
    order = highest_power(problem.statistic)
    if order == 0:
        return False
    return any(
        _heavy(standardised, order)
        for standardised in _standardised(problem)
        if standardised.size >= 2 * FEWEST
    )


def _heavy(labels: FloatArray, order: int) -> bool:
    size = np.abs(labels) ** order
    if float(size.mean() ** 2 / np.mean(size**2)) > BEYOND_NORMAL * _normal_share(order):
        return False
    sides = [side_of(each, order) for each in (labels[labels > 0], -labels[labels < 0])]
    both = sum(max(side.than_any, 0.0) for side in sides)
    heavier, other = sorted(side.than_pareto for side in sides)
    return both < REJECTED or (heavier < REJECTED and other > CERTAIN)


def _normal_share(order: int) -> float:
    """Rows that powers of normal labels are worth, as a share: a third for squares."""
    half = special.gammaln(np.array([order + 1, 2 * order + 1]) / 2)
    return float(np.exp(2 * half[0] - half[1] - special.gammaln(0.5)))


@final
@dataclass(frozen=True)
class Side:
    """Nats by which labels on one side of the median are likelier under laws with the moment.

    Attributes
    ----------
    than_any : float
        Than under the best t or Pareto law without it.
    than_pareto : float
        Than under the best Pareto law without it.
    """

    than_any: float
    than_pareto: float


def side_of(sizes: FloatArray, order: int) -> Side:
    """Compare laws with a moment of order 2k with laws without one; infinite for few sizes.

    Parameters
    ----------
    sizes : ndarray (n,)
        Positive distances from the median.
    order : int
        The power k.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> side_of(np.abs(rng.standard_t(3, size=400)), 2).than_any < 0
    True
    >>> side_of(rng.pareto(3, size=400), 2).than_pareto < 0
    True
    >>> side_of(rng.exponential(size=2000), 2).than_pareto > 5
    True
    """
    if sizes.size < FEWEST:
        return Side(np.inf, np.inf)
    sizes = sizes / np.median(sizes)
    heavy, lighter = 2 * order * HEAVY, 2 * order * LIGHTER
    having = max(
        _exponential_powers(sizes).max(),
        _half_t(sizes, lighter).max(),
        _lomax(sizes, lighter).max(),
    )
    t, pareto = _half_t(sizes, heavy).max(), _lomax(sizes, heavy).max()
    return Side(float(having - max(t, pareto)), float(having - pareto))


def _exponential_powers(a: FloatArray) -> FloatArray:
    """Log-likelihoods of densities proportional to exp(-(a/s)^b) at their best s, for each b."""
    b = POWERS
    s = (b * np.exp(np.outer(b, np.log(a))).mean(axis=1)) ** (1.0 / b)
    return np.asarray(a.size * (np.log(b / s) - special.gammaln(1.0 / b) - 1.0 / b))


def _half_t(a: FloatArray, df: FloatArray) -> FloatArray:
    """Log-likelihoods of the sizes of t labels at their best scale, by expectation-maximisation."""
    squares, df = a**2, df[:, None]
    s = np.full(df.shape, 2.0)
    for _ in range(100):
        before, s = s, np.mean((df + 1) * squares / (df + squares / s), axis=1, keepdims=True)
        if np.all(np.abs(s - before) < 1e-4 * s):
            break
    level = special.gammaln((df + 1) / 2) - special.gammaln(df / 2) - np.log(np.pi * df * s) / 2
    tails = (df + 1) / 2 * np.log1p(squares / (s * df)).sum(axis=1, keepdims=True)
    return np.asarray((a.size * (np.log(2.0) + level) - tails)[:, 0])


def _lomax(a: FloatArray, df: FloatArray) -> FloatArray:
    """Log-likelihoods of Pareto laws that begin at zero at their best scale, by Newton steps."""
    df = df[:, None]
    log_s = np.log(np.maximum(df - 1.0, 0.3) * a.mean())
    for _ in range(50):
        share = a / (np.exp(log_s) + a)
        slope = (df + 1) * np.mean(share * (1.0 - share), axis=1, keepdims=True)
        step = ((df + 1) * share.mean(axis=1, keepdims=True) - 1.0) / slope
        log_s = log_s + np.clip(step, -1.0, 1.0)
        if np.all(np.abs(step) < 1e-4):
            break
    tails = (df + 1) * np.log1p(a / np.exp(log_s)).sum(axis=1, keepdims=True)
    return np.asarray((a.size * (np.log(df) - log_s) - tails)[:, 0])


def _standardised(problem: Problem) -> list[FloatArray]:
    """Residuals of each column of labels in units of their spread at x, less their median."""
    residuals = problem.residuals
    labels = residuals.labels.reshape(problem.n_rows, -1)
    used = np.full(problem.n_rows, True) if problem.weight is None else problem.weight > 0
    pilot = residuals.pilot
    found = []
    for each in labels[used].T:
        level = np.zeros(each.size) if pilot is None else pilot.at_rows[used]
        whole = np.unique((each / residuals.stretch + level).round(9)).size
        if whole < DIFFERENT * each.size:
            continue
        near = Ties.of(problem.X[used], each)
        left = near.y[:, 0] if pilot is not None else stiff_residuals(near).left
        if residuals.scale is None:
            X = near.X[near.at]
            spread = SplinePilot().fit(X, np.abs(left), None).predict(X)
            level = float(np.mean(np.abs(left)))
            left = left / np.maximum(spread, LEAST_SPREAD * level if level > 0 else 1.0)
        found.append(left - np.median(left))
    return found
