"""Pooled pseudo-observations of files of any size, for any regressor with ``sample_weight``."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from multiobs import _check, statistics
from multiobs._files import beside
from multiobs._progress import progress
from multiobs.auto import Request
from multiobs.samplers import Sampler
from multiobs.scale import budget
from multiobs.scale.choosing import ScaleRequest, choose_recipe
from multiobs.scale.engines import Engine
from multiobs.scale.leaf_fit import coded_work
from multiobs.scale.leaf_passes import LeafSetting, TableOfRuns
from multiobs.scale.leaf_recipe import LeafRecipe, choose_leaves
from multiobs.scale.leaf_runs import CodedRun
from multiobs.scale.opening import Job, Ready, names, ready
from multiobs.scale.ranges import Stretch
from multiobs.scale.recipe import Recipe, anchored
from multiobs.scale.runs import Missing
from multiobs.scale.scratch import Arrays, named
from multiobs.scale.work import Pass, Work
from multiobs.statistics import Statistic
from multiobs.statistics.kernels import Kernel, constant
from multiobs.sums import pool as pool_tuples
from multiobs.sums.leaves import LeafSums, LeafTask, jet_columns
from multiobs.transport import Transport

SAMPLE = 1 << 18  # rows by which everything left open is chosen


def pool(
    source: Any,
    x: str | Sequence[str],
    y: str | Sequence[str],
    out: str | os.PathLike[str],
    *,
    statistic: str | Statistic = "variance",
    sampler: str | Sampler = "auto",
    transport: Transport = "auto",
    sample_weight: str | None = None,
    groups: str | None = None,
    missing: Missing = "refuse",
    engine: Engine = "local",
    client: Any = None,
    memory: str | float = "1GB",
    n_jobs: int | None = None,
    scratch: str | os.PathLike[str] | None = None,
    sample_rows: int = SAMPLE,
    ranges: int | None = None,
    random_state: int = 0,
) -> int:
    """Write pooled pseudo-observations to a Parquet file, a part at a time.

    One row for each anchor: the mean representative of its tuples, ``target``, the mean of the
    kernel over them in the units of the statistic, and ``weight``.  A regressor fitted to these
    with ``sample_weight`` estimates the statistic; in several columns an anchor's tuples are all
    of its leaves that contain it.

    Parameters
    ----------
    source, x, y, statistic, sampler, transport, sample_weight, groups, missing
        As in :func:`multiobs.scale.fit`; the statistic is a mean or a ratio of means.
    out : path-like
        The file to write: columns of x, ``target`` and ``weight``.
    engine, client, memory, n_jobs, scratch, sample_rows, ranges, random_state
        As in :func:`multiobs.scale.fit`.

    Returns
    -------
    int
        How many rows were written.

    Examples
    --------
    >>> import tempfile, pyarrow as pa, pyarrow.parquet
    >>> rng = np.random.default_rng(0)
    >>> table = pa.table({"x": rng.uniform(size=500), "y": rng.normal(size=500)})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = pool(table, "x", "y", f"{folder}/pooled.parquet")
    ...     found = pa.parquet.read_table(f"{folder}/pooled.parquet")
    >>> written, found.column_names
    (499, ['x', 'target', 'weight'])
    """
    resolved = statistics.resolve(statistic)
    kernels = _kernels(resolved)
    random_state = _check.integer("random_state", random_state, low=0)
    job = Job(
        source, names(x), names(y), sample_weight, groups, missing, engine, client, memory, n_jobs,
        scratch, sample_rows, random_state,
    )  # fmt: skip
    wanted = ScaleRequest(Request(resolved, sampler, transport), None, True, random_state, False)
    with ready(job) as at:
        encoding = at.encoding(job.x)
        columns = list(job.x) if encoding is None else encoding.categories.names(list(job.x))
        if len(at.how.columns.x) > 1:
            parts = _of_leaves(wanted, at, encoding, kernels, budget.bytes_of(memory))
        else:
            parts = _of_ranges(wanted, at, encoding, kernels, ranges)
        return _written(out, columns, parts)


def _kernels(statistic: Statistic) -> tuple[Kernel, ...]:
    if statistic.psi is None:
        raise ValueError(
            f"pooled observations need a mean or a ratio of means, got {statistic!r}, which is "
            "known by its loss alone"
        )
    return (statistic.psi,) if statistic.chi is None else (statistic.psi, statistic.chi)


def _written(out: str | os.PathLike[str], columns: list[str], parts: Iterator[Arrays]) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    written = 0
    schema = pa.schema([(name, pa.float64()) for name in (*columns, "target", "weight")])
    with beside(out) as temporary, pq.ParquetWriter(temporary, schema) as writer:
        for part in parts:
            if "weight" not in part:  # a range without rows
                continue
            values = {name: part["x"][:, c] for c, name in enumerate(columns)}
            values |= {"target": part["target"], "weight": part["weight"]}
            writer.write_table(pa.table(values, schema=schema))
            written += int(part["weight"].size)
    return written


def _ratio(values: "np.typing.NDArray[np.float64]", weight: Any) -> tuple[Any, Any]:
    """Target and weight from means (n, q) of the kernels."""
    if values.shape[1] == 1:
        return values[:, 0], weight
    usable = values[:, 1] > 0
    target = np.where(usable, values[:, 0] / np.where(usable, values[:, 1], 1.0), 0.0)
    return target, weight * np.where(usable, values[:, 1], 0.0)


@final
@dataclass(frozen=True)
class PooledOfRange:
    """Pool the tuples of each anchor of a range; the kernels of psi, and of chi of a ratio."""

    kernels: tuple[Kernel, ...]

    def __call__(self, recipe: Recipe, stretch: Stretch, number: int) -> dict[str, Any]:
        """Mean representatives, targets and weights."""
        problem = recipe.problem(stretch)
        signed = anchored(problem.tuples, stretch)
        tuples = signed[0][1]
        if tuples.count() == 0:
            return {}
        found = pool_tuples(
            tuples, self.kernels, problem.X, problem.residuals.labels, weight=problem.weight,
            limit=problem.limit,
        )  # fmt: skip
        own = np.ones(found.weight.size, dtype=np.bool_)
        if len(signed) > 1:  # windows of sorted rows: those that begin after the range come later
            own = found.anchors < stretch.last
        way_back = problem.residuals.map_at(found.x, recipe.statistic.scale)
        target, weight = _ratio(found.values, found.weight)
        target = recipe.units.outward(way_back.outward(target))
        return {"x": found.x[own], "target": target[own], "weight": weight[own]}


def _of_ranges(
    wanted: ScaleRequest, at: Ready, encoding: Any, kernels: tuple[Kernel, ...], ranges: int | None
) -> Iterator[Arrays]:
    rows, sample = at.rows, at.sample()
    recipe, edges = choose_recipe(wanted, sample, encoding).recipe, at.ranges(sample, ranges)
    work = Work(at.folder / named(("pooled", wanted, len(edges))), rows.runs, edges, rows.rows)
    yield from work.each(
        Pass("ranges", recipe, recipe.before, recipe.after, PooledOfRange(kernels)), at.executor
    )


@final
@dataclass(frozen=True)
class PooledOfRuns:
    """Pool the tuples of all leaves that contain each row.

    Attributes
    ----------
    setting : LeafSetting
        What all passes share.
    tasks : tuple of LeafTask
        Kernels of psi and chi, and the constant with features.
    table : Path
        Sums of leaves.
    """

    setting: LeafSetting
    tasks: tuple[LeafTask, ...]
    table: Any

    def __call__(self, run: CodedRun) -> dict[str, Any]:
        """Mean representatives, targets and weights of the rows of a run."""
        from multiobs.scale.leaf_passes import stored

        recipe, table = self.setting.recipe, stored(self.table)
        out: dict[str, list[Any]] = {"x": [], "target": [], "weight": []}
        for batch in self.setting.batches((run,)):
            sums = LeafSums(self.tasks, batch.Z.shape[1])
            columns = jet_columns(batch.Z, None, 1)
            found: list[Any] = [0.0] * len(self.tasks)
            places: Any = 0.0
            for others in self.setting.partners(batch, sums, columns, table):
                for i, task in enumerate(self.tasks):
                    jet = sums.jet(task, others)
                    found[i] = found[i] + jet.one[:, 0]
                    places = places + jet.z if task.order else places
            total = found[-1]
            some = total > 0
            values = np.stack(found[:-1], axis=1)[some] / total[some, None]
            z = places[some] / (total[some, None] * recipe.statistic.arity)
            target, weight = _ratio(values, total[some])
            x, level = _from_columns(recipe, z)
            out["x"].append(x)
            out["target"].append(recipe.units.outward(target + level))
            out["weight"].append(weight)
        return {name: np.concatenate(values) for name, values in out.items()}


def _from_columns(recipe: LeafRecipe, z: "np.typing.NDArray[np.float64]") -> tuple[Any, Any]:
    """Positions and pilot from the mean features of tuples."""
    design = recipe.design
    p, first = design.n_columns, int(design.intercept)
    level = z[:, p] if z.shape[1] > p else np.zeros(z.shape[0])
    return z[:, first:p] * design.spread + design.centre, level


def _of_leaves(
    wanted: ScaleRequest, at: Ready, encoding: Any, kernels: tuple[Kernel, ...], memory: int
) -> Iterator[Arrays]:
    rows = at.rows
    keys = int(np.prod([len(each) for each in rows.levels], dtype=np.int64))
    most = budget.leaves_at_once(memory, at.how.layout().places)
    recipe = choose_leaves(wanted, at.sample(), encoding, keys=keys, most=most).recipe
    if not recipe.in_moments():
        raise ValueError(
            "pooled observations in several columns by parts need a kernel of moments, got "
            f"{recipe.statistic!r}"
        )
    work = coded_work(recipe, rows.runs, at.folder / named(("pooled", wanted, most)), at.executor)
    m, s = recipe.statistic.arity, recipe.statistic.n_columns
    tasks = (*(LeafTask(h, 0) for h in kernels), LeafTask(constant(1.0, m, s), 1))
    table = work.table("table-pooled", TableOfRuns(work.setting, tasks))
    task = PooledOfRuns(work.setting, tasks, table)
    runs = [run for bundle in work.bundles for run in bundle]
    done = at.executor.map(task, runs)
    yield from progress(done, work.rows, "rows", lambda part: float(part["weight"].size))
