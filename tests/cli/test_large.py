"""Large tables: the same answers part by part as at once, and the same sentences."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")

from cli.running import run  # noqa: E402

from multiobs import models, scale  # noqa: E402
from multiobs.cli import large, predict, tables, writing  # noqa: E402


def frame(n: int = 4000) -> Any:
    rng = np.random.default_rng(5)
    x = rng.uniform(size=n).round(4)
    kind = rng.choice(["a", "b"], n)
    y = np.sin(4 * x) + (0.5 + x + (kind == "b")) * rng.normal(size=n)
    when = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(n) % 900, unit="D")
    return pd.DataFrame(
        {"x": x, "kind": kind, "y": y, "id": [f"n°{i}" for i in range(n)], "when": when,
         "w": rng.uniform(1, 2, n)}
    )  # fmt: skip


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is large, and parts are a few hundred rows."""
    monkeypatch.setattr(predict, "LARGE", 0)
    monkeypatch.setattr(tables, "PART", 1 << 14)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".arrow"])
@pytest.mark.parametrize("x", ["x", "x,kind", "when"])
def test_predictions_in_parts_are_those_at_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, small_parts: None,
    monkeypatch: pytest.MonkeyPatch, suffix: str, x: str,
) -> None:  # fmt: skip
    data, model = tmp_path / f"rows{suffix}", tmp_path / "m.json"
    write(frame(), data)
    assert run(capsys, "fit", data, "--x", x, "--y", "y", "-o", model)[0] == 0
    parts, whole = tmp_path / f"parts{suffix}", tmp_path / f"whole{suffix}"
    said = run(capsys, "predict", model, data, "-o", parts)
    monkeypatch.setattr(predict, "LARGE", 1 << 40)
    assert run(capsys, "predict", model, data, "-o", whole)[0] == said[0] == 0
    assert said[1].startswith("4,000 rows in ")
    pd.testing.assert_frame_equal(read(parts), read(whole), rtol=1e-14)  # vectors end elsewhere
    assert list(read(parts).columns)[-3:] == ["variance", "variance_low", "variance_high"]
    if suffix in (".csv", ".tsv"):  # what passes through, letter by letter
        mark = "\t" if suffix == ".tsv" else ","
        texts = [
            [line.rsplit(mark, 3)[0] for line in path.read_text().splitlines()]
            for path in (parts, whole)
        ]
        assert texts[0] == texts[1]


def write(table: Any, path: Path) -> None:
    if path.suffix == ".parquet":
        table.to_parquet(path)
    elif path.suffix == ".arrow":
        table.to_feather(path)
    else:
        table.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")


def read(path: Path) -> Any:
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    if path.suffix == ".arrow":
        return pd.read_feather(path)
    return pd.read_csv(path, sep="\t" if path.suffix == ".tsv" else ",")


