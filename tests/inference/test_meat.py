"""Variance of the gradient under shared labels, against loops over all tuples."""

import importlib
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from shared_labels import SAMPLERS, STATISTICS, rows

from multiobs import MultiObservationRegressor, empirical_risk, samplers, statistics
from multiobs.inference.chain import draw_in_graph
from multiobs.inference.gradient import Gradient
from multiobs.inference.meat import positive_or
from multiobs.inference.pairs import pair_row_sums
from multiobs.inference.skewness import of_band, of_pairs
from multiobs.inference.variance import meat
from multiobs.sums.overlaps import Band
from multiobs.sums.scores import slope_of, sum_scores

contract_room = importlib.import_module("multiobs.sums.contraction")
fitting_room = importlib.import_module("multiobs.fit.linear")
gradient_room = importlib.import_module("multiobs.inference.gradient")
variance_room = importlib.import_module("multiobs.inference.variance")


def derivative(statistic, r, c, labels):
    """Derivative of the loss by hand: (r - c)(a r² + b r + d) for roots, else from the kernels."""
    loss = statistic.loss
    Y = labels[None, :]
    if statistic.name == "ucb":
        d, b, a = (float(k(Y)[0]) for k in (loss.constant, loss.linear, loss.quadratic))
        return (r - c) * (a * r * r + b * r + d)
    return float(loss.gradient(np.array([r]), Y)[0])


def loops(statistic, tuples, X, y, w, gamma, weight):
    """V by its definition: products of scores of all pairs of tuples that share a row."""
    listed = tuples.listed()
    scores, members = [], []
    for t in range(listed.count()):
        chosen = listed.members[t]
        place = X[chosen].mean(axis=0) if listed.representative is None else None
        if place is None:
            place = X[listed.representative[t]]
        z = np.append(1.0, place)
        factor = 1.0 if weight is None else float(np.prod(weight[chosen]))
        c = 0.0 if gamma is None else float(gamma @ z)
        scores.append(factor * derivative(statistic, float(w @ z), c, y[chosen]) * z)
        members.append(set(chosen.tolist()))
    V = np.zeros((2, 2))
    for (s, a), (t, b) in product(zip(scores, members, strict=True), repeat=2):
        if a & b:
            V += np.outer(s, t)
    return V


@pytest.fixture
def plain_scores(monkeypatch):
    """Leave the leverage correction out."""
    monkeypatch.setattr(gradient_room, "HIGHEST", 0.0)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("name", STATISTICS)
