"""The commands on small files: what they print and write, and how they end."""

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")

from cli.running import frame, run  # noqa: E402

from multiobs import MultiObservationRegressor, models  # noqa: E402


def test_fit_prints_the_table_the_choice_and_a_picture(
    capsys: pytest.CaptureFixture[str], data: Path
) -> None:
    code, out, err = run(capsys, "fit", data, "--x", "x", "--y", "y")
    assert (code, err) == (0, "")
    reference = MultiObservationRegressor("variance", random_state=0)
    table = frame()
    reference.fit(table[["x"]], table["y"])
    for number in (reference.intercept_, reference.coef_[0]):
        assert f"{number:.4g}" in out
    assert "What was chosen, and why" in out
    assert "•" in out
    assert "░" in out
    assert "\x1b" not in out  # no bar and no colours where nobody looks


def test_json_has_the_numbers_of_the_estimator(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    model = tmp_path / "m.json"
    code, out, _ = run(
        capsys, "fit", data, "--x", "x,kind", "--y", "y", "-s", "gini_mean_difference", "--weights",
        "w", "--json", "-o", model,
    )  # fmt: skip
    assert code == 0
    found = json.loads(out)
    table = frame()
    reference = MultiObservationRegressor("gini_mean_difference", random_state=0)
    reference.fit(table[["x", "kind"]], table["y"], sample_weight=table["w"])
    assert [term["name"] for term in found["terms"]] == ["intercept", "x", "kind=b"]
    np.testing.assert_allclose(
        [(term["estimate"], term["shrunk"]) for term in found["terms"]],
        np.column_stack(
            [reference.summary().table[:, 0], [reference.intercept_, *reference.coef_]]
        ),
        rtol=1e-12,
    )
    assert found["rows"] == 300
    assert found["model"] == str(model)
    np.testing.assert_array_equal(
        models.load(model).predict(table[["x", "kind"]]),
        reference.predict(table[["x", "kind"]]),
    )


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".feather", ".jsonl"])
def test_predict_adds_the_statistic_and_its_interval(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path, suffix: str
) -> None:
    model, out = tmp_path / "m.json", tmp_path / f"out{suffix}"
    assert run(capsys, "fit", data, "--x", "x", "--y", "y", "-o", model)[0] == 0
    code, said, err = run(capsys, "predict", model, data, "-o", out, "--level", "0.9")
    assert (code, err) == (0, "")
    assert "variance, variance_low, variance_high" in said
    readers = {
        ".csv": pd.read_csv,
        ".tsv": lambda path: pd.read_csv(path, sep="\t"),
        ".parquet": pd.read_parquet,
        ".feather": pd.read_feather,
        ".jsonl": lambda path: pd.read_json(path, lines=True),
    }
    found = readers[suffix](out)
    table = frame()
    assert list(found.columns) == [*table.columns, "variance", "variance_low", "variance_high"]
    reference = MultiObservationRegressor("variance", random_state=0).fit(table[["x"]], table["y"])
    np.testing.assert_allclose(found["variance"], reference.predict(table[["x"]]), rtol=1e-9)
    np.testing.assert_allclose(
        found[["variance_low", "variance_high"]],
        reference.predict_interval(table[["x"]], level=0.9),
        rtol=1e-9,
    )
    np.testing.assert_allclose(found["y"].astype(float), table["y"], rtol=1e-12)


