"""Linked losses: exact derivatives, and the statistic is what their best constant is."""

import numpy as np
import pytest
from scipy import optimize

from multiobs import statistics
from multiobs.fit.links import IdentityLoss, LinkedLoss, LogitLoss, LogLoss, SoftplusLoss, linked
from multiobs.statistics.kernels import constant, moment

ONE = constant(1.0, 1)
LOSSES: dict[str, LinkedLoss] = {
    "identity": IdentityLoss(moment(1), ONE),
    "log": LogLoss(moment(1), ONE, 0.0),
    "log above one": LogLoss(moment(1), ONE, 1.0),
    "softplus": SoftplusLoss(moment(1), ONE, 0.0, 1.7),
    "softplus above one": SoftplusLoss(moment(1), ONE, 1.0, 0.4),
    "logit": LogitLoss(moment(1), ONE, -1.0, 3.0),
    "ratio": LogLoss(moment(2), moment(1), 0.0),
}


@pytest.mark.parametrize("name", LOSSES)
def test_slopes_and_curvatures_are_derivatives(name: str) -> None:
    loss, eta, step = LOSSES[name], np.linspace(-2, 2, 9), 1e-5
    slope = (loss.integrals(eta + step) - loss.integrals(eta - step)) / (2 * step)
    bend = (loss.slopes(eta + step) - loss.slopes(eta - step)) / (2 * step)
    rise = (loss.inverse(eta + step) - loss.inverse(eta - step)) / (2 * step)
    np.testing.assert_allclose(loss.slopes(eta), slope, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(loss.curvatures(eta), bend, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(loss.inverse_slope(eta), rise, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(loss.forward(loss.inverse(eta)), eta, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", LOSSES)
def test_the_best_constant_is_the_ratio_of_means(name: str) -> None:
    loss = LOSSES[name]
    y = np.random.default_rng(0).uniform(1.2, 2.5, size=(50, 1))
    means = np.array([float(np.mean(kernel(y))) for kernel in loss.kernels])
    found = optimize.minimize_scalar(
        lambda eta: float(loss.integrals(np.array([eta]))[0] @ means), bracket=(-1.0, 1.0)
    )
    best = loss.constant(means)
    assert best is not None
    np.testing.assert_allclose(found.x, best, atol=1e-6)
    np.testing.assert_allclose(loss.inverse(np.array([best]))[0], means[0] / means[1])
    curvature = loss.expected_curvature(np.array([best]), means[None, :])
    np.testing.assert_allclose(curvature, loss.curvatures(np.array([best])) @ means)


@pytest.mark.parametrize("name", LOSSES)
def test_moved_observations_have_the_other_mean(name: str) -> None:
    loss, here, there = LOSSES[name], np.array([2.5]), np.array([1.5])
    np.testing.assert_allclose(loss.moved(there, here, there), here)


def test_no_constant_outside_the_domain() -> None:
    assert LOSSES["log"].constant(np.array([0.0, 1.0])) is None
    assert LOSSES["logit"].constant(np.array([4.0, 1.0])) is None
    assert LOSSES["identity"].constant(np.array([1.0, 0.0])) is None


@pytest.mark.parametrize(
    ("name", "link"),
    [
        ("variance", "log"),
        ("kurtosis", "log"),
        ("collision_probability", "logit"),
        ("kendall_tau", "logit"),
        ("covariance", "identity"),
        ("mean", "identity"),
    ],
)
def test_auto_keeps_the_domain(name: str, link: str) -> None:
    assert linked(statistics.resolve(name), "auto").link == link


def test_a_softplus_is_a_log_far_below_its_knee_and_straight_far_above() -> None:
    soft = linked(statistics.variance(), "softplus", knee=3.0)
    low, high = np.array([-40.0, -300.0, -900.0]), np.array([40.0, 400.0])
    np.testing.assert_allclose(soft.inverse(low[:2]), 3.0 * np.exp(low[:2]), rtol=1e-12)
    np.testing.assert_allclose(soft.inverse(high), 3.0 * high, rtol=1e-12)
    assert np.all(soft.inverse(low) > 0)
    assert np.all(np.isfinite(soft.curvatures(low)))
    np.testing.assert_allclose(soft.expected_curvature(low, np.ones((3, 2))), 1.0, rtol=1e-12)
    assert linked(statistics.variance(), "auto", terms=1).link == "softplus"
    assert linked(statistics.variance(), "auto", terms=2).link == "log"
    assert linked(statistics.kendall_tau(), "auto", terms=1).link == "logit"


def test_a_link_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="needs a statistic with a lower end, got covariance"):
        linked(statistics.covariance(), "log")
    with pytest.raises(ValueError, match="link 'softplus' needs a statistic with a lower end"):
        linked(statistics.covariance(), "softplus")
    with pytest.raises(ValueError, match="between two ends, got variance"):
        linked(statistics.variance(), "logit")
    with pytest.raises(ValueError, match="neither the mean of a kernel nor a ratio"):
        linked(statistics.ucb(1.0), "log")
