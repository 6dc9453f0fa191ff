"""The optimal partition is optimal, and jumps are found where they are and nowhere else."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from multiobs.transport import jumps
from multiobs.transport.basis import spline_axis
from multiobs.transport.jumps import JumpPilot, optimal_breaks
from multiobs.transport.pilots import fit_pilot
from multiobs.transport.spline import SplinePilot


def lines_left(x: np.ndarray, y: np.ndarray, w: np.ndarray, cuts: tuple[int, ...]) -> float:
    """Weighted sum of squares that a line in every segment leaves, the slow way."""
    total = 0.0
    for low, high in zip((0, *cuts), (*cuts, x.size), strict=True):
        part = slice(low, high)
        root = np.sqrt(w[part])
        Z = np.column_stack([np.ones(high - low), x[part]]) * root[:, None]
        found = np.linalg.lstsq(Z, y[part] * root, rcond=None)[0]
        total += float(np.sum((y[part] * root - Z @ found) ** 2))
    return total


@pytest.mark.parametrize("seed", range(4))
def test_no_other_cut_leaves_less(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 40
    x = np.sort(np.round(rng.uniform(size=n), 2))
    y = np.where(x > 0.35, 6.0 - 4 * x, x) + 5.0 * (x > 0.7) + 0.3 * rng.normal(size=n)
    w = rng.uniform(0.5, 2.0, size=n)
    found = optimal_breaks(x, y, w)
    assert found.size == 2
    fewest = jumps.FEWEST_ROWS
    best = min(
        (cuts for cuts in combinations(range(fewest, n - fewest + 1), 2)
         if cuts[1] - cuts[0] >= fewest and all(x[c - 1] < x[c] for c in cuts)),
        key=lambda cuts: lines_left(x, y, w, cuts),
    )  # fmt: skip
    assert found == pytest.approx([(x[c - 1] + x[c]) / 2 for c in best])


@pytest.mark.parametrize("n", [300, 1500, 6000])
def test_slopes_and_jumps_together_are_seen(n: int) -> None:
    ours, smooth = [], []
    for seed in range(5):
        rng = np.random.default_rng([seed, n])
        x = rng.uniform(size=n)
        mean = 6.0 * ((4 * x) % 1.0)
        X, y = x[:, None], mean + rng.normal(size=n)
        pilot = JumpPilot().fit(X, y)
        assert pilot.breaks_ == pytest.approx([0.25, 0.5, 0.75], abs=6 / n)
        ours.append(np.mean((pilot.predict(X) - mean) ** 2))
        smooth.append(np.mean((SplinePilot().fit(X, y).predict(X) - mean) ** 2))
    assert np.mean(ours) < 0.2 * np.mean(smooth)


def test_segments_of_ten_rows_are_seen_among_300() -> None:
    ours, smooth = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x = rng.uniform(size=(300, 1))
        mean = 4.0 * ((x[:, 0] > 0.2) & (x[:, 0] < 0.24)) - 3.0 * (x[:, 0] > 0.6)
        y = mean + rng.normal(size=300)
        found = fit_pilot(x, y, None)
        ours.append(np.mean((found.at_rows - mean) ** 2))
        smooth.append(np.mean((SplinePilot().fit(x, y).predict(x) - mean) ** 2))
    assert np.mean(ours) < 0.5 * np.mean(smooth)


def test_breaks_are_where_the_curves_of_both_sides_want_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A line in a segment of ten rows is steep, and takes in rows that are none of its own."""

    def wrong_rows() -> float:
        missed = []
        for seed in range(30):
            rng = np.random.default_rng(seed)
            x = rng.uniform(size=300)
            mean = 5.0 * ((x > 0.2) & (x < 0.23)) - 4.0 * ((x > 0.5) & (x < 0.54))
            pilot = JumpPilot().fit(x[:, None], mean + rng.normal(size=300))
            missed.append(np.sum(np.abs(pilot.predict(x[:, None]) - mean) > 2.0))
        return float(np.mean(missed))

    found = wrong_rows()
    monkeypatch.setattr(jumps, "MOVES", 0)
    monkeypatch.setattr(jumps._Smooth, "straightened", lambda _, solved: solved)
    assert found < 0.6
    assert found < 0.7 * wrong_rows()


def test_a_break_is_placed_at_the_best_row() -> None:
    rng = np.random.default_rng(2)
    x = np.sort(rng.uniform(size=80).round(2))  # with ties
    y = 2.0 * (x > 0.5) + 0.7 * rng.normal(size=80)
    problem = jumps._Smooth(x, y - y.mean(), rng.uniform(0.5, 2.0, size=80))
    solved = problem.solve(np.array([0.43]), np.array([False]))
    step = solved.fit.coefficients[-1]
    whole = problem.basis.evaluate(solved, x)
    curve = whole - step * (x > 0.43)
    places = [(a + b) / 2 for a, b in pairwise(x[2:-2]) if a < b]
    left = [
        float(np.sum(problem.weight * (problem.y - curve - step * (x > place)) ** 2))
        for place in places
    ]
    assert problem._place(solved, 0, problem.y - whole) == places[int(np.argmin(left))]


def test_without_breaks_it_is_the_spline() -> None:
    rng = np.random.default_rng(1)
    x = rng.uniform(size=(300, 1))
    y = x[:, 0] ** 2 + rng.normal(size=300)
    weight = np.where(np.arange(300) % 5 > 0, rng.uniform(0.5, 2.0, size=300), 0.0)
    ours, spline = JumpPilot().fit(x, y, weight), SplinePilot().fit(x, y, weight)
    assert ours.breaks_.size == 0
    assert ours.predict(x) == pytest.approx(spline.predict(x), abs=1e-7)
    assert ours.effective_df_ == pytest.approx(spline.effective_df_, rel=1e-6)
    some, others = x[:50], x[50:100]
    assert ours.pair_share(some, others) == pytest.approx(spline.pair_share(some, others), rel=1e-6)


