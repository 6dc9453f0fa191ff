"""One fitted record, replaced whole: no refit, failed or not, leaves a mixture."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from multiobs import MultiObservationRegressor, samplers

AT = np.array([[0.2], [0.7]])


def rows(n=200, seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(n, 1))
    return x, scale * rng.normal(size=n) * (1 + x[:, 0])


class Raises(TransformerMixin, BaseEstimator):
    """Features that fail in the middle of a fit."""

    def __init__(self, error=RuntimeError):
        self.error = error

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        raise self.error("in the middle of a fit")


def everything(model):
    return (
        model.predict(AT),
        model.predict_interval(AT),
        model.coef_,
        model.intercept_,
        model.n_metasamples_,
        model.n_features_in_,
        str(model.plan_),
    )


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, ValueError])
def test_a_failed_refit_leaves_the_old_model(error):
    X, y = rows()
    model = MultiObservationRegressor().fit(X, y)
    before = everything(model)
    model.set_params(features=Raises(error))
    with pytest.raises(error):
        model.fit(np.column_stack([X, X]), 1000 * y)
    model.set_params(features=None)
    for old, new in zip(before, everything(model), strict=True):
        np.testing.assert_array_equal(old, new)


def test_a_refused_refit_leaves_the_names_of_the_columns():
    pandas = pytest.importorskip("pandas")
    X, y = rows()
    model = MultiObservationRegressor().fit(pandas.DataFrame(X, columns=["dose"]), y)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((200, 3), np.nan), y)
    assert model.feature_names_in_.tolist() == ["dose"]
    assert model.n_features_in_ == 1


def test_the_caller_may_change_the_arrays():
    X, y = rows()
    model = MultiObservationRegressor("ucb", random_state=0).fit(X, y)
    low = model.predict_interval(AT)
    fresh = MultiObservationRegressor("ucb", random_state=0).fit(X, y)
    X[:] = 7.0
    y[:] = 0.0
    np.testing.assert_array_equal(fresh.predict_interval(AT), low)
    np.testing.assert_array_equal(
        fresh.predict_interval(AT, bias="undersmooth"),
        model.predict_interval(AT, bias="undersmooth"),
    )


def test_another_class_of_functions_takes_all_of_the_place():
    X, y = rows()
    model = MultiObservationRegressor(estimator=LinearRegression()).fit(X, y)
    assert isinstance(model.estimator_, LinearRegression)
    with pytest.raises(AttributeError, match="coef_ needs the linear class"):
        _ = model.coef_
    model.set_params(estimator=None).fit(X, y)
    assert model.coef_.shape == (1,)
    with pytest.raises(AttributeError, match="estimator_ needs a fit with estimator="):
        _ = model.estimator_


def test_new_parameters_wait_for_the_next_fit():
    X, y = rows()
    model = MultiObservationRegressor().fit(X, y)
    before = model.predict(AT)
    model.set_params(estimator=DecisionTreeRegressor(), statistic="minvar")
    np.testing.assert_array_equal(model.predict(AT), before)
    assert model.statistic_.name == "variance"


def test_a_stream_replaces_a_fit():
    X, y = rows()
    model = MultiObservationRegressor(sampler=samplers.SlidingWindow(), transport=None).fit(X, y)
    late = np.sort(X, axis=0)
    model.partial_fit(late, 10 * y)
    fresh = MultiObservationRegressor(sampler=samplers.SlidingWindow(), transport=None)
    fresh.partial_fit(late, 10 * y)
    np.testing.assert_array_equal(model.predict(AT), fresh.predict(AT))
    for each in (model, fresh):
        with pytest.raises(AttributeError, match="rows in memory, got an estimator of partial_fit"):
            each.predict_interval(AT)
        with pytest.raises(ValueError, match="needs fit, got an estimator of partial_fit"):
            each.metasample_report()
    model.fit(X, y)
    assert model.predict_interval(AT).shape == (2, 2)


def test_a_stream_says_that_nothing_is_transported():
    X, y = rows()
    model = MultiObservationRegressor(sampler=samplers.SlidingWindow())
    model.partial_fit(np.sort(X, axis=0), y)
    assert "transport: none" in str(model.plan_)


def test_drift_is_in_squared_units_of_y():
    X, y = rows()
    y = y + 5 * X[:, 0]
    one, thousand = (
        MultiObservationRegressor(sampler="nearby", random_state=0)
        .fit(X, factor * y)
        .metasample_report()
        for factor in (1.0, 1024.0)
    )
    assert one.drift > 0
    assert thousand.drift == pytest.approx(1024.0**2 * one.drift, rel=1e-9)
    assert thousand.drift_share == pytest.approx(one.drift_share, rel=1e-9)


def test_shrunken_slopes_are_told_from_the_minimisers():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 6))
    y = rng.normal(size=400) * (1 + X[:, 0])
    model = MultiObservationRegressor(random_state=0).fit(X, y)
    summary = model.summary()
    shown = np.concatenate([[model.intercept_], model.coef_])
    np.testing.assert_allclose(summary.shrunken, shown)
    assert "shrunk is what predict uses" in str(summary)
    exact = MultiObservationRegressor(random_state=0, alpha=0.0).fit(X, y)
    np.testing.assert_allclose(summary.table[1:, 0], exact.coef_)
    assert exact.summary().shrunken is None
