"""Neighbours in several columns: one definition of near, and rows of equal x as one node."""

import tracemalloc
from itertools import product

import numpy as np
import pytest

from multiobs import MultiObservationRegressor, statistics
from multiobs.samplers import Nearby, Nearest, neighbours, paper_epsilon
from multiobs.tuples import Graph, Windows


def partners(sampler, X, seed=0):
    graph = sampler.build(X, 2, np.random.default_rng(seed))
    assert isinstance(graph, Graph)
    return [
        set(graph.indices[graph.indptr[i] : graph.indptr[i + 1]].tolist()) for i in range(len(X))
    ]


@pytest.mark.parametrize("side", [1.0, 0.1, 1 / 3, 0.7])
def test_the_centre_of_a_cube_has_its_eight_corners(side):
    corners = np.array(list(product((0.0, side), repeat=3)))
    X = np.vstack([corners, np.full((1, 3), side / 2)])
    assert partners(Nearest(1, scale="none"), X)[8] == set(range(8))


@pytest.mark.parametrize("step", [1.0, 0.1, 0.3])
@pytest.mark.parametrize("k", [1, 3, 5, 9])
def test_no_row_of_a_lattice_gets_fewer_than_k(step, k):
    X = step * np.array(list(product(range(9), repeat=2)), dtype=float)
    X = np.vstack([X, X[::7]])  # and some rows twice
    found = partners(Nearest(k, scale="none"), X)
    assert min(map(len, found)) >= k
    for i, mine in enumerate(found):
        gap = np.sqrt(np.sum((X - X[i]) ** 2, axis=1))
        radius = np.sort(np.delete(gap, i))[k - 1]
        assert {j for j in range(len(X)) if j != i and gap[j] <= radius * (1 + 1e-12)} == mine


@pytest.mark.parametrize("radius", [0.1, 0.1 * np.sqrt(2), 0.3])
def test_within_a_ball_is_one_floating_point_comparison(radius):
    X = 0.1 * np.array(list(product(range(6), repeat=2)), dtype=float)
    found = partners(Nearby(radius, scale="none"), X)
    for i, mine in enumerate(found):
        gap = np.sqrt(np.sum((X - X[i]) ** 2, axis=1))
        assert mine == {j for j in range(len(X)) if j != i and gap[j] <= radius}
        assert all(i in found[j] for j in mine)  # near is mutual


def test_blocks_of_equal_x_have_the_same_minimiser_as_the_graph(monkeypatch):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.random((6, 2)), rng.integers(9, 20, 6), axis=0)
    X = X[rng.permutation(len(X))]
    y = rng.normal(scale=1 + X[:, 0])
    for statistic in ("variance", "minvar", statistics.cumulant(3)):
        model = MultiObservationRegressor(statistic, Nearest(5), transport=None)
        graph = model.fit(X, y).predict(X)
        assert model.n_metasamples_ > 0
        with monkeypatch.context() as patch:
            patch.setattr(neighbours, "TIED", 0)
            blocks = model.fit(X, y)
        np.testing.assert_allclose(blocks.predict(X), graph, rtol=1e-9)
        found = Nearest(5).build(X, 2, rng)
        assert isinstance(found, Graph)
    monkeypatch.setattr(neighbours, "TIED", 0)
    assert isinstance(Nearest(5).build(X, 2, rng), Windows)
    assert isinstance(Nearby(0.0).build(X, 2, rng), Windows)


def test_too_many_partners_are_drawn(monkeypatch):
    rng = np.random.default_rng(1)
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [5.0, 0.0]], [8, 3, 2], axis=0)
    everybody = partners(Nearest(4, scale="none"), X)
    monkeypatch.setattr(neighbours, "PAIRS", 20)
    rounds, seen = 1500, np.zeros((13, 13))
    for _ in range(rounds):
        graph = Nearest(4, scale="none").build(X, 2, rng)
        np.add.at(seen, (graph.anchor_of_edges(), graph.indices), 1)
        assert graph.n_partners.min() >= 4
    for i in range(13):
        assert set(np.flatnonzero(seen[i]).tolist()) == everybody[i]
        share = seen[i, list(everybody[i])] / rounds
        expected = max(4, np.ceil(20 / sum(map(len, everybody)) * len(everybody[i])))
        assert share.sum() == pytest.approx(expected)
        assert np.ptp(share) < 6 * np.sqrt(0.25 / rounds)


def test_a_ball_with_too_many_rows_is_thinned_and_says_so(monkeypatch):
    X = np.repeat([[0.0, 0.0], [1.0, 0.0]], 20, axis=0)
    monkeypatch.setattr(neighbours, "PAIRS", 200)
    with pytest.warns(UserWarning, match=r"rows have 1.56e\+03 partners within epsilon: .* 0.13"):
        graph = Nearby(1.0, scale="none").build(X, 3, np.random.default_rng(0))
    assert graph.n_partners.tolist() == [5] * 40  # 39 / 7.8


def test_a_few_places_with_many_rows_need_little_memory():
    X = np.repeat(np.arange(10.0), 2000)[:, None]
    tracemalloc.start()
    found = Nearest(5).build(X, 2, np.random.default_rng(0))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.count() == 10 * 2000 * 1999 // 2
    assert peak < 20e6  # all pairs would be 320 MB


def test_the_papers_epsilon_with_ties_is_that_of_the_rows():
    rng = np.random.default_rng(2)
    X = rng.integers(0, 5, (300, 2)).astype(float)
    gap = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    k = round(np.sqrt(300))
    assert paper_epsilon(X) == pytest.approx(np.median(np.sort(gap, axis=1)[:, k]))
    assert paper_epsilon(np.zeros((50, 2))) == 0.0
