"""MultiObservationRegressor against the oracle, and the laws that any fit must obey."""

import numpy as np
import oracle
import pytest
from fits import coefficients, fit_quietly, paper
from scipy import optimize
from sklearn.linear_model import LinearRegression
from tables import SAMPLERS, STATISTICS, draw_labels, draw_positions

from multiobs import metasamples, statistics
from multiobs.fit.solvers import Status

PRODUCTS = [
    (sampler, statistic)
    for sampler, case in SAMPLERS.items()
    if 1 in case.columns and sampler != "naive(2)"
    for statistic in STATISTICS
    if statistic != "skewness"
]


# ---------------------------------------------------------------- against the oracle


def root_minimum(listed, case, Z, y, weight):
    """Minimum of a root-type risk, entered from above, by scipy on loops."""
    line = oracle.least_squares(Z, y, [1.0] * len(y))
    line = [float(v) for v in line]
    if case.lam:
        residual = [
            v - sum(a * b for a, b in zip(line, z, strict=True)) for v, z in zip(y, Z, strict=True)
        ]
        mean = sum(residual) / len(residual)
        spread = (sum((v - mean) ** 2 for v in residual) / len(residual)) ** 0.5
        level = [line[0] + mean - case.lam * spread, *line[1:]]
    else:
        level = [0.0] * len(line)
    value, gradient = oracle.quartic(listed, case.root, Z, y, level, weight)
    tail = [0.0] * (len(line) - 1)
    grid = np.linspace(min(y) - 5, max(y) + 10, 400)
    heights = [value([c, *tail]) for c in grid]
    highest = max(i for i in range(1, 399) if heights[i] < min(heights[i - 1], heights[i + 1]))
    found = optimize.minimize(
        value, [grid[highest], *tail], jac=gradient, method="BFGS", options={"gtol": 1e-9}
    )
    return found.x, gradient


@pytest.mark.parametrize(("sampler", "name"), PRODUCTS)
def test_coefficients_are_the_oracles(sampler, name):
    case = STATISTICS[name]
    statistic = case.make()
    determined = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        n = 18 if statistic.arity > 3 else 30
        ties = SAMPLERS[sampler].ties
        X, y = draw_positions(rng, n, 1, ties), draw_labels(case.labels, rng, n)
        weight = rng.integers(1, 4, n).astype(float) if seed == 1 else None
        groups = rng.integers(0, 2, n) if seed == 2 else None
        codes = None if groups is None else groups.tolist()
        w_list = None if weight is None else weight.tolist()
        listed = SAMPLERS[sampler].listed(X.tolist(), statistic.arity, codes)
        if not listed:
            with pytest.raises(ValueError, match="must find at least one tuple"):
                paper(statistic, SAMPLERS[sampler].make()).fit(X, y, groups=groups)
            continue
        fitted = fit_quietly(
            paper(statistic, SAMPLERS[sampler].make()), X, y, sample_weight=weight, groups=groups
        )
        assert fitted.n_metasamples_ == len(listed)
        Z = [[1.0, x] for x in X[:, 0].tolist()]
        if len({tuple(oracle.representative(Z, *each)) for each in listed}) < 2:
            assert fitted.solution_.status is Status.RANK_DEFICIENT
            continue
        if fitted.solution_.status in (Status.OTHER_WAY, Status.LEFT_REGION):
            continue  # the quartic's minimum is below its level somewhere: tests/fit/test_roots.py
        if case.root is not None:
            expected, gradient = root_minimum(listed, case, Z, y.tolist(), w_list)
            slope = np.abs(gradient(coefficients(fitted).tolist()))
            assert slope.max() <= 1e-6 * np.abs(gradient([9.0, 0.0])).max()
            np.testing.assert_allclose(coefficients(fitted), expected, rtol=1e-4, atol=1e-4)
        else:
            expected = oracle.fit_ratio(listed, case.psi, case.chi, Z, y.tolist(), w_list)
            expected = np.array([float(v) for v in expected])
            size = np.abs(expected).max() + 1e-3
            np.testing.assert_allclose(coefficients(fitted), expected, rtol=1e-8, atol=1e-9 * size)
        determined += 1
    assert determined >= 1 or statistic.arity > 3


@pytest.mark.parametrize("sampler", ["sliding", "disjoint"])
def test_skewness_has_the_oracles_stationary_point(sampler):
    case = STATISTICS["skewness"]
    rng = np.random.default_rng(1)
    X = np.sort(rng.random((18, 1)), axis=0)
    y = rng.exponential(size=18)
    fitted = fit_quietly(paper("skewness", sampler), X, y)
    listed = SAMPLERS[sampler].listed(X.tolist(), 6, None)
    Z = [[1.0, x] for x in X[:, 0].tolist()]
    pilot = -float(np.mean((y - y.mean()) ** 3) / y.std() ** 3)
    _, gradient = oracle.quartic(listed, case.root, Z, y.tolist(), [pilot, 0.0])
    slope = np.abs(gradient(coefficients(fitted).tolist()))
    assert slope.max() <= 1e-5 * np.abs(gradient([0.0, 0.0])).max()


