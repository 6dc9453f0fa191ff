"""Cutting several columns into boxes with a level in each: a tree that is grown, pruned, sharpened.

Cuts are chosen with the best further cut of each side in view: a board of opposite signs shows in
no single cut. Even so a tree takes its first cuts before it knows what the later ones will be, so
they are a few rows off, and the rows between get boxes of their own. Given everything below a node,
its best threshold is found again (alternating optimisation of trees, Carreira-Perpinan and
Tavallali 2018), and boxes that are no longer worth their price are joined.
"""

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from multiobs._types import FloatArray, IntArray

MOST_BOXES = 64  # before pruning
SWEEPS = 4  # of thresholds
BINS = 16  # of a column of a node, between which cuts are sought
PAIRED = 10  # columns up to which cuts of two columns are sought together
SEARCHED = 1000  # rows of a node that they are sought with


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
        return len(self._inner()) + 1

    def leaves(self) -> IntArray:
        """Numbers of the boxes that can be reached."""
        inner = self._inner()
        below = np.array([side[node] for node in inner for side in (self.left, self.right)])
        return below[self.column[below] < 0] if inner else np.array([0])

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

    def remainder(self, X: FloatArray, y: FloatArray, weight: FloatArray) -> float:
        """Sum of squares that the means of the boxes leave."""
        box = self.of(X)
        level, _ = box_means(box, y, weight, self.column.size)
        return float(np.sum(weight * (y - level[box]) ** 2))

    def pruned(self, X: FloatArray, y: FloatArray, weight: FloatArray, price: float) -> "Boxes":
        """Take the cuts off that are, with all below them, not worth their price."""
        column, box = self.column.copy(), self.of(X)
        sums = np.stack(
            [np.bincount(box, weight * y**power, minlength=column.size) for power in range(3)]
        )
        cost = sums[2] - sums[1] ** 2 / np.where(sums[0] > 0, sums[0], 1.0)
        for node in reversed(self._inner()):
            below = [int(self.left[node]), int(self.right[node])]
            sums[:, node] = sums[:, below].sum(axis=1)
            alone = sums[2, node] - sums[1, node] ** 2 / sums[0, node]
            cost[node] = min(alone, cost[below].sum() + price)
            if cost[node] == alone:
                column[node] = -1
        return replace(self, column=column)

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
    column, threshold, left, right = [-1], [0.0], [-1], [-1]  # of each node
    rows = [np.arange(y.size)]
    waiting = [(best_cut(X, y, weight, price, fewest), 0)]
    for _ in range(MOST_BOXES - 1):
        at = max(range(len(waiting)), key=lambda i: waiting[i][0].gain)
        cut, node = waiting.pop(at)
        if cut.gain < price:
            break
        own = rows[node]
        low = X[own, cut.column] <= cut.threshold
        column[node], threshold[node] = cut.column, cut.threshold
        left[node], right[node] = len(rows), len(rows) + 1
        for part in (own[low], own[~low]):
            waiting.append((best_cut(X[part], y[part], weight[part], price, fewest), len(rows)))
            rows.append(part)
            threshold.append(0.0)
            for each in (column, left, right):
                each.append(-1)
    below = (np.array(side, dtype=np.int64) for side in (left, right))
    tree = Boxes(np.array(column, dtype=np.int64), np.array(threshold), *below)
    return tree.pruned(X, y, weight, price).sharpened(X, y, weight, price)


@final
@dataclass(frozen=True)
class Cut:
    """A cut of one column, and what it and one further cut of each side gain."""

    gain: float
    column: int
    threshold: float


def best_cut(X: FloatArray, y: FloatArray, weight: FloatArray, price: float, fewest: int) -> Cut:
    """Cut of some rows that gains most together with the best further cut of each side.

    A mean of opposite signs in opposite quarters shows in no single cut.  All pairs of cuts come
    from cumulated tables of two columns, each in bins.

    Parameters
    ----------
    X, y, weight : ndarray
        Positions (n, d), labels (n,) and weights (n,) of the rows.
    price : float
        Sum of squares by which a further cut must lower the rest.
    fewest : int
        Rows on each side of a cut.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(400, 3))
    >>> cut = best_cut(X, np.sign((X[:, 1] - 0.5) * (X[:, 2] - 0.5)), np.ones(400), 20.0, 6)
    >>> cut.column, round(cut.threshold, 1)
    (1, 0.5)
    """
    if y.size < 2 * fewest:
        return Cut(0.0, -1, 0.0)
    step = max(1, y.size // SEARCHED)
    X, y, weight = X[::step], y[::step], weight[::step] * step
    n, d = X.shape
    # bins of equal rows; a cut lies between two values
    edges = [_cuts_between(X[:, j]) for j in range(d)]
    codes = np.stack([np.searchsorted(edges[j], X[:, j], side="left") for j in range(d)])
    terms = np.stack([np.full(n, step), weight, weight * (y - np.average(y, weights=weight))])
    others = np.broadcast_to(codes, (d, d, n)) if d <= PAIRED else codes[:, None]
    table = _cumulated(codes, others, terms)
    below = table[..., :-1, :]
    gain, allowed = np.zeros((d, BINS - 1)), np.ones((d, BINS - 1), dtype=bool)
    for side in (below, table[..., -1:, :] - below):
        whole = side[:, :, :1, :, -1:]
        rest = side[..., -1:] - side
        further = _explained(side) + _explained(rest) - _explained(whole)
        enough = np.minimum(side[0], rest[0]) >= fewest
        further = np.max(np.where(enough, further, 0.0), axis=(1, 3))
        gain += _explained(whole)[:, 0, :, 0] + np.maximum(further - price, 0.0)
        allowed &= whole[0, :, 0, :, 0] >= fewest
    gain[~allowed] = 0.0
    j, at = divmod(int(np.argmax(gain)), BINS - 1)
    return Cut(float(gain[j, at]), j, float(edges[j][at])) if gain[j, at] > 0 else Cut(0.0, -1, 0.0)


def _cumulated(codes: IntArray, others: IntArray, terms: FloatArray) -> FloatArray:
    """Sums (t, d, o, b, b) of terms (t, n) over rows up to each bin of each column and of others.

    Parameters
    ----------
    codes : ndarray of int (d, n)
        Bins of the columns.
    others : ndarray of int (d, o, n)
        Bins of the columns that each is paired with.
    terms : ndarray (t, n)
        What is summed.
    """
    d, o, _ = others.shape
    pair = np.arange(d * o).reshape(d, o, 1)
    place = (pair * BINS**2 + codes[:, None] * BINS + others).reshape(-1)
    sums = [np.bincount(place, np.tile(term, d * o), minlength=d * o * BINS**2) for term in terms]
    table = np.reshape(sums, (len(sums), d, o, BINS, BINS))
    return np.asarray(table.cumsum(axis=3).cumsum(axis=4))


def _explained(sums: FloatArray) -> FloatArray:
    """Sum of squares that the mean explains, from (3, ...) rows, weight and weighted total."""
    return np.asarray(sums[2] ** 2 / np.where(sums[1] > 0, sums[1], 1.0))


def _cuts_between(x: FloatArray) -> FloatArray:
    """Middles between adjacent values at the quantiles of x, at most BINS - 1."""
    seen = np.sort(x)
    at = seen[np.linspace(0, x.size, BINS + 1)[1:-1].astype(np.int64)]
    first = np.searchsorted(seen, np.unique(at[at > seen[0]]), side="left")
    return np.asarray((seen[first - 1] + seen[first]) / 2)