def test_what_a_part_cannot_tell_the_whole_table_does(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, small_parts: None
) -> None:
    model = tmp_path / "m.json"
    table = frame()
    table.to_csv(tmp_path / "rows.csv", index=False)
    assert run(capsys, "fit", tmp_path / "rows.csv", "--x", "x", "--y", "y", "-o", model)[0] == 0
    for value, sentence in {
        "abc": "'abc' in row 3,501",
        "": "1 missing value, the first in row 3,501",
        "inf": "must be finite, got inf in row 3,501",
    }.items():
        cells = table["x"].astype(object)
        cells[3500] = value
        broken = tmp_path / "broken.csv"
        table.assign(x=cells).to_csv(broken, index=False)
        out = tmp_path / "out.csv"
        code, _, err = run(capsys, "predict", model, broken, "-o", out)
        assert (code, out.exists()) == (1 if value != "abc" else code, False)
        assert code in (1, 4)
        assert sentence in err
    cells[3500] = ""
    table.assign(x=cells).to_csv(broken, index=False)
    code, said, _ = run(capsys, "predict", model, broken, "--drop-missing", "-o", out)
    assert code == 0
    assert "3,999 rows" in said
    assert "1 row left out" in said
    assert out.read_text().count("\n") == 4000


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("options", [[], ["--weights", "w"], ["--groups", "kind"]], ids=str)
def test_a_table_larger_than_the_memory_goes_through_scale(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, suffix: str, options: list[str]
) -> None:
    data, model = tmp_path / f"rows{suffix}", tmp_path / "m.json"
    table = frame()
    write(table, data)
    words = ["fit", data, "--x", "x", "--y", "y", *options]
    code, out, err = run(capsys, *words, "--memory", "1MB", "--json", "-o", model)
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert "by parts" in found["reasons"][0]
    assert found["rows"] == 4000
    given = {"sample_weight": "w"} if "--weights" in options else {}
    given |= {"groups": "kind"} if "--groups" in options else {}
    import pyarrow as pa

    reference = scale.fit(pa.Table.from_pandas(table), x=["x"], y="y", memory="1MB", **given)
    np.testing.assert_allclose(found["terms"][1]["estimate"], reference.coef_[0], rtol=1e-9)
    stored = models.load(model)
    assert stored.facts.rows == 4000
    assert stored.notes["ranges"]["x"] == [table["x"].min(), table["x"].max()]
    np.testing.assert_allclose(
        stored.predict_interval(table[["x"]][:9]), reference.predict_interval(table[["x"]][:9])
    )
    picture = run(capsys, *words, "--memory", "1MB")[1]
    assert "variance over x" in picture


def test_missing_rows_of_a_large_table_are_counted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    table = frame()
    table.loc[[5, 3000], "y"] = np.nan
    data = tmp_path / "rows.csv"
    table.to_csv(data, index=False)
    words = ["fit", data, "--x", "x,kind", "--y", "y", "--memory", "1MB"]
    code, _, err = run(capsys, *words)
    assert code == 1
    assert "2 missing values, the first in row 6" in err
    code, out, _ = run(capsys, *words, "--drop-missing", "--json")
    found = json.loads(out)
    assert (code, found["rows"], found["rows_dropped"], found["missing"]) == (0, 3998, 2, {"y": 2})


def test_categories_alone_are_fitted_at_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    data = tmp_path / "rows.csv"
    frame(500).to_csv(data, index=False)
    code, out, _ = run(capsys, "fit", data, "--x", "kind", "--y", "y", "--memory", "1kB", "--json")
    assert code == 0
    assert not any("by parts" in reason for reason in json.loads(out)["reasons"])


def test_nothing_is_left_in_the_scratch_folder(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(large, "TemporaryDirectory", lambda prefix: _folder(scratch, prefix))
    data = tmp_path / "rows.csv"
    frame(500).to_csv(data, index=False)
    code, _, _ = run(capsys, "fit", data, "--x", "x", "--y", "y", "--memory", "1kB")
    assert code == 0
    assert list(scratch.iterdir()) == []


def _folder(scratch: Path, prefix: str) -> Any:
    from tempfile import TemporaryDirectory

    return TemporaryDirectory(prefix=prefix, dir=scratch)


def test_a_table_that_cannot_be_written_behind_is_said_at_the_latest_at_the_end() -> None:
    import pyarrow as pa

    done: list[int] = []

    def write(table: Any) -> None:
        if len(done) == 2:
            raise OSError(28, "No space left on device")
        done.append(table.num_rows)

    tables = [pa.table({"a": [0] * n}) for n in (1, 2, 3, 4)]
    for count in (3, 4):  # at the end, or by the next table
        done.clear()
        with pytest.raises(OSError, match="No space left"):
            write_behind(write, tables[:count])
        assert done == [1, 2]


def write_behind(write: Any, tables: Any) -> None:
    with writing.behind(write) as later:
        for table in tables:
            later(table)
