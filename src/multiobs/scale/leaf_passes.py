"""Passes over rows with their leaves: sums of leaves, the risk, leverages and scores."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, final

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.inference import Leverages, scores_of_rows
from multiobs.scale.leaf_recipe import LeafRecipe
from multiobs.scale.leaf_runs import CodedRun
from multiobs.scale.storage import Place
from multiobs.statistics.kernels import constant
from multiobs.sums.leaf_pairs import PairRows, PairSlope
from multiobs.sums.leaves import (
    LeafRows,
    LeafSums,
    LeafTask,
    Partners,
    equal_pairs,
    jet_columns,
)
from multiobs.sums.scores import Term


@lru_cache(maxsize=4)
def stored(path: Place) -> "np.typing.NDArray[Any]":
    """An array that all passes share; read once by every process."""
    with path.open("rb") as file:
        found: np.typing.NDArray[Any] = np.load(file, allow_pickle=False)
    return found


@final
@dataclass(frozen=True)
class Batch:
    """Some rows with all that passes ask for.

    Attributes
    ----------
    Z : ndarray (n, q)
        Features, the pilot among them where it is added back.
    labels : ndarray (n, s)
        Labels less their pilot.
    weight : ndarray (n,) or None
        Weights, balance included.
    codes : ndarray of int (n, trees)
        Leaves.
    counts : ndarray (n,)
        How many tuples contain each row.
    """

    Z: FloatArray
    labels: FloatArray
    weight: FloatArray | None
    codes: IntArray
    counts: FloatArray


@final
@dataclass(frozen=True)
class LeafSetting:
    """What all passes share.

    Attributes
    ----------
    recipe : LeafRecipe
        Forest, pilots and class.
    sizes : Place
        Number of rows in every leaf.
    first_fit : ndarray (p,) or None
        Coefficients that weights are improved by.
    """

    recipe: LeafRecipe
    sizes: Place
    first_fit: FloatArray | None = None

    def size(self) -> tuple[FloatArray, ...]:
        """How many rows the leaves of each tree have."""
        starts, found = self.recipe.forest.starts, stored(self.sizes).astype(np.float64)
        return tuple(found[a:b] for a, b in pairwise(starts.tolist()))

    def batches(self, runs: tuple[CodedRun, ...]) -> Iterator[Batch]:
        """All rows of some runs."""
        recipe, size = self.recipe, self.size()
        for run in runs:
            for each in run.chunks():
                X, offset = recipe.columns(each.rows), each.moved.offset
                Z = recipe.design.columns(X)
                if offset is not None:
                    Z = np.column_stack([Z, offset])
                counts = recipe.counts(each.codes, size)
                weight = recipe.weights(counts, each.rows.weight)
                weight = recipe.reweighted(X, offset, weight, self.first_fit)
                yield Batch(Z, each.moved.labels, weight, each.codes, counts)

    def rows_of(self, batch: Batch, tree: int, sums: LeafSums, columns: FloatArray) -> LeafRows:
        """Rows with their labels measured from the level of their leaf."""
        labels = batch.labels
        if sums.centred:
            labels = labels - self.recipe.levels[tree][batch.codes[:, tree]]
        return LeafRows(labels, batch.weight, columns)

    def pair_rows(self, batch: Batch, slope: PairSlope) -> Iterator[PairRows]:
        """The same rows with their leaves in each tree, labels measured from their level."""
        columns = jet_columns(batch.Z, None, 1)
        for tree, codes in enumerate(batch.codes.T):
            labels = batch.labels
            if slope.centred:
                labels = labels - self.recipe.levels[tree][codes]
            yield PairRows(labels, columns, batch.weight, codes)

    def partners(
        self, batch: Batch, sums: LeafSums, columns: FloatArray, table: FloatArray
    ) -> Iterator[Partners]:
        """Sums over the other rows of each row's leaf, tree by tree."""
        starts = self.recipe.forest.starts
        for tree, size in enumerate(self.size()):
            rows = self.rows_of(batch, tree, sums, columns)
            here = table[starts[tree] : starts[tree + 1]]
            yield sums.partners(rows, batch.codes[:, tree], here, size)