def test_a_curve_gets_no_jumps() -> None:
    counts = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x = rng.uniform(size=(1000, 1))
        counts.append(fit_pilot(x, np.sin(9 * x[:, 0]) + rng.normal(size=1000), None).name)
    assert counts.count("spline") >= 8


def test_a_jump_in_a_wave_is_told_from_the_wave() -> None:
    rng = np.random.default_rng(1)
    x = rng.uniform(size=3000)
    mean = 2 * np.sin(12 * x) + 4.0 * (x > 0.37)
    pilot = JumpPilot().fit(x[:, None], mean + rng.normal(size=3000))
    assert pilot.breaks_ == pytest.approx([0.37], abs=0.004)
    assert np.mean((pilot.predict(x[:, None]) - mean) ** 2) < 0.02


def test_the_share_of_noise_left_in_pairs_is_that_of_the_smoother_matrix() -> None:
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(size=(150, 1)), axis=0)
    y = 5.0 * (x[:, 0] > 0.5) + rng.normal(size=150)
    pilot = JumpPilot().fit(x, y)
    Z = pilot._basis.design(pilot._solved, x[:, 0])
    H = Z @ pilot._solved.fit.inverse @ Z.T
    # y is measured from its own level; jumps and lines are in the class, so nothing is lost
    assert np.mean((pilot._level + H @ (y - pilot._level) - pilot.predict(x)) ** 2) < 1e-18
    S = H @ H.T
    i, j = rng.integers(0, 150, size=(2, 60))
    expected = 1 - (H[i, i] + H[j, j] - 2 * H[i, j]) + (S[i, i] + S[j, j] - 2 * S[i, j]) / 2
    assert pilot.pair_share(x[i], x[j]) == pytest.approx(expected, rel=1e-9)
    assert pilot.effective_df_ == pytest.approx(np.trace(H), rel=1e-9)


@pytest.mark.parametrize("shift", [0.0, 1e8])
def test_outliers_offsets_and_few_values_do_no_harm(shift: float) -> None:
    rng = np.random.default_rng(0)
    x = np.round(rng.uniform(size=400), 1)
    x[0] = 1e9
    y = shift + 4.0 * (x > 0.45) + rng.normal(size=400)
    X = x[:, None]
    found = JumpPilot().fit(X, y).predict(X)
    assert np.mean((found[1:] - shift - 4.0 * (x[1:] > 0.45)) ** 2) < 0.1
    assert JumpPilot().fit(np.ones((50, 1)), np.zeros(50)).predict(
        np.ones((2, 1))
    ) == pytest.approx(0)


def _chirp(x: np.ndarray) -> np.ndarray:
    return 2 * np.sin(20 * np.pi * x**3)


def test_a_curve_that_bends_more_and_more_has_a_penalty_that_follows() -> None:
    ours, one_penalty, freedom = [], [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.uniform(size=(300, 1))
        mean = _chirp(X[:, 0])
        y = mean + np.sqrt(0.5 + X[:, 0]) * rng.normal(size=300)
        pilot, spline = JumpPilot().fit(X, y), SplinePilot().fit(X, y)
        ours.append(np.mean((pilot.predict(X) - mean) ** 2))
        one_penalty.append(np.mean((spline.predict(X) - mean) ** 2))
        freedom.append(pilot.effective_df_ / spline.effective_df_)
    assert np.mean(ours) < 0.8 * np.mean(one_penalty)
    assert np.mean(freedom) < 0.8


def test_an_adapted_penalty_is_accounted_for_in_the_noise_that_is_left() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 1))
    one, two = np.argsort(X[:, 0])[:-1], np.argsort(X[:, 0])[1:]
    found, expected = [], []
    for _ in range(20):
        noise = 0.3 * rng.normal(size=300)
        pilot = JumpPilot().fit(X, _chirp(X[:, 0]) + noise)
        left = _chirp(X[:, 0]) + noise - pilot.predict(X)
        found.append(0.09 * np.mean(pilot.pair_share(X[one], X[two])))
        expected.append(np.mean((left[one] - left[two]) ** 2) / 2)
    assert np.mean(found) == pytest.approx(np.mean(expected), rel=0.05)


def test_bending_and_weighted_penalty_are_integrals_of_the_second_derivative() -> None:
    rng = np.random.default_rng(1)
    axis = spline_axis(rng.uniform(size=200), 8)
    w = rng.normal(size=axis.size)
    inside = np.linspace(0.0005, 0.9995, 2000)
    means = []
    for low, high in zip(axis.knots[:-1], axis.knots[1:], strict=True):
        step = 1e-4 * (high - low)
        x = low + (high - low) * inside
        second = sum(s * axis.function(w, x + k * step) for s, k in ((1, -1), (-2, 0), (1, 1)))
        means.append(np.mean((second / step**2) ** 2) * axis.width**4)
    assert axis.bending(w) == pytest.approx(np.array(means), rel=2e-2)
    weight = rng.uniform(size=8)
    exact = np.sum(weight * axis.bending(w) * np.diff(axis.knots) / axis.width)
    assert w @ axis.penalty(weight) @ w == pytest.approx(exact, rel=1e-9)
