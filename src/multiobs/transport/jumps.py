r"""A pilot for means that jump: an optimal partition of x, and a spline for the rest.

Breaks come from the partition of sorted x into segments with a line in each that minimises the sum
of squares (dynamic programming over bins of rows), their number from the Bayesian information
criterion. The mean is then

.. math:: a(x) = s(x) + \sum_b \alpha_b 1[x > b] + \beta_b (x - b)_+

with s a penalised spline; breaks that the spline makes superfluous are dropped again, all of them
where generalised cross-validation prefers the spline alone (held-out thirds of 300 rows are too
few to see a segment of ten rows). Where the spline takes many degrees of freedom, its penalty may
follow the curvature: :math:`\lambda \int c(x)^{-q} s''(x)^2 dx` with c the mean of s''² nearby.
Given the breaks and this weight the fit is linear in the labels, so what it takes of their noise is
known.
"""

from dataclasses import dataclass
from typing import Self, final

import numpy as np
from numpy.typing import NDArray

from multiobs._types import FloatArray, IntArray
from multiobs.transport.basis import (
    Smoothed,
    SplineAxis,
    SplineRows,
    intervals_of,
    spline_axis,
)

SPENT = 4.0  # degrees of freedom on the place of a break, beside its coefficients
BINS = 400  # of adjacent rows, between which breaks are sought before single rows are looked at
MOST_SEGMENTS = 12
FEWEST_ROWS = 6  # in a segment, or 1.5 log n: chance finds more the more rows there are
ROUGH = 15.0  # degrees of freedom from which a spline's penalty may differ from place to place
POWERS = (1.0, 2.0)  # of the curvature, by which the penalty is divided
NEAR = 4.0  # intervals between knots over which the curvature is averaged
FLATTEST = 1e-4  # of the largest squared curvature
TURNS = 3  # of curvature and curve
MOVES = 5  # of the breaks, each time to where the last fit wants them
PRICE = 4.0  # of a break in units of log n: two coefficients and a place among many


