"""Rows with equal x: no sampler depends on their order, but by the seed."""

import tracemalloc

import numpy as np
import oracle
import pytest
from tables import SAMPLERS

from multiobs import MultiObservationRegressor
from multiobs.samplers import (
    Adjacent,
    Disjoint,
    Improved,
    Naive,
    Nearby,
    Nearest,
    SlidingWindow,
    neighbours,
    ties,
)
from multiobs.samplers.ties import shuffled_ties, sliding_average
from multiobs.tuples import Windows, tie_sizes


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_sliding_windows_are_the_mean_over_all_orders_of_ties(m, grouped):
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 4, (7, 1)) / 2
        groups = rng.integers(0, 2, 7) if grouped else None
        found = SlidingWindow().build(X, m, rng, groups).listed()
        weight = np.ones(found.count()) if found.weight is None else found.weight
        listed = {}
        for row, w in zip(found.members.tolist(), weight, strict=True):
            listed[tuple(sorted(row))] = listed.get(tuple(sorted(row)), 0.0) + w
        expected = oracle.sliding_over_orders(
            X.tolist(), m, None if groups is None else groups.tolist()
        )
        assert listed.keys() == expected.keys()
        for key, value in expected.items():
            assert listed[key] == pytest.approx(float(value), rel=1e-12)


def test_without_ties_sliding_windows_are_windows_and_draw_nothing():
    rng = np.random.default_rng(0)
    X = rng.random((50, 1))
    before = rng.bit_generator.state
    assert isinstance(SlidingWindow().build(X, 3, rng), Windows)
    Disjoint().build(X, 3, rng)
    assert rng.bit_generator.state == before


