r"""A smooth regression of y on x that needs no tuning: cubic splines, penalised by GCV.

The pilot follows the mean of Y given X = x closely enough that what is left is noise. In one column
it is a penalised cubic spline

.. math:: \min_f \sum_i w_i (y_i - f(x_i))^2 + \lambda \int f''(x)^2 dx

with knots at quantiles of x and lambda by generalised cross-validation; in several columns a sum of
such splines. The rows enter through B'WB and B'Wy alone, so a fit is O(n) with a small constant.
"""

from dataclasses import dataclass
from typing import Self, final

import numpy as np
from scipy import linalg

from multiobs._types import FloatArray
from multiobs.transport.basis import (
    INFLATION,
    ROWS_PER_INTERVAL,
    SplineAxis,
    intervals_of,
    smoothed,
    spline_axis,
)

_ADDITIVE_INTERVALS = 20
_ADDITIVE_COLUMNS = 120
_FINER_COLUMNS = 480  # of a fit whose penalties are known but for one number
_TENFOLD = float(np.log(10.0))
_POWERS = np.arange(-8.0, 3.1, 1.0)  # of ten: penalties over rows that are tried
_EQUAL = 1e-6  # relative difference of criteria that counts as none


@final
class SplinePilot:
    r"""Cubic smoothing spline with its penalty chosen by generalised cross-validation.

    Minimises :math:`\mathrm{GCV}(\lambda) = n \mathrm{RSS} / (n - c\,\mathrm{df})^2`, c = 1.2 in
    one column and 1.4 in several. One column of x gives a spline with up to 200 knots, several give
    an additive model with a penalty for each column. Outside the bulk of the data the fit goes on
    straight, more and more slowly.

    Attributes
    ----------
    effective_df_ : float
        Trace of the smoother matrix: 1 is a constant, 2 a line.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 400)
    >>> noise = 0.1 * np.random.default_rng(0).standard_normal(400)
    >>> pilot = SplinePilot().fit(x[:, None], np.sin(6 * x) + noise)
    >>> bool(np.max(np.abs(pilot.predict(x[:, None]) - np.sin(6 * x))) < 0.1)
    True
    >>> 4 < pilot.effective_df_ < 20
    True
    """

    def fit(self, X: FloatArray, y: FloatArray, sample_weight: FloatArray | None = None) -> Self:
        """Fit to X of shape (n, d) and y of shape (n,), weights of shape (n,) or None."""
        return self._fit(X, y, sample_weight, None)

    def again(
        self, X: FloatArray, y: FloatArray, sample_weight: FloatArray | None = None
    ) -> "SplinePilot":
        """Return a fit of other labels to the same rows; knots are not sought again."""
        return SplinePilot()._fit(X, y, sample_weight, self._axes)

    def undersmoothed(
        self,
        X: FloatArray,
        y: FloatArray,
        sample_weight: FloatArray | None = None,
        *,
        penalty: float = 1.0,
    ) -> "SplinePilot":
        """Return a fit of the same rows in several columns with finer knots and less penalty.

        The penalties of columns are those of this fit, or larger where its few knots were what kept
        a column smooth: the least of them is chosen by generalised cross-validation.

        Parameters
        ----------
        X, y, sample_weight : ndarray
            The rows of the fit.
        penalty : float
            Multiple of the penalties chosen so.
        """
        finer = SplinePilot()
        finer._chosen = _Chosen(self._logs, float(np.log(penalty)))
        return finer._fit(X, y, sample_weight, None)

    _chosen: "_Chosen | None" = None

    def _fit(
        self,
        X: FloatArray,
        y: FloatArray,
        sample_weight: FloatArray | None,
        axes: list[SplineAxis] | None,
    ) -> Self:
        n, d = X.shape
        weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        rows = int(np.count_nonzero(weight > 0))
        if rows == 0:
            raise ValueError("sample_weight must have at least one positive entry, got none")
        if rows < n:
            X, y, weight = X[weight > 0], y[weight > 0], weight[weight > 0]
        weight = weight * (rows / weight.sum())  # mean one, so that n RSS keeps its meaning
        self._centre = float(np.average(y, weights=weight))
        if axes is None:
            # two values, as of an indicator, need no more than a line and no share of the knots
            curved = [d == 1 or not _two_valued(X[:, j]) for j in range(d)]
            if d == 1:
                intervals = intervals_of(rows)
            else:
                most = _ADDITIVE_COLUMNS if self._chosen is None else _FINER_COLUMNS
                intervals = _affordable(rows, max(sum(curved), 2), most)
            axes = [spline_axis(X[:, j], intervals if curved[j] else 0) for j in range(d)]
        self._axes = axes
        self._logs: dict[int, float] = {}
        self._columns = [j for j in range(d) if self._axes[j].width > 0]
        target = np.asarray(y, dtype=float) - self._centre
        if not self._columns:
            self._polynomials: list[FloatArray] = []
            self._inverse = self._gram = np.zeros((0, 0))
            self.effective_df_ = 1.0
            self._constant_leverage = 1.0 / rows
            return self
        if len(self._columns) == 1:
            self._fit_one(X[:, self._columns[0]], target, weight)
        else:
            self._fit_additive(X, target, weight)
        return self

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the fitted mean at X of shape (q, d), shape (q,)."""
        total = np.full(X.shape[0], self._centre)
        for j, polynomial in zip(self._columns, self._polynomials, strict=True):
            total += self._axes[j].evaluate(polynomial, X[:, j])
        return total

    def leverage(self, X: FloatArray) -> FloatArray:
        """Return how much a unit-weight label at each row of X moves its own fitted value.

        At the rows of the fit these are the diagonal entries of the smoother matrix H, whose sum is
        ``effective_df_``; shape (q,).
        """
        return self._quadratic(X, self._inverse)

    def residual_share(self, X: FloatArray) -> FloatArray:
        r"""Return the share of the noise variance that is left in each squared residual.

        With H the smoother matrix, :math:`\mathbb{E}\, e_i^2 = \sigma^2 (1 - 2 h_{ii} + (H
        H')_{ii})` up to the bias of the fit, so a squared residual divided by this number is
        corrected for degrees of freedom; shape (q,).
        """
        return 1.0 - 2.0 * self.leverage(X) + self._quadratic(X, self._sandwich)

    def pair_share(self, X: FloatArray, others: FloatArray) -> FloatArray:
        r"""Return the share of the noise variance left in half a squared difference of residuals.

        For rows i and j of the fit :math:`\mathbb{E}\, (e_i - e_j)^2 / 2 = \sigma^2 (1 - (h_{ii} +
        h_{jj} - 2 h_{ij}) + \tfrac12 (s_{ii} + s_{jj} - 2 s_{ij}))` with S = H H': rows far apart
        lose what each residual loses, rows close together nothing.

        Parameters
        ----------
        X, others : ndarray (q, d)
            Positions of the two rows of each pair.

        Returns
        -------
        ndarray (q,)
        """
        if not self._columns:
            return np.ones(X.shape[0])
        if len(self._columns) == 1:
            column = self._columns[0]
            axis = self._axes[column]
            gap = axis.design(X[:, column]) - axis.design(others[:, column])
        else:
            gap = self._design(X) - self._design(others)
        matrix = self._inverse - 0.5 * self._sandwich
        return np.asarray(1.0 - np.einsum("ij,ij->i", gap @ matrix, gap))

    def _quadratic(self, X: FloatArray, matrix: FloatArray) -> FloatArray:
        if not self._columns:
            return np.full(X.shape[0], self._constant_leverage)
        if len(self._columns) == 1:
            axis = self._axes[self._columns[0]]
            return axis.evaluate_square(matrix, X[:, self._columns[0]])
        out = np.empty(X.shape[0])
        step = 16_384
        for start in range(0, X.shape[0], step):
            design = self._design(X[start : start + step])
            quadratic = np.einsum("ij,ij->i", design @ matrix, design)
            out[start : start + step] = quadratic + self._constant_leverage
        return out

    def _fit_one(self, x: FloatArray, y: FloatArray, weight: FloatArray) -> None:
        axis = self._axes[self._columns[0]]
        found = smoothed(axis, x, y, weight)
        self._inverse, self._gram, self.effective_df_ = found.inverse, found.gram, found.df
        self._polynomials = [axis.polynomial(found.coefficients)]
        self._constant_leverage = 0.0

    @property
    def _sandwich(self) -> FloatArray:
        """Of the squared smoother matrix; asked for once at most, so not made before."""
        return np.asarray(self._inverse @ self._gram @ self._inverse)

    def _fit_additive(self, X: FloatArray, y: FloatArray, weight: FloatArray) -> None:
        rows = len(y)
        sizes = [self._axes[j].size - 1 for j in self._columns]
        self._slices = [slice(sum(sizes[:i]), sum(sizes[: i + 1])) for i in range(len(sizes))]
        p = sum(sizes)
        total, gram, moment = np.zeros(p), np.zeros((p, p)), np.zeros(p)
        self._column_mean = np.zeros(p)
        step = 16_384
        for start in range(0, rows, step):
            part = slice(start, start + step)
            design = self._design(X[part])
            weighted = design * weight[part, None]
            total += weighted.sum(axis=0)
            gram += weighted.T @ design
            moment += weighted.T @ y[part]
        self._column_mean = total / rows
        gram -= np.outer(self._column_mean, total)  # y is centred, so the moment needs no change
        penalties, bent = [], []
        for j, place in zip(self._columns, self._slices, strict=True):
            block = self._axes[j].penalty()[1:, 1:]
            if np.trace(block) > 0:
                penalties.append((place, block))
                bent.append(j)
        # A ridge on the whole makes nearly collinear columns, or more columns than rows, harmless.
        ridge = np.diag(np.diag(gram) + 1e-12 * np.trace(gram) / p) / rows
        penalties.append((slice(None), ridge))
        search = _Search(gram, penalties, moment, float(np.sum(weight * y * y)), rows)
        if self._chosen is None:
            logs = search.by_descent()
        else:
            logs = self._chosen.for_columns(bent, search)
        _, coefficients, self._inverse, df = search.solve(logs)
        self._logs = dict(zip([*bent, -1], logs.tolist(), strict=True))  # the ridge is last
        self._gram = gram
        self.effective_df_ = df + 1.0
        self._constant_leverage = 1.0 / rows
        self._polynomials = []
        for j, place in zip(self._columns, self._slices, strict=True):
            padded = np.concatenate([[0.0], coefficients[place]])
            polynomial = self._axes[j].polynomial(padded)
            polynomial[:, 0] -= self._column_mean[place] @ coefficients[place]
            self._polynomials.append(polynomial)

    def _design(self, X: FloatArray) -> FloatArray:
        """Centred B-spline columns of every axis, the first of each left out (they sum to one)."""
        blocks = [self._axes[j].design(X[:, j])[:, 1:] for j in self._columns]
        return np.hstack(blocks) - self._column_mean


@final
@dataclass(frozen=True)
class _Search:
    """Sums of the rows of an additive model, from which any penalties are fitted."""

    gram: FloatArray
    penalties: list[tuple[slice, FloatArray]]  # the block that each is about
    moment: FloatArray
    energy: float
    rows: int

    def solve(self, logs: FloatArray) -> tuple[float, FloatArray, FloatArray, float]:
        """GCV, coefficients, inverse and degrees of freedom with these logarithms of penalties."""
        gram, moment = self.gram, self.moment
        matrix = gram.copy()
        for log, (place, penalty) in zip(logs, self.penalties, strict=True):
            matrix[place, place] += np.exp(log) * penalty
        # LAPACK itself: hundreds of small matrices would spend as long at scipy's doors
        factor, failed = linalg.lapack.dpotrf(matrix, lower=True, clean=False)
        if failed:  # so little penalty that the columns are collinear
            return np.inf, np.zeros(len(matrix)), np.zeros_like(matrix), 0.0
        inverse, _ = linalg.lapack.dpotrs(factor, np.eye(len(matrix)), lower=True)
        coefficients = inverse @ moment
        df = float(np.sum(inverse * gram))
        rss = self.energy - float(coefficients @ (2.0 * moment - gram @ coefficients))
        freedom = self.rows - 1.0 - INFLATION * df
        score = np.inf if freedom <= 0 else max(rss, 0.0) / freedom**2
        return score, coefficients, inverse, df

    def best_of(self, starts: list[FloatArray]) -> tuple[FloatArray, float]:
        """Best of some penalties, from rough to smooth, and its GCV."""
        scores = np.array([self.solve(start)[0] for start in starts])
        # The smoothest of equals: where GCV is flat, rounding and so the machine would decide.
        place = int(np.flatnonzero(scores <= np.min(scores) * (1.0 + _EQUAL))[-1])
        return starts[place], float(scores[place])

    def by_descent(self) -> FloatArray:
        """Choose a penalty for each block by coordinate descent on GCV, the shared one first."""
        rows = self.rows
        ridges = (-6.0,) if len(self.gram) < rows / 4 else (-6.0, -2.0, -1.0, 0.0)
        smooth = len(self.penalties) - 1
        starts = [
            np.log(rows) + _TENFOLD * np.append(np.full(smooth, power), ridge)
            for power in (_POWERS if smooth else (0.0,))
            for ridge in ridges
        ]
        logs, best = self.best_of(starts)
        for stride in (2.0 * _TENFOLD, _TENFOLD, 0.5 * _TENFOLD):
            for place in range(len(self.penalties)):
                for direction in (1.0, -1.0):
                    while True:
                        moved = logs.copy()
                        moved[place] += direction * stride
                        if abs(moved[place] - np.log(rows)) > 10.0 * _TENFOLD:
                            break
                        score = self.solve(moved)[0]
                        if not score < best * (1.0 - _EQUAL):
                            break
                        best, logs = score, moved
        return logs


@final
@dataclass(frozen=True)
class _Chosen:
    """Penalties of columns chosen with fewer knots, and what they are multiplied by."""

    logs: dict[int, float]
    change: float

    def for_columns(self, bent: list[int], search: _Search) -> FloatArray:
        """Logarithms of the penalties of these columns and of the ridge, the last."""
        known = np.array([self.logs.get(j, -np.inf) for j in bent])
        ridge = self.logs.get(-1, np.log(search.rows) - 6.0 * _TENFOLD)
        floors = np.log(search.rows) + _TENFOLD * _POWERS
        logs, _ = search.best_of([np.append(np.maximum(known, low), ridge) for low in floors])
        logs[:-1] += self.change
        return logs


def _two_valued(x: FloatArray) -> bool:
    return bool(np.all((x == x.min()) | (x == x.max())))


def _affordable(rows: int, d: int, most: int) -> int:
    """Intervals of each of d columns."""
    affordable = min(rows // (ROWS_PER_INTERVAL * d), most // d - 2)
    return min(affordable, _ADDITIVE_INTERVALS)
