"""Joint tests of several hypotheses: definitions, size and power."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer

from multiobs import MultiObservationRegressor, samplers, statistics
from multiobs.inference import varying_directions
from multiobs.inference.influence import influences, row_scores
from multiobs.inference.sandwich import gradient_of, hessian_of
from multiobs.inference.score_test import (
    at_one_level,
    constrained,
    score_test,
    weighed_under,
)
from multiobs.inference.score_variance import curvature_under_hypothesis, smooth
from multiobs.inference.variance import meat
from multiobs.tuples import Tuples, Windows

# a spline may dip below zero at the ends; that is not what is tested here
pytestmark = pytest.mark.filterwarnings("ignore:.* lies in:UserWarning")


def table(n, seed, slope=0.0, skewed=False):
    """Rows whose variance is 1 + slope (x - 1/2)."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(n, 1))
    noise = (rng.gamma(2.0, size=n) - 2) / np.sqrt(2) if skewed else rng.normal(size=n)
    return x, np.sqrt(1.0 + slope * (x[:, 0] - 0.5)) * noise


def test_disjoint_pairs_give_the_score_test_of_least_squares():
    """No label is shared: one variance (HC2) of half squared differences, restricted fit."""
    X, y = table(80, 0)
    model = MultiObservationRegressor(
        "variance",
        samplers.Disjoint(),
        features=PolynomialFeatures(3, include_bias=False),
        transport=None,
    ).fit(X, y)
    found = model.test_constant()
    order = np.argsort(X[:, 0])
    a, b = order[0::2], order[1::2]
    psi = (y[a] - y[b]) ** 2 / 2
    x = (X[a, 0] + X[b, 0]) / 2
    powers = np.stack([x**0, x, x**2, x**3], axis=1)
    tested = powers[:, 1:]
    residual = psi - psi.mean()
    tested = tested - tested.mean(axis=0)
    U = tested.T @ residual
    hc2 = residual**2 / (1 - 1 / psi.size)
    leverage = np.einsum("ij,ji->i", powers, np.linalg.pinv(powers))
    V = np.average(hc2, weights=leverage) * tested.T @ tested
    expected = U @ np.linalg.solve(V, U)
    assert_allclose(found.statistic * 3, expected, rtol=1e-6)
    assert_allclose(found.p_value, stats.chi2.sf(expected, 3), rtol=1e-6)
    assert str(found).startswith("H0: variance() is constant in x. Score test: chi2(3) = ")


@pytest.mark.parametrize("name", ["variance", "ucb", "minvar"])
def test_constrained_fit_is_a_minimum_on_the_constraint(name):
    X, y = table(120, 1)
    make = SplineTransformer(4)
    model = MultiObservationRegressor(name, samplers.Nearby("paper"), features=make).fit(X, y)
    fit = model._fitted.result
    R = np.random.default_rng(0).normal(size=(2, fit.w.size))
    q = R @ fit.w + np.array([0.05, -0.05])
    w, free = constrained(fit.risk, fit.w, R, q)
    assert_allclose(R @ w, q, atol=1e-10)
    size = np.abs(fit.risk.hessian(fit.w)).max()
    assert_allclose(free.T @ fit.risk.gradient(w), 0.0, atol=1e-8 * size)
    for direction in free.T:
        for step in (1e-3, -1e-3):
            assert fit.risk.value(w + step * direction) >= fit.risk.value(w)


def test_hypotheses_hold_in_the_users_units():
    """Shifting q by what R sees of the estimate gives a statistic of zero; units change nothing."""
    X, y = table(200, 2)
    make = PolynomialFeatures(3, include_bias=False)
    model = MultiObservationRegressor("ucb", samplers.Nearby("paper"), features=make)
    model.fit(X, y)
    b = np.append(model.intercept_, model.coef_)
    R = np.array([[1.0, 0, 0, 0.5], [0, 1.0, -1.0, 0]])
    assert_allclose(model.wald_test(R, R @ b).statistic, 0.0, atol=1e-8)
    here = model.wald_test(R, [0.3, 0.1])
    scaled = model.fit(X, 1000.0 * y).wald_test(R, [300.0, 100.0])
    assert_allclose(scaled.statistic, here.statistic, rtol=1e-6)
    mixed = model.fit(X, y).wald_test([[2.0, 1, -1, 1.0], [0, 3.0, -3.0, 0]], [0.7, 0.3])
    assert_allclose(mixed.statistic, here.statistic, rtol=1e-6)  # the same two hypotheses


