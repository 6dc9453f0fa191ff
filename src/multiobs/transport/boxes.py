"""Cutting several columns into boxes with a level in each: a tree that is grown, pruned, sharpened.

A greedy tree takes its first cuts before it knows what the later ones will be, so they are a few
rows off, and the rows between get boxes of their own. Given everything below a node, its best
threshold is found again (alternating optimisation of trees, Carreira-Perpinan and Tavallali 2018),
and boxes that are no longer worth their price are joined.
"""

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from multiobs._types import FloatArray, IntArray

MOST_BOXES = 64  # before pruning
SWEEPS = 4  # of thresholds


@final
@dataclass(frozen=True)
class Boxes:
    """A tree of cuts; node 0 is the root, and a leaf is a box.

    Attributes
    ----------
    column : ndarray of int (k,)
        Column that a node cuts, -1 for a leaf.
    threshold : ndarray (k,)
        Rows at or below it go left.
    left, right : ndarray of int (k,)
        Nodes below.
    """

    column: IntArray
    threshold: FloatArray
    left: IntArray
    right: IntArray

    def of(self, X: FloatArray, start: int = 0) -> IntArray:
        """Leaf (n,) that each row of X (n, d) comes to from a node."""
        at = np.full(X.shape[0], start, dtype=np.int64)
        moving = np.flatnonzero(self.column[at] >= 0)
        while moving.size:
            node = at[moving]
            low = X[moving, self.column[node]] <= self.threshold[node]
            at[moving] = np.where(low, self.left[node], self.right[node])
            moving = moving[self.column[at[moving]] >= 0]
        return at

    @property
    def count(self) -> int:
        """Boxes that can be reached."""
        inner = self._inner()
        return len(inner) + 1

    def _inner(self) -> list[int]:
        """Nodes with a cut, from the root down."""
        found, waiting = [], [0]
        while waiting:
            node = waiting.pop(0)
            if self.column[node] >= 0:
                found.append(node)
                waiting += [int(self.left[node]), int(self.right[node])]
        return found

    def sharpened(self, X: FloatArray, y: FloatArray, weight: FloatArray, price: float) -> "Boxes":
        """Find each threshold again, given what is below, and join boxes that cost too much.

        Parameters
        ----------
        X, y, weight : ndarray
            Positions (n, d), labels (n,), weights (n,).
        price : float
            Sum of squares by which a cut must lower the rest.
        """
        tree = self
        for _ in range(SWEEPS):
            before = tree
            tree = tree._joined(X, y, weight, price)
            for node in tree._inner():
                tree = tree._moved(node, X, y, weight)
            same = np.array_equal(tree.threshold, before.threshold)
            if same and np.array_equal(tree.column, before.column):
                break
        return tree._joined(X, y, weight, price)

    def _moved(self, node: int, X: FloatArray, y: FloatArray, weight: FloatArray) -> "Boxes":
        """Put one threshold where the boxes on its two sides leave least."""
        level = box_means(self.of(X), y, weight, self.column.size)[0]
        here = np.flatnonzero(self._passes(X, node))
        x = X[here, self.column[node]]
        order = np.argsort(x, kind="stable")
        here, x = here[order], x[order]
        below, above = (
            weight[here] * (y[here] - level[self.of(X[here], int(side[node]))]) ** 2
            for side in (self.left, self.right)
        )
        # the first k rows go left
        total = np.concatenate([[0.0], np.cumsum(below - above)])[1:-1]
        allowed = x[1:] > x[:-1]
        if not allowed.any():
            return self
        best = int(np.argmin(np.where(allowed, total, np.inf)))
        threshold = self.threshold.copy()
        threshold[node] = (x[best] + x[best + 1]) / 2
        return replace(self, threshold=threshold)

    def _passes(self, X: FloatArray, node: int) -> FloatArray:
        """Whether each row comes by a node."""
        stopped = self.column.copy()
        stopped[node] = -1
        return np.asarray(replace(self, column=stopped).of(X) == node)

    def _joined(self, X: FloatArray, y: FloatArray, weight: FloatArray, price: float) -> "Boxes":
        """Join the two boxes of a cut that is not worth its price, until every cut is."""
        column = self.column.copy()
        tree = replace(self, column=column)
        again = True
        while again:
            again = False
            level, size = box_means(tree.of(X), y, weight, column.size)
            for node in tree._inner():
                one, two = int(self.left[node]), int(self.right[node])
                if column[one] >= 0 or column[two] >= 0:
                    continue
                both = size[one] + size[two]
                gain = size[one] * size[two] / both * (level[one] - level[two]) ** 2 if both else 0
                if gain < price:
                    column[node] = -1
                    again = True
        return tree


def box_means(
    box: IntArray, y: FloatArray, weight: FloatArray, count: int
) -> tuple[FloatArray, FloatArray]:
    """Weighted mean of y in each of ``count`` boxes (zero in empty ones), and their weight."""
    size: FloatArray = np.asarray(np.bincount(box, weight, minlength=count), dtype=np.float64)
    total = np.bincount(box, weight * y, minlength=count)
    return total / np.where(size > 0, size, 1.0), size


def grown(X: FloatArray, y: FloatArray, weight: FloatArray, price: float, fewest: int) -> Boxes:
    """Boxes of a tree that is grown far, pruned back and sharpened.

    Parameters
    ----------
    X, y, weight : ndarray
        Positions (n, d), labels (n,), weights (n,) of mean one.
    price : float
        Sum of squares by which a cut must lower the rest.
    fewest : int
        Rows of a box before it is sharpened.
    """
    from sklearn.tree import DecisionTreeRegressor

    model = DecisionTreeRegressor(
        max_leaf_nodes=MOST_BOXES,
        min_samples_leaf=fewest,
        ccp_alpha=price / y.size,
        random_state=0,
    )
    tree = model.fit(X, y, sample_weight=weight).tree_
    left = np.asarray(tree.children_left, dtype=np.int64)
    right = np.asarray(tree.children_right, dtype=np.int64)
    column = np.where(left >= 0, tree.feature, -1).astype(np.int64)
    threshold = np.asarray(tree.threshold, dtype=np.float64)
    return Boxes(column, threshold, left, right).sharpened(X, y, weight, price)
