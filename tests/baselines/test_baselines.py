"""Competitors: their parts against loops, their conventions, and that they are strong."""

import itertools
import math

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from multiobs import statistics
from multiobs.baselines import (
    EmpiricalStatisticRegressor,
    LocalPlugInRegressor,
    ResidualRegressor,
    TwoMomentRegressor,
    plug_in,
    replicate_design,
)
from multiobs.experiments.scenarios import SCENARIOS
from multiobs.transport.spline import SplinePilot

BASELINES = [
    TwoMomentRegressor(),
    EmpiricalStatisticRegressor(),
    ResidualRegressor(),
    LocalPlugInRegressor(n_trees=10, random_state=0),
    LocalPlugInRegressor(neighbourhood="nearest"),
]


@parametrize_with_checks(BASELINES)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


# ---- plug-in -------------------------------------------------------------------------------------


def weighted_mean_of(kernel, m, y, w):
    """Weighted mean of a kernel over all tuples of distinct rows, by loops."""
    top = bottom = 0.0
    for rows in itertools.combinations(range(len(y)), m):
        weight = math.prod(w[i] for i in rows)
        top += weight * kernel([y[i] for i in rows])
        bottom += weight
    return top / bottom


def halves(values):
    return (values[0] - values[1]) ** 2 / 2


LOOPS = {
    "mean": lambda y, w: weighted_mean_of(lambda t: t[0], 1, y, w),
    "variance": lambda y, w: weighted_mean_of(halves, 2, y, w),
    "gini_mean_difference": lambda y, w: weighted_mean_of(lambda t: abs(t[0] - t[1]), 2, y, w),
    "minvar": lambda y, w: weighted_mean_of(min, 2, y, w),
    "maxvar": lambda y, w: weighted_mean_of(max, 2, y, w),
    "l_moment": lambda y, w: weighted_mean_of(lambda t: abs(t[0] - t[1]) / 2, 2, y, w),
    "collision_probability": lambda y, w: weighted_mean_of(lambda t: float(t[0] == t[1]), 2, y, w),
    "standard_deviation": lambda y, w: math.sqrt(weighted_mean_of(halves, 2, y, w)),
    "ucb": lambda y, w: LOOPS["mean"](y, w) + LOOPS["standard_deviation"](y, w),
    "dispersion_index": lambda y, w: (
        LOOPS["variance"](y, w) / weighted_mean_of(lambda t: (t[0] + t[1]) / 2, 2, y, w)
    ),
    "squared_cv": lambda y, w: (
        LOOPS["variance"](y, w) / weighted_mean_of(lambda t: t[0] * t[1], 2, y, w)
    ),
}


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("equal", [True, False])
def test_plug_in_equals_loops(name, equal):
    rng = np.random.default_rng(7)
    y = rng.integers(1, 6, size=8) + (0.0 if name == "collision_probability" else rng.random(8))
    w = np.ones(8) if equal else rng.random(8)
    assert float(plug_in(name, y, w)) == pytest.approx(LOOPS[name](y, w), rel=1e-9)
    rows = plug_in(name, np.vstack([y, y[::-1]]), np.vstack([w, w[::-1]]))
    np.testing.assert_allclose(rows, LOOPS[name](y, w), rtol=1e-9)


def test_plug_in_of_deeper_kernels_equals_loops():
    rng = np.random.default_rng(8)
    y, w = rng.exponential(size=9), rng.random(9)
    five = weighted_mean_of(min, 5, y, w)
    assert float(plug_in(statistics.minvar(4), y, w)) == pytest.approx(five, rel=1e-8)
    kernel = statistics.central_moment(3).psi
    third = weighted_mean_of(lambda t: float(kernel(np.array([t]))[0]), 3, y, w)
    assert float(plug_in(statistics.central_moment(3), y, w)) == pytest.approx(third, rel=1e-8)


def test_plug_in_of_pairs_equals_loops():
    rng = np.random.default_rng(9)
    pair, w = rng.standard_normal((7, 2)), rng.random(7)
    covariance = weighted_mean_of(
        lambda t: (t[0][0] - t[1][0]) * (t[0][1] - t[1][1]) / 2, 2, pair, w
    )
    tau = weighted_mean_of(lambda t: np.sign((t[0][0] - t[1][0]) * (t[0][1] - t[1][1])), 2, pair, w)
    assert float(plug_in("covariance", pair, w)) == pytest.approx(covariance, rel=1e-9)
    assert float(plug_in("kendall_tau", pair, w)) == pytest.approx(tau, rel=1e-9)


