"""Defaults against the oracle, the paper's samplers and every baseline, on a broad set of laws.

    python -m benchmarks.quality [--trials 50] [--rows 1000] [--out DIR]
                                 [--set variance ucb8 ucb2 minvar wide]

Medians over trials of the mean squared error to the truth, all methods on the same rows; ratios
are taken in one run.  Writes ``quality_SET.json`` and ``quality_SET.txt`` to the directory.
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

from benchmarks.quality_laws import Law, line_laws, positions, variance_laws, wide_laws
from multiobs import MultiObservationRegressor, baselines, samplers, statistics


def statistic_of(law: Law) -> statistics.Statistic:
    if law.statistic.startswith("ucb"):
        return statistics.ucb(float(law.statistic.removeprefix("ucb")))
    return statistics.minvar(4) if law.statistic == "minvar" else statistics.variance()


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
    if law.statistic != "minvar":
        out["residual, spline"] = baselines.ResidualRegressor(what)
        if law.columns > 1:
            out["residual, boosting"] = baselines.ResidualRegressor(what, boosting())
        out["two moments, splines"] = baselines.TwoMomentRegressor(what, estimator=splines())
        out["two moments, boosting"] = baselines.TwoMomentRegressor(what, estimator=boosting())
    out["local nearest, projected"] = baselines.LocalPlugInRegressor(
        what, "nearest", projection=line
    )
    if law.columns > 1:
        out["local forest, projected"] = baselines.LocalPlugInRegressor(
            what, "forest", projection=line, random_state=0
        )
    return out


def one_trial(law: Law, rows: int, trial: int) -> dict[str, float]:
    rng = np.random.default_rng([trial, rows])
    X, y = law.sample(rows, rng)
    grid = positions(law.position, 2000, law.columns, np.random.default_rng(99))
    truth = law.truth(grid)
    errors = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, model in methods(law).items():
            errors[name] = float(np.mean((model.fit(X, y).predict(grid) - truth) ** 2))
    if law.statistic == "variance":
        oracle = LinearRegression().fit(X, (y - law.mean(X)) ** 2)
        errors["oracle"] = float(np.mean((oracle.predict(grid) - truth) ** 2))
    return errors


def table(results: dict[str, dict[str, float]]) -> str:
    """Medians relative to the default, with the geometric mean and the worst below."""
    names = sorted({name for row in results.values() for name in row})
    names.remove("default")
    width = max(len(law) for law in results)
    lines = [f"{'law':{width}}  default  " + "  ".join(names)]
    ratios: dict[str, list[float]] = {name: [] for name in names}
    for law, row in results.items():
        cells = []
        for name in names:
            if name not in row:
                cells.append(f"{'':>{len(name)}}")
                continue
            ratio = row["default"] / row[name]
            ratios[name].append(ratio)
            cells.append(f"{ratio:>{len(name)}.2f}")
        lines.append(f"{law:{width}}  {row['default']:7.4f}  " + "  ".join(cells))
    for label, fold in (("geometric mean", lambda v: np.exp(np.mean(np.log(v)))), ("worst", max)):
        cells = [
            f"{fold(ratios[name]):>{len(name)}.2f}" if ratios[name] else f"{'':>{len(name)}}"
            for name in names
        ]
        lines.append(f"{label:{width}}  {'':7}  " + "  ".join(cells))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=50)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("out/quality"))
    parser.add_argument("--set", nargs="*", default=["variance", "ucb8", "ucb2", "minvar", "wide"])
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in arguments.set:
        if name == "variance":
            laws = variance_laws()
        else:
            laws = wide_laws() if name == "wide" else line_laws(name)
        results: dict[str, dict[str, float]] = {}
        for law in laws:
            trials = Parallel(n_jobs=arguments.workers)(
                delayed(one_trial)(law, arguments.rows, trial) for trial in range(arguments.trials)
            )
            results[law.name] = {
                key: float(np.median([each[key] for each in trials])) for key in trials[0]
            }
            print(f"{law.name}: " + ", ".join(f"{k} {v:.4g}" for k, v in results[law.name].items()))
        title = (
            f"{name}: default's error / other's error, {arguments.trials} trials, "
            f"n = {arguments.rows}"
        )
        text = f"{title}\n{table(results)}\n"
        print("\n" + text, flush=True)
        (arguments.out / f"quality_{name}.txt").write_text(text)
        (arguments.out / f"quality_{name}.json").write_text(
            json.dumps(
                {"trials": arguments.trials, "rows": arguments.rows, "median": results}, indent=1
            )
        )


if __name__ == "__main__":
    main()
