"""Matchings of representatives and candidates: maximum, and complete."""

import numpy as np
import oracle
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from multiobs.samplers import matching

few = settings(max_examples=60, deadline=None)


@few
@given(st.integers(1, 12), st.integers(1, 15), st.integers(1, 3), st.integers(0, 10**6))
def test_matchings_are_maximum(n, k, d, seed):
    rng = np.random.default_rng(seed)
    points, candidates = rng.integers(0, 9, (n, d)) / 8, rng.integers(0, 9, (k, d)) / 8
    epsilon = rng.choice([0.0, 0.125, 0.25, 0.5])
    matched = matching.maximum(points, candidates, epsilon)
    chosen = matched[matched >= 0]
    assert len(set(chosen.tolist())) == chosen.size
    gap = np.linalg.norm(points[matched >= 0] - candidates[chosen], axis=1)
    assert np.all(gap <= epsilon)
    near = np.linalg.norm(points[:, None] - candidates[None], axis=2) <= epsilon
    by_scipy = maximum_bipartite_matching(csr_array(near), perm_type="column")
    assert chosen.size == (by_scipy >= 0).sum()
    assert chosen.size == oracle.matching_size(points.tolist(), candidates.tolist(), epsilon)


def greedy(a, c, m, epsilon):
    """One point after the other, one candidate after the other."""
    kept, starts, free = [], [], 0
    for i, value in enumerate(a):
        while free + m <= len(c) and value - c[free] > epsilon:
            free += 1
        if free + m <= len(c) and c[free + m - 1] - value <= epsilon:
            kept.append(i)
            starts.append(free)
            free += m
    return kept, starts


@few
@given(st.integers(1, 40), st.integers(0, 60), st.integers(1, 3), st.integers(0, 10**6))
def test_the_pass_from_the_left_is_the_loop_over_points(n, k, m, seed):
    rng = np.random.default_rng(seed)
    a, c = np.sort(rng.integers(0, 30, n)) / 10, np.sort(rng.integers(0, 30, k)) / 10
    epsilon = float(rng.choice([0.0, 0.1, 0.2, 0.7]))
    kept, starts = matching.leftmost(a, c, m, epsilon)
    assert (kept.tolist(), starts.tolist()) == greedy(a.tolist(), c.tolist(), m, epsilon)


def test_many_points_of_which_many_fail_are_still_the_loop():
    rng = np.random.default_rng(0)
    a, c = np.sort(rng.random(30_000)), np.sort(rng.random(25_000))
    for epsilon in (1e-6, 1e-5, 1e-3):
        kept, starts = matching.leftmost(a, c, 1, epsilon)
        assert (kept.tolist(), starts.tolist()) == greedy(a.tolist(), c.tolist(), 1, epsilon)


@few
@given(st.integers(1, 10), st.integers(0, 5), st.integers(1, 2), st.integers(0, 10**6))
def test_whoever_is_left_over_takes_the_free_candidates(n, more, d, seed):
    rng = np.random.default_rng(seed)
    points, candidates = rng.random((n, d)), rng.random((n + more, d))
    matched = matching.complete(points, candidates, 0.1)
    assert len(set(matched.tolist())) == n
    assert matched.min() >= 0
    within = np.linalg.norm(points - candidates[matched], axis=1) <= 0.1
    assert within.sum() >= (matching.maximum(points, candidates, 0.1) >= 0).sum()


def test_the_search_finds_the_largest_perfect_matching_for_pairs():
    rng = np.random.default_rng(3)
    for _ in range(20):
        points = rng.random((40, 1))
        n = matching.largest_perfect(points, 1, 0.05)

        def perfect(size, points=points):
            found = oracle.matching_size(points[:size].tolist(), points[size:].tolist(), 0.05)
            return found == size

        assert perfect(n)
        assert not any(perfect(size) for size in range(n + 1, 21))
