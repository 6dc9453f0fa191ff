"""Clusters and serial dependence: definitions, and errors that match simulations."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import PolynomialFeatures

from multiobs import MultiObservationRegressor, samplers, statistics
from multiobs.inference.dependence import Clusters, SerialDependence, dependence_of
from multiobs.inference.gradient import Gradient
from multiobs.inference.influence import contributions
from multiobs.statistics.kernels import constant
from multiobs.sums.scores import Slope


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
    sums = sums - sums.mean(axis=0)
    expected = inverse @ (sums.T @ sums) @ inverse * 12 / 11
    found = model.summary(clusters=codes)
    assert_allclose(found.table[:, 1], np.sqrt(np.diag(expected)), rtol=1e-6)
    facts = dict(found.facts)
    assert facts["Errors"] == "shared labels, by clusters"
    assert facts["Degrees of freedom"] == "11.0"
    names = [f"subject {c}" for c in codes]
    assert_allclose(model.summary(clusters=names).table, found.table)


def test_serial_sums_are_squares_of_the_first_cosines():
    rng = np.random.default_rng(1)
    place, u = rng.uniform(size=(60, 1)), rng.normal(size=(60, 2))
    serial = dependence_of("serial", place)
    df = int(serial.df(2))
    assert df == int(0.4 * 60 ** (2 / 3))
    rank = np.argsort(np.argsort(place[:, 0])) + 0.5
    expected = np.zeros((2, 2))
    for j in range(1, df + 2):
        wave = np.sqrt(2.0) * np.cos(np.pi * j * rank / 60) @ u
        expected += np.outer(wave, wave) / df
    assert_allclose(serial.outer(u, 2), expected)


def test_rows_at_equal_x_have_no_order():
    rng = np.random.default_rng(2)
    place, u = rng.integers(20, size=(300, 1)).astype(float), rng.normal(size=(300, 1))
    order = np.lexsort([u[:, 0]])
    found, sorted_ = dependence_of("serial", place), dependence_of("serial", place[order])
    assert_allclose(found.outer(u, 1), sorted_.outer(u[order], 1))
    assert found.df(1) < 0.4 * 20 ** (2 / 3) + 1e-9  # twenty places, not three hundred


@pytest.mark.parametrize(
    ("sampler", "arity"),
    [
        (samplers.SlidingWindow(), 2),
        (samplers.Adjacent(7), 3),
        (samplers.Nearest(n_neighbors=5), 2),
        (samplers.Disjoint(), 4),
    ],
)
def test_contributions_undo_the_sums_over_tuples(sampler, arity):
    """Labels whose tuples have the score Σ h_j: the rows get κ_i h_i back where h is smooth."""
    tuples = sampler.build(np.arange(40.0)[:, None], arity, np.random.default_rng(0))
    h = np.cos(np.pi * (np.arange(40) + 0.5) / 40)[:, None]
    members = tuples.listed().members
    g, counts = np.zeros((40, 1)), np.zeros(40)
    for t in members:
        g[t] += h[t].sum()
        counts[t] += 1
    slope = Slope.of(constant(1.0, tuples.arity))
    gradient = Gradient(slope, tuples, np.ones((40, 1)), np.zeros(40), np.ones(1), None, 1)
    found = contributions(g, gradient)
    assert_allclose(found[:, 0], counts * h[:, 0], atol=0.15 * counts.max())
    assert_allclose(h[:, 0] @ found[:, 0], h[:, 0] @ (counts * h[:, 0]), rtol=0.02)


def switching_rows(seed, n=400, length=10):
    """A spread that stays for ten rows; on average the variance is one everywhere."""
    rng = np.random.default_rng(seed)
    kept = np.repeat(rng.choice([0.1, 1.9], size=n // length + 2), length)
    scale = kept[int(rng.integers(length)) :][:n]
    return np.sort(rng.uniform(size=n))[:, None], np.sqrt(scale) * rng.normal(size=n)


SERIAL = [
    ("variance", samplers.SlidingWindow()),
    ("variance", samplers.Adjacent(12)),
    ("variance", samplers.Disjoint()),
    (statistics.minvar(3), samplers.Adjacent(12)),
]


def serial_widths(statistic, sampler, seeds):
    """Width of plain and serial intervals at 0.5, over that of the simulated spread."""
    centres, plain, robust = [], [], []
    for seed in seeds:
        x, y = switching_rows(seed)
        model = MultiObservationRegressor(statistic, sampler, transport=None, alpha=0.0).fit(x, y)
        centres.append(model.predict([[0.5]])[0])
        plain.append(np.ptp(model.predict_interval([[0.5]], method="linear")))
        robust.append(np.ptp(model.predict_interval([[0.5]], method="linear", clusters="serial")))
    df = dependence_of("serial", x).df(2)
    spread = 2 * np.std(centres)
    limits = stats.norm.ppf(0.975), stats.t.ppf(0.975, df)
    return [
        float(np.sqrt(np.mean(np.square(each))) / (spread * limit))
        for each, limit in zip((plain, robust), limits, strict=True)
    ]


@pytest.mark.filterwarnings("ignore:the labels cannot be told:UserWarning")  # scales are mixed
@pytest.mark.parametrize(("statistic", "sampler"), SERIAL)
def test_serial_errors_have_the_size_of_the_simulated_spread(statistic, sampler):
    plain, robust = serial_widths(statistic, sampler, range(60))
    assert plain < 0.85
    assert 0.8 < robust < 1.25


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore:.* lies in|.* rows|the labels cannot:UserWarning"
)  # of a few data sets
@pytest.mark.parametrize(("statistic", "sampler"), SERIAL)
def test_serial_errors_at_length(statistic, sampler):
    _, robust = serial_widths(statistic, sampler, range(1000, 1600))
    assert 0.88 < robust < 1.12  # 600 data sets know the spread to 3 %


def test_the_serial_bootstrap_has_the_size_of_the_simulated_spread():
    centres, robust = [], []
    for seed in range(30):
        x, y = switching_rows(seed)
        sampler = samplers.Adjacent(12)
        model = MultiObservationRegressor(
            "variance", sampler, estimator=LinearRegression(), transport=None, random_state=0
        ).fit(x, y)
        centres.append(model.predict([[0.5]])[0])
        limits = model.predict_interval([[0.5]], n_bootstrap=15, clusters="serial", method="linear")
        robust.append(np.ptp(limits))
    spread = np.std(centres) * 2 * 1.96
    assert 0.75 * spread < np.sqrt(np.mean(np.square(robust))) < 1.3 * spread


def test_joint_tests_of_dependent_rows_need_more_units_than_hypotheses():
    x, y = switching_rows(0, n=200)
    make = PolynomialFeatures(4, include_bias=False)
    model = MultiObservationRegressor("variance", "sliding", features=make, transport=None)
    model.fit(x, y)
    found = model.test_constant(clusters="serial")
    assert found.df_denom == dependence_of("serial", x).df(1) - 3
    assert 0 < found.p_value < 1
    few = model.test_constant(clusters=np.arange(200) // 50)
    assert np.isnan(few.p_value)


def clustered_rows(seed, size=6, count=80):
    """Rows whose noise has a common scale in each cluster; clusters are spread over x."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat(np.arange(count), size))
    scale = rng.gamma(2.0, size=count)[codes] / 2
    return rng.uniform(size=(codes.size, 1)), np.sqrt(scale) * rng.normal(size=codes.size), codes


@pytest.mark.filterwarnings("ignore:the labels cannot be told:UserWarning")  # scales are mixed
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
    serial = SerialDependence(np.arange(200))
    drawn = serial.weights(rng)
    assert drawn.shape == (200,)
    assert np.mean(np.diff(drawn) == 0) > 0.7
    tied = SerialDependence(np.arange(200) // 7).weights(rng)
    assert np.all(tied[:196].reshape(28, 7) == tied[:196:7, None])
