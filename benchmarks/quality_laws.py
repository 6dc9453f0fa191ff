"""Laws with a known statistic, broad enough that no single setting wins by luck.

Every law is y = mu(x) + sd(x) * noise with standardised noise.  For the variance the standard
deviation is given; for an upper confidence bound or MINVAR it is solved from a straight-line
truth, so that the class of lines contains the answer while the law itself is curved.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import integrate, stats

Function = Callable[[np.ndarray], np.ndarray]

NOISES = {
    "normal": stats.norm(),
    "t5": stats.t(5, scale=np.sqrt(3 / 5)),
    "exponential": stats.expon(loc=-1),
    "gamma": stats.gamma(4, loc=-2, scale=0.5),
}


def expected_minimum(noise: str, draws: int) -> float:
    """E min of standardised draws, by integrating the quantile function."""
    law = NOISES[noise]
    value, _ = integrate.quad(
        lambda u: law.ppf(u) * draws * (1 - u) ** (draws - 1), 0, 1, limit=200
    )
    return float(value)


def gini_mean_difference(noise: str) -> float:
    """E |e - e'| of two standardised draws."""
    return -2 * expected_minimum(noise, 2)  # max + min = 0 in expectation


@dataclass(frozen=True)
class Law:
    """One law: positions, mean, standard deviation and noise."""

    name: str
    statistic: str  # variance, ucb, minvar, gini, third
    mean: Function
    sd: Function
    truth: Function
    noise: str = "normal"
    position: str = "uniform"
    columns: int = 1
    levels: int = 0  # of a category, whose codes are then the last column

    def place(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Positions: numbers, and in the last column codes of a category if there is one."""
        if not self.levels:
            return positions(self.position, n, self.columns, rng)
        numbers = positions(self.position, n, self.columns - 1, rng)
        share = 1.0 / np.arange(1, self.levels + 1) ** 1.5  # a few large levels and many rare ones
        codes = rng.choice(self.levels, size=n, p=share / share.sum())
        return np.column_stack([numbers, codes])

    def sample(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        X = self.place(n, rng)
        draws = NOISES[self.noise].rvs(size=n, random_state=rng)
        return X, self.mean(X) + self.sd(X) * draws


def positions(kind: str, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    if kind == "uniform":
        return rng.uniform(size=(n, d))
    if kind == "beta":
        return rng.beta(2, 5, size=(n, d))
    if kind == "skewed":
        return rng.exponential(0.3, size=(n, d))
    if kind == "clustered":
        centres = np.array([0.05, 0.12, 0.3, 0.33, 0.47, 0.52, 0.7, 0.74, 0.9, 0.97])
        return np.clip(rng.choice(centres, size=(n, d)) + 0.01 * rng.normal(size=(n, d)), 0, 1)
    if kind == "tied":
        return np.round(rng.uniform(size=(n, d)), 2)
    raise ValueError(kind)


def first(function: Callable[[np.ndarray], np.ndarray]) -> Function:
    return lambda X: function(X[:, 0])


MEANS: dict[str, Function] = {
    "flat": first(lambda x: 0 * x),
    "smooth": first(lambda x: np.sin(4 * np.pi * x)),
    "oscillating": first(lambda x: 2 * np.sin(16 * np.pi * x)),
    "steps": first(lambda x: 3.0 * (np.floor(5 * x) % 2)),
    "bump": first(lambda x: 10 * np.exp(-0.5 * ((x - 0.5) / 0.01) ** 2)),
    "steep": first(lambda x: 20 * x),
    "wave": first(lambda x: 1.5 * np.sin(4 * np.pi * x)),
}
SPREADS: dict[str, Function] = {
    "constant": first(lambda x: 1 + 0 * x),
    "linear": first(lambda x: np.sqrt(0.5 + x)),
    "exponential": first(lambda x: np.exp(x - 0.5)),
}


def variance_laws() -> list[Law]:
    out = []

    def add(mean: str, spread: str, noise: str = "normal", position: str = "uniform") -> None:
        sd = SPREADS[spread]
        out.append(
            Law(
                f"{mean}/{spread}/{noise}/{position}",
                "variance",
                MEANS[mean],
                sd,
                lambda X, sd=sd: sd(X) ** 2,
                noise,
                position,
            )
        )

    for mean in ("smooth", "oscillating", "steps", "bump", "steep"):
        for spread in ("constant", "linear"):
            add(mean, spread)
    add("flat", "constant")
    add("smooth", "exponential")
    add("oscillating", "exponential")
    add("smooth", "linear", noise="t5")
    add("steps", "constant", noise="t5")
    add("smooth", "linear", noise="exponential")
    add("smooth", "linear", position="beta")
    add("oscillating", "constant", position="beta")
    add("smooth", "constant", position="skewed")
    add("smooth", "linear", position="tied")
    add("oscillating", "constant", position="tied")
    return out


def line_laws(statistic: str) -> list[Law]:
    """Laws whose upper confidence bound (lambda 2 and 8) or MINVAR (k = 4) is a line."""
    out = []
    for mean in ("flat", "wave", "smooth", "steep", "oscillating", "steps"):
        for noise in ("normal", "gamma", "t5"):
            mu = MEANS[mean]
            if mean == "steep":
                mu = first(lambda x: 4 * x)
            if statistic == "minvar":
                low = expected_minimum(noise, 5)
                truth = first(lambda x: x - 6.0)
                sd = lambda X, mu=mu, low=low, truth=truth: (truth(X) - mu(X)) / low  # noqa: E731
            else:
                lam = float(statistic.removeprefix("ucb"))
                truth = first(lambda x: x + 8.0)
                sd = lambda X, mu=mu, lam=lam, truth=truth: (truth(X) - mu(X)) / lam  # noqa: E731
            out.append(Law(f"{statistic}/{mean}/{noise}", statistic, mu, sd, truth, noise))
    return out


def spread_laws(statistic: str) -> list[Law]:
    """Laws whose Gini mean difference or third central moment is the line 0.5 + x."""
    out = []
    truth = first(lambda x: 0.5 + x)
    noises = ("normal", "exponential", "t5") if statistic == "gini" else ("exponential", "gamma")
    for mean in ("flat", "smooth", "oscillating", "steps"):
        for noise in noises:
            if statistic == "gini":
                size = gini_mean_difference(noise)
                sd = lambda X, size=size: truth(X) / size  # noqa: E731
            else:
                skew = float(NOISES[noise].stats("s"))
                sd = lambda X, skew=skew: np.cbrt(truth(X) / skew)  # noqa: E731
            out.append(Law(f"{statistic}/{mean}/{noise}", statistic, MEANS[mean], sd, truth, noise))
    return out


def wide_laws() -> list[Law]:
    """Several columns, sparse means, a variance linear in one column."""
    additive = lambda X: np.sin(2 * np.pi * X[:, 0]) + 2 * (X[:, 1] - 0.5) ** 2  # noqa: E731
    friedman = lambda X: (  # noqa: E731
        np.sin(np.pi * X[:, 0] * X[:, 1]) * 3 + 4 * (X[:, 2] - 0.5) ** 2
    )
    sd = lambda X: np.sqrt(0.5 + X[:, 0])  # noqa: E731
    truth = lambda X: 0.5 + X[:, 0]  # noqa: E731
    out = []
    for d in (2, 5, 10, 20):
        out.append(Law(f"additive/d{d}", "variance", additive, sd, truth, columns=d))
        if d >= 5:
            out.append(Law(f"friedman/d{d}", "variance", friedman, sd, truth, columns=d))
    return out
