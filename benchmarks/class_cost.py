"""What each class of functions costs, as a ratio to boosted trees fitted to the same rows.

    python -m benchmarks.class_cost [--out FILE.csv]

Every class (line, spline, smooth, boosted trees, forest) × statistic × columns × {fit, interval} at
n = 10^4: CPU seconds, and their ratio to one HistGradientBoostingRegressor fit. The interval of
a regressor is a bootstrap, of which a few replicates are timed for all: those beyond the first two
say what one costs. Exits non-zero where a fit
takes more than 3 seconds of CPU time or an interval more than 60, which is 30 on two cores.
"""

import argparse
import csv
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.preprocessing import SplineTransformer

from multiobs import MultiObservationRegressor

ROWS = 10_000
COLUMNS = (1, 2, 5)
STATISTICS = ("variance", "ucb", "minvar")
CLASSES: dict[str, Callable[[], dict[str, Any]]] = {
    "line": dict,
    "spline": lambda: {"features": SplineTransformer(5)},
    "smooth": lambda: {"features": "smooth"},
    "boosting": lambda: {"estimator": HistGradientBoostingRegressor(random_state=0)},
    "forest": lambda: {"estimator": RandomForestRegressor(50, min_samples_leaf=20, random_state=0)},
}
LIMITS = {"fit": 3.0, "interval": 60.0}
REPLICATES, FIRST, MORE = 100, 2, 6  # of the bootstrap of a regressor, and those that are run
FIELDS = ("class", "statistic", "columns", "what", "seconds", "ratio")


def rows(d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(d)
    X = rng.random((ROWS, d))
    mean = 2.0 * np.sin(4.0 * X[:, 0]) * (X[:, 1] if d > 1 else 1.0)
    return X, mean + np.sqrt(0.5 + X[:, 0]) * rng.standard_normal(ROWS)


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def cell(name: str, statistic: str, X: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """CPU seconds of a fit and of its first interval."""
    given = CLASSES[name]()
    model = MultiObservationRegressor(statistic, random_state=0, **given)
    fit = seconds(lambda: model.fit(X, y))
    if "estimator" in given:
        some, more = (
            seconds(lambda count=count: model.predict_interval(X[:100], n_bootstrap=count))
            for count in (FIRST, MORE)
        )
        one = (more - some) / (MORE - FIRST)
        return {"fit": fit, "interval": some + (REPLICATES - FIRST) * one}
    return {"fit": fit, "interval": seconds(lambda: model.predict_interval(X[:100]))}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--classes", nargs="+", choices=tuple(CLASSES), default=tuple(CLASSES))
    parser.add_argument("--statistics", nargs="+", default=STATISTICS)
    parser.add_argument("--columns", type=int, nargs="+", default=COLUMNS)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    found: list[dict[str, object]] = []
    beyond = 0
    for d in options.columns:
        X, y = rows(d)
        trees = HistGradientBoostingRegressor(random_state=0)
        trees.fit(X, y)  # caches and lazy imports are not what is measured
        unit = min(seconds(lambda X=X, y=y, trees=trees: trees.fit(X, y)) for _ in range(3))
        for name in options.classes:
            for statistic in options.statistics:
                for what, cost in cell(name, statistic, X, y).items():
                    late = cost > LIMITS[what]
                    beyond += late
                    values = (name, statistic, d, what, round(cost, 3), round(cost / unit, 1))
                    found.append(dict(zip(FIELDS, values, strict=True)))
                    mark = f"  beyond {LIMITS[what]:g} s" if late else ""
                    print(*(f"{value!s:>9}" for value in values), mark, flush=True)
    if options.out is not None:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        with options.out.open("w", newline="") as lines:
            table = csv.DictWriter(lines, FIELDS)
            table.writeheader()
            table.writerows(found)
    print(f"{beyond} of {len(found)} beyond their limits")
    return int(beyond > 0)


if __name__ == "__main__":
    sys.exit(main())
