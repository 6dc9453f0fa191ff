"""Smooth classes against R's mgcv and GCV splines of plug-ins, on curves of several shapes.

``python -m benchmarks.smooth --laws final --trials 20 --rows 300 1000 --out out/smooth`` writes one
line for each fit to ``errors.csv`` and goes on where an earlier run stopped; ``table.csv`` has the
ratio of mean squared errors to the anchor with its standard error, ``digest.csv`` their geometric
mean over laws, whose error comes from resampled trials: all laws share the rows and noise of one.

The anchor is, for the variance, the better on each law of mgcv's two ways (Debian's r-cran-mgcv,
where ``Rscript`` is found): ``gaulss()``, and a REML Gamma-log smooth of squared residuals, both
with ``select=TRUE`` in several columns; for other statistics the best on each law of the plug-ins
of :mod:`benchmarks.smooth_peers`.
"""

import argparse
import csv
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from benchmarks.smooth_laws import LAWS, STATISTICS, Law
from benchmarks.smooth_peers import PLUG_INS, mgcv, plug_in
from multiobs import MultiObservationRegressor
from multiobs._types import FloatArray

FIELDS = ("laws", "law", "labels", "rows", "statistic", "method", "trial", "error")
SEED = {"tuning": 9000, "harder": 8000, "mixed": 6000, "final": 7000}  # of the first data set

RESAMPLED = 400

Key = tuple[str, ...]


def sample(laws: str, law: Law, n: int, trial: int) -> tuple[FloatArray, FloatArray]:
    """Draw a data set, the same for all methods."""
    return law.sample(n, np.random.default_rng(SEED[laws.removesuffix("-wide")] + trial))


def smooth(statistic: str, X: FloatArray, y: FloatArray, at: FloatArray) -> FloatArray:
    """Fit and predict, (q,)."""
    model = MultiObservationRegressor(statistic, features="smooth", random_state=0)
    return model.fit(X, y).predict(at)


def missing(known: dict[Key, float], key: Key, trials: int) -> list[int]:
    """Trials of a law and method that have not been run."""
    return [t for t in range(trials) if (*key, str(t)) not in known]


def read(path: Path) -> dict[Key, float]:
    """Errors known so far."""
    if not path.exists():
        return {}
    with path.open() as file:
        rows = list(csv.reader(file))
    return {tuple(row[:-1]): float(row[-1]) for row in rows[1:]}


def append(path: Path, key: Key, errors: Iterable[tuple[int, float]]) -> None:
    """Write some errors and close the file: a run may be cut short at any time."""
    fresh = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if fresh:
            writer.writerow(FIELDS)
        writer.writerows([*key, str(t), f"{error:.6g}"] for t, error in errors)


def run(laws: str, n: int, statistic: str, trials: int, peers: bool, path: Path) -> None:
    """Run what is missing of one statistic and number of rows."""
    known = read(path)
    for law in LAWS[laws]:
        truth, at = law.truth(statistic), law.grid

        def key(method: str, law: Law = law) -> Key:
            return laws, law.name, law.labels, str(n), statistic, method

        def error(found: FloatArray, truth: FloatArray = truth) -> float:
            return float(np.mean((found - truth) ** 2))

        for t in missing(known, key("smooth"), trials):
            X, y = sample(laws, law, n, t)
            append(path, key("smooth"), [(t, error(smooth(statistic, X, y, at)))])
        if not peers:
            continue
        for name in PLUG_INS if law.columns == 1 else ():
            left = missing(known, key(name), trials)
            data = [sample(laws, law, n, t) for t in left]
            found = [error(plug_in(name, statistic, X, y, at)) for X, y in data]
            append(path, key(name), zip(left, found, strict=True))
        if statistic == "variance":
            left = missing(known, key("gaulss"), trials)
            both = mgcv([sample(laws, law, n, t) for t in left], at) if left else None
            for name, values in (both or {}).items():
                append(path, key(name), zip(left, map(error, values), strict=True))


def table(known: dict[Key, float]) -> list[dict[str, str]]:
    """Mean errors, the anchor and the ratio to it, with the standard error of the ratio."""
    found: dict[Key, dict[str, dict[str, float]]] = {}
    for (*law, method, trial), error in known.items():
        found.setdefault(tuple(law), {}).setdefault(method, {})[trial] = error
    out = []
    for law, methods in found.items():
        named = ("gaulss", "gamma-log") if law[-1] == "variance" else PLUG_INS
        peers = [name for name in named if name in methods]
        ours = methods.get("smooth", {})
        trials = [t for t in ours if all(t in methods[name] for name in peers)]
        if not peers or len(trials) < 2:
            continue
        each = {name: np.array([methods[name][t] for t in trials]) for name in peers}
        best = min(peers, key=lambda name, each=each: float(np.mean(each[name])))
        mine, anchor = np.array([ours[t] for t in trials]), each[best]
        ratio = float(mine.mean() / anchor.mean())
        off = (mine - ratio * anchor) / anchor.mean()
        row = dict(zip(FIELDS, law, strict=False))
        row |= {
            "trials": str(len(trials)),
            "smooth": f"{mine.mean():.5f}",
            "anchor": f"{anchor.mean():.5f}",
            "which": best,
            "ratio": f"{ratio:.3f}",
            "error": f"{off.std(ddof=1) / np.sqrt(len(trials)):.3f}",
        }
        out.append(row)
    return out


def digest(known: dict[Key, float], rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """Geometric mean over laws, its bootstrap error, and the worst law, for each size."""
    out = []
    draws = np.random.default_rng(0).integers(0, 2**31, size=(RESAMPLED, 1000))
    for laws, n, statistic in dict.fromkeys((r["laws"], r["rows"], r["statistic"]) for r in rows):
        chosen = [
            r for r in rows if (r["laws"], r["rows"], r["statistic"]) == (laws, n, statistic)
        ]  # fmt: skip
        trials = min(int(r["trials"]) for r in chosen)
        logs = np.zeros(RESAMPLED)
        for r in chosen:
            key = laws, r["law"], r["labels"], n, statistic
            ours, anchor = (
                np.array([known[(*key, method, str(t))] for t in range(trials)])
                for method in ("smooth", r["which"])
            )
            at = draws[:, :trials] % trials
            logs += np.log(ours[at].mean(axis=1) / anchor[at].mean(axis=1)) / len(chosen)
        worst = max(chosen, key=lambda r: float(r["ratio"]))
        mean = np.exp(np.mean([np.log(float(r["ratio"])) for r in chosen]))
        out.append({
            "statistic": statistic, "rows": n, "laws": str(len(chosen)), "data sets": str(trials),
            "geometric mean": f"{mean:.2f}", "error": f"{mean * logs.std():.2f}",
            "worst": worst["ratio"], "its error": worst["error"],
            "at": f"{worst['law']}, {worst['labels']}",
        })  # fmt: skip
    return out


def save(path: Path, rows: list[dict[str, str]]) -> None:
    """Write a table."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]) if rows else FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main() -> None:
    """Run what is missing and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--laws", choices=list(LAWS), default="final")
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--rows", type=int, nargs="+", default=[300, 1000, 5000])
    parser.add_argument("--statistics", nargs="+", default=list(STATISTICS))
    parser.add_argument("--no-peers", action="store_true", help="the smooth class alone")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    path = given.out / "errors.csv"
    for statistic in given.statistics:
        for n in given.rows:
            run(given.laws, n, statistic, given.trials, not given.no_peers, path)
    known = read(path)
    rows = table(known)
    save(given.out / "table.csv", rows)
    save(given.out / "digest.csv", digest(known, rows))


if __name__ == "__main__":
    main()
