"""Compiled totals, numpy sums and exact fractions agree, however large or odd the numbers."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from native_switch import use_native

from multiobs import contract
from multiobs.native import loader
from multiobs.statistics.kernels import OrderStatistic, constant, moment
from multiobs.sums import moments, programs
from multiobs.sums.contraction import contract_all
from multiobs.tuples import Windows, sorted_windows

VARIANCE = moment(2) - moment(1) * moment(1)
THIRD = moment(3) - moment(2) * moment(1) * 3.0 + moment(1) * moment(1) * moment(1) * 2.0
FOURTH = (
    moment(4)
    - moment(3) * moment(1) * 4.0
    + moment(2) * moment(1) * moment(1) * 6.0
    - moment(1) * moment(1) * moment(1) * moment(1) * 3.0
)
COVARIANCE = moment(1, 1) - moment(1, 0) * moment(0, 1)
KERNELS = {
    "variance": (VARIANCE, oracle.variance, 2),
    "third moment": (THIRD, oracle.third_moment, 3),
    "fourth moment": (FOURTH, oracle.fourth_moment, 4),
    "minimum": (OrderStatistic([1.0, 0.0, 0.0]), oracle.minimum, 1),
    "difference": (OrderStatistic([-1.0, 1.0]), oracle.difference, 1),
}
NATIVE = pytest.mark.skipif(not loader.available(), reason="compiled loops are not built")


def listed(windows):
    """All tuples of windows, by loops."""
    found = []
    for i, stop in enumerate(windows.stop):
        partners = range(i + 1, int(stop))
        for rest in combinations(partners, windows.arity - 1):
            found.append((tuple(int(windows.order[j]) for j in (i, *rest)), None))
    return found


def spread_of(degree):
    """Power of the range of each tuple's labels: what a shift-invariant kernel may add up to."""
    return lambda *labels: (max(labels) - min(labels)) ** degree


def size_of(*labels):
    return max(abs(v) for v in labels)


def check(name, x, y, epsilon, tolerance=1e-9):
    """Compare with exact fractions, relative to the sum of the absolute terms."""
    kernel, reference, degree = KERNELS[name]
    windows = sorted_windows(x, epsilon, kernel.arity, None)
    Z = np.column_stack([np.ones(x.size), x])
    tuples = listed(windows)
    exact_Z, exact_y = oracle.exact(Z.tolist()), oracle.exact(y.tolist())
    branch = "rank tree" if isinstance(kernel, OrderStatistic) else "running sums"
    size = size_of if name == "minimum" else spread_of(degree)
    for k in (0, 1):
        found = contract(windows, kernel, Z, y, k, branch=branch)
        expected = oracle.contract(tuples, reference, exact_Z, exact_y, k)
        exact_abs = [[abs(v) for v in row] for row in exact_Z]
        scale = oracle.contract(tuples, size, exact_abs, exact_y, k)
        for entry, value in expected.items():
            error = abs(Fraction(float(found[entry])) - value)
            assert error <= Fraction(tolerance) * scale[entry]


@pytest.mark.parametrize("native", ["0", "1"])
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("offset", [0.0, 1e8, -1e8])
def test_an_offset_of_y_costs_no_digit(name, offset, native, monkeypatch):
    use_native(monkeypatch, native)
    rng = np.random.default_rng(3)
    check(name, rng.random(60), rng.normal(size=60) + offset, 0.08)


@pytest.mark.parametrize("native", ["0", "1"])
@pytest.mark.parametrize("name", ["variance", "third moment", "difference"])
def test_a_random_walk_to_a_million(name, native, monkeypatch):
    use_native(monkeypatch, native)
    rng = np.random.default_rng(4)
    n = 2200  # longer than a chunk
    x = np.arange(n) / n
    steps = rng.normal(size=n)
    y = 1e6 * np.cumsum(steps) / np.abs(np.cumsum(steps)).max()
    check(name, x, y, 2.5 / n)


@pytest.mark.parametrize("native", ["0", "1"])
@pytest.mark.parametrize("name", KERNELS)
def test_times_in_nanoseconds(name, native, monkeypatch):
    use_native(monkeypatch, native)
    rng = np.random.default_rng(5)
    x = 1.7e18 + np.sort(rng.integers(0, 10**12, 50)) * 256.0
    check(name, x, rng.normal(size=50), 2e13)


@pytest.mark.parametrize("native", ["0", "1"])
@pytest.mark.parametrize("scale", [1e-150, 1e150])
@pytest.mark.parametrize("name", ["variance", "minimum", "difference"])
def test_extreme_scales(name, scale, native, monkeypatch):
    use_native(monkeypatch, native)
    rng = np.random.default_rng(6)
    check(name, rng.random(50), scale * rng.normal(size=50), 0.1)


@pytest.mark.parametrize("native", ["0", "1"])
def test_an_outlier_leaves_nothing_behind(native, monkeypatch):
    """One huge label in a thin window; the crowded windows beside it keep their digits."""
    use_native(monkeypatch, native)
    rng = np.random.default_rng(7)
    x = np.concatenate([rng.random(20) * 0.05, [0.12, 0.17, 0.22]])
    y = rng.normal(size=23)
    y[21] = 1e12
    lonely = np.concatenate([x, [5.0]])  # in no tuple: must not be seen at all
    check("third moment", x, y, 0.1)
    check("variance", lonely, np.append(y, 1e200), 0.1)


