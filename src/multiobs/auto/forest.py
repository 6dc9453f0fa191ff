"""Neighbourhoods for many columns: leaves of trees grown on the labels of other rows."""

from typing import Any

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.tuples import canonical_order

FOLDS = 2
TREES = 20  # in each fold; half as many where each grows on many rows
GROWN_ON = 20_000  # rows that trees are grown on at most


def tree_targets(y: FloatArray) -> FloatArray:
    """Labels and their squares (n, 2 s), of spread one: trees split where either changes."""
    columns = y[:, None] if y.ndim == 1 else y
    centred = columns - columns.mean(axis=0)
    targets = np.concatenate([centred, centred**2], axis=1)
    spread = targets.std(axis=0)
    return np.asarray(targets / np.where(spread > 0, spread, 1.0))


def grown(
    X: FloatArray, targets: FloatArray, arity: int, members: int, trees: int, seed: int
) -> Any:
    """Extremely randomised trees for some rows, whose leaves hold several times m other rows.

    Parameters
    ----------
    X, targets : ndarray (n, d) and (n, t)
        Positions and targets of the rows that trees are grown on, or of more.
    arity : int
        Observations m of a tuple.
    members : int
        How many other rows the leaves are for.
    trees, seed : int
        How many trees, and what they are drawn from.
    """
    from sklearn.ensemble import ExtraTreesRegressor

    if X.shape[0] > GROWN_ON:
        step = X.shape[0] // GROWN_ON
        X, targets = X[::step], targets[::step]
    share = X.shape[0] / max(members, 1)
    return ExtraTreesRegressor(
        trees,
        min_samples_leaf=max(2, round(8 * arity * share)),
        max_features=max(1, round(0.7 * X.shape[1])),
        random_state=seed,
    ).fit(X, targets)


def honest_leaves(X: FloatArray, y: FloatArray, arity: int, rng: np.random.Generator) -> IntArray:
    """Leaf codes (n, trees) of extremely randomised trees that never saw the row's own label.

    The trees are grown on y and y² of the other fold, so that they split where the mean or the
    spread changes and leave irrelevant columns alone.

    Parameters
    ----------
    X : ndarray (n, d)
        Positions.
    y : ndarray (n,) or (n, s)
        Labels.
    arity : int
        Observations of a tuple: a leaf holds several times as many rows.
    rng : Generator
        Seeds the trees.
    """
    n = X.shape[0]
    # In an order of their own the rows grow the same trees however the table is sorted.
    order = canonical_order(X, y)
    X, y = X[order], y[order]
    targets = tree_targets(y)
    folds = rng.permutation(n) % FOLDS
    trees = TREES if n < GROWN_ON else TREES // 2
    codes = np.empty((n, trees), dtype=np.int64)
    for fold in range(FOLDS):
        mine, others = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        seed = int(rng.integers(2**31 - 1))
        forest = grown(X[others], targets[others], arity, mine.size, trees, seed)
        leaves = forest.apply(np.ascontiguousarray(X[mine]))
        codes[order[mine]] = leaves * FOLDS + fold  # rows of two folds never share a leaf
    return codes
