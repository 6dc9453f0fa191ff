"""Do the intervals cover?  Simulated coverage of nominal 95 % intervals at three x.

``python -m benchmarks.coverage --n 300 2000 --trials 1000`` simulates every statistic, sampler and
law and writes ``coverage.json`` and ``coverage.csv`` after every batch of trials: coverage of
``predict_interval`` at x = 0.1, 0.5, 0.9, the same with standard errors that take metasamples as
independent, and the ratio of reported to true standard deviations.  It goes on where an earlier run
stopped.  ``--test-constant`` simulates size and power of ``test_constant`` instead.
"""

import argparse
import csv
import json
import os
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from joblib import Parallel, delayed

from benchmarks.coverage_laws import LAMBDA, LAWS, X_AT, FloatArray, K, draw
from multiobs import MultiObservationRegressor, samplers, statistics
from multiobs.samplers import Sampler
from multiobs.statistics import Statistic
from multiobs.transport import residuals

STATISTICS: dict[str, Statistic] = {
    "variance": statistics.variance(),
    "gini": statistics.gini_mean_difference(),
    "ucb": statistics.ucb(LAMBDA),
    "minvar": statistics.minvar(K),
}
SAMPLERS: dict[str, str | Sampler] = {
    "sliding": samplers.SlidingWindow(),
    "nearby-paper": samplers.Nearby("paper"),
    "nearby-auto": samplers.Nearby("auto"),
    "nearest": samplers.Nearest(),
    "auto": "auto",
}
# transport of the fit and bias= of the interval
TRANSPORTS: dict[str, tuple[str | None, str | None]] = {
    "auto": ("auto", None),
    "none": (None, None),
    "auto+undersmooth": ("auto", "undersmooth"),
    "none+undersmooth": (None, "undersmooth"),
}
BANDS = {300: (92.0, 98.0), 2000: (93.0, 97.0)}
COLUMNS = 6  # inside, inside by naive errors, estimate - truth, its square, error squared, df


@dataclass(frozen=True)
class Coverage:
    """Simulated coverage at three x."""

    interval: FloatArray
    naive: FloatArray
    error_ratio: FloatArray
    bias: FloatArray
    df: float
    trials: int


def summarise(sums: FloatArray, trials: int) -> Coverage:
    """From sums over trials, (3, 6), to coverage."""
    inside, naive, off, square, error, df = sums.T / trials
    true = np.sqrt(np.maximum(square - off**2, 1e-300))
    return Coverage(inside, naive, np.sqrt(error) / true, off / true, float(df[0]), trials)


@contextmanager
def shared_pilots() -> Iterator[None]:
    """Fit the pilot of a data set once: all samplers move its labels along the same one."""
    fit, known = residuals.fit_pilot, dict[bytes, Any]()

    def remembered(
        X: FloatArray, y: FloatArray, weight: FloatArray | None, *more: Any, **how: Any
    ) -> Any:
        if weight is not None or any(more) or any(how.values()):
            return fit(X, y, weight, *more, **how)
        key = X.tobytes() + y.tobytes()
        if key not in known:
            known.clear()
            known[key] = fit(X, y, weight)
        return known[key]

    with mock.patch.object(residuals, "fit_pilot", remembered):
        yield


def one(
    statistic: str, cells: Sequence[tuple[str, str]], law: str, n: int, trial: int
) -> FloatArray:
    """Simulate one data set for several (sampler, transport): (cells, 3, COLUMNS)."""
    data = draw(statistic, law, n, np.random.default_rng((n, trial)))
    out = np.empty((len(cells), X_AT.shape[0], COLUMNS))
    for k, (sampler, name) in enumerate(cells):
        carried, bias = TRANSPORTS[name]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some fits of a positive statistic cross zero
            model = MultiObservationRegressor(
                STATISTICS[statistic], SAMPLERS[sampler], transport=carried
            ).fit(data.X, data.y)
            limits = model.predict_interval(X_AT, bias=bias)
        known = model.inference_
        off, error = model.predict(X_AT) - data.truth, known.standard_errors(X_AT)
        z = known.fit.design.columns(X_AT)
        naive = np.sqrt(np.einsum("ia,ab,ib->i", z, known.covariance.naive, z))
        inside = (limits[:, 0] <= data.truth) & (data.truth <= limits[:, 1])
        by_naive = np.abs(off) <= 1.96 * naive * known.units.factor
        df = np.full(off.size, known.df)
        out[k] = np.stack([inside, by_naive, off, off**2, error**2, df], axis=1)
    return out


