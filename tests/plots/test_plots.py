"""Displays draw what they were given: lines, bands, labels with units, legends."""

import numpy as np
import pytest
from drawn_rows import rows

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
import matplotlib.pyplot as plt  # noqa: E402

from multiobs import (  # noqa: E402
    MultiObservationRegressor,
    baselines,
    plots,
    samplers,
    scoring,
    statistics,
)


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def line(ax, name):
    (found,) = [each for each in ax.get_lines() if each.get_label() == name]
    return found


def test_fitted_variance_has_ribbons_above_and_a_band_below(model):
    X, y = rows()
    made = plots.FittedStatisticDisplay.from_estimator(model, X, y, y_unit="cm", x_label="x [s]")
    top, bottom = made.axes_
    assert legend(top) == ["data (300 rows)", "mean ± 2 sd", "mean ± sd", "mean (spline)"]
    assert legend(bottom) == ["95 % confidence band", "fitted variance"]
    assert (top.get_ylabel(), bottom.get_ylabel()) == ("y [cm]", "variance [cm²]")
    assert bottom.get_xlabel() == "x [s]"
    drawn = line(bottom, "fitted variance")
    np.testing.assert_allclose(drawn.get_ydata(), model.predict(made.grid[:, None]))
    np.testing.assert_allclose(made.band, model.predict_interval(made.grid[:, None], 0.95))
    ribbon = top.collections[1].get_paths()[0].vertices
    sd = np.sqrt(made.fitted)
    assert ribbon[:, 1].max() == pytest.approx((made.mean + sd).max())


def test_fitted_bound_is_drawn_over_the_data():
    X, y = rows()
    bound = MultiObservationRegressor(statistics.minvar(1), "sliding").fit(X, y)
    made = plots.FittedStatisticDisplay.from_estimator(bound, X, y, level=None)
    assert len(made.axes_) == 1
    assert legend(made.axes_[0]) == ["data (300 rows)", "fitted MINVAR (k = 1)"]


def test_fitted_statistic_of_a_peer_and_of_other_units():
    X, y = rows()
    peer = baselines.ResidualRegressor("variance").fit(X, y)
    made = plots.FittedStatisticDisplay.from_estimator(peer, X, y)
    assert made.band is None
    given = plots.FittedStatisticDisplay.from_predictions(
        "gini_mean_difference", X, y, 1 + X[:, 0], band=np.c_[X[:, 0], 2 + X[:, 0]]
    )
    assert len(given.axes_) == 2
    assert np.all(np.diff(given.grid) >= 0)
    np.testing.assert_allclose(given.fitted, 1 + given.grid)
    np.testing.assert_allclose(given.band[:, 0], given.grid)
    assert given.axes_[1].get_ylabel() == "Gini's mean difference [unit of y]"


def test_fitted_statistic_in_several_columns_holds_the_others_at_their_median():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 2))
    y = (1 + X[:, 1]) * rng.normal(size=300)
    fit = MultiObservationRegressor("variance", "nearest").fit(X, y)
    made = plots.FittedStatisticDisplay.from_estimator(fit, X, y, feature=1, level=None)
    at = np.c_[np.full(201, np.median(X[:, 0])), made.grid]
    np.testing.assert_allclose(made.fitted, fit.predict(at))


def test_reliability_draws_bins_and_isotonic_curve(model):
    X, y = rows(seed=1)
    made = plots.ReliabilityDisplay.from_estimator(model, X, y, n_bins=5, y_unit="cm")
    curve = scoring.reliability_curve("variance", X, y, model.predict(X), n_bins=5)
    points = made.ax_.containers[0].lines[0]
    np.testing.assert_allclose(points.get_xdata(), curve.forecast)
    np.testing.assert_allclose(points.get_ydata(), curve.observed)
    assert legend(made.ax_)[:2] == ["calibrated", "isotonic regression"]
    assert made.ax_.get_xlabel() == "forecast variance [cm²]"


