"""Laws on which a first estimate of the mean is hard: jumps with slopes, interactions, cells.

Two halves, fixed with their seeds before anything was tuned: ``TUNING`` was looked at while the
pilots and widths were chosen, ``FINAL`` only for the table.  The statistic is a line (and a step
for each category) in all of them, so that what is measured is the pilot and the width, not the
class.
"""

import numpy as np

from benchmarks.quality_laws import Function, Law, expected_minimum, first, gini_mean_difference


def pieces(cuts: list[float], levels: list[float], slopes: list[float]) -> Function:
    """A line of its own on each side of every cut."""

    def mean(X: np.ndarray) -> np.ndarray:
        at = np.searchsorted(cuts, X[:, 0], side="right")
        left = np.concatenate([[0.0], cuts])[at]
        return np.asarray(levels)[at] + np.asarray(slopes)[at] * (X[:, 0] - left)

    return mean


def half_plus(X: np.ndarray) -> np.ndarray:
    return 0.5 + X[:, 0]


def flat_one(X: np.ndarray) -> np.ndarray:
    return np.ones(X.shape[0])


def law(
    name: str,
    mean: Function,
    truth: Function = half_plus,
    noise: str = "normal",
    position: str = "uniform",
    columns: int = 1,
    levels: int = 0,
) -> Law:
    """Return a law whose variance is the given line."""
    sd = lambda X: np.sqrt(truth(X))  # noqa: E731
    return Law(name, "variance", mean, sd, truth, noise, position, columns, levels)


def statistic_law(statistic: str, name: str, mean: Function, noise: str = "normal") -> Law:
    """Return a law whose UCB or MINVAR is x plus a constant, or whose Gini difference is a line."""
    if statistic == "gini":
        size = gini_mean_difference(noise)
        return Law(name, "gini", mean, lambda X: half_plus(X) / size, half_plus, noise)
    factor = (
        expected_minimum(noise, 5)
        if statistic == "minvar"
        else float(statistic.removeprefix("ucb"))
    )
    truth = first(lambda x: x - 6.0 if statistic == "minvar" else x + 8.0)
    return Law(name, statistic, mean, lambda X: (truth(X) - mean(X)) / factor, truth, noise)


def sawtooth(X: np.ndarray) -> np.ndarray:
    return 6.0 * ((4.0 * X[:, 0]) % 1.0)


def wave_and_jump(X: np.ndarray) -> np.ndarray:
    return np.sin(4 * np.pi * X[:, 0]) + 3.0 * (X[:, 0] > 0.37)


def root(X: np.ndarray) -> np.ndarray:
    """Mean in a fixed ratio to the standard deviation: the noise multiplies."""
    return 3.0 * np.sqrt(half_plus(X))


def friedman(X: np.ndarray) -> np.ndarray:
    return 3 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 4 * (X[:, 2] - 0.5) ** 2 + X[:, 3] - X[:, 4]


def waves(X: np.ndarray) -> np.ndarray:
    """Interacting waves: no sum of functions of one column comes near."""
    return 2 * np.sin(2 * np.pi * (X[:, 0] + X[:, 1])) + 3 * X[:, 2] * X[:, 3]


def by_level(slopes: np.ndarray, steps: np.ndarray) -> Function:
    """A level and a slope of its own in each category; the last column holds the code."""

    def mean(X: np.ndarray) -> np.ndarray:
        code = X[:, -1].astype(int)
        return steps[code] + slopes[code] * X[:, 0]

    return mean


def cell_variance(levels: int, size: float) -> Function:
    """A line in x and a step of the variance in every second category."""
    return lambda X: half_plus(X) + size * (X[:, -1].astype(int) % 2)


