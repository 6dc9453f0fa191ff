"""Degrees of freedom of each direction: values by hand, by loops, and where rows are few."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.preprocessing import SplineTransformer

from multiobs import MultiObservationRegressor, models, samplers, statistics
from multiobs.inference import Inference, fitted, sandwich
from multiobs.inference.meat import Meat
from multiobs.inference.sandwich import degrees_of_freedom
from multiobs.inference.shares import shares_of
from multiobs.inference.variance import meat
from multiobs.sums.overlaps import Band, Independent

# a spline may dip below zero at the ends; that is not what is tested here
pytestmark = pytest.mark.filterwarnings("ignore:.* lies in:UserWarning")


def units(kind, n=40, p=3):
    u = np.random.default_rng(0).exponential(size=(n, p)) ** 2
    place = np.arange(n)
    band = Band(np.maximum(place - 2, 0), np.minimum(place + 3, n))
    overlap = band if kind == "overlapping" else Independent()
    near = band if kind == "near" else None
    none = np.zeros((p, p))
    return Meat(u, overlap, none, none, "rows", u, place, near=near)


def by_loops(found, d):
    """2 (Σq)² / Σ (q_i - mean)(q_j - mean) over pairs within two places of each other."""
    n = found.units.shape[0]
    a = found.units @ d
    wide = 0 if isinstance(found.overlap, Independent) else 2
    far = wide if found.near is None else 2
    q = np.array([a[i] * a[max(i - wide, 0) : i + wide + 1].sum() for i in range(n)])
    c = q - q.mean()
    noise = sum(c[i] * c[max(i - far, 0) : i + far + 1].sum() for i in range(n))
    return np.clip(2 * q.sum() ** 2 / max(noise, (c**2).sum()), 1, n)


@pytest.mark.parametrize("kind", ["independent", "overlapping", "near"])
def test_degrees_of_freedom_of_a_direction(kind):
    found = units(kind)
    directions = np.random.default_rng(1).normal(size=(6, 3))
    expected = [by_loops(found, d) for d in directions]
    assert len(set(np.round(expected, 3))) > 3  # they differ, and are not all at a limit
    shares = shares_of(found)
    assert_allclose(shares.along(directions), expected)
    assert_allclose(shares.along(1e-90 * directions), expected)  # in any unit
    assert_allclose(shares.with_packed(*shares.packed()).along(directions), expected)
    squares = (found.units @ directions.T) ** 2
    if kind == "independent":
        V = found.units.T @ found.units
        plain = replace(shares, frame=np.eye(3))  # V is the identity in its coordinates
        assert_allclose(plain.averaged(np.eye(3)), degrees_of_freedom(found, V))
        effective = squares.sum(axis=0) ** 2 / (squares**2).sum(axis=0)
        assert_allclose(shares.effective(directions), effective)


def test_directions_of_very_different_size():
    """Columns nearly alike, as those of a spline where rows are few: forms do not cancel."""
    found = units("near")
    mixed = np.array([[1.0, 1.0, 1.0], [0.0, 1e-4, 1.0], [0.0, 0.0, 1e-5]])
    mixed_units = replace(found, units=found.units @ mixed)
    directions = np.linalg.solve(mixed, np.random.default_rng(1).normal(size=(3, 4))).T
    expected = [by_loops(found, mixed @ d) for d in directions]
    assert_allclose(shares_of(mixed_units).along(directions), expected, rtol=1e-5)


def test_a_row_far_out_does_not_decide_where_others_are_many(tmp_path):
    """Thousands of rows at x below one, ten beyond: their t quantiles are their own."""
    rng = np.random.default_rng(2)
    x = np.concatenate([rng.uniform(size=1990), rng.uniform(1.0, 4.0, size=10)])[:, None]
    y = rng.normal(size=2000)
    model = MultiObservationRegressor(
        "variance", samplers.Adjacent(8), features=SplineTransformer(6), transport=None
    ).fit(x, y)
    known = model.inference_
    middle, far = known.covariance.df_along(known.fit.design.columns(np.array([[0.3], [3.5]])))
    assert far < 15 < 40 < middle
    at = np.array([[0.3], [0.9]])
    models.save(model, tmp_path / "model.json")
    assert_allclose(
        models.load(tmp_path / "model.json").predict_interval(at), model.predict_interval(at)
    )
    limits, table = model.predict_interval(at), model.summary().table
    one = model.wald_test(np.eye(table.shape[0])[1]).p_value
    assert_allclose(one, table[1, 3], rtol=1e-8)  # the test of a coefficient has its df
    model.drop_rows()
    assert_allclose(model.predict_interval(at), limits)
    assert_allclose(model.summary().table, table)


@pytest.mark.slow
@pytest.mark.parametrize("statistic", ["variance", statistics.minvar(4)], ids=str)
def test_coverage_where_x_has_a_long_tail(statistic):
    """Nominal 95 % at the 5, 50, 90 and 98 % quantiles of x, by 300 data sets."""
    at = np.array([[0.0127], [0.159], [0.438], [0.624]])
    form = statistics.resolve(statistic)
    power = 2 if form.name == "variance" else 1
    draws = np.random.default_rng(9).gamma(2.0, size=(200_000, 5)) - 2.0
    truth = (2.0 if power == 2 else draws.min(axis=1).mean()) * (0.5 + at[:, 0])
    inside = []
    for seed in range(300):
        rng = np.random.default_rng([seed, 11])
        x = rng.beta(1.0, 4.0, size=1000)
        y = (0.5 + x) ** (1 / power) * (rng.gamma(2.0, size=1000) - 2.0)
        model = MultiObservationRegressor(statistic, features=SplineTransformer(5), random_state=0)
        low, high = model.fit(x[:, None], y).predict_interval(at).T
        inside.append((low <= truth) & (truth <= high))
    found = np.mean(inside, axis=0)
    # three standard errors about 94 to 98 %
    assert np.all((found > 0.90) & (found < 1.0)), found


@pytest.mark.filterwarnings("ignore:neighbours are:UserWarning")
def test_sums_over_tuples_are_made_once_for_errors_and_for_rows_that_decide(monkeypatch):
    """With many coefficients there are no shares of units, and the scores of rows are needed."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(200, 18))
    y = rng.normal(size=200)
    model = MultiObservationRegressor("variance", "nearest", transport=None, alpha=0.0).fit(X, y)
    plain = Inference(model.result_).row_scores
    calls = []
    monkeypatch.setattr(sandwich, "meat", lambda g: calls.append(1) or meat(g))
    monkeypatch.setattr(fitted, "meat", lambda g: calls.append(1) or meat(g))
    about = Inference(model.result_)
    assert about.covariance.shares is None
    about.few_rows()
    assert len(calls) == 1
    np.testing.assert_array_equal(about.row_scores, plain)
