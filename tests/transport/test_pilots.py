"""What a pilot takes of the noise is known and given back; loss curvature is evened out."""

import numpy as np
import pytest

from multiobs import MultiObservationRegressor, statistics
from multiobs.fit.problem import LEAST, Reweighting
from multiobs.samplers import Nearby
from multiobs.transport.spline import SplinePilot


def wiggly(n: int, seed: int, d: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """A mean that a spline needs many degrees of freedom for, and noise of variance one."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, d))
    return X, 3 * np.sin(40 * X).sum(axis=1) + rng.normal(size=n)


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("gap", [1, 8, 100])
def test_the_share_of_noise_left_in_pairs_is_known(d: int, gap: int) -> None:
    measured, known = [], []
    for seed in range(80):
        X, y = wiggly(400, seed, d)
        order = np.argsort(X[:, 0])
        X, y = X[order], y[order]
        pilot = SplinePilot().fit(X, y)
        left = y - pilot.predict(X)
        measured.append(np.mean((left[gap:] - left[:-gap]) ** 2) / 2)
        known.append(np.mean(pilot.pair_share(X[gap:], X[:-gap])))
    error = np.std(measured) / np.sqrt(len(measured))
    # what is left of the mean, by a pilot that is a little too smooth, adds a per cent or two
    assert -4 * error < np.mean(measured) - np.mean(known) < 4 * error + 0.03


def test_near_rows_lose_less_to_the_pilot_than_distant_ones() -> None:
    X, y = wiggly(400, 0)
    X = np.sort(X, axis=0)
    pilot = SplinePilot().fit(X, y)
    near, far = (np.mean(pilot.pair_share(X[gap:], X[:-gap])) for gap in (1, 100))
    assert far < near <= 1.0
    assert far == pytest.approx(np.mean(pilot.residual_share(X)), abs=0.02)
    assert np.all(pilot.pair_share(X, X) == pytest.approx(1.0))


def test_wide_windows_around_a_greedy_pilot_are_not_biased_down() -> None:
    found, absorbed = [], []
    for seed in range(40):
        X, y = wiggly(400, seed)
        reg = MultiObservationRegressor(sampler=Nearby(0.2), transport="location").fit(X, y)
        found.append(reg.predict([[0.5]])[0])
        absorbed.append(reg.result_.problem.residuals.pilot.models[0].effective_df_ / 400)
    assert np.mean(absorbed) > 0.05  # so much would be missing
    error = np.std(found) / np.sqrt(len(found))
    assert -4 * error < np.mean(found) - 1.0 < 4 * error + 0.03


def test_reweighting_undoes_the_curvature_of_the_quartic() -> None:
    spread = np.array([0.5, 1.0, 2.0, 4.0])
    weight = Reweighting(2.0, 1.5, np.ones(4)).by_spread(spread)
    curvature = spread * (spread + 1.5) * weight**2
    assert curvature == pytest.approx(np.full(4, curvature[0]))
    assert weight.mean() == pytest.approx(1.0)
    noiseless = Reweighting(2.0, 0.0, np.ones(4)).by_spread(np.zeros(4))
    assert np.all(noiseless == 1.0)
    # a bound that dips below the mean
    low = Reweighting(2.0, 1.0, np.ones(3)).by_spread(np.array([-3.0, 0.0, 1.0]))
    assert (
        low[0] == low[1] == pytest.approx(low[2] * ((1.0 * 2.0) / (LEAST * (LEAST + 1.0))) ** 0.5)
    )


def test_an_upper_confidence_bound_is_weighted_by_its_own_first_fit() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(500, 1))
    y = np.sin(6 * x[:, 0]) + (3 + x[:, 0] - np.sin(6 * x[:, 0])) / 2 * rng.normal(size=500)
    reg = MultiObservationRegressor(statistics.ucb(2.0)).fit(x, y)
    assert "curvature" in str(reg.plan_)
    fit = reg.result_
    residuals = fit.problem.residuals
    plain = fit.problem.tuples.balance()
    known = Reweighting(2.0, float(np.sqrt(np.mean(residuals.labels**2))), plain)
    spread = (fit.design.columns(x) @ fit.w - residuals.offset) / 2.0
    # two fits are enough: a third would not move the weights
    assert fit.problem.weight == pytest.approx(known.by_spread(spread), rel=0.02)


def bent_rows(seed: int, n: int, d: int):
    rng = np.random.default_rng(seed)
    X = rng.random((n, d))
    return X, 2 * np.abs(X - 0.5).sum(axis=1) + 0.3 * rng.standard_normal(n)


def test_finer_knots_and_less_penalty_leave_less_of_many_bends_in_the_residuals() -> None:
    """Four knots a column count half of the bends as noise; what finer ones take is given back."""
    missed = []
    for seed in range(3):
        X, y = bent_rows(seed, 2000, 20)
        coarse = SplinePilot().fit(X, y)
        finer = coarse.undersmoothed(X, y, penalty=0.1)
        missed.append([
            np.mean((y - each.predict(X)) ** 2) / np.mean(each.residual_share(X)) - 0.09
            for each in (coarse, finer)
        ])  # fmt: skip
    before, after = np.mean(missed, axis=0)
    assert before > 0.005
    assert abs(after) < 0.5 * before


@pytest.mark.parametrize("d", [2, 3, 60])
def test_undersmoothing_keeps_columns_without_curves_and_weights(d: int) -> None:
    X, y = bent_rows(0, 400, d)
    X[:, 0] = X[:, 0] > 0.5
    weight = np.where(np.arange(400) < 40, 0.0, 1.0)
    finer = SplinePilot().fit(X, y, weight).undersmoothed(X, y, weight, penalty=0.1)
    alone = SplinePilot().fit(X[40:], y[40:]).undersmoothed(X[40:], y[40:], penalty=0.1)
    np.testing.assert_allclose(finer.predict(X), alone.predict(X), rtol=1e-9, atol=1e-9)
    assert finer.effective_df_ > SplinePilot().fit(X, y, weight).effective_df_ - 1e-6
