"""Many features: sums by matrix products equal those over listed tuples, and stay small."""

import importlib
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose

from multiobs import MultiObservationRegressor, samplers, statistics
from multiobs.statistics.kernels import constant
from multiobs.sums.contraction import contract
from multiobs.sums.scores import Slope, Term, sum_scores
from multiobs.tuples import Windows

wide = importlib.import_module("multiobs.sums.wide")


def leaves(n, arity, rng):
    """Rows that recur, in the leaves of three trees."""
    codes = rng.integers(0, 4, size=(n, 3))
    return samplers.Leaves(codes).build(np.zeros((n, 1)), arity, rng, None)


def tuples_of(kind, n, arity, rng):
    x = np.round(rng.uniform(size=(n, 1)), 2)  # with ties
    if kind == "windows":
        return samplers.Nearby(0.1).build(x, arity, rng, None)
    if kind == "graph":
        return samplers.Nearest(4).build(rng.uniform(size=(n, 2)), arity, rng, None)
    return leaves(n, arity, rng)


KERNELS = {
    "variance": statistics.variance().psi,
    "fourth": statistics.central_moment(4).psi,
    "third": statistics.cumulant(3).psi,
    "count": constant(1.0, 3),
    "square": statistics.squared_cv().chi,
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["windows", "graph", "leaves"])
@pytest.mark.parametrize("name", KERNELS)
def test_wide_sums_are_those_of_listed_tuples(name, kind, weighted):
    kernel, rng = KERNELS[name], np.random.default_rng(0)
    n, p = 30, 5
    tuples = tuples_of(kind, n, kernel.arity, rng)
    Z = np.column_stack([np.ones(n), rng.normal(size=(n, p - 1))])
    offset = 0.0 if name == "square" else 1e3
    y = offset + rng.normal(size=(n, 1))
    weight = rng.uniform(0.5, 2.0, size=n) if weighted else None
    expected = contract(tuples, kernel, Z, y, 2, weight=weight, branch="list")
    found = wide.pair_total(tuples, kernel, Z, y, weight)
    assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    v = rng.normal(size=p)
    listed = tuples.listed()
    for form, forms in ((None, ()), (v, (v,))):
        slope = Slope((Term(kernel, forms),))
        expected = sum_scores(slope, listed, Z, y, v, weight)
        found = wide.row_totals(tuples, kernel, Z, form, y, weight)
        assert_allclose(found, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())
        expected = sum_scores(slope, listed, Z, y, v, weight, by_anchor=True)
        found = wide.row_totals(tuples, kernel, Z, form, y, weight, by_anchor=True)
        assert_allclose(found, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("k", [0, 1, 2])
def test_contract_takes_the_wide_branch_for_many_columns(k, monkeypatch):
    rng = np.random.default_rng(1)
    n = 400
    tuples = Windows(np.arange(n), np.minimum(np.arange(n) + 9, n), arity=2)
    Z, y = rng.normal(size=(n, 6)), rng.normal(size=n)
    kernel = statistics.variance().psi
    narrow = contract(tuples, kernel, Z, y, k)
    monkeypatch.setattr(wide, "WIDE", 3)
    assert_allclose(contract(tuples, kernel, Z, y, k), narrow, rtol=1e-9)


def test_chunks_do_not_change_wide_sums(monkeypatch):
    rng = np.random.default_rng(2)
    n = 3000
    tuples = Windows(np.arange(n), np.minimum(np.arange(n) + 9, n), arity=2)
    Z, y = rng.normal(size=(n, 4)), rng.normal(size=(n, 1))
    kernel, v = statistics.variance().psi, rng.normal(size=4)
    whole = wide.row_totals(tuples, kernel, Z, v, y, None)
    monkeypatch.setattr(wide, "_largest", lambda Z: 64)
    assert_allclose(wide.row_totals(tuples, kernel, Z, v, y, None), whole, rtol=1e-9)


@pytest.mark.filterwarnings("ignore:neighbours are:UserWarning")
@pytest.mark.filterwarnings("ignore:.* lies in:UserWarning")
@pytest.mark.parametrize("statistic", ["variance", "minvar"])
def test_a_wide_table_is_fitted_with_intervals_in_little_memory(statistic):
    """Six tenths of what an array of p³ numbers alone would take."""
    rng = np.random.default_rng(0)
    n, p = 250, 150
    X, y = rng.normal(size=(n, p)), rng.normal(size=n)
    model = MultiObservationRegressor(statistic, samplers.Nearest(4), transport=None)
    model.fit(X[:60, :3], y[:60]).predict_interval(X[:5, :3])  # modules are loaded once
    tracemalloc.start()
    interval = model.fit(X, y).predict_interval(X[:5])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert np.all(np.isfinite(interval))
    assert peak < 0.6 * 8 * p**3
