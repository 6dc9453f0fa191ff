"""Comparisons, decompositions, Murphy and reliability curves."""

import numpy as np
import pytest
from scipy import integrate
from scored_rows import UCB, rows, truth_of

from multiobs import scoring, statistics


def test_comparison_table_and_skill():
    x, y = rows(800)
    truth = (1 + x) ** 2
    forecasts = {"true": truth, "flat": 2.0, "zero": 0.0}
    found = scoring.compare("variance", x, y, forecasts, transport=None)
    psi = 0.5 * np.diff(y[np.argsort(x)]) ** 2
    assert found.constant == pytest.approx(psi.mean())
    r = truth[np.argsort(x)]
    r = (r[1:] + r[:-1]) / 2
    r2 = 1 - np.sum((psi - r) ** 2) / np.sum((psi - psi.mean()) ** 2)
    assert found.skill[found.names.index("true")] == pytest.approx(r2)
    assert found.names[0] == found.benchmark == "true"
    own = found.differences[0]
    assert own.difference == own.se == 0.0
    assert np.isnan(own.p)
    text = str(found)
    assert text.startswith("Scores of variance() on 799 metasamples")
    assert "less true" in text
    frame = pytest.importorskip("pandas") and found.to_frame()
    assert frame["forecast"].tolist() == list(found.names)
    np.testing.assert_array_equal(frame["score"], found.scores)
    with pytest.raises(ValueError, match="forecast must be one of"):
        found.difference("true", "unknown")


@pytest.mark.parametrize("loss", ["gamma", "poisson"])
def test_skill_of_other_losses_lies_between_constant_and_perfect(loss):
    x, y = rows(3000)
    found = scoring.compare("variance", x, y, {"true": (1 + x) ** 2}, loss=loss)
    assert 0 < found.skill[0] < 1
    constant = scoring.compare("variance", x, y, {"best": found.constant}, loss=loss)
    assert constant.skill[0] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    "statistic",
    [UCB, statistics.ucb(2.0, loss="cubic"), "standard_deviation", "dispersion_index", "kurtosis"],
    ids=str,
)
def test_best_constant_is_a_minimum_of_the_score(statistic):
    rng = np.random.default_rng(0)
    x, y = rng.uniform(size=2000), 3.0 + rng.normal(size=2000)
    found = scoring.compare(statistic, x, y, {"any": 2.0})
    step = 0.01 * abs(found.constant)
    near = [scoring.score(statistic, x, y, found.constant + s) for s in (-step, 0.0, step)]
    assert near[1] < min(near[0], near[2])


def test_best_constant_of_a_users_loss():
    statistic = statistics.from_loss(
        lambda r, Y: np.abs(r - Y.mean(axis=1)) ** 3,
        lambda r, Y: 3 * np.abs(r - Y.mean(axis=1)) * (r - Y.mean(axis=1)),
        None,
        2,
    )
    x, y = rows(300)
    found = scoring.compare(statistic, x, y, {"any": 0.0})
    near = [scoring.score(statistic, x, y, found.constant + s) for s in (-0.01, 0.0, 0.01)]
    assert near[1] < min(near[0], near[2])


def test_decomposition_adds_up_and_blames_the_right_part():
    x, y = rows(3000)
    truth = (1 + x) ** 2
    for loss in ("squared", "gamma", "poisson"):
        good = scoring.decompose("variance", x, y, truth, loss=loss)
        total = good.miscalibration - good.discrimination + good.uncertainty
        assert total == pytest.approx(good.score)
        assert good.score == pytest.approx(scoring.score("variance", x, y, truth, loss=loss))
        assert good.miscalibration >= 0
        assert good.discrimination >= 0
        flat = scoring.decompose("variance", x, y, 2.0, loss=loss)
        assert flat.discrimination == pytest.approx(0.0, abs=1e-12)
        high = scoring.decompose("variance", x, y, 2 * truth, loss=loss)
        assert high.miscalibration > 3 * good.miscalibration
        assert high.discrimination == pytest.approx(good.discrimination)
    with pytest.raises(ValueError, match="needs a mean- or ratio-type statistic"):
        scoring.decompose(UCB, x, y, 3.0)


def test_murphy_curve_integrates_to_the_squared_score():
    x, y = rows(60)
    r = (1 + x) ** 2
    theta = np.linspace(0, 40, 40_001)
    curve = scoring.murphy_curve("variance", x, y, {"true": r}, theta=theta)
    area = 2 * integrate.trapezoid(curve.scores[0], theta)
    assert area == pytest.approx(scoring.score("variance", x, y, r), rel=1e-3)


def test_murphy_difference_has_its_standard_error():
    x, y = rows(2000)
    curve = scoring.murphy_curve("variance", x, y, {"true": (1 + x) ** 2, "flat": 2.3})
    np.testing.assert_allclose(curve.difference, curve.scores[0] - curve.scores[1])
    assert np.all(curve.difference_se >= 0)
    assert np.min(curve.difference / np.where(curve.difference_se > 0, curve.difference_se, 1)) < -3
    with pytest.raises(ValueError, match="needs a mean- or ratio-type statistic"):
        scoring.murphy_curve(UCB, x, y, {"a": 1.0})


def test_reliability_bins_hold_the_mean_of_psi():
    x, y = rows(1000)
    r = 1.5 * (1 + x) ** 2
    found = scoring.reliability_curve("variance", x, y, r, n_bins=4, transport=None)
    order = np.argsort(x)
    psi, at = 0.5 * np.diff(y[order]) ** 2, (r[order][1:] + r[order][:-1]) / 2
    low = at <= np.quantile(at, 0.25)
    assert found.observed[0] == pytest.approx(psi[low].mean())
    assert found.forecast[0] == pytest.approx(at[low].mean())
    assert found.count.sum() == 999
    assert np.all(np.diff(found.curve_observed) >= 0)
    assert np.all(found.observed < found.forecast)


def test_reliability_of_a_bound_finds_the_bound():
    law, statistic = truth_of("ucb-gamma")
    x, y = law.sample(20_000, np.random.default_rng(0))
    found = scoring.reliability_curve(statistic, x, y, 0.95 * law.truth(x), n_bins=5)
    error = found.observed - found.forecast / 0.95
    assert np.all(np.abs(error) < 4 * found.se)
    assert found.curve_forecast.size == 0
