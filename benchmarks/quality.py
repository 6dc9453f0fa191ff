"""Defaults against the oracle, the paper's samplers and every baseline, on a broad set of laws.

    python -m benchmarks.quality [--trials 50] [--rows 1000] [--out DIR]
                                 [--set variance ucb8 ucb2 minvar gini third wide tuning final]
                                 [--only "residual, spline" ...] [--again default ...]
                                 [--suffix _close]

Medians over trials of the mean squared error to the truth, all methods on the same rows; ratios
are taken in one run.  Beside each ratio of two medians stands its bootstrap standard error in per
cent of it: with 50 trials two equally good methods can differ by a fifth.  Writes
``quality_SET.csv`` and ``.txt`` to the directory.  Errors go to ``quality_SET.jsonl`` trial by
trial: a run resumes where the last one stopped, and ``--again`` names methods whose errors there
are of older code.  ``--only`` leaves out the other competitors, for many trials against close
ones.  "tuning" and "final" are the two halves of
:mod:`benchmarks.harder_laws`; the first was looked at while defaults were chosen, the second not.
"""

import argparse
import json
import warnings
from collections.abc import Container
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

from benchmarks.harder_laws import harder_laws
from benchmarks.peers import given, statistic_of
from benchmarks.quality_laws import (
    Law,
    line_laws,
    spread_laws,
    variance_laws,
    wide_laws,
)
from multiobs import MultiObservationRegressor, baselines, samplers

ORACLE = "oracle"  # knows the mean


def splines() -> object:
    return make_pipeline(SplineTransformer(n_knots=20), RidgeCV(np.logspace(-4, 2, 13)))


def boosting() -> object:
    return HistGradientBoostingRegressor(max_iter=100, random_state=0)


def methods(law: Law) -> dict[str, object]:
    """Competitors that can estimate the law's statistic."""
    what = statistic_of(law)
    line = LinearRegression()
    out: dict[str, object] = {"default": MultiObservationRegressor(what, random_state=0)}
    if law.columns == 1:
        out["paper nearby"] = MultiObservationRegressor(
            what, samplers.Nearby("paper"), transport=None
        )
        out["paper sliding"] = MultiObservationRegressor(what, "sliding", transport=None)
    if law.statistic == "variance" or law.statistic.startswith("ucb"):
        out["residual, spline"] = baselines.ResidualRegressor(what)
        if law.columns > 1:
            out["residual, boosting"] = baselines.ResidualRegressor(what, boosting())
        out["two moments, splines"] = baselines.TwoMomentRegressor(what, estimator=splines())
        out["two moments, boosting"] = baselines.TwoMomentRegressor(what, estimator=boosting())
    out["local nearest, projected"] = baselines.LocalPlugInRegressor(
        what, "nearest", projection=line
    )
    if law.columns > 1:
        # half squared differences of the nearest rows: Gasser's estimator in several columns
        out["differences"] = MultiObservationRegressor(what, samplers.Nearest(4), transport=None)
        out["local forest, projected"] = baselines.LocalPlugInRegressor(
            what, "forest", projection=line, random_state=0
        )
    if law.statistic == "variance":
        out[ORACLE] = LinearRegression()
    return out


def one_trial(
    law: Law, rows: int, trial: int, only: Container[str] | None = None
) -> dict[str, float]:
    """Mean squared error of every method (or of some) in one data set."""
    rng = np.random.default_rng([trial, rows])
    X, y = law.sample(rows, rng)
    grid = law.place(2000, np.random.default_rng(99))
    if law.levels:  # nothing is known about a level that nobody has seen
        grid = grid[np.isin(grid[:, -1], X[:, -1])]
    truth = law.truth(grid)
    wanted = {name: model for name, model in methods(law).items() if only is None or name in only}
    errors = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, model in wanted.items():
            labels = (y - law.mean(X)) ** 2 if name == ORACLE else y
            found = model.fit(given(law, X, model), labels).predict(given(law, grid, model))
            errors[name] = float(np.mean((found - truth) ** 2))
    return errors


Trials = dict[str, list[float]]  # errors of each method, trial by trial


def uncertainty(ours: list[float], theirs: list[float]) -> float:
    """Bootstrap standard error of the log of a ratio of medians of paired trials."""
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, len(ours), size=(400, len(ours)))
    ratio = np.median(np.array(ours)[drawn], axis=1) / np.median(np.array(theirs)[drawn], axis=1)
    return float(np.std(np.log(ratio)))


