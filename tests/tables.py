"""Tables of all statistics and samplers, with what the oracle and the closed forms say of them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import asin, atan, pi, sqrt
from typing import Any

import numpy as np
import oracle

from multiobs import samplers, statistics

# ---------------------------------------------------------------- laws with known statistics

P = 0.3  # of the Bernoulli law
RHO = 0.6  # of the bivariate normal law

LAWS: dict[str, Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]] = {
    "normal": lambda rng, size: rng.normal(1.0, 2.0, size),
    "exponential": lambda rng, size: rng.exponential(1.0, size),
    "gamma": lambda rng, size: rng.gamma(2.5, 1.5, size),
    "uniform": lambda rng, size: rng.random(size),
    "bernoulli": lambda rng, size: (rng.random(size) < P).astype(float),
    "binormal": lambda rng, size: rng.multivariate_normal(
        [1.0, -2.0], [[4.0, 2 * 3 * RHO], [2 * 3 * RHO, 9.0]], size
    ),
}


@dataclass(frozen=True)
class StatisticCase:
    """A statistic, its kernels by the oracle, and its value under known laws.

    ``psi`` and ``chi`` are kernels of a mean- or ratio-type statistic; ``root`` holds the kernels
    d, b and a of a root-type one, whose reference level is ``level(line, residuals)``.
    """

    make: Callable[[], Any]
    truth: dict[str, float]
    psi: Callable[..., Any] | None = None
    chi: Callable[..., Any] = oracle.one
    root: tuple[Callable[..., Any], ...] | None = None
    labels: str = "real"  # how test data is drawn: real, positive, discrete, pair
    slow: bool = False  # too many permutations for products of tests
    lam: float = field(default=1.0)


def _ucb_truth(lam: float) -> dict[str, float]:
    return {
        "normal": 1 + lam * 2,
        "exponential": 1 + lam,
        "gamma": 3.75 + lam * 1.5 * sqrt(2.5),
        "uniform": 0.5 + lam / sqrt(12),
        "bernoulli": P + lam * sqrt(P * (1 - P)),
    }


def _ucb_root(lam: float) -> tuple[Callable[..., Any], ...]:
    return oracle.ucb_constant(lam), oracle.negative_sum, oracle.one


PQ = P * (1 - P)
VARIANCES = {"normal": 4.0, "exponential": 1.0, "gamma": 5.625, "uniform": 1 / 12, "bernoulli": PQ}
MEANS = {"normal": 1.0, "exponential": 1.0, "gamma": 3.75, "uniform": 0.5, "bernoulli": P}
THIRDS = {
    "normal": 0.0,
    "exponential": 2.0,
    "gamma": 2 * 2.5 * 1.5**3,
    "uniform": 0.0,
    "bernoulli": PQ * (1 - 2 * P),
}
GINI = {
    "normal": 4 / sqrt(pi),
    "exponential": 1.0,
    "uniform": 1 / 3,
    "bernoulli": 2 * PQ,
}

STATISTICS: dict[str, StatisticCase] = {
    "mean": StatisticCase(statistics.mean, MEANS, oracle.mean),
    "variance": StatisticCase(statistics.variance, VARIANCES, oracle.variance),
    "covariance": StatisticCase(
        statistics.covariance, {"binormal": 6 * RHO}, oracle.covariance, labels="pair"
    ),
    "central_moment(3)": StatisticCase(
        lambda: statistics.central_moment(3), THIRDS, oracle.third_moment
    ),
    "central_moment(4)": StatisticCase(
        lambda: statistics.central_moment(4),
        {
            "normal": 48.0,
            "exponential": 9.0,
            "gamma": 3 * 5.625**2 + 6 * 2.5 * 1.5**4,
            "uniform": 1 / 80,
            "bernoulli": PQ * (1 - 3 * PQ),
        },
        oracle.fourth_moment,
        slow=True,
    ),
    "cumulant(1)": StatisticCase(lambda: statistics.cumulant(1), MEANS, oracle.mean),
    "cumulant(2)": StatisticCase(lambda: statistics.cumulant(2), VARIANCES, oracle.variance),
    "cumulant(3)": StatisticCase(lambda: statistics.cumulant(3), THIRDS, oracle.third_moment),
    "cumulant(4)": StatisticCase(
        lambda: statistics.cumulant(4),
        {
            "normal": 0.0,
            "exponential": 6.0,
            "uniform": -1 / 120,
            "bernoulli": PQ * (1 - 6 * PQ),
        },
        oracle.fourth_cumulant,
        slow=True,
    ),
    "gini_mean_difference": StatisticCase(statistics.gini_mean_difference, GINI, oracle.difference),
    "minvar(1)": StatisticCase(
        statistics.minvar,
        {
            "normal": 1 - 2 / sqrt(pi),
            "exponential": 1 / 2,
            "uniform": 1 / 3,
            "bernoulli": P**2,
        },
        oracle.minimum,
    ),
    "minvar(4)": StatisticCase(
        lambda: statistics.minvar(4),
        {"exponential": 1 / 5, "uniform": 1 / 6, "bernoulli": P**5},
        oracle.minimum,
        slow=True,
    ),
    "maxvar(2)": StatisticCase(
        lambda: statistics.maxvar(2),
        {"exponential": 1 + 1 / 2 + 1 / 3, "uniform": 3 / 4, "bernoulli": 1 - (1 - P) ** 3},
        oracle.maximum,
    ),
    "l_moment(1)": StatisticCase(lambda: statistics.l_moment(1), MEANS, oracle.l_moment),
    "l_moment(2)": StatisticCase(
        lambda: statistics.l_moment(2),
        {law: value / 2 for law, value in GINI.items()},
        oracle.l_moment,
    ),
    "l_moment(3)": StatisticCase(
        lambda: statistics.l_moment(3),
        {"normal": 0.0, "exponential": 1 / 6, "uniform": 0.0},
        oracle.l_moment,
    ),
    "l_moment(4)": StatisticCase(
        lambda: statistics.l_moment(4),
        {
            "normal": 2 / sqrt(pi) * (30 / pi * atan(sqrt(2)) - 9),
            "exponential": 1 / 12,
            "uniform": 0.0,
        },
        oracle.l_moment,
        slow=True,
    ),
    "collision_probability": StatisticCase(
        statistics.collision_probability,
        {"bernoulli": P**2 + (1 - P) ** 2},
        oracle.equal,
        labels="discrete",
    ),
    "kendall_tau": StatisticCase(
        statistics.kendall_tau, {"binormal": 2 / pi * asin(RHO)}, oracle.concordance, labels="pair"
    ),
    "ucb(1)": StatisticCase(statistics.ucb, _ucb_truth(1.0), root=_ucb_root(1.0)),
    "ucb(2)": StatisticCase(
        lambda: statistics.ucb(2.0), _ucb_truth(2.0), root=_ucb_root(2.0), lam=2.0
    ),
    "standard_deviation": StatisticCase(
        statistics.standard_deviation,
        {law: sqrt(value) for law, value in VARIANCES.items()},
        root=(
            oracle.times(-1, oracle.variance),
            oracle.times(0, oracle.one),
            oracle.one,
        ),
        lam=0.0,
    ),
    "dispersion_index": StatisticCase(
        statistics.dispersion_index,
        {"exponential": 1.0, "gamma": 1.5, "uniform": 1 / 6, "bernoulli": 1 - P},
        oracle.variance,
        oracle.first_of_two,
        labels="positive",
    ),
    "squared_cv": StatisticCase(
        statistics.squared_cv,
        {"exponential": 1.0, "gamma": 1 / 2.5, "uniform": 1 / 3, "bernoulli": (1 - P) / P},
        oracle.variance,
        oracle.product_of_two,
        labels="positive",
    ),
    "skewness": StatisticCase(
        statistics.skewness,
        {"exponential": 2.0, "gamma": 2 / sqrt(2.5), "bernoulli": (1 - 2 * P) / sqrt(PQ)},
        root=(
            oracle.skewness_constant,
            oracle.times(0, oracle.one),
            oracle.variance_cubed,
        ),
        labels="positive",
        slow=True,
        lam=0.0,
    ),
    "kurtosis": StatisticCase(
        statistics.kurtosis,
        {
            "normal": 3.0,
            "exponential": 9.0,
            "gamma": 3 + 6 / 2.5,
            "uniform": 9 / 5,
            "bernoulli": (1 - 3 * PQ) / PQ,
        },
        oracle.fourth_moment,
        oracle.variance_squared,
        labels="positive",
        slow=True,
    ),
}

# ---------------------------------------------------------------- samplers


@dataclass(frozen=True)
class SamplerCase:
    """A sampler, the oracle's listing of the same tuples, and in how many columns of x it works."""

    make: Callable[[], Any]
    listed: Callable[..., list[Any]]  # (X, m, groups) -> listed tuples
    columns: tuple[int, ...] = (1,)
    once: bool = False  # each label at most once
    ties: bool = True  # listed with ties in x; False where their order is averaged or drawn


