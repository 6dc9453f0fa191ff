"""Parts whose noise goes together: the share of one in the other, and the same statistic."""

import numpy as np
import pytest

from multiobs import MultiObservationRegressor, statistics
from multiobs.fit.averages import mixing
from multiobs.statistics import Statistic


def _share(statistic: Statistic, labels: np.ndarray) -> float:
    """Influence by loops over a grid of quantiles, for two observations."""
    assert statistic.parts is not None
    kernel = statistic.parts.statistics[1].psi
    assert kernel is not None
    assert kernel.arity == 2
    own = [2 * np.mean([kernel(np.array([[a, b]]))[0] for b in labels]) for a in labels]
    both = np.cov(np.stack([labels, np.array(own)]))
    return float(both[0, 1] / both[1, 1])


def test_share_is_that_of_the_influences() -> None:
    labels = np.random.default_rng(0).gamma(2.0, size=150)
    for statistic in (statistics.minvar(1), statistics.maxvar(1)):
        assert statistic.parts is not None
        kernel = statistic.parts.statistics[1].psi
        assert kernel is not None
        found = mixing(kernel, labels)
        assert found == pytest.approx(_share(statistic, labels), rel=0.1)
        assert mixing(kernel, labels[::-1]) == found


def test_symmetric_labels_have_none() -> None:
    parts = statistics.minvar(4).parts
    assert parts is not None
    kernel = parts.statistics[1].psi
    assert kernel is not None
    assert mixing(kernel, np.random.default_rng(0).normal(size=3000)) == 0.0
    assert mixing(kernel, np.ones(100)) == 0.0


@pytest.mark.parametrize(
    "statistic", [statistics.minvar(1), statistics.minvar(4), statistics.maxvar(2)]
)
@pytest.mark.parametrize("beta", [0.0, 0.7, -1.3])
def test_mixed_parts_make_the_same_statistic(statistic: Statistic, beta: float) -> None:
    Y = np.random.default_rng(0).normal(size=(50, statistic.arity))
    assert statistic.parts is not None
    assert statistic.parts.mixed is not None
    parts = statistic.parts.mixed(beta)
    values = []
    for part in parts.statistics:
        assert part.psi is not None
        values.append(part.psi(Y) if part.arity > 1 else Y.mean(axis=1))
    assert statistic.psi is not None
    np.testing.assert_allclose(parts.combine(*values), statistic.psi(Y), atol=1e-12)


def test_skewed_labels_need_less_noise_than_their_mean_has() -> None:
    errors: dict[str, list[float]] = {"mixed": [], "mean": []}
    grid = np.linspace(0.02, 0.98, 50)
    truth = 2 * np.cos(5 * grid) - 0.75 / np.sqrt(2.0)
    for seed in range(6):
        rng = np.random.default_rng(seed)
        x = rng.uniform(size=400)
        y = 2 * np.cos(5 * x) + (rng.gamma(2.0, size=400) - 2.0) / np.sqrt(2.0)
        reg = MultiObservationRegressor("minvar", features="smooth", random_state=0)
        reg.fit(x[:, None], y)
        errors["mixed"].append(float(np.mean((reg.predict(grid[:, None]) - truth) ** 2)))
        mean = MultiObservationRegressor("mean", features="smooth", random_state=0)
        level = mean.fit(x[:, None], y).predict(grid[:, None])
        errors["mean"].append(float(np.mean((level - 2 * np.cos(5 * grid)) ** 2)))
        assert "times the shortfall" in str(reg.plan_)
    assert np.mean(errors["mixed"]) < np.mean(errors["mean"])


def test_a_straight_mean_stays_straight_beside_a_hump_of_the_spread() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(size=600)
    spread = 0.3 + np.exp(-(((x - 0.35) / 0.1) ** 2) / 2)
    y = 2 * x + spread * (rng.gamma(2.0, size=600) - 2.0) / np.sqrt(2.0)
    reg = MultiObservationRegressor("minvar", features="smooth", random_state=0).fit(x[:, None], y)
    mean, shortfall = reg.result_.parts
    assert reg.result_.beta > 0.5  # labels are skewed: the mean is fitted beside the shortfall
    assert mean.fit.edf.sum() < 2.5
    assert shortfall.fit.edf.sum() > 4
    at = np.linspace(0.05, 0.95, 20)[:, None]
    levels = mean.curve.outward(mean.curve.eta(at))
    np.testing.assert_allclose(levels, 2 * at[:, 0], atol=0.15)
    # the error of the shortfall moves the mean as well
    here = reg.result_.curve.standard_errors(at)
    alone = np.hypot(
        mean.curve.errors(mean.design.columns(at)) * mean.units.factor,
        shortfall.curve.errors(shortfall.design.columns(at))
        * shortfall.curve.slope(shortfall.curve.eta(at))
        * (reg.result_.beta - 1.0),
    )
    np.testing.assert_allclose(here, alone, rtol=0.3)
