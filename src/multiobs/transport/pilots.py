"""Pilots of the conditional mean, chosen by cross-validation, for labels to be carried by.

In one column: a GCV spline, or steps found by a small regression tree with a spline on what they
leave.  In more columns: an additive spline, or boosted trees on what it leaves.  A pilot that can
follow single labels (boosting) is cross-fitted, and its folds are never mixed in a tuple.
"""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Self, final

import numpy as np
from threadpoolctl import ThreadpoolController

from multiobs._types import FloatArray, IntArray
from multiobs.native.window_sums import stable_argsort
from multiobs.transport.spline import SplinePilot

LEAVES = (3, 6, 12)  # sizes of the tree that looks for steps
PROBE = 2000  # rows that the choice between pilots is made on; twice as many in several columns
FOLDS = 5  # of a cross-fitted pilot; two where half of the rows are plenty
PLENTY = 20_000
BLOCKS = 8192  # means of adjacent rows that stand for more rows than twice as many


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def one_thread(rows: int) -> AbstractContextManager[Any]:
    """Keep small work on one thread: several would wait for each other on a busy machine."""
    few = rows < 50_000
    limited: AbstractContextManager[Any] = _controller().limit(
        limits=1, user_api=None if few else "blas"
    )
    return limited


@final
class StepPilot:
    """A small regression tree for the jumps, and a spline for the rest; one column of x."""

    def __init__(self, leaves: int) -> None:
        self.leaves = leaves

    def fit(
        self,
        X: FloatArray,
        y: FloatArray,
        weight: FloatArray | None = None,
        spline: SplinePilot | None = None,
    ) -> Self:
        """Fit the tree, then the spline to its residuals; ``spline`` is one of the same rows."""
        from sklearn.tree import DecisionTreeRegressor

        tree = DecisionTreeRegressor(max_leaf_nodes=self.leaves, min_samples_leaf=5, random_state=0)
        self._tree = tree.fit(X, y, sample_weight=weight)
        left = y - self._tree.predict(X)
        again = SplinePilot().fit if spline is None else spline.again
        self.spline = again(X, left, weight)
        return self

    def predict(self, X: FloatArray) -> FloatArray:
        """Value at positions X (n, d)."""
        return np.asarray(self._tree.predict(X) + self.spline.predict(X))


@final
class LevelPilot:
    """The mean of y whatever x is: for so few rows that nothing else can be learned."""

    def fit(self, X: FloatArray, y: FloatArray, weight: FloatArray | None = None) -> Self:
        """Take the mean."""
        self._level = float(np.average(y, weights=weight))
        return self

    def predict(self, X: FloatArray) -> FloatArray:
        """Value at positions X (n, d)."""
        return np.full(X.shape[0], self._level)


