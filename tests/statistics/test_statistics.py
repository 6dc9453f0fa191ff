"""The constant that minimises the mean loss is the statistic it is named after."""

import pickle
from math import inf

import numpy as np
import pytest
from scipy import optimize
from tables import LAWS, STATISTICS

from multiobs import statistics
from multiobs.statistics.kernels import OrderStatistic
from multiobs.statistics.losses import BregmanLoss, CallableLoss, RootLoss

CASES = [(name, law) for name, case in STATISTICS.items() for law in case.truth]


def polynomial_of_mean_loss(loss, Y):
    """Coefficients of the mean loss as a polynomial in r, through five of its values."""
    points = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    if isinstance(loss, RootLoss):
        loss = loss.at(loss.level(Y))
    values = [loss.value(np.full(len(Y), r), Y).mean() for r in points]
    return np.polynomial.Polynomial.fit(points, values, 4).convert()


def minimiser(statistic, Y):
    """Minimiser of the mean loss among the values that a law can have.

    The highest local minimiser where there is no global one (the cubic).
    """
    polynomial = polynomial_of_mean_loss(statistic.loss, Y)
    polynomial = polynomial.trim(1e-9 * np.abs(polynomial.coef).max())
    roots = polynomial.deriv().roots()
    real = roots[np.abs(roots.imag) < 1e-7].real
    low, high = (-inf, inf) if statistic.form == "mean" else statistic.domain
    minima = [r for r in real if polynomial.deriv(2)(r) > 0 and low <= r <= high]
    if polynomial.degree() % 2:
        return max(minima)
    return min(minima, key=polynomial)


def tolerance(statistic, Y, truth):
    """Five standard errors of the empirical minimiser."""
    r = np.full(len(Y), truth)
    V = statistic.identification(r, Y)
    slope = np.mean(statistic.identification(r + 0.01, Y) - statistic.identification(r - 0.01, Y))
    return 5 * V.std() / abs(slope / 0.02) / np.sqrt(len(Y)) + 1e-9


@pytest.mark.parametrize(("name", "law"), CASES)
def test_the_minimiser_of_the_mean_loss_is_the_statistic(name, law):
    case = STATISTICS[name]
    statistic = case.make()
    truth = case.truth[law]
    size = 20_000 if statistic.arity > 3 else 50_000
    Y = LAWS[law](np.random.default_rng(12), (size, statistic.arity))
    error = tolerance(statistic, Y, truth)
    spread = float(np.std(Y)) ** (statistic.scale or 0) if statistic.scale is not None else 1.0
    limit = 1.0 if statistic.arity > 3 else 0.25
    assert error < limit * max(spread, abs(truth)), "this sample could not tell a wrong loss"
    found = minimiser(statistic, Y)
    assert abs(found - truth) < error


@pytest.mark.parametrize("kind", ["squared", "gamma", "poisson"])
@pytest.mark.parametrize("name", ["variance", "gini_mean_difference"])
def test_other_losses_of_a_positive_statistic_have_the_same_minimiser(name, kind):
    case = STATISTICS[name]
    statistic = case.make().with_loss(kind)
    assert isinstance(statistic.loss, BregmanLoss) == (kind != "squared")
    for law in ("normal", "exponential"):
        truth = case.truth[law]
        Y = LAWS[law](np.random.default_rng(5), (50_000, statistic.arity))
        found = optimize.minimize_scalar(
            lambda r, Y=Y: statistic.loss.value(np.full(len(Y), r), Y).mean(),
            bounds=(0.1 * truth, 10 * truth),
            method="bounded",
            options={"xatol": 1e-8},
        ).x
        assert found == pytest.approx(statistic.psi(Y).mean(), rel=1e-5)
        assert abs(found - truth) < tolerance(statistic, Y, truth)


