"""Covariance under shared labels, intervals, tests of hypotheses, summary, bootstrap."""

import importlib
import pickle
from itertools import product

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import FunctionTransformer, SplineTransformer

from multiobs import MultiObservationRegressor, samplers, statistics
from multiobs.fit.risk import empirical_risk
from multiobs.inference import Skewness, limits, quantile, wald
from multiobs.inference.chain import draw_in_graph
from multiobs.inference.meat import Band, meat
from multiobs.inference.pairs import pair_row_sums
from multiobs.inference.skewness import of_band, of_pairs
from multiobs.sums.scores import slope_of, sum_scores

contract_room = importlib.import_module("multiobs.sums.contraction")
fitting_room = importlib.import_module("multiobs.fit.linear")
meat_room = importlib.import_module("multiobs.inference.meat")

STATISTICS = {
    "variance": statistics.variance(),
    "ucb": statistics.ucb(2.0),
    "gini": statistics.gini_mean_difference(),
    "minvar": statistics.minvar(2),
    "squared_cv": statistics.squared_cv(),
    "central_moment": statistics.central_moment(3),
}
SAMPLERS = {
    "nearby": samplers.Nearby(0.12),
    "sliding": samplers.SlidingWindow(),
    "nearest": samplers.Nearest(5),
    "disjoint": samplers.Disjoint(),
    "improved": samplers.Improved(shuffle=False),
}


def rows(n=40, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(n, 1))
    return x, 1.0 + np.sin(3 * x[:, 0]) + np.sqrt(0.5 + x[:, 0]) * rng.normal(size=n)


def derivative(statistic, r, c, labels):
    """Derivative of the loss by hand: (r - c)(a r² + b r + d) for roots, else from the kernels."""
    loss = statistic.loss
    Y = labels[None, :]
    if statistic.name == "ucb":
        d, b, a = (float(k(Y)[0]) for k in (loss.constant, loss.linear, loss.quadratic))
        return (r - c) * (a * r * r + b * r + d)
    return float(loss.gradient(np.array([r]), Y)[0])


def loops(statistic, tuples, X, y, w, gamma, weight):
    """V by its definition: products of scores of all pairs of tuples that share a row."""
    listed = tuples.listed()
    scores, members = [], []
    for t in range(listed.count()):
        chosen = listed.members[t]
        place = X[chosen].mean(axis=0) if listed.representative is None else None
        if place is None:
            place = X[listed.representative[t]]
        z = np.append(1.0, place)
        factor = 1.0 if weight is None else float(np.prod(weight[chosen]))
        c = 0.0 if gamma is None else float(gamma @ z)
        scores.append(factor * derivative(statistic, float(w @ z), c, y[chosen]) * z)
        members.append(set(chosen.tolist()))
    V = np.zeros((2, 2))
    for (s, a), (t, b) in product(zip(scores, members, strict=True), repeat=2):
        if a & b:
            V += np.outer(s, t)
    return V


@pytest.fixture
def plain_scores(monkeypatch):
    """Leave the leverage correction out."""
    monkeypatch.setattr(meat_room, "inflation", lambda h: np.ones((h.size, 1)))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("name", STATISTICS)
