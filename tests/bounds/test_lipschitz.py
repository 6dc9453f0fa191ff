"""The estimate of K, the Lipschitz constant of the law in total variation."""

import math

import numpy as np
import pytest
from scipy import stats

from multiobs import bounds


@pytest.mark.parametrize(("size", "p"), [(400, 0.5), (900, 0.2)])
def test_what_chance_alone_shows_is_taken_off(size, p):
    """Two cells of one law: the correction is the mean total variation between two samples."""
    rng = np.random.default_rng(0)
    half = np.repeat([0.0, 1.0], size)
    x = half + rng.random(2 * size) / 10
    y = np.zeros(2 * size)
    y[: round(p * size)] = 1.0  # the left cell has p, the right one more: the estimate is positive
    y[size : size + round(1.5 * p * size)] = 1.0
    found = bounds.estimate_tv_lipschitz(x, y, n_cells=2, n_bins=2, rng=rng)
    distance = x[size:].mean() - x[:size].mean()
    pooled = y.mean()
    counts = np.arange(size + 1)
    law = stats.binom.pmf(counts, size, pooled)
    chance = law @ np.abs(counts[:, None] - counts) @ law / size  # exact, no approximation
    assert (found.raw - found.estimate) * distance == pytest.approx(chance, rel=0.01)
    assert found.raw * distance == pytest.approx(0.5 * p, rel=1e-9)


@pytest.mark.parametrize("slope", [0.2, 0.8])
@pytest.mark.parametrize("d", [1, 2])
def test_tv_lipschitz_of_a_known_law(slope, d):
    rng = np.random.default_rng(3)
    x = rng.random((40_000, d))
    y = (rng.random(40_000) < 0.1 + slope * x[:, 0]).astype(float)
    found = bounds.estimate_tv_lipschitz(x, y, n_cells=8, rng=rng)
    assert slope * 0.7 < found.estimate < slope * 1.5
    assert found.noise < found.estimate
    assert found.raw >= found.estimate


def test_tv_lipschitz_without_any_change_is_noise():
    rng = np.random.default_rng(0)
    found = bounds.estimate_tv_lipschitz(rng.random(3000), rng.normal(size=3000), rng=rng)
    assert found.estimate < 3 * found.noise + 0.05
    with pytest.raises(ValueError, match="must be finite"):
        bounds.estimate_tv_lipschitz([0.0, 1.0, math.nan], [0.0, 1.0, 2.0], rng=rng)
    with pytest.raises(ValueError, match="n_cells must be between 2 and"):
        bounds.estimate_tv_lipschitz(np.arange(9.0), np.arange(9.0), n_cells=7, rng=rng)
