"""One column of x as a piecewise polynomial basis: its knots, its values, penalised fits in it."""

from copy import copy
from dataclasses import dataclass, field
from typing import final

import numpy as np
from scipy import interpolate, linalg

from multiobs._types import FloatArray, IntArray

# GCV with df counted 1.4 times over avoids its occasional severe undersmoothing (Kim and Gu 2004).
INFLATION = 1.4
# In one column less of it: what a pilot takes of the noise is given back, its bias is not.
INFLATION_OF_ONE = 1.2
_LOG_KNOTS = np.log2([50, 100, 140, 200])
ROWS_PER_INTERVAL = 4
_BINNED_ABOVE = 20_000
_BINS = 4096


@final
@dataclass(frozen=True)
class SplineAxis:
    """Piecewise polynomial basis on one column of x: cubic B-splines, or a line when knots is 2.

    ``table[i, a]`` holds the power coefficients, in the local coordinate u = (x - left) / width, of
    the a-th basis function that lives on interval i.
    """

    knots: FloatArray  # (K + 1,) distinct breakpoints
    table: FloatArray  # (K, order, order)
    width: float  # of the whole domain; zero for a constant column
    size: int = field(init=False)  # number p of basis functions

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", len(self.table) + int(self.table.shape[1]) - 1)

    def locate(self, x: FloatArray) -> tuple[IntArray, FloatArray]:
        """Interval and local coordinate of each x; u leaves [0, 1] only outside the domain."""
        index = np.searchsorted(self.knots[1:-1], x, side="right")
        low, high = self.knots[0], self.knots[-1]
        if len(x) and (np.min(x) < low or np.max(x) > high):
            # Distances beyond the domain count by their logarithm: a stray x of 1e9 then costs
            # nothing, and a point just outside still sees a straight line.
            inside = np.clip(x, low, high)
            beyond = (x - inside) / self.width
            x = inside + self.width * np.sign(beyond) * np.log1p(np.abs(beyond))
        left = self.knots[index]
        return index, (x - left) / (self.knots[index + 1] - left)

    def values(self, x: FloatArray) -> tuple[IntArray, FloatArray]:
        """Interval of each x and the values of the basis functions alive there, (n, order)."""
        index, u = self.locate(x)
        inside = np.clip(u, 0.0, 1.0)
        local = self.table[index]
        out = local[:, :, -1].copy()
        slope = np.zeros_like(out)
        for power in range(local.shape[2] - 2, -1, -1):
            slope = slope * inside[:, None] + out
            out = out * inside[:, None] + local[:, :, power]
        return index, out + slope * (u - inside)[:, None]

    def design(self, x: FloatArray) -> FloatArray:
        index, values = self.values(x)
        out = np.zeros((len(x), self.size))
        order = values.shape[1]
        np.put_along_axis(out, index[:, None] + np.arange(order), values, axis=1)
        return out

    def sufficient(
        self, x: FloatArray, y: FloatArray, weight: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """B'WB and B'Wy, after binning each interval finely when there are many rows."""
        if len(x) > _BINNED_ABOVE:
            x, y, weight = self._binned(x, y, weight)
        index, values = self.values(x)
        p, order, cells = self.size, values.shape[1], len(self.table)
        gram, moment = np.zeros((p, p)), np.zeros(p)
        base = np.arange(cells)
        for a in range(order):
            weighted = weight * values[:, a]
            moment[a : a + cells] += np.bincount(index, weighted * y, minlength=cells)
            for b in range(a, order):
                sums = np.bincount(index, weighted * values[:, b], minlength=cells)
                gram[base + a, base + b] += sums
                if b > a:
                    gram[base + b, base + a] += sums
        return gram, moment

    def cross(self, x: FloatArray, other: FloatArray) -> FloatArray:
        """B'C (p, q) with further columns C (n, q)."""
        index, values = self.values(x)
        cells = len(self.table)
        out = np.zeros((self.size, other.shape[1]))
        for a in range(values.shape[1]):
            for c in range(other.shape[1]):
                sums = np.bincount(index, values[:, a] * other[:, c], minlength=cells)
                out[a : a + cells, c] += sums
        return out

    def _binned(
        self, x: FloatArray, y: FloatArray, weight: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        fine = -(-_BINS // len(self.table))
        index, u = self.locate(x)
        bins = index * fine + np.clip((u * fine).astype(np.int64), 0, fine - 1)
        outside = (u < 0) | (u > 1)
        keep_x, keep_y, keep_w = x[outside], y[outside], weight[outside]
        if len(keep_x):  # a tail has no width to bin over, and holds few rows
            weight = np.where(outside, 0.0, weight)
        size = len(self.table) * fine
        mass = np.bincount(bins, weight, minlength=size)
        filled = mass > 0
        mass_filled = mass[filled]
        mean_x = np.bincount(bins, weight * x, minlength=size)[filled] / mass_filled
        mean_y = np.bincount(bins, weight * y, minlength=size)[filled] / mass_filled
        return (
            np.concatenate([mean_x, keep_x]),
            np.concatenate([mean_y, keep_y]),
            np.concatenate([mass_filled, keep_w]),
        )

    def penalty(self, weight: FloatArray | None = None) -> FloatArray:
        """Integral of the product of second derivatives, domain scaled to length one.

        Parameters
        ----------
        weight : ndarray (K,), optional
            Of each interval.
        """
        p, order, cells = self.size, self.table.shape[1], len(self.table)
        out = np.zeros((p, p))
        if order < 4:
            return out
        scale = (np.diff(self.knots) / self.width) ** -3.0
        scale = scale if weight is None else scale * weight
        second = 2.0 * self.table[:, :, 2]
        third = 6.0 * self.table[:, :, 3]
        base = np.arange(cells)
        for a in range(order):
            for b in range(order):
                product = (
                    second[:, a] * second[:, b]
                    + 0.5 * (second[:, a] * third[:, b] + third[:, a] * second[:, b])
                    + third[:, a] * third[:, b] / 3.0
                )
                out[base + a, base + b] += product * scale
        return out

    def bending(self, coefficients: FloatArray) -> FloatArray:
        """Mean square (K,) of the second derivative in each interval."""
        *_, second, third = self.polynomial(coefficients).T * np.array([1, 1, 2, 6])[:, None]
        length = np.diff(self.knots) / self.width
        return np.asarray((second**2 + second * third + third**2 / 3.0) / length**4)

    def function(self, coefficients: FloatArray, x: FloatArray) -> FloatArray:
        """Value at x (q,) of the function with the given B-spline coefficients."""
        return self.evaluate(self.polynomial(coefficients), x)

    def polynomial(self, coefficients: FloatArray) -> FloatArray:
        """Power coefficients (K, order) of the function with the given B-spline coefficients."""
        order = self.table.shape[1]
        windows = np.lib.stride_tricks.sliding_window_view(coefficients, order)
        return np.asarray(np.einsum("ka,kap->kp", windows, self.table))

    def evaluate(self, polynomial: FloatArray, x: FloatArray) -> FloatArray:
        """Evaluate power coefficients (K, q) at x, straight on outside the domain."""
        index, u = self.locate(x)
        inside = np.clip(u, 0.0, 1.0)
        value = polynomial[index, -1]
        slope = np.zeros_like(value)
        for power in range(polynomial.shape[1] - 2, -1, -1):
            slope = slope * inside + value
            value = value * inside + polynomial[index, power]
        beyond = u - inside
        return np.asarray(value + slope * beyond if beyond.any() else value)

    def evaluate_square(self, matrix: FloatArray, x: FloatArray) -> FloatArray:
        """b(x)' matrix b(x) for a symmetric matrix: a polynomial of twice the degree."""
        cells, order = self.table.shape[0], self.table.shape[1]
        base = np.arange(cells)
        square = np.zeros((cells, 2 * order - 1))
        for a in range(order):
            for b in range(order):
                entry = matrix[base + a, base + b]
                for i in range(order):
                    for j in range(order):
                        square[:, i + j] += entry * self.table[:, a, i] * self.table[:, b, j]
        _, u = self.locate(x)
        outside = (u < 0) | (u > 1)
        out = self.evaluate(square, x)
        if outside.any():  # the square of a line is no line
            design = self.design(x[outside])
            out[outside] = np.einsum("ij,ij->i", design @ matrix, design)
        return out


def intervals_of(rows: int) -> int:
    """Return how many intervals one column is given: knots of R's smooth.spline.

    >>> intervals_of(300), intervals_of(800), intervals_of(5000)
    (75, 140, 199)
    """
    usual = 2.0 ** np.interp(np.log2(rows), np.log2([50, 200, 800, 3200]), _LOG_KNOTS)
    return max(1, min(rows // ROWS_PER_INTERVAL, int(usual)))


def spline_axis(x: FloatArray, intervals: int) -> SplineAxis:
    """Breakpoints at quantiles of the bulk of x; a line when fewer than one interval is wanted."""
    stride = max(1, len(x) // 20_000)
    seen = np.sort(x[::stride])
    low, high = float(np.min(x)), float(np.max(x))
    if not high > low:
        return SplineAxis(np.array([low, low + 1.0]), np.ones((1, 1, 1)), 0.0)
    inner_low, inner_high = np.quantile(seen, [0.005, 0.995])
    if inner_high > inner_low:  # a far outlier is reached by a straight tail, not by a knot
        reach = 2.0 * (inner_high - inner_low)
        low, high = max(low, float(inner_low - reach)), min(high, float(inner_high + reach))
    width = high - low
    if intervals < 1:
        line = np.array([[[1.0, -1.0], [0.0, 1.0]]])
        return SplineAxis(np.array([low, high]), line, width)
    distinct = np.unique(seen)
    intervals = max(1, min(intervals, len(distinct) - 1))
    inner = np.quantile(
        distinct if len(distinct) < 4 * intervals else seen,
        np.linspace(0.0, 1.0, intervals + 1)[1:-1],
    )
    knots = [low]
    for knot in inner:
        if knot - knots[-1] > 1e-4 * width and high - knot > 1e-4 * width:
            knots.append(float(knot))
    knots.append(high)
    breaks = np.array(knots)
    full = np.concatenate([np.repeat(breaks[0], 3), breaks, np.repeat(breaks[-1], 3)])
    cells = len(breaks) - 1
    # Four basis functions live on a cell: four values of each give its power coefficients.
    nodes = np.array([0.1, 0.35, 0.65, 0.9])
    points = (breaks[:-1, None] + nodes * np.diff(breaks)[:, None]).ravel()
    local = interpolate.BSpline.design_matrix(points, full, 3).data.reshape(cells, 4, 4)
    to_power = np.linalg.inv(np.vander(nodes, 4, increasing=True))
    return SplineAxis(breaks, np.einsum("pn,kna->kap", to_power, local), width)


@final
@dataclass(frozen=True)
class Smoothed:
    """A penalised fit to rows.

    Attributes
    ----------
    coefficients : ndarray (p,)
        Of the basis functions.
    inverse : ndarray (p, p)
        Of the penalised Gram matrix.
    df : float
        Trace of the smoother matrix.
    gcv : float
        RSS / (n - 1.2 df)².
    gram : ndarray (p, p)
        What was penalised.
    noise : float
        Variance of what is left.
    """

    coefficients: FloatArray
    inverse: FloatArray
    df: float
    gcv: float
    gram: FloatArray
    noise: float

    def sandwich(self) -> FloatArray:
        """Inverse times Gram matrix times inverse, (p, p): of the squared smoother matrix."""
        return np.asarray(self.inverse @ self.gram @ self.inverse)


@final
class Spectrum:
    """The penalised problem in the basis where Gram matrix and penalty are both diagonal."""

    def __init__(self, gram: FloatArray, penalty: FloatArray, rows: int, free: int) -> None:
        # gram alone is singular where an interval is empty; a trace of the penalty repairs that
        # and is taken out again exactly, since it is diagonal in the same basis.
        shift = 1e-12 * rows
        base = gram + shift * penalty + 1e-14 * np.trace(gram) * np.eye(len(gram))
        rough, self._vectors = linalg.eigh(penalty, base, check_finite=False)
        self._rough = np.maximum(rough, 0.0)
        # what is free, as lines are, costs nothing: a large penalty would show the rounding
        self._rough[:free] = 0.0
        self._signal = np.maximum(1.0 - shift * self._rough, 0.0)
        self._rows = rows
        self._gram = gram

    def _gcv(
        self, log_penalty: FloatArray, score: FloatArray, energy: float, spent: float
    ) -> FloatArray:
        """Criterion for each of several penalties (g,)."""
        scale = self._signal + np.exp(log_penalty)[:, None] * self._rough
        rss = energy - (score**2 / scale * (2.0 - self._signal / scale)).sum(axis=1)
        freedom = self._rows - INFLATION_OF_ONE * ((self._signal / scale).sum(axis=1) + spent)
        safe = np.where(freedom > 0, freedom, 1.0)
        return np.where(freedom > 0, np.maximum(rss, 0.0) / safe**2, np.inf)

    def best(self, moment: FloatArray, energy: float, spent: float = 0.0) -> Smoothed:
        """Fit with the penalty that minimises the criterion.

        Parameters
        ----------
        moment : ndarray (p,)
            B'Wy.
        energy : float
            y'Wy.
        spent : float
            Degrees of freedom spent before, as on the choice of breaks.
        """
        score = self._vectors.T @ moment
        grid = np.log(self._rows) + np.log(10.0) * np.arange(-11.0, 4.1, 0.5)
        scores = self._gcv(grid, score, energy, spent)
        # Prefer the smoothest of equals: noiseless data and few rows leave GCV flat.
        place = len(grid) - 1 - int(np.argmin(scores[::-1]))
        low, high = grid[max(place - 1, 0)], grid[min(place + 1, len(grid) - 1)]
        fine = np.linspace(low, high, 33)
        refined = self._gcv(fine, score, energy, spent)
        at = len(fine) - 1 - int(np.argmin(refined[::-1]))
        better = refined[at] < scores[place]
        chosen = float(fine[at]) if better else float(grid[place])
        scale = self._signal + np.exp(chosen) * self._rough
        coefficients = self._vectors @ (score / scale)
        inverse = (self._vectors / scale) @ self._vectors.T
        gcv = float(min(refined[at], scores[place]))
        df, gram = float(np.sum(self._signal / scale)), self._gram
        rss = energy - float(coefficients @ (2.0 * moment - gram @ coefficients))
        noise = max(rss, 0.0) / max(self._rows - df, 1.0)
        return Smoothed(coefficients, inverse, df, gcv, gram, noise)


@final
class SplineRows:
    """Rows in the basis of their column, ready to be smoothed with or without further columns.

    Parameters
    ----------
    axis : SplineAxis
        The basis.
    x, y, weight : ndarray (n,)
        The rows.
    """

    def __init__(self, axis: SplineAxis, x: FloatArray, y: FloatArray, weight: FloatArray) -> None:
        self._axis, self._x, self._y, self._weight = axis, x, y, weight
        self._gram, self._moment = axis.sufficient(x, y, weight)
        self._energy = float(np.sum(weight * y * y))
        self._penalty = axis.penalty()

    def penalised(self, weight: FloatArray) -> "SplineRows":
        """The same rows, to be smoothed with another weight (K,) of each interval's roughness."""
        other = copy(self)
        other._penalty = self._axis.penalty(weight)
        return other

    def alone(self, spent: float = 0.0) -> Smoothed:
        """Return the spline with the smallest GCV."""
        spectrum = Spectrum(self._gram, self._penalty, self._y.size, 2)
        return spectrum.best(self._moment, self._energy, spent)

    def beside(self, columns: FloatArray, spent: float) -> Smoothed:
        """Return the spline and free coefficients of further columns that minimise GCV together.

        Parameters
        ----------
        columns : ndarray (n, q)
            Columns without a penalty; their coefficients come after those of the spline.
        spent : float
            Degrees of freedom spent before, as on the choice of breaks.
        """
        size, q = self._axis.size, columns.shape[1]
        weighted = columns * self._weight[:, None]
        gram, penalty = np.empty((size + q, size + q)), np.zeros((size + q, size + q))
        gram[:size, :size], penalty[:size, :size] = self._gram, self._penalty
        gram[size:, size:] = weighted.T @ columns
        gram[:size, size:] = self._axis.cross(self._x, weighted)
        gram[size:, :size] = gram[:size, size:].T
        moment = np.concatenate([self._moment, weighted.T @ self._y])
        return Spectrum(gram, penalty, self._y.size, 2 + q).best(moment, self._energy, spent)


def smoothed(axis: SplineAxis, x: FloatArray, y: FloatArray, weight: FloatArray) -> Smoothed:
    """Fit the spline with the smallest GCV to rows x, y, weight (n,)."""
    return SplineRows(axis, x, y, weight).alone()
