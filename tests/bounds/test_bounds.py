"""The theorems' formulas against hand-computed values, and their promises by simulation."""

import ast
import math
from pathlib import Path

import numpy as np
import pytest

import multiobs.bounds as package
from multiobs import MultiObservationRegressor, bounds, statistics
from multiobs.planning.pool import assign
from multiobs.samplers import Improved

E = math.e


def test_bounds_import_only_math_and_numpy():
    allowed = {"math", "numpy", "typing", "collections"}
    for path in Path(package.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                assert {a.name.partition(".")[0] for a in node.names} <= allowed, path
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                assert (node.module or "").partition(".")[0] in allowed, path


# Hand-computed values: the logarithms are made whole by the choice of delta.


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        # 2 * 9^2 * 1 * log(2*2*9 / (36/e^4)) = 162 * 4
        (bounds.naive_sample_size(9, 2, 1, 36 / E**4), 162 * 4),
        # 1 * 4^(7/2) * 4^2 * log(8/delta) = 128 * 16 * 3
        (bounds.naive_sample_size(4, 1, 4, 8 / E**3), 128 * 16 * 3),
        # C m n^1 (log(m/delta) + log n): 3 * 2 * 9 * (2 + log 9)
        (bounds.improved_sample_size(9, 2, 1, 2 / E**2, 3.0), 54 * (2 + math.log(9))),
        # d = 2: 4^(3/2) * 2 * (3 + 2 log 8)
        (bounds.improved_sample_size(4, 1, 2, E**-3), 16 * (3 + 2 * math.log(8))),
        # uniform, d = 1: 2 (10 + 4 (2 + log 4))
        (bounds.improved_sample_size_uniform(10, 2, 1, 0.25, 2 / E**2), 20 + 8 * (2 + math.log(4))),
        # uniform, d = 4, epsilon = 1/2: (2/0.5)^4 = 256; 7 + 256 (1 + 4 log 8)
        (bounds.improved_sample_size_uniform(7, 1, 4, 0.5, 1 / E), 7 + 256 * (1 + 4 * math.log(8))),
        (bounds.good_set_size(200, 2 / E**2), 200 - math.sqrt(200)),
        (bounds.good_set_size(200, 2 / E**2, form="repaired"), 200 - 2 * math.sqrt(200)),
        (bounds.good_set_size(1, 0.01), 0.0),
        # 2 * 3 * 0.5 + 2 sqrt(8/(2*100))
        (bounds.uniform_convergence(100, 3, 2, 0.5, E**-8), 3 + 0.4),
        # 2*2*0.1 + 2*3*(2*3 + 2*5)/20
        (bounds.excess_risk(400, 2, 5.0, 2.0, 3.0, 0.1, 4 / E**9), 0.4 + 6 * 16 / 20),
        # (3*2*5 + 8*9*4*37/0.5)/100
        (bounds.fast_excess_risk(100, 2.0, 3.0, 0.5, 3 / E**5), (30 + 8 * 9 * 4 * 37 * 2) / 100),
        (bounds.fast_excess_risk(100, 2.0, 3.0, 0.5, 3 / E**5, feature_norm=1.0),
         (30 + 8 * 9 * 37 * 2) / 100),
        (bounds.fast_excess_risk(100, 2.0, 3.0, 0.5, 3 / E**5, form="repaired"),
         2 * (30 + 8 * 9 * 4 * 37 * 2) / 100),
        (bounds.clean_excess_risk(50, 1.0, 5.0, 0.5, 2 / E), 1 + 1.0),
        (bounds.fast_epsilon(25, 2, 2.0), 0.01),
        (bounds.two_moment_rate(64, 1), 1 / 16),
        (bounds.two_moment_rate(64, 4), 1 / 4),
        (bounds.direct_rate(64), 1 / 64),
        (bounds.sample_rate(81, 3), 1 / 3),
        (bounds.sample_rate(81, 4, fast=True), 1 / 3),
        (bounds.label_rate(81), 1 / 9),
        (bounds.label_rate(81, fast=True), 1 / 81),
        (bounds.rademacher_linear(25, 2.0, 3.0), 1.2),
        (bounds.rademacher_linear(8, 2.0, 3.0, norm=1, p=2), 6 * math.sqrt(math.log(4) / 4)),
        # 1/2 + sqrt(1/4 + 2 (1/3) 2^3) = (1 + sqrt(67/3)) / 2
        (bounds.dimension_lower_bound(3), 0.5 + math.sqrt(0.25 + 16 / 3)),
        (bounds.dimension_lower_bound(1, success=0.75), 0.5 + math.sqrt(0.25 + 2)),
        (bounds.repeat_probability(3, 2), 1 - (3 / 4) * (2 / 4)),
        (bounds.repeat_probability_bound(3, 2), 3 / 4),
        (bounds.repeat_probability(9, 3), 1.0),
    ],
)  # fmt: skip
def test_hand_computed(value, expected):
    assert value == pytest.approx(expected, rel=1e-12)


