"""Pseudo-observations of the rows themselves, against loops over the tuples."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

from multiobs import MultiObservationRegressor, statistics
from multiobs.fit.rowwise import pool_rows
from multiobs.samplers import Leaves


@pytest.mark.parametrize("statistic", [statistics.variance(), statistics.minvar(2)])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_tuples_of_each_row_are_pooled_at_the_row(
    statistic: statistics.Statistic, weighted: bool
) -> None:
    rng = np.random.default_rng(0)
    n, m = 12, statistic.arity
    X, y = rng.normal(size=(n, 3)), rng.normal(size=n)
    weight = rng.uniform(0.5, 2.0, size=n) if weighted else None
    codes = np.column_stack([np.arange(n) // 4, np.arange(n) % 2])
    codes[11] = 99  # in no leaf with others
    tuples = Leaves(codes).build(X, m, rng)
    assert statistic.psi is not None
    found = pool_rows(tuples, [statistic.psi], X, y, weight=weight)
    total, sums = np.zeros(n), np.zeros(n)
    for members in tuples.listed().members:
        size = 1.0 if weight is None else float(np.prod(weight[members]))
        value = float(statistic.psi(y[None, members])[0])
        total[members] += size
        sums[members] += size * value
    kept = total > 0
    assert not kept[11]
    np.testing.assert_array_equal(found.anchors, np.flatnonzero(kept))
    np.testing.assert_array_equal(found.x, X[kept])
    np.testing.assert_allclose(found.weight, total[kept], rtol=1e-12)
    np.testing.assert_allclose(found.values[:, 0], (sums / total.clip(1e-9))[kept], rtol=1e-9)


def test_a_regressor_sees_each_row_of_a_forest_once() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(200, 4))
    y = rng.normal(scale=np.sqrt(0.5 + X[:, 0]))
    forest = RandomForestRegressor(10, min_samples_leaf=20, random_state=0)
    reg = MultiObservationRegressor(estimator=forest, random_state=0).fit(X, y)
    np.testing.assert_array_equal(reg.result_.pooled.x, X)
