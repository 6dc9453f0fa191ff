"""Leaves of a forest, and the default in five columns, do not depend on the order of the rows."""

import numpy as np
import pytest

from multiobs import MultiObservationRegressor, statistics
from multiobs.auto.forest import honest_leaves


@pytest.mark.parametrize("digits", [1, 12], ids=["tied", "distinct"])
def test_permuting_the_rows_permutes_the_leaves(digits: int) -> None:
    rng = np.random.default_rng(0)
    X = np.round(rng.uniform(size=(300, 5)), digits)
    y = X[:, 0] + rng.normal(size=300)
    mixed = rng.permutation(300)
    here = honest_leaves(X, y, 2, np.random.default_rng(7))
    there = honest_leaves(X[mixed], y[mixed], 2, np.random.default_rng(7))
    assert np.array_equal(here[mixed], there)


@pytest.mark.parametrize("statistic", [statistics.variance(), statistics.ucb(2.0)], ids=repr)
def test_row_order_moves_predictions_by_less_than_a_tenth_of_an_error(statistic: object) -> None:
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(400, 5))
    y = 3 * X[:, 0] * X[:, 1] + (0.5 + X[:, 2]) * rng.normal(size=400)
    first = MultiObservationRegressor(statistic, random_state=0).fit(X, y)
    at = X[:20]
    limits = first.predict_interval(at)
    error = (limits[:, 1] - limits[:, 0]) / 4
    for order in (np.argsort(y), rng.permutation(400)):
        other = MultiObservationRegressor(statistic, random_state=0).fit(X[order], y[order])
        assert np.all(np.abs(other.predict(at) - first.predict(at)) < 0.1 * error)
