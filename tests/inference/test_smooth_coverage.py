"""Bands of the smooth class cover on average over x; a small run by default, a long one if slow."""

import numpy as np
import pytest

from multiobs import MultiObservationRegressor

GRID = np.linspace(0.02, 0.98, 25)
MEAN = np.sin(4 * np.pi * GRID)
SPREAD = np.sqrt(0.6 + 0.4 * np.sin(2 * np.pi * GRID))
TRUTH = {
    "variance": SPREAD**2,
    "ucb": MEAN + SPREAD,
    "minvar": MEAN - SPREAD / np.sqrt(np.pi),
    "gini_mean_difference": 2 * SPREAD / np.sqrt(np.pi),
}


def _coverage(statistic: str, n: int, trials: int) -> float:
    found = []
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        x = rng.uniform(size=n)
        noise = np.sqrt(0.6 + 0.4 * np.sin(2 * np.pi * x)) * rng.normal(size=n)
        reg = MultiObservationRegressor(statistic, features="smooth", random_state=0)
        reg.fit(x[:, None], np.sin(4 * np.pi * x) + noise)
        low, high = reg.predict_interval(GRID[:, None]).T
        found.append((low <= TRUTH[statistic]) & (TRUTH[statistic] <= high))
    return float(np.mean(found))


@pytest.mark.parametrize("statistic", ["variance", "ucb"])
def test_bands_cover_in_a_few_data_sets(statistic: str) -> None:
    assert _coverage(statistic, 300, 10) > 0.85


@pytest.mark.slow
@pytest.mark.parametrize("n", [300, 2000])
@pytest.mark.parametrize("statistic", TRUTH)
def test_bands_cover_on_average_over_x(statistic: str, n: int) -> None:
    assert 0.92 <= _coverage(statistic, n, 200) <= 0.985
