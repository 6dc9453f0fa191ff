"""Finished parts are reused if, and only if, nothing they were made from has changed."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from multiobs import MultiObservationRegressor, samplers, scoring
from multiobs.scale import Query, Serial, fit, pool, score
from multiobs.scale import runs as runs_module
from multiobs.scale.sources import table_part

OPTIONS = dict(engine=Serial(), transport=None, sampler=samplers.SlidingWindow(), errors=False)


def frame_of(factor=1.0, n=400):
    rng = np.random.default_rng(0)
    x = rng.random(n)
    return pa.table({"x": x, "y": factor * rng.normal(size=n) * (1 + x)})


def sources(kind, path):
    """A source that is read from a file, of any kind."""
    if kind == "table":
        return pq.read_table(path)
    if kind == "in memory":
        return pyarrow.dataset.dataset(pq.read_table(path))
    if kind == "lazy":
        return pytest.importorskip("polars").scan_parquet(path)
    if kind == "dask":
        return pytest.importorskip("dask.dataframe").read_parquet(path)
    if kind == "sql":
        pytest.importorskip("duckdb")
        return Query(f"SELECT x, y FROM '{path}'")
    return path


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of dask.dataframe's own reading
@pytest.mark.parametrize("kind", ["file", "table", "in memory", "lazy", "dask", "sql"])
def test_other_rows_of_the_same_shape_are_read_again(kind, tmp_path, monkeypatch):
    path = tmp_path / "rows.parquet"
    where = dict(scratch=tmp_path / "scratch", keep=True)
    pq.write_table(frame_of(), path)
    first = fit(sources(kind, path), "x", "y", **OPTIONS, **where)
    known = kind != "dask" or getattr(sources(kind, path), "expr", None) is not None
    with monkeypatch.context() as patched:
        if known:  # keys of Dask's older frames say nothing about the rows
            patched.setattr(runs_module, "_sort", lambda *a: pytest.fail("sorted again"))
        again = fit(sources(kind, path), "x", "y", **OPTIONS, **where)
    assert np.array_equal(again.coef_, first.coef_)
    size = path.stat().st_size
    pq.write_table(frame_of(2.0), path)
    assert path.stat().st_size == size
    found = fit(sources(kind, path), "x", "y", **OPTIONS, **where)
    np.testing.assert_allclose(found.coef_, 4 * first.coef_, rtol=1e-9)


def test_a_table_is_known_by_its_values_and_dictionaries():
    codes = pa.array([0, 1, 1, 0])
    tables = [
        pa.table({"a": pa.DictionaryArray.from_arrays(codes, pa.array(names))})
        for names in (["u", "v"], ["u", "w"])
    ]
    one, other = (table_part("table", each).stamp() for each in tables)
    assert one != other
    assert table_part("table", tables[0].slice(0, 4)).stamp() == one
    assert table_part("table", tables[0].slice(0, 3)).stamp() != one


def test_a_query_whose_answer_changes_is_refused(tmp_path):
    pytest.importorskip("duckdb")
    query = Query("SELECT random() AS x, random() AS y FROM range(100)")
    with pytest.raises(RuntimeError, match="the source must not change while it is read"):
        fit(query, "x", "y", scratch=tmp_path, **OPTIONS)


@pytest.mark.parametrize("columns", [["x"], ["x", "z"]])
def test_interrupted_pools_of_two_statistics_do_not_meet(columns, tmp_path, monkeypatch):
    from multiobs.scale import pooling

    frame = frame_of().append_column("z", pa.array(np.random.default_rng(1).random(400)))
    options = dict(transport=None, engine=Serial())

    def pooled(statistic, name, **where):
        pool(frame, columns, "y", tmp_path / name, statistic=statistic, **options, **where)
        return pq.read_table(tmp_path / name)

    where = dict(scratch=tmp_path / "scratch")
    expected = pooled("squared_cv", "expected")
    with monkeypatch.context() as patched:
        patched.setattr(pooling, "_written", lambda out, columns, parts: [*parts, 1 / 0])
        with pytest.raises(ZeroDivisionError):
            pooled("variance", "none", **where)
    assert any((tmp_path / "scratch").rglob("*.npz"))  # what the second call could mistake
    assert pooled("squared_cv", "found", **where).equals(expected)


def test_scores_of_two_models_do_not_meet(tmp_path):
    """Trees have no coefficients by which to tell one model from another."""
    pd = pytest.importorskip("pandas")
    from sklearn.tree import DecisionTreeRegressor

    frame = frame_of()
    at, y = pd.DataFrame({"x": frame["x"].to_numpy()}), frame["y"].to_numpy()

    class Broken:
        def map(self, function, items):
            yield from map(function, items)
            if len(os.listdir(tmp_path / "scratch")) and function.__class__.__name__ == "_Task":
                raise KeyboardInterrupt

    for depth in (1, 4):
        tree = DecisionTreeRegressor(max_depth=depth, random_state=0)
        reg = MultiObservationRegressor(
            "variance", samplers.Adjacent(8), estimator=tree, transport=None
        ).fit(at, y)
        where = dict(scratch=tmp_path / "scratch")
        with pytest.raises(KeyboardInterrupt):
            score(reg, frame, "y", engine=Broken(), **where)
    found = score(reg, frame, "y", engine=Serial(), **where)
    expected = -scoring.score("variance", at, y, reg.predict(at), transport=None)
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("left", [0, 300])
@pytest.mark.parametrize("name", ["run-*.f64", "part-*.npz", "range-*.npz"])
def test_what_a_power_cut_left_is_made_again(name, left, tmp_path):
    """Files that were renamed before all of them was on the disk."""
    options = dict(scratch=tmp_path, keep=True, ranges=2, **OPTIONS)
    expected = fit(frame_of(), "x", "y", **options)
    for path in (found := list(tmp_path.rglob(name))):
        os.truncate(path, left)
    assert found
    if name == "run-*.f64":  # or the finished ranges would be taken as they are
        for path in tmp_path.rglob("range-*.npz"):
            path.unlink()
    again = fit(frame_of(), "x", "y", **options)
    assert np.array_equal(again.coef_, expected.coef_)
