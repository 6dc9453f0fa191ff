"""Measured rates: direct regression on the variance against the route through two moments.

The paper's comparison (section 'Lower bounds for single-observation losses'): through two
Lipschitz moments nothing is faster than n^(-2/(2+d)), n^(-2/3) in one dimension; directly, with a
variance in a linear class, the rate is n^(-1).
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, final

import numpy as np

from multiobs._types import FloatArray
from multiobs.bounds import stone_construction
from multiobs.estimator.regressor import MultiObservationRegressor

GRID = 4096  # points at which errors are averaged over x


@final
@dataclass(frozen=True)
class Bumps:
    """A K-Lipschitz function on [0, 1] made of tents of random sign, hard at one sample size.

    Stone's construction in d = 1: about n^(1/3) tents of width h = n^(-1/3) and height K h / 2,
    each up or down, vanishing between them. With n rows about n^(2/3) fall under a tent, which is
    just too few to tell its sign for sure.
    """

    signs: FloatArray
    lipschitz: float

    def __call__(self, x: FloatArray) -> FloatArray:
        """Values at x in [0, 1], shape of x."""
        count = self.signs.size
        place = np.minimum(np.asarray(x) * count, np.nextafter(count, 0))
        inside = place - np.floor(place)
        tent = np.minimum(inside, 1 - inside) / count
        return np.asarray(self.lipschitz * self.signs[place.astype(np.int64)] * tent)


def bumps(n: int, rng: np.random.Generator, lipschitz: float | None = None) -> Bumps:
    """Draw the tents that are hard at n rows; the paper's Lipschitz constant is 1/2 in d = 1.

    Examples
    --------
    >>> g = bumps(1000, np.random.default_rng(0))
    >>> g.signs.size, float(g(np.array([0.0]))[0])
    (10, 0.0)
    """
    k = float(stone_construction(1).lipschitz) if lipschitz is None else lipschitz
    return Bumps(rng.choice([-1.0, 1.0], size=ceil(round(n ** (1 / 3), 9))), k)


def bin_means(x: FloatArray, values: FloatArray, count: int) -> FloatArray:
    """Averages of values over ``count`` equal bins of [0, 1]; empty bins take the overall mean.

    With count of order n^(1/3) this smoother reaches the minimax rate for Lipschitz functions.
    """
    place = np.minimum((x * count).astype(np.int64), count - 1)
    rows = np.bincount(place, minlength=count)
    sums = np.bincount(place, weights=values, minlength=count)
    return np.asarray(np.where(rows > 0, sums / np.maximum(rows, 1), values.mean()))


def two_moment_error(n: int, rng: np.random.Generator, *, base: float = 0.25) -> float:
    r"""Squared error of a variance through two smoothed moments, Bernoulli labels.

    :math:`Y \mid x` is Bernoulli with parameter base + g(x), g of :func:`bumps`; E[Y|x] and
    E[Y^2|x] are each smoothed at the minimax rate and combined.

    Parameters
    ----------
    base : float
        Where the tents stand. At 1/2, the paper's choice, the errors of the two moments cancel in
        a variance p(1 - p) whose derivative is zero there, whenever both moments are smoothed
        from the same rows: the measured slope is then near -4/3 and the argument that the second
        moment *must* be estimated well does not go through. At 1/4 nothing cancels.

    Returns
    -------
    float
        Average over x of the squared error of the variance.
    """
    g = bumps(n, rng)
    x = rng.random(n)
    y = (rng.random(n) < base + g(x)).astype(np.float64)
    count = g.signs.size
    first, second = bin_means(x, y, count), bin_means(x, y**2, count)
    at = (np.arange(GRID) + 0.5) / GRID
    place = (at * count).astype(np.int64)
    p = base + g(at)
    return float(np.mean((second[place] - first[place] ** 2 - p * (1 - p)) ** 2))


def direct_error(n: int, rng: np.random.Generator, *, sampler: str = "sliding") -> float:
    r"""Squared error of the direct regression on a variance that is a line.

    :math:`Y = g(x) + \sqrt{1/2 + x}\,\xi`, with the same tents g for a mean and :math:`\xi`
    standard normal, n rows; the class is that of lines and holds the variance, the estimator is the
    paper's (no transport).
    """
    g = bumps(n, rng)
    x = rng.random(n)
    y = g(x) + np.sqrt(0.5 + x) * rng.standard_normal(n)
    model = MultiObservationRegressor("variance", sampler, transport=None, random_state=rng)
    with warnings.catch_warnings():
        # A line that dips below zero somewhere is measured like any other.
        warnings.simplefilter("ignore", UserWarning)
        model.fit(x[:, None], y)
    at = (np.arange(GRID) + 0.5) / GRID
    return float(np.mean((model.predict(at[:, None]) - (0.5 + at)) ** 2))


def lipschitz_error(n: int, rng: np.random.Generator) -> float:
    r"""Squared error of the direct route when the variance is only known to be Lipschitz.

    :math:`Y = \sqrt{1/2 + g(x)}\,\xi` with tents g; half the squared differences of adjacent rows
    are averaged over bins of width n^(-1/3), which is ERM over step functions. The paper believes
    in the rate n^(-2/3) (a footnote of its section 5.1), that of the two-moment route.
    """
    g = bumps(n, rng)
    x = np.sort(rng.random(n))
    y = np.sqrt(0.5 + g(x)) * rng.standard_normal(n)
    count = g.signs.size
    found = bin_means((x[1:] + x[:-1]) / 2, np.diff(y) ** 2 / 2, count)
    at = (np.arange(GRID) + 0.5) / GRID
    return float(np.mean((found[(at * count).astype(np.int64)] - (0.5 + g(at))) ** 2))


@final
@dataclass(frozen=True)
class RateSlope:
    """Slope of log(mean squared error) against log(n), with its Monte Carlo standard error."""

    slope: float
    standard_error: float
    sizes: tuple[int, ...]
    means: tuple[float, ...]


def log_log_slope(sizes: Sequence[int], errors: Sequence[FloatArray]) -> RateSlope:
    """Least-squares slope of the log of the mean error against log(n).

    The standard error carries the Monte Carlo variance of each mean through the fit.

    Examples
    --------
    >>> sizes = (10, 100, 1000)
    >>> found = log_log_slope(sizes, [np.array([0.9, 1.1]) / n for n in sizes])
    >>> round(found.slope, 6), round(found.standard_error, 3)
    (-1.0, 0.031)
    """
    if len(sizes) < 2 or len(sizes) != len(errors):
        raise ValueError(f"there must be two sizes or more, with errors each, got {len(sizes)}")
    log_n = np.log(np.asarray(sizes, dtype=np.float64))
    means = np.array([each.mean() for each in errors])
    spread = np.array([each.var(ddof=1) / each.size for each in errors]) / means**2
    centred = log_n - log_n.mean()
    weight = centred / (centred @ centred)
    return RateSlope(
        float(weight @ np.log(means)),
        float(np.sqrt(weight**2 @ spread)),
        tuple(int(n) for n in sizes),
        tuple(float(value) for value in means),
    )


@final
@dataclass(frozen=True)
class RateStudy:
    """Measured slopes of the two routes."""

    direct: RateSlope
    two_moment: RateSlope


def measure_rates(
    rng: np.random.Generator,
    *,
    sizes: Sequence[int] = (250, 500, 1000, 2000, 4000, 8000, 16000),
    runs: int = 200,
) -> RateStudy:
    """Measure the slopes of both routes in d = 1.

    Examples
    --------
    >>> study = measure_rates(np.random.default_rng(0), sizes=(200, 800, 3200), runs=40)
    >>> study.direct.slope < study.two_moment.slope
    True
    """
    direct = [np.array([direct_error(n, rng) for _ in range(runs)]) for n in sizes]
    indirect = [np.array([two_moment_error(n, rng) for _ in range(runs)]) for n in sizes]
    return RateStudy(log_log_slope(sizes, direct), log_log_slope(sizes, indirect))


def rates_figure(study: RateStudy, ax: Any = None) -> Any:
    """Draw the measured errors with lines of slope -1 and -2/3; needs matplotlib.

    Returns
    -------
    matplotlib Axes
    """
    import matplotlib.pyplot as plt  # only pictures need it

    if ax is None:
        ax = plt.subplots(figsize=(6, 4.2), layout="constrained")[1]
    lines = ((study.direct, "direct", -1.0), (study.two_moment, "two moments", -2 / 3))
    for found, name, theory in lines:
        n = np.array(found.sizes, dtype=np.float64)
        means = np.array(found.means)
        label = f"{name}: slope {found.slope:.2f} ± {found.standard_error:.2f}"
        points = ax.plot(n, means, "o", label=label)[0]
        middle = np.exp(np.log(means).mean())
        reference = middle * (n / np.exp(np.log(n).mean())) ** theory
        words = "-1" if theory == -1.0 else "-2/3"
        ax.plot(n, reference, "--", color=points.get_color(), label=f"slope {words}")
    ax.set(xscale="log", yscale="log", xlabel="rows n", ylabel="mean squared error of the variance")
    ax.legend(fontsize="small")
    return ax
