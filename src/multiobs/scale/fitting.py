"""Fits of files larger than memory: sorted runs, value ranges, risks that add up."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, Literal, final

import numpy as np

from multiobs import _check, samplers, statistics
from multiobs._types import FloatArray
from multiobs.auto import Request
from multiobs.estimator import MultiObservationRegressor
from multiobs.fit import LinearFit, Solution, Status, minimiser, ridge, with_ridge
from multiobs.samplers import Sampler
from multiobs.scale import budget
from multiobs.scale.choosing import Chosen, ScaleRequest, choose_recipe
from multiobs.scale.engines import Engine
from multiobs.scale.errors import covariance, surroundings, without_rows
from multiobs.scale.executors import Executor
from multiobs.scale.finishing import Found, branches_of, finished
from multiobs.scale.leaf_buckets import fit_buckets
from multiobs.scale.leaf_fit import fit_leaves
from multiobs.scale.leaf_recipe import choose_leaves
from multiobs.scale.opening import Job, Ready, names, ready
from multiobs.scale.risks import RiskOfRange, SummedRanges, summed
from multiobs.scale.runs import Missing
from multiobs.scale.scratch import digest, named
from multiobs.scale.work import Pass, Work
from multiobs.statistics import Statistic
from multiobs.transport import Transport

SAMPLE = 1 << 18  # rows by which everything left open is chosen


def fit(
    source: Any,
    x: str | Sequence[str],
    y: str | Sequence[str],
    *,
    statistic: str | Statistic = "variance",
    sampler: str | Sampler = "auto",
    transport: Transport = "auto",
    features: Any = None,
    alpha: float | Literal["auto"] = "auto",
    fit_intercept: bool = True,
    sample_weight: str | None = None,
    groups: str | None = None,
    missing: Missing = "refuse",
    engine: Engine = "local",
    client: Any = None,
    memory: str | float = "1GB",
    n_jobs: int | None = None,
    scratch: str | os.PathLike[str] | None = None,
    keep: bool = False,
    errors: bool = True,
    sample_rows: int = SAMPLE,
    ranges: int | None = None,
    random_state: int = 0,
) -> MultiObservationRegressor:
    """Fit rows that need not fit in memory; equal to the fit in memory with the same pilot.

    Parameters
    ----------
    source : path, glob, list of paths, Dataset, Table, LazyFrame, Dask DataFrame or Query
        Parquet, Arrow, Feather or CSV files, or anything else that can be read in batches.
    x, y : str or sequence of str
        Columns. Text and dictionary columns of x are matched exactly by every tuple; dates and
        times become days since 1970.
    statistic, sampler, transport, features, alpha, fit_intercept
        As in :class:`multiobs.MultiObservationRegressor`; chosen on a sample where left open.
        Slopes of one column are those of the minimiser, as with ``alpha=0.0`` in memory.
    sample_weight, groups : str, optional
        Columns of weights, and of codes that a tuple never crosses.
    missing : {"refuse", "drop"}
        What to do with rows in which a number is missing or infinite.
    engine : {"local", "dask"} or Executor
        Who runs the parts: threads of this process, a Dask cluster, or anything with a ``map``.
    client : distributed.Client or str, optional
        A Dask client or a scheduler's address; by default a cluster on this machine.
    memory : str or float
        What the parts at work may take together; decides how many ranges there are.
    n_jobs : int, optional
        Threads or Dask workers of this machine; by default one a processor, at most four.
    scratch : path-like, optional
        Folder for sorted runs and finished parts, or an address that fsspec knows, such as
        ``s3://bucket/scratch``; with Dask one that all workers share.
    keep : bool
        Leave the sorted runs there, so that another fit of the same columns skips the sort.
    errors : bool
        Whether a second pass computes standard errors.
    sample_rows : int
        Rows on which pilots, widths and units are chosen, about.
    ranges : int, optional
        How many ranges, whatever the memory.
    random_state : int
        Seed of the sample.

    Returns
    -------
    MultiObservationRegressor
        Fitted.

    Examples
    --------
    >>> import pyarrow as pa
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=5000)
    >>> table = pa.table({"x": x, "y": rng.normal(scale=1 + x)})
    >>> reg = fit(table, x="x", y="y", statistic="variance", ranges=4)
    >>> reg.coef_.shape
    (1,)
    """
    resolved = statistics.resolve(statistic)
    if isinstance(features, str):
        raise ValueError(
            f"features must be a transformer or None by parts, got {features!r}: smooth terms "
            "are fitted in memory, by MultiObservationRegressor"
        )
    template = MultiObservationRegressor(
        statistic, sampler, features=features, transport=transport, alpha=alpha,
        fit_intercept=fit_intercept, random_state=_check.integer("random_state", random_state, 0),
    )  # fmt: skip
    job = Job(
        source, names(x), names(y), sample_weight, groups, missing, engine, client, memory, n_jobs,
        scratch, sample_rows, random_state, keep,
    )  # fmt: skip
    replicated = _replicated(resolved, sampler, len(job.y))
    request = Request(resolved, sampler, transport, bool(fit_intercept))
    asked = RangeProblem(
        ScaleRequest(request, features, bool(fit_intercept), random_state, errors),
        job.x,
        None if alpha == "auto" else _check.nonnegative("alpha", alpha),
        None if ranges is None else _check.integer("ranges", ranges, low=1),
        job.bytes,
    )
    with ready(job, replicated) as at:
        by = _fitted_by_leaves if len(at.how.columns.x) > 1 else _fitted
        fitted = by(asked, at)
    return finished(template, fitted, job.x)


@final
@dataclass(frozen=True)
class RangeProblem:
    """What is to be fitted to sorted rows.

    Attributes
    ----------
    wanted : Wanted
        Statistic, sampler, transport and class.
    columns : tuple of str
        Of x.
    alpha : float or None
        Ridge penalty; None is left open.
    ranges : int or None
        How many; None is one for each run.
    memory : int
        Bytes that parts at work may take together.
    """

    wanted: ScaleRequest
    columns: tuple[str, ...]
    alpha: float | None
    ranges: int | None
    memory: int


def _replicated(statistic: Statistic, sampler: str | Sampler, labels: int) -> bool:
    """Whether columns of y are labels at the same x; refuse any other number of columns."""
    if not statistic.loss.sums:
        raise ValueError(
            "scale.fit needs a loss that is a polynomial of the prediction, whose risks add up, "
            f"got {statistic!r}"
        )
    if labels == statistic.n_columns:
        return False
    if statistic.n_columns == 1 and labels > 1 and samplers.takes_replicates(sampler):
        return True
    raise ValueError(
        f"{statistic.name} needs y with {statistic.n_columns} columns, got {labels} columns"
    )


def _fitted(asked: RangeProblem, at: Ready) -> Found:
    """Fit one column of x to sorted runs."""
    rows, sample, encoding = at.rows, at.sample(), at.encoding(asked.columns)
    chosen = choose_recipe(asked.wanted, sample, encoding)
    edges = at.ranges(sample, asked.ranges)
    work = Work(at.folder / named(asked), rows.runs, edges, rows.rows)
    fitted = _minimised(asked, chosen, work, at.executor)
    errors = None
    if asked.wanted.errors:
        errors = covariance(
            fitted.result, fitted.before, chosen.recipe, fitted.total, work, at.executor
        )
    reasons = (
        *chosen.reasons,
        f"rows: {rows.rows} in {len(rows.runs)} sorted runs and {len(edges)} ranges"
        + (f", {rows.dropped} left out" if rows.dropped else ""),
    )
    return Found(
        fitted.result,
        chosen.recipe.sampler,
        fitted.total.count,
        reasons,
        rows.rows,
        encoding,
        errors,
    )


def _fitted_by_leaves(asked: RangeProblem, at: Ready) -> Found:
    """Fit several columns of x to runs in any order."""
    rows, sample, encoding = at.rows, at.sample(), at.encoding(asked.columns)
    keys = prod(len(each) for each in rows.levels)
    most = budget.leaves_at_once(asked.memory, at.how.layout().places)
    chosen = choose_leaves(asked.wanted, sample, encoding, keys=keys, most=most)
    fitted = fit_leaves if chosen.recipe.in_moments() else fit_buckets
    return fitted(
        chosen, rows.runs, at.folder / named(asked), at.executor,
        alpha=asked.alpha, errors=asked.wanted.errors, dropped=rows.dropped,
    )  # fmt: skip


@final
@dataclass(frozen=True)
class _Minimum:
    """The minimiser, the sums it was found from, and the first fit that its weights are from."""

    result: LinearFit
    total: SummedRanges
    before: FloatArray | None


def _minimised(asked: RangeProblem, chosen: Chosen, work: Work, executor: Executor) -> _Minimum:
    """Minimise the summed risk; twice where a first fit improves the weights."""
    first = _once(asked, chosen, work, executor, None)
    if chosen.recipe.reweighting is None or not first.result.solution.status.success:
        return first
    return _once(asked, chosen, work, executor, first.result.w)


def _once(
    asked: RangeProblem, chosen: Chosen, work: Work, executor: Executor, before: FloatArray | None
) -> _Minimum:
    recipe, problem = chosen.recipe, chosen.problem
    strength = asked.alpha * recipe.units.penalty if asked.alpha else 0.0
    residuals = recipe.residuals(problem.X, chosen.labels)
    problem = replace(problem, residuals=residuals, reweighting=None)
    unsolved = LinearFit(
        problem=problem,
        design=recipe.design,
        solution=Solution(
            np.zeros(recipe.design.n_columns), Status.CONVERGED, 0.0, 0.0, 0, "none yet"
        ),
        risk=ridge(np.zeros(recipe.design.n_columns)),
        reference=recipe.reference,
        branches=(),
        alpha=strength,
        pooled=recipe.pooled,
    )
    leverage = without_rows(unsolved) if asked.wanted.errors else None
    around = surroundings(recipe, 2) if asked.wanted.errors else (recipe.before, recipe.after)
    name = digest(
        "risk", None if before is None else before.tolist(), strength > 0, asked.wanted.errors
    )
    computed = RiskOfRange(leverage, before, strength > 0)
    total = summed(work.over(Pass(name, recipe, *around, computed), executor))
    if total.risk is None:
        raise ValueError(
            f"{recipe.sampler!r} must find at least one tuple of {recipe.statistic.arity} rows, "
            f"got none among {work.rows} rows: widen its neighbourhood, or use another sampler"
        )
    risk = with_ridge(total.risk, recipe.design, strength * total.weight)
    result = replace(
        unsolved,
        solution=minimiser(risk, problem, recipe.design, recipe.reference),
        risk=risk,
        branches=branches_of(problem, recipe, total.count),
    )
    return _Minimum(result, total, before)
