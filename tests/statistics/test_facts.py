"""What a statistic knows beside its loss: moments, means of kernels, ranges, units, its title."""

import pickle

import numpy as np
import pytest

from multiobs import planning, statistics
from multiobs.baselines import (
    EmpiricalStatisticRegressor,
    LocalPlugInRegressor,
    ResidualRegressor,
    TwoMomentRegressor,
    plug_in,
)
from multiobs.statistics import CATALOGUE

NAMES = tuple(CATALOGUE)
MOMENTS = [name for name in NAMES if CATALOGUE[name]().moments is not None]
RANGES = [name for name in NAMES if CATALOGUE[name]().ranges is not None]


def discrete_law(rng, low, high, columns):
    """A law on a few values in [low, high], as values and probabilities."""
    values = rng.uniform(low, high, size=(4, columns)).squeeze()
    return values, rng.dirichlet(np.full(4, 0.7))


def test_which_statistics_are_functions_of_mean_and_variance():
    assert MOMENTS == [
        "mean",
        "variance",
        "ucb",
        "standard_deviation",
        "dispersion_index",
        "squared_cv",
    ]
    assert statistics.central_moment(2).moments is not None
    assert statistics.cumulant(1).moments.value(np.array([3.0]), np.array([1.0])) == 3.0
    assert statistics.central_moment(3).moments is None


@pytest.mark.parametrize("name", MOMENTS)
def test_function_of_mean_and_variance_is_the_statistic(name):
    rng = np.random.default_rng(0)
    y = rng.gamma(3.0, size=200_000)
    what = CATALOGUE[name]()
    value = what.moments.value(np.array([y.mean()]), np.array([y.var()]))[0]
    assert value == pytest.approx(float(plug_in(what, y)), rel=1e-4)


@pytest.mark.parametrize("name", MOMENTS)
def test_derivatives_by_finite_differences(name):
    g = CATALOGUE[name]().moments
    mean, variance, step = np.array([1.3, 2.0]), np.array([0.7, 4.0]), 1e-6
    by_mean = (g.value(mean + step, variance) - g.value(mean - step, variance)) / (2 * step)
    by_variance = (g.value(mean, variance + step) - g.value(mean, variance - step)) / (2 * step)
    np.testing.assert_allclose(g.d_mean(mean, variance), by_mean, atol=1e-7)
    np.testing.assert_allclose(g.d_variance(mean, variance), by_variance, atol=1e-7)
    bent = g.value(2 * mean, 2 * variance) - 2 * g.value(mean, variance)
    assert g.linear == bool(np.all(np.abs(bent) < 1e-12) and np.ptp(by_variance) < 1e-6)


@pytest.mark.parametrize("name", ["variance", "standard_deviation"])
def test_spread_is_the_standard_deviation(name):
    g = CATALOGUE[name]().moments
    np.testing.assert_allclose(g.spread(g.value(np.zeros(3), np.arange(3.0))), np.sqrt([0, 1, 2]))
    assert g.spread(np.array([-1.0])) == 0.0
    assert statistics.ucb(2.0).moments.spread is None  # it does not tell the mean from the sd


@pytest.mark.parametrize("name", RANGES)
def test_no_law_leaves_the_range(name):
    rng = np.random.default_rng(1)
    what = CATALOGUE[name]()
    low, high = what.ranges.values((1.0, 3.0))
    reached = []
    for _ in range(40):
        values, weights = discrete_law(rng, 1.0, 3.0, what.n_columns)
        draw = rng.choice(4, size=400, p=weights)
        found = float(plug_in(what, values[draw])) if np.unique(draw).size > 1 else low
        assert low - 0.05 <= found <= high + 0.05
        reached.append(found)
    assert np.ptp(reached) > 0.05 * (high - low)  # and the range is not idle


