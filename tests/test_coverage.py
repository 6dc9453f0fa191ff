"""Nominal 95 % intervals cover 95 %, by simulation; small versions of benchmarks/coverage.py."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.coverage import LAWS, SAMPLERS, STATISTICS, rejections, simulate

CORNERS = [
    ("variance", "nearby-paper", "normal-sine"),
    ("variance", "sliding", "gamma-sine"),
    ("gini", "nearby-paper", "uniform-line"),
    ("ucb", "nearby-paper", "normal-sine"),
    ("ucb", "sliding", "laplace-line"),
    ("minvar", "sliding", "exponential-line"),
    ("minvar", "nearby-paper", "normal-sine"),
]


@pytest.mark.parametrize(("statistic", "sampler", "law"), CORNERS)
def test_intervals_cover(statistic, sampler, law):
    found = simulate(statistic, sampler, law, n=300, trials=200, transport=None)
    # Three standard errors of 200 trials around a coverage between 92 % and 98 %.
    assert np.all(found.interval > 0.92 - 0.045)
    assert np.mean(found.interval) > 0.92 - 0.02
    assert np.mean(found.interval) < 0.985


def test_naive_errors_do_not_cover():
    wide = simulate("variance", "nearby-paper", "normal-sine", n=1000, trials=100, transport=None)
    narrow = simulate("variance", "sliding", "normal-sine", n=1000, trials=200, transport=None)
    assert np.mean(wide.naive) < 0.55
    assert 0.8 < np.mean(narrow.naive) < 0.93


def test_transport_adds_no_variance_that_is_missed():
    with_pilot = simulate("minvar", "sliding", "normal-sine", n=300, trials=40)
    without = simulate("minvar", "sliding", "normal-sine", n=300, trials=40, transport=None)
    # the same 40 data sets: reported over true standard deviations hardly differ
    assert np.allclose(with_pilot.error_ratio, without.error_ratio, rtol=0.1)


def test_constant_variance_is_not_rejected_too_often():
    size = rejections(0.0, n=500, trials=200, transport=None, sampler="nearby-paper")
    assert size < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)


def test_growing_variance_is_found():
    assert rejections(1.0, n=1000, trials=40, transport=None, sampler="nearby-paper") > 0.85


@pytest.mark.slow
@pytest.mark.parametrize(("n", "low", "high"), [(300, 0.92, 0.98), (2000, 0.93, 0.97)])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("statistic", STATISTICS)
def test_intervals_cover_in_1000_trials(statistic, sampler, law, n, low, high):
    found = simulate(statistic, sampler, law, n=n, trials=1000, transport=None)
    noise = 2 * np.sqrt(0.05 * 0.95 / 1000)
    assert np.all(found.interval > low - noise)
    assert np.all(found.interval < high + noise)


@pytest.mark.slow
@pytest.mark.parametrize("statistic", STATISTICS)
def test_intervals_cover_with_transport(statistic):
    found = simulate(statistic, "auto", "gamma-sine", n=300, trials=1000)
    noise = 2 * np.sqrt(0.05 * 0.95 / 1000)
    assert np.all(found.interval > 0.92 - noise)
    assert np.all(found.interval < 0.98 + noise)


@pytest.mark.slow
def test_size_and_power_of_the_test_of_constancy():
    size = rejections(0.0, n=1000, trials=4000, sampler="nearby-paper", transport=None)
    assert 0.04 <= size <= 0.06
    assert 0.03 <= rejections(0.0, n=1000, trials=1000) <= 0.07  # the default, fewer trials
    assert rejections(1.0, n=1000, trials=300) > 0.9
