"""Leaves of a forest grown on a sample: which rows go together in several columns.

Every row has one of two folds, drawn when it was read.  The trees and the pilot that a row meets
were fitted to rows of the other fold, so that neither has seen its label; rows of two folds never
share a leaf.
"""

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.auto import FOLDS, GROWN_ON, TREES, grown, tree_targets

BITS = 2.0**40  # of a uniform number, of which the last decides about the fold


def fold_of(draw: FloatArray) -> IntArray:
    """Fold (n,) of rows by their uniform numbers; independent of which numbers are small."""
    return np.asarray((draw * BITS).astype(np.int64) % FOLDS)


@final
@dataclass(frozen=True)
class Forest:
    """Trees of each fold, with all leaves of a tree numbered from zero.

    Attributes
    ----------
    models : tuple of ExtraTreesRegressor
        One for each fold; none at all if all rows share one leaf.
    numbers : tuple of tuple of ndarray of int
        Number of each node that is a leaf, by fold and tree.
    leaves : tuple of int
        How many leaves each tree has, over both folds.
    keys : int
        Into how many parts groups and categories divide each leaf.
    """

    models: tuple[Any, ...]
    numbers: tuple[tuple[IntArray, ...], ...]
    leaves: tuple[int, ...]
    keys: int

    @property
    def trees(self) -> int:
        """How many trees."""
        return len(self.leaves)

    @property
    def sizes(self) -> IntArray:
        """Leaves of each tree, cut by keys, (trees,)."""
        return np.array(self.leaves, dtype=np.int64) * self.keys

    @property
    def starts(self) -> IntArray:
        """Where the leaves of each tree begin among all leaves, (trees + 1,)."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)

    def codes(self, X: FloatArray, fold: IntArray, key: IntArray | None) -> IntArray:
        """Leaf (n, trees) of each row, counted within the tree."""
        found = np.zeros((X.shape[0], self.trees), dtype=np.int64)
        for each, model in enumerate(self.models):
            mine = np.flatnonzero(fold == each)
            if mine.size == 0:
                continue
            place = np.ascontiguousarray(X[mine], dtype=np.float32)
            for tree, number in enumerate(self.numbers[each]):
                # the tree itself: the forest's own way starts threads inside those of the plan
                found[mine, tree] = number[model.estimators_[tree].tree_.apply(place)]
        return found if key is None else found * self.keys + key[:, None]


def one_leaf(keys: int) -> Forest:
    """All rows together: for statistics of single rows."""
    return Forest((), (), (1,), keys)


def grow(
    X: FloatArray, y: FloatArray, fold: IntArray, *, arity: int, total: int, keys: int,
    most: int, seed: int,
) -> Forest:  # fmt: skip
    """Grow the trees on a sample.

    Parameters
    ----------
    X, y, fold : ndarray
        Positions (s, d), labels (s,) or (s, c) in working units, and folds (s,) of the sample.
    arity : int
        Observations of a tuple.
    total : int
        How many rows there are in all.
    keys : int
        Into how many parts groups and categories divide each leaf.
    most : int
        Leaves of all trees that fit into memory.
    seed : int
        Seeds the trees.
    """
    rng = np.random.default_rng(seed)
    targets = tree_targets(y)
    trees = TREES if total < GROWN_ON else TREES // 2
    allowed = max(most // (keys * trees * FOLDS), 2)  # leaves of a tree
    members = min(total // FOLDS, 8 * arity * allowed)
    models = []
    for each in range(FOLDS):
        others = np.flatnonzero(fold != each)
        model_seed = int(rng.integers(2**31 - 1))
        models.append(grown(X[others], targets[others], arity, members, trees, model_seed))
    leaves, numbers = [], []
    for tree in range(trees):
        names = [np.flatnonzero(m.estimators_[tree].tree_.children_left < 0) for m in models]
        joint = np.sort(np.concatenate([n * FOLDS + f for f, n in enumerate(names)]))
        leaves.append(int(joint.size))
        here = []
        for f, name in enumerate(names):
            number = np.full(models[f].estimators_[tree].tree_.node_count, -1, dtype=np.int64)
            number[name] = np.searchsorted(joint, name * FOLDS + f)
            here.append(number)
        numbers.append(here)
    by_fold = tuple(tuple(numbers[t][f] for t in range(trees)) for f in range(FOLDS))
    return Forest(tuple(models), by_fold, tuple(leaves), keys)
