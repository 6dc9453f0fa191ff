"""Solvers on risks with known minima, and statuses that carry their sentence."""

import numpy as np
import pytest
from scipy import optimize

from multiobs import choose_solver, solve
from multiobs.fit.risk import MomentRisk, TupleRisk, ridge
from multiobs.fit.solvers import LBFGS, Newton, Quadratic, Status
from multiobs.statistics.losses import CallableLoss


def quadratic(A, b):
    """The risk |A w - b|²."""
    return MomentRisk([None, -2 * A.T @ b, A.T @ A])


def logcosh(known_hessian=True):
    hessian = (lambda r, Y: 1 / np.cosh(r - Y[:, 0]) ** 2) if known_hessian else None
    return CallableLoss(
        lambda r, Y: np.logaddexp(r - Y[:, 0], Y[:, 0] - r),
        lambda r, Y: np.tanh(r - Y[:, 0]),
        hessian,
        1,
    )


def root_risk(mean, s, c):
    """The integral of (r - c)((r - mean)² - s²), a quartic of one coefficient."""
    P = np.polynomial.Polynomial
    coefficients = (P([-c, 1.0]) * (P([-mean, 1.0]) ** 2 - s * s)).integ().coef
    return MomentRisk([None, *(np.full((1,) * k, coefficients[k]) for k in range(1, 5))])


@pytest.mark.parametrize("seed", range(5))
def test_quadratic_is_least_squares(seed):
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(20, 4)), rng.normal(size=20)
    expected = np.linalg.lstsq(A, b, rcond=None)[0]
    found = solve(quadratic(A, b))
    assert found.solver == "Quadratic"
    assert found.status is Status.CONVERGED
    assert found.status.success
    assert found.gradient_norm < 1e-12
    np.testing.assert_allclose(found.w, expected, rtol=1e-10)
    for solver in (Newton(), LBFGS()):
        other = solve(quadratic(A, b), solver=solver)
        np.testing.assert_allclose(other.w, expected, rtol=1e-4, atol=1e-5)
        assert other.value == pytest.approx(found.value)


def test_features_of_very_different_size():
    rng = np.random.default_rng(1)
    A = rng.normal(size=(30, 3)) * np.array([1.0, 1e-90, 1e70])
    truth = np.array([2.0, 3e90, -1e-70])
    found = solve(quadratic(A, A @ truth))
    np.testing.assert_allclose(found.w, truth, rtol=1e-9)
    assert found.status is Status.CONVERGED


def test_features_that_do_not_determine_all_coefficients():
    rng = np.random.default_rng(2)
    x = rng.normal(size=20)
    A = np.column_stack([x, x])
    found = solve(quadratic(A, 4 * x))
    assert found.status is Status.RANK_DEFICIENT
    assert found.status.success
    np.testing.assert_allclose(found.w, [2.0, 2.0])
    nothing = solve(MomentRisk([None, np.zeros(2), np.zeros((2, 2))]))
    assert nothing.status is Status.RANK_DEFICIENT
    assert nothing.w.tolist() == [0.0, 0.0]


def test_a_risk_that_falls_without_end():
    found = solve(MomentRisk([None, np.ones(2), np.diag([1.0, -1.0])]))
    assert found.status is Status.UNBOUNDED
    assert not found.status.success
    assert "falls without end" in found.status.value
    cubic = MomentRisk([None, np.ones(1), np.zeros((1, 1)), np.ones((1, 1, 1))])
    assert not solve(cubic, np.array([-1.0])).status.success


def test_every_status_has_a_sentence():
    for status in Status:
        assert status.value.endswith(".")
    assert not Status.LEFT_REGION.success


@pytest.mark.parametrize(("mean", "s", "c"), [(0.0, 1.0, -1.0), (5.0, 0.1, 4.9), (-3.0, 2.0, -7.0)])
def test_quartics_are_entered_from_above(mean, s, c):
    risk = root_risk(mean, s, c)
    start = risk.start(np.ones(1))
    found = solve(risk, start)
    assert found.solver == "Newton"
    assert found.status is Status.CONVERGED
    np.testing.assert_allclose(found.w, [mean + s], rtol=1e-9)
    assert found.w[0] == pytest.approx(
        optimize.minimize_scalar(lambda w: risk.value(np.array([w])), (mean, mean + 2 * s)).x,
        rel=1e-5,
    )


def test_newton_and_lbfgs_agree_on_a_users_loss():
    rng = np.random.default_rng(3)
    z = np.column_stack([np.ones(60), rng.normal(size=60)])
    Y = (z @ np.array([1.0, 2.0]) + rng.standard_t(2, size=60))[:, None]
    newton = solve(TupleRisk(logcosh(), z, Y))
    lbfgs = solve(TupleRisk(logcosh(False), z, Y))
    assert newton.solver == "Newton"
    assert lbfgs.solver == "LBFGS"
    assert newton.status is lbfgs.status is Status.CONVERGED
    np.testing.assert_allclose(newton.w, lbfgs.w, rtol=1e-4, atol=1e-4)


def test_newton_ends_in_columns_that_repeat_each_other():
    """A Hessian that is singular everywhere: the minimum is a line, and a point of it is found."""
    rng = np.random.default_rng(4)
    z = rng.normal(size=60)
    Y = (1.0 + 2.0 * z + rng.normal(size=60))[:, None]
    once = solve(TupleRisk(logcosh(), np.column_stack([np.ones(60), z]), Y))
    twice = solve(TupleRisk(logcosh(), np.column_stack([np.ones(60), z, z]), Y))
    assert twice.solver == "Newton"
    assert twice.status.success
    assert twice.gradient_norm < 1e-6
    np.testing.assert_allclose([twice.w[0], twice.w[1:].sum()], once.w, rtol=1e-6)


def test_the_choice_of_a_solver_is_public():
    assert isinstance(choose_solver(ridge(np.ones(2))), Quadratic)
    assert isinstance(choose_solver(root_risk(0.0, 1.0, -1.0)), Newton)
    z, Y = np.ones((3, 1)), np.zeros((3, 1))
    assert isinstance(choose_solver(TupleRisk(logcosh(), z, Y)), Newton)
    assert isinstance(choose_solver(TupleRisk(logcosh(False), z, Y)), LBFGS)
    assert isinstance(choose_solver(TupleRisk(logcosh(False), z, Y) + ridge(np.ones(1))), LBFGS)


def test_a_penalty_is_a_risk():
    rng = np.random.default_rng(5)
    A, b = rng.normal(size=(15, 3)), rng.normal(size=15)
    strength = np.array([0.0, 2.0, 5.0])
    expected = np.linalg.solve(A.T @ A + np.diag(strength), A.T @ b)
    np.testing.assert_allclose(solve(quadratic(A, b) + ridge(strength)).w, expected)
