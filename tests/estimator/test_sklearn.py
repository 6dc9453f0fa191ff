"""scikit-learn's conventions: its own checks, and everything people put estimators into."""

import pickle
import warnings

import numpy as np
import pytest
import sklearn
from sklearn import config_context, set_config
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
)
from sklearn.utils import estimator_html_repr
from sklearn.utils.estimator_checks import parametrize_with_checks

from multiobs import MultiObservationRegressor, statistics
from multiobs.samplers import Improved, Nearby, Nearest, SlidingWindow

pytestmark = pytest.mark.filterwarnings(
    # the checks' own data is not made for statistics of y: impossible values, few rows
    "ignore:.*lies in \\[:UserWarning",
    "ignore::sklearn.exceptions.ConvergenceWarning",
)

NEW = tuple(int(v) for v in sklearn.__version__.split(".")[:2]) >= (1, 6)

CHECKED = [
    MultiObservationRegressor(),
    MultiObservationRegressor("mean", "nearest", transport=None),
    MultiObservationRegressor("variance", Nearest(3), transport=None),
    MultiObservationRegressor("variance", "nearest", transport="location"),
    MultiObservationRegressor("minvar", "nearest", transport=None),
    MultiObservationRegressor("ucb", "nearest", transport=None),
    MultiObservationRegressor(statistics.l_moment(3), Nearest(4), transport=None),
    MultiObservationRegressor("gini_mean_difference", Nearby("paper"), transport=None),
    MultiObservationRegressor(
        "variance", "nearest", transport=None, features=PolynomialFeatures(2, include_bias=False)
    ),
    MultiObservationRegressor("variance", "nearest", transport=None, estimator=LinearRegression()),
    MultiObservationRegressor(
        "gini_mean_difference",
        "nearest",
        transport=None,
        estimator=RandomForestRegressor(5, random_state=0),
        random_state=0,
    ),
    MultiObservationRegressor("variance", "nearest", transport=None, alpha=0.1),
]


def expected_failures(estimator):
    """Checks that cannot hold, each with the reason."""
    reasons = {}
    if estimator.statistic != "mean":
        weights = (
            "a row given twice is two rows, which form a tuple with each other; a row of weight "
            "two is not: weights multiply within a tuple"
        )
        reasons["check_sample_weight_equivalence_on_dense_data"] = weights
        reasons["check_sample_weight_equivalence_on_sparse_data"] = weights
        reasons["check_sample_weight_equivalence"] = weights
    return reasons


if NEW:
    checks = parametrize_with_checks(CHECKED, expected_failed_checks=expected_failures)
else:
    checks = parametrize_with_checks(CHECKED)


@checks
def test_estimator_checks(estimator, check):
    reasons = {} if NEW else expected_failures(estimator)
    name = getattr(check, "func", check).__name__
    if name in reasons:
        pytest.xfail(reasons[name])
    check(estimator)


# ---------------------------------------------------------------- data


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.random((240, 1))
    return X, np.sin(6 * X[:, 0]) + rng.normal(scale=1 + X[:, 0])


def variance(sampler="sliding", **options):
    return MultiObservationRegressor("variance", sampler, **{"transport": None, **options})


# ---------------------------------------------------------------- copies


def test_clone_and_parameters(rows):
    X, y = rows
    original = variance(Nearby(0.1), features=SplineTransformer(n_knots=4), alpha=0.5)
    copy = clone(original)
    assert copy.get_params(deep=False).keys() == original.get_params(deep=False).keys()
    assert copy.sampler == Nearby(0.1)
    copy.set_params(features__n_knots=6, sampler="nearest")
    assert original.features.n_knots == 4
    before = repr(original.get_params())
    original.fit(X, y)
    assert repr(original.get_params()) == before
    assert original.features.n_knots == 4
    with pytest.raises(ValueError, match="Invalid parameter 'epsilon'"):
        copy.set_params(epsilon=3)
    with pytest.raises(TypeError):
        MultiObservationRegressor(statistc="variance")


@pytest.mark.parametrize(
    "estimator",
    [
        variance(),
        variance("nearby"),
        variance("nearest", features=SplineTransformer(n_knots=4)),
        variance(estimator=GradientBoostingRegressor(n_estimators=5, random_state=0)),
        MultiObservationRegressor("ucb", "nearby", transport=None),
        MultiObservationRegressor("minvar", "sliding", transport="location"),
        MultiObservationRegressor("kurtosis", "sliding", transport=None),
    ],
)
def test_pickle(estimator, rows):
    X, y = rows
    fitted = clone(estimator).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    assert str(again.plan_) == str(fitted.plan_)


