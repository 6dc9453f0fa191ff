"""Pooled pseudo-observations against loops over each anchor's tuples."""

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from multiobs import samplers, statistics
from multiobs.samplers import Improved, Nearest
from multiobs.statistics.kernels import Equality, Opaque, OrderStatistic, constant, moment
from multiobs.sums.pooling import pool
from multiobs.tuples import sorted_windows

VARIANCE = moment(2) - moment(1) * moment(1)
PAIRS = {
    2: [
        (VARIANCE, oracle.variance),
        (moment(1).with_arity(2), oracle.first_of_two),
        (OrderStatistic([1, 0]), oracle.minimum),
        (Equality(2), oracle.equal),
        (Opaque(lambda Y: np.abs(Y[:, 0] - Y[:, 1]), 2), oracle.difference),
    ],
    3: [
        (
            moment(3) - moment(2) * moment(1) * 3.0 + moment(1) * moment(1) * moment(1) * 2.0,
            oracle.third_moment,
        ),
        (OrderStatistic([1 / 3, -2 / 3, 1 / 3]), oracle.l_moment),
    ],
}
few = settings(max_examples=max(settings.default.max_examples // 3, 30))


def by_loops(listed, references, X, y, weight, ties=None):
    """Weight, mean x~ and mean kernels of the tuples of each anchor, the first member.

    Anchors of one tie have equal parts of all its tuples.
    """
    out = {}
    tie = (lambda row: row) if ties is None else ties.__getitem__
    everyone = range(len(X)) if ties is not None else {members[0] for members, _ in listed}
    for anchor in everyone:
        own = [members for members, _ in listed if tie(members[0]) == tie(anchor)]
        if not own:
            continue
        w = [oracle.tuple_weight(members, weight) for members in own]
        total = sum(w)
        x = [oracle.representative(X, members, None) for members in own]
        mean_x = [
            sum(a * v[c] for a, v in zip(w, x, strict=True)) / total for c in range(len(X[0]))
        ]
        values = [
            sum(a * h(*(y[i] for i in members)) for a, members in zip(w, own, strict=True)) / total
            for h in references
        ]
        alike = 1 if ties is None else sum(tie(row) == tie(anchor) for row in everyone)
        out[anchor] = (total / alike, mean_x, values)
    return out


def compare(pooled, expected):
    assert sorted(pooled.anchors.tolist()) == sorted(expected)
    for anchor, x, w, values in zip(
        pooled.anchors.tolist(), pooled.x, pooled.weight, pooled.values, strict=True
    ):
        total, mean_x, means = expected[anchor]
        assert w == pytest.approx(float(total), rel=1e-10)
        np.testing.assert_allclose(x, [float(v) for v in mean_x], rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(values, [float(v) for v in means], rtol=1e-8, atol=1e-8)


@st.composite
def rows(draw):
    n = draw(st.integers(1, 10))
    value = st.integers(-40, 40).map(lambda k: k / 8)
    x, y = (np.array(draw(st.lists(value, min_size=n, max_size=n))) for _ in range(2))
    weight = None
    if draw(st.booleans()):
        weight = np.array(draw(st.lists(st.sampled_from([0.3, 1.0, 2.7]), min_size=n, max_size=n)))
    groups = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    return x, y, weight, groups if draw(st.booleans()) else None


@pytest.mark.parametrize("m", PAIRS)
@few
@given(case=rows(), epsilon=st.sampled_from([0.0, 0.5, 2.0, 99.0]))
def test_windows(m, case, epsilon):
    x, y, weight, groups = case
    kernels, references = zip(*PAIRS[m], strict=True)
    tuples = sorted_windows(x, epsilon, m, groups)
    X = x[:, None]
    found = pool(tuples, kernels, X, y, weight=weight)
    codes = None if groups is None else groups.tolist()
    listed = oracle.nearby(X.tolist(), m, epsilon, codes)
    w = None if weight is None else oracle.exact(weight.tolist())
    ties = list(zip(x.tolist(), [0] * x.size if codes is None else codes, strict=True))
    exact = (oracle.exact(X.tolist()), oracle.exact(y.tolist()))
    compare(found, by_loops(listed, references, *exact, w, ties))


@pytest.mark.parametrize("m", PAIRS)
@few
@given(case=rows(), k=st.integers(2, 6))
def test_graphs(m, case, k):
    x, y, weight, groups = case
    kernels, references = zip(*PAIRS[m], strict=True)
    X = np.round(np.column_stack([x, np.roll(x, 1)]))
    tuples = Nearest(k, scale="none").build(X, m, np.random.default_rng(0), groups)
    found = pool(tuples, kernels, X, y, weight=weight)
    codes = None if groups is None else groups.tolist()
    listed = oracle.nearest(X.tolist(), m, k, codes)
    w = None if weight is None else oracle.exact(weight.tolist())
    expected = by_loops(listed, references, oracle.exact(X.tolist()), oracle.exact(y.tolist()), w)
    compare(found, expected)


def test_listed_tuples_are_their_own_pseudo_observations():
    rng = np.random.default_rng(0)
    X, y = rng.random((30, 1)), rng.normal(size=30)
    tuples = Improved(0.2).build(X, 2, rng)
    found = pool(tuples, [VARIANCE], X, y)
    np.testing.assert_array_equal(found.x, X[tuples.representative])
    np.testing.assert_allclose(found.values[:, 0], VARIANCE(y[tuples.members]))
    assert found.weight.tolist() == [1.0] * tuples.count()


@pytest.mark.parametrize("m", [2, 3])
def test_many_rows_take_the_fast_sums_and_add_up(m):
    rng = np.random.default_rng(1)
    n = 3000
    x, y = rng.random(n), 1e8 + rng.normal(size=n)
    tuples = sorted_windows(x, 0.01, m, None)
    kernels = [kernel for kernel, _ in PAIRS[m]]
    found = pool(tuples, kernels, x[:, None], y)
    part = tuples.listed()
    assert found.weight.sum() == pytest.approx(part.count())
    for i, kernel in enumerate(kernels):
        sums = np.bincount(part.members[:, 0], weights=kernel(y[part.members]), minlength=n)
        counts = np.bincount(part.members[:, 0], minlength=n)
        means = sums[found.anchors] / counts[found.anchors]
        size = np.abs(means).max()
        np.testing.assert_allclose(found.values[:, i], means, rtol=1e-9, atol=1e-11 * size)


def test_pooling_is_exact_for_a_constant():
    rng = np.random.default_rng(2)
    x, y = rng.random(200), rng.normal(size=200)
    tuples = sorted_windows(x, 0.1, 2, None)
    found = pool(tuples, [VARIANCE, constant(2.5, 2)], x[:, None], y)
    np.testing.assert_allclose(found.values[:, 1], 2.5, rtol=1e-12)
    members = tuples.listed().members
    mean = np.average(found.values[:, 0], weights=found.weight)
    assert mean == pytest.approx(VARIANCE(y[members]).mean(), rel=1e-12)


@pytest.mark.parametrize("kind", ["moment", "rank", "other"])
def test_the_leaves_of_several_trees_are_pooled_row_by_row(kind):
    rng = np.random.default_rng(4)
    n = 30
    X, y = rng.random((n, 2)), rng.normal(size=n)
    codes = rng.integers(0, 4, size=(n, 3))
    tuples = samplers.Leaves(codes).build(X, 2, rng)
    kernel = {
        "moment": statistics.variance().psi,
        "rank": statistics.gini_mean_difference().psi,
        "other": statistics.mean_of(lambda Y: np.abs(Y[:, 0] - Y[:, 1]) ** 1.5, 2).psi,
    }[kind]
    found = pool(tuples, [kernel], X, y)
    members = tuples.listed().members
    assert len(np.unique(found.anchors)) == len(found.anchors) <= n
    for x, weight, value, row in zip(
        found.x, found.weight, found.values[:, 0], found.anchors, strict=True
    ):
        own = members[members[:, 0] == row]
        assert weight == pytest.approx(len(own))
        assert value == pytest.approx(kernel(y[own]).mean(), rel=1e-9)
        np.testing.assert_allclose(x, X[own].mean(axis=(0, 1)), rtol=1e-9)
