"""Defaults and ``estimator="auto"`` against the best of many peers, on laws fixed before tuning.

    python -m benchmarks.contest [--half final] [--rows 300 1000 5000] [--trials 12]
                                 [--laws NAME ...] [--dear N] [--paper] [--seconds S] [--out DIR]

Laws of :mod:`benchmarks.harder_laws` (the statistic is a line) and :mod:`benchmarks.curve_laws` (it
is a curve); "final" ones were looked at for the table only.  Peers are those of
:mod:`benchmarks.peers`: NGBoost and quantile-forest run where they are installed (``make
.venv-studies/.stamp``), mgcv where ``Rscript`` finds it.  After the first trials a peer with more
than twice the error of the best is dropped on that law; NGBoost and ``gaulss``, which take longer
than all others together, have ``--dear`` trials on each law.  ``--paper`` sets the default against
the oracle and the paper's samplers alone, in one column and in files of its own (``paper_HALF``):
many quick trials.

Errors go to ``contest_HALF.jsonl`` trial by trial, and a run resumes where the last one stopped;
``--seconds`` of CPU time begin no further law.  ``contest_HALF.csv`` holds the ratios of mean
and of median errors, with the standard error of the log of the former, ``contest_HALF.txt`` the
limits.  Trials so far are summed up by ``--trials 0``.
"""

import argparse
import json
import time
import warnings
from pathlib import Path
from zlib import crc32

import numpy as np
from sklearn.linear_model import LinearRegression

from benchmarks.curve_laws import curve_laws
from benchmarks.harder_laws import harder_laws
from benchmarks.peers import given, mgcv, peers_of, statistic_of
from benchmarks.quality_laws import Law
from multiobs import MultiObservationRegressor

FIRST = 3  # trials of all peers
BEHIND = 2.0  # times the error of the best peer: no further trials
DEAR = 12_000  # rows times columns from which gaulss takes minutes
OURS = ("default", "auto")
SLOW = {"NGBoost", "mgcv, gaulss"}
PAPER = ("paper nearby", "paper sliding")
Errors = dict[str, list[float]]


def laws_of(half: str) -> dict[str, tuple[str, Law]]:
    """Kind and law of each name."""
    found = {law.name: ("line", law) for law in harder_laws(half)}
    return {**found, **{law.name: ("curve", law) for law in curve_laws(half)}}


def sample(law: Law, rows: int, trial: int) -> tuple[np.ndarray, np.ndarray]:
    own = crc32(law.name.encode())  # or all laws would share one noise
    return law.sample(rows, np.random.default_rng([trial, rows, own]))


def grid_of(law: Law, X: np.ndarray) -> np.ndarray:
    """Where errors are taken; nothing is known about a level that nobody has seen."""
    grid = law.place(1000, np.random.default_rng(99))
    return grid[np.isin(grid[:, -1], X[:, -1])] if law.levels else grid


def one_trial(law: Law, rows: int, trial: int, left_out: set[str]) -> dict[str, float]:
    """Mean squared errors of ours and of the peers in one data set; mgcv is not among them."""
    X, y = sample(law, rows, trial)
    grid = grid_of(law, X)
    truth, what = law.truth(grid), statistic_of(law)
    errors = {}
    for name, estimator in zip(OURS, (None, "auto"), strict=True):
        if name in left_out:
            continue
        model = MultiObservationRegressor(what, estimator=estimator, random_state=0)
        found = model.fit(given(law, X, model), y).predict(given(law, grid, model))
        errors[name] = float(np.mean((found - truth) ** 2))
    for name, peer in peers_of(law).items():
        if name not in left_out:
            found = peer(law, given(law, X, None), y, given(law, grid, None))
            errors[name] = float(np.mean((found - truth) ** 2))
    if law.statistic == "variance":
        line = LinearRegression().fit(given(law, X, None), (y - law.mean(X)) ** 2)
        found = line.predict(given(law, grid, None))
        errors["oracle, line"] = float(np.mean((found - truth) ** 2))
    return errors


