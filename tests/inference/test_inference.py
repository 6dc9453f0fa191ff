"""Covariance under shared labels, intervals, tests of hypotheses, summary, bootstrap."""

import importlib
import pickle

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose
from scipy import stats
from shared_labels import STATISTICS, rows
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import FunctionTransformer, SplineTransformer

from multiobs import MultiObservationRegressor, samplers, statistics
from multiobs.inference import Skewness, limits, quantile
from multiobs.sums.scores import slope_of, sum_scores

contract_room = importlib.import_module("multiobs.sums.contraction")
fitting_room = importlib.import_module("multiobs.fit.linear")
variance_room = importlib.import_module("multiobs.inference.variance")


@pytest.mark.parametrize("name", ["variance", "ucb", "minvar"])
def test_scores_vanish_in_sum_at_the_fit(name):
    X, y = rows(200)
    model = MultiObservationRegressor(STATISTICS[name], samplers.Nearby("paper")).fit(X, y)
    fit = model.inference_.fit
    problem = fit.problem
    assert problem.residuals.pilot is not None
    w, reference = problem.held(fit.w), problem.held_reference(fit.reference)
    slope = slope_of(problem.statistic.loss, w, reference)
    Z, y = problem.features(fit.design), problem.residuals.labels
    g = sum_scores(slope, problem.tuples, Z, y, w, problem.weight)[:, : fit.w.size]
    assert np.abs(g.sum(axis=0)).max() < 1e-6 * np.abs(g).sum()


def test_one_observation_is_least_squares_with_hc2_errors():
    X, y = rows(50)
    model = MultiObservationRegressor("mean", transport=None).fit(X, y)
    Z = np.column_stack([np.ones(50), X])
    inverse = np.linalg.inv(Z.T @ Z)
    residual = y - Z @ (inverse @ Z.T @ y)
    leverage = np.einsum("ia,ab,ib->i", Z, inverse, Z)
    hc2 = inverse @ (Z.T * (residual**2 / (1 - leverage))) @ Z @ inverse
    assert_allclose(model.coef_cov_, hc2, rtol=1e-8)


@pytest.mark.parametrize("name", ["variance", "ucb", "minvar", "gini"])
def test_covariance_follows_units_and_row_order(name):
    X, y = rows(120)
    statistic = STATISTICS[name]
    sampler = samplers.Nearest(5)
    base = MultiObservationRegressor(statistic, sampler, transport=None).fit(X, y).coef_cov_
    power = statistic.scale
    bigger = MultiObservationRegressor(statistic, sampler, transport=None).fit(X, 1e3 * y)
    assert_allclose(bigger.coef_cov_, base * 1e3 ** (2 * power), rtol=1e-6)
    wider = MultiObservationRegressor(statistic, sampler, transport=None).fit(7 * X + 2, y)
    assert_allclose(wider.coef_cov_[1, 1], base[1, 1] / 49, rtol=1e-6)
    order = np.random.default_rng(0).permutation(120)
    shuffled = MultiObservationRegressor(statistic, sampler, transport=None)
    assert_allclose(shuffled.fit(X[order], y[order]).coef_cov_, base, rtol=1e-6)


def test_fit_computes_no_covariance_and_pickles():
    X, y = rows(100)
    model = MultiObservationRegressor("variance").fit(X, y)
    assert "covariance" not in vars(model.inference_)
    copy = pickle.loads(pickle.dumps(model))
    assert_allclose(copy.coef_cov_, model.coef_cov_)
    assert "covariance" in vars(model.inference_)
    assert clone(model).get_params() == model.get_params()
    eigenvalues = np.linalg.eigvalsh(model.coef_cov_)
    assert eigenvalues.min() > 0


