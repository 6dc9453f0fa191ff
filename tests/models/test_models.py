"""A model from a file predicts what the saved one does, to the last bit, and holds no rows."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer, StandardScaler

from multiobs import MultiObservationRegressor, Smooth, models, statistics
from multiobs.inference import TermSummary
from multiobs.models.container import ModelFileError

rng = np.random.default_rng(0)
X = rng.uniform(size=(250, 2))
Y = 5.0 + np.sin(3 * X[:, 0]) + (1.0 + X[:, 1]) * rng.gamma(4.0, 0.5, size=250)
PAIR = np.column_stack([Y, Y + rng.normal(size=250)])
COUNTS = rng.poisson(1 + 3 * X[:, 0]).astype(float)
PLACES = rng.uniform(size=(40, 2))


def again(model: Any, **more: Any) -> models.StoredModel:
    return models.loads(models.dumps(model, **more))


def fitted(statistic: Any, **options: Any) -> MultiObservationRegressor:
    what = statistics.resolve(statistic)
    y: Any = PAIR if what.n_columns == 2 else COUNTS if what.name.startswith("coll") else Y
    if what.name == "skewness":
        y = np.exp(Y)  # of symmetric labels it has no root
    model = MultiObservationRegressor(what, random_state=0, transport=None, **options)
    return model.fit(X, y)


@pytest.mark.filterwarnings("ignore")  # about fits outside their domain, which are stored as well
@pytest.mark.parametrize("name", list(statistics.CATALOGUE))
def test_every_statistic_comes_back(name: str) -> None:
    model = fitted(name)
    stored = again(model)
    assert repr(stored.statistic) == repr(model.statistic_)
    np.testing.assert_array_equal(stored.predict(PLACES), model.predict(PLACES))
    np.testing.assert_allclose(
        stored.predict_interval(PLACES, level=0.9),
        model.predict_interval(PLACES, level=0.9),
        rtol=1e-9,
    )


@pytest.mark.filterwarnings("ignore:skewness")
def test_a_fit_without_numbers_is_not_stored() -> None:
    rng = np.random.default_rng(0)
    x = rng.random(300)
    y = np.sin(6 * x) + rng.normal(size=300) * (1 + x)
    model = MultiObservationRegressor("skewness", transport=None).fit(x[:, None], y)
    with pytest.raises(ValueError, match="coefficients that are numbers, got NaN"):
        models.dumps(model)


@pytest.mark.parametrize("sampler", ["sliding", "nearby", "nearest", "disjoint", "naive"])
@pytest.mark.parametrize("transport", [None, "location"])
def test_every_sampler_and_transport(sampler: str, transport: Any) -> None:
    one = X[:, :1]
    model = MultiObservationRegressor("variance", sampler, transport=transport, random_state=0)
    model.fit(one, Y)
    stored = again(model)
    np.testing.assert_array_equal(stored.predict(one), model.predict(one))
    np.testing.assert_allclose(stored.predict_interval(one), model.predict_interval(one), rtol=1e-9)


@pytest.mark.parametrize(
    "features",
    [
        SplineTransformer(n_knots=4, knots="quantile"),
        SplineTransformer(n_knots=3, degree=2, extrapolation="linear", include_bias=False),
        PolynomialFeatures(2, include_bias=False),
        PolynomialFeatures((1, 2), interaction_only=True),
    ],
    ids=repr,
)
def test_usual_features_need_no_other_package(
    features: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "skops.io", None)
    model = fitted("mean", features=features)
    stored = again(model)
    np.testing.assert_array_equal(stored.predict(PLACES), model.predict(PLACES))
    np.testing.assert_allclose(
        stored.predict_interval(PLACES), model.predict_interval(PLACES), rtol=1e-8
    )
    assert str(stored.summary()).splitlines()[-4:] != []


@pytest.mark.parametrize(
    "options",
    [
        {"features": make_pipeline(StandardScaler(), SplineTransformer(n_knots=3))},
        {"estimator": HistGradientBoostingRegressor(max_iter=10)},
        {"estimator": RandomForestRegressor(5, random_state=0)},
    ],
    ids=["pipeline", "boosting", "forest"],
)
def test_other_estimators_go_through_skops(options: Any) -> None:
    pytest.importorskip("skops")
    model = fitted("mean", **options)
    stored = again(model)
    np.testing.assert_array_equal(stored.predict(PLACES), model.predict(PLACES))
    assert stored.has_intervals == ("features" in options)


@pytest.mark.parametrize(
    "options",
    [
        {"features": "smooth"},
        {"features": Smooth(interactions=True, n_knots=5)},
        {"features": Smooth(interactions="auto", n_knots=5)},
        {"link": "log"},
        {"link": "log", "features": SplineTransformer(n_knots=4, knots="quantile")},
        {"statistic": "ucb", "features": "smooth"},
        {"statistic": "standard_deviation", "features": "smooth"},
        {"statistic": "skewness", "features": "smooth"},
        {"statistic": "maxvar", "features": "smooth"},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore")  # about fits at the ends of their domain
def test_smooth_terms_and_links_come_back(options: Any) -> None:
    model = MultiObservationRegressor(**{"statistic": "variance", **options}).fit(X, Y)
    data = models.dumps(model)
    stored = models.loads(data)
    assert data.startswith(b'{"format":"multiobs model","version":2,')
    np.testing.assert_array_equal(stored.predict(PLACES), model.predict(PLACES))
    methods: tuple[Any, ...] = ("auto", "linear")
    for method in methods:
        np.testing.assert_allclose(
            stored.predict_interval(PLACES, 0.9, method),
            model.predict_interval(PLACES, 0.9, method),
            rtol=1e-12,
        )
    mine, theirs = stored.summary(), model.summary()
    if isinstance(mine, TermSummary):
        assert isinstance(theirs, TermSummary)
        assert mine.terms == theirs.terms
    else:
        np.testing.assert_allclose(mine.table, theirs.table, rtol=1e-12)


def test_smooth_terms_of_categories_come_back() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"x": X[:, 0], "kind": np.where(X[:, 1] < 0.4, "b", "a")})
    frame["few"] = np.arange(250.0) % 2
    model = MultiObservationRegressor("variance", features="smooth").fit(frame, Y)
    stored = again(model)
    back = frame[["few", "kind", "x"]]
    np.testing.assert_array_equal(stored.predict(back), model.predict(frame))
    np.testing.assert_allclose(stored.predict_interval(back), model.predict_interval(frame))


def test_the_knee_of_a_softplus_comes_back() -> None:
    model = MultiObservationRegressor("ucb", features="smooth").fit(X[:, :1], Y)
    assert [each.link for each in model.partial_effects()] == ["identity", "softplus"]
    stored = again(model)
    np.testing.assert_array_equal(stored.predict(PLACES[:, :1]), model.predict(PLACES[:, :1]))
    wanted = model.predict_interval(PLACES[:, :1])
    np.testing.assert_allclose(stored.predict_interval(PLACES[:, :1]), wanted, rtol=1e-12)


def test_replicates_of_a_bootstrap_give_the_same_intervals() -> None:
    pytest.importorskip("skops")
    boosting = HistGradientBoostingRegressor(max_iter=5, random_state=0)
    model = fitted("variance", estimator=boosting)
    stored = again(model, n_bootstrap=4)
    model = fitted("variance", estimator=boosting)  # a seed gives its children once
    wanted = model.predict_interval(PLACES, n_bootstrap=4)
    np.testing.assert_allclose(stored.predict_interval(PLACES), wanted, rtol=1e-12)
    assert again(model).has_intervals is False
    with pytest.raises(ValueError, match=r"replicates of a bootstrap"):
        again(model).predict_interval(PLACES)
    with pytest.raises(ValueError, match=r"n_bootstrap"):
        models.dumps(model, n_bootstrap=1)


@pytest.mark.parametrize("clusters", [np.arange(250) // 5, "serial"], ids=["labels", "serial"])
def test_intervals_of_a_file_allow_for_dependent_rows(clusters: Any) -> None:
    one = X[:, :1]
    model = MultiObservationRegressor("variance", "sliding", transport=None).fit(one, Y)
    stored = again(model, clusters=clusters)
    wanted = model.predict_interval(one, clusters=clusters)
    np.testing.assert_allclose(stored.predict_interval(one), wanted, rtol=1e-9)
    assert not np.allclose(wanted, model.predict_interval(one), rtol=1e-3)


def test_an_estimator_that_holds_rows_is_refused() -> None:
    pytest.importorskip("skops")
    model = fitted("variance", estimator=KNeighborsRegressor())
    with pytest.raises(ValueError, match=r"scikit-learn's own estimators, got KNeighbors"):
        models.dumps(model)


def test_losses_other_than_the_default() -> None:
    for kind in ("gamma", "poisson"):
        model = fitted(statistics.variance().with_loss(kind))
        stored = again(model)
        assert type(stored.statistic.loss) is type(model.statistic_.loss)
        np.testing.assert_array_equal(stored.predict(PLACES), model.predict(PLACES))


def test_own_functions_are_refused() -> None:
    own = statistics.mean_of(lambda Y: Y[:, 0] * Y[:, 1], 2)
    model = fitted(own)
    with pytest.raises(ValueError, match="statistics of the catalogue, since loading never runs"):
        models.dumps(model)


def test_frames_with_categories_in_any_order() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": X[:, 0], "kind": np.where(X[:, 1] > 0.5, "u", "ü"), "b": X[:, 1]})
    model = MultiObservationRegressor("variance", random_state=0).fit(frame, Y)
    stored = again(model, notes={"from": "here"})
    expected = model.predict(frame)
    np.testing.assert_array_equal(stored.predict(frame), expected)
    turned = frame[["b", "kind", "a"]].assign(more=1)
    np.testing.assert_array_equal(stored.predict(turned), expected)
    assert stored.notes == {"from": "here"}
    assert stored.score(frame, Y) == pytest.approx(model.score(frame, Y), rel=1e-9)
    with pytest.raises(ValueError, match=r"columns of the fit \(a, kind, b\), got none called 'a'"):
        stored.predict(frame.drop(columns="a"))
    with pytest.raises(ValueError, match="data frame with the categorical columns"):
        stored.predict(frame.to_numpy())
    with pytest.raises(ValueError, match="categories seen in fit, got 'x'"):
        stored.predict(frame.assign(kind="x"))


def test_the_summary_has_the_same_table() -> None:
    model = fitted("variance")
    one, two = model.summary(), again(model).summary()
    assert one.names == two.names
    np.testing.assert_allclose(one.table, two.table, rtol=1e-9)


def test_shrunken_slopes_keep_their_intervals() -> None:
    wide = np.random.default_rng(1).uniform(size=(300, 6))
    y = np.random.default_rng(2).normal(scale=1 + wide[:, 0])
    model = MultiObservationRegressor("variance", random_state=0).fit(wide, y)
    stored = again(model)
    np.testing.assert_array_equal(stored.predict(wide), model.predict(wide))
    np.testing.assert_allclose(
        stored.predict_interval(wide), model.predict_interval(wide), rtol=1e-9
    )


def test_no_row_is_in_the_file(tmp_path: Path) -> None:
    x = np.linspace(0, 1, 5000)[:, None]
    secret = np.random.default_rng(3).normal(size=5000)
    model = MultiObservationRegressor("variance").fit(x, secret)
    path = tmp_path / "m.json"
    models.save(model, path)
    assert path.stat().st_size < 5_000
    content = json.loads(path.read_text())
    arrays = re.findall(r'"base64": "([^"]*)"', json.dumps(content))
    stored = b"".join(__import__("base64").b64decode(each) for each in arrays)
    for value in secret[::100]:
        assert np.float64(value).tobytes() not in stored


def test_the_same_model_gives_the_same_bytes() -> None:
    assert models.dumps(fitted("variance")) == models.dumps(fitted("variance"))


def test_a_stream_is_refused() -> None:
    from multiobs.samplers import SlidingWindow

    model = MultiObservationRegressor("variance", SlidingWindow(), transport=None)
    model.partial_fit(np.arange(50.0)[:, None], np.arange(50.0) % 3)
    with pytest.raises(ValueError, match=r"of fit\(\), got an estimator of partial_fit"):
        models.dumps(model)


def test_wrong_shapes_of_x_are_a_sentence() -> None:
    stored = again(fitted("variance"))
    with pytest.raises(ValueError, match="2 columns as in the fit, got shape"):
        stored.predict(np.zeros((3, 5)))
    with pytest.raises(ValueError, match="X must be finite"):
        stored.predict([[np.nan, 1.0]])


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        models.load(tmp_path / "none.json")
    (tmp_path / "other.json").write_text('{"a": 1}')
    with pytest.raises(ModelFileError, match="is not a multiobs model"):
        models.load(tmp_path / "other.json")


def test_a_stored_line_predicts_without_scikit_learn(tmp_path: Path) -> None:
    """Its imports would cost more than the predictions of a million rows."""
    path = tmp_path / "model.json"
    models.save(fitted("variance"), path)
    program = (
        "import sys; from multiobs import models; stored = models.load(sys.argv[1]); "
        "stored.predict_interval([[0.5, 0.5]]); "
        "sys.exit(str({'sklearn', 'scipy.stats', 'pandas', 'joblib'} & set(sys.modules)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=False
    )
    assert run.stderr.strip() == "set()"
