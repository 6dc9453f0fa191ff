"""Scores in many columns: labels are moved along one pilot of the mean, the same for all."""

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV

from multiobs import scoring, statistics
from multiobs.samplers import Nearest
from multiobs.scoring import _moved
from multiobs.scoring._errors import standard_error
from multiobs.scoring._heldout import held_out
from multiobs.transport import leverage_corrected

THIRD = statistics.central_moment(3)


def table(seed, n=1000, d=5, interaction=0.0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, d))
    variance = 0.5 + X[:, 0]
    mean = 2 * X.sum(axis=1) + interaction * X[:, 0] * X[:, 1]
    return X, mean, variance, mean + np.sqrt(variance) * rng.standard_normal(n)


@pytest.mark.parametrize("interaction", [0.0, 6.0])
def test_the_truth_beats_larger_and_smaller_variances(interaction):
    for seed in range(2):
        X, _, v, y = table(seed, interaction=interaction)
        for loss in ("squared", "gamma"):
            found = scoring.compare(
                "variance", X, y, {"true": v, "high": 1.4 * v, "low": 0.65 * v}, loss=loss
            )
            assert found.names[0] == "true"
        assert scoring.calibration_test("variance", X, y, v).joint_p > 0.001


def test_without_a_pilot_the_truth_loses_and_that_is_said():
    X, _, v, y = table(0, d=10)
    with pytest.warns(UserWarning, match="as far from each other as any two rows in 10 columns"):
        found = scoring.compare("variance", X, y, {"true": v, "high": 1.3 * v}, transport=None)
    assert found.names[0] == "high"


def test_a_pilot_can_be_handed_over_as_numbers_or_as_a_function():
    X, mean, v, y = table(1)
    forecasts = {"true": v, "high": 1.3 * v}
    by_numbers = scoring.compare("variance", X, y, forecasts, transport=mean)
    assert by_numbers.names[0] == "true"
    line = LinearRegression().fit(*table(99)[::3])
    by_function = scoring.score("variance", X, y, v, transport=line.predict)
    assert by_function == pytest.approx(by_numbers.scores[0], rel=0.1)
    flat = scoring.score("variance", X, y - mean, v, transport=np.zeros(y.size))
    assert flat == pytest.approx(by_numbers.scores[0], rel=1e-9)


def test_statistics_that_move_with_the_mean_are_scored_at_their_own_level():
    X, mean, v, y = table(2)
    bound = mean + 2 * np.sqrt(v)
    found = scoring.compare(
        statistics.ucb(2.0), X, y, {"true": bound, "high": bound + 0.4, "low": bound - 0.4}
    )
    assert found.names[0] == "true"
    least = mean - np.sqrt(v / np.pi)  # E min of two normal labels
    found = scoring.compare("minvar", X, y, {"true": least, "low": least - 0.3})
    assert found.names[0] == "true"


def test_competitors_share_one_pilot_and_it_is_fitted_once(monkeypatch):
    X, _, v, y = table(3, n=200)
    _moved._fitted.cache_clear()
    calls = []
    honest = _moved.residuals_of
    monkeypatch.setattr(_moved, "residuals_of", lambda *a, **b: calls.append(1) or honest(*a, **b))
    one = scoring.score("variance", X, y, v)
    two = scoring.compare("variance", X, y, {"a": v, "b": 2 * v})
    assert len(calls) == 1
    assert two.scores[list(two.names).index("a")] == pytest.approx(one)
    search = GridSearchCV(
        DummyRegressor(strategy="constant"),
        {"constant": [0.5, 1.0, 2.0]},
        scoring=scoring.make_scorer("variance"),
        cv=2,
        error_score="raise",
    ).fit(X, y)
    assert np.all(np.isfinite(search.cv_results_["mean_test_score"]))
    assert len(calls) <= 4  # one for each held-out part, not for each candidate


def test_members_of_a_metasample_were_moved_by_the_same_fit(monkeypatch):
    X, mean, v, y = table(4, n=300)
    folds = np.arange(300) % 3

    def cross_fitted(kind, statistic, columns, labels, weight, undersmooth):
        assert undersmooth
        # pilots of three folds that are off by different constants
        code = np.searchsorted(np.sort(y), labels) % 3
        level = columns.sum(axis=1) * 2 + 100.0 * code
        return _moved.Residuals(labels - level, None, None, code)

    _moved._fitted.cache_clear()
    monkeypatch.setattr(_moved, "residuals_of", cross_fitted)
    found = scoring.score("variance", X, y, v)
    _moved._fitted.cache_clear()
    assert found < 20 < scoring.score("variance", X, y, v, transport=mean + 100.0 * folds)


