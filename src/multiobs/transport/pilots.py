"""Pilots of the conditional mean, chosen by cross-validation.

In one column: a GCV spline, with jumps at the breaks of an optimal partition where GCV wants them.
In more columns, by held-out rows: an additive spline, a Gaussian process with a length scale for
each column, the cells of a pruned tree, or boosted trees on what the spline leaves.  What a linear
smoother takes of the noise is known; a pilot that can follow single labels (boosting) is
cross-fitted, and its folds are never mixed in a tuple.  Rows are put into an order of their own
first, so that none of this depends on theirs.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Protocol, Self, final

import numpy as np
from threadpoolctl import ThreadpoolController

from multiobs._types import FloatArray, IntArray
from multiobs.native.window_sums import stable_argsort
from multiobs.transport.bins import in_bins
from multiobs.transport.cells import CellPilot
from multiobs.transport.jumps import JumpPilot
from multiobs.transport.kernel import LEARNED_ON, MOST_COLUMNS, KernelPilot, length_scales
from multiobs.transport.spline import SplinePilot
from multiobs.tuples import canonical_order

FEW = 60  # rows below which nothing but the spline is tried
LEAVES, DEEPER = 4, 16  # of a boosted tree: interactions of a few columns, or whatever pays
PROBE = 4000  # rows that the choice between pilots is made on
HELD_OUT = 3  # folds of the choice between pilots; of few rows each fit needs more of them
HELD_OUT_OF_FEW, FEW_HELD = 6, 800  # folds, and rows below which there are so many
FOLDS = 5  # of a cross-fitted pilot; two where half of the rows are plenty
PLENTY = 20_000
UNDERSMOOTHED = 0.1  # penalty of a pilot whose bias matters more than its noise, of the best one
BLOCKS = 8192  # means of adjacent rows that stand for more rows than twice as many


Indicators = tuple[tuple[int, int], ...]  # first and last-plus-one column of each category


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """Keep the work on one thread: several would wait for each other on a busy machine."""
    limited: AbstractContextManager[Any] = _controller().limit(limits=1)
    return limited


class Pilot(Protocol):
    """A fitted regression of the mean."""

    def predict(self, X: FloatArray) -> FloatArray:
        """Value at positions X (n, d)."""


class LinearSmoother(Pilot, Protocol):
    """A pilot whose values are linear in the labels, with what it takes of their noise."""

    effective_df_: float

    def pair_share(self, X: FloatArray, others: FloatArray) -> FloatArray:
        """Share of the noise left in half a squared difference of the residuals of two rows."""


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
    """An additive spline, and boosted trees on what it leaves; any number of columns.

    Parameters
    ----------
    leaves : int
        Of a tree.
    """

    def __init__(self, leaves: int = LEAVES) -> None:
        self.leaves = leaves

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
        X, y, weight = thinned(X, y, weight, PLENTY)  # a tree of a few leaves needs no more rows
        trees = HistGradientBoostingRegressor(
            max_iter=200, learning_rate=0.1, max_leaf_nodes=self.leaves, early_stopping=False,
            min_samples_leaf=max(2, min(20, y.size // 20)), random_state=0,
        )  # fmt: skip
        left = y - self._spline.predict(X)
        self._trees = trees.fit(in_bins(trees, X), left, sample_weight=weight)
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
    smooth : LinearSmoother or None
        What saw the rows themselves and may have followed their noise.
    indicators : tuple of (int, int)
        First and last-plus-one column of each category.
    """

    name: str
    at_rows: FloatArray
    folds: IntArray | None
    models: tuple[Pilot, ...]
    smooth: LinearSmoother | None = None
    indicators: Indicators = ()

    def predict(self, X: FloatArray) -> FloatArray:
        """Value at positions X (n, d)."""
        X = completed(X, self.indicators)
        with one_thread():
            return np.asarray(np.mean([model.predict(X) for model in self.models], axis=0))

    def pair_share(self, X: FloatArray, others: FloatArray) -> FloatArray:
        """Share of the noise left in half a squared difference of residuals, rows at X (q, d)."""
        if self.smooth is None:
            return np.ones(X.shape[0])
        with one_thread():
            return self.smooth.pair_share(
                completed(X, self.indicators), completed(others, self.indicators)
            )


def completed(X: FloatArray, indicators: Indicators) -> FloatArray:
    """Add the indicator of each category's first level, so that no level is a special one.

    >>> completed(np.array([[0.5, 0.0, 1.0], [0.7, 0.0, 0.0]]), ((1, 3),)).tolist()
    [[0.5, 0.0, 1.0, 0.0], [0.7, 0.0, 0.0, 1.0]]
    """
    if not indicators:
        return X
    first = [1.0 - X[:, start:stop].sum(axis=1) for start, stop in indicators]
    return np.column_stack([X, *first])


