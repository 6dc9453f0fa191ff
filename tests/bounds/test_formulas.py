"""The theorems' formulas against hand-computed values, their conditions and their inverses."""

import ast
import math
from pathlib import Path

import numpy as np
import pytest

import multiobs.bounds as package
from multiobs import bounds

E = math.e


def test_bounds_import_only_math_and_numpy():
    allowed = {"math", "numpy", "typing", "collections"}
    for path in Path(package.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                assert {a.name.partition(".")[0] for a in node.names} <= allowed, path
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                assert (node.module or "").partition(".")[0] in allowed, path


# Hand-computed values: the logarithms are made whole by the choice of delta.


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        # 2 * 9^2 * 1 * log(2*2*9 / (36/e^4)) = 162 * 4
        (bounds.naive_sample_size(9, 2, 1, 36 / E**4), 162 * 4),
        # 1 * 4^(7/2) * 4^2 * log(8/delta) = 128 * 16 * 3
        (bounds.naive_sample_size(4, 1, 4, 8 / E**3), 128 * 16 * 3),
        # C m n^1 (log(m/delta) + log n): 3 * 2 * 9 * (2 + log 9)
        (bounds.improved_sample_size(9, 2, 1, 2 / E**2, 3.0), 54 * (2 + math.log(9))),
        # d = 2: 4^(3/2) * 2 * (3 + 2 log 8)
        (bounds.improved_sample_size(4, 1, 2, E**-3), 16 * (3 + 2 * math.log(8))),
        # uniform, d = 1: 2 (10 + 4 (2 + log 4))
        (bounds.improved_sample_size_uniform(10, 2, 1, 0.25, 2 / E**2), 20 + 8 * (2 + math.log(4))),
        # uniform, d = 4, epsilon = 1/2: (2/0.5)^4 = 256; 7 + 256 (1 + 4 log 8)
        (bounds.improved_sample_size_uniform(7, 1, 4, 0.5, 1 / E), 7 + 256 * (1 + 4 * math.log(8))),
        (bounds.good_set_size(200, 2 / E**2), 200 - math.sqrt(200)),
        (bounds.good_set_size(200, 2 / E**2, form="repaired"), 200 - 2 * math.sqrt(200)),
        (bounds.good_set_size(1, 0.01), 0.0),
        # 2 * 3 * 0.5 + 2 sqrt(8/(2*100))
        (bounds.uniform_convergence(100, 3, 2, 0.5, E**-8), 3 + 0.4),
        # 2*2*0.1 + 2*3*(2*3 + 2*5)/20
        (bounds.excess_risk(400, 2, 5.0, 2.0, 3.0, 0.1, 4 / E**9), 0.4 + 6 * 16 / 20),
        # (3*2*5 + 8*9*4*37/0.5)/100
        (bounds.fast_excess_risk(100, 2.0, 3.0, 0.5, 3 / E**5), (30 + 8 * 9 * 4 * 37 * 2) / 100),
        (bounds.fast_excess_risk(100, 2.0, 3.0, 0.5, 3 / E**5, feature_norm=1.0),
         (30 + 8 * 9 * 37 * 2) / 100),
        (bounds.fast_excess_risk(100, 2.0, 3.0, 0.5, 3 / E**5, form="repaired"),
         2 * (30 + 8 * 9 * 4 * 37 * 2) / 100),
        (bounds.clean_excess_risk(50, 1.0, 5.0, 0.5, 2 / E), 1 + 1.0),
        (bounds.fast_epsilon(25, 2, 2.0), 0.01),
        (bounds.two_moment_rate(64, 1), 1 / 16),
        (bounds.two_moment_rate(64, 4), 1 / 4),
        (bounds.direct_rate(64), 1 / 64),
        (bounds.sample_rate(81, 3), 1 / 3),
        (bounds.sample_rate(81, 4, fast=True), 1 / 3),
        (bounds.label_rate(81), 1 / 9),
        (bounds.label_rate(81, fast=True), 1 / 81),
        (bounds.rademacher_linear(25, 2.0, 3.0), 1.2),
        (bounds.rademacher_linear(8, 2.0, 3.0, norm=1, p=2), 6 * math.sqrt(math.log(4) / 4)),
        # 1/2 + sqrt(1/4 + 2 (1/3) 2^3) = (1 + sqrt(67/3)) / 2
        (bounds.dimension_lower_bound(3), 0.5 + math.sqrt(0.25 + 16 / 3)),
        (bounds.dimension_lower_bound(1, success=0.75), 0.5 + math.sqrt(0.25 + 2)),
        (bounds.repeat_probability(3, 2), 1 - (3 / 4) * (2 / 4)),
        (bounds.repeat_probability_bound(3, 2), 3 / 4),
        (bounds.repeat_probability(9, 3), 1.0),
    ],
)  # fmt: skip
def test_hand_computed(value, expected):
    assert value == pytest.approx(expected, rel=1e-12)


