"""Corrections of small samples against values found by hand or by counting."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.special import expit, logit
from sklearn.linear_model import LinearRegression

from multiobs import MultiObservationRegressor, samplers, statistics
from multiobs.fit import regressor, roots
from multiobs.inference import Skewness, bootstrap, limits, wald
from multiobs.inference.chain import Chain, draw_in_graph
from multiobs.inference.gradient import Gradient, inflation
from multiobs.inference.meat import Meat, positive_part
from multiobs.inference.meat_of_rows import _touching
from multiobs.inference.sandwich import degrees_of_freedom
from multiobs.inference.variance import meat
from multiobs.sums.overlaps import Independent
from multiobs.sums.scores import slope_of
from multiobs.tuples import Windows


def test_degrees_of_freedom_by_hand():
    """Shares 1/14, 4/14, 9/14 of a variance: 2 (Σq)² / Σ(q - 1/3)² with one coefficient."""
    u = np.array([[1.0], [2.0], [3.0]])
    V = u.T @ u
    found = Meat(u, Independent(), np.zeros((1, 1)), V, "rows", u, np.arange(3))
    q = np.array([1.0, 4.0, 9.0]) / 14
    expected = 2.0 / np.sum((q - 1 / 3) ** 2)
    assert expected > 3  # three units have no more than three degrees of freedom
    assert degrees_of_freedom(found, V) == 3.0
    u = np.concatenate([u, np.full((20, 1), 0.1)])
    V = u.T @ u
    q = u[:, 0] ** 2 / V[0, 0]
    expected = 2.0 / np.sum((q - q.mean()) ** 2)
    many = Meat(u, Independent(), np.zeros((1, 1)), V, "rows", u, np.arange(u.size))
    assert_allclose(degrees_of_freedom(many, V), expected)
    assert 1.0 < expected < 23.0


def test_degrees_of_freedom_are_averaged_over_directions():
    """Two coefficients with a unit each way: shares add up to two, not one."""
    rng = np.random.default_rng(0)
    u = rng.exponential(size=(40, 2)) ** 2
    V = u.T @ u
    q = np.einsum("ia,ab,ib->i", u, np.linalg.inv(V), u)
    expected = 2.0 / 2 * 2.0**2 / np.sum((q - q.mean()) ** 2)
    assert 1.0 < expected < 40.0
    found = Meat(u, Independent(), np.zeros((2, 2)), V, "rows", u, np.arange(40))
    assert_allclose(degrees_of_freedom(found, V), expected)


def test_one_hypothesis_by_hand():
    cov = np.array([[4.0, 1.0], [1.0, 9.0]])
    found = wald(np.array([2.0, 5.0]), cov, np.array([[1.0, -1.0]]), np.array([1.0]), 7.0, "b")
    assert_allclose(found.statistic, (2.0 - 5.0 - 1.0) ** 2 / (4 + 9 - 2))
    assert (found.df_num, found.df_denom) == (1, 7.0)


def test_two_hypotheses_by_hand():
    """F is Wald's quadratic form per hypothesis; a third that follows from two adds nothing."""
    estimate, q = np.array([2.0, 5.0]), np.array([1.0, 1.0])
    cov = np.array([[4.0, 1.0], [1.0, 9.0]])
    gap = estimate - q
    det = 4.0 * 9.0 - 1.0
    form = (9.0 * gap[0] ** 2 - 2.0 * gap[0] * gap[1] + 4.0 * gap[1] ** 2) / det
    found = wald(estimate, cov, np.eye(2), q, 7.0, "b")
    assert_allclose(found.statistic, form / 2)
    assert_allclose(found.p_value, stats.f.sf(form / 2, 2, 7.0))
    again = wald(
        estimate, cov, np.array([[1.0, 0], [0, 1], [1, 1]]), np.array([1.0, 1, 2]), 7.0, "b"
    )
    assert again.df_num == 2
    assert_allclose(again.statistic, form / 2)


def test_tuples_that_touch_a_tuple_are_counted_once():
    """All triples of eight rows: C(8, 3) - C(5, 3) share a row with a given one."""
    n, m = 8, 3
    windows = Windows(np.arange(n), np.full(n, n), arity=m)
    drawn = windows.listed()
    chain = Chain.draw(windows, drawn, np.random.default_rng(0))
    counts = windows.membership_counts()
    assert_allclose(counts, comb(n - 1, m - 1))
    found = _touching(windows, counts, counts, chain)
    assert_allclose(found, comb(n, m) - comb(n - m, m), rtol=0.05)
    assert_allclose(_touching(windows, counts, counts, None), m * counts)


@pytest.mark.parametrize("kind", ["windows", "graph"])
def test_drawn_double_counts_have_the_total_of_all(kind):
    """Σ (o - 1) over pairs of tuples with o ≥ 2 common rows, itself included."""
    rng = np.random.default_rng(1)
    x = rng.uniform(size=(20, 1))
    sampler = samplers.Nearby(0.3) if kind == "windows" else samplers.Nearest(5)
    tuples = sampler.build(x, 3, rng, None)
    listed = tuples.listed()
    sets = [set(each) for each in listed.members.tolist()]
    expected = sum(max(len(a & b) - 1, 0) for a in sets for b in sets)
    draw = Chain.draw if kind == "windows" else draw_in_graph
    totals = [draw(tuples, listed, np.random.default_rng(seed)).factor.sum() for seed in range(40)]
    assert_allclose(np.mean(totals), expected, rtol=0.03)