def test_too_many_subsets_of_ties_are_one_order_drawn_by_the_seed():
    X = np.zeros((40, 1))
    rows = np.arange(40)
    assert sliding_average(rows, np.array([40]), np.full(40, 40), 8) is None
    one, two, other = (
        SlidingWindow().build(X, 8, np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    assert isinstance(one, Windows)
    assert one.count() == 33
    np.testing.assert_array_equal(one.order, two.order)
    assert not np.array_equal(one.order, other.order)
    assert not np.array_equal(one.order, rows)


@pytest.mark.parametrize("m", [2, 3])
def test_every_pair_of_a_tie_is_as_likely_to_share_a_block(m):
    rng = np.random.default_rng(3)
    X = np.repeat([0.0, 1.0], [6, 4])[:, None]
    rounds, together = 3000, np.zeros((10, 10))
    for _ in range(rounds):
        for block in Disjoint().build(X, m, rng).members:
            together[np.ix_(block, block)] += 1
    inside = together[:6, :6][~np.eye(6, dtype=bool)] / rounds
    assert np.ptp(inside) < 6 * np.sqrt(inside.mean() / rounds)


@pytest.mark.parametrize("sampler", [Naive(), Improved(0.3), Disjoint(), SlidingWindow()], ids=repr)
def test_rows_sorted_by_their_labels_give_the_same_variance_on_average(sampler):
    rng = np.random.default_rng(5)
    x = rng.integers(0, 5, 300) / 5
    y = rng.normal(size=300)
    rows = np.argsort(y)
    means = []
    for X, labels in ((x, y), (x[rows], y[rows])):
        each = []
        for seed in range(40):
            part = sampler.build(X[:, None], 2, np.random.default_rng(seed)).listed()
            half = 0.5 * np.diff(labels[part.members], axis=1)[:, 0] ** 2
            each.append(np.average(half, weights=part.weight))
        means.append((np.mean(each), np.std(each) / np.sqrt(40)))
    gap = abs(means[0][0] - means[1][0])
    assert gap <= 4 * np.hypot(means[0][1], means[1][1]) + 1e-12


@pytest.mark.parametrize("name", [name for name, case in SAMPLERS.items() if not case.once])
def test_a_permutation_of_the_rows_changes_no_tuple_without_a_seed(name):
    case = SAMPLERS[name]
    rng = np.random.default_rng(2)
    X = rng.integers(0, 9, (30, case.columns[0])) / 8
    order = rng.permutation(30)

    def weights(points, names):
        part = case.make().build(points, 3, np.random.default_rng(0)).listed()
        found = {}
        given = np.ones(part.count()) if part.weight is None else part.weight
        for row, w in zip(names[part.members].tolist(), given, strict=True):
            key = tuple(sorted(row))
            found[key] = found.get(key, 0.0) + w
        return found

    here, there = weights(X, np.arange(30)), weights(X[order], order)
    assert here.keys() == there.keys()
    assert all(here[key] == pytest.approx(there[key], rel=1e-12) for key in here)


def test_runs_end_where_x_or_the_group_changes():
    x, ends = np.array([0.0, 0.0, 0.0, 1.0, 1.0]), np.array([2, 2, 5, 5, 5])
    assert tie_sizes(x, ends).tolist() == [2, 1, 2]
    assert tie_sizes(np.empty(0), np.empty(0, dtype=int)).size == 0
    order = shuffled_ties(np.arange(5), np.array([2, 1, 2]), np.random.default_rng(0))
    assert sorted(order[:2].tolist()) == [0, 1]
    assert order[2] == 2
    assert sorted(order[3:].tolist()) == [3, 4]


@pytest.mark.parametrize(("size", "beyond"), [(3, True), (4, True), (5, False)])
def test_a_tie_keeps_to_itself_only_where_it_is_larger_than_the_window(size, beyond):
    # of n_rows = 4: a tie of exactly four rows still reaches the next ones
    X = np.concatenate([np.zeros(size), np.arange(1.0, 7.0)])[:, None]
    members = Adjacent(4).build(X, 2, np.random.default_rng(0)).listed().members
    partners = set(members[members[:, 0] < size][:, 1].tolist())
    inside = set(range(1, size))
    assert partners == (inside | set(range(size, size + 4)) if beyond else inside)


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("statistic", ["variance", "minvar", "ucb"])
def test_blocks_of_equal_x_answer_as_their_pairs(statistic, columns, monkeypatch):
    rng = np.random.default_rng(columns)
    X = rng.integers(0, 3, (700, columns)) / 2
    y = X[:, 0] + rng.normal(size=700) * (1 + X[:, -1])
    found = []
    for most in (neighbours.TIED, 10**6):
        monkeypatch.setattr(neighbours, "TIED", most)
        tuples = Nearest(5).build(X, 2, np.random.default_rng(0))
        model = MultiObservationRegressor(statistic, Nearest(5), transport=None, random_state=0)
        model.fit(X, y)
        found.append((type(tuples), model.predict(X), model.predict_interval(X)))
    (blocks, one, limits), (pairs, other, wide) = found
    assert blocks is Windows is not pairs
    np.testing.assert_allclose(one, other, rtol=1e-9)
    np.testing.assert_allclose(limits, wide, atol=0.02 * np.ptp(wide, axis=1).min())


def test_balls_of_ties_hold_nothing_but_the_partners(monkeypatch):
    """Sixty bytes a pair are eight: what is made on the way is made in parts."""
    rng = np.random.default_rng(0)
    X = np.floor(4 * rng.uniform(size=(1500, 2)))
    whole = Nearby(1.5, scale="none").build(X, 2, rng)
    tracemalloc.start()
    Nearby(1.5, scale="none").build(X, 2, rng)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * whole.count() + 30e6 < 60 * whole.count()
    monkeypatch.setattr(neighbours, "LISTED", 999)
    parts = Nearby(1.5, scale="none").build(X, 2, rng)
    np.testing.assert_array_equal(parts.indices, whole.indices)
    np.testing.assert_array_equal(parts.indptr, whole.indptr)


def test_the_mean_over_orders_of_ties_is_listed_in_parts(monkeypatch):
    order, sizes, ends = np.arange(60), np.full(6, 10), np.full(60, 60)
    whole = sliding_average(order, sizes, ends, 3)
    monkeypatch.setattr(ties, "AT_ONCE", 7)
    parts = sliding_average(order, sizes, ends, 3)
    np.testing.assert_array_equal(parts.members, whole.members)
    np.testing.assert_array_equal(parts.weight, whole.weight)