def thinned(
    X: FloatArray, y: FloatArray, weight: FloatArray | None, most: int
) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """At most so many rows, evenly spread over their order."""
    if y.size <= most:
        return X, y, weight
    kept = np.linspace(0, y.size, most, endpoint=False).astype(np.int64)
    return X[kept], y[kept], None if weight is None else weight[kept]


def fit_pilot(
    X: FloatArray,
    y: FloatArray,
    weight: FloatArray | None,
    indicators: Indicators = (),
    *,
    undersmooth: bool = False,
) -> Piloted:
    """Choose a pilot by cross-validation and fit it to all rows.

    Parameters
    ----------
    X : ndarray (n, d)
        Positions.
    y : ndarray (n,)
        Labels.
    weight : ndarray (n,) or None
        Weights.
    indicators : tuple of (int, int)
        First and last-plus-one column of X that belong to each category.
    undersmooth : bool
        Whether a Gaussian process or an additive spline gets less than the best penalty: what it
        takes of the noise is known and can be given back, its bias cannot.
    """
    together = [[*range(a, b), X.shape[1] + i] for i, (a, b) in enumerate(indicators)]
    X = completed(X, indicators)
    with one_thread():
        if X.shape[1] == 1 and y.size > 2 * BLOCKS:
            return _fit_blocks(X, y, weight)
        order = canonical_order(X, y, weight)
        share = None if weight is None else weight[order]
        found = _fit_sorted(X[order], y[order], share, together, undersmooth)
    at_rows = np.empty(y.size)
    at_rows[order] = found.at_rows
    folds = None
    if found.folds is not None:
        folds = np.empty(y.size, dtype=np.int64)
        folds[order] = found.folds
    return replace(found, at_rows=at_rows, folds=folds, indicators=indicators)


def _fit_blocks(X: FloatArray, y: FloatArray, weight: FloatArray | None) -> Piloted:
    """Fit the pilot to means of blocks of adjacent rows: as good for many rows, and quick."""
    order = stable_argsort(X[:, 0])
    x, labels = X[order, 0], y[order]
    share = np.ones(y.size) if weight is None else weight[order]
    first = np.linspace(0, y.size, BLOCKS, endpoint=False).astype(np.int64)
    # rows with equal x are in one block, whatever their order is
    first = np.unique(np.searchsorted(x, x[first], side="left"))
    total = np.add.reduceat(share, first)
    centre = np.add.reduceat(share * x, first) / total
    level = np.add.reduceat(share * labels, first) / total
    found = _fit_sorted(centre[:, None], level, total * (first.size / total.sum()), [])
    at_rows = np.empty(y.size)
    # a line between the centres of blocks is quicker, but does not jump
    model = found.models[0]
    jumps = isinstance(model, JumpPilot) and model.breaks_.size > 0
    at_rows[order] = found.predict(x[:, None]) if jumps else np.interp(x, centre, found.at_rows)
    return Piloted(f"{found.name}, fitted to {first.size} block means", at_rows, None, found.models)


def _fit_sorted(
    X: FloatArray,
    y: FloatArray,
    weight: FloatArray | None,
    together: list[list[int]],
    undersmooth: bool = False,
) -> Piloted:
    """Fit to rows in an order that is theirs alone; columns of a category belong together."""
    n, d = X.shape
    if d == 1 and n >= FEW:
        jumping = JumpPilot().fit(X, y, weight)
        name = "jumps and a spline" if jumping.breaks_.size else "spline"
        return Piloted(name, jumping.predict(X), None, (jumping,), jumping)
    name, make = _winner(X, y, weight, together)
    if not isinstance(make(), BoostedPilot):
        many = isinstance(make(), KernelPilot | CellPilot)
        some = thinned(X, y, weight, PLENTY) if many else (X, y, weight)
        model = make()
        if undersmooth and isinstance(model, KernelPilot):
            model = KernelPilot(model.scales, UNDERSMOOTHED)
        model.fit(*some)
        if undersmooth and d > 1 and isinstance(model, SplinePilot):
            finer = model.undersmoothed(*some, penalty=UNDERSMOOTHED)
            model = finer if finer.effective_df_ <= n / 4 else model
        # it would leave nothing of the labels, or of single ones
        greedy = model.effective_df_ > n / 4 if d > 1 else n < 4 and model.effective_df_ > n - 1
        if not greedy:
            # of many rows only some were seen, and these hardly followed
            smooth = model if some[1].size == n else None
            return Piloted(name, model.predict(X), None, (model,), smooth)
        # So many columns for so few rows that the smoother would follow single labels.
        if n < 20 * FOLDS:
            level = LevelPilot().fit(X, y, weight)
            return Piloted("the mean of y", level.predict(X), None, (level,))
    count = FOLDS if n < PLENTY else 2
    folds = spread_folds(n, count)
    at_rows, models = np.empty(n), []
    for fold in range(count):
        out = folds == fold
        model = make().fit(X[~out], y[~out], None if weight is None else weight[~out])
        at_rows[out] = model.predict(X[out])
        models.append(model)
    return Piloted(name, at_rows, folds, tuple(models))