def sudden() -> list[Law]:
    """Laws whose mean jumps or turns faster than a smooth pilot of 300 rows can follow."""
    stairs = pieces(
        [0.15, 0.2, 0.38, 0.5, 0.58, 0.86], [0.0, 3.0, 0.0, -3.0, 1.0, 4.0, 0.0], [0.0] * 7
    )
    spikes = pieces(
        [0.2, 0.23, 0.5, 0.54, 0.77, 0.8], [0.0, 5.0, 0.0, -4.0, 0.0, 3.0, 0.0], [0.0] * 7
    )
    bumps = first(
        lambda x: (
            6 * np.exp(-(((x - 0.2) / 0.02) ** 2))
            + 5 * np.exp(-np.abs(x - 0.6) / 0.02)
            - 4 * np.exp(-(((x - 0.85) / 0.03) ** 2))
        )
    )
    near = lambda X: 5.0 * (X[:, 0] > 0.315) + 2 * X[:, 0]  # noqa: E731
    far = lambda X: 3.0 * (X[:, 0] > 0.2) - 4.0 * (X[:, 0] > 0.72)  # noqa: E731
    return [
        law("stairs", stairs),
        law("spikes", spikes, flat_one),
        law("chirp", first(lambda x: 2 * np.sin(20 * np.pi * x**3))),
        law("fast wave", first(lambda x: 2 * np.sin(28 * np.pi * x)), flat_one),
        law("clusters, step", near, position="clustered"),
        law("clusters, steps", far, flat_one, position="clustered"),
        law("wave of steps", first(lambda x: 3 * np.sign(np.sin(9 * np.pi * x)))),
        law("bumps", bumps),
        law("burst", first(lambda x: 2.5 * np.sin(1.6 * np.pi / (1.12 - x)))),
    ]


def cornered() -> list[Law]:
    """Laws whose mean jumps in two columns at once."""
    squares = lambda X: 2.5 * np.sign((X[:, 0] - 0.37) * (X[:, 1] - 0.62))  # noqa: E731
    corner = lambda X: 4.0 * ((X[:, 0] > 0.6) | (X[:, 1] < 0.3))  # noqa: E731
    disc = lambda X: 4.0 * (np.hypot(X[:, 0] - 0.45, X[:, 1] - 0.5) < 0.3)  # noqa: E731
    board = lambda X: 2.0 * np.sign(np.prod(np.sin(3 * np.pi * X[:, :2]), axis=1))  # noqa: E731
    even = lambda X: 3.0 * np.sign(np.sin(4 * np.pi * X[:, 0]) * (X[:, 1] - 0.5))  # noqa: E731
    slope = lambda X: 5.0 * (X[:, 0] > 0.4) * (X[:, 1] > 0.5) + 3 * X[:, 0]  # noqa: E731
    three = lambda X: 4.0 * (X[:, 0] > 0.5) * (X[:, 1] > 0.4) + 2 * X[:, 2]  # noqa: E731
    return [
        law("cross of two", squares, flat_one, columns=2),
        law("corner of two", corner, columns=2),
        law("disc", disc, columns=2),
        law("board", board, flat_one, columns=2),
        law("even board", even, flat_one, columns=2),
        law("corner and slope", slope, columns=2),
        law("corner of three", three, columns=3),
    ]