@pytest.mark.parametrize("lam", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("law", ["normal", "exponential", "gamma", "uniform", "bernoulli"])
def test_ucb_by_its_cubic_and_by_a_fixed_reference(law, lam):
    mean, sd = STATISTICS["mean"].truth[law], STATISTICS["standard_deviation"].truth[law]
    truth = mean + lam * sd
    Y = LAWS[law](np.random.default_rng(6), (50_000, 2))
    cubic = statistics.ucb(lam, loss="cubic")
    fixed = statistics.ucb(lam, reference=mean - 1.4 * lam * sd)
    for statistic in (cubic, fixed):
        found = minimiser(statistic, Y)
        assert abs(found - truth) < tolerance(statistic, Y, truth)


def test_a_reference_outside_the_bounds_elicits_something_else():
    Y = LAWS["normal"](np.random.default_rng(6), (50_000, 2))  # mean 1, sd 2
    for c in (1 - 3.5 * 2, 1 + 1.0):
        found = minimiser(statistics.ucb(1.0, reference=c), Y)
        assert abs(found - 3.0) > 1.0


@pytest.mark.parametrize("name", STATISTICS)
def test_declared_equivariances_hold(name):
    """r of shift + c y against c^scale r (+ shift): checked on the identification function."""
    statistic = STATISTICS[name].make()
    law = next(iter(STATISTICS[name].truth))
    Y = LAWS[law](np.random.default_rng(4), (4000, statistic.arity))
    here = minimiser(statistic, Y)
    if statistic.scale is not None:
        scaled = minimiser(statistic, 0.5 * Y)
        assert scaled == pytest.approx(0.5**statistic.scale * here, rel=1e-6, abs=1e-9)
    if statistic.shift is not None:
        moved = minimiser(statistic, Y + 3.0)
        gain = 3.0 if statistic.shift == "equivariant" else 0.0
        assert moved == pytest.approx(here + gain, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("name", STATISTICS)
def test_every_statistic_tells_what_it_is(name):
    case = STATISTICS[name]
    statistic = case.make()
    low, high = statistic.domain
    assert all(low <= truth <= high for truth in case.truth.values())
    assert statistic.unit
    assert statistic.name == name.split("(")[0]
    assert repr(statistic).startswith(statistic.name)
    assert statistic.form == (
        "root" if case.root else "ratio" if case.chi.__name__ != "one" else "mean"
    )
    assert repr(pickle.loads(pickle.dumps(statistic))) == repr(statistic)


def test_units_name_the_power_of_y():
    assert statistics.variance().unit == "unit of y²"
    assert statistics.standard_deviation().unit == "unit of y"
    assert statistics.collision_probability().unit == "1"
    assert statistics.variance().domain == (0.0, inf)


def test_names_resolve_to_the_catalogue():
    for name in statistics.CATALOGUE:
        assert statistics.resolve(name).name == name
    own = statistics.minvar(3)
    assert statistics.resolve(own) is own
    assert repr(statistics.resolve("ucb")).startswith("ucb(lam=1.0")
    assert repr(statistics.resolve("minvar")) == "minvar(k=1)"
    with pytest.raises(ValueError, match=r"statistic must be one of 'mean', .* got 'vairance'"):
        statistics.resolve("vairance")
    with pytest.raises(TypeError, match="a name or a Statistic, got 3"):
        statistics.resolve(3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: statistics.ucb(-1.0), "lam must be positive, got -1.0"),
        (lambda: statistics.ucb(np.nan), "lam must be finite"),
        (lambda: statistics.ucb(1.0, loss="quintic"), "loss must be one of 'quartic', 'cubic'"),
        (lambda: statistics.ucb(1.0, "cubic", 2.0), "reference belongs to the quartic"),
        (lambda: statistics.minvar(0), "k must be at least 1, got 0"),
        (lambda: statistics.central_moment(1), "order must be at least 2, got 1"),
        (lambda: statistics.cumulant(0), "order must be at least 1, got 0"),
        (lambda: statistics.l_moment(0), "order must be at least 1, got 0"),
        (lambda: statistics.skewness().with_loss("gamma"), "only a mean-type statistic"),
        (lambda: statistics.mean().with_loss("gamma"), "needs a nonnegative statistic"),
        (lambda: statistics.variance().with_loss("huber"), "loss must be one of"),
    ],
)
def test_wrong_parameters_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


# ---------------------------------------------------------------- a user's own functions


def test_a_users_kernel_gives_the_catalogues_statistic():
    own = statistics.mean_of(lambda Y: Y.min(axis=1), arity=3)
    Y = np.random.default_rng(0).normal(size=(50, 3))
    np.testing.assert_allclose(own.psi(Y), statistics.minvar(2).psi(Y))
    assert (own.form, own.arity, own.trusted) == ("mean", 3, False)
    known = statistics.mean_of(OrderStatistic([1, 0, 0]), arity=3)
    assert known.trusted


