"""The command line: the demo, its files, and one sentence when something is missing or wrong."""

import csv
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from multiobs._tables import Table, print_table
from multiobs.cli import main
from multiobs.report.page import Page


def run(*arguments: str, code: str = "") -> subprocess.CompletedProcess[str]:
    program = f"{code}\nfrom multiobs.cli import main\nmain({list(arguments)!r})"
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)


def block(*names: str) -> str:
    return "import sys\n" + "\n".join(f"sys.modules[{name!r}] = None" for name in names)


def test_without_the_extra_one_sentence_says_what_to_install() -> None:
    result = run("demo", code=block("typer", "rich"))
    assert result.returncode == 1
    assert result.stdout == ""
    assert (
        result.stderr == "the multiobs command needs typer and rich: pip install 'multiobs[cli]'\n"
    )


def test_a_fault_inside_the_package_is_not_taken_for_a_missing_extra() -> None:
    result = run("demo", code=block("multiobs.cli.app"))
    assert "Traceback" in result.stderr
    assert "pip install" not in result.stderr


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    pytest.importorskip("typer")
    pytest.importorskip("matplotlib")
    folder = tmp_path_factory.mktemp("demo")
    command = [sys.executable, "-W", "error", "-m", "multiobs", "demo", "--out", str(folder)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.stderr == ""
    assert result.returncode == 0
    return folder, result.stdout


def test_demo_writes_its_table_and_picture_and_says_where(demo: tuple[Path, str]) -> None:
    folder, text = demo
    assert sorted(path.name for path in folder.iterdir()) == [
        "delays.csv",
        "delays.html",
        "delays.png",
    ]
    for path in folder.iterdir():
        assert str(path) in text.replace("\n", "")
    assert (folder / "delays.png").read_bytes().startswith(b"\x89PNG")


def test_demo_prints_the_numbers_of_its_table(demo: tuple[Path, str]) -> None:
    folder, text = demo
    with (folder / "delays.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert len(rows) > 4
    for cell in rows[1]:
        assert cell in text


def test_demo_without_matplotlib_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("typer")
    module = importlib.import_module("multiobs.cli.demo")
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    monkeypatch.setattr(module, "build", lambda study, step: Page("a", "b"))  # the other has it
    with pytest.raises(SystemExit) as end:
        main(["demo", "--out", str(tmp_path)])
    assert end.value.code in (0, None)
    assert "pip install 'multiobs[plot]'" in " ".join(capsys.readouterr().out.split())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["delays.csv", "delays.html"]


def test_a_place_that_cannot_be_written_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("typer")
    (tmp_path / "file").write_text("")
    with pytest.raises(SystemExit) as end:
        main(["demo", "--out", str(tmp_path / "file")])
    assert end.value.code == 3
    sentence = capsys.readouterr().err
    assert sentence == f"multiobs: {tmp_path / 'file'} must be a directory, got a file\n"


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("typer")
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith("multiobs 0.")


TABLE = Table("Title", ("name", "value"), (("a", "1"), ("bc", "22")))


def test_a_table_is_printed_without_rich(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("multiobs._tables.find_spec", lambda name: None)
    print_table(TABLE)
    assert capsys.readouterr().out == "Title\nname  value\na         1\nbc       22\n"


def test_a_table_is_printed_by_rich_where_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rich")
    print_table(TABLE)
    out = capsys.readouterr().out
    assert "bc" in out
    assert out != TABLE.plain() + "\n"
