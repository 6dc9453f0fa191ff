"""Order-statistic sums against every tuple, listed; compiled scan, compiled tree and numpy."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from native_switch import use_native

from multiobs.native import loader, rank_sums
from multiobs.native.rank_sums import (
    order_statistic_row_sums,
    order_statistic_row_sums_lists,
    order_statistic_sums,
    order_statistic_sums_lists,
)
from multiobs.native.window_sums import window_stops

BUILT = loader.available()  # whether there are compiled loops here at all

# Name of a way, MULTIOBS_NATIVE, NARROW, BLOCK; small leaves give these small cases a tree.
WAYS = [
    ("numpy", "0", 0, 16),
    ("scan", "1", 10**6, 16),
    ("tree", "1", 0, 2),
    ("tree16", "1", 0, 16),
]


def every_way(function, *arguments):
    results = []
    for _, native, narrow, block in WAYS:
        with pytest.MonkeyPatch.context() as patch:
            use_native(patch, native)
            patch.setattr(rank_sums, "NARROW", narrow)
            patch.setattr(rank_sums, "BLOCK", block)
            assert loader.available() is (native == "1" and BUILT)
            results.append(function(*arguments))
    return results


def by_listing(y, U, weight, partners, coefs, n):
    """Sums of each anchor and each row over listed tuples, and the same of absolute values."""
    m, p = len(coefs), U.shape[1]
    anchors, rows = np.zeros((2, len(partners), 1 + p)), np.zeros((2, n, 1 + p))
    for i, others in enumerate(partners):
        for rest in combinations(others, m - 1):
            members = [i, *rest]
            w = 1.0 if weight is None else np.prod(weight[members])
            ordered = np.sort(y[members])
            psi, size = w * (ordered @ coefs), abs(w) * (np.abs(ordered) @ np.abs(coefs))
            u = np.array([1.0, *U[members].sum(axis=0)])
            u_size = np.array([1.0, *np.abs(U[members]).sum(axis=0)])
            anchors[0, i] += psi * u
            anchors[1, i] += size * u_size
            for j in members:
                rows[0, j] += psi * u
                rows[1, j] += size * u_size
    return anchors, rows


def close(actual, expected, size):
    assert actual.shape == expected.shape
    assert np.all(np.abs(actual - expected) <= 1e-11 * size)


# Products of numbers below 1e-154 lose their last digits to underflow, in any order of summing.
real = st.floats(-10, 10).filter(lambda v: v == 0.0 or abs(v) > 1e-100)
labels = st.integers(-3, 3).map(float) | real | st.sampled_from([1e12, -1e12, 1e8])


@st.composite
def cases(draw):
    m = draw(st.integers(1, 6))
    n = draw(st.integers(0, {1: 20, 2: 20, 3: 14, 4: 11, 5: 10, 6: 9}[m]))
    p = draw(st.integers(0, 3))

    def column(values, size):
        return np.array(draw(st.lists(values, min_size=size, max_size=size)), dtype=float)

    y = column(labels, n) + draw(st.sampled_from([0.0, 1e8]))
    U = column(labels, n * p).reshape(n, p)
    weight = None if draw(st.booleans()) else column(st.sampled_from([0.0, 0.5, 1.0, 3.0]), n)
    kind = draw(st.sampled_from(["min", "max", "range", "any"]))
    coefs = np.zeros(m)
    if kind in ("min", "range"):
        coefs[0] = draw(st.sampled_from([1.0, -2.0]))
    if kind in ("max", "range"):
        coefs[-1] += 1.5
    if kind == "any":
        coefs[:] = column(st.sampled_from([0.0, 1.0, -1.0, 0.3]), m)
    return y, U, weight, coefs


@settings(max_examples=250, deadline=None)
@given(cases(), st.data())
def test_windows_equal_listed_tuples(case, data):
    y, U, weight, coefs = case
    n = y.size
    places = st.integers(0, 10).map(lambda k: k / 10)
    x = np.sort(np.array(data.draw(st.lists(places, min_size=n, max_size=n)), dtype=float))
    stop = window_stops(x, data.draw(st.sampled_from([0.0, 0.2, 0.5, 2.0])))
    partners = [range(i + 1, s) for i, s in enumerate(stop)]
    anchors, rows = by_listing(y, U, weight, partners, coefs, n)
    few = data.draw(st.integers(0, n))
    seeds = np.vstack([np.eye(1 + U.shape[1]), np.full(1 + U.shape[1], -2.0)])
    for out in every_way(order_statistic_sums, y, U, weight, stop, coefs, few):
        close(out, anchors[0, :few], anchors[1, :few])
    for out in every_way(order_statistic_row_sums, y, U, weight, stop, coefs, seeds):
        close(out, rows[0] @ seeds.T, rows[1] @ np.abs(seeds).T)


@settings(max_examples=150, deadline=None)
@given(cases(), st.data())
def test_lists_equal_listed_tuples(case, data):
    y, U, weight, coefs = case
    n = y.size
    a = data.draw(st.integers(0, n))
    partners = []
    for i in range(a):
        others = st.permutations([j for j in range(n) if j != i])
        partners.append(data.draw(others)[: data.draw(st.integers(0, n))])
    indptr = np.cumsum([0, *map(len, partners)])
    indices = np.array([j for others in partners for j in others], dtype=np.int64)
    anchors, rows = by_listing(y, U, weight, partners, coefs, n)
    seeds = np.vstack([np.eye(1 + U.shape[1]), np.full(1 + U.shape[1], -2.0)])
    for out in every_way(order_statistic_sums_lists, y, U, weight, indptr, indices, coefs):
        close(out, *anchors)
    for out in every_way(
        order_statistic_row_sums_lists, y, U, weight, indptr, indices, coefs, seeds
    ):
        close(out, rows[0] @ seeds.T, rows[1] @ np.abs(seeds).T)


@pytest.mark.parametrize("m", [2, 3, 4, 5, 6, 7, 9])
@pytest.mark.parametrize("kind", ["min", "max", "range", "any"])
@pytest.mark.parametrize("p", [0, 2])
def test_long_segments_agree_between_scan_tree_and_numpy(m, kind, p):
    rng = np.random.default_rng([m, p])
    n = 250
    x = np.sort(rng.random(n) ** 2)  # windows of very different lengths
    x[100:130] = x[100]
    y = np.round(rng.normal(size=n), 1)
    U = rng.random((n, p))
    weight = rng.integers(0, 3, n) / 2
    coefs = rng.random(m) + 0.1
    if kind != "any":
        coefs[1:-1] = 0.0
        coefs[{"min": slice(1, None), "max": slice(0, -1), "range": slice(0, 0)}[kind]] = 0.0
    stop = window_stops(x, 0.2)
    largest = np.full(n, np.abs(y).max())
    reference = order_statistic_sums(largest, U, weight, stop, coefs, n)
    first, *others = every_way(order_statistic_sums, y, U, weight, stop, coefs, n)
    for other in others:
        close(other, first, reference)
    seeds = np.eye(1 + p)
    reference = order_statistic_row_sums(largest, U, weight, stop, coefs, seeds)
    first, *others = every_way(order_statistic_row_sums, y, U, weight, stop, coefs, seeds)
    for other in others:
        close(other, first, reference)
    # Each tuple has m members: the rows' sums count it m times.
    total = order_statistic_sums(y, U, weight, stop, coefs, n)
    close(first.sum(axis=0), m * total.sum(axis=0), m * np.abs(total).sum(axis=0))


def test_an_outlier_that_has_left_the_window_leaves_nothing():
    rng = np.random.default_rng(3)
    n = 2000
    y = rng.random(n)
    y[500] = 1e200
    stop = np.minimum(np.arange(n) + 100, n)
    coefs = np.array([-1.0, 0.5, 2.0])
    rest = slice(501, None)
    clean = order_statistic_sums(
        y[rest], np.empty((n - 501, 0)), None, stop[rest] - 501, coefs, 1499
    )
    for out in every_way(order_statistic_sums, y, np.empty((n, 0)), None, stop, coefs, n):
        np.testing.assert_allclose(out[rest], clean, rtol=1e-12)
