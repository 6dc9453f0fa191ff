"""How time and memory of a fit with its interval grow: ``python -m benchmarks.growth``.

Slopes are those of logarithms, by least squares over doubled sizes: CPU time of the quicker of two
runs, and the peak that Python's allocator saw.  Some sizes have limits of their own, in seconds and
times the size of X and y.  It ends with 1 if one of all these is passed.
"""

import argparse
import csv
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
Aim = tuple[str, str, tuple[np.ndarray, np.ndarray], float, float]  # …, seconds, times the input


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

    many = (250_000, 500_000, 1_000_000)
    grid = [(f"{s}, one column", "n", many, _case(s, 1)) for s in ("variance", "ucb", "minvar")]
    return [
        *grid,
        ("variance, five columns", "n", (8_000, 16_000, 32_000), _case("variance", 5)),
        ("variance, a 10 x 10 grid", "ties", many, _tied("auto", 2)),
        ("variance, nearest, ten values", "ties", many, _tied("nearest", 1)),
        ("variance, groups of 20 rows", "groups", (50_000, 100_000, 200_000), _grouped()),
        (
            "MINVAR of m labels",
            "arity",
            (4, 8, 16),
            lambda m: fitted(statistics.minvar(m - 1), *rows(20_000, 1)),
        ),
        *(
            (f"{s}, p columns", "p", (50, 100, 200), _wide(s))
            for s in ("variance", "minvar", "ucb")
        ),
    ]


def aims() -> list[Aim]:
    """Sizes with limits of their own; intervals at all rows."""
    wide = rows(2_000, 200)
    X, y = rows(1_000_000, 2)
    grid = np.floor(10 * X), y
    return [
        *(
            (f"{s}, 2000 rows, 200 columns", s, wide, 10.0, 20.0)
            for s in ("variance", "minvar", "ucb")
        ),
        ("variance, 10^6 rows on a 10 x 10 grid", "variance", grid, 10.0, 20.0),
    ]


def _wide(statistic: str) -> Callable[[int], None]:
    return lambda p: fitted(statistic, *rows(1_000, p))


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


def measured(run: Callable[[int], None], size: int, times: int = 2) -> tuple[float, float]:
    """CPU seconds and peak bytes."""
    seconds = []
    for _ in range(times):
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


def grown(only: str) -> tuple[list[dict[str, str]], bool]:
    """A line of the table for each case, and whether all slopes are within their limits."""
    found, passed = [], True
    for name, what, sizes, run in cases():
        if only not in name:
            continue
        run(sizes[0])  # modules are loaded once
        seconds, peaks = zip(*(measured(run, size) for size in sizes), strict=True)
        slopes, limit = [slope(sizes, list(each)) for each in (seconds, peaks)], LIMITS[what]
        passed &= max(slopes) <= limit
        line = {
            "fit with interval": name, "grows": what,
            "sizes": " / ".join(f"{each:,}" for each in sizes),
            "CPU seconds": " / ".join(f"{each:.2f}" for each in seconds),
            "MB": " / ".join(f"{each / 1e6:.0f}" for each in peaks),
            "slope of time": f"{slopes[0]:.2f}", "of memory": f"{slopes[1]:.2f}",
            "limit": f"{limit}",
        }  # fmt: skip
        print(" | ".join(line.values()), flush=True)
        found.append(line)
    return found, passed


def aimed(only: str) -> tuple[list[dict[str, str]], bool]:
    """A line of the table for each size with limits of its own, and whether these are held."""
    found, passed = [], True
    for name, statistic, (X, y), most, times in aims():
        if only not in name:
            continue

        def run(n: int) -> None:
            model = MultiObservationRegressor(statistic, random_state=0).fit(X[:n], y[:n])  # noqa: B023
            model.predict_interval(X[:n])  # noqa: B023

        run(300)
        seconds, peak = measured(run, y.size, 1)
        input_size = X.nbytes + y.nbytes
        passed &= seconds <= most and peak <= times * input_size
        line = {
            "fit with intervals": name, "CPU seconds": f"{seconds:.1f}", "limit": f"{most:g}",
            "MB": f"{peak / 1e6:.0f}", "of the input": f"{peak / input_size:.1f}",
            "at most": f"{times:g}",
        }  # fmt: skip
        print(" | ".join(line.values()), flush=True)
        found.append(line)
    return found, passed


def main() -> int:
    """Measure, print, write the tables, and say whether a limit was passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="folder of growth.csv and growth_limits.csv")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    ends = []
    for name, table in (("growth.csv", grown), ("growth_limits.csv", aimed)):
        lines, passed = table(chosen.only)
        ends.append(passed)
        if chosen.out is not None and lines:
            chosen.out.mkdir(parents=True, exist_ok=True)
            with (chosen.out / name).open("w", newline="") as file:
                writer = csv.DictWriter(file, list(lines[0]))
                writer.writeheader()
                writer.writerows(lines)
    return 0 if all(ends) else 1


if __name__ == "__main__":
    sys.exit(main())
