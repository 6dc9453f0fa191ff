"""Fits without their rows: small pickles that predict and give the same intervals."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression

from multiobs import MultiObservationRegressor, statistics

AT = np.linspace(0.05, 0.95, 7)[:, None]


def table(n, d=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, d))
    return X, np.sin(3 * X[:, 0]) + (1 + X[:, 0]) * rng.normal(size=n)


@pytest.mark.parametrize("statistic", ["variance", "ucb", statistics.minvar(2)])
def test_predictions_and_intervals_stay(statistic):
    X, y = table(5000)
    model = MultiObservationRegressor(statistic, random_state=0).fit(X, y)
    before = (model.predict(AT), model.predict_interval(AT), model.coef_cov_)
    text, test = str(model.summary()), model.test_constant()
    assert model.drop_rows() is model
    again = pickle.loads(pickle.dumps(model))
    for each in (model, again):
        after = (each.predict(AT), each.predict_interval(AT), each.coef_cov_)
        for one, other in zip(before, after, strict=True):
            assert_allclose(one, other, rtol=1e-9)
        assert str(each.summary()) == text
        found = each.test_constant()
        assert (found.hypothesis, found.df_num) == (test.hypothesis, test.df_num)
        assert found.statistic == pytest.approx(test.statistic, rel=1e-9)
        assert found.p_value == pytest.approx(test.p_value, rel=1e-6)


def test_size_does_not_grow_with_rows():
    sizes = []
    for n in (4000, 40_000):
        model = MultiObservationRegressor("variance", transport=None).fit(*table(n)).drop_rows()
        sizes.append(len(pickle.dumps(model)))
    assert sizes[1] < 1.2 * sizes[0]


def test_shrunken_slopes_stay():
    X, y = table(3000, d=5)
    model = MultiObservationRegressor(random_state=0).fit(X, y)
    before, limits = model.predict(X[:9]), model.predict_interval(X[:9])
    model.drop_rows()
    assert_array_equal(model.predict(X[:9]), before)
    assert_allclose(model.predict_interval(X[:9]), limits, rtol=1e-9)


def test_replicates_of_a_bootstrap_stay():
    X, y = table(500)
    model = MultiObservationRegressor(estimator=LinearRegression(), random_state=0).fit(X, y)
    limits = model.predict_interval(AT, n_bootstrap=5)
    model.drop_rows()
    assert_array_equal(model.predict_interval(AT, n_bootstrap=5), limits)
    with pytest.raises(ValueError, match="needs the rows, which drop_rows dropped"):
        model.predict_interval(AT, n_bootstrap=6)


def test_what_needs_tuples_is_refused():
    X, y = table(300)
    model = MultiObservationRegressor().fit(X, y).drop_rows()
    with pytest.raises(ValueError, match="metasample_report needs the rows"):
        model.metasample_report()
    with pytest.raises(AttributeError, match="tuples_ needs the rows"):
        _ = model.tuples_
    with pytest.raises(ValueError, match="clusters must be None after drop_rows"):
        model.predict_interval(AT, clusters="serial")
    with pytest.raises(ValueError, match="bias must be None without the rows"):
        model.predict_interval(AT, bias="undersmooth")
    smooth = MultiObservationRegressor(features="smooth").fit(X, y)
    with pytest.raises(ValueError, match="drop_rows needs a linear class or estimator="):
        smooth.drop_rows()