def tuning() -> list[Law]:
    """Laws that choices were made on."""
    lines = pieces([0.3, 0.55, 0.8], [0.0, 4.0, -2.0, 3.0], [6.0, -8.0, 5.0, 0.0])
    eight = np.arange(8)
    return [
        law("sawtooth", sawtooth),
        law("wave and jump", wave_and_jump, flat_one),
        law("pieces", lines, flat_one, "t5"),
        law("flat", first(lambda x: 0 * x)),
        law("smooth", first(lambda x: np.sin(4 * np.pi * x))),
        law("multiplied", root, noise="gamma"),
        law("clusters", first(lambda x: 3 * np.sin(6 * x)), position="clustered"),
        law("sum of two", lambda X: np.sin(4 * X[:, 0]) + 2 * X[:, 1] ** 2, columns=2),
        law("rough two", lambda X: 2 * np.sin(9 * X[:, 0]) * np.cos(9 * X[:, 1]), columns=2),
        law("three", lambda X: 3 * X[:, 0] * X[:, 1] + np.sin(5 * X[:, 2]), columns=3),
        law("friedman five", friedman, columns=5),
        law("waves five", waves, columns=5),
        law(
            "cells",
            by_level(6.0 * np.sin(eight), 2.0 * np.cos(eight)),
            cell_variance(8, 0.5),
            columns=2,
            levels=8,
        ),
        statistic_law("minvar", "minvar, sawtooth", lambda X: 0.5 * sawtooth(X)),
        statistic_law("minvar", "minvar, wave", first(lambda x: 1.5 * np.sin(4 * np.pi * x))),
        statistic_law("ucb8", "ucb, wave and jump", wave_and_jump),
        *sudden(),
        *cornered(),
    ]


def final() -> list[Law]:
    """Laws that only the final table saw."""
    blocks = pieces(
        [0.1, 0.13, 0.25, 0.44, 0.65, 0.78, 0.81],
        [0.0, 4.0, -1.0, 3.0, -2.0, 2.0, -1.0, 1.0],
        [0.0] * 8,
    )
    broken = pieces([0.22, 0.5, 0.61], [3.0, -3.0, 2.0, 5.0], [-9.0, 12.0, 0.0, -10.0])
    heavisine = first(
        lambda x: 4 * np.sin(4 * np.pi * x) - 2 * np.sign(x - 0.3) - 2 * np.sign(0.72 - x)
    )
    twelve = np.arange(12)
    return [
        law("blocks", blocks),
        law("broken lines", broken),
        law("broken lines, gamma", broken, flat_one, "gamma"),
        law("heavisine", heavisine, flat_one),
        law("doppler", first(lambda x: 3 * np.sqrt(x * (1 - x)) * np.sin(2.1 * np.pi / (x + 0.1)))),
        law("line", first(lambda x: 5 * x), flat_one, "t5"),
        law("multiplied, heavy", root, noise="exponential"),
        law("clusters, jump", lambda X: 4.0 * (X[:, 0] > 0.5) + X[:, 0], position="clustered"),
        law("product of two", lambda X: 4 * X[:, 0] * X[:, 1], columns=2),
        law("ridge of two", lambda X: 2 * np.sin(5 * (X[:, 0] + X[:, 1])), columns=2),
        law(
            "squares of two",
            lambda X: 3.0 * np.sign((X[:, 0] - 0.5) * (X[:, 1] - 0.5)),
            columns=2,
        ),
        law("three, rough", lambda X: 2 * np.sin(8 * X[:, 0]) * X[:, 1] + X[:, 2], columns=3),
        law("product five", lambda X: 8 * X[:, 0] * X[:, 1] * X[:, 2] + X[:, 3], columns=5),
        law("bumps five", lambda X: 5 * np.exp(-6 * np.sum((X[:, :3] - 0.5) ** 2, 1)), columns=5),
        law("interacting ten", lambda X: friedman(X) + 2 * X[:, 5] * X[:, 6], columns=10),
        law(
            "cells, rare",
            by_level(8.0 * np.cos(3 * twelve), 3.0 * np.sin(2 * twelve)),
            cell_variance(12, 0.0),
            columns=2,
            levels=12,
        ),
        statistic_law("minvar", "minvar, broken lines", lambda X: 0.4 * broken(X)),
        statistic_law("minvar", "minvar, line", first(lambda x: 2 * x), "gamma"),
        statistic_law("ucb2", "ucb, broken lines", lambda X: 0.5 * broken(X), "gamma"),
        statistic_law("gini", "gini, heavisine", heavisine),
    ]


def harder_laws(half: str) -> list[Law]:
    """Laws of one half: "tuning" or "final"."""
    return tuning() if half == "tuning" else final()
