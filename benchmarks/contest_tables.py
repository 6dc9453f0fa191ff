"""Tables of the contest: ratios of mean squared errors on common data sets, against the limits."""

from pathlib import Path

import numpy as np

from benchmarks.contest_laws import laws_of

OURS = ("default", "auto")
PAPER = ("paper nearby", "paper sliding")
BEHIND = 2.0  # times the error of the best peer: no further trials
MOST = 0.9  # share of the trials from which a peer can be the one that others are compared with
Record = dict[str, object]  # law, rows, trial, errors: a dict of methods
Errors = dict[str, np.ndarray]  # mean squared error in each trial, NaN where a method was not run


def errors_of(own: list[Record]) -> Errors:
    """Errors of one law and number of rows; a trial may have several records."""
    trials = 1 + max((each["trial"] for each in own), default=-1)
    found: Errors = {}
    for each in own:
        for name, error in each["errors"].items():
            found.setdefault(name, np.full(trials, np.nan))[each["trial"]] = error
    return found


def is_peer(name: str) -> bool:
    return name not in OURS and not name.startswith("oracle")


def over_best(errors: Errors) -> dict[str, float]:
    """Error of each peer over that of the best, on the trials that both have.

    A peer that was dropped, or is too dear, has fewer trials than the others, and these may be
    easy ones: it is compared with the best of those that have them all.
    """
    peers = {p: each for p, each in errors.items() if is_peer(p) and np.isfinite(each).any()}
    if not peers:
        return {}
    count = {p: np.isfinite(each).sum() for p, each in peers.items()}
    whole = [p for p in peers if count[p] >= MOST * max(count.values())]
    best = peers[min(whole, key=lambda p: np.nanmean(peers[p]))]
    over = {p: ratio(each, best)[0] for p, each in peers.items()}
    least = min((each for each in over.values() if np.isfinite(each)), default=np.nan)
    return {p: each / least for p, each in over.items()}


def behind(errors: Errors) -> set[str]:
    """Peers that need no further trials."""
    return {p for p, over in over_best(errors).items() if not over <= BEHIND and p not in PAPER}


def ratio(ours: np.ndarray, theirs: np.ndarray) -> tuple[float, float, float]:
    """Ratio of the mean errors of the common trials, the error of its log, ratio of medians."""
    common = np.isfinite(ours) & np.isfinite(theirs)
    a, b = ours[common], theirs[common]
    if a.size == 0:
        return np.nan, np.nan, np.nan
    drift = a / a.mean() - b / b.mean()
    error = float(drift.std(ddof=1) / np.sqrt(a.size)) if a.size > 1 else np.nan
    return float(a.mean() / b.mean()), error, float(np.median(a) / np.median(b))


def lines_of(kept: list[Record], half: str) -> list[dict[str, object]]:
    """One line a law, a number of rows and one of ours."""
    laws, out = laws_of(half), []
    cells: dict[tuple[str, int], list[Record]] = {}
    for each in kept:
        cells.setdefault((each["law"], each["rows"]), []).append(each)
    places = {name: at for at, name in enumerate(laws)}
    for name, rows in sorted(cells, key=lambda cell: (cell[1], places[cell[0]])):
        (kind, law), errors = laws[name], errors_of(cells[name, rows])
        oracle = "oracle, line" if kind == "line" else "oracle, smooth"
        over = over_best(errors)
        best = min(over, key=lambda p: over[p] if np.isfinite(over[p]) else np.inf)
        for ours in (each for each in OURS if each in errors):
            mine, nothing = errors[ours], (np.nan,) * 3
            peer = ratio(mine, errors[best])
            known = ratio(mine, errors[oracle]) if oracle in errors else nothing
            paper = max((ratio(mine, errors[p]) for p in PAPER if p in errors), default=nothing)
            out.append({
                "law": name, "kind": kind, "statistic": law.statistic, "columns": law.columns,
                "rows": rows, "trials": int(np.isfinite(mine).sum()), "ours": ours,
                "mean": np.nanmean(mine), "best peer": best,
                "over peer": peer[0], "error": peer[1], "medians": peer[2],
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


def write(out: Path, name: str, half: str, kept: list[Record]) -> None:
    """Write the table of all laws, and what it comes to."""
    lines = lines_of(kept, half)
    head = ",".join(lines[0])
    rows = [",".join(shown(cell) for cell in each.values()) for each in lines]
    (out / f"{name}_{half}.csv").write_text("\n".join([head, *rows]) + "\n")
    (out / f"{name}_{half}.txt").write_text(summary(lines))