def test_interval_matches_coefficients_and_level():
    X, y = rows(300)
    model = MultiObservationRegressor("ucb", samplers.Nearby("paper")).fit(X, y)
    plain = model.predict_interval([[0.5]], method="linear")[0]
    z = np.array([1.0, 0.5])
    error = np.sqrt(z @ model.coef_cov_ @ z)
    known = model.inference_
    df = known.covariance.df_along(known.fit.design.columns(np.array([[0.5]])))[0]
    q = quantile(0.95, df)
    assert_allclose(plain, model.predict([[0.5]]) + np.array([-q, q]) * error)
    found = model.predict_interval([[0.5]])[0]
    wide = model.predict_interval([[0.5]], level=0.99)[0]
    assert wide[0] < found[0] < found[1] < wide[1]


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999, 1 - 1e-9])
def test_quantiles_of_many_degrees_of_freedom_are_those_of_t(level):
    df = np.concatenate([np.geomspace(0.5, 1e12, 1001), [np.inf]])
    assert_allclose(quantile(level, df), stats.t.ppf(0.5 + level / 2, df), rtol=1e-12)
    for each in (3.0, 1e5, np.inf):  # one number as well
        assert_allclose(quantile(level, each), stats.t.ppf(0.5 + level / 2, each), rtol=1e-12)


def test_positive_statistics_stay_positive():
    X, y = rows(30)
    model = MultiObservationRegressor("variance", transport=None).fit(X, y)
    at = np.array([[0.02], [0.5]])
    auto, log = model.predict_interval(at), model.predict_interval(at, method="log")
    assert np.all(auto > 0)
    assert_allclose(auto[1], log[1])
    assert_allclose(auto[0, 0], log[0, 0])
    assert log[0, 1] > auto[0, 1] > auto[0, 0]  # within its errors of zero the log reaches too far
    linear = model.predict_interval(at, method="linear")
    assert_allclose(linear.mean(axis=1), model.predict(at))


def alike(value):
    return Skewness(np.array([value]), np.array([value]))


def test_limits_without_skewness_are_symmetric_on_their_scale():
    centre, error = np.array([0.5]), np.array([0.2])
    found = limits(centre, error, np.inf, 0.95, "auto", (0.0, np.inf))
    assert_allclose(np.sqrt(found[:, 0] * found[:, 1]), centre)
    # the log removes a skewness of 3/2 se / r; with that much left nothing is bent but the centre
    skewed = limits(centre, error, np.inf, 0.95, "auto", (0.0, np.inf), skewness=alike(0.6))
    assert_allclose(np.sqrt(skewed[:, 0] * skewed[:, 1]), centre * np.exp(0.4 * 0.1))


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_limits_lean_with_the_skewness(sign):
    where, skewness = (-np.inf, np.inf), alike(0.4 * sign)
    found = limits(np.zeros(1), np.ones(1), np.inf, 0.95, "auto", where, skewness=skewness)[0]
    assert sign * (found[0] + found[1]) > 0.5
    mirrored = limits(
        np.zeros(1), np.ones(1), np.inf, 0.95, "auto", where, skewness=alike(-0.4 * sign)
    )[0]
    assert_allclose(mirrored, -found[::-1])
    inner = limits(np.zeros(1), np.ones(1), np.inf, 0.9, "auto", where, skewness=skewness)[0]
    assert found[0] < inner[0] < inner[1] < found[1]


def test_limits_respect_both_ends_of_a_domain():
    centre, error = np.array([0.9, -0.2]), np.array([0.3, 0.1])
    found = limits(centre, error, np.inf, 0.95, "auto", (0.0, 1.0))
    assert 0 < found[0, 0] < 0.9 < found[0, 1] < 1
    assert_allclose(found[1], [-0.2 - 0.196, -0.2 + 0.196], atol=1e-3)  # outside: plain scale
    upper = limits(np.array([-1.0]), np.array([0.5]), np.inf, 0.95, "auto", (-np.inf, 0.0))
    assert upper[0, 0] < -1 < upper[0, 1] < 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"level": 1.5}, "level must lie between 0 and 1, got 1.5"),
        ({"method": "magic"}, "method must be one of"),
        ({"bias": "none"}, "bias must be one of 'undersmooth'"),
    ],
)
def test_interval_errors_state_the_rule(arguments, message):
    X, y = rows()
    model = MultiObservationRegressor("gini_mean_difference").fit(X, y)
    with pytest.raises(ValueError, match=message):
        model.predict_interval(X, **arguments)


