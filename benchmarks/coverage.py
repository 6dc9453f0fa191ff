"""Do the intervals cover?  Simulated coverage of nominal 95 % intervals at three x.

``python -m benchmarks.coverage --n 300 --trials 1000`` prints one line per statistic, sampler and
law: coverage of ``predict_interval`` at x = 0.1, 0.5, 0.9, the same with standard errors that
take metasamples as independent, and the ratio of reported to true standard deviations.
``--test-constant`` simulates size and power of ``test_constant`` instead.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from scipy import stats

from multiobs import MultiObservationRegressor, samplers, statistics
from multiobs.samplers import Sampler
from multiobs.statistics import Statistic

FloatArray = npt.NDArray[np.float64]

X_AT = np.array([[0.1], [0.5], [0.9]])
LAMBDA, K = 2.0, 4

STATISTICS: dict[str, Statistic] = {
    "variance": statistics.variance(),
    "gini": statistics.gini_mean_difference(),
    "ucb": statistics.ucb(LAMBDA),
    "minvar": statistics.minvar(K),
}
SAMPLERS: dict[str, str | Sampler] = {
    "sliding": samplers.SlidingWindow(),
    "nearby-paper": samplers.Nearby("paper"),
    "nearby-auto": samplers.Nearby("auto"),
    "nearest": samplers.Nearest(),
    "auto": "auto",
}


@dataclass(frozen=True)
class Noise:
    """A standardised law with its Gini mean difference and expected minimum of K + 1 draws."""

    draw: Callable[[np.random.Generator, int], FloatArray]
    gini: float
    minimum: float


def _expected_minimum(quantile: Callable[[FloatArray], FloatArray], m: int) -> float:
    """E min of m draws as an integral over the quantile function, by Gauss–Legendre."""
    nodes, weights = np.polynomial.legendre.leggauss(2000)
    u = 0.5 * (nodes + 1.0)
    return float(np.sum(0.5 * weights * m * (1 - u) ** (m - 1) * quantile(u)))


def _noise(draw: Callable[[np.random.Generator, int], FloatArray], law: object) -> Noise:
    quantile = law.ppf  # type: ignore[attr-defined]
    minimum = _expected_minimum(quantile, K + 1)
    return Noise(draw, -2.0 * _expected_minimum(quantile, 2), minimum)


ROOT12, ROOT2 = np.sqrt(12.0), np.sqrt(2.0)
NOISES = {
    "normal": _noise(lambda rng, n: rng.standard_normal(n), stats.norm()),
    "gamma": _noise(lambda rng, n: rng.gamma(4.0, size=n) / 2 - 2, stats.gamma(4, -2, 0.5)),
    "uniform": _noise(
        lambda rng, n: ROOT12 * (rng.random(n) - 0.5), stats.uniform(-ROOT12 / 2, ROOT12)
    ),
    "laplace": _noise(lambda rng, n: rng.laplace(size=n) / ROOT2, stats.laplace(0, 1 / ROOT2)),
    "exponential": _noise(lambda rng, n: rng.exponential(size=n) - 1, stats.expon(-1, 1)),
}
MEANS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "sine": lambda x: np.sin(4 * np.pi * x),
    "line": lambda x: 2 * x - 1,
    "fast": lambda x: 2 * np.sin(16 * np.pi * x),
}
LAWS = ("normal-sine", "gamma-sine", "uniform-line", "exponential-line")


def draw(
    statistic: str, law: str, n: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Rows (x, y) of a location-scale law whose statistic is a line, and the line at X_AT."""
    name, mean = law.split("-")
    noise, x = NOISES[name], rng.random(n)
    at, level = X_AT[:, 0], MEANS[mean](x)
    if statistic == "variance":
        truth, spread = 0.5 + at, np.sqrt(0.5 + x)
    elif statistic == "gini":
        truth, spread = noise.gini * (0.5 + at), 0.5 + x
    elif statistic == "ucb":
        truth, spread = 1 + LAMBDA + at, (1 + LAMBDA + x - level) / LAMBDA
    else:
        truth, spread = -2 + 0.5 * at, (-2 + 0.5 * x - level) / noise.minimum
    return x[:, None], level + spread * noise.draw(rng, n), truth


@dataclass(frozen=True)
class Coverage:
    """Simulated coverage at three x."""

    interval: FloatArray
    naive: FloatArray
    error_ratio: FloatArray
    bias: FloatArray
    df: float
    seconds: float


