"""L, B and curvature against the losses themselves; complexity of the class."""

import math

import numpy as np
import pytest

from multiobs import bounds, statistics


@pytest.mark.parametrize(
    ("name", "statistic", "order"),
    [
        ("mean", statistics.mean(), 1),
        ("variance", statistics.variance(), 2),
        ("gini_mean_difference", statistics.gini_mean_difference(), 2),
        ("minvar", statistics.minvar(3), 2),
        ("maxvar", statistics.maxvar(2), 2),
        ("l_moment", statistics.l_moment(3), 3),
        ("l_moment", statistics.l_moment(4), 4),
        ("third_central_moment", statistics.central_moment(3), 3),
        ("collision_probability", statistics.collision_probability(), 2),
    ],
)
def test_kernel_ranges_are_attained_and_never_left(name, statistic, order):
    a, b = -1.5, 2.0
    low, high = bounds.kernel_range(name, (a, b), order=order)
    rng = np.random.default_rng(0)
    m = statistic.arity
    inside = rng.uniform(a, b, size=(20_000, m))
    corners = np.array(np.meshgrid(*[[a, b]] * m)).reshape(m, -1).T
    values = statistic.psi(np.vstack([inside, corners]))
    assert values.min() >= low - 1e-9
    assert values.max() <= high + 1e-9
    at_corners = statistic.psi(corners)
    if name != "collision_probability":  # two different values are inside the box
        assert at_corners.min() == pytest.approx(low, abs=1e-9)
    assert at_corners.max() == pytest.approx(high, abs=1e-9)