def by_mgcv(law: Law, rows: int, trials: list[int], left_out: set[str]) -> list[dict[str, float]]:
    """Mean squared errors of mgcv's ways and of the smooth oracle."""
    data = [sample(law, rows, trial) for trial in trials]
    if law.levels:  # a level that one data set lacks would be missing from its grid
        found = [_errors(law, [each], rows, left_out) for each in data]
        return [each[0] for each in found]
    return _errors(law, data, rows, left_out)


def _errors(
    law: Law, data: list[tuple[np.ndarray, np.ndarray]], rows: int, left_out: set[str]
) -> list[dict[str, float]]:
    both = "mgcv, gaulss" not in left_out and rows * law.columns <= DEAR
    grid = grid_of(law, data[0][0])
    truth = law.truth(grid)
    found = mgcv(law, data, grid, both)
    return [
        {name: float(np.mean((each[t] - truth) ** 2)) for name, each in found.items()}
        for t in range(len(data))
    ]


def behind(errors: Errors) -> set[str]:
    """Peers that need no further trials."""
    peers = {name: float(np.mean(each)) for name, each in errors.items() if is_peer(name)}
    best = np.nanmin([*peers.values(), np.inf])
    return {
        name for name, error in peers.items() if not error <= BEHIND * best and name not in PAPER
    }


def is_peer(name: str) -> bool:
    return name not in OURS and not name.startswith("oracle")


def ratio(ours: list[float], theirs: list[float]) -> tuple[float, float, float]:
    """Ratio of the mean errors of the common trials, the error of its log, ratio of medians."""
    a, b = np.array(ours[: len(theirs)]), np.array(theirs)
    a, b = a[np.isfinite(b)], b[np.isfinite(b)]
    if b.size == 0:
        return np.nan, np.nan, np.nan
    drift = a / a.mean() - b / b.mean()
    error = float(drift.std(ddof=1) / np.sqrt(a.size)) if a.size > 1 else np.nan
    return float(a.mean() / b.mean()), error, float(np.median(a) / np.median(b))


def lines_of(kept: list[dict], half: str) -> list[dict[str, object]]:
    """One line a law, a number of rows and one of ours."""
    laws, out = laws_of(half), []
    table: dict[tuple[str, int], Errors] = {}
    for each in kept:
        row = table.setdefault((each["law"], each["rows"]), {})
        for name, error in each["errors"].items():
            row.setdefault(name, []).append(error)
    for (name, rows), row in table.items():
        kind, law = laws[name]
        oracle = "oracle, line" if kind == "line" else "oracle, smooth"
        for ours in (each for each in OURS if each in row):
            peers = {p: ratio(row[ours], row[p]) for p in row if is_peer(p)}
            best = max(peers, key=lambda p: np.nan_to_num(peers[p][0]))
            papers = [peers[p] for p in PAPER if p in peers]
            paper = max(papers, default=(np.nan,) * 3)
            known = ratio(row[ours], row[oracle]) if oracle in row else (np.nan,) * 3
            out.append({
                "law": name, "kind": kind, "statistic": law.statistic, "columns": law.columns,
                "rows": rows, "trials": len(row[ours]), "ours": ours,
                "mean": np.mean(row[ours]), "best peer": best,
                "over peer": peers[best][0], "error": peers[best][1], "medians": peers[best][2],
                "over oracle": known[0], "oracle error": known[1], "oracle medians": known[2],
                "over paper": paper[0], "paper error": paper[1],
            })  # fmt: skip
    return out


