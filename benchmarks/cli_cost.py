"""A CSV of many rows from file to model to predictions, beside what pyarrow needs for the files.

``python -m benchmarks.cli_cost --rows 5000000`` makes the table, then takes in turn, each in a
process of its own: pyarrow reading the table twice and writing the table of predictions;
``multiobs fit``; ``multiobs predict``. Printed are CPU and wall seconds, the ratio of the time of
both commands to that of pyarrow (limit 3; of the wall seconds, too, which say something on a
machine that does nothing else), with ``--memory`` that of the largest memory to the
table (limit 4), and the CPU seconds of ``multiobs fit --help`` (limit 0.5).
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

LIMITS = {"time": 3.0, "wall": 3.0, "memory": 4.0, "help": 0.5}

READ_AND_WRITE = """
import sys
import numpy as np, pyarrow as pa, pyarrow.csv as pc
table = pc.read_csv(sys.argv[1])
pc.read_csv(sys.argv[1])  # once for fit, once for predict
print(table.nbytes)
values = pa.array(np.linspace(1, 2, table.num_rows))  # all digits, as predictions have
for name in ("a", "b", "c"):
    table = table.append_column(name, values)
pc.write_csv(table, sys.argv[2])
"""


def measured(*words: str) -> dict[str, float | str]:
    """CPU and wall seconds, peak memory in bytes and output of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    out, err = process.communicate()
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode:
        sys.exit(f"{' '.join(words)}: {err}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"cpu": cpu, "wall": wall, "out": out}


def peak(*words: str) -> float:
    """Largest resident memory of a command, in bytes."""
    program = (
        "import resource, subprocess, sys; "
        "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, check=True
    )
    return float(run.stdout) * 1024.0


def main() -> None:
    """Measure and say whether the limits hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--memory", action="store_true", help="also run each again for its memory")
    options = parser.parse_args()
    multiobs = [sys.executable, "-m", "multiobs"]
    with tempfile.TemporaryDirectory() as folder:
        data, model, out = (str(Path(folder) / name) for name in ("t.csv", "m.json", "p.csv"))
        make(data, options.rows)
        arrow = measured(sys.executable, "-c", READ_AND_WRITE, data, out)
        fit = [*multiobs, "fit", data, "--x", "x", "--y", "y", "-o", model]
        predict = [*multiobs, "predict", model, data, "-o", out]
        runs = {"pyarrow": arrow, "fit": measured(*fit), "predict": measured(*predict)}
        runs["help"] = measured(*multiobs, "fit", "--help")
        found: dict[str, object] = {"rows": options.rows, "bytes": os.path.getsize(data)}
        for name, run in runs.items():
            found[name] = {key: run[key] for key in ("cpu", "wall")}
            print(f"{name:8}  {run['cpu']:7.2f} CPU-s  {run['wall']:7.2f} s")
        ratios = {"help": float(runs["help"]["cpu"])}
        for name, kind in (("time", "cpu"), ("wall", "wall")):
            both = float(runs["fit"][kind]) + float(runs["predict"][kind])
            ratios[name] = both / float(arrow[kind])
        if options.memory:
            table = float(arrow["out"])
            ratios["memory"] = max(peak(*fit), peak(*predict)) / table
        found["ratios"] = ratios
        for name, value in ratios.items():
            verdict = "within" if value <= LIMITS[name] else "ABOVE"
            print(f"{name}: {value:.2f}, {verdict} the limit of {LIMITS[name]:g}")
    if options.out is not None:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(found, indent=1))


def make(path: str, rows: int) -> None:
    """Write a table of a number of rows."""
    import pyarrow as pa
    import pyarrow.csv as pc

    rng = np.random.default_rng(0)
    x = rng.uniform(0, 10, rows)
    y = np.sin(x) + (1 + x / 5) * rng.normal(size=rows)
    table = pa.table({"x": x.round(6), "y": y.round(6), "id": np.arange(rows)})
    pc.write_csv(table, path)


if __name__ == "__main__":
    main()
