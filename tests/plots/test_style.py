"""What all displays share: style keywords, axes, names of columns, legends, subsets of rows."""

import numpy as np
import pytest
from drawn_rows import rows

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")

from multiobs import MultiObservationRegressor, plots, samplers, statistics  # noqa: E402

FORECASTS = {"one": 1.0, "two": 2.0}


DRAWN = {
    "fitted": lambda m, X, y, **o: plots.FittedStatisticDisplay.from_estimator(m, X, y, **o),
    "reliability": lambda m, X, y, **o: plots.ReliabilityDisplay.from_estimator(m, X, y, **o),
    "murphy": lambda m, X, y, **o: plots.MurphyDisplay.from_predictions(
        "variance", X, y, FORECASTS, **o
    ),
    "metasamples": lambda m, X, y, **o: plots.MetasamplesDisplay.from_estimator(m, X, y, **o),
    "epsilon": lambda m, X, y, **o: plots.EpsilonPathDisplay.from_estimator(
        m, X, y, epsilons=[0.05, 0.2], cv=2, **o
    ),
    "drift": lambda m, X, y, **o: plots.DriftBiasDisplay.from_estimator(m, X, y, **o),
    "coefficients": lambda m, X, y, **o: plots.CoefficientDisplay.from_estimator(m, **o),
    "effects": lambda m, X, y, **o: plots.PartialEffectsDisplay.from_estimator(
        MultiObservationRegressor("variance", features="smooth").fit(X, y), **o
    ),
    "backtest": lambda m, X, y, **o: plots.BacktestDisplay.from_predictions(
        "variance", np.arange(len(y)), y, FORECASTS, **o
    ),
}


def test_every_display_is_in_the_table():
    assert len(DRAWN) == len(plots.__all__)


@pytest.mark.parametrize("kind", DRAWN)
def test_axes_are_named_as_in_scikit_learn(kind, model):
    made = DRAWN[kind](model, *rows())
    assert isinstance(made.axes_, np.ndarray)
    assert made.ax_ is made.axes_[0]
    assert all(ax.figure is made.figure_ for ax in made.axes_)
    figure = made.figure_
    again = made.plot(ax=list(made.axes_)) if len(made.axes_) > 1 else made.plot(ax=made.ax_)
    assert again.figure_ is figure


@pytest.mark.parametrize("kind", DRAWN)
def test_legends_cover_nothing(kind, model):
    made = DRAWN[kind](model, *rows())
    made.figure_.canvas.draw()
    renderer = made.figure_.canvas.get_renderer()
    for ax in made.axes_:
        if ax.get_legend() is not None:
            box = ax.get_legend().get_window_extent(renderer)
            assert box.y0 >= ax.get_window_extent(renderer).y1 - 1  # above the axes
            assert box.x1 <= made.figure_.bbox.x1
            others = [each.get_window_extent(renderer) for each in made.axes_ if each is not ax]
            assert not any(box.overlaps(other) for other in others)


@pytest.mark.parametrize(
    ("kind", "option", "found"),
    [
        ("fitted", "line_kw", lambda d: d.line_),
        ("fitted", "scatter_kw", lambda d: d.ax_.get_lines()[0]),
        ("reliability", "line_kw", lambda d: d.line_),
        ("reliability", "errorbar_kw", lambda d: d.errorbar_.lines[0]),
        ("murphy", "line_kw", lambda d: d.lines_[1]),
        ("metasamples", "scatter_kw", lambda d: d.ax_.get_lines()[0]),
        ("epsilon", "line_kw", lambda d: d.axes_[1].get_lines()[-1]),
        ("epsilon", "errorbar_kw", lambda d: d.ax_.containers[0].lines[0]),
        ("drift", "line_kw", lambda d: d.ax_.get_lines()[1]),
        ("coefficients", "errorbar_kw", lambda d: d.errorbar_.lines[0]),
        ("effects", "line_kw", lambda d: d.ax_.get_lines()[1]),
        ("backtest", "line_kw", lambda d: d.axes_[1].get_lines()[0]),
        ("backtest", "errorbar_kw", lambda d: d.ax_.containers[0].lines[0]),
    ],
)
def test_style_keywords_reach_matplotlib_under_short_and_long_names(kind, option, found, model):
    made = DRAWN[kind](model, *rows(), **{option: {"c": "tab:pink", "alpha": 0.25}})
    artist = found(made)
    assert artist.get_color() == "tab:pink"
    assert artist.get_alpha() == 0.25
    with pytest.raises(AttributeError, match="colour"):
        DRAWN[kind](model, *rows(), **{option: {"colour": "tab:pink"}})


def test_bands_take_keywords(model):
    made = DRAWN["fitted"](model, *rows(), band_kw={"alpha": 0.9})
    assert made.band_.get_alpha() == 0.9
    pair = DRAWN["murphy"](model, *rows(), band_kw={"alpha": 0.9})
    assert pair.axes_[1].collections[0].get_alpha() == 0.9


# ---- frames --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def frame():
    pd = pytest.importorskip("pandas")
    X, y = rows()
    table = pd.DataFrame({"hour": 24 * X[:, 0]}), pd.Series(y, name="delay")
    return *table, MultiObservationRegressor("variance").fit(*table)


