"""Tables from files: every format gives the same rows, every fault a sentence with its place."""

import gzip
import io
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pandas")

from multiobs.cli.columns import FileRows, Wanted, names_of, take  # noqa: E402
from multiobs.cli.formats import open_source  # noqa: E402
from multiobs.cli.problems import Refusal  # noqa: E402
from multiobs.cli.source import Dialect  # noqa: E402
from multiobs.cli.tables import read_table  # noqa: E402

TEXT = "x,kind,when,y\n0.5,a,2020-01-01,1\n1.5,b,2020-01-02,2.5\n2.5,a,2020-01-11,-3\n"
WANTED = Wanted(x=("x", "kind", "when"), y=("y",))


def read(path: Path, wanted: Wanted = WANTED, **dialect: Any) -> FileRows:
    return take(open_source(str(path), Dialect(**dialect)), wanted)


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def table() -> Any:
    import pyarrow.csv

    return pyarrow.csv.read_csv(io.BytesIO(TEXT.encode()))


def store(folder: Path, suffix: str) -> Path:
    path = folder / f"rows{suffix}"
    if suffix == ".csv":
        return write(path, TEXT)
    if suffix == ".csv.gz":
        return write(path, gzip.compress(TEXT.encode()))
    if suffix == ".tsv":
        return write(path, TEXT.replace(",", "\t"))
    if suffix == ".parquet":
        import pyarrow.parquet

        pyarrow.parquet.write_table(table(), path)
    elif suffix == ".feather":
        import pyarrow.feather

        pyarrow.feather.write_feather(table(), str(path))
    elif suffix == ".arrow":
        with pa.ipc.new_stream(str(path), table().schema) as sink:
            sink.write_table(table())
    else:
        lines = [
            '{"x": 0.5, "kind": "a", "when": "2020-01-01", "y": 1}',
            '{"x": 1.5, "kind": "b", "when": "2020-01-02", "y": 2.5}',
            '{"x": 2.5, "kind": "a", "when": "2020-01-11", "y": -3}',
        ]
        write(path, "\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    "suffix", [".csv", ".csv.gz", ".tsv", ".parquet", ".feather", ".arrow", ".jsonl"]
)
def test_every_format_gives_the_same_rows(tmp_path: Path, suffix: str) -> None:
    rows = read(store(tmp_path, suffix))
    assert rows.X["x"].tolist() == [0.5, 1.5, 2.5]
    assert rows.X["kind"].tolist() == ["a", "b", "a"]
    days = rows.X["when"].to_numpy()
    assert (days - days[0]).tolist() == [0.0, 1.0, 10.0]
    assert rows.y is not None
    assert rows.y.tolist() == [1.0, 2.5, -3.0]
    assert rows.kinds == {"x": "number", "kind": "category", "when": "date"}
    assert (rows.read, rows.dropped) == (3, 0)


def test_the_first_bytes_tell_the_format_where_the_name_does_not(tmp_path: Path) -> None:
    for suffix in (".csv", ".parquet", ".feather", ".arrow", ".jsonl"):
        path = store(tmp_path, suffix).rename(tmp_path / f"plain{suffix[1:]}")
        assert read(path).X["x"].tolist() == [0.5, 1.5, 2.5]


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    writer = threading.Thread(target=fifo.write_text, args=(TEXT,))
    writer.start()
    rows = read(fifo)
    writer.join()
    assert rows.size == 3


