"""Weights say how much rows count against each other: their unit changes nothing."""

import numpy as np
import pytest

from multiobs import MultiObservationRegressor, samplers

AT = np.array([[0.2], [0.7]])
RTOL = 1e-3  # of what iterations end at: weights differ in their last bits


def rows(n=200, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(n, 1))
    return x, rng.normal(size=n) * (1 + x[:, 0]), rng.uniform(0.5, 2.0, size=n)


@pytest.mark.parametrize("factor", [1e-300, 1e200])
@pytest.mark.parametrize(
    "parameters",
    [
        {"statistic": "variance"},
        {"statistic": "minvar"},
        {"statistic": "ucb"},
        {"statistic": "skewness", "transport": None},
        {"statistic": "variance", "features": "smooth"},
        {"statistic": "variance", "sampler": "sliding", "transport": None},
    ],
)
def test_the_unit_of_weights_changes_nothing(parameters, factor):
    X, y, weight = rows()
    if parameters["statistic"] == "skewness":
        y = np.exp(y)  # of symmetric labels it has no root
    known = MultiObservationRegressor(**parameters).fit(X, y, sample_weight=weight)
    found = MultiObservationRegressor(**parameters).fit(X, y, sample_weight=factor * weight)
    np.testing.assert_allclose(found.predict(AT), known.predict(AT), rtol=RTOL)
    np.testing.assert_allclose(found.predict_interval(AT), known.predict_interval(AT), rtol=RTOL)


@pytest.mark.parametrize("factor", [1e-300, 1e200])
def test_the_unit_of_weights_changes_no_stream(factor):
    X, y, weight = rows()
    order = np.argsort(X[:, 0])
    X, y, weight = X[order], y[order], weight[order]

    def streamed(w):
        model = MultiObservationRegressor(sampler=samplers.SlidingWindow(), transport=None)
        for part in (slice(0, 90), slice(90, 200)):
            model.partial_fit(X[part], y[part], sample_weight=w[part])
        return model.predict(AT)

    np.testing.assert_allclose(streamed(factor * weight), streamed(weight), rtol=1e-9)


def test_the_caller_may_change_weights_groups_and_frames():
    pandas = pytest.importorskip("pandas")
    X, y, weight = rows()
    groups = np.arange(200) % 3

    def fitted():
        frame, labels = pandas.DataFrame(X.copy(), columns=["dose"]), pandas.Series(y.copy())
        own = (weight.copy(), groups.copy())
        model = MultiObservationRegressor().fit(frame, labels, *own)
        return model, frame, labels, *own

    known = fitted()[0].predict_interval(pandas.DataFrame(AT, columns=["dose"]))
    model, frame, labels, own_weight, own_groups = fitted()
    frame.iloc[:, :] = 7.0
    labels.iloc[:] = 0.0
    own_weight[:] = 1e9
    own_groups[:] = 0
    found = model.predict_interval(pandas.DataFrame(AT, columns=["dose"]))
    np.testing.assert_array_equal(found, known)
