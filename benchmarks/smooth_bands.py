"""Do the bands of the smooth class cover, and do tests of terms keep their size?

``python -m benchmarks.smooth_bands --laws final --trials 1000 --rows 300 2000 --out out/bands``
draws data sets until each law and statistic has that many and writes one line for each to
``bands.csv``: the share of x at which the nominal 95 % band holds the truth.  ``--tests`` adds a
column that does not matter to the part tested and writes the p-value of its term to ``tests.csv``.
Both go on where an earlier run stopped, law by law in turn; ``*_digest.csv`` are the tables.
"""

import argparse
import csv
import time
from pathlib import Path
from zlib import crc32

import numpy as np

from benchmarks.smooth_laws import LAWS, STATISTICS, Law
from multiobs import MultiObservationRegressor

FIELDS = ("laws", "law", "labels", "rows", "statistic", "trial", "value")

MEAN = "mean of "
TESTED = (*STATISTICS, MEAN + "ucb", MEAN + "minvar")

Key = tuple[str, ...]


def covered(law: Law, statistic: str, n: int, rng: np.random.Generator) -> float:
    """Share of x whose band holds the truth, in one data set."""
    X, y = law.sample(n, rng)
    model = MultiObservationRegressor(statistic, features="smooth", random_state=0).fit(X, y)
    low, high = model.predict_interval(law.grid).T
    truth = law.truth(statistic)
    return float(np.mean((low <= truth) & (truth <= high)))


def p_value(law: Law, statistic: str, n: int, rng: np.random.Generator) -> float:
    """Return the p-value, for the spread, of a column that moves the mean and nothing else.

    ``"mean of ..."`` is about the first part, the mean, and a column that moves nothing at all.
    """
    X, y = law.sample(n, rng)
    other = rng.uniform(size=n)
    name = statistic.removeprefix(MEAN)
    moved = y if name != statistic else y + np.cos(3 * other)
    model = MultiObservationRegressor(name, features="smooth", random_state=0)
    model.fit(np.column_stack([X, other]), moved)
    found = [t.p_value for t in model.summary().terms if t.name == "s(x1)"]
    return found[-1] if name == statistic else found[0]


def read(path: Path) -> dict[Key, float]:
    """What is known so far."""
    if not path.exists():
        return {}
    with path.open() as file:
        return {tuple(row[:-1]): float(row[-1]) for row in list(csv.reader(file))[1:]}


def digest(known: dict[Key, float], tests: bool) -> list[dict[str, str]]:
    """Coverage or size in per cent by law and over all laws, with standard errors."""
    cells: dict[Key, list[float]] = {}
    for (laws, law, labels, rows, statistic, _), value in known.items():
        for name in ((law, labels), ("all", "all")):
            cells.setdefault((laws, *name, rows, statistic), []).append(value)
    out = []
    for cell, values in cells.items():
        found = np.array(values) < 0.05 if tests else np.array(values)
        error = found.std(ddof=1) / np.sqrt(found.size) if found.size > 1 else np.nan
        row = dict(zip(FIELDS, cell, strict=False)) | {"data sets": str(found.size)}
        row |= {"per cent": f"{100 * found.mean():.1f}", "error": f"{100 * error:.1f}"}
        out.append(row)
    return out


def main() -> None:
    """Run what is missing and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--laws", choices=("tuning", "harder", "mixed", "final"), default="final")
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--rows", type=int, nargs="+", default=[300, 2000])
    parser.add_argument("--statistics", nargs="+", default=())
    parser.add_argument("--tests", action="store_true")
    parser.add_argument("--seconds", type=float, default=np.inf, help="stop after so much CPU time")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    name, measure = ("tests", p_value) if given.tests else ("bands", covered)
    path = given.out / f"{name}.csv"
    known = read(path)
    cells = [
        (law, n, statistic, trial)
        for trial in range(given.trials)
        for n in given.rows
        for statistic in given.statistics or (TESTED if given.tests else STATISTICS)
        for law in LAWS[given.laws]
    ]
    fresh = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if fresh:
            writer.writerow(FIELDS)
        for law, n, statistic, trial in cells:
            key = (given.laws, law.name, law.labels, str(n), statistic, str(trial))
            if key in known:
                continue
            if time.process_time() > given.seconds:
                break
            # every cell has rows of its own, so that errors over all laws are what they seem
            rng = np.random.default_rng([crc32(repr(key[:-1]).encode()), trial])
            known[key] = measure(law, statistic, n, rng)
            writer.writerow([*key, f"{known[key]:.4g}"])
            file.flush()  # a long run may be cut short
    rows = digest(known, given.tests)
    with (given.out / f"{name}_digest.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    main()
