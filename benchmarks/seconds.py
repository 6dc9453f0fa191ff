"""Seconds and memory of a default fit and its interval, by rows and columns.

    python -m benchmarks.seconds [--out docs/_static/performance]

Each cell is a process of its own: CPU time of ``fit`` and of ``predict_interval`` at 100 places,
one thread, after the imports and a small fit; memory is the most the process held, less what it
held before the fit. Writes seconds.csv and seconds.png: what the page on scaling shows.
"""

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

ROWS = (1_000, 10_000, 100_000, 1_000_000)
COLUMNS = (1, 2, 5, 20)
CLASSES = ("line", "smooth")
MOST = {"smooth": 500_000}  # numbers in X that a class is tried on
HEAD = (
    "class",
    "columns",
    "rows",
    "fit (CPU-s)",
    "interval (CPU-s)",
    "memory (MB)",
    "of the input",
)


def rows_of(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n, d))
    mean = np.sin(6 * X[:, 0]) + (X[:, -1] - 0.5) ** 2
    return X, mean + rng.standard_normal(n) * np.sqrt(0.5 + X[:, 0])


def cell(kind: str, d: int, n: int) -> dict[str, float]:
    """Measure in this process."""
    from multiobs import MultiObservationRegressor

    features = None if kind == "line" else "smooth"
    model = MultiObservationRegressor("variance", features=features, random_state=0)
    X, y = rows_of(300, d)
    model.fit(X, y).predict_interval(X[:5])  # imports and caches
    X, y = rows_of(n, d)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    model.fit(X, y)
    middle = time.process_time()
    model.predict_interval(X[:100])
    end = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return {
        "fit": middle - start,
        "interval": end - middle,
        "memory": peak / 1024,
    }


def measured(kind: str, d: int, n: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.seconds", "--cell", kind, str(d), str(n)]
    alone = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    run = subprocess.run(command, env=alone, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(run.stdout)
    return found


def draw(table: list[tuple[str, int, int, dict[str, float]]], out: Path) -> None:
    import matplotlib.pyplot as plt

    colours = ("#0072B2", "#009E73", "#E69F00", "#D55E00")
    fig, axes = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained", sharey=True)
    for ax, kind in zip(axes, CLASSES, strict=True):
        for colour, d in zip(colours, COLUMNS, strict=True):
            found = [(n, c["fit"] + c["interval"]) for k, e, n, c in table if (k, e) == (kind, d)]
            ax.loglog(*zip(*found, strict=True), "o-", color=colour, label=f"{d} columns")
        ax.set(title=f"class: {kind}", xlabel="rows")
        ax.grid(alpha=0.3)
    axes[0].set_ylabel("CPU-seconds, fit and interval")
    axes[0].legend(frameon=False)
    fig.savefig(out / "seconds.png", dpi=160)


def write(table: list[tuple[str, int, int, dict[str, float]]], out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    with (out / "seconds.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEAD)
        for kind, d, n, c in table:
            seconds = (f"{c['fit']:.2f}", f"{c['interval']:.2f}")
            writer.writerow((kind, d, f"{n:,}", *seconds, f"{c['memory']:.0f}"))
    draw(table, out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/_static/performance"))
    parser.add_argument("--cell", nargs=3, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.cell:
        kind, d, n = asked.cell
        print(json.dumps(cell(kind, int(d), int(n))))
        return
    table = []
    for kind in CLASSES:
        for d in COLUMNS:
            for n in ROWS:
                if n * d <= MOST.get(kind, n * d):
                    found = measured(kind, d, n)
                    table.append((kind, d, n, found))
                    print(kind, d, n, {name: round(v, 2) for name, v in found.items()}, flush=True)
    write(table, asked.out)


if __name__ == "__main__":
    main()