@final
class JumpPilot:
    """Jumps and kinks at the breaks of an optimal partition, and a spline; one column of x.

    Attributes
    ----------
    breaks_ : ndarray (b,)
        Where the mean jumps.
    effective_df_ : float
        Trace of the smoother matrix for these breaks.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 400)
    >>> noise = 0.3 * np.random.default_rng(0).standard_normal(400)
    >>> mean = np.where(x > 0.4, 3 - 2 * x, x)
    >>> pilot = JumpPilot().fit(x[:, None], mean + noise)
    >>> pilot.breaks_.round(2).tolist()
    [0.4]
    """

    def fit(self, X: FloatArray, y: FloatArray, sample_weight: FloatArray | None = None) -> Self:
        """Fit to X of shape (n, 1) and y of shape (n,), weights of shape (n,) or None."""
        weight = np.ones(y.size) if sample_weight is None else sample_weight
        if not np.all(weight > 0):
            X, y, weight = X[weight > 0], y[weight > 0], weight[weight > 0]
        weight = weight * (y.size / weight.sum())
        order = np.argsort(X[:, 0], kind="stable")
        x, y, weight = X[order, 0], y[order], weight[order]
        self._level = float(np.average(y, weights=weight))
        problem = _Smooth(x, y - self._level, weight)
        self._basis = basis = problem.basis
        breaks = optimal_breaks(basis.unit(x), problem.y, weight)
        solved = problem.without_weak(problem.solve(breaks * basis.span + basis.low))
        solved = problem.straightened(problem.relocated(solved))
        self._solved = problem.adapted(problem.without_needless(solved))
        self.breaks_, self.effective_df_ = self._solved.breaks, self._solved.fit.df
        return self

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the fitted mean at X of shape (q, 1), shape (q,)."""
        return self._level + self._basis.evaluate(self._solved, X[:, 0])

    def pair_share(self, X: FloatArray, others: FloatArray) -> FloatArray:
        """Share of the noise variance left in half a squared difference of residuals, (q,).

        The same as :meth:`SplinePilot.pair_share`, for rows of the fit at X and others (q, 1).
        """
        design = self._basis.design
        gap = design(self._solved, X[:, 0]) - design(self._solved, others[:, 0])
        matrix = self._solved.fit.inverse - 0.5 * self._solved.fit.sandwich()
        return np.asarray(1.0 - np.einsum("ij,ij->i", gap @ matrix, gap))


@final
@dataclass(frozen=True)
class _Solved:
    """A fit with given breaks; ``kinks`` marks those at which the slope may change."""

    breaks: FloatArray
    kinks: NDArray[np.bool_]
    fit: Smoothed


@final
@dataclass(frozen=True)
class _Basis:
    """Spline, jumps and kinks as functions of x."""

    axis: SplineAxis

    @property
    def low(self) -> float:
        return float(self.axis.knots[0])

    @property
    def span(self) -> float:
        return self.axis.width or 1.0

    def unit(self, x: FloatArray) -> FloatArray:
        """X with the bulk of the rows in [0, 1]: a stray one must not flatten the lines."""
        return np.clip((x - self.low) / self.span, 0.0, 1.0)

    def steps(self, breaks: FloatArray, kinks: NDArray[np.bool_], x: FloatArray) -> FloatArray:
        """Columns of jumps (q, b), then of kinks (q, c)."""
        above = (x[:, None] > breaks).astype(np.float64)
        corner = (breaks[kinks] - self.low) / self.span
        return np.hstack([above, np.maximum(self.unit(x)[:, None] - corner, 0.0)])

    def design(self, solved: _Solved, x: FloatArray) -> FloatArray:
        """All columns at x (q,)."""
        return np.hstack([self.axis.design(x), self.steps(solved.breaks, solved.kinks, x)])

    def evaluate(self, solved: _Solved, x: FloatArray) -> FloatArray:
        """Return the fit at x (q,)."""
        w, smooth = solved.fit.coefficients, self.axis.size
        steps = self.steps(solved.breaks, solved.kinks, x)
        return np.asarray(self.axis.function(w[:smooth], x) + steps @ w[smooth:])


@final
class _Smooth:
    """Rows, and fits to them with one set of breaks after another."""

    def __init__(self, x: FloatArray, y: FloatArray, weight: FloatArray) -> None:
        self.x, self.y, self.weight = x, y, weight
        self.basis = _Basis(spline_axis(x, intervals_of(x.size)))
        self._rows = SplineRows(self.basis.axis, x, y, weight)

    def solve(
        self,
        breaks: FloatArray,
        kinks: NDArray[np.bool_] | None = None,
        weight: FloatArray | None = None,
    ) -> _Solved:
        """Fit with these breaks; a kink at each, and one penalty, unless said otherwise."""
        kinks = np.ones(breaks.size, dtype=bool) if kinks is None else kinks
        rows = self._rows if weight is None else self._rows.penalised(weight)
        spent = 0.0 if weight is None else SPENT
        if breaks.size == 0:
            return _Solved(breaks, kinks, rows.alone(spent))
        steps = self.basis.steps(breaks, kinks, self.x)
        return _Solved(breaks, kinks, rows.beside(steps, spent + SPENT * breaks.size))

    def adapted(self, solved: _Solved) -> _Solved:
        """Penalise roughness less where the curve bends more, if cross-validation wants that.

        The weight of the penalty is a power of the mean square of the second derivative nearby,
        found in turn with the curve; with the breaks that there are, and without any.
        """
        best = solved
        for start in [solved, self.solve(np.empty(0))][: 1 + (solved.breaks.size > 0)]:
            if start.fit.df - 2 * start.breaks.size < ROUGH:
                continue
            for power in POWERS:
                found = start
                for _ in range(TURNS):
                    found = self.solve(found.breaks, found.kinks, self._bent(found.fit, power))
                    best = found if found.fit.gcv < best.fit.gcv else best
        return best

    def _bent(self, fit: Smoothed, power: float) -> FloatArray:
        """Weight (K,) of the roughness in each interval, their geometric mean one."""
        axis = self.basis.axis
        bending = axis.bending(fit.coefficients[: axis.size])
        at = np.arange(bending.size)
        near = np.exp(-0.5 * (np.subtract.outer(at, at) / NEAR) ** 2)
        level = near @ bending / near.sum(axis=1)
        level = np.log(np.maximum(level, FLATTEST * level.max()))
        return np.asarray(np.exp(-power * (level - level.mean())))

    def without_weak(self, solved: _Solved) -> _Solved:
        """Drop breaks, and kinks, that are no more than noise once there is a spline."""
        logarithm = np.log(self.y.size)
        while solved.breaks.size and solved.fit.noise > 0:
            jump, kink = self._evidence(solved)
            weak = jump < PRICE * logarithm
            if weak.any():  # only the weaker half at once: the others gain by that
                kept = ~(weak & (jump <= np.median(jump[weak])))
                solved = self.solve(solved.breaks[kept], solved.kinks[kept])
                continue
            flat = solved.kinks & (kink < logarithm)
            if not flat.any():
                break
            solved = self.solve(solved.breaks, solved.kinks & ~flat)
        return solved

    def relocated(self, solved: _Solved) -> _Solved:
        """Move each break to where the curves of both sides leave least, if the fit gains."""
        for _ in range(MOVES):  # the partition's own line through few rows is steep
            left = self.y - self.basis.evaluate(solved, self.x)
            places = np.array([self._place(solved, b, left) for b in range(solved.breaks.size)])
            if np.array_equal(places, solved.breaks) or np.any(np.diff(places) <= 0):
                break
            moved = self.solve(places, solved.kinks)
            if not moved.fit.gcv < solved.fit.gcv:
                break
            solved = moved
        return solved

    def straightened(self, solved: _Solved) -> _Solved:
        """Drop kinks that only stood for a break in the wrong place."""
        at: list[int] = np.flatnonzero(solved.kinks).tolist()
        pairs = [[b, b + 1] for b in at if b + 1 in at]
        for dropped in [at, *pairs, *([b] for b in at)]:
            kinks = solved.kinks.copy()
            kinks[dropped] = False
            if np.array_equal(kinks, solved.kinks):
                continue
            found = self.relocated(self.solve(solved.breaks, kinks))
            solved = found if found.fit.gcv < solved.fit.gcv else solved
        return solved

    def _place(self, solved: _Solved, b: int, left: FloatArray) -> float:
        """Where the curves below and above a break are best joined; the fit leaves this."""
        place, x = solved.breaks[b], self.x
        sizes = solved.fit.coefficients[self.basis.axis.size :]
        step = np.full(x.size, sizes[b])
        if solved.kinks[b]:
            corner = sizes[solved.breaks.size + int(solved.kinks[:b].sum())]
            step += corner * (x - place) / self.basis.span
        below = left + np.where(x > place, step, 0.0)
        # what it costs to count the rows up to each one as below the break
        cost = np.cumsum(self.weight * (below**2 - (below - step) ** 2))
        ends = [x[0] - 1.0, *solved.breaks, x[-1]]
        low, high = np.searchsorted(x, [ends[b], ends[b + 2]], side="right")
        last = np.arange(low + FEWEST_ROWS // 2 - 1, high - FEWEST_ROWS // 2)
        last = last[x[last] < x[last + 1]]
        if last.size == 0:
            return float(place)
        best = last[np.argmin(cost[last])]
        return float((x[best] + x[best + 1]) / 2)

    def without_needless(self, solved: _Solved) -> _Solved:
        """Drop breaks that cross-validation can do without: lines that stood for a curve."""
        if solved.breaks.size == 0:
            return solved
        none = np.empty(0)
        bare = self.solve(none)
        order = np.argsort(self._evidence(solved)[0]) if solved.fit.noise > 0 else range(0)
        for place in solved.breaks[order]:
            kept = solved.breaks != place
            fewer = self.solve(solved.breaks[kept], solved.kinks[kept])
            if fewer.fit.gcv <= solved.fit.gcv:
                solved = fewer
        return solved if solved.fit.gcv < bare.fit.gcv else bare

    def _evidence(self, solved: _Solved) -> tuple[FloatArray, FloatArray]:
        """Wald statistics of each break and of its kink, (b,) each."""
        smooth, count = self.basis.axis.size, solved.breaks.size
        sizes = solved.fit.coefficients[smooth:]
        block = solved.fit.inverse[smooth:, smooth:] * solved.fit.noise
        place = np.full(count, -1)
        place[solved.kinks] = count + np.arange(int(solved.kinks.sum()))
        whole, kink = np.empty(count), np.zeros(count)
        for b in range(count):
            own = [b] if place[b] < 0 else [b, place[b]]
            whole[b] = sizes[own] @ np.linalg.solve(block[np.ix_(own, own)], sizes[own])
            if place[b] >= 0:
                kink[b] = sizes[place[b]] ** 2 / block[place[b], place[b]]
        return whole, kink


def optimal_breaks(x: FloatArray, y: FloatArray, weight: FloatArray) -> FloatArray:
    """Places (b,) between rows at which sorted x in [0, 1] is best cut, a line in each part.

    Parameters
    ----------
    x, y, weight : ndarray (n,)
        Rows in the order of x.
    """
    starts = _bin_starts(x)
    rows = np.diff(np.append(starts, x.size))
    terms = np.stack([weight, weight * x, weight * x * x, weight * y, weight * x * y])
    terms = np.vstack([terms, weight * y * y])
    sums = np.add.reduceat(terms, starts, axis=1)
    cumulated = np.hstack([np.zeros((6, 1)), np.cumsum(sums, axis=1)])
    seen = np.concatenate([[0], np.cumsum(rows)])
    cost = _line_costs(cumulated)
    inside = np.diagonal(cost, 1).copy() if rows.max() > 1 else None
    fewest = max(FEWEST_ROWS, round(1.5 * np.log(x.size)))
    cost[np.subtract.outer(-seen, -seen) < fewest] = np.inf
    cuts = _partition(cost, x.size, inside)
    if not cuts:
        return np.empty(0)
    edges = [0, *(int(seen[c]) for c in cuts), x.size]
    # Bins hold several rows where there are many: move each cut to the best row near it.
    reach = int(2 * rows.max()) + 1
    for place in [*range(1, len(edges) - 1)] * 2:
        edges[place] = _nearest_best(x, y, weight, edges[place - 1 : place + 2], reach, fewest)
    inner = np.array(edges[1:-1])
    return np.asarray((x[inner - 1] + x[inner]) / 2)


def _bin_starts(x: FloatArray) -> IntArray:
    """First row of each bin; rows with equal x are never in two."""
    fresh = np.flatnonzero(np.concatenate([[True], x[1:] > x[:-1]]))
    if fresh.size <= BINS:
        return fresh
    wanted = np.linspace(0, x.size, BINS, endpoint=False).astype(np.int64)
    return np.unique(fresh[np.searchsorted(fresh, wanted, side="left").clip(max=fresh.size - 1)])


def _line_costs(sums: FloatArray) -> FloatArray:
    """Sum of squares (c, c) left by the best line through bins i .. j - 1, for i < j."""
    w, wx, wxx, wy, wxy, wyy = (each[None, :] - each[:, None] for each in sums)
    w = np.where(w > 0, w, 1.0)
    spread = np.maximum(wxx - wx**2 / w, 0.0)
    joint = wxy - wx * wy / w
    flat = spread <= 1e-12 * w  # all at one x: no line, only a level
    slope = np.where(flat, 0.0, joint / np.where(flat, 1.0, spread))
    return np.asarray(np.maximum(wyy - wy**2 / w - slope * joint, 0.0))


def _partition(cost: FloatArray, n: int, inside: FloatArray | None) -> list[int]:
    """Cut points of the best partition; how many there are by the information criterion.

    A jump inside a bin would make that bin a segment of its own: with ``inside``, the cost of each
    bin on a line of its own, the bin at a cut may belong to neither side.
    """
    size = cost.shape[0]
    best = cost[0].copy()
    floor = 1e-12 * float(cost[0, -1]) + 1e-300
    came = np.zeros((MOST_SEGMENTS + 1, size), dtype=np.int64)
    scores = [n * np.log(max(best[-1], floor) / n)]
    for segments in range(2, MOST_SEGMENTS + 1):
        through = best[:, None] + cost
        if inside is not None:
            astride = (best[:-1] + inside)[:, None] + cost[1:]
            np.minimum(through[:-1], astride, out=through[:-1])
        came[segments] = np.argmin(through, axis=0)
        best = through[came[segments], np.arange(size)]
        if not np.isfinite(best[-1]):
            break
        price = PRICE * (segments - 1) * np.log(n)
        scores.append(n * np.log(max(best[-1], floor) / n) + price)
    cuts: list[int] = []
    end = size - 1
    for segments in range(int(np.argmin(scores)) + 1, 1, -1):
        end = int(came[segments, end])
        cuts.append(end)
    return cuts[::-1]


def _nearest_best(
    x: FloatArray, y: FloatArray, weight: FloatArray, edges: list[int], reach: int, fewest: int
) -> int:
    """Cut between two segments at the row near it where the lines of both sides leave least."""
    left, cut, right = edges
    losses = []
    for part in (slice(left, cut), slice(cut, right)):
        mean_x = np.average(x[part], weights=weight[part])
        mean_y = np.average(y[part], weights=weight[part])
        u = x[part] - mean_x
        spread = float(np.sum(weight[part] * u * u))
        slope = float(np.sum(weight[part] * u * (y[part] - mean_y))) / spread if spread > 0 else 0.0
        losses.append((mean_x, mean_y, slope))
    low, high = max(left + fewest, cut - reach), min(right - fewest, cut + reach)
    if high <= low:
        return cut
    near = slice(low, high)
    first, second = (
        weight[near] * (y[near] - level - slope * (x[near] - at)) ** 2
        for at, level, slope in losses
    )
    # rows before the cut belong to the first line, the others to the second
    total = np.concatenate([[0.0], np.cumsum(first - second)])
    possible = np.arange(low, high + 1)
    allowed = x[possible - 1] < x[np.minimum(possible, x.size - 1)]
    if not allowed.any():
        return cut
    return int(possible[int(np.argmin(np.where(allowed, total, np.inf)))])