def test_unfitted_estimators_say_so(rows):
    with pytest.raises(NotFittedError):
        variance().predict(rows[0])


def test_the_same_seed_gives_the_same_bits(rows):
    X, y = rows
    sampler = Improved(0.1, shuffle=True)
    for seed in (3, np.random.RandomState(3), np.random.default_rng(3)):
        state = pickle.dumps(seed)
        one, two = (
            variance(sampler, random_state=pickle.loads(state)).fit(X, y).coef_ for _ in range(2)
        )
        np.testing.assert_array_equal(one, two)


# ---------------------------------------------------------------- inputs


def test_kinds_of_input(rows):
    X, y = rows
    expected = variance().fit(X, y).predict(X)
    order = np.argsort(X[:, 0])
    np.testing.assert_allclose(variance().fit(X[order], y[order]).predict(X), expected)
    single = variance().fit(X.astype(np.float32), y.astype(np.float32))
    np.testing.assert_allclose(single.predict(X), expected, rtol=1e-3)
    assert single.predict(X.astype(np.float32)).dtype == np.float64
    whole = variance().fit(np.arange(30)[:, None], np.arange(30) ** 2 % 7)
    assert np.isfinite(whole.predict([[3]])).all()
    np.testing.assert_array_equal(variance().fit(X.tolist(), y.tolist()).predict(X), expected)
    with pytest.warns(sklearn.exceptions.DataConversionWarning):
        column = variance().fit(X, y[:, None])
    np.testing.assert_array_equal(column.predict(X), expected)
    frozen_X, frozen_y = X.copy(), y.copy()
    frozen_X.setflags(write=False)
    frozen_y.setflags(write=False)
    np.testing.assert_array_equal(variance().fit(frozen_X, frozen_y).predict(frozen_X), expected)
    strided = np.repeat(X, 2, axis=0)[::2]
    np.testing.assert_array_equal(variance().fit(strided, y).predict(X), expected)


def test_pandas(rows):
    pd = pytest.importorskip("pandas")
    X, y = rows
    frame = pd.DataFrame(X, columns=["time"], index=np.arange(240)[::-1])
    series = pd.Series(y, index=np.arange(240) + 7)
    fitted = variance().fit(frame, series, groups=pd.Series(["a", "b"] * 120))
    assert fitted.feature_names_in_.tolist() == ["time"]
    assert fitted.n_features_in_ == 1
    plain = variance().fit(X, y, groups=np.array(["a", "b"] * 120))
    np.testing.assert_array_equal(fitted.predict(frame), plain.predict(X))
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(frame.rename(columns={"time": "tmie"}))
    assert fitted.score(frame, series) == pytest.approx(plain.score(X, y))


def test_polars(rows):
    pl = pytest.importorskip("polars")
    X, y = rows
    frame = pl.DataFrame({"time": X[:, 0]})
    fitted = variance().fit(frame, pl.Series("y", y))
    assert fitted.feature_names_in_.tolist() == ["time"]
    np.testing.assert_array_equal(fitted.predict(frame), variance().fit(X, y).predict(X))


def test_two_outputs():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    X, Y = rng.random((100, 1)), rng.normal(size=(100, 2))
    one = MultiObservationRegressor("covariance", "sliding", transport=None).fit(X, Y)
    two = MultiObservationRegressor("covariance", "sliding", transport=None).fit(
        X, pd.DataFrame(Y, columns=["a", "b"])
    )
    np.testing.assert_array_equal(one.predict(X), two.predict(X))
    assert one.predict(X).shape == (100,)


# ---------------------------------------------------------------- composition


def test_pipelines_change_geometry_and_features_do_not(rows):
    X, y = rows
    inside = variance(features=PolynomialFeatures(2, include_bias=False)).fit(X, y)
    assert inside.coef_.shape == (2,)
    assert inside.n_features_in_ == 1
    scaled = make_pipeline(StandardScaler(), variance()).fit(X, y)
    np.testing.assert_allclose(scaled.predict(X), variance().fit(X, y).predict(X))
    lifted = make_pipeline(PolynomialFeatures(2, include_bias=False), variance("nearest"))
    assert lifted.fit(X, y)[-1].n_features_in_ == 2
    with pytest.raises(ValueError, match="use Nearest"):
        make_pipeline(PolynomialFeatures(2), variance("sliding")).fit(X, y)


