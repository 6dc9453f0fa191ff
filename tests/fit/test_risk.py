"""Risks against the oracle, their derivatives, and that they add."""

from functools import reduce
from operator import add

import numpy as np
import oracle
import pytest
from sklearn.base import clone
from sklearn.preprocessing import SplineTransformer
from tables import STATISTICS, draw_labels

from multiobs import MultiObservationRegressor, contract, empirical_risk, samplers, statistics
from multiobs.fit import anchor_risk, linear
from multiobs.fit.anchor_risk import RowRisk
from multiobs.fit.risk import (
    MomentRisk,
    SumRisk,
    TupleRisk,
    constant_direction,
    reference_level,
    ridge,
    total_weight,
)
from multiobs.statistics.kernels import constant
from multiobs.statistics.losses import RootLoss
from multiobs.sums import weighted_power
from multiobs.sums.contraction import Lifted
from multiobs.tuples import Tuples, sorted_windows


def rows(statistic, labels, n=30, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.random(n)
    Z = np.column_stack([np.ones(n), x - 0.5, rng.normal(size=n)])
    tuples = sorted_windows(x, 0.15, statistic.arity, None)
    return Z, draw_labels(labels, rng, n), tuples


def finite_differences(function, w, step=1e-5):
    out = []
    for c in range(w.size):
        e = np.zeros(w.size)
        e[c] = step
        out.append((np.asarray(function(w + e)) - np.asarray(function(w - e))) / (2 * step))
    return np.array(out)


def check_derivatives(risk, w):
    slope = finite_differences(risk.value, w)
    size = np.abs(slope).max() + abs(risk.value(w))
    np.testing.assert_allclose(risk.gradient(w), slope, rtol=1e-5, atol=1e-6 * size)
    curvature = finite_differences(risk.gradient, w)
    size = np.abs(curvature).max() + np.abs(slope).max()
    np.testing.assert_allclose(risk.hessian(w), curvature, rtol=1e-5, atol=1e-6 * size)


@pytest.mark.parametrize("name", STATISTICS)
def test_a_moment_risk_is_the_summed_loss(name):
    case = STATISTICS[name]
    statistic = case.make()
    Z, y, tuples = rows(statistic, case.labels)
    risk = empirical_risk(statistic, tuples, Z, y, reference=np.array([-0.5, 0.3, 0.1]))
    assert isinstance(risk, MomentRisk)
    assert risk.n_coefficients == 3
    part = tuples.listed()
    z, Y = Z[part.members].mean(axis=1), y[part.members]
    zero = np.zeros(3)
    for w in (np.array([0.4, -0.2, 0.1]), np.array([1.5, 0.5, -0.7])):
        r = z @ w
        if isinstance(statistic.loss, RootLoss):  # by Gauss quadrature, exact for a quartic
            level = z @ np.array([-0.5, 0.3, 0.1])
            nodes, shares = np.polynomial.legendre.leggauss(4)
            expected = 0.0
            for node, share in zip(nodes, shares, strict=True):
                s = r * (node + 1) / 2
                expected -= np.sum(share * r / 2 * (s - level) * statistic.identification(s, Y))
        else:
            loss = statistic.loss
            expected = np.sum(loss.value(r, Y) - loss.value(np.zeros(len(r)), Y))
        size = abs(expected) + 1.0
        assert risk.value(w) - risk.value(zero) == pytest.approx(
            expected, rel=1e-8, abs=1e-9 * size
        )
        check_derivatives(risk, w)


@pytest.mark.parametrize("name", ["ucb(1)", "ucb(2)", "standard_deviation"])
def test_root_risks_equal_the_oracle(name):
    case = STATISTICS[name]
    statistic = case.make()
    Z, y, tuples = rows(statistic, case.labels, n=20)
    level = reference_level(statistic.loss, Z, y)
    risk = empirical_risk(statistic, tuples, Z, y)
    listed = [(tuple(row), None) for row in tuples.listed().members.tolist()]
    value, gradient = oracle.quartic(listed, case.root, Z.tolist(), y.tolist(), level.tolist())
    w = np.array([2.0, 0.5, -0.3])
    assert risk.value(w) == pytest.approx(value(w.tolist()), rel=1e-10)
    np.testing.assert_allclose(risk.gradient(w), gradient(w.tolist()), rtol=1e-9, atol=1e-9)


def test_levels_of_root_losses():
    Z, y, _ = rows(statistics.ucb(), "real")
    line = np.linalg.lstsq(Z, y, rcond=None)[0]
    auto = reference_level(statistics.ucb(2.0).loss, Z, y)
    spread = np.std(y - Z @ line)
    np.testing.assert_allclose(Z @ auto, Z @ line - 2.0 * spread, atol=1e-9)
    fixed = reference_level(statistics.ucb(2.0, reference=1.25).loss, Z, y)
    np.testing.assert_allclose(Z @ fixed, 1.25)
    # without constants in the class only the level zero can be in it
    slopes = Z[:, 1:]
    assert reference_level(statistics.ucb(2.0).loss, slopes, y) is None
    assert reference_level(statistics.standard_deviation().loss, slopes, y).tolist() == [0.0, 0.0]


def test_a_level_outside_the_class_still_gives_a_risk():
    statistic = statistics.ucb(1.0, reference=-2.0)
    Z, y, tuples = rows(statistic, "real")
    risk = empirical_risk(statistic, tuples, Z[:, 1:], y)
    part = tuples.listed()
    w = np.array([1.0, 0.5])
    r = Z[:, 1:][part.members].mean(axis=1) @ w
    expected = statistic.loss.at(-2.0).value(r, y[part.members]).sum()
    assert risk.value(w) == pytest.approx(expected, rel=1e-9)


def losses_of_tuples():
    yield statistics.variance().with_loss("gamma")
    yield statistics.variance().with_loss("poisson")
    yield statistics.from_loss(
        lambda r, Y: np.logaddexp(r - Y.sum(axis=1), Y.sum(axis=1) - r),
        lambda r, Y: np.tanh(r - Y.sum(axis=1)),
        lambda r, Y: 1 / np.cosh(r - Y.sum(axis=1)) ** 2,
        2,
    )


@pytest.mark.parametrize(
    "statistic", list(losses_of_tuples()), ids=["gamma", "poisson", "callable"]
)
def test_tuple_risks(statistic):
    Z, y, tuples = rows(statistic, "real")
    weight = np.random.default_rng(1).random(len(y))
    Z = np.abs(Z)
    risk = empirical_risk(statistic, tuples, Z, y, weight=weight)
    assert isinstance(risk, TupleRisk)
    w = np.array([1.0, 0.2, 0.3])
    total = 0.0
    for members in tuples.listed().members:
        r = Z[members].mean(axis=0) @ w
        total += weight[members].prod() * statistic.loss.value(np.array([r]), y[members][None])[0]
    assert risk.value(w) == pytest.approx(total, rel=1e-12)
    check_derivatives(risk, w)
    held = risk.fixed(0.3)
    assert held.n_coefficients == 2
    assert held.value(w[:2]) == pytest.approx(risk.value(w), rel=1e-12)
    np.testing.assert_allclose(held.gradient(w[:2]), risk.gradient(w)[:2])


@pytest.mark.parametrize("name", ["variance", "ucb(1)", "squared_cv", "central_moment(3)"])
def test_parts_add_up_under_random_cuts(name):
    case = STATISTICS[name]
    statistic = case.make()
    Z, y, tuples = rows(statistic, case.labels, n=40)
    part = tuples.listed()
    level = np.array([0.1, 0.2, 0.3])
    whole = empirical_risk(statistic, tuples, Z, y, reference=level)
    rng = np.random.default_rng(3)
    for pieces in (2, 5):
        cut = rng.integers(0, pieces, part.count())
        risks = [
            empirical_risk(statistic, Tuples(part.members[cut == c], 40), Z, y, reference=level)
            for c in range(pieces)
        ]
        together = reduce(add, risks)
        assert isinstance(together, MomentRisk)
        for M, N in zip(together.tensors, whole.tensors, strict=True):
            assert (M is None) == (N is None)
            if M is not None:
                np.testing.assert_allclose(M, N, rtol=1e-9, atol=1e-9 * np.abs(N).max())


def test_risks_of_different_kinds_add():
    statistic = next(losses_of_tuples())
    Z, y, tuples = rows(statistic, "real")
    Z = np.abs(Z)
    first = empirical_risk(statistic, tuples, Z, y)
    penalty = ridge(np.array([0.0, 2.0, 3.0]))
    w = np.array([1.0, 0.5, 0.25])
    for both in (first + penalty, penalty + first, first + penalty + penalty):
        assert isinstance(both, SumRisk)
        check_derivatives(both, w)
    assert (penalty + first).value(w) == pytest.approx(first.value(w) + 2 * 0.25 + 3 * 0.0625)
    assert len((first + penalty + penalty).parts) == 3
    unknown = statistics.from_loss(
        lambda r, Y: (r - Y.mean(axis=1)) ** 2, lambda r, Y: 2 * (r - Y.mean(axis=1)), None, 2
    )
    assert (empirical_risk(unknown, tuples, Z, y) + penalty).hessian(w) is None


def test_polynomials_of_coefficients():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(7, 3))
    tensors = [
        None,
        *(
            np.einsum("".join(f"t{c}," for c in "abcd"[:k])[:-1] + "->" + "abcd"[:k], *[z] * k)
            for k in (1, 2, 3, 4)
        ),
    ]
    risk = MomentRisk(tensors)
    w = rng.normal(size=3)
    expected = sum(((z @ w) ** k).sum() for k in (1, 2, 3, 4))
    assert risk.degree == 4
    assert risk.value(w) == pytest.approx(expected)
    check_derivatives(risk, w)
    polynomial = risk.along(w)
    assert polynomial.shape == (5,)
    for s in (-1.0, 0.5, 2.0):
        assert np.polynomial.Polynomial(polynomial)(s) == pytest.approx(risk.value(s * w))
    held = risk.fixed(w[2])
    assert held.value(w[:2]) == pytest.approx(risk.value(w))
    np.testing.assert_allclose(held.gradient(w[:2]), risk.gradient(w)[:2])
    assert risk.scaled(-2.0).value(w) == pytest.approx(-2 * risk.value(w))
    shorter = MomentRisk(tensors[:3])
    assert (risk + shorter).value(w) == pytest.approx(risk.value(w) + shorter.value(w))


