"""Penalised fits against general minimisers, and the smoothness against its own criterion."""

from itertools import combinations

import numpy as np
import pytest
from scipy import integrate, optimize

from multiobs import MultiObservationRegressor, statistics
from multiobs.fit.additive import Smooth, smooth_design
from multiobs.fit.links import LinkedLoss, LogitLoss, LogLoss, linked
from multiobs.fit.penalised import (
    DOUBT,
    LEVELS,
    ORDERS,
    Penalised,
    RowProblem,
    cross_validated_level,
    even_share,
    settle,
    smooth,
)
from multiobs.fit.pseudo_data import Curvature, PseudoData, minimise
from multiobs.fit.rowwise import RowSums, row_sums
from multiobs.fit.solvers import Status
from multiobs.samplers import Adjacent
from multiobs.statistics.kernels import constant, moment


@pytest.mark.parametrize("loss", [
    LogLoss(moment(1), constant(1.0, 1), 0.0),
    LogitLoss(moment(1), constant(1.0, 1), 0.0, 5.0),
])  # fmt: skip
def test_minimum_is_that_of_a_general_minimiser(loss: LinkedLoss) -> None:
    rng = np.random.default_rng(0)
    Z = np.column_stack([np.ones(80), rng.normal(size=(80, 3))])
    means = np.column_stack([rng.uniform(0.5, 3.0, 80), np.ones(80)])
    data = PseudoData(Z, rng.uniform(0.5, 2.0, 80), means, np.zeros(80))
    ridge = np.array([0.0, 1.0, 5.0, 0.1])
    w, status = minimise(data, loss, ridge, np.zeros(4))
    whole = optimize.minimize(
        lambda v: data.value(loss, v) + 0.5 * float(ridge @ v**2), np.zeros(4), tol=1e-12
    )
    assert status.success
    np.testing.assert_allclose(w, whole.x, atol=1e-5)
    np.testing.assert_allclose(data.gradient(loss, w) + ridge * w, 0.0, atol=1e-6)


@pytest.mark.parametrize("spoilt", [1.0, 1e-3, 1e3, -1.0])
def test_a_hessian_of_another_point_serves_or_is_replaced(spoilt: float) -> None:
    """The minimum is the same from a Hessian far too small, too large or of the wrong sign."""
    rng = np.random.default_rng(3)
    Z = np.column_stack([np.ones(80), rng.normal(size=(80, 3))])
    loss = LogLoss(moment(1), constant(1.0, 1), 0.0)
    means = np.column_stack([rng.uniform(0.5, 3.0, 80), np.ones(80)])
    data = PseudoData(Z, rng.uniform(0.5, 2.0, 80), means, np.zeros(80))
    ridge = np.array([0.0, 1.0, 5.0, 0.1])
    wanted, _ = minimise(data, loss, ridge, np.zeros(4))
    held = Curvature(spoilt * data.hessian(loss, np.full(4, 0.1)))
    found, status = minimise(data, loss, ridge, np.zeros(4), held)
    assert status.success
    np.testing.assert_allclose(found, wanted, atol=2e-6)


def test_gradient_is_the_derivative_of_the_value() -> None:
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(30, 3))
    data = PseudoData(Z, rng.uniform(size=30), rng.uniform(size=(30, 2)), rng.normal(size=30))
    loss, w = LogLoss(moment(1), constant(1.0, 1), 0.2), rng.normal(size=3)
    slope = optimize.approx_fprime(w, lambda v: data.value(loss, v), 1e-7)
    np.testing.assert_allclose(data.gradient(loss, w), slope, rtol=1e-4, atol=1e-4)


def test_row_sums_are_those_of_the_tuples() -> None:
    rng = np.random.default_rng(2)
    n = 12
    x, y, weight = np.sort(rng.uniform(size=n)), rng.normal(size=n), rng.uniform(1, 2, n)
    tuples = Adjacent(3).build(x[:, None], 2, rng)
    loss = linked(statistics.variance(), "log")
    sums = row_sums(loss, tuples, y, weight, rng)
    psi, chi, around = np.zeros(n), np.zeros(n), np.zeros(n)
    for i, j in combinations(range(n), 2):
        if j - i <= 3:
            for row in (i, j):
                psi[row] += weight[i] * weight[j] * (y[i] - y[j]) ** 2 / 2
                chi[row] += weight[i] * weight[j]
                around[row] += weight[i] * weight[j] * (x[i] + x[j]) / 2
    np.testing.assert_allclose(sums.psi, psi, rtol=1e-10)
    np.testing.assert_allclose(sums.chi, chi, rtol=1e-10)
    np.testing.assert_allclose(sums.blurred(x), around / chi, rtol=1e-10)


