"""Derivatives against finite differences, and what each loss promises."""

import numpy as np
import pytest
from tables import LAWS, STATISTICS, draw_labels

from multiobs import statistics
from multiobs.statistics.kernels import constant, moment
from multiobs.statistics.losses import (
    BregmanLoss,
    CallableLoss,
    PolynomialLoss,
    RootLoss,
    ratio,
    squared,
)


def all_losses():
    for name, case in STATISTICS.items():
        yield name, case.make().loss, case.labels
    yield "ucb cubic", statistics.ucb(2.0, loss="cubic").loss, "real"
    yield "ucb at zero", statistics.ucb(2.0, reference=0).loss, "real"
    for kind in ("gamma", "poisson"):
        yield f"variance, {kind}", statistics.variance().with_loss(kind).loss, "real"
    logcosh = CallableLoss(
        lambda r, Y: np.log(np.cosh(r - Y.mean(axis=1))),
        lambda r, Y: np.tanh(r - Y.mean(axis=1)),
        lambda r, Y: 1 / np.cosh(r - Y.mean(axis=1)) ** 2,
        2,
    )
    yield "callable", logcosh, "real"


LOSSES = {name: (loss, labels) for name, loss, labels in all_losses()}


@pytest.mark.parametrize("name", LOSSES)
def test_derivatives_against_finite_differences(name):
    loss, labels = LOSSES[name]
    rng = np.random.default_rng(3)
    y = draw_labels(labels, rng, 30 * loss.arity)
    Y = y.reshape(30, loss.arity, *y.shape[1:])
    r = rng.uniform(0.5, 2.0, 30)
    step = 1e-5
    for function, derivative in ((loss.value, loss.gradient), (loss.gradient, loss.hessian)):
        slope = (function(r + step, Y) - function(r - step, Y)) / (2 * step)
        size = np.max(np.abs(function(r, Y))) + np.max(np.abs(slope))
        np.testing.assert_allclose(derivative(r, Y), slope, rtol=1e-6, atol=1e-7 * size)


def test_a_polynomial_loss_is_the_sum_of_its_powers():
    loss = PolynomialLoss([None, moment(1).with_arity(2), None, constant(2.0, 2)])
    Y, r = np.array([[1.0, 3.0]]), np.array([1.5])
    assert loss.degree == 3
    assert loss.value(r, Y)[0] == pytest.approx(2 * 1.5 + 2 * 1.5**3)
    with pytest.raises(ValueError, match=r"share one arity, got \[1, 2\]"):
        PolynomialLoss([moment(1), constant(1.0, 2)])


def test_squared_and_ratio_losses_are_what_they_say():
    rng = np.random.default_rng(1)
    Y, r = rng.gamma(2.0, size=(8, 2)), rng.normal(size=8)
    psi = moment(2) - moment(1) * moment(1)
    expected = (r - (Y[:, 0] - Y[:, 1]) ** 2 / 2) ** 2
    np.testing.assert_allclose(squared(psi).value(r, Y), expected)
    chi = moment(1) * moment(1)
    expected = Y[:, 0] * Y[:, 1] * r**2 - (Y[:, 0] - Y[:, 1]) ** 2 * r
    np.testing.assert_allclose(ratio(psi, chi).value(r, Y), expected)


def test_the_papers_quartic_and_cubic():
    rng = np.random.default_rng(5)
    Y, r, lam = rng.normal(2.0, 1.0, (9, 2)), rng.normal(size=9), 1.7
    a, b = Y.T
    d = a * b - lam**2 / 2 * (a - b) ** 2
    cubic = d * r - (a + b) / 2 * r**2 + r**3 / 3
    quartic = d / 2 * r**2 - (a + b) / 3 * r**3 + r**4 / 4
    np.testing.assert_allclose(statistics.ucb(lam, loss="cubic").loss.value(r, Y), cubic)
    np.testing.assert_allclose(statistics.ucb(lam, reference=0).loss.value(r, Y), quartic)


def expected_quartic(mean, sd, lam, c):
    """Coefficients of the expected loss from power 0: the integral of (r-c)((r-mean)² - s²)."""
    polynomial = np.polynomial.Polynomial
    s = lam * sd
    return (polynomial([-c, 1.0]) * (polynomial([-mean, 1.0]) ** 2 - s * s)).integ()


def test_ucb_is_the_unique_minimiser_exactly_between_its_bounds():
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(2000):
        mean, sd, lam = rng.normal(0, 5), rng.uniform(0.1, 4), rng.uniform(0.1, 4)
        s = lam * sd
        c = mean + s * rng.uniform(-5, 3)
        if min(abs(c - mean), abs(c - (mean - 3 * s))) < 1e-3 * s:
            continue
        loss = expected_quartic(mean, sd, lam, c)
        stationary = np.array([mean - s, mean + s, c])
        values = loss(stationary)
        others = np.delete(values, 1)
        gap = 1e-9 * np.ptp(values)
        # c itself may coincide with the upper root: then it is the same minimiser
        unique = bool(np.all(values[1] < others - gap)) or abs(c - (mean + s)) < 1e-9
        assert unique == (mean - 3 * s < c < mean)
        inside += unique
    assert 500 < inside < 1500


def test_the_loss_of_ucb_has_the_expected_quartic_as_its_mean():
    rng = np.random.default_rng(9)
    lam, c = 1.5, -0.5
    Y = LAWS["normal"](rng, (400_000, 2))
    loss = statistics.ucb(lam, reference=c).loss
    expected = expected_quartic(1.0, 2.0, lam, c)
    for r in (-2.0, 0.5, 4.0):
        values = loss.value(np.full(len(Y), r), Y)
        error = values.std() / np.sqrt(len(Y))
        assert abs(values.mean() - (expected(r) - expected(0.0))) < 5 * error


def test_root_losses_know_their_level():
    y = np.array([1.0, 2.0, 6.0])
    auto = statistics.ucb(2.0).loss
    assert isinstance(auto, RootLoss)
    assert auto.level(y) == pytest.approx(y.mean() - 2 * y.std())
    assert statistics.ucb(2.0, reference=-1.5).loss.level(y) == -1.5
    r, Y = np.array([2.0, 3.0, 4.0]), np.column_stack([y, y + 1])
    np.testing.assert_allclose(auto.at(auto.level(Y)).value(r, Y), auto.value(r, Y))


def test_positive_losses_are_infinite_outside_their_domain():
    for kind in ("gamma", "poisson"):
        loss = BregmanLoss(kind, moment(1))
        values = loss.value(np.array([-1.0, 0.0, 1.0]), np.ones((3, 1)))
        assert np.isinf(values[:2]).all()
        assert np.isfinite(values[2])


def test_a_users_loss_must_return_one_number_per_prediction():
    loss = CallableLoss(lambda r, Y: 0.0, lambda r, Y: r, None, 2)
    with pytest.raises(ValueError, match=r"value of a loss must return .* shape \(3,\), got shape"):
        loss.value(np.ones(3), np.ones((3, 2)))
    assert loss.hessian(np.ones(3), np.ones((3, 2))) is None
