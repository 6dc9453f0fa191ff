"""Risks of high degree without tensors of the coefficients: the same numbers, in little memory."""

import importlib
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose

from multiobs import MultiObservationRegressor, empirical_risk, samplers, statistics
from multiobs.fit.anchor_risk import joined_risk
from multiobs.fit.folded_risk import folded_risk, folds
from multiobs.sums.scores import slope_of, sum_scores

joined = importlib.import_module("multiobs.sums.joined")
wide = importlib.import_module("multiobs.sums.wide")

STATISTICS = {
    "ucb": statistics.ucb(2.0),
    "cubic": statistics.ucb(1.0, loss="cubic"),
    "deviation": statistics.standard_deviation(),
}


def tuples_of(kind, n, rng):
    x = np.round(rng.uniform(size=(n, 1)), 2)  # with ties
    sampler = {
        "windows": samplers.Nearby(0.1),
        "graph": samplers.Nearest(4),
        "listed": samplers.Naive(),
    }[kind]
    return sampler.build(x, 2, rng, None)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["windows", "graph", "listed"])
@pytest.mark.parametrize("name", STATISTICS)
def test_it_is_the_risk_of_the_tensors(name, kind, weighted):
    rng = np.random.default_rng(0)
    n, p, statistic = 60, 4, STATISTICS[name]
    tuples = tuples_of(kind, n, rng)
    Z = np.column_stack([np.ones(n), rng.normal(size=(n, p - 1))])
    y, w = rng.normal(size=n), rng.normal(size=p)
    weight = rng.uniform(0.5, 2.0, size=n) if weighted else None
    has_level = any(part.above_level for part in statistic.loss.derivative)
    level = rng.normal(size=p) if has_level else None
    given = statistic.loss, tuples, Z, y
    known = empirical_risk(*given, weight=weight, reference=level)
    for found in (folded_risk(*given, weight, level), joined_risk(*given, weight, level)):
        same_risk(found, known, w)
    held = known.fixed(-1.0)
    for way in (folded_risk, joined_risk):
        same_risk(way(*given, weight, level, held=-1.0), held, w[1:])


def same_risk(found, known, w):
    size = abs(known.value(w)) + np.abs(known.gradient(w)).max()
    assert_allclose(found.value(w), known.value(w), rtol=1e-9, atol=1e-9 * size)
    assert_allclose(found.gradient(w), known.gradient(w), rtol=1e-9, atol=1e-9 * size)
    assert_allclose(found.hessian(w), known.hessian(w), rtol=1e-9, atol=1e-9 * size)
    one = np.eye(w.size)[0]
    assert_allclose(found.start(one), known.start(one), rtol=1e-6)


@pytest.mark.parametrize("kind", ["windows", "graph"])
def test_scores_of_rows_are_those_of_listed_tuples(kind, monkeypatch):
    monkeypatch.setattr(joined, "PAIRS_A_PLACE", 0)
    rng = np.random.default_rng(1)
    n, p = 300, 4
    tuples = tuples_of(kind, n, rng)
    Z, y = rng.normal(size=(n, p)), rng.normal(size=n)
    w, level = rng.normal(size=p), rng.normal(size=p)
    slope = slope_of(statistics.ucb(2.0).loss, w, level)
    expected = sum_scores(slope, tuples.listed(), Z, y, w, None)
    monkeypatch.setattr(wide, "WIDE", 3)
    found = sum_scores(slope, tuples, Z, y, w, None)
    assert_allclose(found, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("pairs", [0, 64])
def test_a_fit_is_the_same_on_both_ways(pairs, monkeypatch):
    monkeypatch.setattr(joined, "PAIRS_A_PLACE", pairs)
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 3))
    y = rng.normal(size=400) * (1.5 + np.tanh(X[:, 0]))

    def fitted():
        return MultiObservationRegressor("ucb", random_state=0).fit(X, y)

    known = fitted()
    monkeypatch.setattr(wide, "WIDE", 2)
    assert folds(statistics.ucb(1.0).loss, np.zeros((9, 4)), np.zeros(4))
    found = fitted()
    assert_allclose(found.predict(X), known.predict(X), rtol=1e-6)
    assert_allclose(found.predict_interval(X[:9]), known.predict_interval(X[:9]), rtol=1e-5)


@pytest.mark.filterwarnings("ignore:neighbours are:UserWarning")
@pytest.mark.filterwarnings("ignore:ucb:sklearn.exceptions.ConvergenceWarning")
def test_no_tensor_of_the_coefficients_is_formed():
    """A twentieth of what an array of p⁴ numbers alone would take."""
    rng = np.random.default_rng(0)
    n, p = 300, 100
    X, y = rng.normal(size=(n, p)), rng.normal(size=n)
    model = MultiObservationRegressor("ucb", samplers.Nearest(4), transport=None)
    model.fit(X[:60, :3], y[:60]).inference_.standard_errors(X[:5, :3])  # modules are loaded once
    tracemalloc.start()
    errors = model.fit(X, y).inference_.standard_errors(X[:5])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert np.all(np.isfinite(errors))
    assert peak < 8 * p**4 / 20


@pytest.mark.filterwarnings("ignore:neighbours are:UserWarning")
@pytest.mark.filterwarnings("ignore:ucb:sklearn.exceptions.ConvergenceWarning")
def test_nor_by_a_joint_test():
    rng = np.random.default_rng(0)
    n, p = 300, 60
    X, y = rng.normal(size=(n, p)), rng.normal(size=n)
    model = MultiObservationRegressor("ucb", samplers.Nearest(4), transport=None)
    model.fit(X[:100, :3], y[:100]).test_constant()  # modules are loaded once
    model.fit(X, y)
    tracemalloc.start()
    found = model.test_constant()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 0 <= found.p_value <= 1
    assert peak < 8 * p**4 / 5