Maker = Callable[[], Any]  # a pilot that is not fitted yet


def _winner(
    X: FloatArray, y: FloatArray, weight: FloatArray | None, together: list[list[int]]
) -> tuple[str, Maker]:
    """Name and maker of the pilot with the smallest squared error on held-out rows."""
    if y.size < FEW:
        return "spline", SplinePilot
    d = X.shape[1]
    X, y, weight = thinned(X, y, weight, PROBE)
    held = _Held(X, y, weight)
    if d - sum(len(each) - 1 for each in together) <= MOST_COLUMNS:
        drawn = np.random.default_rng(0).permutation(y.size)[:LEARNED_ON]
        scales = length_scales(X[drawn], y[drawn], together)
        held.add("Gaussian process", lambda: KernelPilot(scales))
    held.add("spline and cells of a tree", CellPilot)
    if held.add("spline and boosted trees", BoostedPilot):
        held.add("spline and deeper boosted trees", lambda: BoostedPilot(DEEPER))
    return held.best


@final
class _Held:
    """Held-out errors of one pilot after the other; the spline comes first."""

    def __init__(self, X: FloatArray, y: FloatArray, weight: FloatArray | None) -> None:
        self._X, self._y, self._weight = X, y, weight
        self._count = HELD_OUT if y.size >= FEW_HELD else HELD_OUT_OF_FEW
        self._folds = spread_folds(y.size, self._count)
        self._splines: list[SplinePilot] = []
        self.best: tuple[str, Maker] = ("spline", SplinePilot)
        self._spline = self._least = [
            self._losses(SplinePilot, fold) for fold in range(self._count)
        ]

    def add(self, name: str, make: Maker) -> bool:
        """Try another pilot; whether it is the best so far.

        The spline is the simplest: another must win by more than the noise of the comparison.  One
        that is clearly behind after the first folds is given up.
        """
        losses: list[FloatArray] = []
        for fold in range(self._count):
            losses.append(self._losses(make, fold))
            gain, error = _gained(self._least, losses)
            if gain + error < 0:
                return False
        over, doubt = _gained(self._spline, losses)
        if not (gain > 0 and over > doubt):
            return False
        self.best, self._least = (name, make), losses
        return True

    def _losses(self, make: Maker, fold: int) -> FloatArray:
        """Squared errors at the rows of a fold, by a fit to the others."""
        out = self._folds == fold
        X, y, weight = self._X, self._y, self._weight
        inside = X[~out], y[~out], None if weight is None else weight[~out]
        model = make()
        if isinstance(model, BoostedPilot | CellPilot):
            model.fit(*inside, self._splines[fold])
        else:
            model.fit(*inside)
        if isinstance(model, SplinePilot):
            self._splines.append(model)
        missed = y[out] - model.predict(X[out])
        return np.asarray(missed**2 if weight is None else weight[out] * missed**2)


def _gained(worse: list[FloatArray], better: list[FloatArray]) -> tuple[float, float]:
    """How much smaller the losses of the second are on the folds that both have, with its error."""
    gain = np.concatenate(worse[: len(better)]) - np.concatenate(better)
    return float(gain.mean()), float(gain.std() / np.sqrt(gain.size))


def spread_folds(n: int, count: int) -> IntArray:
    """Fold of each of n ordered rows: every run of ``count`` rows holds each fold once.

    Neighbours in the order go to different folds, and which goes where is drawn from a fixed seed:
    equal positions are ordered by their labels, which must not decide the fold.

    >>> np.bincount(spread_folds(10, 5)).tolist()
    [2, 2, 2, 2, 2]
    """
    runs = -(-n // count)
    shuffled = np.random.default_rng(0).permuted(np.tile(np.arange(count), (runs, 1)), axis=1)
    return np.asarray(shuffled.reshape(-1)[:n], dtype=np.int64)
