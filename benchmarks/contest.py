"""Defaults and ``estimator="auto"`` against the best of many peers, on laws fixed before tuning.

    python -m benchmarks.contest [--half final] [--rows 300 1000 5000] [--trials 200]
                                 [--error 0.05] [--laws NAME ...] [--dear N] [--by-kind] [--paper]
                                 [--only METHOD ...] [--seconds S] [--out DIR]

Laws of :mod:`benchmarks.harder_laws` (the statistic is a line) and :mod:`benchmarks.curve_laws` (it
is a curve); "final" ones were looked at for the table only.  Peers are those of
:mod:`benchmarks.peers`: NGBoost and quantile-forest run where they are installed (``make
.venv-studies/.stamp``), mgcv where ``Rscript`` finds it.  A law has trials until the standard
errors of its ratios (to the best peer, the oracle and the better of the paper's) are below
``--error``, at most ``--trials``.  A peer with more than twice the error of the best is dropped on
that law; NGBoost and ``gaulss``, which take longer than all others, have ``--dear`` trials.
``--by-kind`` fits the default where the statistic is a line and ``estimator="auto"`` where it is a
curve, instead of both everywhere; ``--only auto`` fits it to the data sets that lack it, and so on
for any method.  ``--paper`` sets the default against the oracle and the paper's
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

import numpy as np
from sklearn.linear_model import LinearRegression

from benchmarks.contest_laws import grid_of, laws_of, sample
from benchmarks.contest_tables import OURS, PAPER, Record, behind, errors_of, lines_of, write
from benchmarks.peers import given, mgcv, peers_of, statistic_of
from benchmarks.quality_laws import Law
from multiobs import MultiObservationRegressor

FIRST = 3  # trials of all peers
BATCH = 9  # further trials, after each of which errors are looked at
DEAR = 12_000  # rows times columns from which gaulss takes minutes
SLOW = {"NGBoost", "mgcv, gaulss"}
BY_MGCV = {"mgcv, gaulss", "mgcv, Gamma-log", "oracle, smooth"}


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
    if law.statistic == "variance" and "oracle, line" not in left_out:
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


def precise(own: list[Record], half: str, error: float) -> bool:
    """Whether the ratios of a law are known well enough."""
    keys = ("error", "oracle error", "paper error")
    errors = np.array([[each[key] for key in keys] for each in lines_of(own, half)], dtype=float)
    return bool(np.all(np.isnan(errors) | (errors < error)))


def left_out_of(law: Law, kind: str, own: list[Record], asked: argparse.Namespace) -> set[str]:
    """Methods that have no further trials."""
    if asked.paper:
        return {"auto", *BY_MGCV, *SLOW, *peers_of(law)} - {*PAPER}
    seen = errors_of(own)
    out = behind(seen) if len(own) >= FIRST else set()
    last = max((each["trial"] for each in own), default=None)
    out |= {*seen} - {name for each in own if each["trial"] == last for name in each["errors"]}
    out |= SLOW if len(own) >= asked.dear else set()
    return out | ({"auto" if kind == "line" else "default"} if asked.by_kind else set())


def run(
    name: str, rows: int, trials: list[int], left_out: set[str], asked: argparse.Namespace
) -> list[Record]:
    """Fit what is not left out to some data sets of a law."""
    kind, law = laws_of(asked.half)[name]
    found = [one_trial(law, rows, trial, left_out) for trial in trials]
    smooth = {"oracle, smooth"} if law.statistic == "variance" and kind == "curve" else set()
    needed = ({"mgcv, gaulss", "mgcv, Gamma-log"} | smooth) - left_out
    extra = by_mgcv(law, rows, trials, left_out) if needed else [{}] * len(trials)
    nothing = dict.fromkeys(asked.only or (), np.nan)  # they cannot be run on some laws
    return [
        {"law": name, "rows": rows, "trial": trial, "errors":
         {k: e for k, e in {**nothing, **ours, **theirs}.items() if k not in left_out}}
        for trial, ours, theirs in zip(trials, found, extra, strict=True)
    ]  # fmt: skip


def more_trials(name: str, rows: int, own: list[Record], asked: argparse.Namespace) -> list[Record]:
    """Records of the next trials of a law; none when it has enough."""
    kind, law = laws_of(asked.half)[name]
    done = 1 + max((each["trial"] for each in own), default=-1)
    if asked.only:  # in the data sets that others were fitted to
        tried = {(each["trial"], method) for each in own for method in each["errors"]}
        lacking = [
            trial for trial in range(min(done, asked.trials))
            if any((trial, method) not in tried for method in asked.only)
        ][:BATCH]  # fmt: skip
        others = {*OURS, *peers_of(law), *BY_MGCV, "oracle, line"} - {*asked.only}
        return run(name, rows, lacking, others, asked) if lacking else []
    count = BATCH if done >= FIRST else FIRST
    trials = list(range(done, min(done + count, asked.trials)))
    if not trials or (done > BATCH and precise(own, asked.half, asked.error)):
        return []
    return run(name, rows, trials, left_out_of(law, kind, own, asked), asked)


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
    parser.add_argument("--only", nargs="*", help="methods that trials so far lack")
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
            print(f"{name}, n = {rows}: {len({e['trial'] for e in own})} trials", flush=True)
    write(asked.out, title, asked.half, kept)
    print((asked.out / f"{title}_{asked.half}.txt").read_text())


if __name__ == "__main__":
    main()
