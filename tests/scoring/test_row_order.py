"""No score depends on the order of the rows, whatever ties x has."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from multiobs import MultiObservationRegressor, samplers, scoring, statistics

CALLS = {
    "score": lambda X, y, r: scoring.score("variance", X, y, r),
    "gamma": lambda X, y, r: scoring.score("variance", X, y, r, loss="gamma"),
    "minvar": lambda X, y, r: scoring.score(statistics.minvar(2), X, y, r),
    "ucb": lambda X, y, r: scoring.score("ucb", X, y, r),
    "naive": lambda X, y, r: scoring.score("variance", X, y, r, samplers.Naive(10)),
    "weights": lambda X, y, r: scoring.score("variance", X, y, r, sample_weight=1 + (y > 1)),
    "groups": lambda X, y, r: scoring.score("variance", X, y, r, groups=y > 1),
    "compare": lambda X, y, r: scoring.compare("variance", X, y, {"a": r, "b": 1.0}).gain_se,
    "calibration": lambda X, y, r: scoring.calibration_test("variance", X, y, r).joint_p,
    "reliability": lambda X, y, r: scoring.reliability_curve("variance", X, y, r, n_bins=3).se,
    "decompose": lambda X, y, r: scoring.decompose("variance", X, y, r).miscalibration,
    "murphy": lambda X, y, r: scoring.murphy_curve("variance", X, y, {"a": r}, theta=5).scores,
}
ONE_COLUMN = {
    "hac": lambda X, y, r: (
        scoring.compare("variance", X, y, {"a": r, "b": 1.0}, errors="hac").gain_se
    ),
    "backtest": lambda X, y, r: (
        scoring.backtest("variance", X[:, 0], y, {"a": r}, windows=[2]).comparison.scores
    ),
}


def table(d, values, n=150):
    rng = np.random.default_rng(d)
    X = rng.integers(0, values, (n, d)) / values
    return X, X.sum(axis=1) + (0.5 + X[:, 0]) * rng.normal(size=n)


@pytest.mark.parametrize("values", [4, 1000])
@pytest.mark.parametrize(("d", "name"), [(d, name) for d in (1, 2) for name in CALLS])
def test_permuted_rows_have_the_same_score(d, name, values):
    X, y = table(d, values)
    r = (0.5 + X[:, 0]) ** 2
    known = CALLS[name](X, y, r)
    for rows in (np.argsort(y), np.argsort(-y), np.random.default_rng(0).permutation(y.size)):
        assert_allclose(CALLS[name](X[rows], y[rows], r[rows]), known, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", ONE_COLUMN)
def test_rows_of_the_same_time_have_no_order(name):
    X, y = table(1, 20)
    r = (0.5 + X[:, 0]) ** 2
    known = ONE_COLUMN[name](X, y, r)
    rows = np.argsort(y)
    assert_allclose(ONE_COLUMN[name](X[rows], y[rows], r[rows]), known, rtol=1e-9)


def test_the_score_of_an_estimator_does_not_follow_sorted_labels():
    X, y = table(1, 5)
    model = MultiObservationRegressor("variance", random_state=0).fit(X, y)
    rows = np.argsort(y)
    assert model.score(X[rows], y[rows]) == pytest.approx(model.score(X, y), rel=1e-9)


def test_the_truth_wins_on_twenty_values_sorted_by_label():
    rng = np.random.default_rng(7)
    x = rng.integers(0, 20, 4000) / 20
    y = np.sort(rng.normal(size=4000))
    table = scoring.compare("variance", x, y, {"true": 1.0, "small": 0.01})
    assert table.names[0] == "true"
    assert table.scores[0] == pytest.approx(2.0, abs=0.3)


@pytest.mark.parametrize("d", [1, 2])
def test_a_huge_tie_costs_no_more_than_its_rows(d):
    rng = np.random.default_rng(1)
    X = np.zeros((30_000, d))
    X[:100] = rng.random((100, d))
    y = rng.normal(size=30_000)
    held = scoring.compare("variance", X, y, {"true": 1.0, "high": 1.2}, transport=None)
    assert held.n_metasamples < 3_000_000
    assert held.names[0] == "true"


def test_every_row_counts_alike_however_many_share_its_place():
    # one place holds 30 rows of variance 1, thirty places two rows each of variance 9
    rng = np.random.default_rng(2)
    X = np.concatenate(
        [np.zeros((30, 2)), np.repeat(10 + np.arange(30.0)[:, None], 2, axis=0) * [1, 0]]
    )
    y = np.concatenate([rng.normal(size=30), 3 * rng.normal(size=60)])
    table = scoring.compare("variance", X, y, {"any": 1.0}, transport=None)
    inside = 30 * np.var(y[:30], ddof=1)
    beyond = sum(np.diff(pair)[0] ** 2 for pair in y[30:].reshape(30, 2))
    assert table.constant == pytest.approx((inside + beyond) / 90)
