"""From a sample to a recipe: everything that is left open is settled before the ranges are read."""

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from multiobs import samplers
from multiobs._check.rows import Rows as ValidRows
from multiobs._types import FloatArray
from multiobs.auto import Prepared, Request, choose, prepare
from multiobs.fit import Design, Problem, make_design, many_tuples, reference_level
from multiobs.samplers import Reach, Sampler
from multiobs.scale.budget import refuse_tensors
from multiobs.scale.columns import ReadRows
from multiobs.scale.recipe import Encoding, Recipe, tabulated
from multiobs.transport import Piloted, fit_pilot, fit_scale_pilot
from multiobs.tuples import Anchored, Tuples, order_by


@final
@dataclass(frozen=True)
class Sample:
    """A sample of all rows, and what is known of the others.

    Attributes
    ----------
    rows : Rows
        In their own order.
    total : int
        How many rows there are in all.
    low, high : ndarray
        Least and largest x and y of all rows, x first.
    members : dict of int to int
        How many rows each key has.
    """

    rows: ReadRows
    total: int
    low: FloatArray
    high: FloatArray
    members: dict[int, int]

    @property
    def complete(self) -> bool:
        """Whether the sample holds every row."""
        return self.rows.size == self.total


@final
@dataclass(frozen=True)
class ScaleRequest:
    """What the user asked for.

    Attributes
    ----------
    request : Request
        Statistic, sampler and transport.
    features : transformer or None
        Of the linear class.
    fit_intercept : bool
        Whether the class contains the constants.
    seed : int
        Of the sample and of everything drawn.
    errors : bool
        Whether standard errors are computed.
    """

    request: Request
    features: Any
    fit_intercept: bool
    seed: int
    errors: bool = True


@final
@dataclass(frozen=True)
class Chosen:
    """A recipe, the problem of the sample it was made from, and the reasons.

    Attributes
    ----------
    recipe : Recipe
        What every range does.
    problem : Problem
        Of the sample alone.
    labels : ndarray (s, columns)
        Of the sample, as given.
    reasons : tuple of str
        Sentences for ``plan_``.
    """

    recipe: Recipe
    problem: Problem
    labels: FloatArray
    reasons: tuple[str, ...]


def choose_recipe(wanted: ScaleRequest, sample: Sample, encoding: Encoding | None) -> Chosen:
    """Settle everything by the sample.

    Parameters
    ----------
    wanted : Wanted
        What the user asked for.
    sample : Sample
        Rows to decide by.
    encoding : Encoding or None
        Of matched categories.
    """
    request, rows = wanted.request, sample.rows
    statistic = request.statistic
    X = rows.x if encoding is None or rows.key is None else encoding.expand(rows.x, rows.key)
    labels = rows.y[:, 0] if statistic.n_columns == 1 else rows.y
    valid = ValidRows(X, rows.x, labels, rows.weight, rows.key)
    ready = prepare(request, valid, np.random.default_rng(wanted.seed))
    asked = ready.sampler if request.sampler == "auto" else samplers.resolve(request.sampler)
    sampler = samplers.settled_for(asked, ready.sampler, rows.x, sample.total)
    reach = samplers.reach(sampler, statistic.arity)
    if reach is None:
        raise ValueError(
            f"sampler must reach a bounded number of rows in one column, got {sampler!r}: use "
            "SlidingWindow, Adjacent, Nearby, Nearest, Disjoint or Replicates"
        )
    if samplers.one_order(sampler, ready.problem.tuples, _tied(rows), sample.complete):
        reach = replace(reach, drawn=True)
    if reach.both and statistic.arity > 2 and wanted.errors:
        raise ValueError(
            f"errors must be False for {sampler!r} and {statistic.arity} observations: use "
            "Adjacent or Nearby for standard errors by parts"
        )
    design = _design(wanted, sample, X)
    refuse_tensors(statistic, design.n_columns)
    problem = ready.problem
    weighing = problem.reweighting
    choice = choose(statistic, request.sampler, request.transport, rows.x)
    pooled = _pooled(ready, design, sample, reach)
    pilots = _pilots(problem, labels)
    recipe = Recipe(
        statistic=statistic,
        sampler=sampler,
        reach=reach,
        units=problem.units,
        design=design,
        # pooled tuples lie between the rows, where a table is not as exact as the pilot
        pilots=tuple(pilot if pooled else tabulated(pilot, X) for pilot in pilots),
        share=_share(problem, labels) if sample.complete else 1.0,
        scale=problem.residuals.scale,
        balanced=choice.balanced and statistic.arity > 1,
        reweighting=None if weighing is None else replace(weighing, weight=np.empty(0)),
        spread=None if weighing is None else fit_scale_pilot(X, problem.residuals.labels, None),
        reference=None,
        pooled=pooled,
        encoding=encoding,
        limit=problem.limit,
        members=_members(sampler, sample, statistic.arity),
    )
    residuals = recipe.residuals(X, rows.y)
    reference = reference_level(statistic.loss, design.features(X), residuals.labels)
    recipe = replace(recipe, reference=reference)
    return Chosen(recipe, problem, rows.y, _reasons(ready, sample, sampler))


