"""Efficient weights: less error where the class is right, next to no harm where it is not."""

import numpy as np
import pytest

from multiobs import MultiObservationRegressor, samplers, statistics
from multiobs.fit import efficient, efficiently_weighted

GRID = np.linspace(0.0, 1.0, 51)[:, None]


def rows(trial, variance, n=300, skewed=False):
    rng = np.random.default_rng([trial, n])
    x = rng.uniform(size=n)
    noise = (rng.gamma(2.0, size=n) - 2.0) / np.sqrt(2.0) if skewed else rng.normal(size=n)
    return x[:, None], np.sin(6 * x) + np.sqrt(variance(x)) * noise


def errors(variance, trials, **how):
    """Mean squared errors of the estimate and of the minimiser itself, (trials, 2)."""
    out, truth = [], variance(GRID[:, 0])
    for trial in range(trials):
        X, y = rows(trial, variance, **how)
        model = MultiObservationRegressor("variance", random_state=0).fit(X, y)
        exact = MultiObservationRegressor("variance", alpha=0.0, random_state=0).fit(X, y)
        found = [model.predict(GRID), exact.predict(GRID)]
        out.append([np.mean((each - truth) ** 2) for each in found])
    return np.array(out)


@pytest.mark.filterwarnings("ignore:variance lies in")
def test_a_line_has_less_error():
    found = errors(lambda x: 0.2 + x, 40, skewed=True).mean(axis=0)
    assert 0.4 < found[0] / found[1] < 0.95


@pytest.mark.filterwarnings("ignore:variance lies in")
def test_a_curve_is_hardly_followed_astray():
    found = errors(lambda x: 0.3 + 2 * x**2, 25, n=1500).mean(axis=0)
    assert 0.8 < found[0] / found[1] < 1.06


def test_the_difference_has_the_size_that_its_covariance_says():
    """Where both lines estimate the same, their squared distance is its noise on average."""
    found = []
    for trial in range(200):
        rng = np.random.default_rng(trial)
        Z = np.column_stack([np.ones(400), rng.uniform(size=400)])
        y = (0.2 + Z[:, 1]) * rng.normal(size=400) ** 2
        plain, influence = efficient._line(Z, y, np.ones(400))
        other, apart = efficient._line(Z, y, (0.2 + Z[:, 1]) ** -2.0)
        gap, apart = plain - other, influence - apart
        found.append((gap @ Z.T @ Z @ gap, np.sum((apart.T @ apart) * (Z.T @ Z))))
    size, noise = np.mean(found, axis=0)
    assert 0.8 < size / noise < 1.25


def followed(Z, y):
    """Share of the difference of both lines that is followed."""
    weight = np.ones(y.size)
    plain, _ = efficient._line(Z, y, weight)
    fitted = Z @ plain
    held = np.maximum(fitted, efficient.LEAST * fitted.mean())
    other, _ = efficient._line(Z, y, (fitted.mean() / held) ** 2)
    return (efficient._guarded_difference(Z, y, weight) / (plain - other))[1]


def test_repeated_rows_are_followed_less():
    """They look like more evidence than they are: the guard errs on the side of the minimiser."""
    shares = []
    for trial in range(100):
        rng = np.random.default_rng(trial)
        Z = np.column_stack([np.ones(100), rng.uniform(size=100)])
        y = (0.2 + Z[:, 1]) * rng.normal(size=100) ** 2
        shares.append([followed(Z, y), followed(np.repeat(Z, 4, axis=0), np.repeat(y, 4))])
    once, repeated = np.mean(shares, axis=0)
    assert 0.7 < once < 1.0
    assert 0.2 < repeated < 0.75 * once


def test_lines_and_influences_are_those_of_least_squares():
    rng = np.random.default_rng(0)
    Z = np.column_stack([np.ones(50), rng.normal(size=50)])
    y, weight = rng.normal(size=50), rng.uniform(0.5, 2.0, size=50)
    found, influence = efficient._line(Z, y, weight)
    root = np.sqrt(weight)
    expected = np.linalg.lstsq(Z * root[:, None], y * root, rcond=None)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    step = 1e-6  # a row's contribution is the derivative in the logarithm of its weight
    for row in (0, 17):
        more = weight.copy()
        more[row] *= 1 + step
        moved = (efficient._line(Z, y, more)[0] - found) / step
        np.testing.assert_allclose(moved, influence[row], rtol=1e-4, atol=1e-9)


