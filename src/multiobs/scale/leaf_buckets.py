"""Kernels that need the rows of a leaf together: rows are bucketed by leaf, once for each tree.

Scores belong to rows, whose tuples lie in a leaf of every tree; they are bucketed back.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, final

import numpy as np

from multiobs._progress import progress
from multiobs._types import FloatArray, IntArray
from multiobs.fit import (
    LinearFit,
    MomentRisk,
    Problem,
    minimiser,
    risk_of,
    total_weight,
    with_ridge,
)
from multiobs.inference import Leverages, row_scores, scores_of_rows
from multiobs.samplers import Reach
from multiobs.scale.errors import without_rows
from multiobs.scale.executors import Executor
from multiobs.scale.finishing import Found
from multiobs.scale.leaf_draws import tuple_counts
from multiobs.scale.leaf_fit import LeafWork, coded_work, covariance_of_rows, found_of, unsolved
from multiobs.scale.leaf_passes import LeafSetting, times_of
from multiobs.scale.leaf_recipe import ChosenLeaves, LeafRecipe, Moved
from multiobs.scale.leaf_runs import CodedRun
from multiobs.scale.ranges import Range, load
from multiobs.scale.risks import added
from multiobs.scale.runs import Layout, Run
from multiobs.scale.scratch import Arrays, check_space, digest
from multiobs.scale.storage import Place, written
from multiobs.tuples import Windows


def bucket_layout(recipe: LeafRecipe) -> Layout:
    """Rows by leaf: columns of the class, labels, offset, row number, weight."""
    labels = recipe.statistic.n_columns + int(recipe.located) + 1
    return Layout(True, labels, True, recipe.design.spread.size)


@final
@dataclass(frozen=True)
class BucketRun:
    """Write the rows of a run once for each tree, in the order of their leaves.

    Attributes
    ----------
    folder : Place
        Where buckets go.
    setting : LeafSetting
        What all passes share.
    """

    folder: Place
    setting: LeafSetting

    def bucketed(self, number: int, run: CodedRun) -> Run:
        """Where the rows of a run are."""
        layout = bucket_layout(self.setting.recipe)
        return Run(self.folder / f"buckets-{number:06d}.f64", run.run.rows * run.trees, layout)

    def __call__(self, task: tuple[int, int, CodedRun]) -> int:
        """Write them, unless they are there; the task holds the number of the first row, too."""
        number, first, run = task
        target = self.bucketed(number, run)
        if target.path.exists():
            return target.rows
        recipe, size = self.setting.recipe, self.setting.size()
        blocks, codes = [], []
        for each in run.chunks():
            here = recipe.columns(each.rows).T
            weight = recipe.weights(recipe.counts(each.codes, size), each.rows.weight)
            block = [here, each.moved.labels.T]
            if each.moved.offset is not None:
                block.append(each.moved.offset[None])
            block.append(first + np.arange(each.rows.size, dtype=np.float64)[None])
            block.append((np.ones(each.rows.size) if weight is None else weight)[None])
            first += each.rows.size
            blocks.append(np.concatenate(block))
            codes.append(each.codes)
        whole, leaves = np.concatenate(blocks, axis=1), np.concatenate(codes)
        n, starts = run.run.rows, recipe.forest.starts
        with written(target.path) as temporary, temporary.open("r+b") as file:
            for tree in range(run.trees):
                order = np.argsort(leaves[:, tree], kind="stable")
                key = leaves[order, tree] + float(starts[tree])
                for c, values in enumerate((key, *(column[order] for column in whole))):
                    file.seek(8 * (c * target.rows + tree * n))
                    file.write(np.ascontiguousarray(values).data)
        return target.rows


@final
@dataclass(frozen=True)
class Buckets:
    """Rows by leaf, in ranges of whole leaves.

    Attributes
    ----------
    recipe : LeafRecipe
        Pilots and class.
    runs : tuple of Run
        Rows by leaf.
    """

    recipe: LeafRecipe
    runs: tuple[Run, ...]

    def problem(self, which: Range, first_fit: FloatArray | None) -> tuple[Problem, IntArray]:
        """Problem of a range of leaves, and the numbers of its rows."""
        recipe = self.recipe
        rows = load(self.runs, which, Reach(), 0, 0).rows
        s, m = recipe.statistic.n_columns, recipe.statistic.arity
        moved = Moved(rows.y[:, :s], np.array(rows.y[:, s]) if recipe.located else None)
        assert rows.key is not None
        stop = np.searchsorted(rows.key, rows.key, side="right").astype(np.int64)
        weight = recipe.reweighted(rows.x, moved.offset, rows.weight, first_fit)
        problem = Problem(
            recipe.statistic, np.ascontiguousarray(rows.x), rows.x, recipe.residuals(moved),
            Windows(np.arange(rows.size), stop, m), weight, recipe.units,
        )  # fmt: skip
        return problem, rows.y[:, -1].astype(np.int64)


@final
@dataclass(frozen=True)
class RiskOfBuckets:
    """Sum the risk over the tuples of a range of leaves; attributes as in the one-column risk."""

    buckets: Buckets
    first_fit: FloatArray | None
    weighed: bool

    def __call__(self, which: Range) -> dict[str, Any]:
        """Tensors of the risk, and the weight of the tuples."""
        problem, _ = self.buckets.problem(which, self.first_fit)
        recipe = self.buckets.recipe
        if problem.tuples.count() == 0:
            return {}
        risk = risk_of(problem, recipe.design, recipe.reference, False)
        assert isinstance(risk, MomentRisk)
        found = {f"power {k}": t for k, t in enumerate(risk.tensors) if t is not None}
        if not self.weighed:
            return found
        total = total_weight(problem.tuples, recipe.statistic.n_columns, problem.weight)
        return {**found, "weight": total}


@final
@dataclass(frozen=True)
class ScoresOfBuckets:
    """Write the scores of the rows of a range of leaves, in the order of the rows.

    Attributes
    ----------
    folder : Place
        Where scores go.
    buckets : Buckets
        Rows by leaf.
    fit : LinearFit
        The coefficients.
    first_fit : ndarray (p,) or None
        Coefficients that weights were improved by.
    """

    folder: Place
    buckets: Buckets
    fit: LinearFit
    first_fit: FloatArray | None

    def __call__(self, which: Range) -> dict[str, Any]:
        """How many there are."""
        problem, number = self.buckets.problem(which, self.first_fit)
        g = row_scores(replace(self.fit, problem=problem))
        order = np.argsort(number, kind="stable")
        block = np.concatenate([number[order][None].astype(np.float64), g[order].T])
        with written(self.path(which)) as temporary, temporary.open("wb") as file:
            file.write(np.ascontiguousarray(block).data)
        return {"rows": number.size}

    def path(self, which: Range) -> Place:
        """Where the scores of a range are."""
        return self.folder / f"scores-{which.number:06d}.f64"


@final
@dataclass(frozen=True)
class BackToRows:
    """Add up the scores of rows over the trees, and sum what covariances need.

    Attributes
    ----------
    setting : LeafSetting
        What all passes share.
    scores : tuple of Run
        From :class:`ScoresOfBuckets`.
    known : Leverages or None
        Of all rows; without it only what leverages need is summed.
    inverse : ndarray (p, p) or None
        Of the variance of all scores.
    """

    setting: LeafSetting
    scores: tuple[Run, ...]
    known: Leverages | None = None
    inverse: FloatArray | None = None

    def __call__(self, task: tuple[int, tuple[CodedRun, ...]]) -> dict[str, Any]:
        """Sums over some runs; the task holds the number of their first row."""
        first, runs = task
        recipe = self.setting.recipe
        m, p = recipe.statistic.arity, recipe.design.n_columns
        total: dict[str, Any] = {}
        for batch in self.setting.batches(runs):
            rows, times = batch.Z[:, :p], times_of(batch, m)
            if self.known is None:
                part: dict[str, Any] = {"info": (rows * (times / m)[:, None]).T @ rows}
            else:
                g = self._scores(first, rows.shape[0], p)
                part = scores_of_rows(g, rows, times, self.known, self.inverse)
            first += rows.shape[0]
            total = {name: total.get(name, 0.0) + value for name, value in part.items()}
        return total

    def _scores(self, first: int, size: int, p: int) -> FloatArray:
        g = np.zeros((size, p))
        for each in self.scores:
            names = each.column(0)
            a = names.search(float(first), 0, each.rows, "left")
            b = names.search(float(first + size), a, each.rows, "left")
            if a < b:
                block = each.read(a, b)
                np.add.at(g, block[0].astype(np.int64) - first, block[1:].T)
        return g


def leaf_ranges(sizes: IntArray, most: int) -> tuple[Range, ...]:
    """Whole leaves, of about so many rows together.

    >>> [(r.first[0], r.last[0]) for r in leaf_ranges(np.array([3, 3, 9, 1]), 6)]
    [(0.0, 2.0), (2.0, 3.0), (3.0, 4.0)]
    """
    edges, held = [0], 0
    for leaf, size in enumerate(sizes.tolist()):
        if held and held + size > most:
            edges.append(leaf)
            held = 0
        held += size
    edges.append(int(sizes.size))
    pairs = pairwise(edges)
    low = -np.inf
    return tuple(Range(i, (float(a), low), (float(b), low)) for i, (a, b) in enumerate(pairs))


def fit_buckets(
    chosen: ChosenLeaves, runs: tuple[Run, ...], folder: Place, executor: Executor, *,
    alpha: float | None, errors: bool, dropped: int,
) -> Found:  # fmt: skip
    """Minimise the risk of all tuples of all leaves; parameters as in ``fit_leaves``."""
    recipe = chosen.recipe
    work = coded_work(recipe, runs, folder, executor)
    count = sum(tuple_counts(work.sizes, recipe.statistic.arity))
    trees = recipe.forest.trees
    task = BucketRun(folder / "buckets", work.setting)
    check_space(task.folder, 8 * bucket_layout(recipe).width * work.rows * trees)
    coded = [run for bundle in work.bundles for run in bundle]
    firsts = np.cumsum([0, *(run.run.rows for run in coded)]).tolist()
    tasks = [(i, firsts[i], run) for i, run in enumerate(coded)]
    done = executor.map(task, tasks)
    list(progress(done, float(work.rows * trees), "rows", float))
    bucketed = tuple(task.bucketed(i, run) for i, run in enumerate(coded))
    buckets = Buckets(recipe, bucketed)
    ranges = leaf_ranges(work.sizes, max(run.rows for run in runs))
    strength = alpha * recipe.units.penalty if alpha else 0.0
    bare = unsolved(chosen, strength, count, lambda each: each)
    plan = _Bucketed(work, buckets, ranges, firsts)
    fit, before = plan.minimised(bare, None), None
    if recipe.reweighting is not None and fit.solution.status.success:
        before = fit.w
        fit = plan.minimised(bare, before)
    known = plan.covariance(fit, before, count) if errors else None
    return found_of(chosen, work, fit, count, known, dropped)


@final
@dataclass(frozen=True)
class _Bucketed:
    """Rows by leaf and by row, and who works."""

    work: LeafWork
    buckets: Buckets
    ranges: tuple[Range, ...]
    firsts: list[int]

    def minimised(self, bare: LinearFit, before: FloatArray | None) -> LinearFit:
        """The minimiser, with weights by a first fit where there is one."""
        weighed = bare.alpha > 0
        name = digest("bucket risk", None if before is None else before.tolist(), weighed)
        task = RiskOfBuckets(self.buckets, before, weighed)
        total: MomentRisk | None = None
        weight = 0.0
        for part in self.work.over(name, task, self.ranges):
            weight += float(part.get("weight", 0.0))
            tensors = {int(k.split()[1]): v for k, v in part.items() if k.startswith("power ")}
            if tensors:
                powers = range(max(tensors) + 1)
                total = added(total, MomentRisk([tensors.get(k) for k in powers]))
        if total is None:
            m = bare.problem.statistic.arity
            raise ValueError(f"leaves must hold at least one tuple of {m} rows, got none")
        risk = with_ridge(total, bare.design, bare.alpha * weight)
        solution = minimiser(risk, bare.problem, bare.design, bare.reference)
        return replace(bare, solution=solution, risk=risk)

    def covariance(self, fit: LinearFit, before: FloatArray | None, count: int) -> Any:
        """Covariance of the coefficients, by scores that are bucketed back to their rows."""
        setting = replace(self.work.setting, first_fit=before)
        work = replace(self.work, setting=setting)
        name = digest("bucket scores", fit.w.tolist())
        writing = ScoresOfBuckets(self.work.folder / name, self.buckets, without_rows(fit), before)
        written = self.work.over(f"{name}-written", writing, self.ranges)
        layout = Layout(True, fit.w.size - 1, False)  # the first score is where x would be
        scores = tuple(
            Run(writing.path(each), int(part["rows"]), layout)
            for each, part in zip(self.ranges, written, strict=True)
        )
        at = [0]
        for bundle in work.bundles:
            at.append(at[-1] + len(bundle))
        items = [(self.firsts[a], bundle) for a, bundle in zip(at, work.bundles, strict=False)]
        parts = work.over(f"{name}-info", BackToRows(setting, scores), items)
        info = np.asarray(sum(part["info"] for part in parts))

        def summed(known: Leverages, inverse: FloatArray | None) -> list[Arrays]:
            kind = "sums" if inverse is None else "shares"
            return work.over(f"{name}-{kind}", BackToRows(setting, scores, known, inverse), items)

        return covariance_of_rows(fit, work, info, count, summed)