def run(
    statistic: str,
    cells: Sequence[tuple[str, str]],
    law: str,
    n: int,
    trials: Sequence[int],
) -> FloatArray:
    """Simulate data sets of a law: (trials, cells, 3, COLUMNS)."""
    with shared_pilots():
        return np.stack([one(statistic, cells, law, n, trial) for trial in trials])


def simulate(
    statistic: str,
    sampler: str,
    law: str,
    n: int,
    trials: int,
    transport: str = "auto",
) -> Coverage:
    """Simulate the coverage of nominal 95 % intervals in one cell."""
    found = run(statistic, [(sampler, transport)], law, n, range(trials))
    return summarise(found.sum(axis=0)[0], trials)


def rejections(
    slope: float,
    n: int,
    trials: int,
    seed: int = 0,
    level: float = 0.05,
    sampler: str = "auto",
    n_jobs: int = 1,
    transport: str = "auto",
) -> float:
    """How often ``test_constant`` rejects, variance c + slope · x around a sine mean."""

    def p_value(trial: int) -> float:
        rng = np.random.default_rng((seed, n, trial))
        x = rng.random(n)
        spread = np.sqrt(1.0 if slope == 0.0 else 0.5 + slope * x)
        y = np.sin(4 * np.pi * x) + spread * rng.standard_normal(n)
        model = MultiObservationRegressor(
            "variance", SAMPLERS[sampler], transport=TRANSPORTS[transport][0]
        )
        return model.fit(x[:, None], y).test_constant().p_value

    found = Parallel(n_jobs=n_jobs)(delayed(p_value)(trial) for trial in range(trials))
    return float(np.mean(np.array(found) < level))


def grid(given: argparse.Namespace) -> None:
    """Simulate all cells in batches, those with the fewest trials first."""
    path = given.out / "coverage.json"
    given.out.mkdir(parents=True, exist_ok=True)
    held: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    cells = [(s, t) for t in given.transports for s in given.samplers]
    groups = [(n, law, s) for n in given.n for law in given.laws for s in given.statistics]
    deadline = time.monotonic() + 60.0 * given.minutes
    for target in range(given.batch, given.trials + given.batch, given.batch):
        target = min(target, given.trials)
        for n, law, statistic in groups:
            keys = {f"{statistic} {s} {law} {n} {t}": (s, t) for s, t in cells}
            done = {key: held.get(key, {"trials": 0})["trials"] for key in keys}
            for start in sorted(set(done.values())):
                todo = [key for key, trials in done.items() if trials == start < target]
                if not todo or time.monotonic() > deadline:
                    continue
                parts = np.array_split(np.arange(start, target), given.jobs)
                work = (
                    delayed(run)(statistic, [keys[k] for k in todo], law, n, part.tolist())
                    for part in parts
                )
                found = np.concatenate(Parallel(n_jobs=given.jobs)(work))
                if given.raw is not None:
                    given.raw.mkdir(parents=True, exist_ok=True)
                    name = f"{statistic} {law} {n} {start}".replace("/", "_")
                    np.savez(given.raw / name, keys=np.array(todo), found=found)
                for key, sums in zip(todo, found.sum(axis=0), strict=True):
                    before = np.array(held[key]["sums"]) if start else 0.0
                    held[key] = {"trials": target, "sums": (before + sums).tolist()}
            write(path, lambda stream: json.dump(held, stream, indent=0))
            write(given.out / "coverage.csv", lambda stream: table(held, stream))
            write(given.out / "coverage_digest.csv", lambda stream: digest(held, stream))
    print((given.out / "coverage.csv").read_text())


def write(path: Path, save: Callable[[Any], None]) -> None:
    """Write a file whole or not at all."""
    part = path.with_name(path.name + ".part")
    with part.open("w", newline="") as stream:
        save(stream)
    os.replace(part, path)


