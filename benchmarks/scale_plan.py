"""What fits by parts of more rows than one machine holds would take, from measured costs.

``python -m benchmarks.scale_plan --measured out/scale/scale.json --out docs/_static/performance``
fits a model to what :mod:`benchmarks.scale` measured, measures what depends on the number of parts
(looking for rows in sorted runs, a task of Dask), simulates plans for 10¹⁰ to 10¹² rows on 100 to
1000 workers, and writes the tables of the docs.  What no measurement here can tell, how fast shared
storage is and how often workers die, is assumed: see :class:`Assumed`.
"""

import argparse
import csv
import heapq
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil, log2
from pathlib import Path
from typing import Any, final

import numpy as np

from multiobs.samplers import Reach
from multiobs.scale.budget import AT_ONCE, bytes_of, rows_at_once
from multiobs.scale.fitting import SAMPLE
from multiobs.scale.ranges import cut, load
from multiobs.scale.runs import PAGE, Layout, Run

ROW = 16  # bytes of x and y
PER_RANGE = 16  # rows of the sample for each range, so that none is much larger than the others
MEMORY = ("1GB", "4GB", "16GB", "64GB")
Measured = dict[str, dict[str, dict[str, Any]]]


@final
@dataclass(frozen=True)
class Assumed:
    """What the machines of a cluster are like.

    Attributes
    ----------
    bandwidth : float
        Bytes a second between a worker and the shared storage.
    latency : float
        Seconds of a read of one page there.
    deaths : float
        Of a worker, an hour.
    restart : float
        Seconds until another worker takes its place.
    """

    bandwidth: float = 200e6
    latency: float = 1e-3
    deaths: float = 1e-3
    restart: float = 60.0


@final
@dataclass(frozen=True)
class Costs:
    """Coefficients of the model, CPU seconds and bytes of this machine.

    Attributes
    ----------
    fixed : float
        Seconds of the driver, whatever the number of rows: imports, and choices on the sample.
    sort, risk, scores : float
        Seconds a row of the three stages.
    read, written : float
        Bytes a row of a fit with standard errors.
    page : float
        Seconds to look at one page of a run.
    task, sent : float
        Seconds of the scheduler, and bytes over the network, for a task.
    """

    fixed: float
    sort: float
    risk: float
    scores: float
    read: float
    written: float
    page: float
    task: float
    sent: float


def slope(measured: Measured, task: str, what: str) -> tuple[float, float]:
    """Cost of no rows, and of one more, by least squares with equal relative errors."""
    points = [(float(n), each[task][what]) for n, each in measured.items() if task in each]
    n, cost = np.array(points).T
    design = np.stack([1 / cost, n / cost], axis=1)
    fixed, each = np.linalg.lstsq(design, np.ones(n.size), rcond=None)[0]
    return float(fixed), float(each)


def model(measured: Measured, overhead: dict[str, float]) -> Costs:
    """Coefficients from what was measured."""
    fixed, each = slope(measured, "fit", "cpu")
    full = slope(measured, "fit with errors", "cpu")[1]
    stages = [found["fit"].get("stages") for found in measured.values() if "fit" in found]
    sort, risk = (
        np.array([[s["sort_part"], s["RiskOfRange"]] for s in stages if s]).sum(axis=0).tolist()
    )
    share = sort / (sort + risk)
    at, dask = max((float(n), f["fit on Dask"]) for n, f in measured.items() if "fit on Dask" in f)
    tasks = 2 * ceil(at / rows_at_once(bytes_of("1GB"), 2))
    sample = 1.1 * SAMPLE * (ROW + 8)
    return Costs(
        fixed, each * share, each * (1 - share), full - each,
        slope(measured, "fit with errors", "read")[1] * 1e9,
        slope(measured, "fit with errors", "written")[1] * 1e9,
        overhead["page"], overhead["task"], max(dask["sent"] * 1e9 - sample, 0.0) / tasks,
    )  # fmt: skip