def test_log_method_needs_positive_estimates():
    X, y = rows(60)
    model = MultiObservationRegressor("minvar").fit(X, y - 10)
    with pytest.raises(ValueError, match="needs positive estimates"):
        model.predict_interval([[0.5]], method="log")


def test_wald_test_of_one_coefficient_is_its_t_test():
    X, y = rows(300)
    model = MultiObservationRegressor("variance").fit(X, y)
    table = model.summary().table
    found = model.wald_test([[0.0, 1.0]])
    assert_allclose(found.statistic, table[1, 2] ** 2)
    assert_allclose(found.p_value, table[1, 3])
    assert_allclose(model.test_constant().p_value, found.p_value)
    assert_allclose(model.wald_test([0.0, 1.0], q=float(table[1, 0])).statistic, 0, atol=1e-12)
    with pytest.raises(ValueError, match="R must have 2 columns"):
        model.wald_test([[1.0]])


def test_a_hypothesis_stated_twice_is_one():
    X, y = rows(100)
    model = MultiObservationRegressor("variance").fit(X, y)
    once, twice = model.wald_test([0.0, 1.0], 0.5), model.wald_test([[0, 1.0], [0, 2.0]], [0.5, 1])
    assert twice.df_num == 1
    assert_allclose([twice.statistic, twice.p_value], [once.statistic, once.p_value])


def test_constant_with_splines_and_with_nothing_to_test():
    X, y = rows(300)
    model = MultiObservationRegressor(
        "variance", samplers.SlidingWindow(), features=SplineTransformer(3)
    )
    found = model.fit(X, y).test_constant()
    assert found.df_num == 4  # five splines sum to one
    assert 0 < found.p_value < 1
    flat = MultiObservationRegressor("variance", features=FunctionTransformer(np.ones_like))
    with pytest.raises(ValueError, match="features must vary"):
        flat.fit(X, y).test_constant()


def test_pooled_features_have_errors_close_to_listed_ones(monkeypatch):
    X, y = rows(400)
    make = SplineTransformer(3)
    sampler = samplers.Nearby("paper")
    exact = MultiObservationRegressor("variance", sampler, features=make).fit(X, y)
    monkeypatch.setattr(fitting_room, "POOL_NEAR", 5)
    monkeypatch.setattr(fitting_room, "POOL_ABOVE", 10)
    pooled = MultiObservationRegressor("variance", sampler, features=make).fit(X, y)
    at = np.linspace(0.1, 0.9, 9)[:, None]
    known, rough = exact.inference_, pooled.inference_
    monkeypatch.setattr(variance_room, "LISTED", 0)
    assert rough.fit.pooled
    assert rough.covariance.kind == "rows"
    assert_allclose(rough.standard_errors(at), known.standard_errors(at), rtol=0.1)


def test_summary_as_text_html_and_frame():
    pandas = pytest.importorskip("pandas")
    X, y = rows(200)
    frame = pandas.DataFrame(X, columns=["dose"])
    model = MultiObservationRegressor("variance", samplers.Nearby("paper")).fit(frame, y)
    summary = model.summary(level=0.9)
    text = str(summary)
    for word in ("dose", "intercept", "Metasamples", "Nearby", "converged", "[0.05", "0.95]"):
        assert word in text
    assert f"{model.n_metasamples_:,}" in text
    assert "<table>" in summary._repr_html_()
    assert "dose" in summary._repr_html_()
    table = summary.to_frame()
    assert list(table.index) == ["intercept", "dose"]
    assert_allclose(table["coef"], [model.intercept_, model.coef_[0]])
    assert_allclose(table["std err"], np.sqrt(np.diag(model.coef_cov_)))
    report = model.metasample_report()  # one number, one definition
    assert f"{report.effective_metasamples:,.0f}" in text
    assert report.effective_metasamples <= report.rows / 2 < model.n_metasamples_


