"""Losses, tests and errors of scores against values found in another way."""

import numpy as np
import pytest
from scipy import integrate, stats

from multiobs import scoring, statistics
from multiobs.scoring._errors import _newey_west, covariance, shared
from multiobs.scoring._heldout import HeldOut, held_out
from multiobs.scoring._losses import fixed_loss


@pytest.mark.parametrize("level", [-1.3, 0.0, 0.7])
@pytest.mark.parametrize("make", [lambda: statistics.ucb(1.5), statistics.standard_deviation])
def test_a_root_loss_is_the_integral_of_its_derivative(make, level):
    statistic = make()
    # integral from zero of -(s - c) V(s, y) ds, for V(s) = -(a s² + b s + d)
    x, y = np.arange(4.0), np.array([0.3, 2.0, -1.0, 0.4])
    held = held_out(statistic, x, y)
    fixed = fixed_loss(statistic, held, reference=np.full(4, level))
    for r in (-0.8, 0.6, 2.5):
        found = fixed.values(np.full(3, r)) - fixed.values(np.full(3, 0.1))
        for t in range(3):

            def slope(s, t=t):
                V = statistic.identification(np.array([s]), held.Y[t : t + 1])[0]
                return -(s - level) * V

            expected = integrate.quad(slope, 0.1, r)[0]
            assert found[t] == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("factor", [0.8, 1.25])
def test_calibration_p_values_are_two_sided(factor):
    rng = np.random.default_rng(0)
    x, y = np.arange(400.0), rng.normal(size=400)
    test = scoring.calibration_test(
        "variance", x, y, factor, instruments="constant", transport=None
    )
    psi = 0.5 * np.diff(y) ** 2
    u = (psi - psi.mean()) / psi.size
    variance = u @ u + 2 * u[1:] @ u[:-1]
    t = (psi.mean() - factor) / np.sqrt(variance)
    assert test.t == pytest.approx(t)
    assert np.sign(test.t) == (1 if factor < 1 else -1)
    assert test.p == pytest.approx(2 * stats.t.cdf(-abs(t), 399))
    assert test.joint_p == pytest.approx(stats.chi2.sf(t**2, 1))


def test_where_the_overlap_sum_is_negative_common_rows_are_counted_by_their_share():
    members = np.array([[0, 1], [1, 2], [2, 3]])
    u = np.array([[1.0], [-2.0], [1.0]])
    by_overlap = 1 + 4 + 1 + 2 * (-2) + 2 * (-2)
    assert by_overlap < 0
    g = np.array([1.0, -1.0, -1.0, 1.0])  # sum of u over the tuples of each row
    assert shared(u, members, 4)[0, 0] == pytest.approx(g @ g / 2)
    three = np.array([[0, 1, 2], [1, 2, 3]])
    v = np.array([[1.0], [-1.0]])
    assert shared(v, three, 4)[0, 0] == pytest.approx((1 + 1) / 3)


@pytest.mark.parametrize("n", [60, 600])
def test_lags_without_a_bandwidth_are_newey_and_wests(n):
    rng = np.random.default_rng(1)
    x, y = np.arange(float(n)), np.cumsum(rng.normal(size=n)) * 0.1 + rng.normal(size=n)
    held = held_out(statistics.variance(), x, y, transport=None)
    u = 0.5 * np.diff(y) ** 2
    u = (u - u.mean()) / u.size
    lags = 1 + int(4 * (n / 100) ** (2 / 9))  # beyond those that share a label
    total = u @ u
    for lag in range(1, lags + 1):
        total += 2 * (1 - lag / (lags + 1)) * (u[lag:] @ u[:-lag])
    V = statistics.variance().psi(held.Y)
    assert covariance(held, V, "hac")[0, 0] == pytest.approx(total, rel=1e-10)
    wider = _newey_west(held, (held.weight * (V - held.weight @ V))[:, None], lags + 3)
    assert wider[0, 0] != pytest.approx(total, rel=1e-3)


def test_lags_reach_as_far_as_a_metasample_does():
    """Pairs three times apart share labels with pairs up to three times later."""
    n, span = 40, 3
    pairs = np.stack([np.arange(n - span), np.arange(span, n)], axis=1)
    weight = np.full(len(pairs), 1 / len(pairs))
    held = HeldOut(np.arange(float(n))[:, None], np.zeros(n), pairs, weight)
    values = np.random.default_rng(2).exponential(size=len(pairs))
    u = weight * (values - values.mean())
    lags = span + int(4 * (n / 100) ** (2 / 9))
    total = sum(
        max(1 - abs(i - j) / (lags + 1), 0) * u[i] * u[j]
        for i in range(len(u))
        for j in range(len(u))
    )
    assert covariance(held, values, "hac")[0, 0] == pytest.approx(total, rel=1e-10)
    with pytest.raises(ValueError, match="bandwidth must be at least 3, got 2"):
        covariance(held, values, "hac", 2)


def test_weights_of_metasamples_enter_their_errors():
    pairs, weight = np.array([[0, 1], [2, 3]]), np.array([0.75, 0.25])
    held = HeldOut(np.arange(4.0)[:, None], np.zeros(4), pairs, weight)
    values = np.array([1.0, 5.0])
    u = weight * (values - 2.0)
    assert covariance(held, values)[0, 0] == pytest.approx(u @ u)
