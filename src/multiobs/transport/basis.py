"""One column of x as a piecewise polynomial basis: where the knots are and how to evaluate."""

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy import interpolate

from multiobs._types import FloatArray, IntArray

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

    @property
    def size(self) -> int:
        return len(self.table) + int(self.table.shape[1]) - 1

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

    def penalty(self) -> FloatArray:
        r"""Integral of the product of second derivatives, domain scaled to length one."""
        p, order, cells = self.size, self.table.shape[1], len(self.table)
        out = np.zeros((p, p))
        if order < 4:
            return out
        length = np.diff(self.knots) / self.width
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
                out[base + a, base + b] += product / length**3
        return out

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