def test_constants_in_the_span_of_the_features():
    x = np.linspace(0, 1, 9)
    B = np.column_stack([x, 1 - x])
    assert constant_direction(B) == pytest.approx([1.0, 1.0])
    assert constant_direction(np.column_stack([x, x**2])) is None


def test_total_weight_counts_tuples_or_products_of_weights():
    x = np.linspace(0, 1, 12)
    tuples = sorted_windows(x, 0.4, 3, None)
    assert total_weight(tuples, 1, None) == tuples.count()
    weight = np.arange(12.0)
    expected = sum(weight[row].prod() for row in tuples.listed().members)
    assert total_weight(tuples, 1, weight) == pytest.approx(expected)
    ones = contract(tuples, constant(1.0, 3), np.ones((12, 1)), np.zeros(12), 0)
    assert ones == tuples.count()


def test_features_made_from_the_representative():
    statistic = statistics.variance()
    rng = np.random.default_rng(0)
    X, y = rng.random((25, 1)), rng.normal(size=25)
    tuples = sorted_windows(X[:, 0], 0.2, 2, None)
    lifted = Lifted(X, lambda x: np.column_stack([np.ones(len(x)), x[:, 0] ** 2]))
    risk = empirical_risk(statistic, tuples, lifted, y)
    part = tuples.listed()
    r = 0.3 + 1.5 * X[part.members].mean(axis=1)[:, 0] ** 2
    psi = statistic.psi(y[part.members])
    assert risk.value(np.array([0.3, 1.5])) == pytest.approx((r**2 - 2 * r * psi).sum())