@final
@dataclass(frozen=True)
class TableOfRuns:
    """Sum what tasks need over the rows of each leaf.

    Attributes
    ----------
    setting : LeafSetting
        What all passes share.
    tasks : tuple of LeafTask
        What is asked for.
    form : ndarray (q,) or None
        Coefficients of a form of the features.
    """

    setting: LeafSetting
    tasks: tuple[LeafTask, ...]
    form: FloatArray | None = None

    def __call__(self, runs: tuple[CodedRun, ...]) -> dict[str, Any]:
        """Sums (leaves, width), all trees one after the other."""
        forest = self.setting.recipe.forest
        starts, table, sums = forest.starts, None, None
        for batch in self.setting.batches(runs):
            if sums is None or table is None:
                sums = LeafSums(self.tasks, batch.Z.shape[1])
                table = np.zeros((int(starts[-1]), sums.width))
            columns = jet_columns(batch.Z, self.form, max(task.order for task in self.tasks))
            for tree in range(forest.trees):
                rows = self.setting.rows_of(batch, tree, sums, columns)
                here = slice(int(starts[tree]), int(starts[tree + 1]))
                table[here] += sums.table(rows, batch.codes[:, tree], here.stop - here.start)
        return {} if table is None else {"table": table}


@final
@dataclass(frozen=True)
class PairsOfRuns:
    """Sum what the scores of pairs need over the rows of each leaf.

    Attributes
    ----------
    setting : LeafSetting
        What all passes share.
    terms : tuple of Term
        Derivative of a loss of pairs at the fitted coefficients.
    """

    setting: LeafSetting
    terms: tuple[Term, ...]

    def __call__(self, runs: tuple[CodedRun, ...]) -> dict[str, Any]:
        """Sums (leaves × rank, 1 + q), all trees one after the other."""
        slope, forest, total = PairSlope(self.terms), self.setting.recipe.forest, None
        for batch in self.setting.batches(runs):
            trees = self.setting.pair_rows(batch, slope)
            if total is None:
                shape = (slope.rank * int(forest.starts[-1]), 1 + batch.Z.shape[1])
                total = np.zeros(shape)
            for part, rows in zip(slope.by_tree(total, forest.starts), trees, strict=True):
                part += slope.table(rows, part.shape[0] // slope.rank)
        return {} if total is None else {"table": total}


@final
@dataclass(frozen=True)
class RiskOfRuns:
    """Sum the kernel of each power of r, and what leverages need.

    Attributes
    ----------
    setting : LeafSetting
        What all passes share.
    tasks : tuple of LeafTask
        Kernel of each of the powers; one more for the weight of all tuples.
    powers : tuple of int
        The powers.
    table : Place
        Sums of :class:`TableOfRuns` over all rows.
    """

    setting: LeafSetting
    tasks: tuple[LeafTask, ...]
    powers: tuple[int, ...]
    table: Place

    def __call__(self, runs: tuple[CodedRun, ...]) -> dict[str, Any]:
        """Tensor of each power, weight of all tuples, and Σ z z' of the rows' tuples.

        Of pairs whose second power does not depend on labels only the products of a row's features
        with themselves are summed: :meth:`whole` adds the others, which leaves know.
        """
        recipe, table = self.setting.recipe, stored(self.table)
        m, p, same = recipe.statistic.arity, recipe.design.n_columns, self._same()
        total: dict[str, Any] = {"weight": 0.0, "info": np.zeros((p, p))}
        tasks, sums = self.tasks, None
        if same is not None:
            tasks = tuple(LeafTask(task.kernel, 0) for task in tasks)
        for batch in self.setting.batches(runs):
            if sums is None:
                sums = LeafSums(self.tasks, batch.Z.shape[1])
                if same is not None:
                    sums, table = sums.without_features(table)
            columns = jet_columns(batch.Z, None, max(task.order for task in tasks))
            found: list[FloatArray | float] = [0.0] * len(tasks)
            for others in self.setting.partners(batch, sums, columns, table):
                for i, task in enumerate(tasks):
                    jet = sums.jet(task, others)
                    found[i] = found[i] + (jet.z if task.order else jet.one)
            for k, each in zip(self.powers, found, strict=False):
                name, value = f"power {k}", np.asarray(each)
                if k == 2 and same is not None:
                    own = 1.0 if batch.weight is None else batch.weight[:, None] ** 2
                    value = (value - same * recipe.forest.trees * own) * batch.Z
                tensor = value.sum() / m if k == 0 else batch.Z.T @ value / m**k
                tensor = tensor[:, 0] if k == 1 else tensor
                total[name] = total.get(name, 0.0) + tensor
            if len(tasks) > len(self.powers):
                total["weight"] += float(np.sum(found[-1])) / m
            times = times_of(batch, m) / m
            total["info"] += (batch.Z[:, :p] * times[:, None]).T @ batch.Z[:, :p]
        return total

    def whole(self, total: dict[str, Any]) -> dict[str, Any]:
        """Sums of all runs with what is known from the leaves alone."""
        same = self._same()
        if same is None:
            return total
        recipe = self.setting.recipe
        sums = LeafSums(self.tasks, recipe.design.n_columns + int(recipe.located))
        crossed = sums.crossed(self.tasks[self.powers.index(2)], stored(self.table))
        return {**total, "power 2": total["power 2"] + same * crossed / recipe.statistic.arity**2}

    def _same(self) -> float | None:
        """The kernel of the second power, where it is a constant of pairs."""
        return equal_pairs(self.tasks[self.powers.index(2)]) if 2 in self.powers else None


@final
@dataclass(frozen=True)
class ScoresOfRuns:
    """Sum the scores of rows.

    Attributes
    ----------
    setting : LeafSetting
        What all passes share.
    terms : tuple of Term
        Derivative of the loss at the fitted coefficients.
    known : Leverages
        Of all rows.
    table : Place
        Sums of :class:`PairsOfRuns` or, of other tuples, :class:`TableOfRuns` over all rows.
    inverse : ndarray (p, p) or None
        Of the variance of all scores, by which their shares in it are summed.
    """

    setting: LeafSetting
    terms: tuple[Term, ...]
    known: Leverages
    table: Place
    inverse: FloatArray | None = None

    def __call__(self, runs: tuple[CodedRun, ...]) -> dict[str, Any]:
        """Sums of :func:`multiobs.inference.scores_of_rows`."""
        recipe = self.setting.recipe
        m, p = recipe.statistic.arity, recipe.design.n_columns
        scores = self._of_pairs if m == 2 else self._of_tuples
        total: dict[str, Any] = {}
        for batch in self.setting.batches(runs):
            g = scores(batch)
            part = scores_of_rows(
                g[:, :p], batch.Z[:, :p], times_of(batch, m), self.known, self.inverse
            )
            total = {name: total.get(name, 0.0) + value for name, value in part.items()}
        return total

    def _of_pairs(self, batch: Batch) -> FloatArray:
        slope, starts = PairSlope(self.terms), self.setting.recipe.forest.starts
        tables = slope.by_tree(stored(self.table), starts)
        return slope.scores(self.setting.pair_rows(batch, slope), tables)

    def _of_tuples(self, batch: Batch) -> FloatArray:
        m, (tasks, form) = self.setting.recipe.statistic.arity, tasks_of(self.terms)
        sums = LeafSums(tasks, batch.Z.shape[1])
        columns = jet_columns(batch.Z, form, max(task.order for task in tasks))
        g = np.zeros_like(batch.Z)
        for others in self.setting.partners(batch, sums, columns, stored(self.table)):
            for task in tasks:
                g += sums.jet(task, others).top() / float(m) ** task.order
        return g


def tasks_of(terms: tuple[Term, ...]) -> tuple[tuple[LeafTask, ...], FloatArray | None]:
    """Tasks of the derivative of a quadratic loss, and the one form that its terms have."""
    tasks = tuple(LeafTask(term.kernel, term.degree) for term in terms)
    forms = [form for term in terms for form in term.forms]
    return tasks, forms[0] if forms else None


def risk_tasks(recipe: LeafRecipe, weighed: bool) -> tuple[tuple[LeafTask, ...], tuple[int, ...]]:
    """Tasks of the risk, and the power of r of each; the weight of all tuples comes last."""
    statistic = recipe.statistic
    tasks = [LeafTask(kernel, int(k == 2)) for k, kernel in statistic.loss.sums]
    if weighed:
        tasks.append(LeafTask(constant(1.0, statistic.arity, statistic.n_columns), 0))
    return tuple(tasks), tuple(k for k, _ in statistic.loss.sums)


def times_of(batch: Batch, m: int) -> FloatArray:
    """Weight (n,) of the tuples of each row."""
    return batch.counts if batch.weight is None else batch.counts * batch.weight**m
