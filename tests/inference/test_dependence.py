"""Clusters and serial dependence: definitions, and errors that match simulations."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import PolynomialFeatures

from multiobs import MultiObservationRegressor, samplers
from multiobs.inference.dependence import Clusters, Serial, dependence_of


def test_clusters_of_one_row_least_squares_are_textbook_errors():
    """With one observation a tuple is a row: the sandwich of least squares, clustered (CR0/HC2)."""
    rng = np.random.default_rng(0)
    x, codes = rng.uniform(size=(60, 1)), np.repeat(np.arange(12), 5)
    y = 1 + x[:, 0] + rng.normal(size=12)[codes] + 0.3 * rng.normal(size=60)
    model = MultiObservationRegressor("mean", transport=None).fit(x, y)
    Z = np.column_stack([np.ones(60), x])
    inverse = np.linalg.inv(Z.T @ Z)
    residual = y - Z @ (inverse @ Z.T @ y)
    leverage = np.einsum("ia,ab,ib->i", Z, inverse, Z)
    u = Z * (residual / np.sqrt(1 - leverage))[:, None]
    sums = np.array([u[codes == c].sum(axis=0) for c in range(12)])
    expected = inverse @ (sums.T @ sums) @ inverse * 12 / 11
    found = model.summary(clusters=codes)
    assert_allclose(found.table[:, 1], np.sqrt(np.diag(expected)), rtol=1e-6)
    facts = dict(found.facts)
    assert facts["Errors"] == "shared labels, by clusters"
    assert facts["Degrees of freedom"] == "11.0"
    names = [f"subject {c}" for c in codes]
    assert_allclose(model.summary(clusters=names).table, found.table)


def test_serial_sums_are_newey_and_west():
    rng = np.random.default_rng(1)
    place, u = rng.uniform(size=(50, 1)), rng.normal(size=(50, 2))
    serial = dependence_of("serial", place)
    s, lags = u[np.argsort(place[:, 0])], serial.lags
    expected = np.zeros((2, 2))
    for i in range(50):
        for j in range(50):
            weight = max(1 - abs(i - j) / (lags + 1), 0.0)
            expected += weight * np.outer(s[i], s[j])
    assert_allclose(serial.outer(u), expected)
    assert lags == 2 * int(4 * 0.5 ** (2 / 9))


def clustered_rows(seed, size=6, count=80):
    """Rows whose noise has a common scale in each cluster; clusters are spread over x."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat(np.arange(count), size))
    scale = rng.gamma(2.0, size=count)[codes] / 2
    return rng.uniform(size=(codes.size, 1)), np.sqrt(scale) * rng.normal(size=codes.size), codes


@pytest.mark.parametrize("sampler", [samplers.SlidingWindow(), samplers.Adjacent(12)])
def test_clustered_errors_have_the_size_of_the_simulated_spread(sampler):
    centres, plain, robust = [], [], []
    for seed in range(60):
        x, y, codes = clustered_rows(seed)
        model = MultiObservationRegressor("variance", sampler, transport=None).fit(x, y)
        centres.append(model.predict([[0.5]])[0])
        width = [np.diff(model.predict_interval([[0.5]], method="linear"))[0, 0]]
        width.append(np.diff(model.predict_interval([[0.5]], 0.95, "linear", clusters=codes))[0, 0])
        plain.append(width[0])
        robust.append(width[1])
    spread = np.std(centres) * 2 * 1.96
    assert np.mean(plain) < 0.9 * spread
    assert 0.8 * spread < np.mean(robust) < 1.35 * spread


def test_rows_of_their_own_cluster_change_little():
    rng = np.random.default_rng(3)
    x = rng.uniform(size=(300, 1))
    y = rng.normal(size=300)
    for sampler in (samplers.SlidingWindow(), samplers.Nearby("paper"), samplers.Nearest(5)):
        model = MultiObservationRegressor("variance", sampler, transport=None).fit(x, y)
        plain = model.summary().table[:, 1]
        alone = model.summary(clusters=np.arange(300)).table[:, 1]
        assert_allclose(alone, plain, rtol=0.2)


def test_tests_and_bootstrap_take_clusters():
    x, y, codes = clustered_rows(0)
    make = PolynomialFeatures(3, include_bias=False)
    model = MultiObservationRegressor("variance", samplers.Adjacent(12), features=make).fit(x, y)
    assert model.test_constant(clusters=codes).p_value != model.test_constant().p_value
    one = model.wald_test([0.0, 1.0, 0, 0], clusters=codes)
    assert one.df_denom == 79.0
    boot = MultiObservationRegressor(
        "variance", samplers.Adjacent(12), estimator=LinearRegression(), random_state=0
    ).fit(x, y)
    plain = boot.predict_interval([[0.5]], n_bootstrap=20)
    robust = boot.predict_interval([[0.5]], n_bootstrap=20, clusters=codes)
    assert np.diff(robust)[0, 0] > np.diff(plain)[0, 0]
    assert_allclose(boot.predict_interval([[0.5]], n_bootstrap=20), plain)


@pytest.mark.parametrize(
    ("clusters", "message"),
    [
        ([1, 2], "one label for each of the 40 rows"),
        ("weekly", "clusters must be one label for each row, 'serial' or None, got 'weekly'"),
        (np.zeros(40), "at least two clusters"),
    ],
)
def test_clusters_errors_state_the_rule(clusters, message):
    x = np.linspace(0, 1, 40)[:, None]
    model = MultiObservationRegressor("variance").fit(x, np.sin(50 * x[:, 0]))
    with pytest.raises(ValueError, match=message):
        model.predict_interval(x, clusters=clusters)
    with pytest.raises(ValueError, match="needs one column of x, got 2"):
        dependence_of("serial", np.zeros((4, 2)))


def test_smooth_classes_refuse_clusters_for_now():
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(100, 1))
    model = MultiObservationRegressor("variance", features="smooth").fit(x, rng.normal(size=100))
    for ask in (model.summary, model.test_constant, lambda **k: model.predict_interval(x, **k)):
        with pytest.raises(ValueError, match="clusters must be None with smooth features"):
            ask(clusters=np.arange(100))


def test_weights_are_alike_inside_a_unit():
    rng = np.random.default_rng(0)
    codes = np.array([0, 1, 0, 1, 2])
    weight = Clusters(codes).weights(rng)
    assert weight[0] == weight[2]
    assert weight[0] != weight[1]
    serial = Serial(np.arange(200))
    drawn = serial.weights(rng)
    assert drawn.shape == (200,)
    assert np.mean(np.diff(drawn) == 0) > 0.7
