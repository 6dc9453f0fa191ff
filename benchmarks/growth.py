"""How time and memory of a fit with its interval grow: ``python -m benchmarks.growth``.

Slopes are those of logarithms, by least squares over doubled sizes: CPU time of the quicker of two
runs, and the peak that Python's allocator saw.  It ends with 1 if one passes its limit.
"""

import argparse
import json
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from multiobs import MultiObservationRegressor

LIMITS = {"n": 1.2, "ties": 1.2, "groups": 1.2, "arity": 2.2, "p": 2.2}
Case = tuple[str, str, tuple[int, ...], Callable[[int], None]]  # name, what grows, sizes, run


def fitted(statistic: str | object, X: np.ndarray, y: np.ndarray, **how: object) -> None:
    """Fit, and ask for an interval."""
    groups = how.pop("groups", None)
    model = MultiObservationRegressor(statistic, random_state=0, **how)  # type: ignore[arg-type]
    model.fit(X, y, groups=groups).predict_interval(X[:5])  # type: ignore[arg-type]


def rows(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of p columns, of which one moves the mean and one the spread."""
    rng = np.random.default_rng([n, p])
    X = rng.uniform(size=(n, p))
    return X, np.sin(4 * X[:, 0]) + rng.normal(size=n) * (1 + X[:, -1])


def cases() -> list[Case]:
    """Everything that is measured."""
    from multiobs import statistics

    many = (20_000, 40_000, 80_000)
    grid = [(f"{s}, one column", "n", many, _case(s, 1)) for s in ("variance", "ucb", "minvar")]
    return [
        *grid,
        ("variance, five columns", "n", (4_000, 8_000, 16_000), _case("variance", 5)),
        ("variance, a 10 x 10 grid", "ties", many, _tied("auto", 2)),
        ("variance, nearest, ten values", "ties", (5_000, 10_000, 20_000), _tied("nearest", 1)),
        ("variance, groups of 20 rows", "groups", (10_000, 20_000, 40_000), _grouped()),
        (
            "MINVAR of m labels",
            "arity",
            (3, 6, 12),
            lambda m: fitted(statistics.minvar(m - 1), *rows(5_000, 1)),
        ),
        ("variance, p columns", "p", (25, 50, 100), lambda p: fitted("variance", *rows(1_000, p))),
        ("MINVAR, p columns", "p", (25, 50, 100), lambda p: fitted("minvar", *rows(1_000, p))),
        ("UCB, p columns", "p", (25, 50, 100), lambda p: fitted("ucb", *rows(1_000, p))),
    ]


def _case(statistic: str, p: int) -> Callable[[int], None]:
    return lambda n: fitted(statistic, *rows(n, p))


def _tied(sampler: str, p: int) -> Callable[[int], None]:
    def run(n: int) -> None:
        X, y = rows(n, p)
        fitted("variance", np.floor(10 * X), y, sampler=sampler)

    return run


def _grouped() -> Callable[[int], None]:
    def run(n: int) -> None:
        fitted("variance", *rows(n, 1), groups=np.arange(n) // 20)

    return run


def measured(run: Callable[[int], None], size: int) -> tuple[float, float]:
    """CPU seconds and peak bytes."""
    seconds = []
    for _ in range(2):
        start = time.process_time()
        run(size)
        seconds.append(time.process_time() - start)
    tracemalloc.start()
    run(size)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return min(seconds), float(peak)


def slope(sizes: tuple[int, ...], values: list[float]) -> float:
    """Slope of the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def main() -> int:
    """Measure, print a table, write it, and say whether a limit was passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="JSON file of the figures")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    found, passed = [], True
    print("| case | grows | sizes | CPU seconds | MB | slope of time | of memory | limit |")
    print("|---|---|---|---|---|---|---|---|")
    for name, what, sizes, run in cases():
        if chosen.only not in name:
            continue
        run(sizes[0])  # modules are loaded once
        seconds, peaks = zip(*(measured(run, size) for size in sizes), strict=True)
        slopes = slope(sizes, list(seconds)), slope(sizes, list(peaks))
        limit = LIMITS[what]
        passed &= max(slopes) <= limit
        found.append(
            {"case": name, "grows": what, "sizes": sizes, "seconds": seconds, "bytes": peaks}
            | {"slope of time": slopes[0], "slope of memory": slopes[1], "limit": limit}
        )
        told = " / ".join(f"{each:.2f}" for each in seconds)
        large = " / ".join(f"{each / 1e6:.0f}" for each in peaks)
        listed = " / ".join(f"{each:,}" for each in sizes)
        ends = f"{slopes[0]:.2f} | {slopes[1]:.2f} | {limit}"
        print(f"| {name} | {what} | {listed} | {told} | {large} | {ends} |", flush=True)
    if chosen.out is not None:
        chosen.out.parent.mkdir(parents=True, exist_ok=True)
        chosen.out.write_text(json.dumps(found, indent=1))
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
