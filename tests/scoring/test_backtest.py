"""Backtests: verdicts on known forecasts, time order, windows."""

import numpy as np
import pytest

from multiobs import scoring, statistics

DAYS = 2500


def market(seed=0, days=DAYS):
    """Losses with a slowly moving spread: returns day, loss, true sd."""
    rng = np.random.default_rng(seed)
    day = np.arange(days)
    sd = 1 + 0.6 * np.sin(day / 300)
    return day, sd * rng.normal(size=days), sd


def test_lights_and_zones_of_known_forecasts():
    day, y, sd = market()
    forecasts = {"true": sd**2, "half": 0.5 * sd**2, "flat": np.full(DAYS, np.mean(sd**2))}
    report = scoring.backtest("variance", day, y, forecasts, benchmark="flat")
    assert report.lights == {"true": "green", "half": "red", "flat": report.lights["flat"]}
    assert report.zones["true"] == "green"
    assert report.zones["flat"] == "yellow"
    assert report.calibration["half"].mean > 0
    assert report.comparison.names[0] == "true"
    text = str(report)
    assert "Backtest of variance(), 2499 metasamples within 2 rows" in text
    assert "Sensitivity to the window" in text
    frame = pytest.importorskip("pandas") and report.to_frame()
    assert frame["light"].tolist() == [report.lights[name] for name in report.comparison.names]


def test_a_true_forecast_is_green_about_as_often_as_it_should_be():
    green = 0
    for seed in range(200):
        day, y, sd = market([7, seed], 600)
        report = scoring.backtest("variance", day, y, {"true": sd**2}, windows=[2])
        green += report.lights["true"] == "green"
    assert 0.87 <= green / 200 <= 0.99  # 95 % but for the size of Newey-West tests at n = 600


@pytest.mark.parametrize(
    ("statistic", "factor"),
    [(statistics.ucb(2.0), 2.0), (statistics.minvar(1), -1 / np.sqrt(np.pi))],
)
def test_other_risk_measures(statistic, factor):
    # normal losses: mean + 2 sd, and E min of two = -sd / sqrt(pi)
    day, y, sd = market()
    forecasts = {"true": factor * sd, "off": 0.7 * factor * sd}
    report = scoring.backtest(statistic, day, y, forecasts)
    assert report.comparison.names[0] == "true"
    assert report.lights["true"] == "green"
    assert report.lights["off"] == "red"


def test_time_decides_the_order_not_the_rows():
    day, y, sd = market(days=300)
    shuffled = np.random.default_rng(1).permutation(300)
    plain = scoring.backtest("variance", day, y, {"true": sd**2, "one": 1.0})
    mixed = scoring.backtest(
        "variance", day[shuffled], y[shuffled], {"true": sd[shuffled] ** 2, "one": 1.0}
    )
    assert str(plain) == str(mixed)
    dates = np.datetime64("2020-01-01") + day
    dated = scoring.backtest("variance", dates, y, {"true": sd**2, "one": 1.0})
    assert str(plain) == str(dated)
    texts = scoring.backtest("variance", dates.astype(str), y, {"true": sd**2, "one": 1.0})
    assert str(plain) == str(texts)


def test_scores_equal_a_loop_over_the_window():
    day, y, _ = market(days=40)
    report = scoring.backtest("variance", day, y, {"one": 1.0}, window=4, windows=[3, 4])
    losses = [
        (1.0 - (y[i] - y[j]) ** 2 / 2) ** 2 for i in range(40) for j in range(i + 1, min(i + 4, 40))
    ]
    assert report.comparison.scores[0] == pytest.approx(np.mean(losses))
    assert report.sensitivity.columns["window"] == [3, 4]
    assert report.sensitivity.columns["score"][1] == pytest.approx(np.mean(losses))


def test_groups_are_not_crossed():
    day, y, _ = market(days=100)
    desk = np.arange(100) % 2
    report = scoring.backtest("variance", day, y, {"one": 1.0}, groups=desk, windows=[2])
    losses = [(1.0 - np.diff(y[desk == d]) ** 2 / 2) ** 2 for d in (0, 1)]
    assert report.comparison.scores[0] == pytest.approx(np.mean(np.concatenate(losses)))


def test_a_regulator_minds_only_risk_that_is_too_low():
    day, y, sd = market()
    forecasts = {"high": 2 * sd**2, "low": 0.5 * sd**2}
    report = scoring.backtest("variance", day, y, forecasts, side="too low")
    assert report.lights == {"high": "green", "low": "red"}
    report = scoring.backtest("variance", day, y, forecasts, side="too high")
    assert report.lights == {"high": "red", "low": "green"}


@pytest.mark.parametrize(
    ("how", "rule"),
    [
        ({"window": 1}, "window must be at least 2, got 1"),
        ({"window": 1000}, "window must be at most the number of rows"),
        ({"benchmark": "none"}, "benchmark must be one of"),
        ({"levels": (0.01, 0.05)}, "levels must fall"),
        ({"side": "left"}, "side must be one of"),
        ({"loss": "rms"}, "loss must be one of"),
        ({"bandwidth": 0}, "bandwidth must be at least 1, got 0"),
    ],
)
def test_errors_state_the_rule(how, rule):
    day, y, _ = market(days=50)
    with pytest.raises(ValueError, match=rule):
        scoring.backtest("variance", day, y, {"one": 1.0}, **how)


def test_no_forecasts_and_two_columns_of_time_are_refused():
    day, y, _ = market(days=50)
    with pytest.raises(ValueError, match="at least one series"):
        scoring.backtest("variance", day, y, {})
    with pytest.raises(ValueError, match="time must be one column"):
        scoring.backtest("variance", np.c_[day, day], y, {"one": 1.0})
