"""Probabilities of repeats, and the cubes of the lower bounds."""

import math
from fractions import Fraction

import pytest

from multiobs import bounds


def exact_repeat(rows, d):
    none = Fraction(1)
    for i in range(1, rows):
        none *= 1 - Fraction(i, 2**d)
    return 1 - none


@pytest.mark.parametrize(
    ("rows", "d"), [(2, 11), (3, 12), (5, 14), (40, 16), (100, 20), (200, 18), (30, 10)]
)
def test_repeat_probability_to_the_last_digits(rows, d):
    # every term of the series counts at this accuracy, its last included
    expected = float(exact_repeat(rows, d))
    assert bounds.repeat_probability(rows, d) == pytest.approx(expected, rel=3e-10)


@pytest.mark.parametrize(("rows", "d"), [(2, 10), (30, 10), (100, 20), (1000, 20), (3000, 24)])
def test_repeat_probability_by_exact_product(rows, d):
    none = 1.0
    for i in range(1, rows):
        none *= 1 - i / 2**d
    assert bounds.repeat_probability(rows, d) == pytest.approx(1 - none, rel=1e-6)
    assert bounds.repeat_probability(rows, d) <= bounds.repeat_probability_bound(rows, d)


def test_too_few_rows_for_the_lower_bound_mean_too_few_repeats():
    for d in (4, 12, 30, 50):
        least = bounds.dimension_lower_bound(d)
        below = math.floor(least * 0.999)
        if below >= 2:
            assert bounds.repeat_probability(below, d) < 1 / 3


def test_corner_cube_constants():
    for C in (1.0, 2.0, 7.0):
        for d in (2, 3, 20):
            cube = bounds.corner_cube(d, C)
            assert cube.alpha + cube.beta == pytest.approx(0.5)
            assert cube.lipschitz == pytest.approx(1 / (2 * cube.beta)) == pytest.approx(C * d)
            assert cube.corner_volume == pytest.approx((2 * cube.alpha) ** d)
            # the exact volume never allows more variance than the printed bound
            assert 0.25 * (1 - cube.corner_volume) <= cube.variance_bound + 1e-12
            assert cube.variance_bound <= 1 / (4 * C)
