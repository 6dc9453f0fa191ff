"""Defaults against the oracle, the paper's samplers and every baseline, on a broad set of laws.

    python -m benchmarks.quality [--trials 50] [--rows 1000] [--out DIR]
                                 [--set variance ucb8 ucb2 minvar gini third wide tuning final]
                                 [--only "residual, spline" ...] [--suffix _close]

Medians over trials of the mean squared error to the truth, all methods on the same rows; ratios
are taken in one run.  Beside each ratio of two medians stands its bootstrap standard error in per
cent of it: with 50 trials two equally good methods can differ by a fifth.  Writes
``quality_SET.json``, ``.csv`` and ``.txt`` to the directory.  ``--only`` leaves out the other
competitors, for many trials against close ones.  "tuning" and "final" are the two halves of
:mod:`benchmarks.harder_laws`; the first was looked at while defaults were chosen, the second not.
"""

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

from benchmarks.harder_laws import harder_laws
from benchmarks.quality_laws import (
    Law,
    line_laws,
    spread_laws,
    variance_laws,
    wide_laws,
)
from multiobs import MultiObservationRegressor, baselines, samplers, statistics


def statistic_of(law: Law) -> statistics.Statistic:
    if law.statistic.startswith("ucb"):
        return statistics.ucb(float(law.statistic.removeprefix("ucb")))
    return {
        "minvar": statistics.minvar(4),
        "gini": statistics.gini_mean_difference(),
        "third": statistics.central_moment(3),
        "variance": statistics.variance(),
    }[law.statistic]


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
    return out


def given(law: Law, X: np.ndarray, model: object) -> object:
    """Return what a method is given: a category as such for ours, as indicators for the others."""
    if not law.levels:
        return X
    if isinstance(model, MultiObservationRegressor):
        from pandas import DataFrame

        names = [f"level {int(code):02d}" for code in X[:, -1]]
        return DataFrame({"x": X[:, 0], "category": names})
    return np.column_stack([X[:, :-1], X[:, -1:] == np.arange(1, law.levels)])


def one_trial(
    law: Law, rows: int, trial: int, only: tuple[str, ...] | None = None
) -> dict[str, float]:
    """Mean squared error of every method (or of some) in one data set."""
    rng = np.random.default_rng([trial, rows])
    X, y = law.sample(rows, rng)
    grid = law.place(2000, np.random.default_rng(99))
    if law.levels:  # nothing is known about a level that nobody has seen
        grid = grid[np.isin(grid[:, -1], X[:, -1])]
    truth = law.truth(grid)
    errors = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, model in methods(law).items():
            if only is not None and name not in only:
                continue
            found = model.fit(given(law, X, model), y).predict(given(law, grid, model))
            errors[name] = float(np.mean((found - truth) ** 2))
    if law.statistic == "variance":
        oracle = LinearRegression()
        oracle.fit(given(law, X, oracle), (y - law.mean(X)) ** 2)
        found = oracle.predict(given(law, grid, oracle))
        errors["oracle"] = float(np.mean((found - truth) ** 2))
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


def main() -> None:
    sets = ["variance", "ucb8", "ucb2", "minvar", "gini", "third", "wide", "tuning", "final"]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=50)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("out/quality"))
    parser.add_argument("--set", nargs="*", default=sets, choices=sets)
    parser.add_argument("--only", nargs="*", help="competitors; all by default")
    parser.add_argument("--suffix", default="", help="of the files' names")
    arguments = parser.parse_args()
    only = None if arguments.only is None else ("default", *arguments.only)
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in arguments.set:
        stem = f"quality_{name}{arguments.suffix}"
        results: dict[str, Trials] = {}
        for law in laws_of(name):
            trials = Parallel(n_jobs=arguments.workers)(
                delayed(one_trial)(law, arguments.rows, trial, only)
                for trial in range(arguments.trials)
            )
            results[law.name] = {key: [each[key] for each in trials] for key in trials[0]}
            medians = (f"{k} {np.median(v):.4g}" for k, v in results[law.name].items())
            print(f"{law.name}: " + ", ".join(medians), flush=True)
        title = (
            f"{name}: default's error / other's error, {arguments.trials} trials, "
            f"n = {arguments.rows}"
        )
        text = f"{title}\n{table(results)}\n"
        print("\n" + text, flush=True)
        (arguments.out / f"{stem}.txt").write_text(text)
        (arguments.out / f"{stem}.csv").write_text(comma_separated(results, arguments.rows))
        rounded = {
            law: {key: [float(f"{v:.4g}") for v in values] for key, values in row.items()}
            for law, row in results.items()
        }
        (arguments.out / f"{stem}.json").write_text(
            json.dumps(
                {"trials": arguments.trials, "rows": arguments.rows, "errors": rounded}, indent=1
            )
        )


if __name__ == "__main__":
    main()