def test_pipelines_as_the_hypothesis_class(rows):
    X, y = rows
    inner = Pipeline([("spline", SplineTransformer(n_knots=4)), ("line", LinearRegression())])
    fitted = variance("nearby", estimator=inner).fit(X, y)
    assert fitted.predict(X).shape == (240,)
    positive = TransformedTargetRegressor(
        LinearRegression(), func=np.sqrt, inverse_func=np.square, check_inverse=False
    )
    assert variance("sliding", estimator=positive).fit(X, y).predict(X).min() >= 0
    sparse = variance(features=SplineTransformer(n_knots=4, sparse_output=True)).fit(X, y)
    dense = variance(features=SplineTransformer(n_knots=4)).fit(X, y)
    np.testing.assert_allclose(sparse.predict(X), dense.predict(X), rtol=1e-9)


def test_grid_search(rows):
    X, y = rows
    search = GridSearchCV(
        variance(Nearby(0.1)),
        {
            "sampler": [SlidingWindow(), Nearby(0.05), Nearby(0.2)],
            "features": [None, PolynomialFeatures(2, include_bias=False)],
        },
        cv=KFold(3, shuffle=True, random_state=0),
        error_score="raise",
    ).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert np.all(search.cv_results_["mean_test_score"] < 0)  # minus a mean loss
    assert search.best_estimator_.predict(X).shape == (240,)
    spline = GridSearchCV(
        variance(features=SplineTransformer()), {"features__n_knots": [3, 5]}, error_score="raise"
    ).fit(X, y)
    assert spline.best_params_["features__n_knots"] in (3, 5)


def test_cross_validation(rows):
    X, y = rows
    held_out = cross_val_predict(variance(), X, y, cv=4)
    assert held_out.shape == (240,)
    scores = cross_val_score(variance(), X, y, cv=4, error_score="raise")
    assert scores.shape == (4,)
    assert np.all(scores < 0)
    parallel = cross_val_score(variance(), X, y, cv=4, n_jobs=2, error_score="raise")
    np.testing.assert_array_equal(scores, parallel)


def test_set_output(rows):
    pytest.importorskip("pandas")
    X, y = rows
    pipeline = make_pipeline(StandardScaler(), variance()).set_output(transform="pandas")
    pipeline.fit(X, y)
    assert pipeline[-1].feature_names_in_.tolist() == ["x0"]
    with config_context(transform_output="pandas"):
        fitted = variance(features=PolynomialFeatures(2, include_bias=False)).fit(X, y)
        assert fitted.predict(X).shape == (240,)


# ---------------------------------------------------------------- metadata routing


@pytest.fixture
def routing():
    set_config(enable_metadata_routing=True)
    yield
    set_config(enable_metadata_routing=False)


@pytest.mark.usefixtures("routing")
def test_weights_and_groups_are_routed(rows):
    X, y = rows
    rng = np.random.default_rng(2)
    weight, groups = rng.random(240), rng.integers(0, 3, 240)
    direct = variance().fit(X, y, sample_weight=weight, groups=groups)
    asked = variance().set_fit_request(sample_weight=True, groups=True)
    pipeline = make_pipeline(FunctionTransformer(), asked)
    pipeline.fit(X, y, sample_weight=weight, groups=groups)
    np.testing.assert_array_equal(pipeline[-1].coef_, direct.coef_)
    ignored = variance().set_fit_request(sample_weight=False, groups=False)
    with pytest.raises(TypeError, match="sample_weight"):
        make_pipeline(FunctionTransformer(), ignored).fit(X, y, sample_weight=weight)
    scored = asked.set_score_request(sample_weight=True)
    result = cross_validate(
        scored,
        X,
        y,
        cv=3,
        params={"sample_weight": weight, "groups": groups},
        error_score="raise",
    )
    assert np.isfinite(result["test_score"]).all()


# ---------------------------------------------------------------- appearance


def test_representations(rows):
    X, y = rows
    estimator = variance(Nearby(0.1), features=SplineTransformer())
    text = repr(estimator)
    assert "Nearby(epsilon=0.1" in text
    assert "transport=None" in text
    assert repr(MultiObservationRegressor()) == "MultiObservationRegressor()"
    html = estimator_html_repr(estimator)
    assert "MultiObservationRegressor" in html
    assert "SplineTransformer" in html
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "fitted" in estimator_html_repr(variance().fit(X, y))


def test_coefficients_have_the_shapes_of_a_linear_model(rows):
    X, y = rows
    fitted = variance().fit(X, y)
    assert fitted.coef_.shape == (1,)
    assert isinstance(fitted.intercept_, float)
    np.testing.assert_allclose(fitted.predict(X), X @ fitted.coef_ + fitted.intercept_)
    spline = variance(features=SplineTransformer(n_knots=4)).fit(X, y)
    assert spline.coef_.shape == (6,)
