"""Predictions over files, and what the estimator says about rows that are not in memory."""

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from multiobs import MultiObservationRegressor, samplers, scoring
from multiobs.scale import Serial, fit, pool, predict, score


def test_predictions_and_limits_are_those_of_memory(tmp_path, rows, table):
    x, y = rows("plain", 3000)
    frame = table(x, y, g=np.random.default_rng(0).choice(["a", "b"], 3000))
    reg = fit(frame, ["x", "g"], "y", ranges=3, engine=Serial(), transport=None)
    pq.write_table(frame, tmp_path / "rows.parquet", row_group_size=700)
    out = tmp_path / "out.parquet"
    assert predict(reg, tmp_path / "rows.parquet", out, level=0.8) == 3000
    found = pq.read_table(out)
    assert np.array_equal(found["x"].to_numpy(), x)
    inside = frame.select(["x", "g"]).to_pandas()
    np.testing.assert_allclose(found["prediction"].to_numpy(), reg.predict(inside))
    limits = reg.predict_interval(inside, level=0.8)
    np.testing.assert_allclose(found["lower"].to_numpy(), limits[:, 0])
    np.testing.assert_allclose(found["upper"].to_numpy(), limits[:, 1])


def lazily(library, frame):
    import dask.dataframe
    import polars
    import pyarrow.dataset

    if library == "polars":
        return polars.from_arrow(frame).lazy()
    if library == "pyarrow":
        return pyarrow.dataset.dataset(frame)
    return dask.dataframe.from_pandas(frame.to_pandas(), npartitions=2)


@pytest.mark.parametrize("library", ["polars", "dask", "pyarrow"])
def test_fit_points_to_scale(library, rows, table):
    frame = table(*rows("plain", 50))
    lazy = lazily(library, frame)
    with pytest.raises(TypeError, match=r"multiobs\.scale\.fit\(source, x=, y=\) fits it in parts"):
        MultiObservationRegressor().fit(lazy, frame["y"].to_numpy())


def test_smooth_terms_are_refused(rows, table):
    with pytest.raises(ValueError, match="features must be a transformer or None by parts"):
        fit(table(*rows("plain", 50)), "x", "y", features="smooth")


def test_the_bar_says_how_fast_it_goes(monkeypatch):
    import io
    import sys
    import time

    from multiobs._progress import progress

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    clock = iter(range(0, 1000, 5))
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    assert list(progress([10, 10, 20], 40, "rows", float)) == [10, 10, 20]
    assert " 50% of rows, 2/s, 10 s left" in sys.stderr.getvalue()


@pytest.mark.parametrize("statistic", ["variance", "gini_mean_difference", "ucb", "mean"])
@pytest.mark.parametrize("kind", ["plain", "ties"])
def test_scores_of_files_are_those_of_memory(statistic, kind, tmp_path, rows, table):
    x, y = rows(kind, 1200)
    weight = np.random.default_rng(1).integers(0, 3, 1200).astype(float)
    frame = table(x, y, w=weight)
    reg = MultiObservationRegressor(statistic, samplers.Adjacent(8), transport=None)
    reg.fit(pd.DataFrame({"x": x}), y)
    pq.write_table(frame, tmp_path / "rows.parquet", row_group_size=170)
    options = dict(engine=Serial(), scratch=tmp_path / "scratch", memory=1e6)
    found = score(reg, tmp_path / "rows.parquet", "y", **options)
    frame_of_x = pd.DataFrame({"x": x})
    tied = statistic == "ucb" and kind == "ties"  # a smooth of rows in another order: last digits
    told = (statistic, frame_of_x, y, reg.predict(frame_of_x))
    expected = -scoring.score(*told, transport=None)
    assert found == pytest.approx(expected, rel=1e-6 if tied else 1e-9)
    found = score(reg, tmp_path / "rows.parquet", "y", sample_weight="w", **options)
    if statistic != "ucb":  # whose reference level is chosen on rows that count, here and there
        expected = -scoring.score(*told, transport=None, sample_weight=weight)
        assert found == pytest.approx(expected, rel=1e-9)
    assert list((tmp_path / "scratch").iterdir()) == []


def test_scores_know_categories(tmp_path, rows, table):
    x, y = rows("plain", 900)
    names = np.random.default_rng(0).choice(["b", "a"], 900)
    reg = fit(table(x, y, g=names), ["g", "x"], "y", engine=Serial(), transport=None, errors=False)
    found = score(reg, table(x, y, g=names), "y", engine=Serial())
    frame = pd.DataFrame({"g": names, "x": x})
    expected = scoring.score(reg.statistic_, frame, y, reg.predict(frame), transport=None)
    assert found == pytest.approx(-expected, rel=1e-9)


def test_scores_in_several_columns_are_refused(rows, table):
    x, y = rows("plain", 300)
    frame = table(x, y, z=x**2)
    reg = fit(frame, ["x", "z"], "y", engine=Serial(), transport=None, errors=False)
    with pytest.raises(ValueError, match=r"scale.score needs one numeric column of x.*got 2"):
        score(reg, frame, "y", engine=Serial())


@pytest.mark.parametrize("statistic", ["variance", "minvar", "squared_cv"])
@pytest.mark.parametrize("sampler", [samplers.Adjacent(8), samplers.SlidingWindow()])
def test_pooled_observations_are_those_of_memory(statistic, sampler, tmp_path, rows, table):
    from sklearn.linear_model import LinearRegression

    x, y = rows("plain", 900)
    y = y + 10.0
    out = tmp_path / "pooled.parquet"
    written = pool(
        table(x, y), "x", "y", out, statistic=statistic, sampler=sampler, transport=None, ranges=7,
        engine=Serial(),
    )  # fmt: skip
    found = pq.read_table(out)
    assert found.num_rows == written
    inside = MultiObservationRegressor(
        statistic, sampler, estimator=LinearRegression(), transport=None
    ).fit(x[:, None], y)
    again = LinearRegression().fit(
        found["x"].to_numpy()[:, None],
        found["target"].to_numpy(),
        sample_weight=found["weight"].to_numpy(),
    )
    at = np.linspace(0, 1, 7)[:, None]
    np.testing.assert_allclose(again.predict(at), inside.predict(at), rtol=1e-9)


def test_pooled_observations_of_leaves_have_the_mean_of_all_tuples(tmp_path, rows, table):
    x, y = rows("plain", 600)
    frame = table(x, y, z=np.random.default_rng(0).random(600))
    out = tmp_path / "pooled.parquet"
    written = pool(frame, ["x", "z"], "y", out, transport=None, engine=Serial())
    found = pq.read_table(out)
    assert found.column_names == ["x", "z", "target", "weight"]
    assert written == found.num_rows == 600
    # a constant fitted to them is the mean over all tuples, which a constant fit by leaves is too
    constant = np.average(found["target"].to_numpy(), weights=found["weight"].to_numpy())
    lasso = fit(frame, ["x", "z"], "y", transport=None, alpha=1e12, errors=False, engine=Serial())
    middle = np.average(lasso.predict(frame.select(["x", "z"]).to_pandas()))
    assert constant == pytest.approx(middle, rel=1e-6)


def test_pooled_observations_need_a_mean(tmp_path, rows, table):
    with pytest.raises(ValueError, match="pooled observations need a mean or a ratio"):
        pool(table(*rows("plain", 50)), "x", "y", tmp_path / "out.parquet", statistic="ucb")