def test_ranges_of_one_third_central_moment():
    # Bernoulli(p) on [0, 2]: 8 p (1-p) (1-2p), largest at p = 1/2 - 1/sqrt(12)
    p = 0.5 - 12**-0.5
    found = 8 * p * (1 - p) * (1 - 2 * p)
    low, high = statistics.central_moment(3).ranges.values((0.0, 2.0))
    assert -low == high >= found
    assert statistics.cumulant(4).ranges is None
    assert statistics.dispersion_index().ranges.values((-1.0, 1.0)) is None


@pytest.mark.parametrize("name", NAMES)
def test_facts_survive_pickling(name):
    what = CATALOGUE[name]()
    again = pickle.loads(pickle.dumps(what))
    assert again.title == what.title
    y = np.random.default_rng(0).gamma(2.0, size=(30, what.n_columns)).squeeze()
    np.testing.assert_array_equal(plug_in(again, y), plug_in(what, y))


@pytest.mark.parametrize(
    ("what", "title", "unit", "in_metres"),
    [
        (statistics.variance(), "variance", "unit of y²", "m²"),
        (statistics.ucb(8.0), "UCB (λ = 8)", "unit of y", "m"),
        (statistics.minvar(4), "MINVAR (k = 4)", "unit of y", "m"),
        (statistics.central_moment(3), "central moment of order 3", "unit of y^3", "m^3"),
        (statistics.kurtosis(), "kurtosis", "", ""),
        (statistics.mean_of(lambda Y: Y[:, 0] ** 2, 1, name="my_square"), "my square", "", ""),
    ],
)
def test_titles_and_units_of_axes(what, title, unit, in_metres):
    assert (what.title, what.unit_in(None), what.unit_in("m")) == (title, unit, in_metres)


def test_kurtosis_far_from_zero():
    y = np.random.default_rng(0).normal(size=500)
    assert plug_in("kurtosis", y + 1e6) == pytest.approx(float(plug_in("kurtosis", y)), rel=1e-6)


# ---- a user's own statistic that happens to be called like one of ours ---------------------------


def gap(Y):
    return np.abs(Y[:, 0] - Y[:, 1])


@pytest.mark.parametrize("name", ["variance", "ucb", "standard_deviation", "mean", "skewness"])
def test_namesakes_are_not_taken_for_the_catalogue(name):
    own = statistics.mean_of(gap, 2, name=name)
    rng = np.random.default_rng(0)
    x, y = rng.random((200, 1)), rng.normal(size=200)
    expected = np.abs(y[:, None] - y[None])[np.triu_indices(200, 1)].mean()
    assert plug_in(own, y) == pytest.approx(expected)
    for refused in (TwoMomentRegressor(own), ResidualRegressor(own)):
        with pytest.raises(ValueError, match="needs a function of mean and variance"):
            refused.fit(x, y)
    local = LocalPlugInRegressor(own, "nearest", n_neighbors=200).fit(x, y)
    np.testing.assert_allclose(local.predict(x[:3]), expected)
    replicated = EmpiricalStatisticRegressor(own).fit(x[:20], y.reshape(20, 10))
    assert replicated.values_[0] == pytest.approx(float(plug_in(own, y[:10])))
    with pytest.raises(ValueError, match="r_range must be given"):
        _ = planning.BoundedProblem(own).predictions
    assert not own.catalogued
    assert own.form == "mean"


def test_a_loss_called_ucb_is_a_loss():
    own = statistics.from_loss(
        lambda r, Y: (r - Y[:, 0]) ** 2, lambda r, Y: 2 * (r - Y[:, 0]), None, 1, name="ucb"
    )
    assert own.form == "loss"
    with pytest.raises(ValueError, match="needs a statistic of means of kernels"):
        plug_in(own, [1.0, 2.0])


def test_build_says_what_is_wrong():
    assert statistics.build("minvar", {"k": 3}).arity == 4
    with pytest.raises(ValueError, match="statistic must be one of"):
        statistics.build("minmax", {})
    with pytest.raises(ValueError, match="parameters of minvar must be ones it has"):
        statistics.build("minvar", {"lam": 3})