def test_fast_sample_size_is_the_papers_formula():
    n, m, d, K, delta, C = 30, 2, 2, 1.5, 0.05, 1.7
    epsilon = 1 / (m * K * n)
    cells = (math.sqrt(d) / epsilon) ** d
    printed = C * m * (n + cells * math.log(3 * m * d**d / (delta * epsilon**d)))
    assert bounds.fast_sample_size(n, m, d, K, delta, C) == pytest.approx(printed, rel=1e-12)


def test_repaired_slow_bound_adds_up_the_proof():
    n, m, K, L, B, rademacher, delta = 500, 3, 0.7, 1.3, 2.1, 0.05, 0.1
    deviation = B * math.sqrt(math.log(4 / delta) / (2 * n))
    light = math.sqrt(n) + math.sqrt(n * math.log(8 / delta) / 2)
    corrupted = math.sqrt(n) * (math.sqrt(math.log(4 / delta)) + m * K)
    t1, t2, t3 = 2 * L * rademacher + deviation, B * (light + corrupted) / n, deviation
    repaired = bounds.excess_risk(n, m, K, L, B, rademacher, delta, form="repaired")
    assert repaired == pytest.approx(t1 + 2 * t2 + t3, rel=1e-12)
    assert repaired > bounds.excess_risk(n, m, K, L, B, rademacher, delta)


def test_vectorised_and_scalar_agree():
    n, d = np.array([10, 100, 1000]), np.array([[1], [3]])
    sizes = bounds.improved_sample_size(n, 2, d, 0.05)
    assert sizes.shape == (2, 3)
    assert sizes[1, 2] == bounds.improved_sample_size(1000, 2, 3, 0.05)
    risks = bounds.excess_risk(n, 2, 1.0, 1.0, 1.0, 1 / np.sqrt(n), 0.1)
    assert risks.tolist() == [
        bounds.excess_risk(k, 2, 1.0, 1.0, 1.0, 1 / math.sqrt(k), 0.1) for k in n
    ]
    assert np.all(np.diff(risks) < 0)