def one(
    statistic: str,
    sampler: str,
    law: str,
    n: int,
    seed: tuple[int, ...],
    transport: str | None,
    bias: str | None,
) -> FloatArray:
    """Inside?, naive inside?, estimate - truth, standard error at X_AT, and df: (3, 5)."""
    rng = np.random.default_rng(seed)
    X, y, truth = draw(statistic, law, n, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some fits of a positive statistic cross zero
        model = MultiObservationRegressor(
            STATISTICS[statistic], SAMPLERS[sampler], transport=transport
        ).fit(X, y)
        limits = model.predict_interval(X_AT, bias=bias)
    known = model._inference
    estimate, error = model.predict(X_AT), known.standard_errors(X_AT)
    z = known.record.design.columns(X_AT)
    naive = np.sqrt(np.einsum("ia,ab,ib->i", z, known.covariance.naive, z)) * known.units.factor
    inside = (limits[:, 0] <= truth) & (truth <= limits[:, 1])
    off = estimate - truth
    df = np.full(3, known.df)
    return np.stack([inside, np.abs(off) <= 1.96 * naive, off, error, df], axis=1)


def simulate(
    statistic: str,
    sampler: str,
    law: str,
    n: int,
    trials: int,
    seed: int = 0,
    n_jobs: int = 1,
    transport: str | None = "auto",
    bias: str | None = None,
) -> Coverage:
    """Simulate the coverage of nominal 95 % intervals."""
    start = time.perf_counter()
    work = (
        delayed(one)(statistic, sampler, law, n, (seed, n, trial), transport, bias)
        for trial in range(trials)
    )
    found = np.stack(Parallel(n_jobs=n_jobs)(work))
    seconds = (time.perf_counter() - start) / trials
    inside, naive, off, error, df = np.moveaxis(found, 2, 0)
    true = off.std(axis=0)
    ratio = np.sqrt((error**2).mean(axis=0)) / true
    centre = off.mean(axis=0) / true
    return Coverage(
        inside.mean(axis=0), naive.mean(axis=0), ratio, centre, float(np.median(df)), seconds
    )


def rejections(
    slope: float,
    n: int,
    trials: int,
    seed: int = 0,
    level: float = 0.05,
    sampler: str = "auto",
    n_jobs: int = 1,
    transport: str | None = "auto",
) -> float:
    """How often ``test_constant`` rejects, variance c + slope · x around a sine mean."""

    def p_value(trial: int) -> float:
        rng = np.random.default_rng((seed, n, trial))
        x = rng.random(n)
        spread = np.sqrt(1.0 if slope == 0.0 else 0.5 + slope * x)
        y = np.sin(4 * np.pi * x) + spread * rng.standard_normal(n)
        model = MultiObservationRegressor("variance", SAMPLERS[sampler], transport=transport)
        return model.fit(x[:, None], y).test_constant().p_value

    found = Parallel(n_jobs=n_jobs)(delayed(p_value)(trial) for trial in range(trials))
    return float(np.mean(np.array(found) < level))


def percent(values: FloatArray) -> str:
    return " ".join(f"{100 * value:5.1f}" for value in values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=300)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--statistics", nargs="+", default=list(STATISTICS))
    parser.add_argument("--samplers", nargs="+", default=list(SAMPLERS))
    parser.add_argument("--laws", nargs="+", default=list(LAWS))
    parser.add_argument("--transport", default="auto", choices=["auto", "none"])
    parser.add_argument("--bias", default=None, choices=["undersmooth"])
    parser.add_argument("--test-constant", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    transport = None if given.transport == "none" else given.transport
    if given.test_constant:
        for sampler in given.samplers:
            how = {"sampler": sampler, "n_jobs": given.jobs, "transport": transport}
            size = rejections(0.0, given.n, given.trials, **how)
            power = rejections(1.0, given.n, max(given.trials // 4, 1), **how)
            print(f"{sampler:13s} n={given.n} size {size:.4f} power {power:.4f}", flush=True)
        return
    print("statistic sampler law | interval | naive | reported/true sd | bias/sd | df | ms")
    for statistic in given.statistics:
        for sampler in given.samplers:
            for law in given.laws:
                found = simulate(
                    statistic,
                    sampler,
                    law,
                    given.n,
                    given.trials,
                    n_jobs=given.jobs,
                    transport=transport,
                    bias=given.bias,
                )
                print(
                    f"{statistic:8s} {sampler:12s} {law:16s} | {percent(found.interval)} | "
                    f"{percent(found.naive)} | {np.round(found.error_ratio, 2)} | "
                    f"{np.round(found.bias, 2)} | {found.df:5.0f} | {1e3 * found.seconds:6.1f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