def test_a_gaussian_process_is_undersmoothed_for_less_bias():
    rng = np.random.default_rng(1)
    X = rng.random((600, 10))
    mean = 5.0 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 10.0 * (X[:, 2] - 0.5) ** 2
    noise = rng.standard_normal(600)
    found = {
        rough: _moved.residuals_of(
            "location", statistics.variance(), X, mean + noise, None, undersmooth=rough
        )
        for rough in (False, True)
    }
    assert found[True].pilot.name == found[False].pilot.name == "Gaussian process"
    bias = {}
    for rough, moved in found.items():
        tuples = Nearest(8).build(X, 2, rng)
        left = leverage_corrected(moved, X, tuples, np.random.default_rng(0)).labels
        pairs = tuples.listed().members
        spread = np.mean((left[pairs[:, 0]] - left[pairs[:, 1]]) ** 2)
        bias[rough] = spread / np.mean((noise[pairs[:, 0]] - noise[pairs[:, 1]]) ** 2) - 1
    assert abs(bias[True]) < 0.015
    assert bias[False] > 0.03  # the squared bias of a fit that predicts best


def test_in_one_column_residuals_go_in_pairs_with_further_rows():
    rng = np.random.default_rng(7)
    x = rng.random(1000)
    noise = rng.standard_normal(1000)
    y = 3.0 * np.sin(12.0 * x) + noise
    held = held_out(statistics.variance(), x, y)
    order = np.argsort(x)
    assert {tuple(np.sort(each)) for each in held.members} == {
        tuple(sorted((order[i], order[i + lag]))) for lag in range(1, 5) for i in range(1000 - lag)
    }
    psi = statistics.variance().psi
    wanted = psi(noise[held.members]).mean()
    assert held.mean(psi(held.Y)) == pytest.approx(wanted, rel=0.02)
    sliding = held_out(statistics.variance(), x, y, transport=None)
    assert len(sliding.members) == 999
    # half the noise that pairs add to squared residuals, and more
    few, many = (standard_error(each, psi(each.Y)) for each in (sliding, held))
    assert many < 0.92 * few


def test_long_ties_of_one_column_weigh_no_more_than_their_rows():
    x = np.repeat([0.0, 1.0, 2.0], [150, 50, 4])
    y = np.random.default_rng(8).normal(size=204) + np.where(x == 1.0, 5.0, 0.0)
    held = held_out(statistics.variance(), x, y)
    first = held.weight[np.all(x[held.members] == 0.0, axis=1)].sum()
    assert first == pytest.approx(150 / 204, rel=0.02)


def test_rows_that_may_be_dependent_keep_their_labels():
    rng = np.random.default_rng(9)
    when, y = np.arange(200.0), np.cumsum(rng.normal(size=200))
    forecasts = {"a": 1.0, "b": 2.0}
    found = scoring.compare("variance", when, y, forecasts, errors="hac")
    plain = scoring.compare("variance", when, y, forecasts, errors="hac", transport=None)
    np.testing.assert_array_equal(found.scores, plain.scores)


def test_more_observations_and_statistics_without_a_shift_keep_their_labels():
    X, mean, v, y = table(5, n=300)
    assert scoring.score(THIRD, X[:, 0], y, v) == scoring.score(
        THIRD, X[:, 0], y, v, transport=None
    )
    positive = np.abs(y) + 1
    plain = scoring.score("dispersion_index", X[:, :2], positive, 1.0)
    assert plain == scoring.score("dispersion_index", X[:, :2], positive, 1.0, transport=None)
    with pytest.raises(ValueError, match="no shift of y leaves in place"):
        scoring.score("dispersion_index", X, positive, 1.0, transport=mean)
    with pytest.raises(
        ValueError, match=r"one finite mean per row, shape \(300,\), got shape \(300, 2\)"
    ):
        scoring.score("variance", X, y, v, transport=np.zeros((300, 2)))
    with pytest.raises(ValueError, match="transport must be one of 'auto', got 'along'"):
        scoring.score("variance", X, y, v, transport="along")
