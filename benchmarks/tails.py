"""Intervals of a variance under light and heavy tails: what they cover, and what is said.

    python -m benchmarks.tails [--others] [--laws LAW …] [--rows 50 100 200 400 1000] [--trials 200]
                               [--seed 7] [--out FILE]

Each data set has sin(4x) for a mean and the line 0.5 + x for a variance; limits of nominally 95 %
are taken at x = 0.1, 0.5 and 0.9.  *warned* is the share of data sets whose interval came with a
warning, *quiet misses* the share of limits that missed without one, of which 95 % limits have 5.
The rule that warns was chosen on the first laws (and other data sets), not on the others.
"""

import argparse
import csv
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import special

from multiobs import MultiObservationRegressor

AT = np.array([[0.1], [0.5], [0.9]])
TRUTH = 0.5 + AT[:, 0]
Draw = Callable[[np.random.Generator, int], np.ndarray]
LAWS: dict[str, tuple[Draw, float]] = {  # labels, their variance
    "normal": (lambda rng, n: rng.normal(size=n), 1.0),
    "Laplace": (lambda rng, n: rng.laplace(size=n), 2.0),
    "exponential": (lambda rng, n: rng.exponential(size=n), 1.0),
    "gamma(2)": (lambda rng, n: rng.gamma(2.0, size=n), 2.0),
    "t8": (lambda rng, n: rng.standard_t(8, size=n), 8 / 6),
    "t5": (lambda rng, n: rng.standard_t(5, size=n), 5 / 3),
    "t4": (lambda rng, n: rng.standard_t(4, size=n), 2.0),
    "t3": (lambda rng, n: rng.standard_t(3, size=n), 3.0),
    "lognormal(1)": (lambda rng, n: rng.lognormal(size=n), (np.e - 1) * np.e),
    "Pareto(3)": (lambda rng, n: rng.pareto(3.0, size=n), 0.75),
}
OTHERS: dict[str, tuple[Draw, float]] = {
    "t10": (lambda rng, n: rng.standard_t(10, size=n), 10 / 8),
    "t2.5": (lambda rng, n: rng.standard_t(2.5, size=n), 5.0),
    "logistic": (lambda rng, n: rng.logistic(size=n), np.pi**2 / 3),
    "5 % of four times the spread": (
        lambda rng, n: rng.normal(size=n) * np.where(rng.uniform(size=n) < 0.05, 4.0, 1.0),
        0.95 + 0.05 * 16,
    ),
    "lognormal(0.5)": (
        lambda rng, n: rng.lognormal(sigma=0.5, size=n),
        (np.exp(0.25) - 1) * np.exp(0.25),
    ),
    "Weibull(0.7)": (
        lambda rng, n: rng.weibull(0.7, size=n),
        special.gamma(1 + 2 / 0.7) - special.gamma(1 + 1 / 0.7) ** 2,
    ),
    "Pareto(4)": (lambda rng, n: rng.pareto(4.0, size=n), 2 / 9),
    "Pareto(2.5)": (lambda rng, n: rng.pareto(2.5, size=n), 20 / 9),
    "Burr(1.5, 2.2)": (  # a Pareto tail of 3.3 degrees of freedom behind a mode
        lambda rng, n: ((1 - rng.uniform(size=n)) ** (-1 / 2.2) - 1) ** (1 / 1.5),
        2.2 * special.beta(2.2 - 2 / 1.5, 1 + 2 / 1.5)
        - (2.2 * special.beta(2.2 - 1 / 1.5, 1 + 1 / 1.5)) ** 2,
    ),
}


def one(law: str, rows: int, trial: int, seed: int) -> tuple[np.ndarray, bool]:
    """Which limits hold the truth, and whether a word was said."""
    draw, variance = (LAWS | OTHERS)[law]
    rng = np.random.default_rng([trial, rows, seed])
    x = rng.uniform(size=rows)
    y = np.sin(4 * x) + np.sqrt((0.5 + x) / variance) * draw(rng, rows)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("ignore")
        model = MultiObservationRegressor("variance", random_state=0).fit(x[:, None], y)
        warnings.simplefilter("always")
        low, high = model.predict_interval(AT).T
    return (low <= TRUTH) & (high >= TRUTH), bool(said)


def line(law: str, rows: int, trials: int, seed: int) -> dict[str, object]:
    """Coverage, warnings and misses without one, with the error of the first."""
    found = [one(law, rows, trial, seed) for trial in range(trials)]
    inside = np.array([each for each, _ in found], dtype=float)
    quiet = np.array([not said for _, said in found])
    return {
        "labels": law, "rows": rows, "data sets": trials,
        "coverage": f"{100 * inside.mean():.1f}",
        "error": f"{100 * inside.mean(axis=1).std(ddof=1) / np.sqrt(trials):.1f}",
        "warned": f"{100 * (1 - quiet.mean()):.0f}",
        "quiet misses": f"{100 * np.mean((1 - inside) * quiet[:, None]):.1f}",
    }  # fmt: skip


def main() -> None:
    """Measure every law at every number of rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--others", action="store_true", help="laws the rule was not chosen on")
    parser.add_argument("--laws", nargs="+", choices=[*LAWS, *OTHERS], help="these only")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--rows", type=int, nargs="+", default=[50, 100, 200, 400, 1000])
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--out", type=Path, default=Path("out/tails.csv"))
    asked = parser.parse_args()
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    for law in asked.laws or (OTHERS if asked.others else LAWS):
        for rows in asked.rows:
            lines.append(line(law, rows, asked.trials, asked.seed))
            print(*lines[-1].values(), sep="\t", flush=True)
    with asked.out.open("w", newline="") as file:
        table = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(lines)


if __name__ == "__main__":
    main()
