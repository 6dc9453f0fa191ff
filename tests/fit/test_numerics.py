"""Offsets, trends, times in nanoseconds and extreme scales, against exact fractions."""

import warnings
from fractions import Fraction
from itertools import combinations

import numpy as np
import oracle
import pytest
from native_switch import use_native
from tables import STATISTICS

from multiobs import MultiObservationRegressor
from multiobs.samplers import Nearby, SlidingWindow

QUADRATIC = ["variance", "central_moment(3)", "gini_mean_difference", "minvar(1)", "l_moment(3)"]


def fit(statistic, sampler, x, y, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        regressor = MultiObservationRegressor(statistic, sampler, transport=None, **options)
        return regressor.fit(x[:, None], y)


def exact_line(name, sampler, x, y):
    """The line that minimises the empirical risk, in rational arithmetic: a function of x."""
    case = STATISTICS[name]
    m = case.make().arity
    X, labels = oracle.exact(x[:, None].tolist()), oracle.exact(y.tolist())
    if isinstance(sampler, Nearby):
        listed = nearby_in_floats(x, m, sampler.epsilon)
    else:
        listed = oracle.sliding(X, m)
    middle = X[0][0]  # any exact origin gives the same line
    Z = [[Fraction(1), v[0] - middle] for v in X]
    w = oracle.fit_ratio(listed, case.psi, case.chi, Z, labels)
    return lambda v: w[0] + w[1] * (Fraction(float(v)) - middle), w[1]


def nearby_in_floats(x, m, epsilon):
    """All m-subsets within epsilon by the floating-point comparison, anchored at the leftmost."""
    line = sorted(range(len(x)), key=lambda i: x[i])
    found = []
    for a, i in enumerate(line):
        near = []
        for j in line[a + 1 :]:
            if x[j] - x[i] > epsilon:
                break
            near.append(j)
        found += [((i, *rest), None) for rest in combinations(near, m - 1)]
    return found


def compare(name, sampler, x, y, tolerance):
    fitted = fit(STATISTICS[name].make(), sampler, x, y)
    line, slope = exact_line(name, sampler, x, y)
    at = np.array([x.min(), np.median(x), x.max()])
    values = [line(v) for v in at]
    size = max(abs(v) for v in values)
    for v, found in zip(values, fitted.predict(at[:, None]), strict=True):
        assert abs(Fraction(float(found)) - v) <= tolerance * size
    width = Fraction(float(np.ptp(x)))
    assert abs(Fraction(float(fitted.coef_[0])) - slope) * width <= 10 * tolerance * size


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    x = rng.random(60)
    return x, rng.normal(size=60)


@pytest.mark.parametrize("native", ["0", "1"])
@pytest.mark.parametrize("sampler", [SlidingWindow(), Nearby(0.08)], ids=["sliding", "nearby"])
@pytest.mark.parametrize("name", QUADRATIC)
def test_an_offset_of_y(name, sampler, native, rows, monkeypatch):
    use_native(monkeypatch, native)
    x, y = rows
    compare(name, sampler, x, y + 1e8, 1e-11)
    compare(name, sampler, x, 1e-3 * y - 1e12, 1e-11)


@pytest.mark.parametrize("sampler", [SlidingWindow(), Nearby(0.004)], ids=["sliding", "nearby"])
@pytest.mark.parametrize("name", ["variance", "gini_mean_difference", "central_moment(3)"])
def test_a_random_walk_to_a_million(name, sampler):
    rng = np.random.default_rng(1)
    n = 600
    x = np.sort(rng.random(n))
    walk = np.cumsum(rng.normal(size=n))
    y = 1e6 * walk / np.abs(walk).max()
    assert np.abs(y).max() == pytest.approx(1e6)
    compare(name, sampler, x, y, 1e-9)


def test_a_long_random_walk_by_running_sums():
    rng = np.random.default_rng(2)
    n = 7000
    x = np.arange(n) / n
    walk = np.cumsum(rng.normal(size=n))
    y = 1e6 * walk / np.abs(walk).max()
    sampler = Nearby(3.5 / n)
    fitted = fit("variance", sampler, x, y)
    assert "running sums" in str(fitted.plan_)
    line, _ = exact_line("variance", sampler, x, y)
    for v in (0.0, 0.5, 1.0):
        value = line(v)
        assert abs(Fraction(float(fitted.predict([[v]])[0])) - value) <= 1e-10 * abs(value)


@pytest.mark.parametrize("sampler", [SlidingWindow(), Nearby(40e9)], ids=["sliding", "nearby"])
@pytest.mark.parametrize("name", QUADRATIC)
def test_times_in_nanoseconds(name, sampler, rows):
    x, y = rows
    stamps = 1_700_000_000_000_000_000 + np.round(x * 600e9)
    assert stamps.min() > 1.6e18
    compare(name, sampler, stamps, y, 1e-9)


def test_times_as_integers(rows):
    x, y = rows
    stamps = 1_700_000_000_000_000_000 + np.round(x * 600e9).astype(np.int64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, two = (
            MultiObservationRegressor("variance", "sliding", transport=None).fit(t[:, None], y)
            for t in (stamps, stamps.astype(float))
        )
    np.testing.assert_allclose(one.coef_, two.coef_)


@pytest.mark.parametrize("scale", [1e-150, 1e-100, 1e100, 1e150])
@pytest.mark.parametrize("name", ["variance", "gini_mean_difference", "minvar(1)"])
def test_scales_of_y(name, scale, rows):
    x, y = rows
    for sampler in (SlidingWindow(), Nearby(0.08)):
        compare(name, sampler, x, y * scale, 1e-11)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
@pytest.mark.parametrize("name", ["variance", "minvar(1)", "gini_mean_difference"])
def test_scales_of_x(name, scale, rows):
    x, y = rows
    for sampler in (SlidingWindow(), Nearby(0.08 * scale)):
        compare(name, sampler, x * scale, y, 1e-10)


@pytest.mark.parametrize("scale", [1e-150, 1e-60, 1e60, 1e150])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_root_statistics_follow_the_scale_of_y(scale, offset, rows):
    x, y = rows
    y = y + x
    for name in ("ucb", "standard_deviation"):
        for sampler in (SlidingWindow(), Nearby(0.08)):
            here = fit(name, sampler, x, y).predict(x[:, None])
            there = fit(name, sampler, x, scale * (y + offset)).predict(x[:, None])
            gain = offset if name == "ucb" else 0.0
            np.testing.assert_allclose(there / scale - gain, here, rtol=1e-6, atol=1e-6)


def test_levels_of_groups_cost_no_digit(rows):
    x, y = rows
    groups = np.arange(60) % 3
    levels = np.array([0.0, 1e9, -1e9])[groups]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fits = [
            MultiObservationRegressor("variance", Nearby(0.2), transport=None).fit(
                x[:, None], labels, groups=groups
            )
            for labels in (np.round(y, 3), np.round(y, 3) + levels)
        ]
    # the labels themselves are rounded to 1e-7 at this level
    np.testing.assert_allclose(fits[1].predict(x[:, None]), fits[0].predict(x[:, None]), rtol=1e-5)


def test_an_outlier_leaves_the_other_windows_alone():
    rng = np.random.default_rng(3)
    n = 4000
    x, y = np.arange(n) / n, rng.normal(size=n)
    y[10] = 1e150
    sampler = Nearby(2.5 / n)
    spoilt = fit("gini_mean_difference", sampler, x, y)
    line, _ = exact_line("gini_mean_difference", sampler, x, y)
    found = spoilt.predict([[0.9]])[0]
    assert abs(Fraction(float(found)) - line(0.9)) <= 1e-9 * abs(line(0.0))


def test_features_far_from_zero_or_of_unequal_size():
    rng = np.random.default_rng(4)
    X = rng.random((80, 3)) * np.array([1.0, 1e-9, 1e9]) + np.array([1e6, 5.0, -1e12])
    y = rng.normal(size=80)
    here = (X - np.array([1e6, 5.0, -1e12])) * np.array([1.0, 1e9, 1e-9])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, two = (
            MultiObservationRegressor("variance", "nearest", transport=None).fit(Z, y)
            for Z in (X, here)
        )
    np.testing.assert_allclose(one.predict(X), two.predict(here), rtol=1e-5)


def test_a_statistic_that_no_float_can_hold_is_refused(rows):
    x, y = rows
    with pytest.raises(ValueError, match=r"central_moment must be representable.*divide y"):
        fit(STATISTICS["central_moment(3)"].make(), SlidingWindow(), x, 1e150 * y)
