"""The laws have the statistics they say they have, and the errors are integrals."""

import numpy as np
import pytest

from multiobs.baselines import plug_in
from multiobs.experiments.methods import statistic_of
from multiobs.experiments.scenarios import (
    PANELS,
    SCENARIOS,
    minvar_exponential,
    scenario,
    ucb_gamma,
    variance_sine,
)


def test_the_paper_has_four_panels():
    assert set(PANELS) <= set(SCENARIOS)
    assert [SCENARIOS[name].statistic for name in PANELS] == [
        "variance",
        "variance",
        "ucb",
        "minvar",
    ]


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize("x", [0.0, 0.3, 0.62, 1.0])
def test_replicates_have_the_statistic_and_the_mean(name, x):
    law = SCENARIOS[name]
    y = law.replicates(x, 200_000, np.random.default_rng(3))
    assert y.shape == (1, 200_000)
    assert plug_in(statistic_of(law), y)[0] == pytest.approx(float(law.truth(x)), rel=0.02)
    assert y.mean() == pytest.approx(float(law.mean(np.asarray(x))), abs=5 * y.std() / 440)


@pytest.mark.parametrize("name", PANELS)
def test_closed_form_is_the_integral(name):
    law = SCENARIOS[name]
    x = (np.arange(20_000) + 0.5) / 20_000
    expected = np.mean((1.7 - 0.4 * x - law.truth(x)) ** 2)
    assert law.mse_of_line(1.7, -0.4) == pytest.approx(expected, rel=1e-6)
    assert law.mse_of_polynomial(lambda x: 1.7 - 0.4 * x, 1) == pytest.approx(expected, rel=1e-6)
    quartic = np.mean((x**4 - x - law.truth(x)) ** 2)
    assert law.mse_of_polynomial(lambda x: x**4 - x, 4) == pytest.approx(quartic, rel=1e-6)
    monte_carlo = law.mse_monte_carlo(lambda x: 1.7 - 0.4 * x, np.random.default_rng(0), 100_000)
    assert monte_carlo == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("name", SCENARIOS)
def test_same_seed_same_rows(name):
    law = SCENARIOS[name]
    first = law.sample(20, np.random.default_rng(5))
    second = law.sample(20, np.random.default_rng(5))
    np.testing.assert_array_equal(first, second)
    assert first[0].min() >= 0
    assert first[0].max() < 1


def test_families_by_name():
    law = scenario("ucb-gamma(lam=2)")
    assert law.name == "ucb-gamma(lam=2)"
    assert law.parameters["lam"] == ucb_gamma(2.0).parameters["lam"]
    assert float(scenario("variance-sine(amplitude=3,frequency=1)").mean(np.array(0.25))) == 3.0
    assert statistic_of(scenario("minvar-exponential(k=2)")).arity == 3


@pytest.mark.parametrize(
    "name", ["nonsense", "ucb-gamma(", "ucb-gamma(lambda=2)", "variance-bump(tall=1)"]
)
def test_unknown_names_are_refused(name):
    with pytest.raises(ValueError, match="must be"):
        scenario(name)


def test_impossible_parameters_are_refused():
    law = variance_sine()
    rng = np.random.default_rng(0)
    for call, words in (
        (lambda: ucb_gamma(-1.0), "lam must be positive, got -1.0"),
        (lambda: minvar_exponential(0), "k must be at least 1, got 0"),
        (lambda: law.sample(0, rng), "n must be at least 1, got 0"),
        (lambda: law.replicates(0.5, 0, rng), "k must be at least 1, got 0"),
        (lambda: law.mse_monte_carlo(law.truth, rng, 0), "points must be at least 1, got 0"),
    ):
        with pytest.raises(ValueError, match=words):
            call()