@pytest.mark.parametrize(
    ("statistic", "constants", "r_range", "tight"),
    [
        (statistics.variance(), bounds.squared_loss_constants((0, 2.0), (0.0, 1.0)), (0, 1), True),
        (
            statistics.ucb(1.5, loss="cubic"),
            bounds.ucb_loss_constants(1.5, (-1, 1), (0.5, 3.0), loss="cubic", mean_high=0.2),
            (0.5, 3.0),
            True,
        ),
        (
            statistics.ucb(0.5, reference=0.3),
            bounds.ucb_loss_constants(0.5, (-1, 1), (-0.5, 2.0), reference=0.3),
            (-0.5, 2.0),
            True,
        ),
        (
            statistics.ucb(3.0, reference=-2.0),
            bounds.ucb_loss_constants(3.0, (-1, 1), (-0.2, 0.4), reference=-2.0),
            (-0.2, 0.4),
            True,
        ),
    ],
)
def test_loss_constants_bound_the_loss(statistic, constants, r_range, tight):
    rng = np.random.default_rng(0)
    y = rng.uniform(-1, 1, size=(4000, 2))
    y[:400] = rng.choice([-1.0, 1.0], size=(400, 2))
    r = np.linspace(*r_range, 60)
    slopes = np.array([np.abs(statistic.loss.gradient(np.full(len(y), s), y)) for s in r])
    assert slopes.max() <= constants.L * (1 + 1e-9)
    if tight:
        assert slopes.max() >= constants.L * 0.97
    values = np.array([statistic.loss.value(np.full(len(y), s), y) for s in r])
    # B bounds the spread after a function of y alone is taken away: the value in the middle
    spread = values - values[len(r) // 2]
    assert np.ptp(spread) <= 2 * constants.B
    assert (values.max(axis=0) - values.min(axis=0)).max() <= constants.B * (1 + 1e-9)


def test_ratio_constants():
    found = bounds.ratio_loss_constants((0.0, 0.5), (1.0, 2.0), (0.0, 1.0))
    rng = np.random.default_rng(0)
    y = rng.uniform(1, 2, size=(2000, 2))
    what = statistics.dispersion_index()
    for r in (0.0, 0.5, 1.0):
        assert np.abs(what.loss.gradient(np.full(2000, r), y)).max() <= found.L
    assert found.curvature == 2.0
    with pytest.raises(ValueError, match="chi_range must not go below 0, got -1"):
        bounds.ratio_loss_constants((0.0, 0.5), (-1.0, 2.0), (0.0, 1.0))


def test_strong_convexity_is_the_smallest_curvature():
    rng = np.random.default_rng(0)
    Z = np.column_stack([np.ones(500), rng.random((500, 2))])
    sigma = bounds.strong_convexity(Z, 2.0)
    directions = rng.standard_normal((2000, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    curvatures = 2 * ((Z @ directions.T) ** 2).mean(axis=0)
    assert sigma <= curvatures.min()
    assert curvatures.min() <= sigma * 1.2
    assert bounds.strong_convexity(np.ones((5, 2)), 2.0) == pytest.approx(0.0, abs=1e-12)


def test_empirical_rademacher_between_khintchine_and_jensen():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((200, 3))
    for norm in (1, 2):
        found = bounds.empirical_rademacher_linear(Z, 1.5, norm=norm, draws=2000, rng=rng)
        assert found.value <= found.upper + 4 * found.standard_error
    assert found.value >= found.upper / math.sqrt(2) - 4 * found.standard_error
    # the supremum by brute force over a fine circle of coefficients agrees with the closed form
    Z2 = Z[:50, :2]
    signs = rng.choice([-1.0, 1.0], size=(300, 50))
    angles = np.linspace(0, 2 * np.pi, 2000)
    circle = 1.5 * np.column_stack([np.cos(angles), np.sin(angles)])
    brute = (signs @ Z2 @ circle.T / 50).max(axis=1)
    exact = bounds.empirical_rademacher_linear(Z2, 1.5, draws=3000, rng=rng)
    error = math.hypot(exact.standard_error, brute.std() / math.sqrt(300))
    assert abs(brute.mean() - exact.value) < 4 * error + 1e-5
    assert exact.value < bounds.rademacher_linear(50, 1.5, np.linalg.norm(Z2, axis=1).max())


@pytest.mark.parametrize("psi_range", [(0.0, 10.0), (-3.0, 1.0)])
@pytest.mark.parametrize("r_range", [(4.9, 5.1), (0.0, 0.01), (-1.0, 20.0)])
def test_range_of_the_squared_loss_is_the_smaller_of_its_two_bounds(psi_range, r_range):
    # how far the loss moves with r at one psi, by trying everything
    psi, r = np.linspace(*psi_range, 401), np.linspace(*r_range, 401)
    loss = (r[:, None] - psi) ** 2
    moved = np.ptp(loss, axis=0).max()
    found = bounds.squared_loss_constants(psi_range, r_range)
    assert moved * (1 - 1e-9) <= found.B <= min(loss.max(), found.L * np.ptp(r)) * (1 + 1e-9)
    if np.ptp(r) < 0.5:  # a narrow class: the loss is large, and hardly moves
        assert found.B < 1.05 * moved < 0.2 * loss.max()


@pytest.mark.parametrize("r_range", [(0.5, 0.52), (2.0, 2.05), (0.5, 3.0)])
def test_range_of_the_cubic_loss_in_narrow_and_wide_classes(r_range):
    lam, y_range = 1.5, (-1.0, 1.0)
    found = bounds.ucb_loss_constants(lam, y_range, r_range, loss="cubic")
    corner = np.linspace(*y_range, 41)
    y = np.array(np.meshgrid(corner, corner)).reshape(2, -1).T
    loss = statistics.ucb(lam, loss="cubic").loss
    values = np.array([loss.value(np.full(len(y), r), y) for r in np.linspace(*r_range, 201)])
    moved = np.ptp(values, axis=0).max()
    assert moved <= found.B * (1 + 1e-9)
    assert found.L * (r_range[1] - r_range[0]) * (1 + 1e-9) >= found.B


def test_regions_of_the_cubic_loss():
    # expected loss in u = r - mean with s = lam sd: u^3/3 - s^2 u. Appendix F of the paper.
    mean, sd, lam = 0.7, 1.3, 2.0
    s = lam * sd
    y = np.array([[mean - sd, mean - sd], [mean - sd, mean + sd], [mean + sd, mean + sd]])
    weight = np.array([0.25, 0.5, 0.25])  # two fair draws of mean +- sd
    loss = statistics.ucb(lam, loss="cubic").loss

    def expected(r):
        return np.array([weight @ loss.value(np.full(3, each), y) for each in np.atleast_1d(r)])

    best = expected(mean + s)[0]
    # at the end of the region it is printed for, mean - 2 s, the loss is as small: not unique
    assert expected(mean - 2 * s)[0] == pytest.approx(best, rel=1e-12)
    assert np.all(expected(np.linspace(mean - 2 * s + 1e-3, mean + s - 1e-3, 500)) > best)
    falling = expected(np.linspace(mean - s, mean + s, 300))
    assert np.all(np.diff(falling) < 0)  # then rising: quasi-convex from mean - s on
    rising = expected(np.linspace(mean - 2 * s, mean - s, 300))
    assert np.all(np.diff(rising) > 0)  # and not before
    bend = np.diff(expected(np.linspace(mean, mean + 2 * s, 300)), 2)
    assert np.all(bend > 0)
    assert np.all(np.diff(expected(np.linspace(mean - s, mean - 1e-3, 300)), 2) < 0)