def test_variance_of_gradient_is_its_definition(name, sampler, weighted, plain_scores):
    statistic = STATISTICS[name]
    X, y = rows(24)
    rng = np.random.default_rng(1)
    weight = rng.uniform(0.5, 2.0, size=24) if weighted else None
    tuples = SAMPLERS[sampler].build(X, statistic.arity, rng)
    w = np.array([0.7, 0.4])
    gamma = np.array([-0.5, 0.2]) if name == "ucb" else None
    Z = np.column_stack([np.ones(24), X])
    found = meat(slope_of(statistic.loss, w, gamma), tuples, Z, y, w, weight, 2)
    expected = loops(statistic, tuples, X, y, w, gamma, weight)
    assert_allclose(found.variance(), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("sampler", ["nearby", "nearest"])
@pytest.mark.parametrize("name", ["variance", "ucb", "gini"])
def test_sums_by_rows_equal_listed_pairs(name, sampler, plain_scores, monkeypatch):
    statistic = STATISTICS[name]
    X, y = rows(80)
    tuples = SAMPLERS[sampler].build(X, 2, np.random.default_rng(0))
    w, Z = np.array([0.7, 0.4]), np.column_stack([np.ones(80), X])
    gamma = np.array([-0.5, 0.2]) if name == "ucb" else None
    slope = slope_of(statistic.loss, w, gamma)
    listed = meat(slope, tuples.listed(), Z, y, w, None, 2)
    monkeypatch.setattr(contract_room, "FEW", 0)
    summed = meat(slope, tuples, Z, y, w, None, 2)
    assert (listed.kind, summed.kind) == ("tuples", "rows")
    assert_allclose(summed.variance(), listed.variance(), rtol=1e-9)
    assert_allclose(summed.naive, listed.naive, rtol=1e-9)


def test_drawn_correction_of_wide_windows_is_unbiased(plain_scores, monkeypatch):
    statistic = statistics.minvar(3)
    X, y = rows(60)
    tuples = samplers.Nearby(0.15).build(X, 4, np.random.default_rng(0))
    w, Z = np.array([0.7, 0.4]), np.column_stack([np.ones(60), X])
    slope = slope_of(statistic.loss, w)
    exact = meat(slope, tuples.listed(), Z, y, w, None, 2).variance()
    monkeypatch.setattr(meat_room, "LISTED", 0)
    drawn = meat(slope, tuples, Z, y, w, None, 2)
    assert drawn.kind == "rows"
    assert_allclose(drawn.variance(), exact, rtol=0.1)


@pytest.mark.parametrize("by_anchor", [False, True])
@pytest.mark.parametrize("name", STATISTICS)
def test_scores_add_up_to_the_gradient(name, by_anchor, monkeypatch):
    monkeypatch.setattr(contract_room, "FEW", 0)
    statistic = STATISTICS[name]
    X, y = rows(60)
    tuples = samplers.Nearby(0.2).build(X, statistic.arity, np.random.default_rng(0))
    w, Z = np.array([0.7, 0.4]), np.column_stack([np.ones(60), X])
    gamma = np.array([-0.5, 0.2]) if name == "ucb" else None
    risk = empirical_risk(statistic, tuples, Z, y, reference=gamma)
    slope = slope_of(statistic.loss, w, gamma)
    found = sum_scores(slope, tuples, Z, y, w, None, by_anchor=by_anchor).sum(axis=0)
    times = 1 if by_anchor else statistic.arity
    assert_allclose(found, times * risk.gradient(w), rtol=1e-9)


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
    q = quantile(0.95, model.inference_.df)
    assert_allclose(plain, model.predict([[0.5]]) + np.array([-q, q]) * error)
    found = model.predict_interval([[0.5]])[0]
    wide = model.predict_interval([[0.5]], level=0.99)[0]
    assert wide[0] < found[0] < found[1] < wide[1]


def test_positive_statistics_stay_positive():
    X, y = rows(30)
    model = MultiObservationRegressor("variance", transport=None).fit(X, y)
    at = np.array([[0.02], [0.5]])
    auto, log = model.predict_interval(at), model.predict_interval(at, method="log")
    assert np.all(auto > 0)
    assert_allclose(auto, log)
    linear = model.predict_interval(at, method="linear")
    assert_allclose(linear.mean(axis=1), model.predict(at))


def alike(value):
    return Skewness(np.array([value]), np.array([value]))


def test_limits_without_skewness_are_symmetric_on_their_scale():
    centre, error = np.array([0.5]), np.array([0.2])
    found = limits(centre, error, np.inf, 0.95, "auto", (0.0, np.inf))
    assert_allclose(np.sqrt(found[:, 0] * found[:, 1]), centre)
    # the log removes a skewness of 3/2 se / r; with that much left nothing is bent but the centre
    skewed = limits(centre, error, np.inf, 0.95, "auto", (0.0, np.inf), alike(0.6))
    assert_allclose(np.sqrt(skewed[:, 0] * skewed[:, 1]), centre * np.exp(0.4 * 0.1))


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_limits_lean_with_the_skewness(sign):
    where, skewness = (-np.inf, np.inf), alike(0.4 * sign)
    found = limits(np.zeros(1), np.ones(1), np.inf, 0.95, "auto", where, skewness)[0]
    assert sign * (found[0] + found[1]) > 0.5
    mirrored = limits(np.zeros(1), np.ones(1), np.inf, 0.95, "auto", where, alike(-0.4 * sign))[0]
    assert_allclose(mirrored, -found[::-1])
    inner = limits(np.zeros(1), np.ones(1), np.inf, 0.9, "auto", where, skewness)[0]
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
    assert_allclose(model.wald_test([0.0, 1.0], q=float(model.coef_[0])).statistic, 0, atol=1e-12)
    with pytest.raises(ValueError, match="R must have 2 columns"):
        model.wald_test([[1.0]])


def test_wald_with_redundant_hypotheses_has_the_rank_as_df():
    R = np.array([[1.0, 0.0], [2.0, 0.0]])
    found = wald(np.array([2.0, 1.0]), np.eye(2), R, np.zeros(2), np.inf, "b = 0")
    assert found.df_num == 1
    assert_allclose(found.statistic, 4.0)


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
    monkeypatch.setattr(fitting_room, "POOL_ABOVE", 10)
    pooled = MultiObservationRegressor("variance", sampler, features=make).fit(X, y)
    at = np.linspace(0.1, 0.9, 9)[:, None]
    known, rough = exact.inference_, pooled.inference_
    monkeypatch.setattr(meat_room, "LISTED", 0)
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


def brute_triples(s, members, direction):
    """Sums over triples of tuples: those that overlap mutually, and those of which one does."""
    u = s @ direction
    rows = [set(each) for each in members.tolist()]
    t = range(len(rows))
    touch = np.array([[bool(rows[a] & rows[b]) for b in t] for a in t])
    near = touch.astype(int)
    number = near[:, :, None] + near[:, None, :] + near[None, :, :]
    mutual, path = (np.einsum("a,b,c,abc->", u, u, u, number == k) for k in (3, 2))
    return float(mutual), float(path)


@pytest.mark.parametrize("arity", [2, 3])
def test_skewness_of_sliding_windows_sums_over_joined_triples(arity):
    rng = np.random.default_rng(0)
    t = 14
    s = rng.normal(size=(t, 2))
    members = np.arange(t)[:, None] + np.arange(arity)
    place = np.arange(t)
    stop = np.minimum(place + arity, t)
    band = Band(np.maximum(place - arity + 1, 0), stop)
    third = of_band(s, band.spread(s), stop)
    directions = rng.normal(size=(5, 2))
    sums = [brute_triples(s, members, each) for each in directions]
    for which, half in ((0, 0.5), (1, 1.0)):
        expected = [mutual + half * path for mutual, path in sums]
        assert_allclose(third.along(directions)[which], expected)  # by the tensor
        assert_allclose(third.along(directions[:1])[which], expected[:1])  # and without


def test_skewness_of_pairs_sums_over_triples_with_a_common_row():
    rng = np.random.default_rng(1)
    members = np.array([[0, 1], [1, 2], [1, 3], [3, 4], [4, 5], [6, 7], [5, 8]])  # no triangle
    s = rng.normal(size=(len(members), 2))
    g = np.zeros((9, 2))
    np.add.at(g, members, s[:, None, :])
    directions = rng.normal(size=(3, 2))
    expected = [brute_triples(s, members, each)[0] for each in directions]
    found = of_pairs(g, s, np.ones(len(members)), 1.0)
    assert_allclose(found.along(directions), [expected, expected])
    # a pair that is listed from both ends, half its score each time
    halves = np.concatenate([s, s[:1] / 2])
    halves[0] /= 2
    times = np.ones(len(halves))
    times[[0, -1]] = 2.0
    again = of_pairs(g, halves, times, 1.0)
    assert_allclose(again.along(directions), [expected, expected])


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


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_pair_sums_of_rows_equal_the_sums_over_listed_pairs(weighted, offset):
    rng = np.random.default_rng(3)
    x, y = rng.uniform(size=9000), rng.normal(size=9000) + offset
    tuples = samplers.Nearby(0.001).build(x[:, None], 2, rng, None)
    weight = rng.uniform(0.5, 1.5, size=9000) if weighted else None
    kernel = statistics.variance().loss.kernels[1]
    members = tuples.listed().members
    value = kernel(y[members])
    if weight is not None:
        value = value * weight[members].prod(axis=1)
    expected = np.bincount(members.ravel(), np.repeat(value, 2), minlength=9000)
    found = pair_row_sums(tuples, kernel, y, weight)
    assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


def test_tuples_drawn_in_a_graph_share_two_rows_with_those_given():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(40, 2))
    graph = samplers.Nearest(5).build(X, 4, rng, None)
    listed = [frozenset(each) for each in graph.listed().members.tolist()]
    drawn = graph.sample(200, np.random.default_rng(1))
    chain = draw_in_graph(graph, drawn, np.random.default_rng(2))
    for rows, number, given, other in zip(
        chain.rows, chain.number, drawn.members, chain.other.members, strict=True
    ):
        shared = frozenset(rows.tolist())
        assert number == sum(shared <= each for each in listed)
        assert shared <= set(given.tolist())
        assert shared <= set(other.tolist())
        assert frozenset(other.tolist()) in listed
