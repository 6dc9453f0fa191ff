"""How often the held-out score prefers the truth where the mean moves in every column.

The true variance against the same times 1.1 and 0.9, squared and gamma loss; how often calibration
tests reject the truth (nominal 5 %); and the relative bias of the scored pairs, measured against
the squares of the true noise. Constants of the score were chosen on the tuning laws; the final laws
were fixed before they were looked at. Trials are kept in a CSV file and not run again.

    python -m benchmarks.score_columns --laws final --trials 100 --out out/score_columns.csv
"""

import argparse
import csv
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import numpy as np

from multiobs import scoring

Curve = Callable[[np.ndarray], np.ndarray]
DIMENSIONS = (1, 2, 5, 10, 20)
NEEDED = 0.95
FACTORS = {"high": 1.1, "low": 0.9}


class Law(NamedTuple):
    mean: Curve
    variance: Curve


def additive(X: np.ndarray) -> np.ndarray:
    return 2.0 * X.sum(axis=1) + 2.0 * np.sin(2.0 * np.pi * X[:, 0])


def product(X: np.ndarray) -> np.ndarray:
    return 2.0 * X.sum(axis=1) + 6.0 * X[:, 0] * X[:, -1]


def friedman(X: np.ndarray) -> np.ndarray:
    a, b, c, *rest = (X[:, j % X.shape[1]] for j in range(5))
    return 5.0 * np.sin(np.pi * a * b) + 10.0 * (c - 0.5) ** 2 + 5.0 * rest[0] + 2.5 * rest[1]


def bends(X: np.ndarray) -> np.ndarray:
    return 2.0 * np.abs(X - 0.5).sum(axis=1) + 2.0 * np.cos(3.0 * np.pi * X[:, 0])


def saddle(X: np.ndarray) -> np.ndarray:
    first, second, last = X[:, 0], X[:, 1 % X.shape[1]], X[:, -1]
    return X.sum(axis=1) + 4.0 * (first - second) ** 2 + 3.0 * first * last


def rising(X: np.ndarray) -> np.ndarray:
    return 0.5 + X[:, 0]


def exponential(X: np.ndarray) -> np.ndarray:
    return np.exp(X[:, -1] - 0.5)


LAWS = {
    "tuning": {mean.__name__: Law(mean, rising) for mean in (additive, product, friedman)},
    "final": {mean.__name__: Law(mean, exponential) for mean in (bends, saddle)},
}
WINS = tuple(f"{loss}, {other}" for loss in ("squared", "gamma") for other in FACTORS)
REJECTED = ("mean rejected", "joint rejected")
FIELDS = ("law", "d", "n", "trial", *WINS, *REJECTED, "bias", "seconds")


def one(name: str, law: Law, d: int, n: int, trial: int) -> dict[str, float]:
    """One sample: who wins, what is rejected, and by how much the scored pairs are off."""
    start = time.process_time()
    rng = np.random.default_rng([crc32(name.encode()), d, trial])
    X = rng.random((n, d))
    truth = law.variance(X)
    noise = np.sqrt(truth) * rng.standard_normal(n)
    y = law.mean(X) + noise
    forecasts = {"true": truth, **{name: by * truth for name, by in FACTORS.items()}}
    found: dict[str, float] = {}
    for loss in ("squared", "gamma"):
        table = scoring.compare("variance", X, y, forecasts, loss=loss)
        for other in FACTORS:
            found[f"{loss}, {other}"] = int(table.difference("true", other).difference < 0)
    test = scoring.calibration_test("variance", X, y, truth)
    found |= {"mean rejected": int(test.p < 0.05), "joint rejected": int(test.joint_p < 0.05)}
    # a mean of V = psi - v over pairs; the same with the noise itself is its control
    found["bias"] = (test.mean - float(np.mean(noise**2 - truth))) / float(truth.mean())
    return found | {"seconds": time.process_time() - start}


def stored(file: Path) -> list[dict[str, str]]:
    if not file.exists():
        return []
    with file.open() as lines:
        return list(csv.DictReader(lines))


def measure(options: argparse.Namespace) -> None:
    """Run the trials that are not in the file yet."""
    options.out.parent.mkdir(parents=True, exist_ok=True)
    done = {(r["law"], int(r["d"]), int(r["n"]), int(r["trial"])) for r in stored(options.out)}
    new = not options.out.exists()
    with options.out.open("a", newline="") as lines:
        table = csv.DictWriter(lines, FIELDS)
        if new:
            table.writeheader()
        for name, law in LAWS[options.laws].items():
            for d in options.dimensions:
                for trial in range(options.trials):
                    if (name, d, options.n, trial) not in done:
                        found = one(name, law, d, options.n, trial)
                        row = {"law": name, "d": d, "n": options.n, "trial": trial}
                        table.writerow(row | {k: round(v, 6) for k, v in found.items()})
                        lines.flush()


def report(options: argparse.Namespace) -> int:
    """Print a line a cell; 1 if the truth wins less often than it must, beyond chance."""
    behind = 0
    cells = [
        (name, d, [r for r in stored(options.out) if (r["law"], int(r["d"])) == (name, d)])
        for name in LAWS[options.laws]
        for d in options.dimensions
    ]
    pooled: dict[str, list[float]] = {key: [] for key in REJECTED}
    for name, d, rows in cells:
        values = {key: np.array([float(r[key]) for r in rows]) for key in FIELDS[4:]}
        size = max(len(rows), 1)
        text = [f"{key} {100 * values[key].mean():.1f}" for key in (*WINS, *REJECTED)]
        bias, error = values["bias"].mean(), values["bias"].std() / np.sqrt(size)
        print(f"{name:9} d={d:<3} {size:4} trials; % {'; '.join(text)}; bias {100 * bias:.2f}"
              f" ± {100 * error:.2f}; {values['seconds'].mean():.2f} CPU-s a trial")  # fmt: skip
        shares = np.array([values[key].mean() for key in WINS])
        chance = 2.0 * np.sqrt(NEEDED * (1.0 - NEEDED) / size)
        behind += int(np.any(shares < NEEDED - chance))
        for key in REJECTED:
            pooled[key] += values[key].tolist()
    for key, each in pooled.items():
        share = np.mean(each)
        error = np.sqrt(share * (1 - share) / len(each))
        print(f"{key} in all cells: {100 * share:.1f} ± {100 * error:.1f} %")
    return int(behind > 0)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--laws", choices=tuple(LAWS), default="final")
    parser.add_argument("--dimensions", type=int, nargs="+", default=DIMENSIONS)
    parser.add_argument("--n", type=int, default=5000)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--out", type=Path, default=Path("out/score_columns.csv"))
    options = parser.parse_args(arguments)
    measure(options)
    return report(options)


if __name__ == "__main__":
    sys.exit(main())
