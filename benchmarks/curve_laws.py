"""Laws whose statistic is a curve, for the choice of the class; one to five columns.

Every law is y = mean(x) + sd(x) · noise, so that each statistic is known from the two functions and
the noise.  Two halves, fixed with their seeds before anything was tuned on them: ``tuning`` was
looked at while choices were made, ``final`` only for the table.
"""

import numpy as np

from benchmarks.harder_laws import by_level, friedman, pieces, wave_and_jump
from benchmarks.quality_laws import (
    NOISES,
    Function,
    Law,
    expected_minimum,
    first,
    gini_mean_difference,
)


def location_scale(
    name: str,
    statistic: str,
    mean: Function,
    sd: Function,
    noise: str = "normal",
    position: str = "uniform",
    columns: int = 1,
    levels: int = 0,
) -> Law:
    """Return a law whose statistic follows from mean, standard deviation and noise."""
    if statistic == "variance":
        truth: Function = lambda X: sd(X) ** 2  # noqa: E731
    elif statistic == "sd":
        truth = sd
    elif statistic == "gini":
        size = gini_mean_difference(noise)
        truth = lambda X: size * sd(X)  # noqa: E731
    elif statistic == "third":
        skew = float(NOISES[noise].stats("s"))
        truth = lambda X: skew * sd(X) ** 3  # noqa: E731
    else:
        factor = (
            expected_minimum(noise, 5)
            if statistic == "minvar"
            else float(statistic.removeprefix("ucb"))
        )
        truth = lambda X: mean(X) + factor * sd(X)  # noqa: E731
    return Law(name, statistic, mean, sd, truth, noise, position, columns, levels)


def root_of(variance: Function) -> Function:
    return lambda X: np.sqrt(variance(X))


def sine(X: np.ndarray) -> np.ndarray:
    return np.sin(4 * np.pi * X[:, 0])


def flat(X: np.ndarray) -> np.ndarray:
    return 0.0 * X[:, 0]


def tuning() -> list[Law]:
    """Laws that choices were made on."""
    hump = root_of(first(lambda x: 0.3 + 1.5 * np.exp(-30 * (x - 0.4) ** 2)))
    cosine = root_of(first(lambda x: np.exp(np.cos(3 * np.pi * x))))
    growth = root_of(first(lambda x: 0.1 * np.exp(2.5 * x)))
    bent = root_of(first(lambda x: 0.3 + 2 * x**2))
    level = first(lambda x: 2 + np.sin(2 * np.pi * x))
    additive = root_of(lambda X: 0.3 + 5 * (X[:, 0] - 0.5) ** 2 + X[:, 1])
    product = root_of(lambda X: 0.3 + 3 * X[:, 0] * X[:, 1])
    ten = np.arange(10)
    by_cell = root_of(lambda X: (0.3 + X[:, 0] ** 2) * (1 + 0.5 * (X[:, -1].astype(int) % 3)))
    return [
        location_scale("hump", "variance", sine, hump),
        location_scale("cosine, gamma", "variance", first(lambda x: 2 * x), cosine, "gamma"),
        location_scale("growth, t5", "variance", flat, growth, "t5"),
        location_scale("hump under a jump", "variance", wave_and_jump, hump),
        location_scale("multiplied curve", "variance", level, lambda X: 0.3 * level(X), "gamma"),
        location_scale("bent, clusters", "variance", sine, bent, position="clustered"),
        location_scale(
            "two curves",
            "variance",
            lambda X: 4 * X[:, 0] * X[:, 1],
            root_of(lambda X: np.exp(np.sin(4 * X[:, 0]) + X[:, 1] - 1)),
            columns=2,
        ),
        location_scale("additive of five", "variance", friedman, additive, columns=5),
        location_scale(
            "product of five", "variance", lambda X: sine(X) + 2 * X[:, 1], product, columns=5
        ),
        location_scale(
            "curve in cells",
            "variance",
            by_level(3.0 * np.sin(ten), np.cos(ten)),
            by_cell,
            columns=2,
            levels=10,
        ),
        location_scale("ucb2, hump", "ucb2", sine, hump),
        location_scale("minvar, cosine", "minvar", sine, cosine, "gamma"),
        location_scale("gini, hump", "gini", sine, hump, "t5"),
        location_scale("sd, bent", "sd", flat, bent, "gamma"),
        location_scale("third, bent", "third", sine, bent, "exponential"),
    ]


def final() -> list[Law]:
    """Laws that only the final table saw."""
    broken = pieces([0.35, 0.7], [0.0, 3.0, -1.0], [4.0, -5.0, 6.0])
    trough = root_of(first(lambda x: 1.4 - 1.2 * np.exp(-40 * (x - 0.6) ** 2)))
    ripples = root_of(first(lambda x: np.exp(0.9 * np.sin(5 * np.pi * x))))
    cliff = root_of(first(lambda x: 0.3 + 1.4 / (1 + np.exp(-25 * (x - 0.45)))))
    cubic = root_of(first(lambda x: 0.2 + 6 * np.abs(x - 0.55) ** 3 + x))
    wave = first(lambda x: 1.5 * np.cos(5 * np.pi * x))
    level = first(lambda x: 1.5 + np.cos(4 * x))
    additive = root_of(lambda X: np.exp(1.2 * np.sin(3 * X[:, 0]) + X[:, 2] ** 2 - 1))
    ridge = root_of(lambda X: np.exp(1.5 * np.sin(2 * (X[:, 0] + X[:, 1])) - 0.5))
    fifteen = np.arange(15)
    by_cell = root_of(
        lambda X: (0.4 + np.sin(3 * X[:, 0]) ** 2) * (1 + 0.4 * (X[:, -1].astype(int) % 4))
    )
    return [
        location_scale("trough", "variance", wave, trough),
        location_scale("ripples, exponential", "variance", wave, ripples, "exponential"),
        location_scale("cliff, t5", "variance", first(lambda x: 3 * x), cliff, "t5"),
        location_scale("cubic under jumps", "variance", broken, cubic),
        location_scale("multiplied, waves", "variance", level, lambda X: 0.4 * level(X), "gamma"),
        location_scale("cliff, clusters", "variance", wave, cliff, position="clustered"),
        location_scale(
            "ridge and curve",
            "variance",
            lambda X: 2 * np.sin(4 * (X[:, 0] - X[:, 1])),
            root_of(lambda X: 0.4 + 4 * (X[:, 0] - 0.4) ** 2 + X[:, 1]),
            columns=2,
        ),
        location_scale("additive of five, log", "variance", friedman, additive, columns=5),
        location_scale(
            "ridge of five", "variance", lambda X: sine(X) + 3 * X[:, 3] * X[:, 4], ridge, columns=5
        ),
        location_scale(
            "curve in rare cells",
            "variance",
            by_level(4.0 * np.cos(2 * fifteen), 2.0 * np.sin(fifteen)),
            by_cell,
            columns=2,
            levels=15,
        ),
        location_scale("ucb2, ripples", "ucb2", wave, ripples, "gamma"),
        location_scale("minvar, trough", "minvar", wave, trough),
        location_scale("gini, cliff", "gini", wave, cliff),
        location_scale("sd, cubic", "sd", broken, cubic),
        location_scale("third, cubic", "third", wave, cubic, "exponential"),
    ]


def curve_laws(half: str) -> list[Law]:
    """Laws of one half: "tuning" or "final"."""
    return tuning() if half == "tuning" else final()
