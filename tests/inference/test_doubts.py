"""Errors that nothing supports are not claimed; those of dependent rows come with a word."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from multiobs import MultiObservationRegressor
from multiobs.inference.alike import Ties, repeated, serial, shared_at_x

AT = np.array([[0.3], [0.6]])


def said(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = call()
    return found, " | ".join(str(each.message) for each in caught)


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=n)
    return rng, x, np.sin(4 * x) + rng.normal(size=n)


@pytest.mark.parametrize("statistic", ["variance", "minvar", "gini_mean_difference", "mean"])
@pytest.mark.parametrize("n", [2, 3])
def test_no_certainty_from_nothing(statistic, n):
    _, x, y = rows(n)
    if statistic == "mean" and n == 3:
        pytest.skip("three rows have one left after a line")
    model, _ = said(lambda: MultiObservationRegressor(statistic).fit(x[:, None], y))
    limits, words = said(lambda: model.predict_interval(AT))
    assert np.all(np.isnan(limits))
    assert f"{n} rows leave none to estimate an error from" in words
    assert np.all(np.isnan(model.coef_cov_))
    test, words = said(model.test_constant)
    assert np.isnan(test.p_value)
    assert "rows leave none" in words


def test_two_rows_differ_by_what_they_differ():
    _, x, y = rows(2)
    model = MultiObservationRegressor("variance").fit(x[:, None], y)
    np.testing.assert_allclose(model.predict(AT), (y[0] - y[1]) ** 2 / 2)


def test_other_classes_claim_nothing_either():
    _, x, y = rows(2)
    model = MultiObservationRegressor(estimator=LinearRegression()).fit(x[:, None], y)
    limits, words = said(lambda: model.predict_interval(AT, n_bootstrap=3))
    assert np.all(np.isnan(limits))
    assert "rows leave none" in words


def test_more_columns_than_rows_have_no_errors():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 60)), rng.normal(size=40)
    model, _ = said(lambda: MultiObservationRegressor(random_state=0).fit(X, y))
    limits, words = said(lambda: model.predict_interval(X[:3]))
    assert np.all(np.isnan(limits))
    assert "rows leave none" in words


def times_few(words):
    """How often it is said that rows are few: by their number, or by names where few decide."""
    return sum(words.count(each) for each in ("equal ones, fewer than 25", "on few rows, as if"))


def test_few_or_unequal_rows_are_told():
    _, x, y = rows(20)
    model = MultiObservationRegressor().fit(x[:, None], y)
    for call in (lambda: model.predict_interval(AT), model.summary, model.test_constant):
        assert times_few(said(call)[1]) == 1
    _, x, y = rows(200)
    model = MultiObservationRegressor().fit(x[:, None], y)
    assert said(lambda: model.predict_interval(AT))[1] == ""
    y[:2] += 30.0
    model = MultiObservationRegressor().fit(x[:, None], y)
    assert times_few(said(lambda: model.predict_interval(AT))[1]) == 1


def test_copies_of_rows_are_told_and_clusters_answer():
    _, x, y = rows(100)
    X, copies = np.repeat(x, 3)[:, None], np.repeat(y, 3)
    model = MultiObservationRegressor().fit(X, copies)
    for call in (
        lambda: model.predict_interval(AT),
        model.summary,
        model.test_constant,
        lambda: model.wald_test([0.0, 1.0]),
    ):
        words = said(call)[1]
        assert "each of 100 different rows (x, y) occurs 3 times" in words
        assert "clusters=" in words
    same = np.repeat(np.arange(100), 3)
    narrow, _ = said(lambda: model.predict_interval(AT))
    wide, words = said(lambda: model.predict_interval(AT, clusters=same))
    assert words == ""
    assert np.all(np.diff(wide) > np.diff(narrow))


def autoregressive(n, phi, rng):
    noise = rng.normal(size=n)
    y = np.empty(n)
    y[0] = noise[0]
    for i in range(1, n):
        y[i] = phi * y[i - 1] + np.sqrt(1 - phi**2) * noise[i]
    return y


def test_serial_dependence_is_told():
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(size=400))
    model = MultiObservationRegressor().fit(x[:, None], autoregressive(400, 0.8, rng))
    words = said(lambda: model.predict_interval(AT))[1]
    assert "rows next to each other in x have" in words
    assert "clusters='serial'" in words


def test_rows_that_share_a_disturbance_are_told():
    rng = np.random.default_rng(0)
    x = np.repeat(rng.uniform(size=100), 3)
    y = np.repeat(rng.normal(size=100), 3) + rng.normal(size=300)
    model = MultiObservationRegressor().fit(x[:, None], y)
    assert "rows of equal x have" in said(lambda: model.predict_interval(AT))[1]
    X = np.repeat(rng.uniform(size=(200, 3)), 3, axis=0)  # covariates of subjects
    y = np.repeat(rng.normal(size=200), 3) + rng.normal(size=600)
    assert shared_at_x(Ties.of(X, y)) is not None
    assert shared_at_x(Ties.of(X, X.sum(axis=1) + rng.normal(size=600))) is None


POSITIONS = {
    "continuous": lambda rng, n: rng.uniform(size=n),
    "grid": lambda rng, n: rng.integers(0, 50, size=n) / 50,
    "rounded": lambda rng, n: rng.uniform(size=n).round(2),
    "triples": lambda rng, n: np.repeat(rng.uniform(size=n // 3), 3),
}
LABELS = {
    "normal": lambda rng, x: np.sin(4 * x) + rng.normal(size=x.size) * (0.5 + x),
    "skewed": lambda rng, x: np.sin(4 * x) + rng.exponential(size=x.size),
    "heavy": lambda rng, x: rng.standard_t(3, size=x.size),
    "counts": lambda rng, x: rng.poisson(1 + 2 * x).astype(float),
    "growing counts": lambda rng, x: rng.poisson(np.exp(6 * x)).astype(float),
    "rounded": lambda rng, x: (np.sin(4 * x) + rng.normal(size=x.size)).round(1),
    "binary": lambda rng, x: (rng.uniform(size=x.size) < 0.3 + 0.4 * x).astype(float),
    "many zeros": lambda rng, x: np.where(
        rng.uniform(size=x.size) < 0.4, 0.0, rng.normal(size=x.size)
    ),
    "jump": lambda rng, x: 5.0 * (x > 0.5) + rng.normal(size=x.size),
}


def test_independent_rows_are_left_in_peace():
    """2160 questions, one in a thousand may be answered wrongly; equal rows are ordinary here."""
    alarms = []
    for place, draw in POSITIONS.items():
        for law, label in LABELS.items():
            for seed in range(20):
                rng = np.random.default_rng([seed, 11])
                x = draw(rng, 300)
                ties = Ties.of(x[:, None], label(rng, x))
                found = [repeated(ties), shared_at_x(ties), serial(ties)]
                alarms += [(place, law, seed, each) for each in found if each is not None]
    assert not [each for each in alarms if "occur" in each[3]]
    assert len(alarms) <= 12, alarms


def situations(name, rng):
    """Rows whose intervals cover less than they say, and what is said about them."""
    few, alike = ("equal ones, fewer than 25",), ("clusters=",)
    if name.startswith("normal"):
        n = int(name.split()[1])
        x = rng.uniform(size=n)
        return x, np.sin(4 * x) + (1 + x) * rng.normal(size=n), few
    if name.startswith("t3"):
        n = int(name.split()[1])
        x = rng.uniform(size=n)
        return x, (1 + x) * rng.standard_t(3, size=n), few
    if name == "Poisson":
        x = np.repeat(np.linspace(0, 1, 5), 8)
        return x, rng.poisson(0.3 + 0.5 * x).astype(float), few
    if name == "tripled":
        x = rng.uniform(size=100)
        return np.repeat(x, 3), np.repeat(x + rng.normal(size=100), 3), ("occurs 3 times", *alike)
    if name == "shared":
        x = np.repeat(rng.uniform(size=60), 5)
        y = np.repeat(rng.normal(size=60), 5) + rng.normal(size=300) / 2
        return x, y, ("rows of equal x have", *alike)
    x = np.sort(rng.uniform(size=400))
    return x, autoregressive(400, 0.8, rng), ("rows next to each other in x", "clusters='serial'")


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "name",
    ["normal 8", "normal 12", "normal 20", "t3 20", "t3 50", "Poisson", "tripled", "shared", "AR"],
)
def test_no_undercoverage_without_a_word(name, seed):
    """Measured: they cover 64, 73, 91, 83, 77, 93, 0, 0 and 0 % where 95 are asked for."""
    x, y, words = situations(name, np.random.default_rng(seed))
    model, _ = said(lambda: MultiObservationRegressor(random_state=0).fit(x[:, None], y))
    _, found = said(lambda: model.predict_interval(AT))
    for each in words:
        told = each in found or (each.startswith("equal") and times_few(found) == 1)
        assert told, found