def test_settled_fit_solves_the_equation_of_the_tuples() -> None:
    rng = np.random.default_rng(3)
    n = 40
    x, y = np.sort(rng.uniform(size=n)), rng.normal(size=n)
    tuples = Adjacent(8).build(x[:, None], 2, rng)
    loss = linked(statistics.variance(), "log")
    Z = np.column_stack([np.ones(n), x - 0.5])
    problem = RowProblem(
        loss, row_sums(loss, tuples, y, None, rng), Z, np.zeros(n), np.array([-1, 0])
    )
    start = problem.start()
    assert start is not None
    w, status = settle(problem, np.zeros(2), start, 100)
    assert status.success
    r = np.exp(Z @ w)
    there = problem.sums.blurred(r)
    total = np.zeros(2)
    for i, j in tuples.listed().members:
        left = (y[i] - y[j]) ** 2 / 2 - (r[i] + r[j]) / 2
        total += left * (Z[i] / there[i] + Z[j] / there[j])
    np.testing.assert_allclose(total, 0.0, atol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_smoothness_minimises_the_restricted_likelihood(seed: int) -> None:
    # independent observations, squared loss, known dispersion: the criterion is exact
    rng = np.random.default_rng(seed)
    n, sigma = 200, 0.4
    x = rng.uniform(size=n)
    y = np.sin(6 * x) + sigma * rng.normal(size=n)
    design = smooth_design(Smooth(n_knots=10), x[:, None])
    Z = design.columns(x[:, None])
    groups = np.where(design.groups == 0, 0, -1)  # only the curvature is penalised
    loss = linked(statistics.mean(), "identity")
    problem = RowProblem(loss, RowSums(y, np.ones(n), None), Z, np.zeros(n), groups)
    A = Z.T @ Z
    found = smooth(problem, lambda w, bread: sigma**2 * A, np.zeros(Z.shape[1]))
    np.testing.assert_allclose(found.dispersion, sigma**2, rtol=1e-9)
    penalised = groups == 0

    def criterion(log_strength: float) -> float:
        ridge = np.where(penalised, np.exp(log_strength), 0.0)
        w = np.linalg.solve(A + np.diag(ridge), Z.T @ y)
        fit = 0.5 * float(np.sum((y - Z @ w) ** 2)) + 0.5 * float(ridge @ w**2)
        size = np.linalg.slogdet(A + np.diag(ridge))[1]
        return fit / sigma**2 + size / 2 - (penalised.sum() + DOUBT) * log_strength / 2

    best = optimize.minimize_scalar(criterion, bounds=(-20, 20), method="bounded").x
    chosen = float(np.log(found.ridge[penalised][0]))
    assert criterion(chosen) < criterion(best) + 1e-3


@pytest.mark.parametrize("size", [0.0, 1.0, 30.0])
def test_quantiles_of_the_smoothness_are_those_of_its_posterior(size: float) -> None:
    rng = np.random.default_rng(7)
    a, phi, strength = np.array([40.0, 9.0, 2.0, 0.3]), 1.7, 5.0
    free = size * rng.normal(size=4)
    w = np.concatenate([[3.0], free * a / (a + strength)])
    groups = np.array([-1, 0, 0, 0, 0])
    ridge = np.where(groups < 0, 0.0, strength)
    A = np.diag(np.concatenate([[100.0], a]))
    found = Penalised(w, ridge, groups, A, phi, Status.CONVERGED).plausible(phi)
    assert np.all(found[:, 0] == 0.0)
    changed = Penalised(w, ridge, groups, A, phi, Status.CONVERGED, 3.0).plausible(phi)
    np.testing.assert_allclose(changed, 3.0 * found)

    orders = np.round(np.log(found[:, 4] / found[:, 1]) / np.log(a[0] / a[3]), 6)
    assert np.all(np.isin(orders, ORDERS))

    def density(sigma: float, order: float) -> float:  # sigma = lambda^(-1/2), uniform a priori
        spread = phi * (1 / a + sigma**2 * (a / a[0]) ** order)
        return float(np.exp(-np.sum(np.log(spread) + free**2 / spread) / 2))

    def weighted(sigma: float, order: float) -> float:  # by what the first column keeps
        return density(sigma, order) * sigma**2 / (1 / a[0] + sigma**2)

    mass, kept = np.zeros(len(ORDERS)), np.zeros(len(ORDERS))
    for k, order in enumerate(ORDERS):
        mass[k] = integrate.quad(density, 0, np.inf, (order,), limit=500)[0]
        kept[k] = integrate.quad(weighted, 0, np.inf, (order,), limit=500)[0]
    counts = np.array([np.mean(orders == order) for order in ORDERS])
    np.testing.assert_allclose(counts, mass / mass.sum(), atol=1 / 16)
    share = np.mean(a[0] / (a[0] + found[:, 1]))
    np.testing.assert_allclose(share, kept.sum() / mass.sum(), atol=0.02)


def test_errors_of_coefficients_are_averaged_over_the_smoothness() -> None:
    rng = np.random.default_rng(8)
    root = rng.normal(size=(9, 5))
    A, V, phi = root.T @ root, np.diag(rng.uniform(1, 2, 5)), 2.0
    ridge, chosen = np.array([0, 3.0, 3.0, 3.0, 3.0]), np.array([-1, 0, 0, 0, 0])
    w = np.array([1.0, 0.5, -1.0, 0.2, 0.8])
    fit = Penalised(w, ridge, chosen, A, phi, Status.CONVERGED)
    each = []
    for one in fit.plausible(phi):
        bread = np.linalg.inv(A + np.diag(one))
        moved = bread @ (A + np.diag(ridge)) @ w - w  # the fit with that smoothness, less this one
        each.append(bread @ (V + phi * np.diag(one)) @ bread + np.outer(moved, moved))
    np.testing.assert_allclose(fit.covariance(V, phi), np.mean(each, axis=0), rtol=1e-8)
    given = Penalised(w, ridge, np.full(5, -1), A, 0.0, Status.CONVERGED)
    bread = np.linalg.inv(A + np.diag(ridge))
    np.testing.assert_allclose(given.covariance(V, phi), bread @ V @ bread, rtol=1e-8)


def test_level_for_single_rows_minimises_generalised_cross_validation() -> None:
    rng = np.random.default_rng(5)
    n = 120
    x, weight = rng.uniform(size=n), rng.uniform(0.5, 2.0, n)
    design = smooth_design(Smooth(), x[:, None])
    Z, y = design.columns(x[:, None]), np.cos(5 * x) + 0.3 * rng.normal(size=n)
    loss = linked(statistics.mean(), "identity")
    sums = RowSums(weight * y, weight, None)
    problem = RowProblem(loss, sums, Z, np.zeros(n), design.groups, True)
    ridge = np.where(design.groups < 0, 0.0, 1e-3)
    A = problem.information(np.zeros(Z.shape[1]))
    scores = []
    for level in LEVELS:
        hat = Z @ np.linalg.solve((Z.T * weight) @ Z + np.diag(level * ridge), Z.T * weight)
        scores.append(np.sum(weight * (y - hat @ y) ** 2) / (n - 1.4 * np.trace(hat)) ** 2)
    found = cross_validated_level(problem, A, ridge)
    assert found == LEVELS[np.argmin(scores)]
    assert LEVELS[0] < found < LEVELS[-1]


@pytest.mark.parametrize(
    ("sizes", "total"), [([1, 12, 1, 12], 20.0), ([3, 3], 4.0), ([2, 9], 50.0)]
)
def test_groups_share_what_there_is(sizes: list[int], total: float) -> None:
    share = even_share(sizes, 8.0, total)
    used = sum(min(size, share) for size in sizes)
    assert share <= 8.0
    np.testing.assert_allclose(used, min(total, sum(min(size, 8.0) for size in sizes)))


def test_the_dispersion_of_many_groups_is_not_measured_where_nothing_is_left() -> None:
    """With 105 groups of interactions it is near that of the few groups that matter."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(200, 6))
    y = np.exp(X[:, 0] - 0.5) * rng.normal(size=200)
    found = [
        MultiObservationRegressor(features=Smooth(interactions=each), random_state=0)
        .fit(X, y)._fitted.result.parts[0].fit.dispersion  # type: ignore[union-attr]
        for each in (False, True)
    ]  # fmt: skip
    assert 0.75 < found[1] / found[0] < 1.25
