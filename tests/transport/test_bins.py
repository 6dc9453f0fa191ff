"""Columns rounded to the bins that a regressor of histograms tells apart."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression

from multiobs.transport import in_bins


def rows(n):
    rng = np.random.default_rng(0)
    return np.column_stack([rng.exponential(size=n), rng.integers(0, 9, size=n)]), rng


@pytest.mark.parametrize("most", [2, 16, 255])
def test_bins_hold_as_many_rows_each_and_keep_their_order(most):
    X, _ = rows(1530)
    found = in_bins(HistGradientBoostingRegressor(max_bins=most), X)
    values, counts = np.unique(found[:, 0], return_counts=True)
    assert values.size == most
    assert counts.max() - counts.min() <= 2
    order = np.argsort(X[:, 0])
    assert np.all(np.diff(found[order, 0]) >= 0)
    for value in values:
        inside = X[found[:, 0] == value, 0]
        assert value == pytest.approx((inside.min() + inside.max()) / 2)
    if most > 9:  # few values stay what they are
        assert_array_equal(found[:, 1], X[:, 1])


def test_boosted_trees_are_as_good_in_bins():
    """Their own bins are quantiles too, so that hardly a leaf is another."""
    X, rng = rows(3000)
    truth = np.sin(X[:, 0])
    y, weight = truth + 0.3 * rng.normal(size=3000), rng.exponential(size=3000)
    trees = HistGradientBoostingRegressor(max_iter=20, random_state=0)
    own = trees.fit(X, y, sample_weight=weight).predict(X)
    ours = trees.fit(in_bins(trees, X), y, sample_weight=weight).predict(X)
    assert np.mean((ours - truth) ** 2) < 1.1 * np.mean((own - truth) ** 2)
    assert np.mean((ours - own) ** 2) < 0.2 * np.mean((own - truth) ** 2)


def test_other_regressors_see_the_rows_themselves():
    X, _ = rows(600)
    assert in_bins(LinearRegression(), X) is X


def test_huge_and_tied_values_stay_in_order():
    x = np.repeat([1e300, -1e300, 3.0], [400, 1, 400])[:, None] + np.arange(801.0)[:, None] * 1e285
    found = in_bins(HistGradientBoostingRegressor(max_bins=3), x)
    assert np.all(np.isfinite(found))
    assert np.all(np.diff(found[np.argsort(x[:, 0]), 0]) >= 0)
