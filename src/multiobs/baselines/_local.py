"""The statistic of the neighbours of x, weighted by nearness or by a forest."""

from collections.abc import Iterator
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.validation import check_random_state

from multiobs import _check
from multiobs._check.estimators import require_regressor
from multiobs._types import FloatArray, IntArray
from multiobs.baselines._base import Baseline
from multiobs.baselines._plug_in import check_enough, plug_in
from multiobs.statistics import Statistic
from multiobs.tuples import canonical_order

_CELLS_AT_ONCE = 4_000_000


@final
class LocalPlugInRegressor(Baseline):
    r"""Compute the statistic of the weighted labels around each x, then optionally project.

    :math:`\hat\Gamma(x) = \Gamma(\sum_i w_i(x) \delta_{y_i})` with weights from the leaves of
    honest trees that x falls in (generalised random forests, Athey, Tibshirani and Wager 2019) or
    from its nearest rows; ``projection`` is then fitted to the values at the rows of the data,
    which makes the result comparable with methods that are confined to a class.

    Parameters
    ----------
    statistic : str or Statistic
        Any statistic of the catalogue.
    neighbourhood : {"forest", "nearest"}, default="forest"
        Forest weights learn which columns matter; nearest rows are quicker.
    projection : regressor, optional
        The hypothesis class, fitted to the local values; None keeps them as they are.
    n_neighbors : int or "auto", default="auto"
        For "nearest". "auto" is sqrt(n) with a projection, which averages for itself, and
        n^(2/3) without, never fewer than twice the observations of the statistic.
    n_trees : int, default=100
        For "forest". Each tree is grown on one half of the rows and weighs the other half.
    min_leaf : int or "auto", default="auto"
        For "forest": fewest growing rows in a leaf; "auto" is n^(1/3), at least 5 and at least the
        observations of the statistic.
    random_state : int, RandomState or None
        For "forest".

    Attributes
    ----------
    projection_ : the fitted projection, None without one.

    Notes
    -----
    Not in the paper. Weighted U-statistics are used (:func:`multiobs.baselines.plug_in`), so that a
    neighbourhood's size alone gives no bias. Columns are scaled to unit variance for distances.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random((2000, 1))
    >>> y = rng.exponential(5 * (x[:, 0] + 2))
    >>> model = LocalPlugInRegressor("mean", neighbourhood="nearest").fit(x, y)
    >>> bool(abs(model.predict([[0.5]])[0] - 12.5) < 4)
    True
    """

    def __init__(
        self,
        statistic: str | Statistic = "variance",
        neighbourhood: str = "forest",
        projection: Any = None,
        *,
        n_neighbors: int | str = "auto",
        n_trees: int = 100,
        min_leaf: int | str = "auto",
        random_state: Any = None,
    ) -> None:
        self.statistic = statistic
        self.neighbourhood = neighbourhood
        self.projection = projection
        self.n_neighbors = n_neighbors
        self.n_trees = n_trees
        self.min_leaf = min_leaf
        self.random_state = random_state

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Self:
        """Learn the neighbourhoods of X, shape (n, d), and the projection of the local values."""
        data, self._labels, self._what = self._checked(X, y)
        check_enough(self._what, len(self._labels))
        # rows in an order of their own, drawn within ties: the table's may follow the labels
        rows = canonical_order(data, self._labels)
        rows = rows[np.random.default_rng(0).permutation(rows.size)]
        data, self._labels = data[rows], self._labels[rows]
        _check.choice("neighbourhood", self.neighbourhood, ("forest", "nearest"))
        if self.neighbourhood == "nearest":
            self._fit_nearest(data)
        else:
            self._fit_forest(data)
        if self.projection is None:
            self.projection_ = None
        else:
            self.projection_ = clone(require_regressor("projection", self.projection)).fit(
                data, self._local(data)
            )
        return self

    def _predict(self, X: FloatArray) -> FloatArray:
        if self.projection_ is None:
            return self._local(X)
        return np.asarray(self.projection_.predict(X), dtype=np.float64)

    def _local(self, X: FloatArray) -> FloatArray:
        return self._nearest(X) if self.neighbourhood == "nearest" else self._forest(X)

    def _fit_nearest(self, X: FloatArray) -> None:
        n, arity = len(X), self._what.arity
        given = _check.integer_or("auto", "n_neighbors", self.n_neighbors, low=arity)
        if given is None:
            power = 2.0 / 3.0 if self.projection is None else 0.5
            given = max(2 * arity, round(n**power))
        self._k = min(n, given)
        if X.shape[1] == 1:
            order = np.argsort(X[:, 0], kind="stable")
            self._sorted_x = X[order, 0]
            self._labels = self._labels[order]
            return
        self._scaler = StandardScaler().fit(X)
        self._index = NearestNeighbors(n_neighbors=self._k).fit(self._scaler.transform(X))

    def _nearest(self, X: FloatArray) -> FloatArray:
        out = np.empty(len(X))
        for part in _parts(len(X), self._k):
            if X.shape[1] == 1:
                first = _first_of_nearest(self._sorted_x, X[part, 0], self._k)
                rows = first[:, None] + np.arange(self._k)
            else:
                scaled = self._scaler.transform(X[part])
                rows = self._index.kneighbors(scaled, return_distance=False)
            out[part] = plug_in(self._what, self._labels[rows])
        return out

    def _fit_forest(self, X: FloatArray) -> None:
        if isinstance(self.random_state, int | np.integer):
            _check.integer("random_state", self.random_state, 0, 2**32 - 1)
        rng = check_random_state(self.random_state)
        n, d = X.shape
        trees = _check.integer("n_trees", self.n_trees, low=1)
        given = _check.integer_or("auto", "min_leaf", self.min_leaf, low=1)
        leaf = max(5, self._what.arity, round(n ** (1.0 / 3.0))) if given is None else given
        targets = _split_targets(self._labels)
        self._trees: list[DecisionTreeRegressor] = []
        blocks = []
        offset = 0
        self._offsets: list[int] = []
        for _ in range(trees):
            order = rng.permutation(n)
            grow, weigh = (order, order) if n < 4 else (order[: n // 2], order[n // 2 :])
            tree = DecisionTreeRegressor(
                min_samples_leaf=min(leaf, max(1, len(grow) // 2)),
                max_features=min(d, max(1, round(d**0.5) + 1)),
                random_state=rng.randint(np.iinfo(np.int32).max),
            ).fit(X[grow], targets[grow])
            leaves = tree.apply(X[weigh])
            counts = np.bincount(leaves, minlength=tree.tree_.node_count)
            blocks.append(
                sparse.csr_matrix(
                    (1.0 / counts[leaves], (leaves, weigh)), shape=(tree.tree_.node_count, n)
                )
            )
            self._trees.append(tree)
            self._offsets.append(offset)
            offset += tree.tree_.node_count
        self._leaf_weights = sparse.vstack(blocks, format="csr")

    def _forest(self, X: FloatArray) -> FloatArray:
        n = self._leaf_weights.shape[1]
        leaves: IntArray = np.column_stack(
            [tree.apply(X) + at for tree, at in zip(self._trees, self._offsets, strict=True)]
        )
        out = np.empty(len(X))
        for part in _parts(len(X), n):
            chosen = leaves[part]
            pick = sparse.csr_matrix(
                (
                    np.ones(chosen.size),
                    chosen.ravel(),
                    np.arange(0, chosen.size + 1, chosen.shape[1]),
                ),
                shape=(len(chosen), self._leaf_weights.shape[0]),
            )
            weights = (pick @ self._leaf_weights).toarray()
            # Where the honest halves left fewer rows than one tuple, all rows speak.
            poor = np.count_nonzero(weights, axis=1) < self._what.arity
            weights[poor] = 1.0
            out[part] = plug_in(self._what, self._labels, weights)
        return out


def _first_of_nearest(x: FloatArray, at: FloatArray, k: int) -> IntArray:
    """Start of the k entries of sorted x nearest to each point, all by one bisection."""
    place = np.searchsorted(x, at)
    low = np.clip(place - k, 0, len(x) - k)
    high = np.clip(place, 0, len(x) - k)
    while np.any(low < high):
        middle = (low + high) // 2
        # Moving right drops x[middle] and takes x[middle + k]; stop when that is no nearer.
        stop = x[np.minimum(middle + k, len(x) - 1)] - at >= at - x[middle]
        high = np.where((low < high) & stop, middle, high)
        low = np.where((low < high) & ~stop, middle + 1, low)
    return np.asarray(low, dtype=np.int64)


def _split_targets(y: FloatArray) -> FloatArray:
    """Standardised labels, their squares and extremes: splits then see more than the mean."""
    columns = y.reshape(len(y), -1)
    spread = columns.std(axis=0)
    z = (columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    z = np.clip(z, -4.0, 4.0)
    return np.hstack([z, z**2])


def _parts(rows: int, width: int) -> Iterator[slice]:
    step = max(1, _CELLS_AT_ONCE // max(width, 1))
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))
