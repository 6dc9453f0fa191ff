"""Fits in several columns: leaves of a forest, sums of leaves, no shuffle."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, final

import numpy as np

from multiobs._progress import progress
from multiobs._types import FloatArray
from multiobs.fit import LinearFit, MomentRisk, Solution, Status, minimiser, ridge, with_ridge
from multiobs.inference import (
    Covariance,
    Leverages,
    covariance_by_parts,
    drawn_scores,
    variance_by_parts,
)
from multiobs.samplers import Leaves
from multiobs.scale.executors import Executor
from multiobs.scale.finishing import Found
from multiobs.scale.leaf_draws import FindRows, drawn_problem, numbered_tuples, tuple_counts
from multiobs.scale.leaf_passes import (
    LeafSetting,
    PairsOfRuns,
    RiskOfRuns,
    ScoresOfRuns,
    TableOfRuns,
    risk_tasks,
    tasks_of,
)
from multiobs.scale.leaf_recipe import ChosenLeaves, LeafRecipe
from multiobs.scale.leaf_runs import CodedRun, CodeRun
from multiobs.scale.runs import Run
from multiobs.scale.scratch import Arrays, check_space, digest, kept
from multiobs.scale.storage import Place, written
from multiobs.sums import Plan, plan
from multiobs.sums.scores import slope_of
from multiobs.tuples import Windows

SHARES = ("share", "share squares")
BUNDLES = 16  # parts whose sums of leaves are kept: each is as large as all leaves


@final
@dataclass(frozen=True)
class LeafWork:
    """Rows with their leaves, and who works.

    Attributes
    ----------
    folder : Place
        Where finished parts are kept.
    setting : LeafSetting
        What all passes share.
    bundles : tuple of tuple of CodedRun
        All runs, several at a time.
    sizes : ndarray of int (leaves,)
        How many rows each leaf has.
    by_bundle : tuple of ndarray of int (leaves,)
        How many of them are in each bundle.
    rows : int
        How many there are.
    executor : Executor
        Who works.
    """

    folder: Place
    setting: LeafSetting
    bundles: tuple[tuple[CodedRun, ...], ...]
    sizes: "np.typing.NDArray[np.int64]"
    by_bundle: "tuple[np.typing.NDArray[np.int64], ...]"
    rows: int
    executor: Executor

    def over(self, name: str, function: Callable[..., Any], items: Any = None) -> list[Arrays]:
        """Arrays of each bundle, or of each of other items, in their order."""
        task = _Kept(self.folder / name, function)
        listed = list(enumerate(self.bundles if items is None else items))
        done = self.executor.map(task, listed)
        share = self.rows / len(listed)
        return list(progress(done, self.rows, "rows", lambda part: share))

    def table(self, name: str, function: Callable[..., Any]) -> Place:
        """Sums of all leaves over all bundles, in a file."""
        path = self.folder / f"{name}.npy"
        if not path.exists():
            parts = self.over(name, function)
            total = sum(part["table"] for part in parts if "table" in part)
            _store(path, np.asarray(total))
        return path


@final
@dataclass(frozen=True)
class _Kept:
    folder: Place
    function: Callable[[Any], dict[str, Any]]

    def __call__(self, task: tuple[int, Any]) -> Arrays:
        number, item = task
        return kept(self.folder / f"part-{number:06d}.npz", lambda: self.function(item))


def _store(path: Place, array: "np.typing.NDArray[Any]") -> None:
    with written(path) as temporary, temporary.open("wb") as file:
        np.save(file, array)


def coded_work(
    recipe: LeafRecipe, runs: tuple[Run, ...], folder: Place, executor: Executor
) -> LeafWork:
    """Find the leaves of all rows.

    Parameters
    ----------
    recipe : LeafRecipe
        Forest and pilots.
    runs : tuple of Run
        All rows.
    folder : Place
        Where finished parts are kept.
    executor : Executor
        Who works.
    """
    task = CodeRun(folder / "leaves", recipe)
    rows = sum(run.rows for run in runs)
    wide = recipe.statistic.n_columns + int(recipe.located)
    check_space(task.folder, (8 * wide + 4 * recipe.forest.trees) * rows)
    done = executor.map(task, list(enumerate(runs)))
    parts = list(progress(done, rows, "rows", lambda part: float(part["rows"])))
    coded = [task.coded(i, run) for i, run in enumerate(runs)]
    edges = np.linspace(0, len(coded), min(BUNDLES, len(coded)) + 1).astype(int).tolist()
    pairs = list(pairwise(edges))
    by_bundle = tuple(np.sum([part["size"] for part in parts[a:b]], axis=0) for a, b in pairs)
    sizes = np.sum(by_bundle, axis=0)
    _store(folder / "sizes.npy", sizes)
    setting = LeafSetting(recipe, folder / "sizes.npy")
    bundles = tuple(tuple(coded[a:b]) for a, b in pairs)
    return LeafWork(folder, setting, bundles, sizes, by_bundle, rows, executor)


def fit_leaves(
    chosen: ChosenLeaves, runs: tuple[Run, ...], folder: Place, executor: Executor, *,
    alpha: float | None, errors: bool, dropped: int,
) -> Found:  # fmt: skip
    """Minimise the risk of all tuples of all leaves.

    Parameters
    ----------
    chosen : ChosenLeaves
        What is done with the rows.
    runs : tuple of Run
        The rows.
    folder : Place
        Where finished parts are kept.
    executor : Executor
        Who works.
    alpha : float or None
        Ridge penalty.
    errors : bool
        Whether standard errors are computed.
    dropped : int
        Rows that were left out.
    """
    recipe = chosen.recipe
    work = coded_work(recipe, runs, folder, executor)
    m = recipe.statistic.arity
    count = sum(tuple_counts(work.sizes, m))
    if count == 0:
        raise ValueError(
            f"leaves must hold at least one tuple of {m} rows, got none among {work.rows} rows"
        )
    strength = alpha * recipe.units.penalty if alpha else 0.0
    fit, info = _minimised(chosen, work, strength, count)
    known = _covariance(fit, work, info, count) if errors else None
    return found_of(chosen, work, fit, count, known, dropped)


def found_of(
    chosen: ChosenLeaves, work: LeafWork, fit: LinearFit, count: int, known: Covariance | None,
    dropped: int,
) -> Found:  # fmt: skip
    """What the estimator is made from; parameters as above."""
    runs = sum(len(bundle) for bundle in work.bundles)
    reasons = (
        *chosen.reasons,
        f"rows: {work.rows} in {runs} runs, {work.sizes.size} leaves"
        + (f", {dropped} left out" if dropped else ""),
    )
    sampler, encoding = Leaves(chosen.codes), chosen.recipe.encoding
    return Found(fit, sampler, count, reasons, work.rows, encoding, known)


def _minimised(
    chosen: ChosenLeaves, work: LeafWork, strength: float, count: int
) -> tuple[LinearFit, FloatArray]:
    recipe, setting = chosen.recipe, work.setting
    tasks, powers = risk_tasks(recipe, strength > 0)
    name = digest("risk", strength > 0)
    table = work.table(f"table-{name}", TableOfRuns(setting, tasks))
    risks = RiskOfRuns(setting, tasks, powers, table)
    parts = work.over(f"risk-{name}", risks)
    total = risks.whole({each: sum(np.asarray(part[each]) for part in parts) for each in parts[0]})
    loss = recipe.statistic.loss
    sums = {k: np.asarray(total[f"power {k}"]) for k in powers}
    risk = MomentRisk.by_power(loss.by_power(sums, lambda tensor: np.zeros_like(tensor[..., 0])))
    if recipe.located:
        risk = risk.fixed(-1.0)
    summed = with_ridge(risk, recipe.design, strength * float(total["weight"]))
    reason = "leaves add up power sums of their rows"
    fit = unsolved(chosen, strength, count, lambda each: replace(each, reason=reason))
    solution = minimiser(summed, fit.problem, recipe.design, None)
    return replace(fit, solution=solution, risk=summed), np.asarray(total["info"])


def unsolved(
    chosen: ChosenLeaves, strength: float, count: int, said: Callable[[Plan], Plan]
) -> LinearFit:
    """The fit before its coefficients are known.

    Parameters
    ----------
    chosen : ChosenLeaves
        What is done with the rows.
    strength : float
        Of the penalty.
    count : int
        How many tuples there are.
    said : callable
        From the plan of a sum over the sample's tuples to what was done.
    """
    recipe, p = chosen.recipe, chosen.recipe.design.n_columns
    n, m = 10_000, recipe.statistic.arity
    many = Windows(np.arange(n), np.full(n, n), m)
    branches = tuple(
        (k, said(replace(plan(many, kernel, k), tuples=count)))
        for k, kernel in recipe.statistic.loss.sums
    )
    return LinearFit(
        problem=replace(chosen.problem, reweighting=None),
        design=recipe.design,
        solution=Solution(np.zeros(p), Status.CONVERGED, 0.0, 0.0, 0, "none yet"),
        risk=ridge(np.zeros(p)),
        reference=recipe.reference,
        branches=branches,
        alpha=strength,
    )


def _covariance(fit: LinearFit, work: LeafWork, info: FloatArray, count: int) -> Covariance:
    """Covariance of the coefficients under shared labels, from sums of leaves."""
    statistic = fit.problem.statistic
    terms = slope_of(statistic.loss, fit.problem.held(fit.w)).terms
    name = digest("scores", fit.w.tolist())
    summed: PairsOfRuns | TableOfRuns = PairsOfRuns(work.setting, terms)
    if statistic.arity != 2:
        summed = TableOfRuns(work.setting, *tasks_of(terms))
    table = work.table(f"table-{name}", summed)

    def scores(known: Leverages, inverse: FloatArray | None) -> list[Arrays]:
        task = ScoresOfRuns(work.setting, terms, known, table, inverse)
        return work.over(f"{'scores' if inverse is None else 'shares'}-{name}", task)

    return covariance_of_rows(fit, work, info, count, scores)


def covariance_of_rows(
    fit: LinearFit, work: LeafWork, info: FloatArray, count: int,
    scores: Callable[[Leverages, FloatArray | None], list[Arrays]],
) -> Covariance:  # fmt: skip
    """Covariance of the coefficients under shared labels, by scores of rows.

    Parameters
    ----------
    fit : LinearFit
        The coefficients.
    work : LeafWork
        Rows with their leaves.
    info : ndarray (p, p)
        Summed outer products of features.
    count : int
        How many tuples there are.
    scores : callable
        Sums of :func:`multiobs.inference.scores_of_rows` of all parts.
    """
    m, p = fit.problem.statistic.arity, fit.w.size
    inverse = np.asarray(np.linalg.pinv(info, rcond=1e-12, hermitian=True), dtype=np.float64)
    known = Leverages("rows", inverse, False, m, (count,))
    parts = [dict(part) for part in scores(known, None)]
    wanted = numbered_tuples(known.drawn()[0], work.sizes, m)
    before = np.cumsum([np.zeros_like(work.sizes), *work.by_bundle[:-1]], axis=0)
    items = list(zip(before, work.bundles, strict=True))
    name = digest("drawn", fit.w.tolist())
    found = work.over(f"drawn-{name}", FindRows(work.setting, wanted), items)
    here, drawn, times = drawn_problem(fit, wanted, [dict(part) for part in found])
    more = drawn_scores(here, drawn, times, known)
    V = variance_by_parts([*parts, {"V": np.zeros((p, p)), **more}], known)
    within = np.asarray(np.linalg.pinv(V, hermitian=True), dtype=np.float64)
    shares = scores(known, within)
    units = float(sum(np.asarray(part["units"]) for part in parts))
    q = [float(sum(np.asarray(part[each]) for part in shares)) for each in SHARES]
    return covariance_by_parts(fit, parts, known, more, (units, q[0], q[1]))
