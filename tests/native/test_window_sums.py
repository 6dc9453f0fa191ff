"""Window ends, window sums and the stable sort against the obvious loops, compiled and not."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from native_switch import use_native

from multiobs.native import loader
from multiobs.native.window_sums import stable_argsort, window_stops, window_sums

BUILT = loader.available()  # whether there are compiled loops here at all


def both_ways(function, *arguments):
    """Call with the compiled loops (when built) and with numpy."""
    results = []
    for setting in ("1", "0"):
        with pytest.MonkeyPatch.context() as patch:
            use_native(patch, setting)
            assert loader.available() is (setting == "1" and BUILT)
            results.append(function(*arguments))
    return results


grid = st.integers(-8, 8).map(lambda k: k / 10)
anywhere = st.floats(-1e3, 1e3, allow_nan=False)


@settings(max_examples=300, deadline=None)
@given(
    groups=st.lists(st.lists(grid | anywhere, max_size=12), max_size=4),
    epsilon=st.sampled_from([0.0, 0.1, 0.3, 1.0, 1e4]),
    shift=st.sampled_from([0.0, 1e8]),
)
def test_stops_are_the_first_row_beyond_epsilon(groups, epsilon, shift):
    parts = [np.sort(np.array(g, dtype=float) + shift) for g in groups]
    x = np.concatenate([*parts, np.empty(0)])
    ends = np.cumsum([p.size for p in parts], dtype=np.int64)
    end = np.repeat(ends, [p.size for p in parts]) if parts else np.empty(0, dtype=np.int64)

    def expected(limit):
        return [
            next((s for s in range(i + 1, limit[i]) if x[s] - x[i] > epsilon), limit[i])
            for i in range(x.size)
        ]

    for stop in both_ways(window_stops, x, epsilon, end):
        assert stop.dtype == np.int64
        assert stop.tolist() == expected(end)
    for stop in both_ways(window_stops, np.sort(x), epsilon):
        x = np.sort(x)
        assert stop.tolist() == expected([x.size] * x.size)


@st.composite
def windows(draw):
    rows = draw(st.integers(0, 40))
    ends = st.lists(st.integers(0, rows), min_size=30, max_size=30)
    a = draw(st.integers(0, 30))
    lo = np.sort(np.array(draw(ends), dtype=np.int64))[:a]
    hi = np.maximum(np.sort(np.array(draw(ends), dtype=np.int64))[:a], lo)
    columns = draw(st.sampled_from([0, 1, 2, 6, 12, 13, 17]))
    values = draw(st.lists(st.sampled_from([0.0, 1.0, -0.1, 1e12, 1e-9, 3.3]), min_size=1))
    F = np.resize(np.array(values), rows * columns).reshape(rows, columns)
    return F, lo, hi


@settings(max_examples=300, deadline=None)
@given(windows())
def test_sums_equal_exact_sums(case):
    F, lo, hi = case
    for out in both_ways(window_sums, F, lo, hi):
        assert out.shape == (lo.size, F.shape[1])
        for i, c in itertools.product(range(lo.size), range(F.shape[1])):
            column = F[lo[i] : hi[i], c]
            exact = sum(map(Fraction, column.tolist()), Fraction(0))
            assert abs(float(exact - Fraction(out[i, c]))) <= 1e-14 * np.abs(column).sum()


def test_sums_keep_no_residue_of_an_outlier():
    n, w = 5000, 37
    F = np.random.default_rng(0).random((n, 3))
    F[1000] = 1e300
    lo = np.arange(n)
    hi = np.minimum(lo + w, n)
    for out in both_ways(window_sums, F, lo, hi):
        np.testing.assert_allclose(
            out[1001:1020], [F[i : i + w].sum(axis=0) for i in range(1001, 1020)]
        )


numbers = (
    st.sampled_from([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324])
    | st.floats()
    | grid
)


@settings(max_examples=300, deadline=None)
@given(st.lists(numbers, max_size=60), st.integers(1, 40))
def test_sort_equals_numpys_stable_sort(values, repeats):
    x = np.tile(np.array(values, dtype=float), repeats)
    for order in both_ways(stable_argsort, x):
        assert order.dtype == np.int64
        assert order.tolist() == np.argsort(x, kind="stable").tolist()


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, n: rng.random(n),
        lambda rng, n: rng.standard_cauchy(n) * 1e150,
        lambda rng, n: (
            rng.integers(0, 50, n) + rng.random(n) * 1e-12
        ),  # long runs of equal leading bits
        lambda rng, n: np.where(rng.random(n) < 0.5, 1e300, 1 + rng.random(n) * 1e-13),
        lambda rng, n: 1.7e18 + np.round(rng.random(n) * 1e9),
        lambda rng, n: np.round(rng.random(n), 6),
        lambda rng, n: np.arange(n)[::-1] * 1.0,
    ],
)
def test_sort_of_many_rows(draw):
    x = draw(np.random.default_rng(1), 50_000)
    for order in both_ways(stable_argsort, x):
        np.testing.assert_array_equal(order, np.argsort(x, kind="stable"))