@pytest.mark.parametrize("kind", ["windows", "tuples"])
def test_influences_find_the_noise_of_each_row(kind):
    """Scores that are sums of a noise of each row: influences give that noise back, times κ."""
    rng = np.random.default_rng(0)
    n, reach = 400, 20
    noise = rng.exponential(size=n) - 1.0
    windows = Windows(np.arange(n), np.minimum(np.arange(n) + 1 + reach, n), arity=2)
    members = windows.listed().members
    s = noise[members].sum(axis=1)
    g = np.bincount(members.ravel(), np.repeat(s, 2), minlength=n)[:, None]
    tuples = windows if kind == "windows" else Tuples(members, n)
    found = influences(g, tuples)
    counts = np.bincount(members.ravel(), minlength=n)
    inside = slice(2 * reach, n - 2 * reach)
    left = found.rows[inside, 0] - (counts * noise)[inside]
    assert np.sqrt(np.mean(left**2)) < 0.1 * np.sqrt(np.mean((counts * noise)[inside] ** 2))
    assert_allclose(found.n_neighbours, counts)


@pytest.mark.parametrize("arity", [2, 3])
def test_influences_take_off_the_mean_of_tuples_without_the_row(arity):
    """By loops over the tuples of each neighbour; of few rows, so that every tuple counts."""
    n = 7
    members = np.array(list(combinations(range(n), arity)))
    s = np.random.default_rng(1).exponential(size=len(members))
    containing = [[t for t, each in enumerate(members) if i in each] for i in range(n)]
    g = np.array([s[each].sum() for each in containing])
    expected = np.empty(n)
    for i in range(n):
        of_others = [
            s[t] for j in range(n) if j != i for t in containing[j] if t not in containing[i]
        ]
        expected[i] = g[i] - (arity - 1) / arity * len(containing[i]) * np.mean(of_others)
    for tuples in (Tuples(members, n), Windows(np.arange(n), np.full(n, n), arity=arity)):
        assert_allclose(influences(g[:, None], tuples).rows[:, 0], expected, rtol=1e-12)


@pytest.mark.parametrize("sampler", [samplers.SlidingWindow(), samplers.Nearby(0.1)])
def test_row_scores_sum_to_the_gradient(sampler):
    X, y = table(90, 3)
    model = MultiObservationRegressor(statistics.minvar(2), sampler, transport=None).fit(X, y)
    fit = model._fitted.result
    gradient = gradient_of(fit, fit.w + 0.1)
    found = meat(gradient)
    g = row_scores(found, fit.problem.tuples)
    # less the leverage correction, which is the same for no two rows
    assert_allclose(g.sum(axis=0) / 3, fit.risk.gradient(fit.w + 0.1), rtol=0.2)


def test_variances_of_scores_are_those_of_the_rows():
    """Scores whose variance is a known parabola in x: V is that of the sum, not of one sample."""
    rng = np.random.default_rng(5)
    n = 4000
    x = rng.uniform(size=n)
    variance = 0.5 + 2.0 * x + 3.0 * x**2
    squares = variance * rng.chisquare(1, size=n)
    found = smooth(squares, np.ones(n), x[:, None], np.ones(n))
    assert_allclose(found, variance, rtol=0.25)
    assert_allclose(found.sum(), squares.sum())
    few = slice(0, 300)  # no power of x is known from 300 squares, but the fitted level is used
    flat = smooth(squares[few], np.ones(300), x[few, None], np.ones(300))
    assert_allclose(flat, squares[few].mean())
    level = smooth(squares[few], np.ones(300), x[few, None], np.sqrt(variance[few]))
    assert_allclose(level, variance[few], rtol=0.6)


def test_one_reference_level_under_the_hypothesis():
    """A level that follows labels is replaced by its mean, if that is below the statistic."""
    X, y = table(200, 6)
    make = SplineTransformer(5)
    fit = MultiObservationRegressor("ucb", features=make, transport=None).fit(X, y)._fitted.result
    Z = fit.design.columns(X)
    R = varying_directions(Z)
    w, _ = constrained(fit.risk, fit.w, R, np.zeros(len(R)))
    one = at_one_level(fit, w)
    assert_allclose(Z @ one.reference, np.mean(Z @ fit.reference), rtol=1e-9)
    assert at_one_level(fit, fit.w) is fit  # not constant
    assert at_one_level(fit, 1.01 * one.reference) is fit  # below the level: no such score