def test_fast_sample_size_is_the_papers_formula():
    n, m, d, K, delta, C = 30, 2, 2, 1.5, 0.05, 1.7
    epsilon = 1 / (m * K * n)
    cells = (math.sqrt(d) / epsilon) ** d
    printed = C * m * (n + cells * math.log(3 * m * d**d / (delta * epsilon**d)))
    assert bounds.fast_sample_size(n, m, d, K, delta, C) == pytest.approx(printed, rel=1e-12)


def test_repaired_slow_bound_adds_up_the_proof():
    n, m, K, L, B, rademacher, delta = 500, 3, 0.7, 1.3, 2.1, 0.05, 0.1
    deviation = B * math.sqrt(math.log(4 / delta) / (2 * n))
    light = math.sqrt(n) + math.sqrt(n * math.log(8 / delta) / 2)
    corrupted = math.sqrt(n) * (math.sqrt(math.log(4 / delta)) + m * K)
    t1, t2, t3 = 2 * L * rademacher + deviation, B * (light + corrupted) / n, deviation
    repaired = bounds.excess_risk(n, m, K, L, B, rademacher, delta, form="repaired")
    assert repaired == pytest.approx(t1 + 2 * t2 + t3, rel=1e-12)
    assert repaired > bounds.excess_risk(n, m, K, L, B, rademacher, delta)


def test_vectorised_and_scalar_agree():
    n, d = np.array([10, 100, 1000]), np.array([[1], [3]])
    sizes = bounds.improved_sample_size(n, 2, d, 0.05)
    assert sizes.shape == (2, 3)
    assert sizes[1, 2] == bounds.improved_sample_size(1000, 2, 3, 0.05)
    risks = bounds.excess_risk(n, 2, 1.0, 1.0, 1.0, 1 / np.sqrt(n), 0.1)
    assert risks.tolist() == [
        bounds.excess_risk(k, 2, 1.0, 1.0, 1.0, 1 / math.sqrt(k), 0.1) for k in n
    ]
    assert np.all(np.diff(risks) < 0)