def overheads() -> dict[str, float]:
    """Seconds to look at a page of a run, and of a Dask task that does nothing."""
    from distributed import Client

    rng, rows, runs = np.random.default_rng(0), 1 << 16, 64
    with tempfile.TemporaryDirectory() as folder:
        held = []
        for i in range(runs):
            x = np.sort(rng.random(rows))
            path = Path(folder) / f"{i}.f64"
            path.write_bytes(np.concatenate([x, x]).tobytes())
            held.append(Run(path, rows, Layout(False, 1, False)))
        ranges = cut(np.zeros(4096), np.linspace(0, 1, 4096), 2048)[1000:1030]
        before = time.process_time()
        for each in ranges:
            load(held, each, Reach(rows=1), 1, 1)
        page = (time.process_time() - before) / (len(ranges) * runs * pages(rows))
    with Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as c:
        c.gather(c.map(abs, range(100)))
        before = time.process_time()
        c.gather(c.map(abs, range(1000, 3000)))
        task = (time.process_time() - before) / 2000
    return {"page": page, "task": task}


def pages(rows: float) -> float:
    """Pages of a run in which the two ends of a range are looked for."""
    return 2 * max(log2(max(rows / PAGE, 2)), 1)


@final
@dataclass(frozen=True)
class Plan:
    """A simulated fit with standard errors; hours are those of the clock, bytes of all workers."""

    rows: float
    workers: int
    memory: str
    parts: int
    sample: int
    hours: float
    cpu_hours: float
    read: float
    written: float
    sent: float
    repeated: int

    def cells(self) -> list[str]:
        return [
            f"{self.rows:.0e}", f"{self.workers}", self.memory, f"{self.parts:,}",
            f"{self.sample:,}", f"{self.hours:.2g}", f"{self.cpu_hours:,.0f}",
            f"{self.read / 1e12:.3g}", f"{self.written / 1e12:.3g}", f"{self.sent / 1e9:.2g}",
            f"{self.repeated}",
        ]  # fmt: skip


HEAD = [
    "rows", "workers", "memory of a worker", "runs and ranges", "sample", "hours", "CPU hours",
    "TB read", "TB written", "GB sent", "parts repeated",
]  # fmt: skip


def simulated(
    costs: Costs, rows: float, workers: int, memory: str, assumed: Assumed | None = None
) -> Plan:
    """Run the plan's tasks on workers that die at random, one stage after the other.

    Parameters
    ----------
    costs : Costs
        Measured.
    rows : float
        How many.
    workers : int
        Of one thread each.
    memory : str
        Of a worker, which has one part at a time.
    assumed : Assumed, optional
        What the cluster is like.
    """
    assumed = assumed or Assumed()
    rng = np.random.default_rng(0)
    most = rows_at_once(AT_ONCE * bytes_of(memory), 2)
    parts = ceil(rows / most)
    sample = max(SAMPLE, PER_RANGE * parts)
    uneven = rng.gamma(sample / parts, parts / sample, parts)  # ranges end at rows of the sample
    even = np.full(parts, min(1.0, rows / parts / most))
    seek = parts * pages(rows / parts) * (costs.page + assumed.latency)
    through = 2 * ROW / assumed.bandwidth
    clock, work, repeated = costs.fixed, costs.fixed, 0
    for cpu, moved, size, fixed in (
        (costs.sort, through, even, 0.0),
        (costs.risk, through / 2, uneven, seek),
        (costs.scores, through / 2, uneven, seek),
    ):
        seconds = size * (rows / parts) * (cpu + moved) + fixed
        took, again = stage(seconds, workers, assumed, rng)
        clock += max(took, parts * costs.task)  # the scheduler hands out one task after the other
        work += cpu * rows + parts * parts * pages(rows / parts) * costs.page * (fixed > 0)
        repeated += again
    return Plan(
        rows, workers, memory, parts, sample, clock / 3600, work / 3600, costs.read * rows,
        costs.written * rows, 3 * parts * costs.sent + sample * (ROW + 8), repeated,
    )  # fmt: skip


