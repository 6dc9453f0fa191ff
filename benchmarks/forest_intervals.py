"""Standard errors of forests by replicates of few trees, against whole forests and simulation.

    python -m benchmarks.forest_intervals [--trials 60] [--out FILE.csv]

Fits a forest to many data sets of a law and asks each for its standard errors, by replicates of
five trees and by whole ones.  Reported: their root mean square over the standard deviation of
predictions between data sets, and how often 95 % limits cover the mean prediction (bias of the
forest itself is no business of a bootstrap).  Goes on where it stopped.
"""

import argparse
import csv
import warnings
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import numpy as np
from sklearn.ensemble import RandomForestRegressor

from multiobs import MultiObservationRegressor
from multiobs.inference import bootstrap

LAWS = (("variance", 1), ("variance", 2), ("variance", 5), ("minvar", 2), ("ucb", 2))
ROWS, TREES, LEAF, REPLICATES, POSITIONS = 500, 50, 25, 40, 25
FIELDS = ("statistic", "columns", "seed", "position", "prediction", "few", "whole")


def rows(d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([d, seed])
    X = rng.random((ROWS, d))
    spread = 0.5 + X[:, 0] + (X[:, 1] if d > 1 else 0.0)
    return X, np.cos(3.0 * X[:, 0]) + spread * rng.standard_normal(ROWS)


def measured(statistic: str, d: int, seed: int) -> Iterator[dict[str, object]]:
    X, y = rows(d, seed)
    at = np.random.default_rng(d).random((POSITIONS, d))
    forest = RandomForestRegressor(TREES, min_samples_leaf=LEAF, random_state=0)
    model = MultiObservationRegressor(statistic, estimator=forest, random_state=0).fit(X, y)
    fit, factor = model.result_, model.result_.problem.units.factor

    def errors() -> np.ndarray:
        children = np.random.SeedSequence(seed)
        return factor * bootstrap.replicate(fit, REPLICATES, children, None).standard_errors(at)

    few = errors()
    with mock.patch.object(bootstrap, "fewer_trees", return_value=None):
        whole = errors()
    for i, values in enumerate(zip(model.predict(at), few, whole, strict=True)):
        yield dict(zip(FIELDS, (statistic, d, seed, i, *values), strict=True))


def digest(table: list[dict[str, str]]) -> Iterator[tuple[object, ...]]:
    """Ratios and coverage of each law, with the standard errors of coverage between data sets."""
    yield "statistic", "columns", "data sets", "few / sd", "whole / sd", "few %", "whole %", "±"
    for statistic, d in LAWS:
        mine = [r for r in table if (r["statistic"], int(r["columns"])) == (statistic, d)]
        if len(mine) < 2 * POSITIONS:
            continue
        shape = (-1, POSITIONS)
        found = {k: np.array([float(r[k]) for r in mine]).reshape(shape) for k in FIELDS[4:]}
        r = found["prediction"]
        sd = np.sqrt(np.mean(r.var(axis=0, ddof=1)))
        size = [np.sqrt(np.mean(found[k] ** 2)) / sd for k in ("few", "whole")]
        inside = [np.abs(r - r.mean(axis=0)) < 1.96 * found[k] for k in ("few", "whole")]
        error = inside[0].mean(axis=1).std(ddof=1) / np.sqrt(len(r))
        shares = [f"{100 * each.mean():.1f}" for each in inside]
        yield statistic, d, len(r), *(f"{s:.2f}" for s in size), *shares, f"{100 * error:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--out", type=Path, default=Path("out/forest_intervals.csv"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    table = list(csv.DictReader(options.out.open())) if options.out.exists() else []
    done = {(r["statistic"], int(r["columns"]), int(r["seed"])) for r in table}
    with options.out.open("a", newline="") as lines:
        writer = csv.DictWriter(lines, FIELDS)
        if not table:
            writer.writeheader()
        for seed in range(options.trials):
            for statistic, d in LAWS:
                if (statistic, d, seed) not in done:
                    writer.writerows(measured(statistic, d, seed))
                    lines.flush()
    for line in digest(list(csv.DictReader(options.out.open()))):
        print(*(f"{each!s:>10}" for each in line))


if __name__ == "__main__":
    main()