def test_no_overflow_in_fifty_dimensions():
    # warnings are errors: an overflow would be one
    for size in (
        bounds.naive_sample_size(10**6, 5, 50, 1e-9),
        bounds.improved_sample_size(10**6, 5, 50, 1e-9),
        bounds.improved_sample_size_uniform(10**6, 5, 50, 1e-3, 1e-9),
        bounds.dimension_lower_bound(50),
    ):
        assert math.isfinite(size)
        assert size > 0
    assert bounds.naive_sample_size(1e12, 2, 50, 0.05) == math.inf
    log = bounds.naive_sample_size(1e12, 2, 50, 0.05, log=True)
    assert log == pytest.approx(
        math.log(2) + 26.5 * math.log(1e12) + 25 * math.log(50) + math.log(math.log(8e13)),
        rel=1e-12,
    )
    assert bounds.corner_cube(50).corner_volume == pytest.approx((1 - 1 / 50) ** 50)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bounds.naive_sample_size(10, 2, 1, 1.5), r"delta must be .* got 1.5"),
        (lambda: bounds.naive_sample_size(10, 2.5, 1, 0.1), r"m must be a whole .* got 2.5"),
        (lambda: bounds.improved_sample_size(0, 2, 1, 0.1), r"n must be at least 1, got 0"),
        (lambda: bounds.improved_sample_size(9, 2, 1, 0.1, C=-1), r"C must be positive, got -1"),
        (lambda: bounds.improved_sample_size_uniform(9, 2, 1, [0.5, 1.0], 0.1),
         r"epsilon must be strictly between 0 and 1, got 1"),
        (lambda: bounds.excess_risk([50, 5], 2, 1, 1, 1, 0, 0.05),
         r"n must be at least 2 log\(8/delta\) = 10.15, got 5"),
        (lambda: bounds.excess_risk(20, 2, 1, 1, 1, 0, 0.05, form="repaired"),
         r"n must be at least 4 .* got 20"),
        (lambda: bounds.fast_excess_risk(50, 1, 1, 1, 0.06),
         r"delta must be at most 3 exp\(-4\) = 0.05495 for the fast rate, got 0.06"),
        (lambda: bounds.fast_excess_risk(9, 1, 1, 1, 0.05), r"n must be at least 2 log"),
        (lambda: bounds.fast_excess_risk(50, 1, 1, 0, 0.05), r"sigma must be positive, got 0"),
        (lambda: bounds.fast_epsilon(1, 1, 0.5), r"m K n must exceed 1"),
        (lambda: bounds.excess_risk(50, 2, 1, 1, 1, 0, 0.05, form="new"), r"form must be"),
        (lambda: bounds.rate_exponent("quick", 1), r"design must be one of .* got 'quick'"),
        (lambda: bounds.dimension_lower_bound(3, success=0.5), r"success must lie .* got 0.5"),
        (lambda: bounds.corner_cube(1), r"d must be at least 2 .* got 1"),
        (lambda: bounds.kernel_range("median", (0, 1)), r"kernel must be one of .* got 'median'"),
        (lambda: bounds.kernel_range("mean", (1, 0)), r"y_range must be \(low, high\)"),
        (lambda: bounds.naive_sample_size(math.nan, 2, 1, 0.1), r"n must be at least 1, got nan"),
        (lambda: bounds.metasamples_within(10, 2, 1, 0.1, lemma="best"), r"lemma must be one of"),
    ],
)  # fmt: skip
def test_conditions_are_checked(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_conditions_hold_exactly_at_the_border():
    delta, largest = 8 / E**5, 3 * math.exp(-4)
    assert bounds.excess_risk(10, 1, 1, 1, 1, 0, delta * (1 + 1e-12)) > 0
    assert bounds.fast_excess_risk(50, 1, 1, 1, largest) > 0
    with pytest.raises(ValueError, match="got"):
        bounds.excess_risk(10, 1, 1, 1, 1, 0, delta * (1 - 1e-9))
    with pytest.raises(ValueError, match="got"):
        bounds.fast_excess_risk(50, 1, 1, 1, largest * (1 + 1e-9))


@pytest.mark.parametrize("form", ["paper", "repaired"])
@pytest.mark.parametrize("target", [1.0, 0.1, 0.013])
def test_inverses_give_the_smallest_n(form, target):
    n = bounds.slow_metasamples(target, 2, 0.5, 1.0, 1.0, 0.7, 0.05, form=form)

    def slow(count):
        return bounds.excess_risk(count, 2, 0.5, 1.0, 1.0, 0.7 / math.sqrt(count), 0.05, form=form)

    assert slow(n) <= target * (1 + 1e-9) < slow(n - 1)
    n = bounds.fast_metasamples(target, 1.0, 1.0, 0.5, 0.05, form=form)
    fast = [bounds.fast_excess_risk(k, 1.0, 1.0, 0.5, 0.05, form=form) for k in (n - 1, n)]
    assert fast[1] <= target * (1 + 1e-9) < fast[0]
    n = bounds.clean_metasamples(target, 1.0, 1.0, 0.7, 0.05)
    clean = [bounds.clean_excess_risk(k, 1, 1, 0.7 / math.sqrt(k), 0.05) for k in (n - 1, n)]
    assert clean[1] <= target * (1 + 1e-9) < clean[0]


@pytest.mark.parametrize("lemma", ["naive", "improved", "uniform"])
@pytest.mark.parametrize("C", [0.1, 1.0, 5.0])
def test_metasamples_within_inverts_the_lemmas(lemma, C):
    rows = np.array([1.0, 50.0, 1e4, 1e8])

    def needed(n):
        if lemma == "naive":
            return np.asarray(bounds.naive_sample_size(n, 2, 2, 0.1))
        if lemma == "improved":
            return np.asarray(bounds.improved_sample_size(n, 2, 2, 0.1, C))
        return np.asarray(bounds.improved_sample_size_uniform(n, 2, 2, 0.3, 0.1, C))

    n = bounds.metasamples_within(rows, 2, 2, 0.1, lemma=lemma, epsilon=0.3, C=C)
    assert np.all(needed(n[n >= 1]) <= rows[n >= 1] * (1 + 1e-9))
    assert np.all(needed(n + 1) > rows)


def test_rate_table():
    d = np.array([1, 2, 5])
    assert bounds.rate_exponent("two-moment", d).tolist() == (-2 / (2 + d)).tolist()
    assert bounds.rate_exponent("slow", d, count="rows").tolist() == (-1 / (d + 1)).tolist()
    assert bounds.rate_exponent("fast", d, count="rows").tolist() == (-1 / d).tolist()
    assert bounds.rate_exponent("slow", d).tolist() == [-0.5] * 3
    assert bounds.rate_exponent("fast", d).tolist() == [-1.0] * 3


def test_stone_construction_stays_inside_the_unit_interval():
    for d in (1, 2, 10):
        found = bounds.stone_construction(d)
        assert found.lipschitz == pytest.approx(1 / (2 * math.sqrt(d)))
        # the farthest any point is from the boundary's corners: ||(1/2, .., 1/2)|| = sqrt(d)/2
        assert found.amplitude == pytest.approx(found.lipschitz * np.linalg.norm(np.full(d, 0.5)))
        assert 0 < found.theta_low < found.theta_high < 1


@pytest.mark.parametrize(("rows", "d"), [(2, 10), (30, 10), (100, 20), (1000, 20), (3000, 24)])
def test_repeat_probability_by_exact_product(rows, d):
    none = 1.0
    for i in range(1, rows):
        none *= 1 - i / 2**d
    assert bounds.repeat_probability(rows, d) == pytest.approx(1 - none, rel=1e-6)
    assert bounds.repeat_probability(rows, d) <= bounds.repeat_probability_bound(rows, d)


def test_too_few_rows_for_the_lower_bound_mean_too_few_repeats():
    for d in (4, 12, 30, 50):
        least = bounds.dimension_lower_bound(d)
        below = math.floor(least * 0.999)
        if below >= 2:
            assert bounds.repeat_probability(below, d) < 1 / 3


def test_corner_cube_constants():
    for C in (1.0, 2.0, 7.0):
        for d in (2, 3, 20):
            cube = bounds.corner_cube(d, C)
            assert cube.alpha + cube.beta == pytest.approx(0.5)
            assert cube.lipschitz == pytest.approx(1 / (2 * cube.beta)) == pytest.approx(C * d)
            assert cube.corner_volume == pytest.approx((2 * cube.alpha) ** d)
            # the exact volume never allows more variance than the printed bound
            assert 0.25 * (1 - cube.corner_volume) <= cube.variance_bound + 1e-12
            assert cube.variance_bound <= 1 / (4 * C)


# Constants of the losses against the losses themselves


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


@pytest.mark.parametrize("slope", [0.2, 0.8])
@pytest.mark.parametrize("d", [1, 2])
def test_tv_lipschitz_of_a_known_law(slope, d):
    rng = np.random.default_rng(3)
    x = rng.random((40_000, d))
    y = (rng.random(40_000) < 0.1 + slope * x[:, 0]).astype(float)
    found = bounds.estimate_tv_lipschitz(x, y, n_cells=8, rng=rng)
    assert slope * 0.7 < found.estimate < slope * 1.5
    assert found.noise < found.estimate
    assert found.raw >= found.estimate


def test_tv_lipschitz_without_any_change_is_noise():
    rng = np.random.default_rng(0)
    found = bounds.estimate_tv_lipschitz(rng.random(3000), rng.normal(size=3000), rng=rng)
    assert found.estimate < 3 * found.noise + 0.05
    with pytest.raises(ValueError, match="must be finite"):
        bounds.estimate_tv_lipschitz([0.0, 1.0, math.nan], [0.0, 1.0, 2.0], rng=rng)
    with pytest.raises(ValueError, match="n_cells must be between 2 and"):
        bounds.estimate_tv_lipschitz(np.arange(9.0), np.arange(9.0), n_cells=7, rng=rng)


# Promises kept: the events of the lemmas happen in at least 1 - delta of the runs


def uniform(size, d, rng):
    return rng.random((size, d))


def skewed(size, d, rng):
    return rng.beta(2, 5, (size, d))


def arcsine(size, d, rng):
    return rng.beta(0.5, 0.5, (size, d))


def dust(size, d, rng):
    """Most of the mass in a speck, the rest thin: anchors in light cells."""
    x = 0.5 + 1e-3 * rng.random((size, d))
    thin = rng.random(size) < 0.4
    x[thin] = rng.random((int(thin.sum()), d))
    return x


LAWS = [uniform, skewed, arcsine, dust]
DELTA = 0.1


def runs_that_keep(lemma, law, d, runs, seed):
    rng = np.random.default_rng(seed)
    n, m = {"naive": (25, 2), "improved": (25, 2), "uniform": (40, 2)}[lemma]
    if d == 3:  # the lemmas ask for very many rows there
        n = {"naive": 9, "improved": 16, "uniform": 40}[lemma]
    kept = 0
    for _ in range(runs):
        anchors = law(n, d, rng)
        if lemma == "uniform":
            epsilon = 0.25 * math.sqrt(d)
            rows = math.ceil(bounds.improved_sample_size_uniform(n, m, d, epsilon, DELTA))
            good = assign(anchors, law(rows, d, rng), m, epsilon)[:, 0] >= 0
            kept += bool(good.all())
            continue
        promised = bounds.good_set_size(n, DELTA)
        if lemma == "improved":
            rows = math.ceil(bounds.improved_sample_size(n, m, d, DELTA))
            good = assign(anchors, law(rows, d, rng), m, 1 / math.sqrt(n))[:, 0] >= 0
        else:
            each = math.ceil(bounds.naive_sample_size(n, m, d, DELTA) / n)
            good = np.array(
                [
                    (np.linalg.norm(law(each, d, rng) - a, axis=1) <= 1 / math.sqrt(n)).sum() >= m
                    for a in anchors
                ]
            )
        kept += bool(good.sum() >= promised)
    return kept


CASES = [("uniform", uniform, d) for d in (1, 2, 3)] + [
    (lemma, law, d) for lemma in ("improved", "naive") for law in LAWS for d in (1, 2, 3)
]


def name_of(case):
    return f"{case[0]}-{case[1].__name__}-{case[2]}"


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_lemmas_keep_their_promise(case):
    runs = 10
    assert runs_that_keep(*case, runs, seed=1) >= (1 - DELTA) * runs


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_lemmas_keep_their_promise_a_thousand_times(case):
    runs = 1000
    assert runs_that_keep(*case, runs, seed=2) >= (1 - DELTA) * runs


# Theorems 1 and 2: Bernoulli labels with p(x) = 0.3 + 0.4 x, so K = 0.4; class of lines in [-1, 1]


def excess_risks(theorem, n, delta, runs, seed):
    """Excess risk of Algorithm 2 in each run, and the bound."""
    rng = np.random.default_rng(seed)
    K, m, r_range = 0.4, 2, (-1.0, 1.0)
    found = bounds.squared_loss_constants(bounds.kernel_range("variance", (0.0, 1.0)), r_range)
    if theorem == "slow":
        epsilon = 1 / math.sqrt(n)
        rows = math.ceil(bounds.improved_sample_size(n, m, 1, delta))
        rademacher = bounds.rademacher_linear(n, 1.0, 1.0, norm=1, p=2)
        bound = bounds.excess_risk(n, m, K, found.L, found.B, rademacher, delta)
    else:
        epsilon = bounds.fast_epsilon(n, m, K)
        rows = math.ceil(bounds.fast_sample_size(n, m, 1, K, delta))
        sigma = found.curvature / 3
        bound = bounds.fast_excess_risk(
            n, found.B, found.L, sigma, delta, feature_norm=math.sqrt(2)
        )
    sampler = Improved(epsilon=epsilon, n_metasamples=n, own_label=False)
    at = (np.arange(1000) + 0.5) / 1000
    variance = (0.3 + 0.4 * at) * (0.7 - 0.4 * at)
    design = np.column_stack([np.ones(1000), at])
    best = design @ np.linalg.lstsq(design, variance, rcond=None)[0]
    floor = np.mean((best - variance) ** 2)
    risks = []
    for _ in range(runs):
        x = rng.random(n + rows)
        y = (rng.random(x.size) < 0.3 + 0.4 * x).astype(float)
        model = MultiObservationRegressor("variance", sampler, transport=None, random_state=rng)
        line = model.fit(x[:, None], y).predict(at[:, None])
        assert np.abs(line).max() <= 1  # inside the class: the exact minimiser over it
        risks.append(np.mean((line - variance) ** 2) - floor)
    return np.array(risks), bound


@pytest.mark.parametrize("theorem", ["slow", "fast"])
def test_theorems_keep_their_promise(theorem):
    risks, bound = excess_risks(theorem, 60, 0.05, 20, seed=0)
    assert np.mean(risks <= bound) >= 0.95
    assert risks.min() >= -1e-12
    assert risks.mean() > 1e-5  # something was estimated


@pytest.mark.slow
@pytest.mark.parametrize("theorem", ["slow", "fast"])
@pytest.mark.parametrize("n", [60, 400])
def test_theorems_keep_their_promise_a_thousand_times(theorem, n):
    risks, bound = excess_risks(theorem, n, 0.05, 1000, seed=1)
    assert np.mean(risks <= bound) >= 0.95
