"""What a command cannot do: one sentence, a code, and nothing written."""

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")

from cli.running import run  # noqa: E402

from multiobs import models  # noqa: E402
from multiobs.cli import predict, room  # noqa: E402

ENDS = {
    "no such file": (("fit", "none.csv", "--x", "x", "--y", "y"), 3, "No such file"),
    "no such column": (("fit", "DATA", "--x", "z", "--y", "y"), 1, "--x must name a column"),
    "no such statistic": (("fit", "DATA", "--x", "x", "--y", "y", "-s", "varianc"), 1, "variance"),
    "a wrong parameter": (("fit", "DATA", "--x", "x", "--y", "y", "-s", "ucb:-1"), 1, "positive"),
    "no such sampler": (("fit", "DATA", "--x", "x", "--y", "y", "--sampler", "far"), 1, "nearest"),
    "no such class": (("fit", "DATA", "--x", "x", "--y", "y", "--class", "tree"), 2, "boosting"),
    "no such option": (("fit", "DATA", "--xx", "x"), 2, "No such option"),
    "no y": (("fit", "DATA", "--x", "x"), 2, "--y"),
    "one y of two": (("fit", "DATA", "--x", "x", "--y", "y", "-s", "covariance"), 2, "2 columns"),
    "y is text": (("fit", "DATA", "--x", "x", "--y", "kind"), 1, "must hold numbers"),
    "no model": (("predict", "DATA", "DATA"), 4, "is not a multiobs model"),
    "out is a folder": (("fit", "DATA", "--x", "x", "--y", "y", "-o", "."), 3, "the directory"),
    "out has no format": (("predict", "MODEL", "DATA", "-o", "out.xyz"), 2, "must end in one of"),
    "nothing predicted": (("score", "DATA", "DATA", "--x", "x", "--y", "y"), 2, "--statistic"),
    "not predictions": (
        ("score", "DATA", "DATA", "-s", "variance", "--x", "x", "--y", "y"), 1, "say --column"
    ),
    "other format": (("fit", "DATA", "--x", "x", "--y", "y", "--format", "xls"), 2, "--format"),
    "clusters of their own": (
        ("fit", "DATA", "--x", "x,kind", "--y", "y", "--clusters", "kind"), 1, "another column"
    ),
    "a level": (("fit", "DATA", "--x", "x", "--y", "y", "--level", "95"), 1, "between 0 and 1"),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDS)
def test_every_refusal_is_a_sentence_and_a_code(
    capsys: pytest.CaptureFixture[str],
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    words, code, sentence = ENDS[name]
    if "MODEL" in words:
        run(capsys, "fit", data, "--x", "x", "--y", "y", "-o", "m.json")
    before = sorted(tmp_path.iterdir())
    given = [{"DATA": str(data), "MODEL": "m.json"}.get(word, word) for word in words]
    ended, out, err = run(capsys, *given)
    assert ended == code
    assert sentence in err
    assert out == ""
    assert sorted(tmp_path.iterdir()) == before


def test_other_columns_and_categories_than_in_the_fit(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    model, new = tmp_path / "m.json", tmp_path / "new.csv"
    run(capsys, "fit", data, "--x", "x,kind", "--y", "y", "-o", model)
    cases = {
        "x,other\n1,a\n": (4, "none called 'kind'"),
        "kind,x\na,0.5\nc,0.5\n": (1, "2 categories of the fit, got 'c' in row 2"),
        "kind,x\na,2020-01-01\n": (4, "'x' must hold a number as in the fit, got a date"),
        "kind,x\na,\n": (1, "--drop-missing"),
    }
    for text, (code, sentence) in cases.items():
        new.write_text(text)
        ended, _, err = run(capsys, "predict", model, new)
        assert (ended, sentence in err) == (code, True), err


def test_a_fit_that_does_not_converge_writes_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path, model = tmp_path / "a.csv", tmp_path / "m.json"
    rng = np.random.default_rng(0)
    x = np.linspace(0, 1, 400)
    table = pd.DataFrame({"x": x, "y": np.exp(-8 * x) * rng.normal(size=400)})
    table.to_csv(path, index=False)
    words = ("fit", path, "--x", "x", "--y", "y", "-s", "standard_deviation", "-o", model)
    code, _, err = run(capsys, *words)
    assert code == 5
    assert "nothing was written" in err
    assert not model.exists()


def test_limits_of_which_a_warning_was_given_are_written_with_the_warning(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, out = tmp_path / "m.json", tmp_path / "o.csv"
    run(capsys, "fit", data, "--x", "x", "--y", "y", "-o", model)
    right = models.StoredModel.with_interval

    def doubted(*given: Any) -> Any:
        warnings.warn("some limits are doubtful", UserWarning, stacklevel=2)
        return right(*given)

    monkeypatch.setattr(models.StoredModel, "with_interval", doubted)
    for large in (predict.LARGE, 0):  # at once, and by parts
        monkeypatch.setattr(predict, "LARGE", large)
        code, _, err = run(capsys, "predict", model, data, "-o", out)
        assert (code, err.count("some limits are doubtful")) == (0, 1), err


def test_tables_larger_than_the_memory_are_refused_where_all_rows_are_held(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, page = tmp_path / "m.json", tmp_path / "r.html"
    columns = ("--x", "x", "--y", "y")
    run(capsys, "fit", data, *columns, "-o", model)
    monkeypatch.setattr(room, "memory_of_machine", lambda: 10_000)
    for words in (
        ("score", model, data),
        ("compare", data, "-p", model),
        ("report", data, *columns, "-o", page),
        ("fit", data, *columns, "--class", "smooth"),
    ):
        code, out, err = run(capsys, *words)
        assert (code, out) == (1, "")
        assert re.search(r"about \d+ rows that need .* GB of 1e-05 GB: give it a sample", err), err
    assert not page.exists()
