"""Fits of files larger than memory against DuckDB's sort, and leaves against reading and a forest.

``python -m benchmarks.scale --out out/scale --rows 1e7`` makes the data once, runs every task in a
process of its own and keeps what was measured in ``scale.json``: a second call does only what is
missing.  Seconds on a busy machine mean little; ratios of CPU seconds of one run are what counts.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, final

import numpy as np

from multiobs.scale import Threads, fit

CHUNK = 1 << 20  # rows made at once
COLUMNS = tuple(f"x{c}" for c in range(10))
MEMORY = "1GB"


def make(path: Path, rows: int, columns: tuple[str, ...]) -> None:
    """Write x and y to a Parquet file, in random order of x."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from multiobs._files import beside

    rng = np.random.default_rng(0)
    schema = pa.schema([(name, pa.float64()) for name in (*columns, "y")])
    options = dict(compression="none", use_dictionary=False)
    with beside(path) as temporary, pq.ParquetWriter(temporary, schema, **options) as writer:
        for first in range(0, rows, CHUNK):
            X = rng.random((min(CHUNK, rows - first), len(columns)))
            spread = 1 + X[:, -1]
            y = np.sin(6 * X[:, 0]) + rng.normal(size=X.shape[0]) * spread
            values = {name: X[:, c] for c, name in enumerate(columns)} | {"y": y}
            writer.write_table(pa.table(values, schema=schema))


@final
class Watched:
    """Two threads that keep count of the CPU seconds of every stage of a plan."""

    def __init__(self) -> None:
        self.inner, self.stages = Threads(2), {}

    def map(self, function: Any, items: Any) -> Iterator[Any]:
        before = time.process_time()
        yield from self.inner.map(function, items)
        inside = getattr(function, "computed", function)  # a pass over ranges, or over leaves
        name = type(getattr(inside, "function", inside)).__name__
        name = getattr(function, "__name__", name)
        self.stages[name] = self.stages.get(name, 0.0) + time.process_time() - before


def fitted(path: str, folder: str, *, errors: bool) -> dict[str, float]:
    """One column: sorted runs and ranges."""
    watched = Watched()
    fit(path, "x", "y", errors=errors, scratch=folder, memory=MEMORY, engine=watched)
    return watched.stages


def fitted_by_dask(path: str, folder: str) -> None:
    """The same on two workers of a gigabyte each."""
    from distributed import Client, LocalCluster

    options = dict(n_workers=2, threads_per_worker=1, memory_limit=MEMORY, dashboard_address=None)
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        fit(
            path, "x", "y", errors=False, scratch=folder, memory=MEMORY, engine="dask",
            client=client,
        )  # fmt: skip


def leaves(path: str, folder: str, *, errors: bool) -> dict[str, float]:
    """Ten columns: leaves of a forest."""
    watched = Watched()
    fit(path, COLUMNS, "y", errors=errors, scratch=folder, memory=MEMORY, engine=watched)
    return watched.stages