def test_variance_of_gradient_is_its_definition(name, sampler, weighted, plain_scores):
    statistic = STATISTICS[name]
    X, y = rows(24)
    rng = np.random.default_rng(1)
    weight = rng.uniform(0.5, 2.0, size=24) if weighted else None
    tuples = SAMPLERS[sampler].build(X, statistic.arity, rng)
    w = np.array([0.7, 0.4])
    gamma = np.array([-0.5, 0.2]) if name == "ucb" else None
    Z = np.column_stack([np.ones(24), X])
    found = meat(Gradient(slope_of(statistic.loss, w, gamma), tuples, Z, y, w, weight, 2))
    expected = loops(statistic, tuples, X, y, w, gamma, weight)
    assert_allclose(found.variance(), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("sampler", ["nearby", "nearest"])
@pytest.mark.parametrize("name", ["variance", "ucb", "gini"])
def test_sums_by_rows_equal_listed_pairs(name, sampler, plain_scores, monkeypatch):
    statistic = STATISTICS[name]
    X, y = rows(80)
    tuples = SAMPLERS[sampler].build(X, 2, np.random.default_rng(0))
    w, Z = np.array([0.7, 0.4]), np.column_stack([np.ones(80), X])
    gamma = np.array([-0.5, 0.2]) if name == "ucb" else None
    slope = slope_of(statistic.loss, w, gamma)
    listed = meat(Gradient(slope, tuples.listed(), Z, y, w, None, 2))
    monkeypatch.setattr(contract_room, "FEW", 0)
    summed = meat(Gradient(slope, tuples, Z, y, w, None, 2))
    assert (listed.kind, summed.kind) == ("tuples", "rows")
    assert_allclose(summed.variance(), listed.variance(), rtol=1e-9)
    assert_allclose(summed.naive, listed.naive, rtol=1e-9)


def test_drawn_correction_of_wide_windows_is_unbiased(plain_scores, monkeypatch):
    statistic = statistics.minvar(3)
    X, y = rows(60)
    tuples = samplers.Nearby(0.15).build(X, 4, np.random.default_rng(0))
    w, Z = np.array([0.7, 0.4]), np.column_stack([np.ones(60), X])
    slope = slope_of(statistic.loss, w)
    exact = meat(Gradient(slope, tuples.listed(), Z, y, w, None, 2)).variance()
    monkeypatch.setattr(variance_room, "LISTED", 0)
    drawn = meat(Gradient(slope, tuples, Z, y, w, None, 2))
    assert drawn.kind == "rows"
    assert_allclose(drawn.variance(), exact, rtol=0.1)


@pytest.mark.parametrize("by_anchor", [False, True])
@pytest.mark.parametrize("name", STATISTICS)
def test_scores_add_up_to_the_gradient(name, by_anchor, monkeypatch):
    monkeypatch.setattr(contract_room, "FEW", 0)
    statistic = STATISTICS[name]
    X, y = rows(60)
    tuples = samplers.Nearby(0.2).build(X, statistic.arity, np.random.default_rng(0))
    w, Z = np.array([0.7, 0.4]), np.column_stack([np.ones(60), X])
    gamma = np.array([-0.5, 0.2]) if name == "ucb" else None
    risk = empirical_risk(statistic, tuples, Z, y, reference=gamma)
    slope = slope_of(statistic.loss, w, gamma)
    found = sum_scores(slope, tuples, Z, y, w, None, by_anchor=by_anchor).sum(axis=0)
    times = 1 if by_anchor else statistic.arity
    assert_allclose(found, times * risk.gradient(w), rtol=1e-9)


def brute_triples(s, members, direction):
    """Sums over triples of tuples: those that overlap mutually, and those of which one does."""
    u = s @ direction
    rows = [set(each) for each in members.tolist()]
    t = range(len(rows))
    touch = np.array([[bool(rows[a] & rows[b]) for b in t] for a in t])
    near = touch.astype(int)
    number = near[:, :, None] + near[:, None, :] + near[None, :, :]
    mutual, path = (np.einsum("a,b,c,abc->", u, u, u, number == k) for k in (3, 2))
    return float(mutual), float(path)


@pytest.mark.parametrize("arity", [2, 3])
def test_skewness_of_sliding_windows_sums_over_joined_triples(arity):
    rng = np.random.default_rng(0)
    t = 14
    s = rng.normal(size=(t, 2))
    members = np.arange(t)[:, None] + np.arange(arity)
    place = np.arange(t)
    stop = np.minimum(place + arity, t)
    band = Band(np.maximum(place - arity + 1, 0), stop)
    third = of_band(s, band.spread(s), stop)
    directions = rng.normal(size=(5, 2))
    sums = [brute_triples(s, members, each) for each in directions]
    for which, half in ((0, 0.5), (1, 1.0)):
        expected = [mutual + half * path for mutual, path in sums]
        assert_allclose(third.along(directions)[which], expected)  # by the tensor
        assert_allclose(third.along(directions[:1])[which], expected[:1])  # and without


def test_skewness_of_pairs_sums_over_triples_with_a_common_row():
    rng = np.random.default_rng(1)
    members = np.array([[0, 1], [1, 2], [1, 3], [3, 4], [4, 5], [6, 7], [5, 8]])  # no triangle
    s = rng.normal(size=(len(members), 2))
    g = np.zeros((9, 2))
    np.add.at(g, members, s[:, None, :])
    directions = rng.normal(size=(3, 2))
    expected = [brute_triples(s, members, each)[0] for each in directions]
    found = of_pairs(g, s, np.ones(len(members)), 1.0)
    assert_allclose(found.along(directions), [expected, expected])
    # a pair that is listed from both ends, half its score each time
    halves = np.concatenate([s, s[:1] / 2])
    halves[0] /= 2
    times = np.ones(len(halves))
    times[[0, -1]] = 2.0
    again = of_pairs(g, halves, times, 1.0)
    assert_allclose(again.along(directions), [expected, expected])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_pair_sums_of_rows_equal_the_sums_over_listed_pairs(weighted, offset):
    rng = np.random.default_rng(3)
    x, y = rng.uniform(size=9000), rng.normal(size=9000) + offset
    tuples = samplers.Nearby(0.001).build(x[:, None], 2, rng, None)
    weight = rng.uniform(0.5, 1.5, size=9000) if weighted else None
    kernel = statistics.variance().loss.kernels[1]
    members = tuples.listed().members
    value = kernel(y[members])
    if weight is not None:
        value = value * weight[members].prod(axis=1)
    expected = np.bincount(members.ravel(), np.repeat(value, 2), minlength=9000)
    found = pair_row_sums(tuples, kernel, y, weight)
    assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


def test_tuples_drawn_in_a_graph_share_two_rows_with_those_given():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(40, 2))
    graph = samplers.Nearest(5).build(X, 4, rng, None)
    listed = [frozenset(each) for each in graph.listed().members.tolist()]
    drawn = graph.sample(200, np.random.default_rng(1))
    chain = draw_in_graph(graph, drawn, np.random.default_rng(2))
    for chosen, number, given, other in zip(
        chain.rows, chain.number, drawn.members, chain.other.members, strict=True
    ):
        shared = frozenset(chosen.tolist())
        assert number == sum(shared <= each for each in listed)
        assert shared <= set(given.tolist())
        assert shared <= set(other.tolist())
        assert frozenset(other.tolist()) in listed


def test_an_estimate_that_is_nowhere_positive_gives_no_certainty():
    whole = np.array([[2.0, 0.5], [0.5, 1.0]])
    assert_allclose(positive_or(-whole, whole), whole)
    mixed = np.diag([1.0, -1.0])
    assert_allclose(positive_or(mixed, whole), np.diag([1.0, 0.0]), atol=1e-15)


def test_errors_of_few_rows_are_never_zero():
    """Fourth cumulants of 300 rows: in these the correction takes more than there is."""
    for seed in (137, 147):
        rng = np.random.default_rng(seed)
        x = rng.random(300)
        y = np.sin(6 * x) + rng.normal(size=300) * (1 + x)
        model = MultiObservationRegressor(statistics.cumulant(4), transport=None)
        assert np.all(np.diag(model.fit(x[:, None], y).coef_cov_) > 0)