def test_no_overflow_in_fifty_dimensions():
    # warnings are errors: an overflow would be one
    for size in (
        bounds.naive_sample_size(10**6, 5, 50, 1e-9),
        bounds.improved_sample_size(10**6, 5, 50, 1e-9),
        bounds.improved_sample_size_uniform(10**6, 5, 50, 1e-3, 1e-9),
        bounds.dimension_lower_bound(50),
    ):
        assert math.isfinite(size)
        assert size > 0
    assert bounds.naive_sample_size(1e12, 2, 50, 0.05) == math.inf
    log = bounds.naive_sample_size(1e12, 2, 50, 0.05, log=True)
    assert log == pytest.approx(
        math.log(2) + 26.5 * math.log(1e12) + 25 * math.log(50) + math.log(math.log(8e13)),
        rel=1e-12,
    )
    assert bounds.corner_cube(50).corner_volume == pytest.approx((1 - 1 / 50) ** 50)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bounds.naive_sample_size(10, 2, 1, 1.5), r"delta must be .* got 1.5"),
        (lambda: bounds.naive_sample_size(10, 2.5, 1, 0.1), r"m must be a whole .* got 2.5"),
        (lambda: bounds.improved_sample_size(0, 2, 1, 0.1), r"n must be at least 1, got 0"),
        (lambda: bounds.improved_sample_size(9, 2, 1, 0.1, C=-1), r"C must be positive, got -1"),
        (lambda: bounds.improved_sample_size_uniform(9, 2, 1, [0.5, 1.0], 0.1),
         r"epsilon must be strictly between 0 and 1, got 1"),
        (lambda: bounds.excess_risk([50, 5], 2, 1, 1, 1, 0, 0.05),
         r"n must be at least 2 log\(8/delta\) = 10.15, got 5"),
        (lambda: bounds.excess_risk(20, 2, 1, 1, 1, 0, 0.05, form="repaired"),
         r"n must be at least 4 .* got 20"),
        (lambda: bounds.fast_excess_risk(50, 1, 1, 1, 0.06),
         r"delta must be at most 3 exp\(-4\) = 0.05495 for the fast rate, got 0.06"),
        (lambda: bounds.fast_excess_risk(9, 1, 1, 1, 0.05), r"n must be at least 2 log"),
        (lambda: bounds.fast_excess_risk(50, 1, 1, 0, 0.05), r"sigma must be positive, got 0"),
        (lambda: bounds.fast_epsilon(1, 1, 0.5), r"m K n must exceed 1"),
        (lambda: bounds.excess_risk(50, 2, 1, 1, 1, 0, 0.05, form="new"), r"form must be"),
        (lambda: bounds.rate_exponent("quick", 1), r"design must be one of .* got 'quick'"),
        (lambda: bounds.dimension_lower_bound(3, success=0.5), r"success must lie .* got 0.5"),
        (lambda: bounds.corner_cube(1), r"d must be at least 2 .* got 1"),
        (lambda: bounds.kernel_range("median", (0, 1)), r"kernel must be one of .* got 'median'"),
        (lambda: bounds.kernel_range("mean", (1, 0)), r"y_range must be \(low, high\)"),
        (lambda: bounds.naive_sample_size(math.nan, 2, 1, 0.1), r"n must be at least 1, got nan"),
        (lambda: bounds.metasamples_within(10, 2, 1, 0.1, lemma="best"), r"lemma must be one of"),
    ],
)  # fmt: skip
def test_conditions_are_checked(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_conditions_hold_exactly_at_the_border():
    delta, largest = 8 / E**5, 3 * math.exp(-4)
    assert bounds.excess_risk(10, 1, 1, 1, 1, 0, delta * (1 + 1e-12)) > 0
    assert bounds.fast_excess_risk(50, 1, 1, 1, largest) > 0
    with pytest.raises(ValueError, match="got"):
        bounds.excess_risk(10, 1, 1, 1, 1, 0, delta * (1 - 1e-9))
    with pytest.raises(ValueError, match="got"):
        bounds.fast_excess_risk(50, 1, 1, 1, largest * (1 + 1e-9))


@pytest.mark.parametrize("form", ["paper", "repaired"])
@pytest.mark.parametrize("target", [1.0, 0.1, 0.013])
def test_inverses_give_the_smallest_n(form, target):
    n = bounds.slow_metasamples(target, 2, 0.5, 1.0, 1.0, 0.7, delta=0.05, form=form)

    def slow(count):
        return bounds.excess_risk(count, 2, 0.5, 1.0, 1.0, 0.7 / math.sqrt(count), 0.05, form=form)

    assert slow(n) <= target * (1 + 1e-9) < slow(n - 1)
    n = bounds.fast_metasamples(target, 1.0, 1.0, 0.5, 0.05, form=form)
    fast = [bounds.fast_excess_risk(k, 1.0, 1.0, 0.5, 0.05, form=form) for k in (n - 1, n)]
    assert fast[1] <= target * (1 + 1e-9) < fast[0]
    n = bounds.clean_metasamples(target, 1.0, 1.0, 0.7, 0.05)
    clean = [bounds.clean_excess_risk(k, 1, 1, 0.7 / math.sqrt(k), 0.05) for k in (n - 1, n)]
    assert clean[1] <= target * (1 + 1e-9) < clean[0]


@pytest.mark.parametrize("lemma", ["naive", "improved", "uniform"])
@pytest.mark.parametrize("C", [0.1, 1.0, 5.0])
def test_metasamples_within_inverts_the_lemmas(lemma, C):
    rows = np.array([1.0, 50.0, 1e4, 1e8])

    def needed(n):
        if lemma == "naive":
            return np.asarray(bounds.naive_sample_size(n, 2, 2, 0.1))
        if lemma == "improved":
            return np.asarray(bounds.improved_sample_size(n, 2, 2, 0.1, C))
        return np.asarray(bounds.improved_sample_size_uniform(n, 2, 2, 0.3, 0.1, C))

    n = bounds.metasamples_within(rows, 2, 2, 0.1, lemma=lemma, epsilon=0.3, C=C)
    assert np.all(needed(n[n >= 1]) <= rows[n >= 1] * (1 + 1e-9))
    assert np.all(needed(n + 1) > rows)


def test_rate_table():
    d = np.array([1, 2, 5])
    assert bounds.rate_exponent("two-moment", d).tolist() == (-2 / (2 + d)).tolist()
    assert bounds.rate_exponent("slow", d, count="rows").tolist() == (-1 / (d + 1)).tolist()
    assert bounds.rate_exponent("fast", d, count="rows").tolist() == (-1 / d).tolist()
    assert bounds.rate_exponent("slow", d).tolist() == [-0.5] * 3
    assert bounds.rate_exponent("fast", d).tolist() == [-1.0] * 3


def test_stone_construction_stays_inside_the_unit_interval():
    for d in (1, 2, 10):
        found = bounds.stone_construction(d)
        assert found.lipschitz == pytest.approx(1 / (2 * math.sqrt(d)))
        # the farthest any point is from the boundary's corners: ||(1/2, .., 1/2)|| = sqrt(d)/2
        assert found.amplitude == pytest.approx(found.lipschitz * np.linalg.norm(np.full(d, 0.5)))
        assert 0 < found.theta_low < found.theta_high < 1