EPSILON = 0.25

SAMPLERS: dict[str, SamplerCase] = {
    "naive": SamplerCase(
        lambda: samplers.Naive(shuffle=False),
        lambda X, m, g: oracle.naive(X, m, None, g),
        (1, 2),
        once=True,
    ),
    "naive(2)": SamplerCase(
        lambda: samplers.Naive(2, shuffle=False),
        lambda X, m, g: oracle.naive(X, m, 2, g),
        (1, 2),
        once=True,
    ),
    "improved": SamplerCase(
        lambda: samplers.Improved(EPSILON, shuffle=False),
        lambda X, m, g: oracle.improved(X, m, EPSILON, groups=g),
        once=True,
    ),
    "improved, other labels": SamplerCase(
        lambda: samplers.Improved(EPSILON, own_label=False, shuffle=False),
        lambda X, m, g: oracle.improved(X, m, EPSILON, own_label=False, groups=g),
        once=True,
    ),
    "sliding": SamplerCase(samplers.SlidingWindow, oracle.sliding, ties=False),
    "adjacent": SamplerCase(
        lambda: samplers.Adjacent(6), lambda X, m, g: oracle.adjacent(X, m, 6, g)
    ),
    "disjoint": SamplerCase(samplers.Disjoint, oracle.disjoint, once=True, ties=False),
    "nearby": SamplerCase(
        lambda: samplers.Nearby(EPSILON), lambda X, m, g: oracle.nearby(X, m, EPSILON, g)
    ),
    "nearby, ball": SamplerCase(
        lambda: samplers.Nearby(EPSILON, scale="none"),
        lambda X, m, g: oracle.ball(X, m, EPSILON, g),
        (2,),
    ),
    "nearest": SamplerCase(
        lambda: samplers.Nearest(5, scale="none"),
        lambda X, m, g: oracle.nearest(X, m, 5, g),
        (1, 2),
    ),
    "replicates": SamplerCase(samplers.Replicates, oracle.replicates, (1, 2)),
}


def draw_labels(kind: str, rng: np.random.Generator, n: int) -> np.ndarray:
    """Test labels with ties, of the kind a statistic needs."""
    if kind == "pair":
        return np.round(rng.normal(size=(n, 2)), 1)
    if kind == "discrete":
        return rng.integers(0, 3, n).astype(float)
    if kind == "positive":
        return np.round(rng.gamma(2.0, size=n), 1) + 0.5
    return np.round(rng.normal(1.0, 2.0, n), 1)


def draw_positions(rng: np.random.Generator, n: int, d: int, ties: bool = True) -> np.ndarray:
    """Unsorted positions on a grid of eighths (distances are exact), with ties, or without."""
    if not ties:
        return np.stack([rng.permutation(64)[:n] / 64 for _ in range(d)], axis=1)
    return rng.integers(0, 9, (n, d)) / 8
