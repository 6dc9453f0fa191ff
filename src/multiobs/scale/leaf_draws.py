"""Tuples of leaves by their number, found among rows that are read in any order."""

from dataclasses import dataclass, replace
from math import comb
from typing import Any, final

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.fit import LinearFit
from multiobs.scale.leaf_passes import LeafSetting
from multiobs.scale.leaf_runs import CodedRun
from multiobs.tuples import Tuples, subset_counts, unrank_subsets


def tuple_counts(size: IntArray, m: int) -> list[int]:
    """How many tuples each leaf has, as integers of any size."""
    different, where = np.unique(size, return_inverse=True)
    counts = [comb(int(each), m) for each in different]
    return [counts[i] for i in where.reshape(-1)]


@final
@dataclass(frozen=True)
class SoughtRows:
    """Rows that are sought: each by its leaf, among all leaves, and its rank in the leaf.

    Attributes
    ----------
    leaf, rank : ndarray of int (t, m)
        Of each member of each tuple.
    """

    leaf: IntArray
    rank: IntArray


def numbered_tuples(numbers: IntArray, size: IntArray, m: int) -> SoughtRows:
    """Members of tuples by their number: leaf by leaf, and by their first row within a leaf.

    >>> found = numbered_tuples(np.array([0, 3]), np.array([2, 3]), 2)
    >>> found.leaf.tolist(), found.rank.tolist()
    ([[0, 0], [1, 1]], [[0, 1], [1, 2]])
    """
    ends = np.cumsum(np.array(tuple_counts(size, m), dtype=np.float64))
    exact = np.cumsum(np.array(tuple_counts(size, m), dtype=object))
    leaf = np.minimum(np.searchsorted(ends, numbers, side="right"), size.size - 1)
    rank = np.empty((numbers.size, m), dtype=np.int64)
    for i, (number, at) in enumerate(zip(numbers.tolist(), leaf.tolist(), strict=True)):
        n = int(size[at])
        within = int(number) - (int(exact[at - 1]) if at else 0)
        each = subset_counts(np.arange(n - 1, -1, -1), m - 1)
        after = np.cumsum(each)
        first = int(np.searchsorted(after, within, side="right"))
        rest = np.array([within - int(after[first] - each[first])])
        chosen = unrank_subsets(rest, m - 1, n)[0]
        rank[i] = np.concatenate([[first], first + 1 + chosen])
    return SoughtRows(np.repeat(leaf[:, None], m, axis=1).astype(np.int64), rank)


@final
@dataclass(frozen=True)
class FindRows:
    """Find sought rows in some runs.

    Attributes
    ----------
    setting : LeafSetting
        What all passes share.
    wanted : Wanted
        The rows.
    """

    setting: LeafSetting
    wanted: SoughtRows

    def __call__(self, task: tuple[IntArray, tuple[CodedRun, ...]]) -> dict[str, Any]:
        """Features, labels, weights of the rows, and which of the sought rows they are.

        The task holds how many rows of each leaf came before these runs.
        """
        before, runs = task
        leaf, rank = self.wanted.leaf.reshape(-1), self.wanted.rank.reshape(-1)
        starts = self.setting.recipe.forest.starts
        needed = np.zeros(int(starts[-1]), dtype=np.bool_)
        needed[leaf] = True
        seen = before.copy()
        kept: dict[str, list[Any]] = {name: [] for name in ("which", "Z", "labels", "weight", "times")}  # fmt: skip  # noqa: E501
        m = self.setting.recipe.statistic.arity
        for batch in self.setting.batches(runs):
            for tree in range(batch.codes.shape[1]):
                code = batch.codes[:, tree] + starts[tree]
                rows = np.flatnonzero(needed[code])
                if rows.size == 0:
                    continue
                rows = rows[np.argsort(code[rows], kind="stable")]
                here = code[rows]
                first = np.flatnonzero(np.diff(here, prepend=-1))
                count = np.diff(first, append=here.size)
                ranks = np.arange(here.size) - np.repeat(first, count) + seen[here]
                seen[here[first]] += count
                for which, row in _matches(leaf, rank, here, ranks, rows):
                    weight = None if batch.weight is None else float(batch.weight[row])
                    kept["which"].append(which)
                    kept["Z"].append(batch.Z[row])
                    kept["labels"].append(batch.labels[row])
                    kept["weight"].append(1.0 if weight is None else weight)
                    kept["times"].append(batch.counts[row] * kept["weight"][-1] ** m)
        return {name: np.array(values) for name, values in kept.items()}


def _matches(
    leaf: IntArray, rank: IntArray, here: IntArray, ranks: IntArray, rows: IntArray
) -> list[tuple[int, int]]:
    """Which sought (leaf, rank) are among those here, with their rows."""
    order = np.lexsort((ranks, here))
    here, ranks, rows = here[order], ranks[order], rows[order]
    start = np.searchsorted(here, leaf, side="left")
    stop = np.searchsorted(here, leaf, side="right")
    out = []
    for i in np.flatnonzero(stop > start).tolist():
        at = start[i] + int(rank[i] - ranks[start[i]])
        if start[i] <= at < stop[i]:
            out.append((i, int(rows[at])))
    return out


def drawn_problem(
    fit: LinearFit, wanted: SoughtRows, found: list[dict[str, Any]]
) -> tuple[LinearFit, Tuples, FloatArray]:
    """Put the sought rows into a problem of their own; also how much all their tuples weigh."""
    parts = [part for part in found if part["which"].size]
    which = np.concatenate([part["which"] for part in parts]).astype(np.int64)
    order = np.argsort(which)
    t, m = wanted.leaf.shape
    assert np.array_equal(which[order], np.arange(t * m))

    def joined(name: str) -> FloatArray:
        return np.concatenate([part[name] for part in parts])[order]

    Z, p = joined("Z"), fit.design.n_columns
    first = int(fit.design.intercept)
    X = Z[:, first:p] * fit.design.spread + fit.design.centre
    labels = joined("labels")
    labels = labels[:, 0] if fit.problem.statistic.n_columns == 1 else labels
    residuals = replace(
        fit.problem.residuals, labels=labels, offset=Z[:, p] if Z.shape[1] > p else None
    )
    drawn = Tuples(np.arange(t * m).reshape(t, m), t * m)
    problem = replace(
        fit.problem, X=X, place=X, residuals=residuals, tuples=drawn, weight=joined("weight"),
        blocks=None, reweighting=None,
    )  # fmt: skip
    return replace(fit, problem=problem), drawn, joined("times")