@pytest.mark.parametrize("sampler", ["naive", "nearby, ball", "nearest", "replicates"])
@pytest.mark.parametrize("name", ["variance", "minvar(1)", "squared_cv", "covariance"])
def test_coefficients_in_two_columns(sampler, name):
    case = STATISTICS[name]
    rng = np.random.default_rng(4)
    n = 150
    X, y = draw_positions(rng, n, 2), draw_labels(case.labels, rng, n)
    X = np.round(2 * X) / 2  # a grid of nine points, so that there are replicates
    listed = SAMPLERS[sampler].listed(X.tolist(), 2, None)
    fitted = fit_quietly(paper(case.make(), SAMPLERS[sampler].make()), X, y)
    assert fitted.n_metasamples_ == len(listed)
    expected = oracle.fit_ratio(
        listed, case.psi, case.chi, [[1.0, *x] for x in X.tolist()], y.tolist()
    )
    np.testing.assert_allclose(
        coefficients(fitted), [float(v) for v in expected], rtol=1e-8, atol=1e-9
    )


def test_a_mean_of_one_label_is_least_squares():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), rng.normal(size=50)
    weight = rng.random(50)
    for w in (None, weight):
        ours = paper("mean", "nearest").fit(X, y, sample_weight=w)
        theirs = LinearRegression().fit(X, y, sample_weight=w)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)
        assert ours.intercept_ == pytest.approx(theirs.intercept_, rel=1e-9)
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)


def test_positive_losses_find_the_same_statistic():
    rng = np.random.default_rng(1)
    X = rng.random((400, 1))
    y = rng.normal(scale=np.sqrt(1 + X[:, 0]))
    found = {
        kind: paper(statistics.variance().with_loss(kind), "sliding").fit(X, y)
        for kind in ("squared", "gamma", "poisson")
    }
    for kind in ("gamma", "poisson"):
        assert found[kind].solution_.status is Status.CONVERGED
        assert np.all(found[kind].predict(X) > 0)
        np.testing.assert_allclose(found[kind].predict(X), found["squared"].predict(X), rtol=0.25)
    # first-order condition of the gamma loss, in loops
    part = metasamples(X, y, sampler="sliding")
    psi = (part.Y[:, 0] - part.Y[:, 1]) ** 2 / 2
    r = found["gamma"].predict(part.x)
    score = (r - psi) / r**2
    size = np.abs(score).sum()
    assert abs(score.sum()) < 1e-5 * size
    assert abs(score @ part.x[:, 0]) < 1e-5 * size


def test_a_users_loss_is_fitted():
    rng = np.random.default_rng(2)
    X = rng.random((150, 1))
    y = 1 + X[:, 0] + rng.exponential(size=150)
    own = statistics.mean_of(lambda Y: Y.min(axis=1), 2)
    ours = paper(own, "sliding").fit(X, y)
    theirs = paper("minvar", "sliding").fit(X, y)
    np.testing.assert_allclose(coefficients(ours), coefficients(theirs), rtol=1e-8)
    loss = statistics.from_loss(
        lambda r, Y: (r - Y.min(axis=1)) ** 2, lambda r, Y: 2 * (r - Y.min(axis=1)), None, 2
    )
    by_loss = paper(loss, "sliding").fit(X, y)
    assert by_loss.solution_.solver == "LBFGS"
    np.testing.assert_allclose(coefficients(by_loss), coefficients(theirs), rtol=1e-3)


def test_a_ridge_penalty_is_added_to_the_mean_loss():
    rng = np.random.default_rng(3)
    X, y = rng.random((40, 1)), rng.normal(size=40)
    alpha = 0.3
    fitted = paper("variance", "sliding", alpha=alpha).fit(X, y)
    part = metasamples(X, y, sampler="sliding")
    psi = (part.Y[:, 0] - part.Y[:, 1]) ** 2 / 2
    z = part.x[:, 0]

    def risk(w):
        return np.mean((w[0] + w[1] * z - psi) ** 2) + alpha * w[1] ** 2

    expected = optimize.minimize(risk, [0.0, 0.0], options={"gtol": 1e-10}).x
    np.testing.assert_allclose(coefficients(fitted), expected, rtol=1e-5, atol=1e-6)
    scaled = paper("variance", "sliding", alpha=alpha).fit(X, 1024.0 * y)  # same penalty in x
    np.testing.assert_allclose(coefficients(scaled), 1024.0**2 * coefficients(fitted), rtol=1e-9)