def test_undersmoothed_interval_leaves_a_fast_mean_behind():
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(500, 1))
    y = 2 * np.sin(16 * np.pi * x[:, 0]) + rng.normal(size=500)
    model = MultiObservationRegressor("variance", samplers.Nearby("paper"), transport=None)
    model.fit(x, y)
    low, _ = model.predict_interval([[0.5]])[0]
    assert low > 1.1  # the movement of the mean is counted as spread
    low, high = model.predict_interval([[0.5]], bias="undersmooth")[0]
    assert low < 1 < high


def test_undersmoothed_interval_is_that_of_adjacent_rows():
    rng = np.random.default_rng(1)
    x = rng.uniform(size=(200, 1))
    y = np.sin(12 * x[:, 0]) + rng.normal(size=200)
    wide = MultiObservationRegressor("variance", samplers.Nearby(0.2)).fit(x, y)
    narrow = MultiObservationRegressor("variance", samplers.SlidingWindow()).fit(x, y)
    at = [[0.1], [0.9]]
    assert_allclose(
        wide.predict_interval(at, bias="undersmooth"), narrow.predict_interval(at), rtol=0.01
    )


@pytest.mark.parametrize("sampler", [samplers.SlidingWindow(), samplers.Nearby("paper")])
def test_bootstrap_of_a_line_agrees_with_the_sandwich(sampler):
    X, y = rows(300)
    at = np.array([[0.2], [0.8]])
    boot = MultiObservationRegressor(
        "variance", sampler, estimator=LinearRegression(), random_state=0, transport=None
    ).fit(X, y)
    limits_boot = boot.predict_interval(at, n_bootstrap=100)
    low, high = boot.predict_interval(at, method="linear", n_bootstrap=100).T
    line = MultiObservationRegressor("variance", sampler, transport=None).fit(X, y)
    error = line.inference_.standard_errors(at)
    found = (high - low) / 2 / quantile(0.95, np.inf)
    assert_allclose(found, error, rtol=0.25)
    again = MultiObservationRegressor(
        "variance", sampler, estimator=LinearRegression(), random_state=0, transport=None, n_jobs=2
    ).fit(X, y)
    with parallel_config(backend="threading"):  # processes take long to start
        assert_allclose(again.predict_interval(at, n_bootstrap=100), limits_boot, rtol=1e-12)
    assert np.all(limits_boot > 0)


def test_other_regressors_have_no_coefficients():
    X, y = rows()
    model = MultiObservationRegressor("variance", estimator=LinearRegression()).fit(X, y)
    for name in ("summary", "test_constant"):
        with pytest.raises(AttributeError, match=f"{name} needs the linear class"):
            getattr(model, name)()
    with pytest.raises(AttributeError, match="coef_cov_ needs the linear class"):
        _ = model.coef_cov_
    with pytest.raises(ValueError, match="bias must be None"):
        model.predict_interval(X, bias="undersmooth")


def test_skewed_labels_give_skewed_estimates():
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(400, 1)), rng.exponential(size=400)
    for sampler in (samplers.Nearby("paper"), samplers.SlidingWindow(), samplers.Nearest(3)):
        model = MultiObservationRegressor("variance", sampler, transport=None).fit(X, y)
        z = model.inference_.fit.design.columns(np.array([[0.5]]))
        found = model.inference_.covariance.skewness(z)
        assert 0.1 < found.bend[0] < 1.0
        assert 0.1 < found.centre[0] < 1.0
    wide = MultiObservationRegressor(statistics.minvar(4), samplers.Nearby("paper")).fit(X, y)
    assert wide.inference_.covariance.skewness(z) is None
