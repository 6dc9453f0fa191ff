"""Scores in many columns: labels are moved along one pilot of the mean, the same for all."""

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV

from multiobs import scoring, statistics
from multiobs.scoring import _moved


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
    monkeypatch.setattr(_moved, "residuals_of", lambda *given: calls.append(1) or honest(*given))
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

    def cross_fitted(kind, statistic, columns, labels, weight):
        # pilots of three folds that are off by different constants
        code = np.searchsorted(np.sort(y), labels) % 3
        level = columns.sum(axis=1) * 2 + 100.0 * code
        return _moved.Residuals(labels - level, None, None, code)

    _moved._fitted.cache_clear()
    monkeypatch.setattr(_moved, "residuals_of", cross_fitted)
    found = scoring.score("variance", X, y, v)
    _moved._fitted.cache_clear()
    assert found < 20 < scoring.score("variance", X, y, v, transport=mean + 100.0 * folds)


def test_one_column_and_statistics_without_a_shift_keep_their_labels():
    X, mean, v, y = table(5, n=300)
    assert scoring.score("variance", X[:, 0], y, v) == scoring.score(
        "variance", X[:, 0], y, v, transport=None
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
