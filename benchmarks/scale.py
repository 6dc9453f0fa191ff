"""Fits of files larger than memory: seconds and memory against DuckDB's sort of the same file.

Run with ``python -m benchmarks.scale [rows [task ...]]``; default 1e6 rows and all tasks.  Every
figure is of one run, one process for each contender, and the ratio is what counts.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

CHUNK = 1 << 20  # rows made at once


def make(path: Path, rows: int) -> None:
    """Write x and y to a Parquet file, in random order of x."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    schema = pa.schema([("x", pa.float64()), ("y", pa.float64())])
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for first in range(0, rows, CHUNK):
            x = rng.random(min(CHUNK, rows - first))
            y = np.sin(6 * x) + rng.normal(size=x.size) * (1 + x)
            writer.write_table(pa.table({"x": x, "y": y}))


def fitted(path: str, folder: str, errors: bool, engine: str = "local") -> None:
    from multiobs.scale import fit

    fit(path, "x", "y", errors=errors, scratch=folder, memory="1GB", engine=engine, n_jobs=2)


def sorted_by_duckdb(path: str, folder: str) -> None:
    import duckdb

    with duckdb.connect() as connection:
        connection.sql("SET memory_limit='1GB'")
        connection.sql("SET threads=2")
        connection.sql(f"SET temp_directory='{folder}'")
        out = Path(folder) / "sorted.parquet"
        connection.sql(f"COPY (SELECT * FROM '{path}' ORDER BY x) TO '{out}' (FORMAT parquet)")


TASKS = {
    "fit": lambda path, folder: fitted(path, folder, errors=False),
    "fit with errors": lambda path, folder: fitted(path, folder, errors=True),
    "fit on Dask": lambda path, folder: fitted(path, folder, errors=False, engine="dask"),
    "DuckDB ORDER BY": sorted_by_duckdb,
}


def measure(task: str, path: Path, folder: Path) -> dict[str, float]:
    """Seconds, CPU seconds and peak memory in GB of one task in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.scale", "--task", task, str(path), str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def run(task: str, path: str, folder: str) -> None:
    start = time.perf_counter()
    TASKS[task](path, folder)
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(
        json.dumps(
            {
                "seconds": time.perf_counter() - start,
                "cpu": sum(each.ru_utime + each.ru_stime for each in used),
                "gigabytes": max(each.ru_maxrss for each in used) / 1e6,
            }
        )
    )


def main(rows: int, tasks: list[str]) -> None:
    from multiobs._tables import aligned

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "rows.parquet"
        make(path, rows)
        found = {task: measure(task, path, folder) for task in tasks}
    base = found[tasks[-1]]["cpu"]
    lines = [["task", "seconds", "CPU s", "peak GB", f"CPU / {tasks[-1]}"]]
    for task, each in found.items():
        numbers = each["seconds"], each["cpu"], each["gigabytes"], each["cpu"] / base
        lines.append([task, *(f"{number:.3g}" for number in numbers)])
    print(f"{rows:.3g} rows, 1 GB, 2 threads or workers")
    print("\n".join(aligned(lines)))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--task"]:
        run(*sys.argv[2:5])
    else:
        main(int(float([*sys.argv, "1e6"][1])), sys.argv[2:] or list(TASKS))