def test_a_difference_beyond_its_noise_is_not_followed():
    rng = np.random.default_rng(1)
    x = np.sort(rng.uniform(size=4000))
    Z = np.column_stack([np.ones(4000), x])
    line, curve = (m * rng.normal(size=4000) ** 2 for m in (0.2 + x, 0.1 + 3 * x**3))
    kept = []
    for y in (line, curve):
        plain, _ = efficient._line(Z, y, np.ones(4000))
        held = np.maximum(Z @ plain, efficient.LEAST * y.mean())
        whole = plain - efficient._line(Z, y, (y.mean() / held) ** 2)[0]
        part = efficient._guarded_difference(Z, y, np.ones(4000))
        kept.append(float(part @ whole / (whole @ whole)))
    assert kept[0] > 0.2
    assert kept[1] < 0.02


def test_limits_and_tests_are_those_of_the_minimiser():
    X, y = rows(5, lambda x: 0.2 + x)
    model = MultiObservationRegressor("variance", random_state=0).fit(X, y)
    exact = MultiObservationRegressor("variance", alpha=0.0, random_state=0).fit(X, y)
    assert abs(model.coef_[0] - exact.coef_[0]) > 1e-4
    np.testing.assert_allclose(model.predict_interval(GRID), exact.predict_interval(GRID))
    assert model.test_constant().p_value == pytest.approx(exact.test_constant().p_value)
    assert "shrunk" in str(model.summary())


def test_narrow_limits_hold_the_prediction():
    for trial in range(10):
        X, y = rows(trial, lambda x: 0.2 + x)
        model = MultiObservationRegressor("variance", random_state=0).fit(X, y)
        low, high = model.predict_interval(GRID, level=0.05).T
        assert np.all((low <= model.predict(GRID)) & (model.predict(GRID) <= high))


@pytest.mark.parametrize(
    "how",
    [
        dict(sampler=samplers.Adjacent(8)),
        dict(transport=None),
        dict(alpha=0.0),
        dict(statistic=statistics.variance().with_loss("gamma")),
        dict(statistic=statistics.ucb(2.0)),
    ],
    ids=["named sampler", "no transport", "no shrinkage", "gamma loss", "bound"],
)
def test_what_was_asked_for_is_left_alone(how):
    X, y = rows(7, lambda x: 0.2 + x)
    model = MultiObservationRegressor(**{"statistic": "variance", "random_state": 0, **how})
    assert "efficient weights" not in str(model.fit(X, y).plan_)


def test_few_rows_are_left_alone():
    X, y = rows(7, lambda x: 0.2 + x, n=efficient.FEWEST - 1)
    model = MultiObservationRegressor("variance", random_state=0).fit(X, y)
    assert model.result_ is model.inference_.fit


def test_rows_without_weight_are_absent():
    X, y = rows(7, lambda x: 0.2 + x)
    far = np.concatenate([y, [1e3, -1e3]])
    more = np.concatenate([X, [[0.3], [0.7]]])
    weight = np.concatenate([np.ones(y.size), [0.0, 0.0]])
    model = MultiObservationRegressor("variance", random_state=0)
    found = model.fit(more, far, sample_weight=weight).predict(GRID)
    np.testing.assert_allclose(found, model.fit(X, y).predict(GRID), rtol=1e-6)


@pytest.mark.filterwarnings("ignore:variance lies in")  # the sign of rounding is the machine's
def test_labels_without_spread_are_left_alone():
    x = np.linspace(0.0, 1.0, 100)[:, None]
    exact = MultiObservationRegressor("variance", alpha=0.0).fit(x, x[:, 0]).result_
    assert np.all(np.isfinite(efficiently_weighted(exact).w))


def test_scale_and_shift_of_labels_pass_through():
    X, y = rows(9, lambda x: 0.2 + x)
    model = MultiObservationRegressor("variance", random_state=0).fit(X, y)
    other = MultiObservationRegressor("variance", random_state=0).fit(X, 1e4 + 8.0 * y)
    np.testing.assert_allclose(other.predict(GRID), 64.0 * model.predict(GRID), rtol=1e-6)
