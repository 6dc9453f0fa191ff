"""Limits of estimates near an end of their range: monotone, finite, and as honest as before."""

import numpy as np
import pytest

from multiobs import MultiObservationRegressor, samplers
from multiobs.inference.intervals import Skewness, limits


@pytest.mark.parametrize("skew", [None, 0.4, -0.6])
@pytest.mark.parametrize("domain", [(0.0, np.inf), (-np.inf, 0.0), (0.0, 1.0), (0.0, 0.2)])
def test_limits_follow_the_estimate_up_to_the_end_of_its_range(domain, skew):
    low, high = (max(domain[0], -3.0), min(domain[1], 3.0))
    centre = np.linspace(low, high, 2001)[1:-1]
    error = np.full(centre.size, 0.15)
    skewness = None if skew is None else Skewness(0 * centre + skew, 0 * centre + skew)
    found = limits(centre, error, 12.0, 0.95, "auto", domain, skewness=skewness)
    assert np.all(np.diff(found, axis=0) >= -1e-12)
    assert np.all(np.diff(found, axis=0) < 0.05)  # no jumps
    assert np.all((found[:, 0] <= centre) & (centre <= found[:, 1]))
    assert np.all((found >= domain[0]) & (found <= domain[1]))
    wide = limits(centre, error, 12.0, 0.99, "auto", domain, skewness=skewness)
    assert np.all((wide[:, 0] <= found[:, 0] + 1e-12) & (wide[:, 1] >= found[:, 1] - 1e-12))


def test_the_far_limit_meets_the_plain_one_at_the_end():
    q = 1.959964
    found = limits(np.array([1e-9, q]), np.ones(2), np.inf, 0.95, "auto", (0.0, np.inf))
    np.testing.assert_allclose(found[:, 1], [q, np.e * q], rtol=1e-6)
    given = limits(np.array([0.5]), np.ones(1), np.inf, 0.95, "log", (0.0, np.inf))
    np.testing.assert_allclose(given[0, 1], 0.5 * np.exp(q / 0.5), rtol=1e-5)  # as asked for


def coverage(n, seeds):
    """Share of intervals that hold the variance x, and the largest upper limit."""
    at, found = np.array([[0.05], [0.1], [0.3]]), []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        x = rng.random((n, 1))
        model = MultiObservationRegressor("variance", samplers.Adjacent(8), transport=None, alpha=0)
        model.fit(x, np.sqrt(x[:, 0]) * rng.normal(size=n))
        found.append(model.predict_interval(at))
    low, high = np.moveaxis(np.array(found), 2, 0)
    return np.mean((low <= at[:, 0]) & (at[:, 0] <= high)), high.max()


@pytest.mark.filterwarnings("ignore:variance lies in|.* rows:UserWarning")  # of a few data sets
@pytest.mark.parametrize(
    "runs", [60, pytest.param(1000, marks=pytest.mark.slow)], ids=["quick", "at length"]
)
def test_coverage_where_a_line_runs_into_zero(runs):
    share, largest = coverage(100, range(runs))
    assert 0.92 - 0.4 / np.sqrt(runs) < share < 0.995
    assert largest < 2.0  # 7000 on the log scale
