"""Whatever is public gives the same answer for rows in any order, with many ties in x.

One entry for each way to an answer; scores have a table of their own in tests/scoring.
"""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import SplineTransformer
from sklearn.tree import DecisionTreeRegressor

from multiobs import (
    MultiObservationRegressor,
    Smooth,
    baselines,
    metasamples,
    samplers,
    statistics,
)

NEARBY = samplers.Nearby(0.15)
AT = np.linspace(0.05, 0.9, 7)[:, None]
TWO = np.column_stack([AT, 1.0 - AT])


def table(columns=1, n=150):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 14, size=(n, columns)) / 14
    return X, X[:, 0] + rng.gamma(2.0, 0.5 + X[:, 0])


def fitted(statistic="variance", sampler=NEARBY, at=AT, what="predict", **options):
    """Return how a fit answers: a function of the rows."""
    options = {"transport": None, "random_state": 0, **options}

    def answer(X, y):
        model = MultiObservationRegressor(statistic, sampler, **options).fit(X, y)
        if what == "test":
            return [model.test_constant().statistic]
        if what == "table":
            return model.summary().table
        if what == "effects":
            return np.concatenate([each.effect for each in model.partial_effects(n_points=5)])
        if what == "influence":
            found = model.influential_rows(at)
            return np.append(y[found.rows], found.effective)
        if what == "report":
            found = model.metasample_report()
            return [found.metasamples, found.label_use_max, found.effective_metasamples]
        if what == "score":
            return [model.score(X, y)]
        return getattr(model, what)(at)

    return answer


def baseline(make):
    return lambda X, y: make().fit(X, y).predict(AT)


SPLINE = {"features": SplineTransformer(3)}
ANSWERS = {
    "default": fitted(sampler="auto", transport="auto"),
    "default interval": fitted(sampler="auto", transport="auto", what="predict_interval"),
    "location-scale": fitted(transport="location-scale"),
    "log link": fitted(link="log"),
    "smooth": fitted(features=Smooth(n_knots=5)),
    "smooth effects": fitted(features=Smooth(n_knots=5), what="effects"),
    "spline": fitted(**SPLINE),
    "spline of three": fitted(statistics.minvar(2), samplers.Adjacent(9), **SPLINE),
    "spline interval": fitted(**SPLINE, what="predict_interval"),
    "joint test": fitted(**SPLINE, what="test"),
    "joint test of sliding windows": fitted("minvar", "sliding", **SPLINE, what="test"),
    "test": fitted(what="test"),
    "summary": fitted(what="table"),
    "influence": fitted(what="influence"),
    "report": fitted(what="report"),
    "tree": fitted(estimator=DecisionTreeRegressor(max_depth=2, random_state=0)),
    "tree of adjacent rows": fitted(
        sampler=samplers.Adjacent(5), estimator=DecisionTreeRegressor(max_depth=3, random_state=0)
    ),
    "boosting": fitted(
        estimator=HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=5, random_state=0)
    ),
    "bound by regression": fitted("ucb", estimator=LinearRegression()),
    "minvar by regression": fitted(
        statistics.minvar(2), samplers.Adjacent(6), estimator=LinearRegression()
    ),
    "replicates": fitted(sampler="replicates", estimator=LinearRegression()),
    "two columns": fitted(sampler=samplers.Nearest(5), at=TWO),
    "two columns, ball": fitted(sampler=samplers.Nearby(0.3), at=TWO, what="predict_interval"),
    "two columns, default": fitted(sampler="auto", transport="auto", at=TWO),
    "two columns, tree": fitted(
        sampler=samplers.Nearest(5), at=TWO, estimator=DecisionTreeRegressor(max_depth=2)
    ),
    "own score": fitted(what="score"),
    "undersmoothed": lambda X, y: (
        MultiObservationRegressor(transport=None, random_state=0)
        .fit(X, y)
        .predict_interval(AT, bias="undersmooth")
    ),
    "clusters": lambda X, y: (
        MultiObservationRegressor(transport=None)
        .fit(X, y)
        .predict_interval(AT, clusters=np.round(7 * X[:, 0]))
    ),
    "groups": lambda X, y: (
        MultiObservationRegressor("minvar", transport=None)
        .fit(X, y, groups=np.round(7 * X[:, 0]) % 2)
        .predict_interval(AT)
    ),
    "weights": lambda X, y: (
        MultiObservationRegressor("ucb", transport=None)
        .fit(X, y, sample_weight=1.0 + (y > 2))
        .predict_interval(AT)
    ),
    "metasamples": lambda X, y: np.sort(
        metasamples(X, y, sampler=samplers.Nearby(0.1)).Y.sum(axis=1)
    ),
    "two moments": baseline(lambda: baselines.TwoMomentRegressor("variance")),
    "residuals": baseline(lambda: baselines.ResidualRegressor("variance")),
    "local plug-in": baseline(
        lambda: baselines.LocalPlugInRegressor("variance", neighbourhood="nearest")
    ),
    "local plug-in by a forest": baseline(
        lambda: baselines.LocalPlugInRegressor("variance", n_trees=5, random_state=0)
    ),
}
LOOSE = {  # parts of the size of the answer
    "joint test of sliding windows": 1e-3,  # what tuples share is known from some that are drawn,
    "smooth": 2e-2,  # and with it how smooth a curve is
    "smooth effects": 2e-2,
    "two columns, default": 1e-4,  # the pilot's length scales end where rounding lets them
}


@pytest.mark.parametrize("name", ANSWERS)
def test_the_order_of_rows_changes_nothing(name):
    X, y = table(2, 80) if "two columns" in name else table()
    answer = ANSWERS[name]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* lies in|.* on few rows", UserWarning)
        known = np.asarray(answer(X, y), dtype=np.float64)
        for rows in (np.argsort(y), np.random.default_rng(1).permutation(y.size)):
            found = np.asarray(answer(X[rows], y[rows]), dtype=np.float64)
            size = np.abs(known[np.isfinite(known)]).max()
            assert_allclose(found, known, rtol=1e-6, atol=LOOSE.get(name, 1e-8) * size)