def stage(
    seconds: "np.typing.NDArray[np.float64]", workers: int, assumed: Assumed,
    rng: np.random.Generator,
) -> tuple[float, int]:  # fmt: skip
    """Seconds until all tasks are done, and how many had to be done again."""
    free = [0.0] * min(workers, seconds.size)
    done, again = 0.0, 0
    queue = list(seconds[::-1])
    while queue:
        takes = float(queue.pop())
        at = heapq.heappop(free)
        dies = float(rng.exponential(3600 / assumed.deaths))
        if dies < takes:
            queue.append(takes)
            again += 1
            heapq.heappush(free, at + dies + assumed.restart)
            continue
        done = max(done, at + takes)
        heapq.heappush(free, at + takes)
    return done, again


def quickest(costs: Costs, rows: float, workers: int) -> Plan:
    """The plan with the memory that takes the least time."""
    return min((simulated(costs, rows, workers, each) for each in MEMORY), key=lambda p: p.hours)


def memory_table() -> Iterator[list[str]]:
    """Rows that fit which memory: of a part, of a whole table by the default sample."""
    yield ["memory=", "rows of a part", "most rows of one x", "rows in all with the default sample"]
    for memory in ("250MB", "1GB", "4GB", "16GB", "64GB"):
        most = rows_at_once(bytes_of(memory), 2)
        yield [memory, f"{most:.2g}", f"{most:.2g}", f"{most * SAMPLE / PER_RANGE:.1e}"]


def measured_table(measured: Measured, costs: Costs) -> Iterator[list[str]]:
    """What was measured beside what the model says."""
    yield ["rows", "task", "CPU s", "model", "seconds", "load", "peak GB", "GB read", "GB written",
           "GB sent"]  # fmt: skip
    each = {"fit": costs.sort + costs.risk}
    each["fit with errors"] = each["fit"] + costs.scores
    for n, found in sorted(measured.items(), key=lambda item: float(item[0])):
        for task, one in found.items():
            said = f"{costs.fixed + float(n) * each[task]:.3g}" if task in each else ""
            names = ("seconds", "load", "gigabytes", "read", "written")
            sent = f"{one['sent']:.3g}" if task == "fit on Dask" else ""  # others send nothing
            yield [f"{float(n):.0e}", task, f"{one['cpu']:.3g}", said,
                   *(f"{one[name]:.3g}" for name in names), sent]  # fmt: skip


def cost_table(costs: Costs, assumed: Assumed) -> Iterator[list[str]]:
    """The coefficients."""
    yield ["what", "value", "from"]
    for name, scale, unit in (
        ("fixed", 1, "CPU s a fit"), ("sort", 1e9, "CPU ns a row"), ("risk", 1e9, "CPU ns a row"),
        ("scores", 1e9, "CPU ns a row"), ("read", 1, "bytes a row"), ("written", 1, "bytes a row"),
        ("page", 1e6, "CPU µs a page"), ("task", 1e3, "CPU ms a task"), ("sent", 1, "bytes a task"),
    ):  # fmt: skip
        yield [name, f"{getattr(costs, name) * scale:.3g} {unit}", "measured"]
    yield ["bandwidth", f"{assumed.bandwidth / 1e6:.3g} MB a second and worker", "assumed"]
    yield ["latency", f"{assumed.latency * 1e3:.3g} ms a page", "assumed"]
    yield ["deaths", f"one in {1 / assumed.deaths:,.0f} hours of a worker", "assumed"]


def write(path: Path, lines: Iterator[Sequence[str]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measured", type=Path, default=Path("out/scale/scale.json"))
    parser.add_argument("--out", type=Path, default=Path("docs/_static/performance"))
    given = parser.parse_args()
    measured: Measured = json.loads(given.measured.read_text())
    costs = model(measured, overheads())
    write(given.out / "scale_measured.csv", measured_table(measured, costs))
    write(given.out / "scale_costs.csv", cost_table(costs, Assumed()))
    write(given.out / "scale_memory.csv", memory_table())
    sizes = product((1e10, 1e11, 1e12), (100, 300, 1000))
    plans = [quickest(costs, rows, workers) for rows, workers in sizes]
    write(given.out / "scale_plan.csv", iter([HEAD, *(plan.cells() for plan in plans)]))


if __name__ == "__main__":
    main()
