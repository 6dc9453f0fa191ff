"""Smooth fits weigh the labels by a first fit of their spread."""

import numpy as np

from multiobs import MultiObservationRegressor, statistics
from multiobs.auto import weighted


def test_which_statistics_are_of_spread() -> None:
    of_spread = {"variance", "gini_mean_difference"}
    others = {"mean", "ucb", "minvar", "kendall_tau", "covariance", "collision_probability"}
    for name in of_spread | others:
        assert statistics.resolve(name).of_spread == (name in of_spread)


def test_weights_multiply_and_may_be_missing() -> None:
    one, two = np.array([1.0, 2.0]), np.array([3.0, 0.5])
    assert weighted(None, None) is None
    assert weighted(one, None) is one
    assert weighted(None, two) is two
    np.testing.assert_array_equal(weighted(one, two), [3.0, 1.0])


def test_rows_of_a_mean_count_by_their_precision() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(600, 1))
    spread = np.exp(2 * x[:, 0] - 1)
    reg = MultiObservationRegressor("ucb", features="smooth", random_state=0)
    reg.fit(x, spread * rng.normal(size=600))
    mean, variance = reg.result_.parts
    weight = mean.problem.weight
    assert weight is not None
    fitted = variance.curve.outward(variance.curve.eta(x))
    # the first fit of the variance and the last differ by the knee of their link alone
    np.testing.assert_allclose(weight * fitted / np.mean(weight * fitted), 1.0, atol=0.12)
    # least squares with these weights knows the mean better than without, where the spread is small
    z = mean.design.columns(np.array([[0.05]]))
    plain = MultiObservationRegressor("mean", features="smooth", random_state=0)
    plain.fit(x, spread * rng.normal(size=600))
    error = float(mean.curve.errors(z)[0] * mean.units.factor)
    assert error < float(plain.result_.standard_errors(np.array([[0.05]]))[0])


def test_weights_of_a_term_test_know_not_the_tested_column() -> None:
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(400, 2))
    y = np.exp(X[:, 0] - 1.5 * X[:, 1]) * rng.gamma(2.0, size=400)
    reg = MultiObservationRegressor("ucb", features="smooth", random_state=0).fit(X, y)
    mean, variance = reg.result_.parts
    tested = np.flatnonzero(mean.design.blocks == 1)
    weight = mean.weighed_without(tested)[0].sums.chi
    own = mean.rows.sums.chi

    def moved_by(column: int, weight: np.ndarray) -> float:
        return float(np.corrcoef(np.log(weight), X[:, column])[0, 1])

    assert moved_by(1, own) > 0.5
    assert abs(moved_by(1, weight)) < 0.1 < abs(moved_by(0, weight))
    assert variance.weighed_without(tested)[0] is variance.rows  # its deviance has its own weights
