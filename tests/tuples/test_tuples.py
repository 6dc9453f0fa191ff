"""Counting, listing and drawing tuples of rows; matchings."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from multiobs.tuples import (
    Graph,
    Tuples,
    Windows,
    concatenate,
    group_ends,
    order_by,
    sorted_windows,
    subset_counts,
    unrank_subsets,
)

few = settings(max_examples=max(settings.default.max_examples // 2, 40))


@st.composite
def windows(draw):
    n = draw(st.integers(1, 12))
    order = np.array(draw(st.permutations(range(n))), dtype=np.int64)
    stop = np.array([draw(st.integers(i + 1, n)) for i in range(n)], dtype=np.int64)
    return Windows(order, np.maximum.accumulate(stop), draw(st.integers(1, 4)))


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 8))
    lists = [
        sorted(draw(st.sets(st.sampled_from([j for j in range(n) if j != i]), max_size=5)))
        if n > 1
        else []
        for i in range(n)
    ]
    indptr = np.cumsum([0, *map(len, lists)])
    indices = np.array([j for each in lists for j in each], dtype=np.int64)
    return Graph(indptr.astype(np.int64), indices, draw(st.integers(1, 4)))


def by_loops(tuples):
    """All tuples of windows or of a graph, in loops."""
    m = tuples.arity
    if isinstance(tuples, Windows):
        line = tuples.order.tolist()
        partners = [line[i + 1 : tuples.stop[i]] for i in range(len(line))]
    else:
        line = list(range(tuples.n_rows))
        partners = [tuples.indices[tuples.indptr[i] : tuples.indptr[i + 1]].tolist() for i in line]
    return [
        (i, *rest)
        for i, others in zip(line, partners, strict=True)
        for rest in combinations(others, m - 1)
    ]


@few
@given(windows() | graphs(), st.integers(1, 7))
def test_listing_is_complete_in_chunks_of_any_size(tuples, size):
    expected = by_loops(tuples)
    assert tuples.count() == len(expected)
    parts = list(tuples.chunks(size))
    assert all(part.count() <= size for part in parts)
    found = [tuple(row) for part in parts for row in part.members.tolist()]
    assert sorted(found) == sorted(expected)
    assert [row[0] for row in found] == [row[0] for row in expected]  # anchors in order
    whole = tuples.listed()
    assert [tuple(row) for row in whole.members.tolist()] == found
    assert whole.arity == tuples.arity
    assert whole.n_rows == tuples.n_rows


@few
@given(windows() | graphs(), st.integers(1, 60), st.integers(0, 5))
def test_a_random_subset_has_distinct_tuples_and_unbiased_weights(tuples, size, seed):
    total = tuples.count()
    part = tuples.sample(size, np.random.default_rng(seed))
    rows = [tuple(row) for row in part.members.tolist()]
    assert set(rows) <= set(by_loops(tuples))
    assert len(set(rows)) == len(rows) == min(size, total)
    if size < total:
        assert part.weight.sum() == pytest.approx(total)


def test_a_random_subset_of_more_tuples_than_integers():
    n = 5000
    wide = Windows(np.arange(n), np.full(n, n), arity=8)
    assert wide.count() == comb(n, 8) > 2**62
    part = wide.sample(50, np.random.default_rng(0))
    assert part.weight.sum() == pytest.approx(float(comb(n, 8)))
    assert all(len(set(row)) == 8 for row in part.members.tolist())
    with pytest.raises(ValueError, match=r"fewer than 2\^62 tuples, got 9"):
        next(wide.chunks())


@few
@given(windows(), st.integers(1, 3), st.integers(0, 9))
def test_refined_windows_hold_rows_of_one_code(tuples, codes, seed):
    code = np.random.default_rng(seed).integers(0, codes, tuples.n_rows)
    expected = [row for row in by_loops(tuples) if len({code[i] for i in row}) == 1]
    found = tuples.refined(code).listed().members.tolist()
    assert sorted(map(tuple, found)) == sorted(expected)


@few
@given(graphs(), st.integers(0, 9))
def test_a_graph_keeps_the_marked_edges(graph, seed):
    keep = np.random.default_rng(seed).random(graph.indices.size) < 0.5
    anchors = graph.anchor_of_edges()
    smaller = graph.keep(keep)
    expected = sorted(zip(anchors[keep].tolist(), graph.indices[keep].tolist(), strict=True))
    found = sorted(zip(smaller.anchor_of_edges().tolist(), smaller.indices.tolist(), strict=True))
    assert found == expected


@few
@given(
    st.lists(st.integers(-8, 8).map(lambda k: k / 10), min_size=1, max_size=12),
    st.sampled_from([0.0, 0.1, 0.2, 0.7, 5.0]),
    st.integers(0, 3),
)
def test_within_epsilon_is_one_floating_point_comparison(x, epsilon, n_groups):
    groups = np.random.default_rng(1).integers(0, n_groups, len(x)) if n_groups else None
    found = sorted_windows(np.array(x), epsilon, 2, groups).listed().members.tolist()
    pairs = set()
    for i in range(len(x)):
        for j in range(len(x)):
            together = groups is None or groups[i] == groups[j]
            first = (x[i], i) < (x[j], j)
            if together and first and x[j] - x[i] <= epsilon:
                pairs.add((i, j))
    assert {tuple(row) for row in found} == pairs
    assert len(found) == len(pairs)


def test_order_is_by_group_then_x_then_row():
    x = np.array([2.0, 1.0, 1.0, 0.0, 1.0])
    groups = np.array([0, 1, 0, 1, 0])
    assert order_by(x, None).tolist() == [3, 1, 2, 4, 0]
    order = order_by(x, groups)
    assert order.tolist() == [2, 4, 0, 3, 1]
    assert group_ends(order, groups).tolist() == [3, 3, 3, 5, 5]
    assert group_ends(order, None) is None


@few
@given(st.integers(1, 5), st.integers(0, 12))
def test_subsets_are_numbered_without_a_gap(q, largest):
    total = comb(largest, q)
    found = unrank_subsets(np.arange(total), q, largest)
    assert {tuple(row) for row in found.tolist()} == set(combinations(range(largest), q))
    sizes = np.arange(largest + 1)
    assert subset_counts(sizes, q).tolist() == [comb(int(s), q) for s in sizes]


def test_lists_join_with_representatives_and_weights():
    a = Tuples(np.array([[0, 1]]), 4, np.array([3]), np.array([0.5]))
    b = Tuples(np.array([[2, 1], [3, 0]]), 4, np.array([0, 1]), np.array([1.0, 2.0]))
    both = concatenate([a, b], 2, 4)
    assert both.members.tolist() == [[0, 1], [2, 1], [3, 0]]
    assert both.representative.tolist() == [3, 0, 1]
    assert both.weight.tolist() == [0.5, 1.0, 2.0]
    assert concatenate([], 3, 4).members.shape == (0, 3)
    assert [part.count() for part in both.chunks(2)] == [2, 1]
    assert list(both.chunks(2))[1].representative.tolist() == [1]