def _tied(rows: ReadRows) -> bool:
    """Whether any rows of one key share their x."""
    order = order_by(rows.x[:, 0], rows.key)
    same = np.diff(rows.x[order, 0]) == 0
    if rows.key is not None:
        same &= np.diff(rows.key[order]) == 0
    return bool(np.any(same))


def _members(sampler: Sampler, sample: Sample, arity: int) -> dict[int, int]:
    """Sizes of the groups, where they decide how many rows go together."""
    one = samplers.for_group(sampler, 1, sample.total, arity)
    return {} if one == sampler else sample.members


def _pilots(problem: Problem, labels: FloatArray) -> list[Piloted]:
    """Pilots of each column of y in working units; none without transport."""
    first = problem.residuals.pilot
    if first is None:
        return []
    inward = problem.units.inward(labels)
    if inward.ndim == 1:
        return [first]
    more = [fit_pilot(problem.X, inward[:, c], problem.weight) for c in range(1, inward.shape[1])]
    return [first, *more]


def _share(problem: Problem, labels: FloatArray) -> float:
    """By what residuals were divided to undo what the pilot took of their spread."""
    residuals, pilot = problem.residuals, problem.residuals.pilot
    if pilot is None or pilot.smooth is None or labels.ndim == 2:
        return 1.0
    raw = problem.units.inward(labels) - pilot.at_rows
    if residuals.scale is not None:
        raw = raw / residuals.scale.predict(problem.X)
    at = int(np.argmax(np.abs(raw)))
    return float(raw[at] / residuals.labels[at]) if raw[at] != 0.0 else 1.0


def _design(wanted: ScaleRequest, sample: Sample, X: FloatArray) -> Design:
    """The class, in units that all rows respect."""
    rows = X
    if not sample.complete:
        ends = X[:2].copy()
        ends[:, 0] = sample.low[0], sample.high[0]
        rows = np.concatenate([X, ends])
    return make_design(wanted.features, rows, wanted.fit_intercept)


def _pooled(ready: Prepared, design: Design, sample: Sample, reach: Reach) -> bool:
    """Whether each anchor's tuples are pooled, by the rule of a fit in memory."""
    tuples = ready.problem.tuples
    if ready.problem.residuals.scale is not None:
        return True
    if design.transformer is None or isinstance(tuples, Tuples):
        return False
    assert isinstance(tuples, Anchored)
    more = sample.total / sample.rows.size
    share = float(tuples.n_partners.mean()) / tuples.n_rows
    if reach.width > 0:  # partners grow with the rows
        return many_tuples(ready.count * more**tuples.arity, share)
    return many_tuples(ready.count * more, share / more)


def _reasons(ready: Prepared, sample: Sample, sampler: Sampler) -> tuple[str, ...]:
    if sample.complete:
        return ready.reasons
    settled = () if sampler == ready.sampler else (f"sampler: {sampler!r} for all rows",)
    share = f"chosen on a sample of {sample.rows.size} of {sample.total} rows"
    return (*ready.reasons, *settled, share)