@final
class BoostedPilot:
    """An additive spline, and boosted trees on what it leaves; any number of columns."""

    def fit(
        self,
        X: FloatArray,
        y: FloatArray,
        weight: FloatArray | None = None,
        spline: SplinePilot | None = None,
    ) -> Self:
        """Fit the spline, unless it is given, then the trees to its residuals."""
        from sklearn.ensemble import HistGradientBoostingRegressor

        self._spline = SplinePilot().fit(X, y, weight) if spline is None else spline
        if y.size > PLENTY:  # a tree of a few leaves needs no more rows
            kept = np.arange(0, y.size, y.size // PLENTY)
            X, y = X[kept], y[kept]
            weight = None if weight is None else weight[kept]
        # Many trees of four leaves: interactions of a few columns, and little noise.
        trees = HistGradientBoostingRegressor(
            max_iter=200, learning_rate=0.1, max_leaf_nodes=4, early_stopping=False,
            min_samples_leaf=max(2, min(20, y.size // 20)), random_state=0,
        )  # fmt: skip
        self._trees = trees.fit(X, y - self._spline.predict(X), sample_weight=weight)
        return self

    def predict(self, X: FloatArray) -> FloatArray:
        """Value at positions X (n, d)."""
        return np.asarray(self._spline.predict(X) + self._trees.predict(X))


@final
@dataclass(frozen=True)
class Piloted:
    """A pilot evaluated at the rows it was fitted to.

    Attributes
    ----------
    name : str
        Which pilot won.
    at_rows : ndarray (n,)
        Its value at each row; of a cross-fitted pilot, by the fit that did not see the row.
    folds : ndarray of int (n,) or None
        Rows whose values come from the same fit; None when there is only one.
    models : tuple
        The fitted pilots; their mean is the pilot elsewhere.
    smooth : SplinePilot or None
        The spline that saw the rows themselves and may have followed their noise.
    """

    name: str
    at_rows: FloatArray
    folds: IntArray | None
    models: tuple[Any, ...]
    smooth: SplinePilot | None = None

    def predict(self, X: FloatArray) -> FloatArray:
        """Value at positions X (n, d)."""
        return np.asarray(np.mean([model.predict(X) for model in self.models], axis=0))


def fit_pilot(X: FloatArray, y: FloatArray, weight: FloatArray | None) -> Piloted:
    """Choose a pilot by cross-validation and fit it to all rows.

    Parameters
    ----------
    X : ndarray (n, d)
        Positions.
    y : ndarray (n,)
        Labels.
    weight : ndarray (n,) or None
        Weights.
    """
    with one_thread(y.size):
        if X.shape[1] == 1 and y.size > 2 * BLOCKS:
            return _fit_blocks(X, y, weight)
        return _fit_pilot(X, y, weight)


def _fit_blocks(X: FloatArray, y: FloatArray, weight: FloatArray | None) -> Piloted:
    """Fit the pilot to means of blocks of adjacent rows: as good for many rows, and quick."""
    order = stable_argsort(X[:, 0])
    x, labels = X[order, 0], y[order]
    share = np.ones(y.size) if weight is None else weight[order]
    first = np.linspace(0, y.size, BLOCKS, endpoint=False).astype(np.int64)
    total = np.add.reduceat(share, first)
    centre = np.add.reduceat(share * x, first) / total
    level = np.add.reduceat(share * labels, first) / total
    found = _fit_pilot(centre[:, None], level, total * (BLOCKS / total.sum()))
    at_rows = np.empty(y.size)
    at_rows[order] = np.interp(x, centre, found.at_rows)
    return Piloted(f"{found.name}, fitted to {BLOCKS} block means", at_rows, None, found.models)


def _fit_pilot(X: FloatArray, y: FloatArray, weight: FloatArray | None) -> Piloted:
    n, d = X.shape
    candidates: dict[str, Any] = {"spline": SplinePilot}
    if n >= 60:
        if d == 1:
            candidates |= {
                f"steps of a {size}-leaf tree and a spline": partial(StepPilot, size)
                for size in LEAVES
            }
        else:
            candidates["spline and boosted trees"] = BoostedPilot
    name = _winner(candidates, X, y, weight)
    make = candidates[name]
    if make is not BoostedPilot:
        model = make().fit(X, y, weight)
        greedy = isinstance(model, SplinePilot) and d > 1 and model.effective_df_ > n / 4
        if not greedy:
            spline = model if isinstance(model, SplinePilot) else model.spline
            return Piloted(name, model.predict(X), None, (model,), spline)
        # So many columns for so few rows that the spline would follow single labels.
        if n < 20 * FOLDS:
            level = LevelPilot().fit(X, y, weight)
            return Piloted("the mean of y", level.predict(X), None, (level,))
    count = FOLDS if n < PLENTY else 2
    folds = np.arange(n, dtype=np.int64) % count  # by row number: no label decides it
    at_rows, models = np.empty(n), []
    for fold in range(count):
        out = folds == fold
        model = make().fit(X[~out], y[~out], None if weight is None else weight[~out])
        at_rows[out] = model.predict(X[out])
        models.append(model)
    return Piloted(name, at_rows, folds, tuple(models))


def _winner(
    candidates: dict[str, Any], X: FloatArray, y: FloatArray, weight: FloatArray | None
) -> str:
    """Name of the pilot with the smallest squared error on held-out rows."""
    if len(candidates) == 1:
        return next(iter(candidates))
    n, d = X.shape
    most = PROBE if d == 1 else 2 * PROBE
    if n > most:
        chosen = np.arange(0, n, n // most)
        X, y = X[chosen], y[chosen]
        weight = None if weight is None else weight[chosen]
        n = chosen.size
    folds = np.arange(n) % 3
    missed = {name: np.empty(n) for name in candidates}
    for fold in range(3):
        out = folds == fold
        inside = X[~out], y[~out], None if weight is None else weight[~out]
        spline = SplinePilot().fit(*inside)
        for name, make in candidates.items():
            model = spline if make is SplinePilot else make().fit(*inside, spline)
            missed[name][out] = y[out] - model.predict(X[out])
    losses = {
        name: each**2 if weight is None else weight * each**2 for name, each in missed.items()
    }
    # The spline is the simplest: another must win by more than the noise of the comparison.
    base = losses.pop("spline")
    best, margin = "spline", 0.0
    for name, loss in losses.items():
        gain = base - loss
        sure = float(gain.mean() - gain.std() / np.sqrt(n))
        if sure > margin:
            best, margin = name, sure
    return best