def test_plug_in_survives_an_offset():
    y = np.random.default_rng(1).standard_normal(50)
    for what in ("variance", statistics.central_moment(4), statistics.l_moment(3), "skewness"):
        shifted, plain = plug_in(what, y + 1e8), plug_in(what, y)
        np.testing.assert_allclose(shifted, plain, rtol=1e-5)


def test_plug_in_refuses_and_marks():
    with pytest.raises(ValueError, match="weights must be positive for at least 2 labels, got 1"):
        plug_in("variance", [1.0, 2.0], [1.0, 0.0])
    marked = plug_in("variance", [[1.0, 2.0], [1.0, 3.0]], [[1.0, 0.0], [1.0, 1.0]])
    assert math.isnan(marked[0])
    assert marked[1] == 2.0
    with pytest.raises(ValueError, match="weights must be nonnegative, got -1"):
        plug_in("mean", [1.0, 2.0], [1.0, -1.0])
    with pytest.raises(ValueError, match="weights must fit"):
        plug_in("mean", [1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match="needs y with 2 columns"):
        plug_in("covariance", [[1.0, 2.0, 3.0]])
    with pytest.raises(ValueError, match="arity 1 or 2"):
        plug_in(statistics.mean_of(lambda Y: Y.max(axis=1), 3), [1.0, 2.0, 3.0])


# ---- pilot ---------------------------------------------------------------------------------------


def test_pilot_keeps_lines_and_counts_them():
    x = np.random.default_rng(0).random(300)
    pilot = SplinePilot().fit(x[:, None], 3 - 2 * x)
    np.testing.assert_allclose(pilot.predict(x[:, None]), 3 - 2 * x, atol=1e-9)
    beyond = pilot.predict(np.array([[-0.05], [1.05]]))
    np.testing.assert_allclose(beyond, [3.1, 0.9], atol=0.01)


@pytest.mark.parametrize("columns", [1, 3])
def test_leverages_are_derivatives_and_sum_to_df(columns):
    rng = np.random.default_rng(1)
    X = rng.random((120, columns))
    y = np.sin(9 * X[:, 0]) + 0.3 * rng.standard_normal(120)
    pilot = SplinePilot().fit(X, y)
    leverage = pilot.leverage(X)
    assert leverage.sum() == pytest.approx(pilot.effective_df_, rel=1e-6)
    assert 3 < pilot.effective_df_ < 30
    assert np.all((leverage > 0) & (leverage < 1))
    step = 1e-4 * (np.arange(120) == 17)
    moved = (SplinePilot().fit(X, y + step).predict(X) - pilot.predict(X))[17] / 1e-4
    assert moved == pytest.approx(leverage[17], rel=0.2)  # the penalty moves a little as well
    share = pilot.residual_share(X)
    assert np.all((share > (1 - leverage) ** 2) & (share < 1 - leverage + 1e-9))


def test_binned_pilot_is_the_pilot(monkeypatch):
    from multiobs.transport import basis

    rng = np.random.default_rng(2)
    x = np.concatenate([rng.random(30_000), [-30.0, 25.0]])
    y = np.sin(20 * np.clip(x, 0, 1)) + rng.standard_normal(len(x))
    binned = SplinePilot().fit(x[:, None], y)
    monkeypatch.setattr(basis, "_BINNED_ABOVE", 10**9)
    whole = SplinePilot().fit(x[:, None], y)
    np.testing.assert_allclose(
        binned.predict(x[:, None]), whole.predict(x[:, None]), atol=5e-3, rtol=0
    )


def test_pilot_follows_fast_means():
    rng = np.random.default_rng(3)
    x = rng.random(1000)
    for name in ("variance-fast-sine", "variance-bump"):
        mean = SCENARIOS[name].mean(x)
        fit = SplinePilot().fit(x[:, None], mean + rng.standard_normal(1000)).predict(x[:, None])
        assert np.mean((fit - mean) ** 2) < 0.1


@pytest.mark.parametrize(
    "x",
    [
        np.zeros(10),
        np.arange(3.0),
        np.array([1.0]),
        np.repeat([0.0, 1.0], 30),
        np.arange(50) // 5 / 3.0,
        np.append(np.linspace(0, 1, 60), 1e9),
        1e12 + np.arange(40.0),
        1e-140 * np.arange(40.0),
    ],
    ids=["constant", "three", "one", "two", "grid", "outlier", "offset", "tiny"],
)
def test_pilot_takes_awkward_x(x):
    y = np.where(np.arange(len(x)) % 2, 1.0, -1.0)
    pilot = SplinePilot().fit(x[:, None], y)
    assert np.all(np.isfinite(pilot.predict(x[:, None])))
    assert np.all(np.abs(pilot.predict(x[:, None])) < 2)
    assert 1 <= pilot.effective_df_ <= len(x) + 1e-6


def test_pilot_weights():
    rng = np.random.default_rng(4)
    x, y = rng.random(200), rng.standard_normal(200)
    y += np.sin(9 * x)
    w = np.repeat([0.0, 1.0], 100)
    np.testing.assert_allclose(
        SplinePilot().fit(x[:, None], y, w).predict(x[:, None]),
        SplinePilot().fit(x[100:, None], y[100:]).predict(x[:, None]),
    )
    with pytest.raises(ValueError, match="sample_weight must have at least one positive entry"):
        SplinePilot().fit(x[:, None], y, np.zeros(200))


# ---- the regressors ------------------------------------------------------------------------------


def test_two_moments_are_two_regressions():
    x, y = SCENARIOS["ucb-gamma"].sample(300, np.random.default_rng(0))
    first, second = np.polynomial.Polynomial.fit(x, y, 2), np.polynomial.Polynomial.fit(x, y**2, 2)
    at = np.linspace(0.2, 0.9, 5)
    variance = second(at) - first(at) ** 2
    quad = TwoMomentRegressor("variance", 2).fit(x[:, None], y)
    np.testing.assert_allclose(quad.predict(at[:, None]), variance, rtol=1e-8)
    ucb = TwoMomentRegressor(statistics.ucb(8.0), 2).fit(x[:, None], y)
    np.testing.assert_allclose(ucb.predict(at[:, None]), first(at) + 8 * np.sqrt(variance))
    ridge = TwoMomentRegressor("squared_cv", estimator=Ridge()).fit(x[:, None], y)
    assert [type(model) for model in ridge.moments_] == [Ridge, Ridge]
    assert np.all(ridge.predict(at[:, None]) > 0)


def test_negative_two_moment_variance_is_reported():
    x = np.linspace(-1, 1, 101)[:, None]
    model = TwoMomentRegressor("standard_deviation").fit(x, 5 * x[:, 0])
    with pytest.warns(UserWarning, match=r"estimated variances are below 0"):
        assert model.predict([[3.0]])[0] == 0.0
    plain = TwoMomentRegressor("variance").fit(x, 5 * x[:, 0])
    assert plain.predict([[3.0]])[0] < 0  # a variance is not silently clipped


def test_empirical_uses_replicates():
    rng = np.random.default_rng(0)
    x = rng.random(40)
    y = rng.standard_normal((40, 25)) * (1 + x[:, None])
    wide = EmpiricalStatisticRegressor("variance").fit(x[:, None], y)
    line = np.polyfit(x, y.var(axis=1, ddof=1), 1)
    np.testing.assert_allclose(wide.predict([[0.0]]), line[1])
    tall = EmpiricalStatisticRegressor("variance").fit(np.repeat(x, 25)[:, None], y.ravel())
    np.testing.assert_allclose(tall.predict([[0.0], [1.0]]), wide.predict([[0.0], [1.0]]))


def test_empirical_groups_neighbours_without_replicates():
    rng = np.random.default_rng(0)
    x = rng.random(900)
    model = EmpiricalStatisticRegressor("variance").fit(x[:, None], rng.standard_normal(900))
    assert len(model.values_) == 30
    assert np.all(np.abs(model.predict([[0.0], [1.0]]) - 1) < 0.5)
    plane = EmpiricalStatisticRegressor(statistics.minvar(4))
    plane.fit(rng.random((500, 2)), rng.exponential(size=500))
    assert plane.predict([[0.5, 0.5]])[0] == pytest.approx(0.2, abs=0.1)


def test_designs():
    assert replicate_design("ucb", 100) == (10, 10)
    assert replicate_design(statistics.minvar(4), 103) == (20, 5)
    assert replicate_design("variance", 100, 4) == (25, 4)
    with pytest.raises(ValueError, match="n_replicates must be an integer or 'sqrt', got 'many'"):
        replicate_design("ucb", 100, "many")
    with pytest.raises(ValueError, match="n_replicates must be at least 5, got 3"):
        replicate_design(statistics.minvar(4), 100, 3)


def median_error(model, name, n, seeds):
    law, errors = SCENARIOS[name], []
    for seed in range(seeds):
        x, y = law.sample(n, np.random.default_rng(seed))
        low, high = model.fit(x[:, None], y).predict([[0.0], [1.0]])
        errors.append(law.mse_of_line(low, high - low))
    return float(np.median(errors))


@pytest.mark.parametrize("name", ["variance-sine", "variance-fast-sine", "variance-bump"])
def test_residuals_come_close_to_the_oracle(name):
    law, oracle = SCENARIOS[name], []
    for seed in range(30):
        x, y = law.sample(1000, np.random.default_rng(seed))
        slope, level = np.polyfit(x, (y - law.mean(x)) ** 2, 1)
        oracle.append(law.mse_of_line(level, slope))
    assert median_error(ResidualRegressor("variance"), name, 1000, 30) < 1.5 * np.median(oracle)


def test_residual_variance_is_unbiased():
    levels = []
    for seed in range(200):
        x, y = SCENARIOS["variance-sine"].sample(60, np.random.default_rng(seed))
        levels.append(ResidualRegressor("variance").fit(x[:, None], y).predict([[0.5]])[0])
    assert np.mean(levels) == pytest.approx(1.0, abs=4 * np.std(levels) / math.sqrt(200))


def test_one_step_values_beat_two_moments_on_ucb():
    ucb = statistics.ucb(8.0)
    assert median_error(ResidualRegressor(ucb), "ucb-gamma", 1000, 15) < 0.4


def test_residual_takes_any_mean():
    x, y = SCENARIOS["variance-sine"].sample(800, np.random.default_rng(0))
    forest = RandomForestRegressor(20, min_samples_leaf=20, random_state=0)
    model = ResidualRegressor("variance", forest).fit(x[:, None], y)
    assert model.predict([[0.5]])[0] == pytest.approx(1.0, abs=0.3)
    with pytest.raises(ValueError, match="mean_estimator must be 'auto' or a regressor, got 'spl"):
        ResidualRegressor("variance", "spline").fit(x[:, None], y)


@pytest.mark.parametrize("model", [TwoMomentRegressor, ResidualRegressor])
def test_moment_methods_refuse_other_statistics(model):
    with pytest.raises(ValueError, match="needs a function of mean and variance"):
        model("minvar").fit(np.arange(9.0)[:, None], np.arange(9.0))


@pytest.mark.parametrize("neighbourhood", ["forest", "nearest"])
def test_local_values_follow_the_truth(neighbourhood):
    rng = np.random.default_rng(0)
    X = rng.random((3000, 2))
    y = (1 + 2 * (X[:, 0] > 0.5)) * rng.standard_normal(3000)
    model = LocalPlugInRegressor("standard_deviation", neighbourhood, random_state=0).fit(X, y)
    found = model.predict([[0.2, 0.5], [0.8, 0.5]])
    np.testing.assert_allclose(found, [1.0, 3.0], rtol=0.3)


@pytest.mark.parametrize("neighbourhood", ["forest", "nearest"])
def test_projection_makes_a_line(neighbourhood):
    x, y = SCENARIOS["minvar-exponential"].sample(600, np.random.default_rng(1))
    model = LocalPlugInRegressor(
        statistics.minvar(4), neighbourhood, LinearRegression(), n_trees=30, random_state=0
    ).fit(x[:, None], y)
    low, middle, high = model.predict([[0.0], [0.5], [1.0]])
    assert middle == pytest.approx((low + high) / 2)
    assert SCENARIOS["minvar-exponential"].mse_of_line(low, high - low) < 0.6


def test_nearest_rows_in_one_column():
    from multiobs.baselines._local import _first_of_nearest

    rng = np.random.default_rng(5)
    for size, k in ((1, 1), (7, 3), (50, 50), (60, 9)):
        x = np.sort(np.round(rng.random(size), 1))
        at = np.concatenate([rng.uniform(-0.3, 1.3, 40), x])
        first = _first_of_nearest(x, at, k)
        found = np.abs(x[first[:, None] + np.arange(k)] - at[:, None]).max(axis=1)
        nearest = np.sort(np.abs(x - at[:, None]), axis=1)[:, k - 1]
        np.testing.assert_allclose(found, nearest)


def test_forest_weights_repeat_with_the_seed():
    x, y = SCENARIOS["variance-sine"].sample(200, np.random.default_rng(1))
    fits = [LocalPlugInRegressor(n_trees=5, random_state=3).fit(x[:, None], y) for _ in range(2)]
    np.testing.assert_array_equal(*[fit.predict(x[:9, None]) for fit in fits])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"neighbourhood": "kernel"}, "neighbourhood must be one of"),
        ({"neighbourhood": "nearest", "n_neighbors": "few"}, "n_neighbors must be an integer or"),
        ({"neighbourhood": "nearest", "n_neighbors": 1}, "n_neighbors must be at least 2, got 1"),
        ({"min_leaf": "small"}, "min_leaf must be an integer or 'auto', got 'small'"),
        ({"n_trees": 0}, "n_trees must be at least 1, got 0"),
    ],
)
def test_local_refuses(options, words):
    with pytest.raises(ValueError, match=words):
        LocalPlugInRegressor("variance", **options).fit(np.arange(9.0)[:, None], np.arange(9.0))
