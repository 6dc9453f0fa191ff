"""A statistic, a kernel, a loss, a sampler and a solver from outside, through every public door."""

from dataclasses import dataclass
from math import inf
from typing import final

import numpy as np
import pytest

from multiobs import (
    MultiObservationRegressor,
    baselines,
    empirical_risk,
    metasamples,
    plan,
    scoring,
    solve,
    statistics,
)
from multiobs.fit import LBFGS, Solver
from multiobs.samplers import Sampler
from multiobs.statistics import Statistic
from multiobs.statistics.base import ListedKernel, TupleLoss
from multiobs.statistics.losses import squared
from multiobs.tuples import Tuples

AT = np.array([[0.2], [0.8]])


def rows(n=240, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(n, 1))
    return x, 2 * x[:, 0] + rng.normal(size=n)


@final
@dataclass(frozen=True)
class RootDifference(ListedKernel):
    """|y1 - y2|^(1/2), a kernel that no fast sum knows."""

    factor: float = 1.0
    arity = 2
    n_columns = 1
    homogeneity = 0

    def __call__(self, Y):
        return self.factor * np.sqrt(np.abs(Y[:, 0] - Y[:, 1]))

    def __mul__(self, factor):
        return RootDifference(self.factor * factor)


@final
@dataclass(frozen=True)
class Asymmetric(TupleLoss):
    """An expectile of half the squared difference: errors above weigh three times as much."""

    arity = 2

    def _psi(self, Y):
        return 0.5 * (Y[:, 0] - Y[:, 1]) ** 2

    def _weight(self, r, Y):
        return np.where(self._psi(Y) > r, 3.0, 1.0)

    def value(self, r, Y):
        return self._weight(r, Y) * (r - self._psi(Y)) ** 2

    def gradient(self, r, Y):
        return 2 * self._weight(r, Y) * (r - self._psi(Y))

    def hessian(self, r, Y):
        return 2 * self._weight(r, Y)

    def growth(self, scale):
        return 0

    @property
    def domain(self):
        return (-inf, inf)

    def start(self, Y):
        return float(np.mean(self._psi(Y)))

    def perfect(self, psi):
        return np.zeros_like(psi)


@final
@dataclass(frozen=True)
class EveryOther(Sampler):
    """Each row with the second next in the order of the first column."""

    def build(self, X, arity, rng, groups=None):
        order = np.lexsort((rng.random(X.shape[0]), X[:, 0]))
        steps = np.arange(order.size - 2 * (arity - 1))[:, None] + 2 * np.arange(arity)
        found = order[steps]
        if groups is not None:
            found = found[np.all(groups[found] == groups[found[:, :1]], axis=1)]
        return Tuples(found.astype(np.int64), X.shape[0])


@final
class Descent(Solver):
    """Someone's own way to minimise: here quasi-Newton steps from a start of their own."""

    def solve(self, risk, start):
        return LBFGS().solve(risk, start + 0.1)


PSI = RootDifference()
STATISTICS = {
    "kernel": Statistic("root_difference", squared(PSI), psi=PSI, domain=(0.0, inf), unit=""),
    "function": statistics.mean_of(lambda Y: np.abs(Y[:, 0] - Y[:, 1]) ** 1.5, 2),
    "loss": Statistic("expectile_of_pairs", Asymmetric(), unit=""),
    # a user's own statistic of a name that the catalogue has
    "same name": Statistic("variance", squared(PSI), psi=PSI, unit=""),
}


@pytest.mark.parametrize(
    "sampler", ["auto", "sliding", EveryOther()], ids=["auto", "sliding", "own"]
)
@pytest.mark.parametrize("name", STATISTICS)
def test_fit_interval_summary_report(name, sampler):
    X, y = rows()
    statistic = STATISTICS[name]
    model = MultiObservationRegressor(statistic, sampler, random_state=0, transport=None).fit(X, y)
    found, limits = model.predict(AT), model.predict_interval(AT)
    assert np.all(limits[:, 0] < found)
    assert np.all(found < limits[:, 1])
    assert statistic.name.replace("_", " ") in str(model.summary())
    assert model.metasample_report().rows == 240
    assert 0 <= model.test_constant().p_value <= 1
    assert np.isfinite(model.score(X, y))


@pytest.mark.parametrize("name", ["kernel", "function", "same name"])
def test_a_mean_is_a_mean_of_its_kernel(name):
    X, y = rows()
    statistic = STATISTICS[name]
    model = MultiObservationRegressor(statistic, EveryOther(), transport=None, random_state=0)
    model.fit(np.zeros_like(X) + X, y)
    listed = metasamples(X, y, statistic, EveryOther(), transport=None, random_state=0)
    psi = statistic.psi(listed.Y)
    line = np.polyfit(listed.x[:, 0], psi, 1)
    np.testing.assert_allclose([model.coef_[0], model.intercept_], line, rtol=1e-6)


def test_the_loss_is_minimised_as_the_oracle_does():
    X, y = rows()
    model = MultiObservationRegressor(
        STATISTICS["loss"], EveryOther(), transport=None, random_state=0
    )
    model.fit(X, y)
    listed = metasamples(X, y, STATISTICS["loss"], EveryOther(), transport=None, random_state=0)
    psi = 0.5 * (listed.Y[:, 0] - listed.Y[:, 1]) ** 2
    z = np.column_stack([np.ones(len(listed)), listed.x[:, 0]])
    w = np.linalg.lstsq(z, psi, rcond=None)[0]
    for _ in range(200):  # asymmetric least squares by reweighting
        weight = np.sqrt(np.where(psi > z @ w, 3.0, 1.0))
        w = np.linalg.lstsq(z * weight[:, None], psi * weight, rcond=None)[0]
    np.testing.assert_allclose([model.intercept_, model.coef_[0]], w, rtol=1e-5)


@pytest.mark.parametrize("name", ["kernel", "function", "same name"])
def test_scores_and_comparisons(name):
    X, y = rows(400)
    statistic = STATISTICS[name]
    good = np.full(
        400, float(np.mean(statistic.psi(np.random.default_rng(1).normal(size=(9999, 2)))))
    )
    assert scoring.score(statistic, X, y, good) < scoring.score(statistic, X, y, 3 * good)
    table = scoring.compare(statistic, X, y, {"good": good, "bad": 3 * good})
    assert "good" in str(table)


def test_plug_in_and_baselines_take_the_users_own_statistic():
    _, y = rows(60)
    every = [(a, b) for a in range(60) for b in range(a)]
    expected = np.mean([abs(y[a] - y[b]) ** 0.5 for a, b in every])
    for name in ("kernel", "same name"):
        assert baselines.plug_in(STATISTICS[name], y) == pytest.approx(expected, rel=1e-9)


def test_the_plan_says_that_such_a_kernel_is_listed():
    X, y = rows(40)
    tuples = EveryOther().build(X, 2, np.random.default_rng(0))
    assert plan(tuples, PSI, 1).branch == "list"
    risk = empirical_risk(STATISTICS["kernel"], tuples, np.ones((40, 1)), y)
    assert solve(risk, solver=Descent()).w == pytest.approx(solve(risk).w, rel=1e-4)


def test_pictures():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from multiobs import plots

    X, y = rows()
    model = MultiObservationRegressor(STATISTICS["kernel"], "sliding", transport=None).fit(X, y)
    made = plots.FittedStatisticDisplay.from_estimator(model, X, y)
    shown = [each.get_ylabel() for each in made.axes_]
    assert any("root difference" in text for text in shown), shown
    matplotlib.pyplot.close("all")