def test_reliability_of_a_constant_and_of_a_bound_have_no_curve():
    X, y = rows()
    flat = plots.ReliabilityDisplay.from_predictions("variance", X, y, 2.0)
    assert "isotonic regression" not in legend(flat.ax_)
    bound = plots.ReliabilityDisplay.from_predictions(statistics.ucb(1.0), X, y, 2 + X[:, 0])
    assert "isotonic regression" not in legend(bound.ax_)


def test_murphy_draws_each_forecast_and_the_difference_of_two(model):
    X, y = rows(seed=1)
    forecasts = {"ours": model.predict(X), "flat": 2.0}
    made = plots.MurphyDisplay.from_predictions("variance", X, y, forecasts, y_unit="cm")
    top, bottom = made.axes_
    assert legend(top) == ["ours", "flat"]
    np.testing.assert_allclose(line(top, "ours").get_ydata(), made.curve.scores[0])
    np.testing.assert_allclose(line(bottom, "ours − flat").get_ydata(), made.curve.difference)
    assert bottom.get_xlabel() == "threshold θ, variance [cm²]"
    three = plots.MurphyDisplay.from_predictions("variance", X, y, {**forecasts, "one": 1.0})
    assert len(three.axes_) == 1
    same = plots.MurphyDisplay.from_estimators({"ours": model}, X, y, statistic="variance")
    again = scoring.murphy_curve("variance", X, y, forecasts, theta=same.curve.theta)
    np.testing.assert_allclose(same.curve.scores[0], again.scores[0])


def test_metasamples_are_drawn_between_their_rows():
    X = np.array([[0.0], [1.0], [1.1], [5.0]])
    y = np.array([0.0, 1.0, 2.0, 3.0])
    made = plots.MetasamplesDisplay.from_data(X, y, sampler=samplers.Nearby(0.5), y_unit="cm")
    top, bottom = made.axes_
    (segment,) = top.collections[0].get_segments()
    np.testing.assert_array_equal(segment, [[1.0, 1.0], [1.1, 2.0]])
    assert legend(top) == ["1 metasamples", "rows used", "rows in none"]
    assert line(top, "rows in none").get_xdata().tolist() == [0.0, 5.0]
    assert bottom.get_ylabel() == "uses of label"


def test_metasamples_of_many_rows_are_a_subset(model):
    X, y = rows()
    made = plots.MetasamplesDisplay.from_estimator(model, X, y, max_tuples=50)
    assert made.shown_ == 50
    assert legend(made.axes_[0])[0].endswith("metasamples, 50 shown")
    wide = plots.MetasamplesDisplay.from_data(np.c_[X, X[::-1]], y, sampler="nearest")
    assert len(wide.axes_) == 1


def test_epsilon_path_marks_the_best_width():
    X, y = rows()
    plain = MultiObservationRegressor("variance", transport=None)
    made = plots.EpsilonPathDisplay.from_estimator(
        plain, X, y, epsilons=[0.02, 0.1, 0.8], at=[[0.5]], cv=2
    )
    path = made.path
    top, bottom = made.axes_
    assert path.best == path.epsilon[np.argmin(path.score)]
    assert f"best: ε = {path.best:.3g}" in legend(top)
    assert legend(bottom) == ["at x = 0.5"]
    for width, estimate in zip(path.epsilon, path.estimate[:, 0], strict=True):
        fit = plain.set_params(sampler=samplers.Nearby(float(width))).fit(X, y)
        assert estimate == pytest.approx(fit.predict([[0.5]])[0])
    assert path.estimate[2, 0] > path.estimate[0, 0]  # the drift of the mean counts as variance


def test_drift_bias_is_flat_once_labels_are_transported():
    x, y = rows(1000)
    made = plots.DriftBiasDisplay.from_data("variance", x, 3 * np.sin(12 * x[:, 0]) + y)
    curve = made.curve
    assert curve.plain[-1] > 1.5 * curve.plain[0]
    assert curve.transported.max() < 1.25 * curve.transported.min()
    assert legend(made.ax_)[:2] == ["labels as they are", "labels transported along a smooth mean"]
    free = plots.DriftBiasDisplay.from_data("dispersion_index", x, np.exp(0.2 * y))
    assert free.curve.transported is None
    bound = scoring.drift_curve(statistics.ucb(2.0), x, y)
    assert bound.transported == pytest.approx(bound.transported[0], rel=0.2)


