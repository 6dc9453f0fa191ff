"""Slopes of irrelevant columns are shrunk, those that matter kept, inference left as it was."""

import numpy as np
import pytest
from scipy import integrate, stats

from multiobs import MultiObservationRegressor
from multiobs.fit.shrinkage import SHARES, SIZES, kept_shares, shrunk
from multiobs.inference import shrinking
from multiobs.samplers import Nearest


def rows(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, d))
    return X, np.sin(4 * X[:, -1]) + np.sqrt(1.0 + 2 * X[:, 0]) * rng.standard_normal(n)


def test_shares_are_posterior_means() -> None:
    """Loops over the prior's grid; the mean given one t by numerical integration."""
    t = np.array([6.0, 0.4, -2.1, 1.0])
    total, kept = 0.0, np.zeros(4)
    for pi in (np.arange(SHARES) + 0.5) / SHARES:
        for size in SIZES:
            slab = stats.norm.pdf(t, 0, np.sqrt(1 + size))
            either = (1 - pi) * stats.norm.pdf(t) + pi * slab
            total += np.prod(either)
            kept += np.prod(either) * pi * slab / either * size / (1 + size)
    assert kept_shares(t) == pytest.approx(kept / total, rel=1e-9)
    prior = stats.norm(0, 2.0)
    top, bottom = (
        integrate.quad(lambda b, k=k: b**k * prior.pdf(b) * stats.norm.pdf(1.5 - b), -20, 20)[0]
        for k in (1, 0)
    )
    assert top / bottom == pytest.approx(1.5 * 4 / (1 + 4), rel=1e-6)


def test_few_strong_columns_leave_little_of_the_others_and_many_moderate_ones_stay() -> None:
    rng = np.random.default_rng(0)
    sparse = kept_shares(np.concatenate([[8.0], rng.standard_normal(19)]))
    assert sparse[0] > 0.9
    assert np.median(sparse[1:]) < 0.1
    assert np.all(kept_shares(np.array([4.0, -3.5, 4.5, 5.0, -4.0])) > 0.8)
    assert np.all(np.isfinite(kept_shares(np.array([1e6, 0.0, 1.0, 2.0]))))


def test_shrunk_coefficients_minimise_what_they_are_said_to() -> None:
    rng = np.random.default_rng(1)
    Z = np.column_stack([np.ones(50), rng.normal(size=(50, 5)) @ rng.normal(size=(5, 5))])
    A, w = Z.T @ Z, rng.normal(size=6)
    V = np.diag(rng.uniform(0.05, 1.0, size=6))
    u = shrunk(w, A, V, 1)
    keep = kept_shares(w[1:] / np.sqrt(np.diag(V)[1:]))
    K = np.diag(np.concatenate([[0.0], (1 - keep) / keep / np.diag(np.linalg.inv(A))[1:]]))
    assert u == pytest.approx(np.linalg.solve(A + K, A @ w), rel=1e-8)
    plain = shrunk(w, np.eye(6), V, 1)
    assert plain == pytest.approx(np.concatenate([w[:1], keep * w[1:]]), rel=1e-9)


def test_a_constant_column_is_left_alone() -> None:
    X, y = rows(400, 5)
    X[:, 3] = 2.0
    reg = MultiObservationRegressor(random_state=0).fit(X, y)
    assert np.all(np.isfinite(reg.coef_))
    assert abs(reg.coef_[3]) < 1e-9


def test_irrelevant_columns_cost_little() -> None:
    errors = {"auto": 0.0, "none": 0.0}
    for seed in range(2):
        X, y = rows(500, 8, seed)
        truth = np.array([2.0] + [0.0] * 7)
        for name, alpha in (("auto", "auto"), ("none", 0.0)):
            reg = MultiObservationRegressor(alpha=alpha, random_state=0).fit(X, y)
            errors[name] += float(np.sum((reg.coef_ - truth) ** 2))
    assert errors["auto"] < 0.6 * errors["none"]


def test_intervals_and_tests_are_those_of_the_fit_before() -> None:
    X, y = rows(300, 4)
    auto = MultiObservationRegressor(random_state=0).fit(X, y)
    exact = MultiObservationRegressor(alpha=0.0, random_state=0).fit(X, y)
    assert "slopes: shrunk" in str(auto.plan_)
    assert "slopes: shrunk" not in str(exact.plan_)
    assert not np.allclose(auto.coef_, exact.coef_)
    assert np.allclose(auto.coef_cov_, exact.coef_cov_)
    assert np.allclose(auto.predict_interval(X[:5]), exact.predict_interval(X[:5]))
    assert auto.test_constant().p_value == pytest.approx(exact.test_constant().p_value)


def test_nothing_is_shrunk_in_few_columns_or_with_a_sampler_of_ones_own() -> None:
    X, y = rows(300, 5)
    for options, columns in (({}, 1), ({}, 3), ({"sampler": Nearest(5)}, 5)):
        fits = [
            MultiObservationRegressor(alpha=alpha, random_state=0, **options).fit(X[:, :columns], y)
            for alpha in ("auto", 0.0)
        ]
        assert "shrunk" not in str(fits[0].plan_)
        assert np.array_equal(fits[0].inference_.fit.w, fits[1].result_.w)
        if options:
            assert np.array_equal(fits[0].coef_, fits[1].coef_)


def test_errors_from_some_rows_are_those_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = rows(1500, 4)
    reg = MultiObservationRegressor(random_state=0).fit(X, y)
    full = np.sqrt(np.diag(reg.inference_.covariance.matrix))
    assert np.all(full > 0)
    monkeypatch.setattr(shrinking, "PROBE", 500)
    thinned = MultiObservationRegressor(random_state=0).fit(X, y)
    assert np.allclose(thinned.coef_, reg.coef_, atol=0.05)


def test_alpha_is_a_number_or_auto() -> None:
    X, y = rows(50, 1)
    with pytest.raises((ValueError, TypeError), match="alpha must be"):
        MultiObservationRegressor(alpha="automatic").fit(X, y)