def test_leverage_multiplies_weights_within_a_tuple():
    """Two clouds of rows, one of weight three: sliding pairs there count nine times."""
    rng = np.random.default_rng(2)
    x = np.concatenate([np.linspace(0, 1, 8), np.linspace(100, 101, 6)])
    y, weight = rng.normal(size=14), np.repeat([1.0, 3.0], [8, 6])
    tuples = samplers.Nearby(0.21).build(x[:, None], 2, rng, None)
    members = [(a, b) for a, b in combinations(range(14), 2) if abs(x[a] - x[b]) <= 0.21]
    w, Z = np.array([0.5, 0.1]), np.column_stack([np.ones(14), x / 100])
    gradient = Gradient(slope_of(statistics.variance().loss, w), tuples, Z, y, w, weight, 2)
    found = meat(gradient)
    z = np.array([(Z[a] + Z[b]) / 2 for a, b in members])
    times = np.array([weight[a] * weight[b] for a, b in members])
    score = np.array([2 * (z @ w)[t] - (y[a] - y[b]) ** 2 for t, (a, b) in enumerate(members)])
    s = z * (times * score)[:, None]
    touch = np.array([[bool({*a} & {*b}) for b in members] for a in members], dtype=float)
    info = np.linalg.inv((z * times[:, None]).T @ z)
    h = (touch @ times) * np.einsum("ta,ab,tb->t", z, info, z)
    assert 0.05 < h.min() < h.max() < 0.8
    plain = np.zeros((14, 2))
    for (a, b), each in zip(members, s, strict=True):
        plain[a] += each
        plain[b] += each
    kept = s / np.sqrt(1 - h)[:, None]
    expected = kept.T @ touch @ kept
    assert found.kind in ("rows", "anchors")
    assert_allclose(found.variance(), expected, rtol=0.2)
    assert_allclose(found.naive, s.T @ s)


@pytest.mark.parametrize("arity", [2, 3])
def test_windows_of_heavy_rows_have_the_leverage_of_their_products(arity):
    """The mean of two groups, one of weight two: a window of m rows there counts 2^m times."""
    rng = np.random.default_rng(4)
    y, weight = rng.exponential(size=24), np.repeat([1.0, 2.0], [12, 12])
    groups, x = np.repeat([0, 1], 12), np.arange(24.0)[:, None]
    tuples = samplers.SlidingWindow().build(x, arity, rng, groups)
    w, Z = np.array([0.4]), np.ones((24, 1))
    loss = statistics.minvar(arity - 1).loss
    found = meat(Gradient(slope_of(loss, w), tuples, Z, y, w, weight, 1))
    starts = [*range(13 - arity), *range(12, 25 - arity)]
    members = [range(a, a + arity) for a in starts]
    times = np.array([2.0 ** (arity * (a >= 12)) for a in starts])
    score = np.array([2 * (0.4 - min(y[list(each)])) for each in members]) * times
    touch = np.array([[len({*a} & {*b}) > 0 for b in members] for a in members], dtype=float)
    h = touch @ times / times.sum()
    assert h.max() < 0.8
    kept = score / np.sqrt(1 - h)
    assert_allclose(found.variance(), [[kept @ touch @ kept]], rtol=1e-10)


def test_inflation_is_hc2():
    assert_allclose(inflation(np.array([0.0, 0.36, 5.0]))[:, 0], [1.0, 1.25, 5.0**0.5])


def test_limits_in_a_bounded_domain_remove_the_skewness_of_their_scale():
    """Log-odds bend an estimate at share p of the domain by se (1 - 2p) / (p (1 - p))."""
    low, high, centre, error = -1.0, 3.0, 0.2, 0.3
    share = (centre - low) / (high - low)
    spread = error / ((high - low) * share * (1 - share))
    bend = 1.5 * spread * (1 - 2 * share)
    skewness = Skewness(np.array([bend]), np.array([0.0]))
    at, spreads = np.array([centre]), np.array([error])
    found = limits(at, spreads, np.inf, 0.95, "auto", (low, high), skewness=skewness)[0]
    odds = logit((found - low) / (high - low))
    assert_allclose(odds.mean(), logit(share), rtol=1e-9)  # nothing is left to bend
    reach = 1.959963984540054 * spread
    ends = low + (high - low) * expit(logit(share) + np.array([-reach, reach]))
    assert_allclose(found, ends, rtol=1e-9)


def test_positive_part_keeps_what_is_positive():
    V = np.array([[2.0, 1.0], [1.0, 3.0]])
    assert positive_part(V) is V
    bad = np.diag([4.0, -1.0])
    assert_allclose(positive_part(bad), np.diag([4.0, 0.0]), atol=1e-12)


def test_few_newton_steps_from_the_fit_are_a_replicate_of_a_bound(monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.random((200, 1))
    y = X[:, 0] + (0.5 + X[:, 0]) * rng.normal(size=200)
    model = MultiObservationRegressor("ucb", estimator=LinearRegression(), random_state=0)
    result = model.fit(X, y).result_
    fits = []
    honest = regressor._fit_once
    monkeypatch.setattr(regressor, "_fit_once", lambda *a: fits.append(1) or honest(*a))
    at = np.array([[0.2], [0.8]])
    seed = np.random.SeedSequence(0)
    one = bootstrap.replicate(result, 20, seed, None).standard_errors(at)
    assert len(fits) == 20 * roots.NEAR
    whole = bootstrap.fit_regressor
    monkeypatch.setattr(bootstrap, "fit_regressor", lambda *a: whole(*a[:3]))
    many = bootstrap.replicate(result, 20, np.random.SeedSequence(0), None).standard_errors(at)
    assert len(fits) > 20 * (roots.NEAR + 4)
    np.testing.assert_allclose(one, many, rtol=0.15)
