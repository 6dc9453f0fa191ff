"""Jumps in several columns: the cells, their noise, and the default that uses them."""

import numpy as np
import pytest

from multiobs import MultiObservationRegressor
from multiobs.transport.cells import CellPilot, noise_variance
from multiobs.transport.spline import SplinePilot


def _squares(X: np.ndarray) -> np.ndarray:
    return 3 * np.sign((X[:, 0] - 0.37) * (X[:, 1] - 0.62))


def test_jumps_in_two_columns_at_once_are_sharp() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(800, 2))
    pilot = CellPilot().fit(X, _squares(X) + rng.normal(size=800))
    missed = np.abs(pilot.predict(X) - _squares(X))
    assert 4 <= pilot.n_cells_ <= 8
    assert np.mean(missed > 2) < 0.002


def test_a_smooth_mean_is_left_to_the_spline() -> None:
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(600, 2))
    y = np.sin(4 * X[:, 0]) + X[:, 1] + rng.normal(size=600)
    pilot = CellPilot().fit(X, y)
    assert pilot.n_cells_ == 1
    np.testing.assert_allclose(pilot.predict(X), SplinePilot().fit(X, y).predict(X), atol=1e-10)


def test_share_of_the_noise_is_that_of_refits() -> None:
    rng = np.random.default_rng(2)
    X = rng.uniform(size=(300, 2))
    mean = 20 * _squares(X)  # so large that the cells are those of the mean
    one, two = rng.integers(0, 300, size=(2, 400))
    found, expected = [], []
    for _ in range(30):
        y = mean + rng.normal(size=300)
        pilot = CellPilot().fit(X, y)
        left = y - pilot.predict(X)
        found.append(np.mean(pilot.pair_share(X[one], X[two])))
        expected.append(np.mean((left[one] - left[two]) ** 2) / 2)
    assert np.mean(found) == pytest.approx(np.mean(expected), rel=0.05)


def test_noise_is_seen_past_jumps_and_ties() -> None:
    rng = np.random.default_rng(3)
    X = np.round(rng.uniform(size=(2000, 2)), 1)
    y = 10 * (X[:, 0] > 0.5) + 0.5 * rng.normal(size=2000)
    assert noise_variance(X, y) == pytest.approx(0.25, rel=0.2)


def test_the_default_is_not_misled_by_jumps_in_two_columns() -> None:
    rng = np.random.default_rng(4)
    X = rng.uniform(size=(1000, 2))
    y = _squares(X) + rng.normal(size=1000)
    reg = MultiObservationRegressor(random_state=0).fit(X, y)
    assert "cells of a tree" in str(reg.plan_)
    np.testing.assert_allclose(reg.predict(X), 1.0, atol=0.35)
