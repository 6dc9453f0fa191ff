"""Errors of fits whose tuples are pooled, each anchor's at one place, and of x with a long tail."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.preprocessing import SplineTransformer

from multiobs import MultiObservationRegressor, samplers, statistics
from multiobs.inference.sandwich import gradient_of, means_over_members
from multiobs.tuples import Graph, Windows

# a spline may dip below zero at the ends; that is not what is tested here
pytestmark = pytest.mark.filterwarnings("ignore:.* lies in:UserWarning")


def table(n, seed):
    """Rows whose x has a long tail, with skewed labels."""
    rng = np.random.default_rng(seed)
    x = rng.beta(1.0, 4.0, size=(n, 1))
    return x, 2.0 * np.sin(4.0 * x[:, 0]) + (0.5 + x[:, 0]) * rng.gamma(2.0, size=n)


@pytest.mark.parametrize("arity", [2, 3, 4])
@pytest.mark.parametrize("kind", ["windows", "graph"])
def test_means_over_the_tuples_of_a_row(kind, arity):
    rng = np.random.default_rng(arity)
    values = rng.normal(size=(9, 2))
    if kind == "windows":
        order = rng.permutation(9)
        stop = np.array([3, 5, 5, 6, 7, 7, 8, 8, 9])  # some anchors have too few partners
        tuples = Windows(order, stop, arity)
        partners = {order[i]: order[i + 1 : stop[i]] for i in range(9)}
    else:
        indptr = np.array([0, 4, 6, 9, 9, 12, 15, 18, 20, 23])
        chosen = [
            rng.choice(np.delete(np.arange(9), i), size, replace=False)
            for i, size in enumerate(np.diff(indptr))
        ]
        tuples = Graph(indptr, np.concatenate(chosen), arity)
        partners = dict(enumerate(chosen))
    seen = {row: [] for row in range(9)}
    for anchor, others in partners.items():
        for rest in combinations(others, arity - 1):
            for row in (anchor, *rest):
                seen[row].append(values[anchor])
    expected = [np.mean(seen[row], axis=0) if seen[row] else values[row] for row in range(9)]
    assert_allclose(means_over_members(tuples, values), expected)


@pytest.mark.parametrize("statistic", ["variance", "ucb", statistics.minvar(2)], ids=str)
@pytest.mark.parametrize("sampler", [samplers.Adjacent(12), samplers.Nearest(11)], ids=str)
@pytest.mark.parametrize("transport", [None, "location-scale"])
def test_scores_of_tuples_sum_to_the_gradient(statistic, sampler, transport, monkeypatch):
    for limit in ("POOL_ABOVE", "POOL_NEAR"):
        monkeypatch.setattr(f"multiobs.fit.linear.{limit}", 100)
    X, y = table(150, 0)
    X = np.sqrt(X)  # no tail: a bound has no root where a spline sees few rows
    model = MultiObservationRegressor(
        statistic, sampler, features=SplineTransformer(4), transport=transport
    ).fit(X, y)
    fit = model.result_
    assert fit.pooled
    w = fit.w + 0.1
    found = gradient_of(fit, w).scores(fit.problem.tuples.listed()).sum(axis=0)
    size = np.abs(fit.risk.hessian(w)).max()
    if transport is None:  # the size of a loss divided by its spread is that of the members
        assert_allclose(found, fit.risk.gradient(w), atol=1e-9 * size)
    else:
        assert_allclose(found, fit.risk.gradient(w), atol=0.02 * size)


def test_errors_of_wide_tuples_are_those_of_a_row_bootstrap():
    """A spline with knots where few rows lie: its middle is as well known as before."""
    X, y = table(400, 1)
    at = np.array([[0.05], [0.15], [0.3]])
    model = MultiObservationRegressor(
        statistics.minvar(4), samplers.Adjacent(24), features=SplineTransformer(5), transport=None
    )
    known = model.fit(X, y).inference_.standard_errors(at)
    assert model.result_.pooled
    rng = np.random.default_rng(0)
    drawn = [
        model.fit(X, y, sample_weight=rng.exponential(size=400)).predict(at) for _ in range(60)
    ]
    ratio = known / np.std(drawn, axis=0, ddof=1)
    assert np.all((ratio > 0.6) & (ratio < 1.6)), ratio