# ------------------------------------------------ compiled totals against the sums by anchor


def both_ways(windows, kernels, Z, y, weight=None):
    """Tensors from the compiled program and from whole arrays in numpy."""
    fast = contract_all(windows, kernels, Z, y, weight=weight, branch="running sums")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(programs, "window_totals", lambda *_: None)
        plain = contract_all(windows, kernels, Z, y, weight=weight, branch="running sums")
    return fast, plain


def agree(fast, plain, tolerance=1e-10):
    for a, b in zip(fast, plain, strict=True):
        if a is not None:
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * np.max(np.abs(b)))


@NATIVE
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("features", [0, 1, 2])
@pytest.mark.parametrize(
    "kernel",
    [VARIANCE, THIRD, FOURTH, COVARIANCE, moment(1), VARIANCE.with_arity(3)],
    ids=["variance", "third", "fourth", "covariance", "mean", "variance of three"],
)
def test_totals_equal_the_sums_by_anchor(kernel, features, weighted):
    rng = np.random.default_rng(8)
    n = 5000  # several chunks and blocks
    x = rng.random(n)
    y = rng.normal(size=(n, 2)) + 1.0 if kernel.n_columns == 2 else rng.gamma(2.0, size=n)
    Z = np.column_stack([np.ones(n), x, np.cos(5 * x)][: features + 1])
    weight = rng.random(n) if weighted else None
    windows = sorted_windows(x, 0.003, kernel.arity, None)
    kernels = [None, kernel, constant(1.0, kernel.arity, kernel.n_columns)]
    agree(*both_ways(windows, kernels, Z, y, weight))


@NATIVE
@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.6, 2.0])
def test_windows_of_any_width(epsilon):
    """Narrow windows keep all suffix sums, windows beyond 4096 rows only some of them."""
    rng = np.random.default_rng(9)
    n = 12_000
    x, y = rng.random(n), rng.normal(size=n)
    Z = np.column_stack([np.ones(n), x])
    windows = sorted_windows(np.round(x, 3), epsilon, 2, None)
    agree(*both_ways(windows, [None, VARIANCE, constant(1.0, 2)], Z, y))


@NATIVE
def test_columns_that_do_not_fit_are_made_when_needed():
    rng = np.random.default_rng(10)
    n = 600_000
    x, y = np.sort(rng.random(n)), rng.normal(size=n)
    Z = np.column_stack([np.ones(n), x])
    agree(*both_ways(sorted_windows(x, 0.9, 2, None), [None, VARIANCE, constant(1.0, 2)], Z, y))


@NATIVE
@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.integers(0, 12), min_size=1, max_size=40),
    st.lists(st.sampled_from([0.0, 1.0, -1.0, 2.5, 1e8, -3e7]), min_size=40, max_size=40),
    st.integers(1, 4),
    st.sampled_from([0.0, 1.0, 3.0, 50.0]),
    st.booleans(),
)
def test_totals_with_ties_gaps_and_groups(places, labels, arity, epsilon, grouped):
    x, y = np.array(places, dtype=float), np.array(labels[: len(places)])
    groups = np.arange(x.size, dtype=np.int64) % 3 if grouped else None
    kernel = {1: moment(2), 2: VARIANCE, 3: THIRD, 4: FOURTH}[arity]
    windows = sorted_windows(x, epsilon, arity, groups)
    Z = np.column_stack([np.ones(x.size), x])
    fast, plain = both_ways(windows, [None, kernel], Z, y)
    far = float(np.ptp(y)) if arity > 1 else float(np.abs(y).max(initial=0.0))
    size = far ** max(arity, 2) * max(1, windows.count()) * 12
    assert np.all(np.abs(fast[1] - plain[1]) <= 1e-9 * size)


@NATIVE
def test_columns_of_any_stride():
    rng = np.random.default_rng(11)
    n = 3000
    table = rng.random((n, 5))
    windows = sorted_windows(table[:, 0], 0.01, 2, None)
    tasks = [(VARIANCE, 1)]
    apart = programs.window_totals(
        windows, tasks, moments.RowValues(table[:, :1], table[:, 3:4], None)
    )
    copied = programs.window_totals(
        windows, tasks, moments.RowValues(table[:, :1].copy(), table[:, 3:4].copy(), None)
    )
    assert apart is not None
    assert copied is not None
    np.testing.assert_array_equal(apart[0], copied[0])


@NATIVE
def test_a_program_that_would_be_too_long_is_left_to_numpy(monkeypatch):
    monkeypatch.setattr(programs, "LONGEST", 3)
    programs.compile_program.cache_clear()
    windows = Windows(np.arange(5), np.full(5, 5), arity=2)
    rows = moments.RowValues(np.ones((5, 1)), np.arange(5.0)[:, None], None)
    try:
        assert programs.window_totals(windows, [(VARIANCE, 1)], rows) is None
    finally:
        programs.compile_program.cache_clear()