def test_a_mark_at_the_start_semicolons_and_decimal_commas(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", b"\xef\xbb\xbfx;y\r\n0,5;1\r\n1,5;2\r\n")
    rows = read(path, Wanted(x=("x",), y=("y",)), decimal=",")
    assert rows.X["x"].tolist() == [0.5, 1.5]


def test_other_encodings_when_said(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "größe,y\n1,2\n3,4\n".encode("latin-1"))
    with pytest.raises(Refusal, match=r"byte 0xf6 in line 1: say --encoding latin-1"):
        read(path, Wanted(x=("größe",), y=("y",)))
    assert read(path, Wanted(x=("größe",), y=("y",)), encoding="latin-1").size == 2
    wide = write(tmp_path / "b.csv", "x,y\n1,2\n".encode("utf-16"))
    with pytest.raises(Refusal, match="--encoding utf-16"):
        read(wide, Wanted(x=("x",), y=("y",)))
    assert read(wide, Wanted(x=("x",), y=("y",)), encoding="utf-16").size == 1


def test_line_breaks_inside_quotes_belong_to_the_cell(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", 'x,note,y\n1,"two\nlines, one cell",2\n3,plain,4\n')
    source = open_source(str(path), Dialect())
    found = read_table(source, ("x",), ("note",))
    assert found.column("note").to_pylist() == ["two\nlines, one cell", "plain"]


def test_missing_values_are_dropped_only_when_asked_and_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "x,kind,y\n1,a,1\nNA,a,2\n3,,3\n4,NA,NaN\n5,b,5\n")
    wanted = Wanted(x=("x", "kind"), y=("y",))
    with pytest.raises(Refusal, match=r"'kind' .* 2 missing values, the first in row 3 \(2 more"):
        read(path, wanted)
    rows = read(path, Wanted(x=("x", "kind"), y=("y",), drop_missing=True))
    assert (rows.size, rows.read, rows.dropped) == (2, 5, 3)
    assert rows.missing == {"x": 1, "kind": 2, "y": 1}
    assert np.flatnonzero(rows.kept).tolist() == [0, 4]


def test_weights_groups_and_categories_by_request(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "x,code,w,g,flag,y\n1,7,1,a,true,1\n2,8,0.5,b,false,2\n")
    wanted = Wanted(
        x=("x", "code", "flag"), y=("y",), weights="w", groups="g",
        categories=("code",),
    )  # fmt: skip
    rows = read(path, wanted)
    assert rows.kinds == {"x": "number", "code": "category", "flag": "category"}
    assert rows.X["flag"].tolist() == ["true", "false"]
    assert rows.weights is not None
    assert rows.weights.tolist() == [1.0, 0.5]
    assert rows.groups is not None
    assert rows.groups.tolist() == [0, 1]


XY = Wanted(x=("x",), y=("y",))
FAULTS = {
    "empty": ("", XY, "must hold a table, got an empty file"),
    "blank": ("\n\n\n", XY, "blank lines only"),
    "header only": ("x,y\n", XY, "a header and nothing below it"),
    "ragged": ("x,y\n1,2\n3\n", XY, "must have 2 cells as the header, got 1 in row 2"),
    "too wide": ("x,y\n1,2\n3,4,5\n", XY, "got 3 in row 2: a cell with ',' in it needs quotes"),
    "text as y": ("x,y\n1,2\n2,abc\n", XY, "'y' must hold numbers, got 'abc' in row 2"),
    "date as y": ("x,y\n1,2020-01-01\n", XY, "'y' must hold numbers"),
    "mixture": (
        "x,y\n1,2\n2,3\n3,4\nabc,3\n",
        XY,
        "'x' must hold numbers or categories, got 'abc' in row 4 among numbers",
    ),
    "infinite x": ("x,y\n1,2\ninf,3\n", XY, "'x' must be finite, got inf in row 2"),
    "infinite y": ("x,y\n1,-inf\n", XY, "'y' must be finite, got -inf in row 1"),
    "all missing": ("x,y\n,2\n,3\n", XY, "'x' of .* has 2 missing values, the first in row 1"),
    "twice": ("x,x,y\n1,1,2\n", XY, "must name one column, got 'x', which .* has 2 times"),
    "weights": (
        "x,y,w\n1,2,-1\n",
        Wanted(x=("x",), y=("y",), weights="w"),
        "'w' must hold nonnegative weights, got -1 in row 1",
    ),
    "names": (
        "name,y\n" + "".join(f"person {i},{i}\n" for i in range(80)),
        Wanted(x=("name",), y=("y",)),
        "80 different texts in 80 rows: leave it out of --x",
    ),
    "large integers": (
        "x,y\n9007199254740993,1\n2,3\n",
        XY,
        "got 9007199254740993 in row 1: subtract a constant",
    ),
    "no text": (b"x,y\n\x00\x01,2\n", XY, "bytes that are no text"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_is_a_sentence_with_its_place(tmp_path: Path, name: str) -> None:
    content, wanted, sentence = FAULTS[name]
    path = write(tmp_path / "a.csv", content)
    with pytest.raises(Refusal, match=sentence):  # noqa: PT012 (either of the two may refuse)
        source = open_source(str(path), Dialect())
        names_of(wanted.x, source, "--x")
        take(source, wanted)


@pytest.mark.parametrize(
    ("suffix", "content"),
    [
        (".parquet", b"PAR1 nonsense"),
        (".feather", b"ARROW1 nonsense"),
        (".jsonl", b"{]\n"),
        (".jsonl", b'{"x": 1}\n{"x": "a"}\n'),
        (".csv.gz", b"not packed"),
    ],
)
def test_damaged_files_are_one_sentence(tmp_path: Path, suffix: str, content: bytes) -> None:
    path = write(tmp_path / f"a{suffix}", content)
    with pytest.raises(Refusal, match=r"a\.(parquet|feather|jsonl|csv\.gz)"):
        read(path, Wanted(x=("x",)))


def test_columns_are_found_by_name_and_nearly(tmp_path: Path) -> None:
    source = open_source(str(write(tmp_path / "a.csv", 'height,weight,"a,b"\n1,2,3\n')), Dialect())
    assert names_of(("height,weight",), source, "--x") == ("height", "weight")
    assert names_of(("a,b",), source, "--x") == ("a,b",)
    with pytest.raises(Refusal, match="did you mean 'height'"):
        names_of(("heigth",), source, "--x")
    with pytest.raises(Refusal, match="'weight' twice"):
        names_of(("weight", "weight"), source, "--x")


def test_ten_thousand_columns_cost_only_those_asked_for(tmp_path: Path) -> None:
    names = [f"c{i}" for i in range(10_000)]
    line = ",".join(str(i) for i in range(10_000))
    path = write(tmp_path / "a.csv", ",".join(names) + "\n" + f"{line}\n" * 3)
    rows = read(path, Wanted(x=("c7",), y=("c9999",)))
    assert rows.X["c7"].tolist() == [7.0, 7.0, 7.0]


def test_a_folder_is_not_a_table(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="must be a file, got the directory"):
        open_source(str(tmp_path), Dialect())
