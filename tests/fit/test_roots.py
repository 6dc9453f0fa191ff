"""The upper root, whatever the quartic risk does: no value that is known to be wrong comes back."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import SplineTransformer

from multiobs import MultiObservationRegressor, statistics
from multiobs.fit import Status


def skewed(seed: int, n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Labels for which the quartic risk of a spline finds the lower root over many rows."""
    rng = np.random.default_rng(seed)
    x = rng.gamma(1.0, 1.0, (n, 1))
    return x, np.exp(1.2 * rng.normal(size=n) + 0.5 * x[:, 0])


def quiet(model: MultiObservationRegressor, X: np.ndarray, y: np.ndarray) -> list[str]:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(X, y)
    return [str(each.message) for each in said]


@pytest.mark.parametrize("seed", [1, 6, 11])
@pytest.mark.parametrize("transport", [None, "auto"])
def test_a_bound_is_above_the_expected_minimum_or_not_given(seed, transport):
    X, y = skewed(seed)
    common = dict(
        sampler="nearby", transport=transport, features=SplineTransformer(6), random_state=0
    )
    bound = MultiObservationRegressor(statistics.ucb(1.0), **common)
    said = quiet(bound, X, y)
    least = MultiObservationRegressor("minvar", **common)
    quiet(least, X, y)
    found = bound.predict(X)
    known = np.isfinite(found)
    assert np.mean(found[known] < least.predict(X)[known]) <= 0.05
    assert np.mean(known) >= 0.85
    status = bound.solution_.status
    if not np.all(known):
        assert status is Status.LEFT_REGION
        assert any("NaN" in sentence for sentence in said)


def test_newton_steps_find_the_bound_of_a_line():
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(2000, 1))
    y = rng.normal(size=2000) * (1 + x[:, 0])
    plain = MultiObservationRegressor(statistics.ucb(1.0), sampler="nearby", random_state=0).fit(
        x, y
    )
    assert plain.solution_.status is Status.CONVERGED
    from multiobs.fit import linear

    fit = plain.result_
    astray = replace(fit, solution=replace(fit.solution, status=Status.LEFT_REGION))
    other = linear.above_level(astray, fit.design.columns(x))
    assert other.solution.status is Status.OTHER_WAY
    np.testing.assert_allclose(other.predict(x), plain.predict(x), rtol=0.1)


def test_where_labels_show_no_root_nothing_is_returned():
    """Of symmetric labels the estimate of the squared third moment is often below zero."""
    rng = np.random.default_rng(0)
    x = rng.random(300)
    y = np.sin(6 * x) + rng.normal(size=300) * (1 + x)
    model = MultiObservationRegressor("skewness", transport=None)
    with pytest.warns(ConvergenceWarning, match="no root"):
        model.fit(x[:, None], y)
    assert np.isnan(model.predict(x[:, None])).all()
    assert np.isnan(model.predict_interval(x[:5, None])).all()
    assert np.isnan(model.test_constant().p_value)
    skewed = model.fit(x[:, None], np.exp(y))
    assert np.isfinite(skewed.predict_interval(x[:5, None])).all()