def test_coefficients_with_intervals():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(500, 3))
    y = np.sqrt(2 + X[:, 0]) * rng.normal(size=500)
    fit = MultiObservationRegressor("variance", "nearest").fit(X, y)
    made = plots.CoefficientDisplay.from_estimator(fit, names=["a", "b", "c"])
    table = fit.summary().table[1:]
    np.testing.assert_allclose(made.coef, table[:, 0])
    np.testing.assert_allclose(made.se, table[:, 1])
    assert [text.get_text() for text in made.ax_.get_yticklabels()] == ["a", "b", "c"]
    assert made.ax_.get_xlabel() == "coefficient of the variance"
    (bars,) = made.ax_.containers[0].lines[2]
    ends = np.array([segment[:, 0] for segment in bars.get_segments()])
    np.testing.assert_allclose(ends, table[:, 4:6])
    with pytest.raises(ValueError, match="must have one length, got 1, 3 and 3"):
        plots.CoefficientDisplay.from_estimator(fit, names=["a"])


def test_backtest_colours_follow_the_lights():
    rng = np.random.default_rng(0)
    y = rng.normal(size=800)
    made = plots.BacktestDisplay.from_predictions(
        "variance", np.arange(800), y, {"good": 1.0, "bad": 3.0}
    )
    top, bottom = made.axes_
    texts = [text.get_text() for text in top.get_yticklabels()]
    assert texts == ["good: green", "bad: red"]
    colours = [each.lines[0].get_color() for each in top.containers]
    assert colours == ["#009E73", "#D55E00"]
    assert legend(bottom) == ["good", "bad"]


def test_displays_draw_on_axes_that_are_given(model):
    X, y = rows()
    figure, axes = plt.subplots(2, 1)
    made = plots.FittedStatisticDisplay.from_estimator(model, X, y, ax=list(axes))
    assert made.figure_ is figure
    assert made.axes_[0] is axes[0]
    with pytest.raises(ValueError, match="ax must hold 2 axes, got 1"):
        plots.FittedStatisticDisplay.from_estimator(model, X, y, ax=[axes[0]])


@pytest.mark.parametrize(
    "draw",
    [
        lambda m, X, y: plots.FittedStatisticDisplay.from_estimator(m, X, y),
        lambda m, X, y: plots.ReliabilityDisplay.from_estimator(m, X, y),
        lambda m, X, y: plots.MurphyDisplay.from_predictions(
            "variance", X, y, {"a": 1.0, "b": 2.0}
        ),
        lambda m, X, y: plots.MetasamplesDisplay.from_estimator(m, X, y),
        lambda m, X, y: plots.DriftBiasDisplay.from_estimator(m, X, y),
    ],
)
def test_nothing_is_drawn_outside_the_figure_at_default_size(draw, model):
    X, y = rows()
    figure = draw(model, X, y).figure_
    figure.canvas.draw()
    box = figure.get_tightbbox(figure.canvas.get_renderer())
    width, height = figure.get_size_inches()
    assert box.x0 >= -0.05
    assert box.y0 >= -0.05
    assert box.x1 <= width + 0.05
    assert box.y1 <= height + 0.05


def test_partial_effects_draw_the_terms_and_their_bands():
    X = np.random.default_rng(0).uniform(size=(200, 2))
    y = np.random.default_rng(1).normal(scale=1 + X[:, 0])
    reg = MultiObservationRegressor("variance", features="smooth").fit(X, y)
    display = plots.PartialEffectsDisplay.from_estimator(reg, n_points=7)
    first = reg.partial_effects(n_points=7)[0]
    drawn = display.axes_[0].get_lines()[1]
    np.testing.assert_array_equal(drawn.get_xdata(), first.x)
    np.testing.assert_array_equal(drawn.get_ydata(), first.effect)
    assert display.axes_[1].get_ylabel() == "effect on the log of the variance"
    band = display.axes_[0].collections[0].get_paths()[0].vertices[:, 1]
    assert band.min() == pytest.approx(first.low.min())
    with pytest.raises(ValueError, match="at least one term, got none"):
        plots.PartialEffectsDisplay([])
