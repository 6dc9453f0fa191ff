"""Laws of the quality set, changed so that each statistic's truth is a line.

A law is named mean/noise/position, as in :mod:`benchmarks.quality_laws`: "steps/t5/uniform".
The standard deviation is solved from the truth, so that the class of lines contains the answer and
an interval has something to cover, while the law itself may be as curved as it likes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
from scipy import stats

from benchmarks import quality_laws

FloatArray = npt.NDArray[np.float64]

X_AT = np.array([[0.1], [0.5], [0.9]])
LAMBDA, K = 2.0, 4
NOISES = {
    **quality_laws.NOISES,
    "uniform": stats.uniform(-np.sqrt(3.0), 2.0 * np.sqrt(3.0)),
    "laplace": stats.laplace(0.0, np.sqrt(0.5)),
}
MEANS: dict[str, Callable[[FloatArray], FloatArray]] = {
    **quality_laws.MEANS,
    "steep": lambda X: 4.0 * X[:, 0],  # as for the lines of the quality set
    "line": lambda X: 2.0 * X[:, 0] - 1.0,
}
LAWS = (
    "smooth/normal/uniform",
    "smooth/gamma/uniform",
    "oscillating/normal/uniform",
    "smooth/normal/beta",
    "steep/exponential/uniform",
    "smooth/t5/uniform",
)


@cache
def expected_minimum(noise: str, draws: int) -> float:
    """E min of standardised draws as an integral over the quantile function, by Gauss–Legendre."""
    nodes, weights = np.polynomial.legendre.leggauss(2000)
    u = 0.5 * (nodes + 1.0)
    value = np.asarray(NOISES[noise].ppf(u))
    return float(np.sum(0.5 * weights * draws * (1 - u) ** (draws - 1) * value))


@dataclass(frozen=True)
class Sample:
    """Rows of a law, and the statistic at X_AT."""

    X: FloatArray
    y: FloatArray
    truth: FloatArray


def draw(statistic: str, law: str, n: int, rng: np.random.Generator) -> Sample:
    """Rows (x, y) of a location-scale law whose statistic is a line, and the line at X_AT.

    The lines are those of the quality set: variance 0.5 + x, upper confidence bound 8 + x,
    MINVAR x - 6; and the Gini mean difference of a standard deviation 0.5 + x.
    """
    mean, noise, position = law.split("/")
    X = quality_laws.positions(position, n, 1, rng)
    level, x, at = MEANS[mean](X), X[:, 0], X_AT[:, 0]
    if statistic == "variance":
        truth, spread = 0.5 + at, np.sqrt(0.5 + x)
    elif statistic == "gini":
        truth, spread = -2.0 * expected_minimum(noise, 2) * (0.5 + at), 0.5 + x
    elif statistic == "ucb":
        truth, spread = 8.0 + at, (8.0 + x - level) / LAMBDA
    else:
        truth, spread = at - 6.0, (x - 6.0 - level) / expected_minimum(noise, K + 1)
    return Sample(X, level + spread * NOISES[noise].rvs(size=n, random_state=rng), truth)