def read_and_predict(path: str, folder: str) -> None:
    """Read the file and find each row's leaves in a forest like the fit's own."""
    from concurrent.futures import ThreadPoolExecutor

    import pyarrow.parquet as pq

    from multiobs.auto import TREES, grown, tree_targets

    file = pq.ParquetFile(path)

    def table(group: int) -> tuple[np.ndarray, np.ndarray]:
        found = pq.ParquetFile(path).read_row_group(group)
        X = np.stack([found[name].to_numpy() for name in COLUMNS], axis=1)
        return X, found["y"].to_numpy()

    X, y = table(0)
    targets = tree_targets(y[:262_144])
    rows = file.metadata.num_rows
    forest = grown(X[:262_144], targets, 2, rows // 2, TREES // 2, 0)

    def applied(group: int) -> int:
        part = table(group)[0]
        return int(sum(forest.apply(part[i : i + (1 << 15)]).shape[0]
                       for i in range(0, part.shape[0], 1 << 15)))  # fmt: skip

    with ThreadPoolExecutor(2) as pool:
        assert sum(pool.map(applied, range(file.num_row_groups))) == rows


def sorted_by_duckdb(path: str, folder: str) -> None:
    import duckdb

    with duckdb.connect() as connection:
        connection.sql(f"SET memory_limit='{MEMORY}'")
        connection.sql("SET threads=2")
        connection.sql(f"SET temp_directory='{folder}'")
        out = Path(folder) / "sorted.parquet"
        connection.sql(f"COPY (SELECT * FROM '{path}' ORDER BY x) TO '{out}' (FORMAT parquet)")
        out.unlink()


Task = Callable[[str, str], dict[str, float] | None]
ONE: dict[str, Task] = {
    "fit": lambda path, folder: fitted(path, folder, errors=False),
    "fit with errors": lambda path, folder: fitted(path, folder, errors=True),
    "fit on Dask": fitted_by_dask,
    "DuckDB ORDER BY": sorted_by_duckdb,
}
TEN: dict[str, Task] = {
    "leaves": lambda path, folder: leaves(path, folder, errors=False),
    "leaves with errors": lambda path, folder: leaves(path, folder, errors=True),
    "read and predict": read_and_predict,
}
BASE = {**dict.fromkeys(ONE, "DuckDB ORDER BY"), **dict.fromkeys(TEN, "read and predict")}


def run(task: str, path: str, folder: str) -> None:
    """Do one task and print what it took: one line of JSON."""
    start, sent = time.perf_counter(), _sent()
    stages = {**ONE, **TEN}[task](path, folder)
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    used = [resource.getrusage(each) for each in who]
    moved = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    found = {
        "seconds": time.perf_counter() - start,
        "cpu": sum(each.ru_utime + each.ru_stime for each in used),
        "gigabytes": max(each.ru_maxrss for each in used) / 1e6,
        "read": int(moved["rchar"]) / 1e9,
        "written": int(moved["wchar"]) / 1e9,
        "sent": (_sent() - sent) / 1e9,
        "load": os.getloadavg()[0],
        "stages": stages or {},
    }
    print(json.dumps(found))


def _sent() -> int:
    """Bytes over the loopback device, by whomever."""
    for line in Path("/proc/net/dev").read_text().splitlines():
        if line.strip().startswith("lo:"):
            return int(line.split(":")[1].split()[8])
    return 0


def measured(out: Path, rows: int, tasks: list[str], keep: bool) -> dict[str, dict[str, Any]]:
    """What each task took, from this run or an earlier one."""
    store = out / "scale.json"
    known = json.loads(store.read_text()) if store.exists() else {}
    here: dict[str, dict[str, Any]] = known.setdefault(str(rows), {})
    for task in tasks:
        if task in here:
            continue
        columns = ("x",) if task in ONE else COLUMNS
        path = out / f"rows-{rows}-{len(columns)}.parquet"
        if not path.exists():
            make(path, rows, columns)
        scratch = out / "scratch"
        scratch.mkdir(exist_ok=True)
        command = [sys.executable, "-m", "benchmarks.scale", "--task", task, path, scratch]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        here[task] = json.loads(done.stdout.splitlines()[-1])
        store.write_text(json.dumps(known, indent=1))
        shutil.rmtree(scratch)
        print(f"{rows:.3g} rows, {task}: {here[task]}", file=sys.stderr, flush=True)
    if not keep:
        for path in out.glob(f"rows-{rows}-*.parquet"):
            path.unlink()
    return here


def table(rows: int, found: dict[str, dict[str, Any]]) -> str:
    """What was measured, with the ratio to the contender of the same run."""
    from multiobs._tables import aligned

    lines = [["task", "seconds", "CPU s", "peak GB", "read GB", "written GB", "load", "CPU ratio"]]
    for task, each in found.items():
        numbers = [each[k] for k in ("seconds", "cpu", "gigabytes", "read", "written", "load")]
        base = found.get(BASE[task])
        ratio = f"{each['cpu'] / base['cpu']:.2f}" if base else ""
        lines.append([task, *(f"{number:.3g}" for number in numbers), ratio])
    return "\n".join([f"{rows:.3g} rows, {MEMORY}, 2 threads or workers", *aligned(lines)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/scale"))
    parser.add_argument("--rows", type=float, nargs="+", default=[1e6])
    parser.add_argument("--tasks", nargs="+", default=[*ONE, *TEN], choices=[*ONE, *TEN])
    parser.add_argument("--keep", action="store_true", help="keep the data")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for rows in map(int, given.rows):
        print(table(rows, measured(given.out.resolve(), rows, given.tasks, given.keep)))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--task"]:
        run(*sys.argv[2:5])
    else:
        main()
