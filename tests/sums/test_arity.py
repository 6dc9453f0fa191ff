"""Tuples of many observations: exact numbers, sums in no time, and a word where they end."""

from itertools import permutations
from math import comb

import numpy as np
import pytest

from multiobs import MultiObservationRegressor, contract, plan, samplers, statistics
from multiobs.statistics.distinct import distinct_sum
from multiobs.statistics.kernels import OrderStatistic, constant, moment
from multiobs.tuples import Tuples, Windows, shown, spread_evenly, subset_counts, unrank_subsets


def everything(n, m):
    return Windows(np.arange(n, dtype=np.int64), np.full(n, n, dtype=np.int64), m)


def test_subsets_are_counted_where_a_product_on_the_way_overflows():
    sizes = np.array([77, 60, 19, 18, 0, -1])
    expected = [comb(77, 19), comb(60, 19), 1, 0, 0, 0]
    assert subset_counts(sizes, 19).tolist() == expected
    assert subset_counts(np.array([2000]), 19)[0] == np.iinfo(np.int64).max


def test_minvar_of_twenty_observations_on_seventy_eight_rows():
    rng = np.random.default_rng(0)
    x, y = rng.random((78, 1)), rng.exponential(size=78)
    whole = samplers.Nearby(1.0)
    model = MultiObservationRegressor(statistics.minvar(19), whole, transport=None).fit(x, y)
    assert model.n_metasamples_ == comb(78, 20)
    # the mean over all subsets of their minimum, from the ranks of the labels
    ordered = np.sort(y)
    mean = sum(comb(77 - r, 19) * v for r, v in enumerate(ordered)) / comb(78, 20)
    assert model.predict(x).mean() == pytest.approx(mean, rel=0.2)
    drawn = everything(78, 20).sample(50, np.random.default_rng(0))
    assert all(len(set(row)) == 20 for row in drawn.members.tolist())
    assert spread_evenly(everything(78, 20), 10, np.random.default_rng(0)).members.min() >= 0


def test_constant_sums_of_many_observations_are_binomial_coefficients():
    assert plan(everything(96, 24), constant(1.0, 24)).branch == "running sums"
    for m in (5, 12, 20, 24, 30):
        windows = everything(m + 4, m)
        found = contract(windows, constant(1.0, m), np.ones((m + 4, 1)), np.zeros(m + 4), 1)
        assert found[0] == pytest.approx(comb(m + 4, m), rel=1e-9)
        if m <= 24:
            wide = everything(4 * m, m)
            found = contract(wide, constant(1.0, m), np.ones((4 * m, 1)), np.zeros(4 * m), 1)
            assert found[0] == pytest.approx(comb(4 * m, m), rel=1e-9)


@pytest.mark.parametrize("marked", [(), ((1,),), ((1,), (1,)), ((2,), (1,))])
@pytest.mark.parametrize("q", [3, 4, 5])
def test_distinct_sums_are_the_sums_over_distinct_indices(q, marked):
    rng = np.random.default_rng(q)
    y, w = rng.normal(size=6), rng.random(6)
    slots = tuple((1, e) for e in (*marked, *[(0,)] * (q - len(marked))))
    total = sum(
        factor * np.prod([np.sum(w**times * y ** exponent[0]) for times, exponent in blocks])
        for factor, blocks in distinct_sum(slots)
    )
    loops = sum(
        np.prod([w[j] * y[j] ** e[0] for j, (_, e) in zip(chosen, slots, strict=True)])
        for chosen in permutations(range(6), q)
    )
    assert total == pytest.approx(loops, rel=1e-9)


def test_more_observations_than_sums_know_are_listed_or_refused():
    n, m = 600, 40
    kernel = constant(1.0, m)
    sliding = Windows(np.arange(n), np.minimum(np.arange(n) + m, n), m)
    assert plan(sliding, kernel).branch == "list"
    found = contract(sliding, kernel, np.ones((n, 1)), np.zeros(n), 1)
    assert found[0] == pytest.approx(n - m + 1)
    with pytest.raises(ValueError, match=r"must stay below 2e\+08 tuples, got 4.*e\+62"):
        contract(everything(n, m), kernel, np.ones((n, 1)), np.zeros(n), 1)
    x = np.arange(60.0)[:, None]
    model = MultiObservationRegressor(statistics.minvar(39), "sliding", transport=None)
    assert model.fit(x, np.arange(60.0)).n_metasamples_ == 21
    with pytest.raises(ValueError, match=r"must stay below|at most 24 observations each, got 40"):
        MultiObservationRegressor(statistics.minvar(39), samplers.Nearby(80.0)).fit(
            x, np.arange(60.0) % 7
        )


def test_numbers_beyond_all_floats_are_written_and_drawn_from():
    wide = everything(5000, 400)
    assert wide.count() > 10**308
    text = str(plan(wide, OrderStatistic([1.0] + [0.0] * 399)))
    assert text.startswith(f"rank tree (10^{len(str(wide.count())) - 1} tuples)")
    assert shown(wide.count()).startswith("10^")
    with pytest.raises(ValueError, match=r"listing needs fewer than 2\^62 tuples, got 10\^"):
        next(wide.chunks())
    drawn = wide.sample(3, np.random.default_rng(0))
    assert isinstance(drawn, Tuples)
    assert all(len(set(row)) == 400 for row in drawn.members.tolist())
    assert wide.total_weight() == np.inf


def test_subsets_of_many_rows_are_unranked_without_overflow():
    numbers = np.array([0, 10**17, comb(70, 19) - 1])
    found = unrank_subsets(numbers, 19, 77)
    for number, row in zip(numbers.tolist(), found.tolist(), strict=True):
        assert sum(comb(c, k + 1) for k, c in enumerate(row)) == number
    assert moment(1).arity == 1
