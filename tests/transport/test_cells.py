"""Jumps in several columns: the cells, their noise, and the default that uses them."""

import numpy as np
import pytest

from multiobs import MultiObservationRegressor
from multiobs.transport.boxes import _cuts_between, best_cut
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


@pytest.mark.parametrize("seed", range(3))
def test_a_board_of_opposite_signs_shows_in_no_single_cut(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(300, 2))
    mean = 3 * np.sign(np.sin(4 * np.pi * X[:, 0]) * (X[:, 1] - 0.5))
    pilot = CellPilot().fit(X, mean + rng.normal(size=300))
    assert 8 <= pilot.n_cells_ <= 12
    assert np.mean((pilot.predict(X) - mean) ** 2) < 0.25


def test_a_cut_is_worth_what_the_next_ones_gain() -> None:
    rng = np.random.default_rng(5)
    X, weight = rng.uniform(size=(120, 3)), rng.uniform(0.5, 2.0, size=120)
    y = _squares(X[:, 1:]) + rng.normal(size=120)

    def left(rows: np.ndarray) -> float:
        return float(np.cov(y[rows], aweights=weight[rows], ddof=0)) * weight[rows].sum()

    def gain(rows: np.ndarray, low: np.ndarray) -> float:
        if min(low[rows].sum(), (~low)[rows].sum()) < 6:
            return 0.0
        return left(rows) - left(rows & low) - left(rows & ~low)

    cuts = [X[:, j] <= t for j in range(3) for t in _cuts_between(X[:, j])]
    everything = np.ones(120, dtype=bool)

    def worth(low: np.ndarray) -> float:
        further = [max(gain(side, each) for each in cuts) for side in (low, ~low)]
        return gain(everything, low) + sum(max(each - 5.0, 0.0) for each in further)

    # further cuts are sought between the bins of all rows
    found = best_cut(X, y, weight, 5.0, 6)
    assert found.gain == pytest.approx(max(worth(low) for low in cuts), rel=1e-9)
    assert found.gain == pytest.approx(worth(X[:, found.column] <= found.threshold), rel=1e-9)


def test_rows_without_weight_are_not_there() -> None:
    rng = np.random.default_rng(6)
    X = rng.uniform(size=(400, 2))
    y = _squares(X) + rng.normal(size=400)
    weight = np.where(np.arange(400) < 300, 1.0, 0.0)
    some = CellPilot().fit(X, np.where(weight > 0, y, 1e3), weight)
    alone = CellPilot().fit(X[:300], y[:300])
    np.testing.assert_allclose(some.predict(X), alone.predict(X), atol=1e-9)


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


def test_a_corner_on_a_slope_is_seen_among_300_rows() -> None:
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = rng.uniform(size=(300, 2))
        mean = 5.0 * (X[:, 0] > 0.4) * (X[:, 1] > 0.5) + 3 * X[:, 0]
        reg = MultiObservationRegressor(random_state=0).fit(X, mean + rng.normal(size=300))
        assert "cells of a tree" in str(reg.plan_)


def test_the_default_is_not_misled_by_jumps_in_two_columns() -> None:
    rng = np.random.default_rng(4)
    X = rng.uniform(size=(1000, 2))
    y = _squares(X) + rng.normal(size=1000)
    reg = MultiObservationRegressor(random_state=0).fit(X, y)
    assert "cells of a tree" in str(reg.plan_)
    np.testing.assert_allclose(reg.predict(X), 1.0, atol=0.35)