def summary(lines: list[dict[str, object]]) -> str:
    """Geometric means and worst ratios of what was measured, against the limits."""

    def told(what: str, chosen: list[dict[str, object]], key: str, error: str, limit: str) -> str:
        usable = [each for each in chosen if np.isfinite(each[key])]
        if not usable:
            return ""  # nothing measured
        value = np.array([each[key] for each in usable], dtype=float)
        se = np.array([each[error] for each in usable], dtype=float)
        whole = np.sqrt(np.nansum(se**2)) / len(usable)
        at = usable[int(np.argmax(value))]
        return (
            f"{what:44} geometric mean {np.exp(np.log(value).mean()):.2f} ±{100 * whole:.0f}%, "
            f"worst {value.max():.2f} ±{100 * at[error]:.0f}% ({at['law']}, n = {at['rows']}), "
            f"{len(usable)} cells; {limit}"
        )

    out = []
    for kind in ("line", "curve", "all"):
        for ours in OURS:
            mine = [e for e in lines if e["ours"] == ours and kind in (e["kind"], "all")]
            few = [each for each in mine if each["columns"] == 1]
            more = [each for each in mine if each["columns"] > 1]
            name = f"{ours}, {'all laws' if kind == 'all' else kind + 's'}"
            worst = "worst 1.4"
            out += [
                told(f"{name} / best peer", mine, "over peer", "error", "limits 0.9, worst 1.15"),
                told(f"{name} / oracle, one column", few, "over oracle", "oracle error",
                     f"limits 1.05, {worst}"),
                told(f"{name} / oracle, more columns", more, "over oracle", "oracle error",
                     f"limits 1.2, {worst}"),
                told(f"{name} / better of the paper's", mine, "over paper", "paper error",
                     "worst 1.3"),
            ]  # fmt: skip
    return "\n".join(filter(None, out)) + "\n"


def shown(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else f'"{value}"'


def write(out: Path, name: str, half: str, kept: list[dict]) -> None:
    lines = lines_of(kept, half)
    head = ",".join(lines[0])
    rows = [",".join(shown(cell) for cell in each.values()) for each in lines]
    (out / f"{name}_{half}.csv").write_text("\n".join([head, *rows]) + "\n")
    (out / f"{name}_{half}.txt").write_text(summary(lines))


def main() -> None:
    """Run what is missing, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", choices=("tuning", "final"), default="final")
    parser.add_argument("--rows", type=int, nargs="+", default=[300, 1000, 5000])
    parser.add_argument("--trials", type=int, default=12)
    parser.add_argument("--laws", nargs="*")
    parser.add_argument("--dear", type=int, default=FIRST, help="trials of NGBoost and gaulss")
    parser.add_argument("--paper", action="store_true", help="no other peers, and no auto")
    parser.add_argument("--seconds", type=float, default=np.inf)
    parser.add_argument("--out", type=Path, default=Path("out/quality"))
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    title = "paper" if asked.paper else "contest"
    place = asked.out / f"{title}_{asked.half}.jsonl"
    kept = [json.loads(line) for line in place.read_text().splitlines()] if place.exists() else []
    warnings.simplefilter("ignore")
    for rows in asked.rows:
        for name, (_, law) in laws_of(asked.half).items():
            if asked.laws and name not in asked.laws:
                continue
            if asked.paper and law.columns > 1:  # the paper's samplers are of one column
                continue
            own = [each for each in kept if each["law"] == name and each["rows"] == rows]
            for stage in (FIRST, asked.trials):
                if time.process_time() > asked.seconds or len(own) >= min(stage, asked.trials):
                    continue
                trials = list(range(len(own), min(stage, asked.trials)))
                seen: Errors = {}
                for each in own[:FIRST]:
                    for key, error in each["errors"].items():
                        seen.setdefault(key, []).append(error)
                left_out = behind(seen) if len(own) >= FIRST else set()
                left_out |= SLOW if len(own) >= asked.dear else set()
                left_out |= (
                    {"auto", "mgcv, Gamma-log", *SLOW, *peers_of(law)} - {*PAPER}
                    if asked.paper
                    else set()
                )
                found = [one_trial(law, rows, trial, left_out) for trial in trials]
                oracle = law.statistic == "variance" and name in CURVES[asked.half]
                oracle = oracle and not asked.paper
                mine = {"mgcv, gaulss", "mgcv, Gamma-log"} - left_out
                extra = by_mgcv(law, rows, trials, left_out) if oracle or mine else []
                for at, trial in enumerate(trials):
                    errors = {**found[at], **(extra[at] if extra else {})}
                    record = {"law": name, "rows": rows, "trial": trial, "errors": errors}
                    own.append(record)
                    kept.append(record)
                    with place.open("a") as file:
                        file.write(json.dumps(record) + "\n")
                print(f"{name}, n = {rows}: {len(own)} trials", flush=True)
    write(asked.out, title, asked.half, kept)
    print((asked.out / f"{title}_{asked.half}.txt").read_text())


CURVES = {half: {law.name for law in curve_laws(half)} for half in ("tuning", "final")}

if __name__ == "__main__":
    main()