def test_axes_are_called_like_the_columns_of_a_frame(frame):
    X, y, fitted = frame
    made = plots.FittedStatisticDisplay.from_estimator(fitted, X, y, y_unit="min")
    assert made.axes_[1].get_xlabel() == "hour"
    assert made.axes_[0].get_ylabel() == "delay [min]"
    tuples = plots.MetasamplesDisplay.from_estimator(fitted, X, y)
    assert tuples.axes_[-1].get_xlabel() == "hour"
    assert tuples.ax_.get_ylabel() == "delay"
    drift = plots.DriftBiasDisplay.from_data("variance", X, y)
    assert drift.ax_.get_xlabel().endswith("in the units of hour")
    named = plots.FittedStatisticDisplay.from_estimator(fitted, X, y, x_label="time")
    assert named.axes_[1].get_xlabel() == "time"
    assert list(plots.CoefficientDisplay.from_estimator(fitted).names) == ["hour"]


def test_a_feature_by_its_name_with_categories_at_their_commonest():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    size = rng.uniform(size=400)
    kind = rng.choice(["a", "b", "b"], size=400)
    X = pd.DataFrame({"kind": kind, "size": size, "age": rng.uniform(size=400)})
    y = (2 + 0.2 * size + 0.5 * (kind == "b")) * rng.normal(size=400)
    fitted = MultiObservationRegressor("variance").fit(X, y)
    made = plots.FittedStatisticDisplay.from_estimator(fitted, X, y, feature="size", level=None)
    at = pd.DataFrame({"kind": "b", "size": made.grid, "age": np.median(X["age"])})
    np.testing.assert_allclose(made.fitted, fitted.predict(at))
    draw = plots.FittedStatisticDisplay.from_estimator
    with pytest.raises(ValueError, match="feature must be one of 'kind', 'size', 'age', got 'siz'"):
        draw(fitted, X, y, feature="siz")
    with pytest.raises(TypeError, match="column kind must be numbers, got values such as"):
        draw(fitted, X, y, feature=0)
    with pytest.raises(ValueError, match="feature must be below 3, got 3"):
        draw(fitted, X, y, feature=3)


# ---- what is shown -------------------------------------------------------------------------------


def test_bars_of_a_positive_statistic_stay_positive():
    x, y = rows(60)
    y = y**5  # a few labels make most of the spread
    made = plots.ReliabilityDisplay.from_predictions("variance", x, y, 1 + 3 * x[:, 0], n_bins=6)
    curve = made.curve
    assert np.any(curve.observed - 1.96 * curve.se < 0)  # plain intervals would not
    low, high = made.limits()
    assert np.all(low > 0)
    np.testing.assert_allclose(np.sqrt(low * high), curve.observed)
    np.testing.assert_allclose(np.log(high / low), 2 * 1.96 * curve.se / curve.observed)
    (bars,) = made.errorbar_.lines[2]
    drawn = np.array([segment[:, 1] for segment in bars.get_segments()])
    np.testing.assert_allclose(drawn, np.column_stack([low, high]))
    signed = plots.ReliabilityDisplay.from_predictions(statistics.mean(), x, y, x[:, 0], n_bins=6)
    np.testing.assert_allclose(np.mean(signed.limits(), axis=0), signed.curve.observed)


def test_many_rows_are_thinned_with_a_proper_ordinal(model):
    X, y = rows(5000)
    made = plots.FittedStatisticDisplay.from_estimator(model, X, y, level=None)
    shown = made.ax_.get_lines()[0]
    assert shown.get_label() == "data (every 3rd of 5000 rows)"
    assert shown.get_xdata().size == 1667


@pytest.mark.parametrize("columns", [1, 2])
def test_metasamples_of_many_rows_show_the_middle(columns):
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(2000, columns)), rng.normal(size=2000)
    made = plots.MetasamplesDisplay.from_data(X, y, sampler=samplers.Nearest(1), max_rows=200)
    assert made.shown_rows_ == 200
    assert made.shown_ <= 200
    lines = made.ax_.collections[0].get_segments()
    places = np.concatenate([np.asarray(each)[:, 0] for each in lines])
    middle = np.abs(places - np.median(X[:, 0]))
    assert middle.max() < 0.26
    if columns == 1:  # consecutive rows: each partner is shown but at the two ends
        assert made.shown_ >= 120
        assert middle.max() < 0.06
    texts = [text.get_text() for text in made.ax_.get_legend().get_texts()]
    assert "rows used (200 of 2000 rows shown)" in texts


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m, X, y: plots.FittedStatisticDisplay.from_estimator(m, 3.0, y),
         "X must have shape"),
        (lambda m, X, y: plots.FittedStatisticDisplay.from_estimator(m, X, y[:, None] * [1, 2]),
         "the display needs y with 1 column"),
        (lambda m, X, y: plots.MetasamplesDisplay.from_data(X, y, max_rows=0),
         "max_rows must be at least 2, got 0"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_in_one_sentence(call, message, model):
    with pytest.raises(ValueError, match=message):
        call(model, *rows())
