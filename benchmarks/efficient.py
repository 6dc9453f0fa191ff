"""The default, with its guarded efficient weights, against the minimiser alone (``alpha=0.0``).

    python -m benchmarks.efficient [--half final] [--rows 300 1000 5000] [--trials 100] [--out FILE]

Laws of :mod:`benchmarks.contest` of fewer than four columns, whose statistic is one of spread by
squared loss, since others have no such weights.  Ratios of mean squared errors on the same rows,
with their standard errors; *over oracle* is that of the default to regression on squared errors
about the true mean.
"""

import argparse
import csv
import warnings
from pathlib import Path

import numpy as np
from sklearn.linear_model import LinearRegression

from benchmarks.contest_laws import grid_of, laws_of, sample
from benchmarks.contest_tables import ratio
from benchmarks.peers import given, statistic_of
from benchmarks.quality_laws import Law
from multiobs import MultiObservationRegressor

COLUMNS = 3
Errors = dict[str, list[float]]


def one_trial(law: Law, rows: int, trial: int) -> dict[str, float]:
    """Mean squared errors in one data set."""
    X, y = sample(law, rows, trial)
    grid = grid_of(law, X)
    truth, errors = law.truth(grid), {}
    for name, alpha in (("default", "auto"), ("minimiser", 0.0)):
        model = MultiObservationRegressor(statistic_of(law), alpha=alpha, random_state=0)
        found = model.fit(given(law, X, model), y).predict(given(law, grid, model))
        errors[name] = float(np.mean((found - truth) ** 2))
    if law.statistic == "variance":
        line = LinearRegression().fit(X, (y - law.mean(X)) ** 2)
        errors["oracle"] = float(np.mean((line.predict(grid) - truth) ** 2))
    return errors


def line_of(name: str, kind: str, law: Law, rows: int, trials: int) -> dict[str, object]:
    """Ratios of one law at one number of rows."""
    kept: Errors = {}
    for trial in range(trials):
        for method, error in one_trial(law, rows, trial).items():
            kept.setdefault(method, []).append(error)
    errors = {method: np.array(each) for method, each in kept.items()}
    value, error, _ = ratio(errors["default"], errors["minimiser"])
    known = "oracle" in errors
    oracle = ratio(errors["default"], errors["oracle"])[:2] if known else (np.nan, np.nan)
    return {
        "law": name, "statistic is a": kind, "columns": law.columns, "rows": rows,
        "data sets": trials, "over minimiser": f"{value:.3f}", "error": f"{error:.3f}",
        "over oracle": f"{oracle[0]:.3f}", "oracle error": f"{oracle[1]:.3f}",
    }  # fmt: skip


def main() -> None:
    """Measure every law, and write what was found after each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", default="final", choices=("tuning", "final"))
    parser.add_argument("--rows", type=int, nargs="+", default=[300, 1000, 5000])
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--columns", type=int, default=COLUMNS)
    parser.add_argument("--out", type=Path, default=Path("out/efficient.csv"))
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    lines: list[dict[str, object]] = []
    for rows in asked.rows:
        for name, (kind, law) in laws_of(asked.half).items():
            spread = statistic_of(law).of_spread and not law.levels
            if not spread or law.columns > min(asked.columns, COLUMNS):
                continue
            lines.append(line_of(name, kind, law, rows, asked.trials))
            print(*lines[-1].values(), sep="\t", flush=True)
            with asked.out.open("w", newline="") as file:
                table = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
                table.writeheader()
                table.writerows(lines)
    for rows in asked.rows:
        for kind in ("line", "curve"):
            for column in ("over minimiser", "over oracle"):
                found = [
                    float(str(each[column]))
                    for each in lines
                    if each["statistic is a"] == kind and each["rows"] == rows
                ]
                logs = np.log([each for each in found if np.isfinite(each)])
                print(f"{kind}, {rows} rows, {column}: {np.exp(logs.mean()):.3f}, "
                      f"worst {np.exp(logs.max()):.3f}, {logs.size} laws")  # fmt: skip


if __name__ == "__main__":
    main()
