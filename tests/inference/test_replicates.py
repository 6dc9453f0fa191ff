"""Replicates of regressors: forests of few trees, what is told beforehand."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import (
    ExtraTreesRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)

from multiobs import MultiObservationRegressor, models
from multiobs.estimator import messages
from multiobs.fit import fewer_trees, regressor
from multiobs.inference import bootstrap

AT = np.array([[0.1, 0.5], [0.5, 0.5], [0.9, 0.2]])


def rows(n=300):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n, 2))
    return X, X[:, 0] + (0.5 + X[:, 1]) * rng.normal(size=n)


def forest(trees=30, **more):
    return RandomForestRegressor(trees, min_samples_leaf=30, random_state=0, **more)


def constant_tree(values):
    return SimpleNamespace(predict=lambda X: np.asarray(values, dtype=np.float64))


def test_noise_of_few_trees_is_taken_off():
    """Two positions, three replicates of two trees each, by hand for a forest of eight."""
    trees = np.array([[[1.0, 5.0], [3.0, 5.5]], [[6.0, 5.0], [4.0, 5.5]], [[9.0, 5.5], [8.0, 5.0]]])
    fitted = [SimpleNamespace(estimators_=[constant_tree(v) for v in each]) for each in trees]
    found = bootstrap.Refits(fitted, 2.0, 8).standard_errors(np.zeros((2, 1)))
    between = np.var([2.0, 5.0, 8.5], ddof=1)
    within = np.mean([2.0, 2.0, 0.5])  # half the squared difference of two trees
    assert_allclose(found[0], 2.0 * np.sqrt(between - within * (1 / 2 - 1 / 8)))
    # replicates that agree leave the noise of the forest's own trees, and nothing negative
    assert_allclose(found[1], 2.0 * np.sqrt(0.125 / 8))


@pytest.mark.parametrize("statistic", ["variance", pytest.param("ucb", marks=pytest.mark.slow)])
def test_few_trees_have_the_errors_of_whole_forests(statistic, monkeypatch):
    X, y = rows()
    fit = MultiObservationRegressor(statistic, estimator=forest(), random_state=0).fit(X, y).result_
    at = X[::10]
    few = bootstrap.replicate(fit, 40, np.random.SeedSequence(0), None)
    assert few.trees == 30
    assert {len(each.estimators_) for each in few.models} == {bootstrap.TREES}
    monkeypatch.setattr(bootstrap, "fewer_trees", lambda template, count: None)
    whole = bootstrap.replicate(fit, 40, np.random.SeedSequence(0), None)
    assert whole.trees is None
    ratio = few.standard_errors(at) / whole.standard_errors(at)
    # 40 replicates know an error to 11 %, those of few trees to a little less
    assert 0.8 < np.sqrt(np.mean(ratio**2)) < 1.25


def test_only_forests_have_fewer_trees():
    assert fewer_trees(ExtraTreesRegressor(20), 5).n_estimators == 5
    assert fewer_trees(forest(11, oob_score=True), 5).oob_score is False
    assert fewer_trees(forest(10), 5) is None
    assert fewer_trees(HistGradientBoostingRegressor(), 5) is None

    class Median(RandomForestRegressor):
        def predict(self, X):
            return np.median([tree.predict(X) for tree in self.estimators_], axis=0)

    assert fewer_trees(Median(50), 5) is None


def test_a_root_reached_by_few_trees_is_the_root(monkeypatch):
    X, y = rows(600)
    model = MultiObservationRegressor("ucb", estimator=forest(), random_state=0).fit(X, y)
    assert len(model.result_.regressor.estimators_) == 30
    monkeypatch.setattr(regressor, "fewer_trees", lambda template, count: None)
    whole = MultiObservationRegressor("ucb", estimator=forest(), random_state=0).fit(X, y)
    error = model.predict(X) - whole.predict(X)
    truth = X[:, 0] + 0.5 + X[:, 1]
    assert np.mean(error**2) < 0.05 * np.mean((whole.predict(X) - truth) ** 2)
    assert abs(np.mean(error)) < 0.01


def test_long_intervals_are_told_beforehand(monkeypatch):
    X, y = rows(200)
    trees = HistGradientBoostingRegressor(max_iter=2, random_state=0)
    model = MultiObservationRegressor("variance", "nearest", estimator=trees, transport=None)
    told = []
    fit = model.fit(X, y).result_
    bootstrap.replicate(fit, 3, np.random.SeedSequence(0), None, tell=told.append)
    assert len(told) == 1
    assert 0.0 < told[0] < 30.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict_interval(AT, n_bootstrap=2)
    monkeypatch.setattr(messages, "LONG", 0.0)
    with pytest.warns(UserWarning, match=r"will take about \d+ seconds, by the first of them"):
        model.predict_interval(AT, n_bootstrap=3)
    model.predict_interval(AT, n_bootstrap=3)  # the same ones again, without a word


def test_a_file_keeps_the_replicates_of_a_forest(tmp_path):
    pytest.importorskip("skops")
    X, y = rows()
    model = MultiObservationRegressor("variance", estimator=forest(), random_state=0).fit(X, y)
    models.save(model, tmp_path / "forest.mo", n_bootstrap=4)
    again = MultiObservationRegressor("variance", estimator=forest(), random_state=0).fit(X, y)
    wanted = again.predict_interval(AT, n_bootstrap=4)
    assert_allclose(models.load(tmp_path / "forest.mo").predict_interval(AT), wanted, rtol=1e-12)
