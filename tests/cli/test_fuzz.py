"""Broken tables: never a traceback, never half a file, never a wrong answer with exit code 0.

Each try writes a table, damages it, and runs a command in this process; ``make fuzz`` does ten
thousand. An answer that is given must be the one that plain Python reads off the same bytes.
"""

import csv
import io
import json
import os
import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")

from multiobs import models  # noqa: E402
from multiobs.cli import main  # noqa: E402
from multiobs.cli.columns import MISSING  # noqa: E402

TRIES = int(os.environ.get("MULTIOBS_FUZZ", "60"))
CODES = {0, 1, 2, 3, 4, 5}
CELLS = (
    "1e308", "-1e308", "1e-320", "nan", "NaN", "inf", "-inf", "", "NA", "abc", '"', '"a,b"', "1,5",
    "2020-01-01", "true", "0x10", "１２", " 3 ", "9007199254740993", "1_000", "--", "null", "\x00",
    "=1+1", "\ufeff", "1e400", "é", "None", "12:30:00", "1 2",
)  # fmt: skip


def table(draw: random.Random) -> list[list[str]]:
    n = draw.choice([0, 1, 2, 3, 10, 40, 40, 40])
    rows = [["x", "kind", "y"]]
    for _ in range(n):
        x = draw.uniform(0, 1)
        rows.append([f"{x:.4f}", draw.choice("ab"), f"{draw.gauss(0, 1 + x):.4f}"])
    return rows


def damaged(draw: random.Random) -> bytes:
    """A table with one to three things wrong, or none."""
    rows = table(draw)
    delimiter = draw.choice([",", ",", ";", "\t"])
    for _ in range(draw.choice([0, 1, 1, 2, 3])):
        row = draw.choice(rows)
        kind = draw.randrange(7)
        if kind == 0 and row:
            row[draw.randrange(len(row))] = draw.choice(CELLS)
        elif kind == 1 and row:
            row.pop()
        elif kind == 2:
            row.append(draw.choice(CELLS))
        elif kind == 3:
            rows[0] = draw.choice([["x", "x", "y"], ["x", "kind", "y", "y"], ["a"], [""]])
        elif kind == 4:
            rows.insert(draw.randrange(len(rows) + 1), draw.choice([[], ["x", "kind", "y"]]))
        elif kind == 5:
            for each in rows[1:]:
                each[:1] = [draw.choice(CELLS)]
    text = io.StringIO()
    end = draw.choice(["\n", "\r\n"])
    csv.writer(text, delimiter=delimiter, lineterminator=end).writerows(rows)
    data = text.getvalue().encode(draw.choice(["utf-8"] * 6 + ["utf-16", "utf-8-sig"]))
    for _ in range(draw.choice([0, 0, 0, 1, 4])):
        if data:
            at = draw.randrange(len(data))
            change = draw.choice([b"", b'"', b"\n", b"\x00", b"\xff", bytes([draw.randrange(256)])])
            data = data[:at] + change + data[at + draw.randrange(2) :]
    return data


def ended(words: list[str]) -> tuple[int, BaseException | None]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            main(words)
    except SystemExit as end:
        return (0 if end.code is None else int(str(end.code))), None
    except BaseException as problem:  # any other is what is looked for
        return -1, problem
    return 0, None


def plainly(data: bytes, names: tuple[str, ...] = ("x", "y")) -> dict[str, list[Any]] | None:
    """x and y by Python's csv, or None where a person would not know either."""
    text = data.decode("utf-8-sig", errors="replace")
    first = text.lstrip("\r\n").partition("\n")[0]
    delimiter = max(",;\t|", key=first.count)
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        return None
    found: dict[str, list[Any]] = {}
    for name in names:
        if rows[0].count(name) != 1:
            return None
        found[name] = [row[rows[0].index(name)] for row in rows[1:]]
    return found


@pytest.fixture
def quiet(capsys: pytest.CaptureFixture[str]) -> pytest.CaptureFixture[str]:
    return capsys


def test_broken_tables(tmp_path: Path, quiet: pytest.CaptureFixture[str]) -> None:
    draw = random.Random(int(os.environ.get("MULTIOBS_FUZZ_SEED", "0")))
    answers = 0
    for trial in range(TRIES):
        data = damaged(draw)
        path, model = tmp_path / "t.csv", tmp_path / "m.json"
        path.write_bytes(data)
        x = draw.choice(["x", "x", "x,kind"])
        words = ["fit", str(path), "--x", x, "--y", "y", "--json", "-o", str(model)]
        words += ["--sampler", draw.choice(["auto", "sliding"]) if x == "x" else "auto"]
        words += ["--transport", "none", *draw.choice([[], ["--drop-missing"]])]
        code, problem = ended(words)
        out, err = quiet.readouterr()
        about = f"try {trial}: {words[3:]} on {data!r}: {code} {problem!r} {err}"
        assert problem is None, about
        assert code in CODES, about
        assert "Traceback" not in err, about
        left = sorted(p.name for p in tmp_path.iterdir())
        assert left == (["m.json", "t.csv"] if code == 0 else ["t.csv"]), about
        if code != 0:
            assert out == "", about
            assert err.count("\n") == 1 or code == 2, about
            continue
        answers += 1
        found = json.loads(out)
        plain = plainly(data)
        assert plain is not None, about
        used = [
            (a, b)
            for a, b in zip(plain["x"], plain["y"], strict=True)
            if not ({a.strip(), b.strip()} & MISSING)
        ]
        if x == "x":
            assert found["rows"] == len(used), about
            if all(_number(a) for a, _ in used):
                check_numbers(model, used, about)
        model.unlink()
    assert answers > TRIES // 20


