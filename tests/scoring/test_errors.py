"""Standard errors of scores under shared labels and time order, and the size of tests."""

import itertools

import numpy as np
import pytest
from scored_rows import rows, truth_of

from multiobs import scoring, statistics
from multiobs.scoring._errors import _newey_west, shared
from multiobs.scoring._heldout import held_out


def overlap_loop(u, members):
    total = 0.0
    for t, s in itertools.product(range(len(u)), repeat=2):
        if set(members[t]) & set(members[s]):
            total += u[t] * u[s]
    return total


@pytest.mark.parametrize("m", [2, 3, 5])
def test_shared_label_variance_counts_each_overlapping_pair_once(m):
    x, y = rows(60)
    statistic = statistics.minvar(m - 1)
    held = held_out(statistic, x, y)
    u = held.Y.min(axis=1) - held.Y.min(axis=1).mean()
    expected = overlap_loop(u, held.members.tolist())
    assert expected > 0
    assert shared(u[:, None], held.members, 60)[0, 0] == pytest.approx(expected, rel=1e-10)


def test_row_formula_is_the_same_for_pairs(monkeypatch):
    x, y = rows(200)
    held = held_out(statistics.variance(), x, y)
    u = held.Y[:, :1] - held.Y[:, :1].mean()
    listed = shared(u, held.members, 200)
    monkeypatch.setattr("multiobs.scoring._errors.LISTED", 0)
    np.testing.assert_allclose(shared(u, held.members, 200), listed)


def test_variance_is_never_negative():
    members = np.array([[0, 1], [1, 2]])
    assert shared(np.array([[1.0], [-1.0]]), members, 3)[0, 0] > 0


def test_newey_west_is_the_textbook_sum():
    x, y = rows(50)
    held = held_out(statistics.variance(), x, y, transport=None)
    order = np.argsort(x)
    u = 0.5 * np.diff(y[order]) ** 2
    u = (u - u.mean()) / u.size
    lags = 3
    expected = u @ u + sum(
        2 * (1 - j / (lags + 1)) * float(u[j:] @ u[:-j]) for j in range(1, lags + 1)
    )
    psi = statistics.variance().psi(held.Y)
    U = (held.weight * (psi - psi.mean()))[:, None]
    assert _newey_west(held, U, lags)[0, 0] == pytest.approx(expected, rel=1e-10)
    with pytest.raises(ValueError, match="bandwidth must be at least 1, got 0"):
        _newey_west(held, U, 0)


@pytest.mark.parametrize("errors", ["shared", "hac"])
def test_equal_forecasts_are_told_apart_in_five_per_cent_of_trials(errors):
    # v + a and v - a have the same expected squared score.
    rejected = 0
    for trial in range(400):
        rng = np.random.default_rng([1, trial])
        x = rng.uniform(size=400)
        y = rng.normal(size=400)
        forecasts = {"high": 1.3, "low": 0.7}
        found = scoring.compare("variance", x, y, forecasts, errors=errors, transport=None)
        rejected += found.difference("high", "low").p < 0.05
    assert 0.03 <= rejected / 400 <= 0.08


def test_five_observations_keep_the_size_too():
    # Counting two tuples once for every common row would reject in 0.3 % of trials.
    rejected = 0
    for trial in range(200):
        rng = np.random.default_rng([3, trial])
        x, y = rng.uniform(size=400), rng.exponential(size=400)
        found = scoring.compare(statistics.minvar(4), x, y, {"high": 0.25, "low": 0.15})
        rejected += found.difference("high", "low").p < 0.05
    assert 0.02 <= rejected / 200 <= 0.1


def test_calibration_test_keeps_its_size_and_finds_ten_per_cent():
    rejected = found = 0
    for trial in range(300):
        rng = np.random.default_rng([2, trial])
        x = rng.uniform(size=1000)
        y = (1 + x) * rng.normal(size=1000)
        good, high = (
            scoring.calibration_test("variance", x, y, factor * (1 + x) ** 2, transport=None)
            for factor in (1.0, 1.3)
        )
        rejected += good.joint_p < 0.05
        found += high.p < 0.05
    assert 0.02 <= rejected / 300 <= 0.09
    assert found / 300 > 0.9


def test_calibration_test_of_a_bound_uses_its_identification_function():
    law, statistic = truth_of("ucb-gamma")
    x, y = law.sample(5000, np.random.default_rng(3))
    good = scoring.calibration_test(statistic, x, y, law.truth(x))
    low = scoring.calibration_test(statistic, x, y, 0.8 * law.truth(x))
    assert good.p > 0.01
    assert low.p < 1e-6
    assert low.mean > 0  # positive: too low


def test_instruments_can_be_given():
    x, y = rows(500)
    made = scoring.calibration_test(
        "variance", x, y, 2.0, instruments=np.column_stack([np.ones(500), x])
    )
    assert made.df == 2
    assert made.joint_p < made.p  # the spread grows with x, which a constant misses
    with pytest.raises(ValueError, match="one row per row of X, 500, got shape"):
        scoring.calibration_test("variance", x, y, 2.0, instruments=np.ones(3))


def test_two_neighbours_of_each_other_are_one_pair():
    members = np.array([[0, 1], [1, 0], [1, 2], [3, 4], [4, 2], [2, 4]])
    U = np.random.default_rng(5).exponential(size=(6, 1))
    touching = np.array([[len(set(a) & set(b)) > 0 for b in members] for a in members])
    np.testing.assert_allclose(shared(U, members, 5), U.T @ touching @ U, rtol=1e-12)
