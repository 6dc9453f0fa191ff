"""Kernels against the oracle's, symmetric, scaled, and exact where an offset would cancel."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import STATISTICS, draw_labels

from multiobs import statistics
from multiobs.statistics.distinct import distinct_sum
from multiobs.statistics.kernels import (
    Equality,
    Kernel,
    Monomials,
    Opaque,
    OrderStatistic,
    Square,
    as_members,
    constant,
    moment,
    same_category,
)

few = settings(max_examples=max(settings.default.max_examples // 4, 20))


def kernels_of(case):
    """Pairs of a kernel of the package and the oracle's."""
    statistic = case.make()
    if case.psi is not None:
        pairs = [(statistic.psi, case.psi)]
        if statistic.chi is not None:
            pairs.append((statistic.chi, case.chi))
        return pairs
    loss = statistic.loss
    m = loss.arity
    parts = [part.with_arity(m) for part in (loss.constant, loss.linear, loss.quadratic)]
    return list(zip(parts, case.root, strict=True))


@pytest.mark.parametrize("name", STATISTICS)
def test_kernels_equal_the_oracle(name):
    case = STATISTICS[name]
    rng = np.random.default_rng(7)
    count = 3 if name == "skewness" else 25
    for kernel, reference in kernels_of(case):
        for offset in (0.0, 64.0):
            y = draw_labels(case.labels, rng, count * kernel.arity) + offset
            Y = y.reshape(count, kernel.arity, *y.shape[1:])
            found = kernel(Y)
            assert found.shape == (count,)
            for value, row in zip(found, Y.tolist(), strict=True):
                expected = reference(*oracle.exact(row))
                size = max(abs(v) for v in np.ravel(row)) ** 6 if name == "skewness" else 1.0
                assert value == pytest.approx(float(expected), rel=1e-10, abs=1e-11 * size)


@pytest.mark.parametrize("name", STATISTICS)
def test_kernels_of_no_tuples(name):
    case = STATISTICS[name]
    for kernel, _ in kernels_of(case):
        none = draw_labels(case.labels, np.random.default_rng(0), 0)
        assert kernel(none.reshape(0, kernel.arity, *none.shape[1:])).shape == (0,)


@pytest.mark.parametrize("name", STATISTICS)
def test_kernels_do_not_depend_on_the_order_of_the_labels(name):
    case = STATISTICS[name]
    rng = np.random.default_rng(8)
    for kernel, _ in kernels_of(case):
        y = draw_labels(case.labels, rng, 6 * kernel.arity)
        Y = y.reshape(6, kernel.arity, *y.shape[1:])
        here = kernel(Y)
        for order in list(permutations(range(kernel.arity)))[:30]:
            np.testing.assert_allclose(kernel(Y[:, order]), here, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["variance", "central_moment(3)", "central_moment(4)"])
@few
@given(data=st.data(), offset=st.sampled_from([0.0, 1e8, -3e12]))
def test_shift_invariant_kernels_lose_nothing_to_an_offset(name, data, offset):
    kernel = STATISTICS[name].make().psi
    labels = st.integers(-512, 512).map(lambda k: k / 64)
    Y = np.array([data.draw(st.lists(labels, min_size=kernel.arity, max_size=kernel.arity))])
    Y = Y + offset
    exact = STATISTICS[name].psi(*oracle.exact(Y[0].tolist()))
    spread = np.ptp(Y) ** kernel_degree(kernel)
    assert abs(Fraction(kernel(Y)[0]) - exact) <= 1e-12 * spread


def kernel_degree(kernel):
    return max(sum(sum(e) for e in term) for term in kernel.terms)


def test_declared_invariance_is_true():
    rng = np.random.default_rng(0)
    for name, case in STATISTICS.items():
        for kernel, _ in kernels_of(case):
            if not isinstance(kernel, Monomials | OrderStatistic):
                continue
            Y = rng.normal(size=(20, kernel.arity, kernel.n_columns))
            moved = kernel(Y + 1.0)
            same = np.allclose(moved, kernel(Y), rtol=1e-9, atol=1e-9)
            assert same == kernel.shift_invariant, name


def test_products_stand_for_independent_observations():
    square = moment(1) * moment(1)
    assert square.arity == 2
    assert square(np.array([[2.0, 5.0]])).tolist() == [10.0]
    assert (square + 1.0)(np.array([[2.0, 5.0]])).tolist() == [11.0]
    assert (square - square).terms == {}
    assert (square - square)(np.array([[2.0, 5.0]])).tolist() == [0.0]
    wider = square.with_arity(3)
    assert wider(np.array([[1.0, 2.0, 3.0]]))[0] == pytest.approx((2 + 3 + 6) / 3)
    assert "arity=3" in repr(wider)


def test_scaling_a_kernel_scales_its_values():
    Y = np.random.default_rng(2).integers(0, 3, (10, 2)).astype(float)
    kernels: list[Kernel] = [
        moment(1) * moment(1),
        OrderStatistic([1.0, 0.0]),
        Equality(2),
        Opaque(lambda Y: Y[:, 0] * Y[:, 1], 2),
        Square(OrderStatistic([-1.0, 1.0])),
        constant(3.0, 2),
    ]
    for kernel in kernels:
        assert kernel.arity == 2
        np.testing.assert_allclose((kernel * -2.5)(Y), -2.5 * kernel(Y))
        np.testing.assert_allclose((kernel * 2.0 * 3.0)(Y), 6.0 * kernel(Y))
    assert Square(OrderStatistic([-1.0, 1.0]))(np.array([[1.0, 4.0]])).tolist() == [9.0]


@few
@given(st.lists(st.integers(1, 3), min_size=1, max_size=4), st.integers(0, 5))
def test_set_partitions_leave_distinct_indices_only(exponents, n):
    values = [Fraction(k * k + 1, 3) for k in range(n)]
    expected = sum(
        np.prod([v**e for v, e in zip(chosen, exponents, strict=True)])
        for chosen in permutations(values, len(exponents))
    )
    found = sum(
        Fraction(factor) * np.prod([sum(v ** e[0] for v in values) for _, e in blocks])
        for factor, blocks in distinct_sum(tuple((1, (e,)) for e in exponents))
    )
    assert found == expected


def test_wrong_kernels_are_refused():
    with pytest.raises(ValueError, match="arity must be at least 2 for these terms, got 1"):
        Monomials({((1,), (1,)): 1.0}, 1)
    with pytest.raises(ValueError, match="at least one order statistic, got none"):
        OrderStatistic([])
    with pytest.raises(ValueError, match=r"shape \(4,\), got shape \(4, 2\)"):
        Opaque(lambda Y: Y, 2)(np.ones((4, 2)))


def test_labels_of_one_column_come_in_two_shapes():
    Y = np.random.default_rng(0).normal(size=(5, 3))
    assert as_members(Y, 1).shape == (5, 3, 1)
    third = statistics.central_moment(3).psi
    np.testing.assert_array_equal(third(Y), third(Y[:, :, None]))


def test_categories_are_codes_of_equal_rows():
    assert same_category(np.array([3.0, 1.0, 3.0])).tolist() == [1, 0, 1]
    assert same_category(np.array([[1.0, 2.0], [1.0, 3.0], [1.0, 2.0]])).tolist() == [0, 1, 0]