def read(text: str) -> float:
    """A number as written; whole ones may be hexadecimal."""
    try:
        return float(text)
    except ValueError:
        return float(int(text, 16))


def _number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def check_numbers(model: Path, used: list[tuple[str, str]], about: str) -> None:
    """The stored ranges are those of the cells, read by Python."""
    ranges = json.loads(model.read_text())["content"]["notes"]["ranges"]
    values = [float(a) for a, _ in used]
    if "x" in ranges:
        assert ranges["x"] == [min(values), max(values)], about


def test_broken_tables_are_predicted_right_or_not_at_all(
    tmp_path: Path, quiet: pytest.CaptureFixture[str]
) -> None:
    """A line in x: what comes out must be the line at the numbers that Python reads."""
    draw = random.Random(int(os.environ.get("MULTIOBS_FUZZ_SEED", "1")))
    good, model = tmp_path / "good.csv", tmp_path / "m.json"
    points = [(i / 40, (i * i) % 11 + i) for i in range(40)]
    good.write_text("x,y\n" + "".join(f"{x},{y}\n" for x, y in points))
    assert ended(["fit", str(good), "--x", "x", "--y", "y", "-o", str(model)])[0] == 0
    stored = models.load(model)
    start, end = stored.predict(np.array([[0.0], [1.0]]))
    path, out = tmp_path / "t.csv", tmp_path / "o.csv"
    answers = 0
    for trial in range(TRIES):
        data = damaged(draw)
        path.write_bytes(data)
        words = ["predict", str(model), str(path), "-o", str(out)]
        words += draw.choice([[], ["--drop-missing"]])
        quiet.readouterr()
        code, problem = ended(words)
        _, err = quiet.readouterr()
        about = f"try {trial}: {words[4:]} on {data!r}: {code} {problem!r} {err}"
        assert problem is None, about
        assert code in CODES, about
        assert out.exists() == (code == 0), about
        assert len(list(tmp_path.iterdir())) == (4 if code == 0 else 3), about
        if code != 0:
            continue
        answers += 1
        plain = plainly(data, ("x",))
        assert plain is not None, about
        used = [a for a in plain["x"] if a.strip() not in MISSING]
        with out.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == len(used), about
        wanted = [start + (end - start) * read(a) for a in used]
        name = "variance" if "variance_low" in rows[0] else "none"
        found = [float(row[name]) for row in rows]
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9, err_msg=about)
        out.unlink()
    assert answers > TRIES // 20


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".jsonl"])
def test_broken_files_of_other_formats_end_with_a_code(
    tmp_path: Path, quiet: pytest.CaptureFixture[str], suffix: str
) -> None:
    """Flipped and lost bytes; what they change in the middle of a number nobody can see."""
    draw = random.Random(int(os.environ.get("MULTIOBS_FUZZ_SEED", "2")))
    path, model = tmp_path / f"t{suffix}", tmp_path / "m.json"
    frame = pd.DataFrame({"x": np.arange(30) / 7, "y": np.arange(30) % 5})
    if suffix == ".parquet":
        frame.to_parquet(path)
    elif suffix == ".arrow":
        frame.to_feather(path)
    else:
        frame.to_json(path, orient="records", lines=True)
    whole = path.read_bytes()
    for trial in range(max(TRIES // 10, 6)):
        data = bytearray(whole)
        for _ in range(draw.choice([1, 1, 2, 8])):
            data[draw.randrange(len(data))] = draw.randrange(256)
        if draw.random() < 0.3:
            del data[draw.randrange(len(data)) :]
        path.write_bytes(data)
        code, problem = ended(["fit", str(path), "--x", "x", "--y", "y", "-o", str(model)])
        _, err = quiet.readouterr()
        about = f"try {trial}: {bytes(data)!r}: {code} {problem!r} {err}"
        assert problem is None, about
        assert code in CODES, about
        assert "Traceback" not in err, about
        assert model.exists() == (code == 0), about
        model.unlink(missing_ok=True)


def test_no_permission_and_strange_places(
    tmp_path: Path, quiet: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{i},{i % 3}\n" for i in range(30)))
    locked = tmp_path / "locked"
    locked.mkdir()
    (locked / "t.csv").write_text("x,y\n1,2\n")
    (locked / "t.csv").chmod(0)
    places = {
        str(tmp_path): 3,
        str(tmp_path / "none.csv"): 3,
        str(path / "inside"): 3,
        "": 3,
        "\x00": 1,
        "a" * 5000: 3,
    }
    if os.geteuid() != 0:
        places[str(locked / "t.csv")] = 3
    for place, wanted in places.items():
        code, problem = ended(["fit", place, "--x", "x", "--y", "y"])
        _, err = quiet.readouterr()
        assert (code, problem) == (wanted, None), (place[:40], err)
    for out in (str(path / "m.json"), str(tmp_path), "/proc/none/m.json"):
        code, problem = ended(["fit", str(path), "--x", "x", "--y", "y", "-o", out])
        quiet.readouterr()
        assert (code, problem) == (3, None), out