def test_a_risk_of_rows_is_the_risk_of_tensors():
    rng = np.random.default_rng(0)
    z, one = rng.normal(size=(40, 4)), np.array([1.0, 0.0, 0.0])
    z[:, 0] = 1.0
    powers = {k: rng.exponential(size=40) for k in (0, 2, 3, 4)}
    tensors = MomentRisk.by_power({k: weighted_power(c, z, k) for k, c in powers.items()})
    slow, quick = tensors.fixed(-1.0), RowRisk(z[:, :-1], powers, -z[:, -1])
    for w in rng.normal(size=(5, 3)):
        assert quick.value(w) == pytest.approx(slow.value(w), rel=1e-12)
        np.testing.assert_allclose(quick.gradient(w), slow.gradient(w), rtol=1e-9)
        np.testing.assert_allclose(quick.hessian(w), slow.hessian(w), rtol=1e-9)
    np.testing.assert_allclose(quick.start(one), slow.start(one), rtol=1e-9)
    penalty = ridge(np.ones(3))
    np.testing.assert_allclose((quick + penalty).start(one), quick.start(one))


def test_wide_features_of_a_bound_need_no_tensors(monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.random((300, 2))
    y = np.sin(3 * X[:, 0]) + rng.normal(size=300)
    spline = SplineTransformer(6)
    model = MultiObservationRegressor("ucb", samplers.Nearest(20), features=spline, random_state=0)
    monkeypatch.setattr(linear, "_is_many", lambda tuples: True)
    quick = model.fit(X, y).predict(X[:20])
    assert isinstance(model.result_.risk, RowRisk)
    monkeypatch.setattr(anchor_risk, "WIDE", 10**6)
    slow = clone(model).fit(X, y).predict(X[:20])
    np.testing.assert_allclose(quick, slow, rtol=1e-7)