def table(held: dict[str, Any], stream: Any) -> None:
    """Write one line for each cell; an asterisk marks coverage outside its band by 2 errors."""
    rows = csv.writer(stream, lineterminator="\n")
    head = ["statistic", "sampler", "law", "n", "transport", "trials"]
    rows.writerow([*head, "interval", "naive", "reported / true", "bias / sd", "df", "outside"])
    order = [list(STATISTICS), list(SAMPLERS)]
    parsed = sorted(
        (key.split() for key in held),
        key=lambda k: (int(k[3]), k[4], order[0].index(k[0]), order[1].index(k[1]), k[2]),
    )
    for key in parsed:
        cell = held[" ".join(key)]
        found = summarise(np.array(cell["sums"]), cell["trials"])
        low, high = BANDS.get(int(key[3]), (0.0, 100.0))
        noise = 200.0 * np.sqrt(0.05 * 0.95 / cell["trials"])
        share = 100.0 * found.interval
        outside = np.any(share < low - noise) or np.any(share > high + noise)
        rows.writerow(
            [
                *key,
                cell["trials"],
                percent(found.interval),
                percent(found.naive),
                " ".join(f"{value:.2f}" for value in found.error_ratio),
                " ".join(f"{value:.2f}" for value in found.bias),
                f"{found.df:.0f}",
                "*" if outside else "",
            ]
        )


def digest(held: dict[str, Any], stream: Any) -> None:
    """Write one line for each statistic and sampler, pooled over the laws."""
    rows = csv.writer(stream, lineterminator="\n")
    head = ["n", "transport", "statistic", "sampler", "laws", "trials", "x = 0.1, 0.5, 0.9"]
    rows.writerow([*head, "lowest", "highest", "naive", "reported / true"])
    pooled: dict[tuple[str, ...], list[tuple[FloatArray, int]]] = {}
    for key, cell in held.items():
        statistic, sampler, _, n, carried = key.split()
        found = pooled.setdefault((n, carried, statistic, sampler), [])
        found.append((np.array(cell["sums"]), cell["trials"]))
    order = [list(STATISTICS), list(SAMPLERS)]
    for key in sorted(
        pooled, key=lambda k: (int(k[0]), k[1], order[0].index(k[2]), order[1].index(k[3]))
    ):
        parts = [summarise(sums, trials) for sums, trials in pooled[key]]
        weights = [part.trials for part in parts]
        each = np.array([part.interval for part in parts])
        naive = np.average([part.naive.mean() for part in parts], weights=weights)
        ratio = np.array([part.error_ratio for part in parts])
        rows.writerow(
            [
                *key,
                len(parts),
                sum(weights),
                percent(np.average(each, axis=0, weights=weights)),
                f"{100 * each.min():.1f}",
                f"{100 * each.max():.1f}",
                f"{100 * naive:.1f}",
                f"{np.average(ratio.mean(axis=1), weights=weights):.2f}",
            ]
        )


def percent(values: FloatArray) -> str:
    return " ".join(f"{100 * value:.1f}" for value in values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, nargs="+", default=[300, 2000])
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=100, help="trials between two writes")
    parser.add_argument("--minutes", type=float, default=1e9, help="start no batch after this")
    parser.add_argument("--statistics", nargs="+", default=list(STATISTICS))
    parser.add_argument("--samplers", nargs="+", default=list(SAMPLERS))
    parser.add_argument("--laws", nargs="+", default=list(LAWS))
    parser.add_argument("--transports", nargs="+", default=["auto"], choices=list(TRANSPORTS))
    parser.add_argument("--test-constant", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("out/coverage"))
    parser.add_argument("--raw", type=Path, help="also keep every trial in this directory")
    given = parser.parse_args()
    if not given.test_constant:
        grid(given)
        return
    lines: list[list[Any]] = []
    for sampler in given.samplers:
        for carried in given.transports:
            for n in given.n:
                how = {"sampler": sampler, "n_jobs": given.jobs, "transport": carried}
                few = max(given.trials // 4, 1)
                size, power = (
                    rejections(0.0, n, given.trials, **how),
                    rejections(1.0, n, few, **how),
                )
                line = [sampler, carried, n, given.trials, f"{100 * size:.1f}"]
                lines.append([*line, few, f"{100 * power:.1f}"])
                print(*lines[-1], flush=True)
    head = ["sampler", "transport", "n", "trials", "size %", "trials", "power %"]
    given.out.mkdir(parents=True, exist_ok=True)
    write(
        given.out / "test_constant.csv",
        lambda stream: csv.writer(stream, lineterminator="\n").writerows([head, *lines]),
    )


if __name__ == "__main__":
    main()