def test_a_users_ratio_and_loss():
    own = statistics.ratio_of(
        lambda Y: (Y[:, 0] - Y[:, 1]) ** 2 / 2, lambda Y: Y.mean(axis=1), arity=2
    )
    r, Y = np.linspace(1, 2, 9), np.random.default_rng(0).gamma(2.0, size=(9, 2))
    np.testing.assert_allclose(
        own.identification(r, Y), statistics.dispersion_index().identification(r, Y)
    )
    expectile = statistics.from_loss(
        lambda r, Y: np.where(Y[:, 0] > r, 0.8, 0.2) * (r - Y[:, 0]) ** 2,
        lambda r, Y: 2 * np.where(Y[:, 0] > r, 0.8, 0.2) * (r - Y[:, 0]),
        None,
        arity=1,
    )
    assert expectile.form == "loss"
    assert isinstance(expectile.loss, CallableLoss)


def test_a_loss_with_a_kink_is_accepted():
    median = statistics.from_loss(
        lambda r, Y: np.abs(r - Y.mean(axis=1)), lambda r, Y: np.sign(r - Y.mean(axis=1)), None, 2
    )
    assert median.arity == 2


BAD = {
    "not symmetric": (
        lambda: statistics.mean_of(lambda Y: Y[:, 0] - Y[:, 1], 2),
        ValueError,
        "psi must not depend on the order of the observations, got another value after permuting",
    ),
    "not symmetric in the last of three": (
        lambda: statistics.mean_of(lambda Y: Y[:, 0] * Y[:, 1] + Y[:, 2], 3),
        ValueError,
        "must not depend on the order",
    ),
    "wrong shape": (
        lambda: statistics.mean_of(lambda Y: Y, 2),
        ValueError,
        r"one number per tuple, shape \(64,\), got shape \(64, 2\)",
    ),
    "not finite": (
        lambda: statistics.mean_of(lambda Y: np.full(len(Y), np.inf), 2),
        ValueError,
        "psi must be finite, got a non-finite value at y = ",
    ),
    "wrong gradient": (
        lambda: statistics.from_loss(
            lambda r, Y: (r - Y.mean(axis=1)) ** 2, lambda r, Y: r - Y.mean(axis=1), None, 2
        ),
        ValueError,
        "gradient must be the derivative of value in r, got .* finite differences give",
    ),
    "loss not symmetric": (
        lambda: statistics.from_loss(
            lambda r, Y: (r - Y[:, 0]) ** 2, lambda r, Y: 2 * (r - Y[:, 0]), None, 2
        ),
        ValueError,
        "the loss must not depend on the order",
    ),
    "negative denominator": (
        lambda: statistics.ratio_of(lambda Y: Y.min(axis=1), lambda Y: -Y.max(axis=1), 2),
        ValueError,
        "chi must have a positive mean, got -",
    ),
    "wrong arity": (
        lambda: statistics.mean_of(OrderStatistic([1, 0]), 3),
        ValueError,
        "kernel must take 3 observations, got one that takes 2",
    ),
    "arity zero": (
        lambda: statistics.mean_of(lambda Y: Y.sum(axis=1), 0),
        ValueError,
        "arity must be at least 1, got 0",
    ),
    "not a function": (
        lambda: statistics.mean_of("min", 2),
        TypeError,
        "kernel must be a function",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_users_mistakes_are_found_at_the_door(name):
    make, error, message = BAD[name]
    with pytest.raises(error, match=message):
        make()


def test_symmetry_is_checked_on_the_data_too():
    # symmetric for positive labels only, which is all that the door can try
    sly = statistics.mean_of(lambda Y: np.where(Y.min(axis=1) > 0, 1.0, Y[:, 0]), 2)
    with pytest.raises(ValueError, match="must not depend on the order"):
        statistics.verify(sly, np.random.default_rng(0).normal(size=(50, 2)))


def test_values_outside_the_domain():
    assert statistics.outside_domain(statistics.variance(), np.array([1.0, -0.5])).tolist() == [
        -0.5
    ]
    assert statistics.outside_domain(statistics.mean(), np.array([-1e9])).size == 0
    tau = statistics.outside_domain(statistics.kendall_tau(), np.array([1.2, 1.0, -1.1]))
    assert tau.tolist() == [1.2, -1.1]
