"""Data frames with text, categories and dates in every score."""

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from multiobs import scoring
from multiobs.scoring._frames import read_positions

pd = pytest.importorskip("pandas")


def table(n=400):
    rng = np.random.default_rng(0)
    grade = rng.choice(["good", "fair", "poor"], n)
    length = rng.random(n)
    spread = np.where(grade == "good", 0.5, 1.5)
    frame = pd.DataFrame({"grade": grade, "length": length})
    return frame, 5.0 * (grade == "poor") + spread * rng.normal(size=n), spread**2


def test_categories_are_not_crossed_and_numbers_are_positions():
    frame, y, v = table()
    codes = frame["grade"].map({"fair": 0, "good": 1, "poor": 2})
    by_frame = scoring.score("variance", frame, y, v, transport=None)
    length = frame["length"].to_numpy()
    by_groups = scoring.score("variance", length, y, v, groups=codes, transport=None)
    assert by_frame == pytest.approx(by_groups, rel=1e-12)
    assert scoring.score("variance", frame[["length"]], y, v) == pytest.approx(
        scoring.score("variance", length, y, v)
    )


def test_every_function_takes_the_frame():
    frame, y, v = table()
    assert scoring.compare("variance", frame, y, {"true": v, "high": 2 * v}).names[0] == "true"
    assert scoring.calibration_test("variance", frame, y, v).p > 0.001
    assert scoring.reliability_curve("variance", frame, y, v).forecast.size
    assert scoring.decompose("variance", frame, y, v).score > 0
    assert scoring.murphy_curve("variance", frame, y, {"a": v}).scores.size
    assert scoring.score("variance", frame, y, v, transport=lambda X: np.zeros(len(X))) > 0


def test_scorer_of_a_pipeline_with_text_columns():
    frame, y, _ = table()
    encode = make_column_transformer((OneHotEncoder(), ["grade"]), remainder="passthrough")
    model = make_pipeline(encode, LinearRegression())
    target = pd.Series((y - y.mean()) ** 2)
    scorer = scoring.make_scorer("variance")
    assert cross_val_score(model, frame, target, scoring=scorer, error_score="raise").size == 5
    search = GridSearchCV(
        model, {"linearregression__fit_intercept": [True, False]}, scoring=scorer, cv=2
    )
    assert np.isfinite(search.fit(frame, target).best_score_)


def test_positions_of_frames():
    frame = pd.DataFrame(
        {
            "day": pd.to_datetime(["2024-01-03", "2024-01-01", "2024-01-02"]),
            "kind": pd.Categorical(["b", "a", "b"]),
            "on": [True, False, True],
        }
    )
    at = read_positions(frame)
    assert (at.place - at.place[1]).tolist() == [[2.0, 1.0], [0.0, 0.0], [1.0, 1.0]]
    assert at.columns[:, 2].tolist() == [1.0, 0.0, 1.0]
    assert at.cells.tolist() == [1, 0, 1]
    only = read_positions(frame[["kind"]])
    assert only.place.tolist() == [[0.0], [0.0], [0.0]]
    with pytest.raises(ValueError, match="column 'kind' must not hold missing categories"):
        read_positions(pd.DataFrame({"kind": ["a", None]}))
    with pytest.raises(ValueError, match="X must be finite"):
        read_positions(pd.DataFrame({"length": [1.0, np.nan]}))
    with pytest.raises(TypeError, match="X must be numbers, got values such as 'a'"):
        read_positions(np.array([["a"], ["b"]]))


def test_polars_frames_are_the_same():
    pl = pytest.importorskip("polars")
    frame, y, v = table(100)
    other = pl.DataFrame({name: frame[name].to_numpy() for name in frame.columns})
    assert scoring.score("variance", other, y, v) == scoring.score("variance", frame, y, v)
