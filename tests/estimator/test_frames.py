"""Data frames go in as they are: names, categories and dates reach features and come out again."""

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.preprocessing import OneHotEncoder, SplineTransformer, StandardScaler

from multiobs import MultiObservationRegressor

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

LEVELS = {"fair": 1.0, "good": 2.0, "ideal": 4.0}


def table(n: int = 600, seed: int = 0) -> tuple["pd.DataFrame", np.ndarray]:
    rng = np.random.default_rng(seed)
    grade = rng.choice(list(LEVELS), n)
    length = rng.uniform(1.0, 9.0, n)
    spread = np.sqrt(9 + length + 3 * np.array([LEVELS[each] for each in grade]))
    return pd.DataFrame({"grade": grade, "length": length}), 3 * length + spread * rng.normal(
        size=n
    )


def features():
    return make_column_transformer(
        (SplineTransformer(4, degree=1, include_bias=False), ["length"]),
        (OneHotEncoder(drop="first"), ["grade"]),
        verbose_feature_names_out=False,
    )


def test_a_column_transformer_sees_the_columns_by_name():
    X, y = table()
    model = MultiObservationRegressor(features=features(), random_state=0, sampler="nearby").fit(
        X, y
    )
    names = model.summary().names
    assert names[:2] == ("intercept", "length_sp_0")
    assert names[-2:] == ("grade_good", "grade_ideal")
    found = model.predict(pd.DataFrame({"grade": ["ideal", "fair"], "length": [5.0, 5.0]}))
    assert found[0] > found[1] > 0
    assert model.predict_interval(X.head(4)).shape == (4, 2)


def test_representatives_keep_their_category():
    X, y = table()
    seen = []

    class Watching(StandardScaler):
        def transform(self, X, copy=None):
            seen.append(X)
            return super().transform(X)

    watched = make_column_transformer((Watching(), ["length"]), (OneHotEncoder(), ["grade"]))
    MultiObservationRegressor(features=watched, sampler="sliding", transport=None).fit(X, y)
    plain = MultiObservationRegressor(
        features=make_column_transformer(
            (StandardScaler(), ["length"]), (OneHotEncoder(), ["grade"])
        ),
        sampler="sliding",
        transport=None,
    ).fit(X, y)
    frame = plain.result_.design.transformer.layout.frame(plain.result_.problem.X)
    assert frame["grade"].tolist() == X["grade"].tolist()
    np.testing.assert_array_equal(frame["length"], X["length"])


def test_polars_and_pandas_agree():
    X, y = table()
    one = MultiObservationRegressor(features=features(), random_state=0).fit(X, y)
    polar = pl.DataFrame({name: X[name].tolist() for name in X.columns})
    two = MultiObservationRegressor(features=features(), random_state=0).fit(polar, y)
    np.testing.assert_allclose(one.predict(X), two.predict(polar), rtol=1e-12)


def test_a_frame_without_features_names_its_dummies():
    X, y = table()
    model = MultiObservationRegressor(random_state=0).fit(X, y)
    assert model.summary().names == ("intercept", "length", "grade=good", "grade=ideal")
    assert "grade=good" in str(model.summary())


@pytest.mark.parametrize("make", ["pandas", "polars"])
def test_dates_are_days(make):
    days = np.arange(400)
    rng = np.random.default_rng(0)
    y = rng.normal(size=400)
    dates = np.datetime64("2020-01-01") + days
    X = pd.DataFrame({"day": dates}) if make == "pandas" else pl.DataFrame({"day": dates})
    model = MultiObservationRegressor(random_state=0).fit(X, y)
    first = (np.datetime64("2020-01-01") - np.datetime64("1970-01-01")) / np.timedelta64(1, "D")
    same = MultiObservationRegressor(random_state=0).fit((days + first)[:, None], y)
    np.testing.assert_allclose(model.predict(X), same.predict((days + first)[:, None]), rtol=1e-12)
    np.testing.assert_allclose(model.coef_, same.coef_)


def test_half_days_and_durations():
    hours = np.arange(48).astype("timedelta64[h]")
    y = np.sin(np.arange(48.0))
    times = pd.DataFrame({"t": np.datetime64("1970-01-01T00") + hours})
    spans = pd.DataFrame({"t": hours.astype("timedelta64[s]")})
    one, two = (
        MultiObservationRegressor(sampler="sliding", random_state=0).fit(X, y)
        for X in (times, spans)
    )
    np.testing.assert_allclose(one.coef_, two.coef_)


def test_missing_dates_and_double_names_are_refused():
    y = np.zeros(4)
    dates = pd.to_datetime(["2020-01-01", None, "2020-01-03", "2020-01-04"])
    with pytest.raises(ValueError, match="NaN"):
        MultiObservationRegressor().fit(pd.DataFrame({"day": dates}), y)
    double = pd.DataFrame(np.ones((4, 2)), columns=["a", "a"])
    with pytest.raises(ValueError, match="different names, got 'a' twice"):
        MultiObservationRegressor().fit(double, y)
