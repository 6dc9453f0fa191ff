"""The paper's second competitor: the statistic of replicates at each x, then a line."""

from typing import Any, Self, final

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import column_or_1d

from multiobs import _check, statistics
from multiobs._types import FloatArray, IntArray
from multiobs.baselines._base import Baseline, chosen
from multiobs.baselines._moments import required_moments
from multiobs.baselines._plug_in import check_enough, plug_in
from multiobs.statistics import Statistic


@final
class EmpiricalStatisticRegressor(Baseline):
    r"""Compute the statistic of the labels at each x, then regress these values on x.

    The paper's "empirical" approach: n / k points x, k labels at each, the empirical statistic
    :math:`u_i` of each point, and a line through the :math:`(x_i, u_i)` by least squares.

    Parameters
    ----------
    statistic : str or Statistic
        Any statistic of the catalogue.
    n_replicates : int or "sqrt", default="sqrt"
        How many labels make one empirical statistic: "sqrt" is the paper's choice, sqrt(n), or as
        many as the statistic has observations when it is one of order statistics (k + 1 for
        MINVAR). Used where the data hold no replicates: see Notes.
    estimator : regressor, optional
        What is fitted to the values; a line by default.
    unbiased : bool, default=True
        Whether the variance of k labels is taken with the divisor k - 1; False takes k, which only
        functions of mean and variance have. The paper does not say which it used.

    Attributes
    ----------
    estimator_ : the fitted regressor.
    points_, values_ : arrays of shape (q, d) and (q,)
        Where the statistic was computed and what it was.

    Notes
    -----
    Section "Simulation Details" of the paper, where the method is given the power to draw several
    labels at one x. Such data come as y of shape (n, k), one row for each x, or as repeated rows of
    X. Rows of X that are all different are grouped into cells of ``n_replicates`` neighbours
    (blocks of sorted x in one column, median splits in several), each cell at its mean x.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[0.0], [1.0], [2.0]])
    >>> y = np.array([[0.0, 2.0], [1.0, 3.0], [5.0, 7.0]])
    >>> EmpiricalStatisticRegressor("variance").fit(x, y).predict(x).round(6)
    array([2., 2., 2.])
    """

    def __init__(
        self,
        statistic: str | Statistic = "variance",
        n_replicates: int | str = "sqrt",
        estimator: Any = None,
        *,
        unbiased: bool = True,
    ) -> None:
        self.statistic = statistic
        self.n_replicates = n_replicates
        self.estimator = estimator
        self.unbiased = unbiased

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Self:
        """Fit to X of shape (n, d) and y of shape (n,), or (n, k) with k labels a row."""
        if not isinstance(self.unbiased, bool | np.bool_):
            raise TypeError(f"unbiased must be True or False, got {_check.shown(self.unbiased)}")
        univariate = statistics.resolve(self.statistic).n_columns == 1
        data, labels, what = self._checked(X, y, several=univariate)
        if univariate and labels.ndim == 2 and labels.shape[1] > 1:
            check_enough(what, labels.shape[1])
            self.points_, self.values_ = data, self._of(what, labels)
            weight = None
        else:
            labels = column_or_1d(labels, warn=True) if univariate else labels
            self.points_, self.values_, weight = self._grouped(data, labels, what)
        model = chosen("estimator", self.estimator)
        # Cells of unequal size are the exception; equal ones need no estimator with weights.
        equal = weight is None or bool(np.all(weight == weight[0]))
        self.estimator_ = (
            model.fit(self.points_, self.values_)
            if equal
            else model.fit(self.points_, self.values_, sample_weight=weight)
        )
        return self

    def _grouped(
        self, X: FloatArray, y: FloatArray, what: Statistic
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        check_enough(what, len(y))
        _, inverse, counts = np.unique(X, axis=0, return_inverse=True, return_counts=True)
        need = max(2, what.arity)
        enough = counts >= need
        if counts[enough].sum() >= 0.5 * len(y):
            cell = np.where(enough, np.cumsum(enough) - 1, -1)[inverse.reshape(-1)]
        else:
            cell = _cells(X, replicate_design(what, len(y), self.n_replicates)[1])
        points, values, weight = [], [], []
        order = np.argsort(cell, kind="stable")
        order = order[np.searchsorted(cell[order], 0) :]
        for rows in np.split(order, np.flatnonzero(np.diff(cell[order])) + 1):
            points.append(X[rows].mean(axis=0))
            values.append(float(self._of(what, y[rows])))
            weight.append(float(len(rows)))
        return np.array(points), np.array(values), np.array(weight)

    def _of(self, what: Statistic, y: FloatArray) -> FloatArray:
        if self.unbiased:
            return plug_in(what, y)
        function = required_moments("EmpiricalStatisticRegressor(unbiased=False)", what)
        return function.value(y.mean(axis=-1), y.var(axis=-1))

    def _predict(self, X: FloatArray) -> FloatArray:
        return np.asarray(self.estimator_.predict(X), dtype=np.float64)


def replicate_design(
    statistic: str | Statistic, n: int, n_replicates: int | str = "sqrt"
) -> tuple[int, int]:
    """Return how a budget of n labels is spent: (how many x, how many labels at each).

    Parameters
    ----------
    statistic : str or Statistic
        What is estimated.
    n : int
        Labels to spend.
    n_replicates : int or "sqrt"
        Labels at each x; "sqrt" is the root of n, and never fewer than the statistic takes.

    Examples
    --------
    >>> replicate_design("ucb", 1000)
    (31, 32)
    >>> from multiobs import statistics
    >>> replicate_design(statistics.minvar(4), 1000)
    (200, 5)
    """
    what = statistics.resolve(statistic)
    budget = _check.integer("n", n, low=1)
    given = _check.integer_or("sqrt", "n_replicates", n_replicates, low=what.arity)
    k = what.replicates(budget) if given is None else given
    return max(1, budget // k), k


def _cells(X: FloatArray, size: int) -> IntArray:
    """Cell number of each row: median splits of the widest column down to about ``size`` rows."""
    cell = np.zeros(len(X), dtype=np.int64)
    scale = np.std(X, axis=0)
    scale[scale == 0] = 1.0
    waiting, done = [np.arange(len(X))], 0
    while waiting:
        rows = waiting.pop()
        parts = len(rows) // size
        if parts < 2:
            cell[rows] = done
            done += 1
            continue
        widest = int(np.argmax(np.ptp(X[rows] / scale, axis=0)))
        order = rows[np.argsort(X[rows, widest], kind="stable")]
        cut = (parts // 2) * len(rows) // parts
        waiting += [order[cut:], order[:cut]]
    return cell
