"""Sums over listed tuples of many features: the same numbers as with their features formed."""

import time
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose

from multiobs import MultiObservationRegressor, contract, empirical_risk, plan, samplers, statistics
from multiobs.statistics.kernels import OrderStatistic
from multiobs.sums import TupleFeatures, distinct, features_of, few_pairs, joined, pool, wide
from multiobs.sums.scores import slope_of, sum_scores
from multiobs.tuples import Tuples, Windows

MEAN = statistics.mean_of(lambda Y: np.abs(Y).sum(axis=1), 2)  # listed, whatever the sampler


def listed(m, representative, rng, n=30, t=80):
    members = np.stack([rng.permutation(n)[:m] for _ in range(t)]).astype(np.int64)
    where = rng.integers(0, n, t) if representative else None
    return Tuples(members, n, where)


@pytest.mark.parametrize("representative", [False, True])
@pytest.mark.parametrize("m", [1, 2, 3, 5])
def test_sums_are_those_of_formed_features(m, representative, monkeypatch):
    monkeypatch.setattr(joined, "ENTRIES", 64)  # several parts
    rng = np.random.default_rng(m)
    tuples = listed(m, representative, rng)
    Z, v, w = rng.normal(size=(30, 4)), rng.normal(size=80), rng.normal(size=4)
    z, found = features_of(tuples, Z), TupleFeatures(tuples, Z)
    assert_allclose(found.forms(w), z @ w, rtol=1e-12, atol=1e-12)
    assert_allclose(found.total(v), v @ z, rtol=1e-12, atol=1e-12)
    assert_allclose(found.gram(v), (z * v[:, None]).T @ z, rtol=1e-12, atol=1e-12)
    for by_anchor in (False, True):
        known = np.zeros((30, 4))
        for a in range(1 if by_anchor else m):
            np.add.at(known, tuples.members[:, a], v[:, None] * z)
        assert_allclose(found.by_row(v, by_anchor), known, rtol=1e-12, atol=1e-12)
    held = found.fixed(-2.0)
    assert_allclose(held.forms(w[:3]), z @ [*w[:3], -2.0], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_tuples_of_several_trees_are_named_once(weighted):
    rng = np.random.default_rng(0)
    members = np.stack([rng.permutation(6)[:3] for _ in range(200)]).astype(np.int64)
    tuples = Tuples(members, 6, None, rng.uniform(size=200) if weighted else None)
    once = distinct(tuples)
    assert once.count() == 20
    assert_allclose(once.membership_counts(), tuples.membership_counts())
    assert distinct(once) is once


@pytest.mark.parametrize("statistic", ["variance", "minvar", "ucb", "gini_mean_difference"])
def test_both_ways_fit_the_same(statistic, monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(150, 18))
    y = rng.normal(size=150) * (1 + X[:, 0]) + X[:, 1]

    def fitted():
        model = MultiObservationRegressor(statistic, random_state=0).fit(X, y)
        return model.predict(X), model.inference_.standard_errors(X[:9])

    found = fitted()
    monkeypatch.setattr(joined, "PAIRS_A_PLACE", -1)
    for one, other in zip(found, fitted(), strict=True):
        assert_allclose(one, other, rtol=1e-8)


def test_a_plan_tells_it():
    windows = Windows(np.arange(60_000), np.minimum(np.arange(60_000) + 9, 60_000), arity=2)
    assert few_pairs(windows)
    kernel = OrderStatistic([1.0, 0.0])
    assert plan(windows, kernel, 1).branch == "rank tree"
    assert plan(windows, kernel, 1, True, wide.WIDE + 1).branch == "list"
    assert plan(windows, kernel, 1, features=wide.WIDE).branch == "rank tree"
    everyone = Windows(np.arange(60_000), np.full(60_000, 60_000), arity=2)
    assert plan(everyone, kernel, 1, True, 200).branch == "rank tree"
    with pytest.raises(ValueError, match="features must be"):
        plan(windows, kernel, features=-1)


@pytest.mark.parametrize("k", [0, 1, 2])
def test_contractions_of_kernels_without_a_fast_sum(k):
    rng = np.random.default_rng(5)
    Z, y = rng.normal(size=(40, 20)), rng.normal(size=40)
    tuples = samplers.Nearest(3).build(Z[:, :1], 2, rng, None)
    z, h = features_of(tuples.listed(), Z), MEAN.psi(y[tuples.listed().members])
    known = [h.sum(), h @ z, (z * h[:, None]).T @ z][k]
    assert_allclose(contract(tuples, MEAN.psi, Z, y, k), known, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("by_anchor", [False, True])
def test_scores_of_a_loss_without_terms(by_anchor, monkeypatch):
    rng = np.random.default_rng(6)
    Z, y, w = rng.normal(size=(40, 4)), rng.normal(size=40), rng.normal(size=4)
    tuples = samplers.Nearest(3).build(Z[:, :1], 2, rng, None)
    slope = slope_of(statistics.ucb(2.0).loss, w)  # without a level: every tuple is looked at
    known = sum_scores(slope, tuples, Z, y, w, None, by_anchor=by_anchor)
    monkeypatch.setattr(wide, "WIDE", 3)
    found = sum_scores(slope, tuples, Z, y, w, None, by_anchor=by_anchor)
    assert_allclose(found, known, rtol=1e-10, atol=1e-10 * np.abs(known).max())


def test_the_risk_of_any_loss(monkeypatch):
    def gap(r, Y):
        return r - Y.mean(axis=1)

    loss = statistics.from_loss(
        lambda r, Y: np.cosh(gap(r, Y)), lambda r, Y: np.sinh(gap(r, Y)),
        lambda r, Y: np.cosh(gap(r, Y)), 2,
    )  # fmt: skip
    rng = np.random.default_rng(8)
    Z, y, w = rng.normal(size=(40, 4)), rng.normal(size=40), rng.normal(size=4) / 4
    weight, tuples = rng.uniform(size=40), samplers.Nearest(3).build(Z[:, :1], 2, rng, None)
    known = empirical_risk(loss, tuples, Z, y, weight=weight)
    monkeypatch.setattr(wide, "WIDE", 3)
    found = empirical_risk(loss, tuples, Z, y, weight=weight)
    for one, other, at in ((found, known, w), (found.fixed(-0.5), known.fixed(-0.5), w[:3])):
        assert one.n_coefficients == other.n_coefficients
        assert_allclose(one.value(at), other.value(at), rtol=1e-12)
        assert_allclose(one.gradient(at), other.gradient(at), rtol=1e-10, atol=1e-12)
        assert_allclose(one.hessian(at), other.hessian(at), rtol=1e-10, atol=1e-12)


def test_pooling_by_blocks_of_columns(monkeypatch):
    rng = np.random.default_rng(7)
    X, y = np.round(rng.uniform(size=(60, 20)), 1), rng.normal(size=60)
    X[30:45] = X[:15]  # rows of equal x
    order = np.concatenate([rng.permutation(60) for _ in range(3)])  # leaves of three trees
    stop = np.repeat(np.arange(10, 181, 10), 10)
    windows = Windows(order, stop, 2, 60)
    kernels = [statistics.variance().psi, OrderStatistic([1.0, 0.0])]
    known = pool(windows, kernels, X, y)
    monkeypatch.setattr("multiobs.sums.pooling.COLUMNS", 3)
    monkeypatch.setattr("multiobs.sums.pooling.AT_ONCE", 1)
    found = pool(windows, kernels, X, y)
    for name in ("x", "weight", "values", "anchors"):
        assert_allclose(getattr(found, name), getattr(known, name), rtol=1e-12, atol=1e-12)


def peak_of(statistic, n, p):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n, p))
    y = rng.normal(size=n) * (1 + X[:, 0])
    model = MultiObservationRegressor(statistic, random_state=0)
    model.fit(X[:100, :20], y[:100]).predict_interval(X[:5, :20])  # modules are loaded once
    start = time.process_time()
    model.fit(X, y).predict_interval(X)
    seconds = time.process_time() - start
    tracemalloc.start()
    model.fit(X, y).predict_interval(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return seconds, peak / (X.nbytes + y.nbytes)


def test_no_array_of_tuples_by_features_is_formed():
    rng = np.random.default_rng(0)
    n, p = 3000, 100
    Z, y, w = rng.normal(size=(n, p)), rng.normal(size=n), rng.normal(size=p)
    windows = Windows(np.arange(n), np.minimum(np.arange(n) + 21, n), arity=2)
    slope = slope_of(statistics.variance().loss, w)
    tracemalloc.start()
    sum_scores(slope, windows, Z, y, w, None)
    contract(windows, OrderStatistic([1.0, 0.0]), Z, y, 2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < windows.count() * p * 8


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("statistic", ["variance", "minvar", "ucb"])
def test_two_hundred_columns(statistic):
    """The aim: fitted with intervals in 10 seconds and 20 times the input."""
    seconds, times = peak_of(statistic, 2000, 200)
    assert seconds < 10
    assert times < 20