def table(results: dict[str, Trials]) -> str:
    """Medians relative to the default, with the geometric mean and the worst below."""
    names = sorted({name for row in results.values() for name in row})
    names.remove("default")
    width = max(len(law) for law in results)
    lines = [f"{'law':{width}}  default  " + "  ".join(f"{name:>11}" for name in names)]
    ratios: dict[str, list[float]] = {name: [] for name in names}
    errors: dict[str, list[float]] = {name: [] for name in names}
    for law, row in results.items():
        cells = []
        for name in names:
            size = max(len(name), 11)
            if name not in row:
                cells.append(f"{'':>{size}}")
                continue
            ratio = float(np.median(row["default"]) / np.median(row[name]))
            ratios[name].append(ratio)
            errors[name].append(uncertainty(row["default"], row[name]))
            cells.append(f"{f'{ratio:.2f} ±{100 * errors[name][-1]:3.0f}%':>{size}}")
        lines.append(f"{law:{width}}  {np.median(row['default']):7.4f}  " + "  ".join(cells))
    summary = {
        "geometric mean": lambda name: (
            f"{np.exp(np.mean(np.log(ratios[name]))):.2f} "
            f"±{100 * np.sqrt(np.mean(np.square(errors[name])) / len(errors[name])):3.0f}%"
        ),
        "worst": lambda name: f"{max(ratios[name]):.2f}      ",
    }
    for label, fold in summary.items():
        cells = [f"{fold(name):>{max(len(name), 11)}}" for name in names]
        lines.append(f"{label:{width}}  {'':7}  " + "  ".join(cells))
    return "\n".join(line.rstrip() for line in lines)


def comma_separated(results: dict[str, Trials], rows: int) -> str:
    """One line a law and method: mean and median error, and the default's median relative to it."""
    lines = ["law,rows,method,trials,mean,median,default_over_it,error_of_log"]
    for law, row in results.items():
        ours = row["default"]
        for name, errors in row.items():
            ratio = np.median(ours) / np.median(errors)
            numbers = (np.mean(errors), np.median(errors), ratio, uncertainty(ours, errors))
            cells = ",".join(f"{each:.4g}" for each in numbers)
            lines.append(f'"{law}",{rows},"{name}",{len(errors)},{cells}')
    return "\n".join(lines) + "\n"


def laws_of(name: str) -> list[Law]:
    if name in ("tuning", "final"):
        return harder_laws(name)
    if name == "variance":
        return variance_laws()
    if name == "wide":
        return wide_laws()
    return spread_laws(name) if name in ("gini", "third") else line_laws(name)


def completed(place: Path, name: str, asked: argparse.Namespace) -> dict[str, Trials]:
    """Errors of every method on the laws of a set: those kept at a place, and the missing ones."""
    kept: dict[tuple[str, int, int], dict[str, float]] = {}
    for line in place.read_text().splitlines() if place.exists() else []:
        each = json.loads(line)  # of two lines about one error the later holds
        kept.setdefault((each["law"], each["rows"], each["trial"]), {}).update(each["errors"])
    results: dict[str, Trials] = {}
    for law in laws_of(name):
        names = [
            each
            for each in methods(law)
            if asked.only is None or each in ("default", ORACLE, *asked.only)
        ]
        keys = [(law.name, asked.rows, trial) for trial in range(asked.trials)]
        missing = [
            {each for each in names if each in asked.again or each not in kept.get(key, {})}
            for key in keys
        ]
        with Parallel(n_jobs=asked.workers, return_as="generator") as pool:
            wanted = [(key, some) for key, some in zip(keys, missing, strict=True) if some]
            found = pool(delayed(one_trial)(law, *key[1:], some) for key, some in wanted)
            for (key, _), errors in zip(wanted, found, strict=True):
                record = dict(zip(("law", "rows", "trial"), key, strict=True))
                with place.open("a") as file:
                    file.write(json.dumps({**record, "errors": errors}) + "\n")
                kept.setdefault(key, {}).update(errors)
        results[law.name] = {each: [kept[key][each] for key in keys] for each in names}
        medians = (f"{k} {np.median(v):.4g}" for k, v in results[law.name].items())
        print(f"{law.name}: " + ", ".join(medians), flush=True)
    return results


def main() -> None:
    sets = ["variance", "ucb8", "ucb2", "minvar", "gini", "third", "wide", "tuning", "final"]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=50)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("out/quality"))
    parser.add_argument("--set", nargs="*", default=sets, choices=sets)
    parser.add_argument("--only", nargs="*", help="competitors; all by default")
    parser.add_argument("--again", nargs="*", default=[], help="methods to run even if kept")
    parser.add_argument("--suffix", default="", help="of the files' names")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    for name in asked.set:
        stem = f"quality_{name}{asked.suffix}"
        results = completed(asked.out / f"{stem}.jsonl", name, asked)
        title = f"{name}: default's error / other's error, {asked.trials} trials, n = {asked.rows}"
        text = f"{title}\n{table(results)}\n"
        print("\n" + text, flush=True)
        (asked.out / f"{stem}.txt").write_text(text)
        (asked.out / f"{stem}.csv").write_text(comma_separated(results, asked.rows))


if __name__ == "__main__":
    main()