def test_weights_under_the_hypothesis_do_not_follow_the_labels():
    """A bound is weighed by a first fit; under a constant one by the distance to the mean alone."""
    X, y = table(200, 7)
    model = MultiObservationRegressor("ucb", features=SplineTransformer(8), random_state=0)
    fit = model.fit(X, y)._fitted.result
    Z = fit.design.columns(X)
    R = varying_directions(Z)
    w, _ = constrained(fit.risk, fit.w, R, np.zeros(len(R)))
    found = weighed_under(fit, w)
    known, offset = fit.problem.weighed_by, fit.problem.residuals.offset
    assert_allclose(found.problem.weight, known.by_spread(Z @ w - offset))
    assert not np.allclose(found.problem.weight, fit.problem.weight, rtol=0.05)
    tested = score_test(found, R, np.zeros(len(R)), "constant")  # weighed twice is as once
    assert_allclose(model.test_constant().p_value, tested.p_value, rtol=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("skewed", [False, True])
def test_size_of_a_bound_with_transport(skewed):
    """Weights by the unconstrained fit rejected 13 % of true hypotheses."""
    found = []
    for seed in range(300):
        X, y = table(300, seed, skewed=skewed)
        model = MultiObservationRegressor("ucb", features=SplineTransformer(11), random_state=0)
        found.append(model.fit(X, y).test_constant().p_value)
    assert 0.01 <= np.mean(np.array(found) < 0.05) <= 0.09  # three standard errors about 5 %


def p_values(statistic, sampler, features, n, trials, slope=0.0, skewed=False):
    out = []
    for seed in range(trials):
        X, y = table(n, seed, slope, skewed)
        model = MultiObservationRegressor(statistic, sampler, features=features, transport=None)
        out.append(model.fit(X, y).test_constant().p_value)
    return np.array(out)


@pytest.mark.parametrize("sampler", ["sliding", "nearby"])
def test_joint_test_keeps_its_size_and_has_power(sampler):
    sampler = samplers.SlidingWindow() if sampler == "sliding" else samplers.Adjacent(12)
    null = p_values("variance", sampler, SplineTransformer(5), 300, 60)
    # nominal 20 %: 3 to 22 of 60 (a binomial misses this once in a thousand times)
    assert 3 <= np.sum(null < 0.2) <= 22
    assert 0.35 < null.mean() < 0.65
    other = p_values("variance", sampler, SplineTransformer(5), 300, 25, slope=1.6)
    assert np.mean(other < 0.05) > 0.6


FEATURES = {
    3: PolynomialFeatures(3, include_bias=False),
    6: SplineTransformer(5),
    12: SplineTransformer(11),
}


@pytest.mark.slow
@pytest.mark.parametrize("skewed", [False, True])
@pytest.mark.parametrize("hypotheses", FEATURES)
@pytest.mark.parametrize("statistic", ["variance", "ucb", "minvar"])
def test_size_of_joint_tests(statistic, hypotheses, skewed):
    found = p_values(statistic, "auto", FEATURES[hypotheses], 300, 400, skewed=skewed)
    share = float(np.mean(found < 0.05))
    # three standard errors of 400 trials about 4 to 6 %, and one point more on skewed labels
    assert 0.01 <= share <= 0.095 + 0.01 * skewed


def test_hypotheses_stated_twice_count_once():
    """Splines sum to one, so the Hessian is singular too; neither changes the test."""
    X, y = table(150, 4)
    model = MultiObservationRegressor("variance", "sliding", features=SplineTransformer(4))
    fit = model.fit(X, y)._fitted.result
    R = varying_directions(fit.design.columns(X))
    once = score_test(fit, R, np.zeros(len(R)), "constant")
    again = score_test(fit, np.vstack([R, R[::-1]]), np.zeros(2 * len(R)), "constant")
    assert once.df_num == again.df_num == fit.w.size - 2
    assert_allclose(again.p_value, once.p_value, rtol=1e-6)


def whitened(matrix, gram):
    """A matrix in coordinates in which the Gram matrix is one, but for the size."""
    values, vectors = np.linalg.eigh(gram)
    kept = values > 1e-8 * values[-1]
    frame = vectors[:, kept] / np.sqrt(values[kept])
    found = frame.T @ matrix @ frame
    return found / np.mean(np.diag(found))


def curvatures(statistic, seed):
    """Second derivatives of the risk at the constant fit, as summed and smoothed, and features."""
    X, y = table(300, seed)
    model = MultiObservationRegressor(
        statistic, "sliding", features=SplineTransformer(5), transport=None
    )
    fit = model.fit(X, y)._fitted.result
    Z = fit.design.columns(X)
    w, free = constrained(fit.risk, fit.w, varying_directions(Z), np.zeros(Z.shape[1] - 2))
    A = hessian_of(fit.risk, w)
    return A, curvature_under_hypothesis(fit.problem, gradient_of(fit, w, free), A), Z


def test_second_derivatives_of_a_bound_are_smoothed_where_labels_enter():
    """They are the same at all x here; the sum over pairs is further from it."""
    off = []
    for seed in range(6):
        *both, Z = curvatures("ucb", seed)
        off.append([np.linalg.norm(whitened(each, Z.T @ Z) - np.eye(7)) for each in both])
    summed, smoothed = np.mean(off, axis=0)
    assert smoothed < 0.8 * summed
    A, found, _ = curvatures("variance", 0)
    assert found is A  # no label enters


@pytest.mark.slow
def test_size_of_a_bound_in_few_rows():
    """With the curvature as summed 2 % of true hypotheses were rejected."""
    found = [
        p_values("ucb", sampler, features, 300, 200, skewed=skewed)
        for sampler in ("sliding", samplers.Nearby("paper"))
        for features in FEATURES.values()
        for skewed in (False, True)
    ]
    assert 0.03 <= np.mean(np.concatenate(found) < 0.05) <= 0.06
