"""Scorers in scikit-learn, weights, groups, and what is refused."""

import pickle

import numpy as np
import pytest
from scipy import stats
from scored_rows import UCB, rows
from sklearn.dummy import DummyRegressor
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.preprocessing import PolynomialFeatures

from multiobs import MultiObservationRegressor, samplers, scoring


def test_scorer_in_cross_validation_and_grid_search():
    x, y = rows(400)
    scorer = scoring.make_scorer("variance")
    model = MultiObservationRegressor("variance", "sliding")
    by_hand = []
    for fold in range(4):
        inside = np.arange(100 * fold, 100 * fold + 100)
        train = np.setdiff1d(np.arange(400), inside)
        fitted = model.fit(x[train, None], y[train])
        prediction = fitted.predict(x[inside, None])
        by_hand.append(-scoring.score("variance", x[inside], y[inside], prediction))
    found = cross_val_score(model, x[:, None], y, cv=4, scoring=scorer)
    np.testing.assert_allclose(found, by_hand)
    search = GridSearchCV(
        MultiObservationRegressor("variance", "sliding", features=PolynomialFeatures(1)),
        {"features__degree": [1, 2], "alpha": [0.0, 1.0]},
        scoring=pickle.loads(pickle.dumps(scorer)),
        cv=3,
        error_score="raise",
    ).fit(x[:, None], y)
    assert np.all(np.isfinite(search.cv_results_["mean_test_score"]))
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()


def test_scorer_takes_a_peers_own_method():
    x, y = rows(200)
    scorer = scoring.make_scorer("variance", predict=lambda model, X: model.predict(X) ** 2)
    model = DummyRegressor(strategy="constant", constant=1.5).fit(x[:, None], y)
    assert scorer(model, x[:, None], y) == -scoring.score("variance", x, y, 2.25)


def test_score_of_the_estimator_is_minus_the_score():
    x, y = rows(300)
    model = MultiObservationRegressor("variance").fit(x[:, None], y)
    expected = -scoring.score("variance", x, y, model.predict(x[:, None]))
    assert model.score(x[:, None], y) == expected


# --- doors


def test_zero_weight_is_absence_and_groups_are_not_crossed():
    x, y = rows(100)
    weight = np.ones(100)
    weight[::3] = 0.0
    keep = weight > 0
    weighted = scoring.score("variance", x, y, 1 + x, sample_weight=weight)
    absent = scoring.score("variance", x[keep], y[keep], (1 + x)[keep])
    assert weighted == pytest.approx(absent)
    groups = np.repeat([0, 1], 50)
    parts = [
        scoring.score("variance", x[g], y[g], 2.0, transport=None)
        for g in (groups == 0, groups == 1)
    ]
    both = scoring.score("variance", x, y, 2.0, groups=groups, transport=None)
    assert both == pytest.approx(np.mean(parts))


def test_several_columns_pair_nearest_rows():
    X = np.array([[0.0, 0.0], [0.0, 0.1], [5.0, 5.0], [5.0, 5.1]])
    y = np.array([0.0, 2.0, 1.0, 3.0])
    assert scoring.score("variance", X, y, 2.0) == 0.0


def test_wider_samplers_can_be_asked_for():
    x, y = rows(300)
    wide = scoring.score("variance", x, y, 2.0, samplers.Nearest(5))
    assert wide != scoring.score("variance", x, y, 2.0)
    assert wide == pytest.approx(scoring.score("variance", x, y, 2.0), rel=0.3)


@pytest.mark.parametrize(
    ("call", "rule"),
    [
        (lambda x, y: scoring.score("variance", x, y, [1.0, 2.0]), "one number per row"),
        (lambda x, y: scoring.score("variance", x, y, np.nan), "prediction must be finite"),
        (lambda x, y: scoring.score("variance", x, y, -1.0, loss="gamma"), "positive predictions"),
        (lambda x, y: scoring.score("minvar", x, y, 1.0, loss="gamma"), "nonnegative statistic"),
        (lambda x, y: scoring.score(UCB, x, y, 1.0, loss="squared"), "only a mean-type"),
        (lambda x, y: scoring.score("variance", x, y, 1.0, loss="rms"), "loss must be one of"),
        (lambda x, y: scoring.score("variance", x, y, 1.0, reference=0.0), "root-type losses"),
        (lambda x, y: scoring.score("variance", x[:1], y[:1], 1.0), "at least 2 rows"),
        (lambda x, y: scoring.score("variance", x, y[:-1], 1.0), "one entry per row, 20, got 19"),
        (lambda x, y: scoring.score("covariance", x, y, 1.0), "needs y with 2 columns"),
        (lambda x, y: scoring.compare("variance", x, y, {}), "at least one forecast"),
        (
            lambda x, y: scoring.compare("variance", x, y, {"a": 1.0}, benchmark="b"),
            "benchmark must be one of",
        ),
        (
            lambda x, y: scoring.compare(
                "variance", np.c_[x, x], y, {"a": 1.0, "b": 2.0}, errors="hac"
            ),
            "needs one column",
        ),
        (
            lambda x, y: scoring.compare(
                "variance", x, y, {"a": 1.0, "b": 2.0}, errors="hac", groups=x > 0.5
            ),
            "needs one series",
        ),
        (
            lambda x, y: scoring.compare("variance", x, y, {"a": 1.0, "b": 2.0}, bandwidth=3),
            "bandwidth belongs to errors='hac'",
        ),
    ],
)
def test_errors_state_the_rule(call, rule):
    x, y = rows(20)
    with pytest.raises(ValueError, match=rule):
        call(x, y)


def test_p_values_of_differences_are_two_sided_t():
    x, y = rows(50)
    gap = scoring.compare("variance", x, y, {"a": 1.0, "b": 4.0}).difference("a", "b")
    assert gap.t == pytest.approx(gap.difference / gap.se)
    assert gap.p == pytest.approx(2 * stats.t.sf(abs(gap.t), 49))