def test_columns_that_only_pass_through_stay_as_they_were_written(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    model, new = tmp_path / "m.json", tmp_path / "new.csv"
    run(capsys, "fit", data, "--x", "x", "--y", "y", "-o", model)
    new.write_text('code,x,note,variance\n007,0.5,"a, ""b""",NA\n1e3,0.25,,2\n')
    code, out, _ = run(capsys, "predict", model, new)
    assert code == 0
    rows = list(csv.reader(io.StringIO(out)))
    assert rows[0] == [
        "code", "x", "note", "variance", "variance_predicted", "variance_low", "variance_high"
    ]  # fmt: skip
    assert [row[:4] for row in rows[1:]] == [
        ["007", "0.5", 'a, "b"', "NA"],
        ["1e3", "0.25", "", "2"],
    ]


def test_rows_outside_the_range_of_the_fit_are_said(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    model, new = tmp_path / "m.json", tmp_path / "new.csv"
    run(capsys, "fit", data, "--x", "x", "--y", "y", "-o", model)
    new.write_text("x\n0.5\n7\n")
    _, _, err = run(capsys, "predict", model, new, "-o", tmp_path / "out.csv")
    assert "1 row has 'x' outside the range" in err


def test_a_prediction_that_is_no_number_is_refused(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    model, new, out = tmp_path / "m.json", tmp_path / "new.csv", tmp_path / "out.csv"
    run(capsys, "fit", data, "--x", "x", "--y", "y", "-o", model)
    new.write_text("x\n0.5\n\n1e308\n")
    code, _, err = run(capsys, "predict", model, new, "-o", out)
    assert (code, out.exists()) == (1, False)
    assert "in row 2: its x is too far from the fit" in err


def test_a_pipe_from_fit_to_predict(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    code, model, err = run(capsys, "fit", data, "--x", "x", "--y", "y", "-o", "-")
    assert code == 0
    assert "What was chosen" in err  # standard output holds the model alone
    path = tmp_path / "m.json"
    path.write_text(model)

    class Standard:
        buffer = io.BytesIO(data.read_bytes())

    monkeypatch.setattr(sys, "stdin", Standard)
    code, out, _ = run(capsys, "predict", path, "-")
    assert code == 0
    assert out.splitlines()[0].endswith("variance_high")
    assert len(out.splitlines()) == 301


def test_score_of_a_model_and_of_its_predictions_agree(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    model, held, out = tmp_path / "m.json", tmp_path / "held.csv", tmp_path / "p.csv"
    frame(200, seed=1).to_csv(held, index=False)
    run(capsys, "fit", data, "--x", "x", "--y", "y", "-o", model)
    run(capsys, "predict", model, held, "-o", out)
    one = json.loads(run(capsys, "score", model, held, "--json")[1])
    assert one["warnings"] == []
    assert "was fitted to this very table" in run(capsys, "score", model, data)[2]
    options = ("-s", "variance", "--x", "x", "--y", "y", "--json")
    two = json.loads(run(capsys, "score", out, held, *options)[1])
    assert one["score"] == pytest.approx(two["score"], rel=1e-9)
    assert one["metasamples"] == two["metasamples"] > 100


def test_compare_names_the_better_forecast(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    table = frame(2000, seed=2)
    held, good, bad = tmp_path / "held.csv", tmp_path / "good.csv", tmp_path / "bad.csv"
    table.to_csv(held, index=False)
    pd.DataFrame({"variance": (0.5 + table["x"] + (table["kind"] == "b")) ** 2}).to_csv(good)
    pd.DataFrame({"variance": np.full(2000, 9.0)}).to_csv(bad)
    words = ("compare", held, "--predictions", good, bad, "-s", "variance", "--x", "x,kind")
    code, out, _ = run(capsys, *words, "--y", "y", "--json")
    assert code == 0
    found = json.loads(out)["forecasts"]
    assert [each["name"] for each in found] == [str(good), str(bad)]
    assert found[1]["p"] < 0.01


def test_what_to_do_about_a_warning_is_said_in_options(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    x = np.linspace(0, 1, 300)
    path = tmp_path / "rows.csv"
    pd.DataFrame({"x": x, "y": np.exp(4 * x) * rng.normal(size=300)}).to_csv(path, index=False)
    code, _, err = run(capsys, "fit", path, "--x", "x", "--y", "y")
    assert code == 0
    assert err.startswith("warning: variance lies in [0, inf], but the fit reaches -")
    assert err.endswith("training rows: --class smooth stays inside\n")


def test_statistics_lists_the_whole_catalogue(capsys: pytest.CaptureFixture[str]) -> None:
    from multiobs import statistics

    code, out, _ = run(capsys, "statistics", "--json")
    assert code == 0
    rows = json.loads(out)["statistics"]
    assert [row["name"] for row in rows] == list(statistics.CATALOGUE)
    assert all("\\" not in row["formula"] and "`" not in row["formula"] for row in rows)
    assert "minvar:k" in run(capsys, "statistics")[1]


def test_missing_rows_are_counted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, data: Path
) -> None:
    table = frame()
    table.loc[[3, 5], "y"] = np.nan
    table.loc[7, "x"] = np.nan
    path = tmp_path / "holes.csv"
    table.to_csv(path, index=False)
    code, _, err = run(capsys, "fit", path, "--x", "x", "--y", "y")
    assert code == 1
    assert "2 missing values, the first in row 4 (1 more columns have some)" in err
    code, out, _ = run(capsys, "fit", path, "--x", "x", "--y", "y", "--drop-missing")
    assert code == 0
    assert "3 rows of 300 left out for missing values (x 1, y 2)" in out


def test_labels_of_text_where_only_equality_counts(
    capsys: pytest.CaptureFixture[str], data: Path
) -> None:
    words = ("fit", data, "--x", "x", "--y", "kind", "-s", "collision_probability", "--json")
    code, out, _ = run(capsys, *words)
    assert code == 0
    assert json.loads(out)["statistic"] == "collision_probability()"


def test_smooth_boosting_and_the_best_of_them(
    capsys: pytest.CaptureFixture[str], data: Path
) -> None:
    words = ("fit", data, "--x", "x", "--y", "y", "--json")
    smooth = json.loads(run(capsys, *words, "--class", "smooth")[1])
    assert [term["name"] for term in smooth["terms"]] == ["s(x)"]
    assert any("softplus link" in reason for reason in smooth["reasons"])  # no variance below zero
    table = frame(80)
    table.to_csv(data, index=False)
    auto = json.loads(run(capsys, *words, "--class", "auto")[1])
    reference = MultiObservationRegressor("variance", estimator="auto", random_state=0)
    scores = reference.fit(table[["x"]], table["y"]).plan_.scores
    assert scores is not None
    sentence = auto["reasons"][0]
    for name, value in zip(scores.names, scores.scores, strict=True):
        assert f"{name} {value:.4g}" in sentence
    assert sentence.startswith(f"class: {scores.simplest('line', 'smooth', 'boosting')},")
    code, out, _ = run(capsys, *words[:-1], "--class", "auto", "--clusters", "serial")
    assert code == 0
    assert out.startswith(f"class: {scores.simplest('line', 'boosting')},")


@pytest.mark.parametrize("categories", [0, 9])  # they are no columns that interact
def test_the_choice_of_a_class_names_columns_that_interact(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, categories: int
) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.uniform(size=(300, 2)), columns=["heat", "wind"])
    saddle = np.exp(8 * (table["heat"] - 0.5) * (table["wind"] - 0.5))
    table["y"] = saddle * rng.normal(size=300)
    table["farm"] = np.arange(300)
    kinds = [f"kind{j}" for j in range(categories)]
    for kind in kinds:
        table[kind] = rng.choice(["a", "b"], size=300)
    table.to_csv(tmp_path / "saddle.csv", index=False)
    names = ",".join(["heat", "wind", *kinds])
    words = ("fit", tmp_path / "saddle.csv", "--x", names, "--y", "y", "--class", "auto")
    code, out, _ = run(capsys, *words)
    assert code == 0
    assert out.startswith("class: smooth with interactions,")
    # two thirds of the rows do not always show it beside nine categories
    assert categories or "heat and wind interact by the tests of every fold" in out
    # smooth terms cannot allow for clusters, and are not among the classes
    code, out, _ = run(capsys, *words, "--clusters", "farm")
    assert code == 0
    assert "interact by" not in out


@pytest.mark.parametrize("clusters", ["id", "serial"])
def test_dependent_rows_widen_the_intervals_everywhere(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, clusters: str
) -> None:
    table = frame()
    table["id"] //= 10
    data, model, page = tmp_path / "rows.csv", tmp_path / "m.json", tmp_path / "r.html"
    table.to_csv(data, index=False)
    words = [data, "--x", "x", "--y", "y", "--clusters", clusters]
    code, out, _ = run(capsys, "fit", *words, "--json", "-o", model)
    assert code == 0
    reference = MultiObservationRegressor("variance", random_state=0)
    reference.fit(table[["x"]], table["y"])
    known: Any = clusters if clusters == "serial" else table["id"].to_numpy()
    wanted = reference.summary(clusters=known)
    errors = [term["standard_error"] for term in json.loads(out)["terms"]]
    np.testing.assert_allclose(errors, wanted.table[:, 1], rtol=1e-9)
    limits = reference.predict_interval(table[["x"]], clusters=known)
    np.testing.assert_allclose(models.load(model).predict_interval(table[["x"]]), limits, rtol=1e-9)
    code, _, _ = run(capsys, "report", *words, "-o", page)
    assert code == 0
    assert f"--clusters {clusters}" in page.read_text()


def test_boosting_keeps_its_intervals_in_the_file(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    pytest.importorskip("skops")
    model, out = tmp_path / "m.json", tmp_path / "out.csv"
    words = ["fit", data, "--x", "x,kind", "--y", "y", "--class", "boosting", "-o", model]
    assert run(capsys, *words, "--bootstrap", "3")[0] == 0
    assert run(capsys, "predict", model, data, "-o", out)[0] == 0
    found = pd.read_csv(out)
    assert (found["variance_low"] <= found["variance"]).all()
    assert (found["variance_high"] > found["variance"]).any()
    assert run(capsys, *words, "--bootstrap", "0")[0] == 0
    code, _, err = run(capsys, "predict", model, data, "-o", out)
    assert code == 0
    assert "no intervals" in err
    assert "variance_low" not in pd.read_csv(out)


def test_smooth_terms_from_file_to_predictions(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    model, out = tmp_path / "m.json", tmp_path / "out.csv"
    words = ["fit", data, "--x", "x,kind", "--y", "y", "--class", "smooth", "-o", model]
    assert run(capsys, *words)[0] == 0
    assert run(capsys, "predict", model, data, "-o", out)[0] == 0
    reference = MultiObservationRegressor("variance", features="smooth", random_state=0)
    table = frame()
    reference.fit(table[["x", "kind"]], table["y"])
    found = pd.read_csv(out)
    np.testing.assert_allclose(found["variance"], reference.predict(table[["x", "kind"]]))
    limits = reference.predict_interval(table[["x", "kind"]])
    np.testing.assert_allclose(found[["variance_low", "variance_high"]], limits)
