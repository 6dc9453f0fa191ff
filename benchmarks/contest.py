"""Defaults and ``estimator="auto"`` against the best of many peers, on laws fixed before tuning.

    python -m benchmarks.contest [--half final] [--rows 300 1000 5000] [--trials 200]
                                 [--error 0.05] [--laws NAME ...] [--dear N] [--by-kind] [--paper]
                                 [--seconds S] [--out DIR]

Laws of :mod:`benchmarks.harder_laws` (the statistic is a line) and :mod:`benchmarks.curve_laws` (it
is a curve); "final" ones were looked at for the table only.  Peers are those of
:mod:`benchmarks.peers`: NGBoost and quantile-forest run where they are installed (``make
.venv-studies/.stamp``), mgcv where ``Rscript`` finds it.  A law has trials until the standard
errors of its ratios (to the best peer, the oracle and the better of the paper's) are below
``--error``, at most ``--trials``.  A peer with more than twice the error of the best is dropped on
that law; NGBoost and ``gaulss``, which take longer than all others, have ``--dear`` trials.
``--by-kind`` fits the default where the statistic is a line and ``estimator="auto"`` where it is a
curve, instead of both everywhere.  ``--paper`` sets the default against the oracle and the paper's
samplers alone, in one column and in files of its own (``paper_HALF``): many quick trials.

Errors go to ``contest_HALF.jsonl`` batch by batch, and a run resumes where the last one stopped;
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
BATCH = 9  # further trials, after each of which errors are looked at
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


def is_peer(name: str) -> bool:
    return name not in OURS and not name.startswith("oracle")


def over_best(errors: Errors) -> dict[str, float]:
    """Error of each peer over that of the best, on the trials that both have.

    A peer that was dropped, or is too dear, has fewer trials than the others, and these may be
    easy ones: it is compared with the best of those that have them all.
    """
    peers = {name: np.array(each) for name, each in errors.items() if is_peer(name)}
    most = max((each.size for each in peers.values()), default=0)
    whole = {p: each.mean() for p, each in peers.items() if each.size == most}
    known = {p: mean for p, mean in whole.items() if np.isfinite(mean)}
    if not known:
        return {}
    best = peers[min(known, key=lambda p: known[p])]
    over = {p: float(np.mean(e) / np.mean(best[: e.size])) for p, e in peers.items()}
    least = min(each for each in over.values() if np.isfinite(each))
    return {p: each / least for p, each in over.items()}


def behind(errors: Errors) -> set[str]:
    """Peers that need no further trials."""
    return {p for p, over in over_best(errors).items() if not over <= BEHIND and p not in PAPER}


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
            over = over_best(row)
            best = min(over, key=lambda p: over[p] if np.isfinite(over[p]) else np.inf)
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
    by_kind = {"line": "default", "curve": "auto"}
    for kind in ("line", "curve", "all"):
        for ours in (*OURS, *(["default or auto"] if kind == "all" else [])):
            mine = [
                each for each in lines if kind in (each["kind"], "all")
                and each["ours"] in (ours, by_kind[each["kind"]] if "or" in ours else "")
            ]  # fmt: skip
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


def precise(own: list[dict], half: str, error: float) -> bool:
    """Whether the ratios of a law are known well enough."""
    keys = ("error", "oracle error", "paper error")
    errors = np.array([[each[key] for key in keys] for each in lines_of(own, half)], dtype=float)
    return bool(np.all(np.isnan(errors) | (errors < error)))


def left_out_of(law: Law, kind: str, own: list[dict], asked: argparse.Namespace) -> set[str]:
    """Methods that have no further trials."""
    if asked.paper:
        return {"auto", "mgcv, Gamma-log", *SLOW, *peers_of(law)} - {*PAPER}
    seen: Errors = {}
    for each in own:
        for key, error in each["errors"].items():
            seen.setdefault(key, []).append(error)
    out = behind(seen) if len(own) >= FIRST else set()
    out |= {name for name in seen if name not in own[-1]["errors"]}
    out |= SLOW if len(own) >= asked.dear else set()
    return out | ({"auto" if kind == "line" else "default"} if asked.by_kind else set())


def more_trials(
    name: str, rows: int, own: list[dict], asked: argparse.Namespace
) -> list[dict[str, object]]:
    """Records of the next trials of a law; none when it has enough."""
    kind, law = laws_of(asked.half)[name]
    count = BATCH if len(own) >= FIRST else FIRST
    trials = list(range(len(own), min(len(own) + count, asked.trials)))
    if not trials or (len(own) > BATCH and precise(own, asked.half, asked.error)):
        return []
    left_out = left_out_of(law, kind, own, asked)
    found = [one_trial(law, rows, trial, left_out) for trial in trials]
    oracle = law.statistic == "variance" and kind == "curve" and not asked.paper
    mine = {"mgcv, gaulss", "mgcv, Gamma-log"} - left_out
    extra = by_mgcv(law, rows, trials, left_out) if oracle or mine else [{}] * len(trials)
    kept = [{k: e for k, e in each.items() if k not in left_out} for each in extra]
    return [
        {"law": name, "rows": rows, "trial": trial, "errors": {**ours, **theirs}}
        for trial, ours, theirs in zip(trials, found, kept, strict=True)
    ]


def main() -> None:
    """Run what is missing, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", choices=("tuning", "final"), default="final")
    parser.add_argument("--rows", type=int, nargs="+", default=[300, 1000, 5000])
    parser.add_argument("--trials", type=int, default=200, help="of a law, at most")
    parser.add_argument("--error", type=float, default=0.05, help="of a ratio that is enough")
    parser.add_argument("--laws", nargs="*")
    parser.add_argument("--dear", type=int, default=FIRST, help="trials of NGBoost and gaulss")
    parser.add_argument("--by-kind", action="store_true", help="default on lines, auto on curves")
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
            while time.process_time() < asked.seconds:
                found = more_trials(name, rows, own, asked)
                if not found:
                    break
                own += found
                kept += found
                with place.open("a") as file:
                    file.writelines(json.dumps(each) + "\n" for each in found)
            print(f"{name}, n = {rows}: {len(own)} trials", flush=True)
    write(asked.out, title, asked.half, kept)
    print((asked.out / f"{title}_{asked.half}.txt").read_text())


if __name__ == "__main__":
    main()
