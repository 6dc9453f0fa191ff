"""What the automatic choices cost, as ratios in one run.

    python -m benchmarks.default_cost [--forest] [--out FILE.json]

* the default fit at n = 10^6 rows of one column, against numpy's argsort plus two gathers of the
  same rows (at most 12);
* the default fit at n = 10^5 rows of five columns, against fit and predict of scikit-learn's
  KNeighborsRegressor on the same rows (at most 3), with an additive mean and with an interaction;
* the default fit and predict at n = 1000 and 5000 rows of one, two and five columns, against a
  random forest of 200 trees on the same rows (at most 1), in CPU time (``--forest``: these alone);
* ``Nearby("auto")`` and ``Nearest("auto")``, against one fit with the width they choose
  (at most 5).

Each is the median of several repeats; prints a table and exits non-zero when a limit is passed.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.neighbors import KNeighborsRegressor

from multiobs import MultiObservationRegressor, samplers

LIMITS = {"argsort": 12.0, "neighbours": 3.0, "width": 5.0, "forest": 1.0}


def seconds(
    work: Callable[[], object], repeats: int, clock: Callable[[], float] = time.perf_counter
) -> float:
    work()  # caches and lazy imports are not what is measured
    found = []
    for _ in range(repeats):
        start = clock()
        work()
        found.append(clock() - start)
    return float(np.median(found))


def one_column(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    x = rng.uniform(size=n)
    return x[:, None], np.sin(12 * x) + np.sqrt(0.5 + x) * rng.standard_normal(n)


def more_columns(d: int, kind: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n, d))
    mean = {
        "additive": np.sin(2 * np.pi * X[:, 0]) + 2 * (X[:, 1] - 0.5) ** 2,
        "interacting": 3 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 4 * (X[:, -1] - 0.5) ** 2,
        "jumping": 3 * np.sign((X[:, 0] - 0.5) * (X[:, 1] - 0.5)),
    }[kind]
    return X, mean + np.sqrt(0.5 + X[:, 0]) * rng.standard_normal(n)


def against_argsort() -> float:
    X, y = one_column(10**6)

    def sort() -> None:
        order = np.argsort(X[:, 0], kind="stable")
        X[order, 0], y[order]

    return seconds(lambda: MultiObservationRegressor().fit(X, y), 3) / seconds(sort, 5)


def against_neighbours(kind: str) -> float:
    X, y = more_columns(5, kind, 10**5)
    ours = seconds(lambda: MultiObservationRegressor(random_state=0).fit(X, y), 3)
    return ours / seconds(lambda: KNeighborsRegressor().fit(X, y).predict(X), 3)


def against_forest(d: int, kind: str, n: int) -> float:
    X, y = one_column(n) if d == 1 else more_columns(d, kind, n)
    cpu = time.process_time
    ours = seconds(lambda: MultiObservationRegressor(random_state=0).fit(X, y).predict(X), 3, cpu)
    forest = RandomForestRegressor(200, random_state=0)
    return ours / seconds(lambda: forest.fit(X, y).predict(X), 3, cpu)


def against_one_width(sampler: samplers.Sampler, transport: str | None) -> float:
    X, y = one_column(20_000)
    auto = MultiObservationRegressor(sampler=sampler, transport=transport)
    chosen = auto.fit(X, y).sampler_
    one = MultiObservationRegressor(sampler=chosen, transport=transport)
    return seconds(lambda: auto.fit(X, y), 5) / seconds(lambda: one.fit(X, y), 5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--forest", action="store_true", help="only against the forest")
    given = parser.parse_args()
    rows = [] if given.forest else others()
    rows += [
        (f"default fit and predict, {n} rows, d = {d}, {kind} mean / forest of 200 trees",
         "forest", against_forest(d, kind, n))
        for n in (1000, 5000)
        for d, kind in (
            (1, "smooth"), (2, "additive"), (2, "interacting"), (2, "jumping"),
            (5, "additive"), (5, "interacting"), (5, "jumping"),
        )
    ]  # fmt: skip
    for name, limit, ratio in rows:
        print(f"{ratio:6.2f}  (at most {LIMITS[limit]:4.1f})  {name}")
    if given.out is not None:
        found = [
            {"what": name, "ratio": ratio, "limit": LIMITS[limit]} for name, limit, ratio in rows
        ]
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(json.dumps(found, indent=1))
    sys.exit(any(ratio > LIMITS[limit] for _, limit, ratio in rows))


def others() -> list[tuple[str, str, float]]:
    """Name, limit and ratio of what is not measured against the forest."""
    return [
        ("default fit, 10^6 rows, 1 column / argsort and gathers", "argsort", against_argsort()),
        *(
            (f"default fit, 10^5 rows, 5 columns, {kind} mean / KNeighborsRegressor", "neighbours",
             against_neighbours(kind))
            for kind in ("additive", "interacting")
        ),
        *(
            (f"{sampler!r}, transport={transport!r} / one width", "width",
             against_one_width(sampler, transport))
            for sampler in (samplers.Nearby("auto"), samplers.Nearest("auto"))
            for transport in ("auto", None)
        ),
    ]  # fmt: skip


if __name__ == "__main__":
    main()
