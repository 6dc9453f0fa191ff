"""The installed command in a terminal: progress, Ctrl-C, completion, help."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("pyarrow")
pexpect = pytest.importorskip("pexpect")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")

from multiobs.cli import main  # noqa: E402

HEAVY = ("numpy", "scipy", "sklearn", "pandas", "pyarrow", "matplotlib")


def command() -> str:
    """The installed script, or python -m where there is none."""
    script = Path(sys.executable).with_name("multiobs")
    found = str(script) if script.exists() else shutil.which("multiobs")
    assert found is not None
    return found


def spawn(*words: object, **options: Any) -> Any:
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "40"}
    return pexpect.spawn(
        command(), [str(word) for word in words], env=env, encoding="utf-8", timeout=120, **options
    )


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    x = rng.uniform(size=3000)
    path = tmp_path_factory.mktemp("terminal") / "rows.csv"
    rows = np.column_stack([x, rng.uniform(size=3000), rng.normal(size=3000) * (1 + x)])
    np.savetxt(path, rows, delimiter=",", header="x,z,y", comments="")
    return path


def test_a_bar_while_it_works_and_the_answer_after(data: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.json"
    slow = ("--x", "x", "--x", "z", "--class", "smooth")  # longer than the bar takes to appear
    child = spawn("fit", data, *slow, "--y", "y", "-o", model)
    child.expect("fitting 3,000 rows")
    child.expect("What was chosen, and why")
    child.expect("the model is in")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert model.exists()


@pytest.mark.parametrize("wait", [0.3, 2.5])
def test_ctrl_c_leaves_the_old_file_and_no_traceback(
    data: Path, tmp_path: Path, wait: float
) -> None:
    out = tmp_path / "report.html"
    out.write_text("old")
    child = spawn("report", data, "--x", "x", "--x", "z", "--y", "y", "-o", out)
    time.sleep(wait)
    child.kill(signal.SIGINT)
    text = child.read()
    child.close()
    ended = child.exitstatus if child.exitstatus is not None else 128 + child.signalstatus
    assert "Traceback" not in text
    if ended == 0:  # it was faster
        assert out.read_text().startswith("<!doctype html>")
    else:
        assert ended == 130
        assert out.read_text() == "old"
    assert list(tmp_path.iterdir()) == [out]


def test_completion_offers_commands_and_options() -> None:
    for words, wanted in (
        ("multiobs re", ["report", "reproduce"]),
        ("multiobs fit --sta", ["--statistic"]),
    ):
        env = {
            **os.environ,
            "_MULTIOBS_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(words.count(" ")),
        }
        run = subprocess.run([command()], env=env, capture_output=True, text=True)
        assert run.stdout.split() == wanted, run.stderr


def test_completion_in_a_real_shell(tmp_path: Path) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("needs bash")
    env = {**os.environ, "_MULTIOBS_COMPLETE": "source_bash"}
    script = subprocess.run([command()], env=env, capture_output=True, text=True).stdout
    (tmp_path / "complete.sh").write_text(script)
    folder = str(Path(command()).parent)
    child = pexpect.spawn(
        bash,
        ["--norc", "--noprofile", "-i"],
        env={**os.environ, "PS1": "$ ", "TERM": "dumb", "PATH": f"{folder}:{os.environ['PATH']}"},
        encoding="utf-8",
        timeout=60,
    )
    child.sendline(f"source {tmp_path / 'complete.sh'}; echo read''y")
    child.expect("ready\r\n")
    child.send("multiobs stat\t")
    child.expect("multiobs statistics")
    child.sendcontrol("c")
    child.sendline("exit")
    child.expect(pexpect.EOF)


def test_help_of_every_command_has_examples_and_loads_nothing_heavy() -> None:
    program = f"""
import json, sys, time
from multiobs.cli import main
from multiobs.cli.app import COMMANDS
start = time.process_time()
for name in ("", "demo", *(command.__name__ for command in COMMANDS)):
    print("=====", name)
    try:
        main([*name.split(), "--help"])
    except SystemExit as end:
        assert not end.code
print("=====", json.dumps([name for name in {HEAVY!r} if name in sys.modules]))
print(time.process_time() - start)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    *pages, last = run.stdout.split("===== ")[1:]
    heavy, seconds = last.splitlines()
    assert heavy == "[]"
    assert float(seconds) < 5.0  # all of them, on any machine; benchmarks.cli_cost has the limit
    assert len(pages) == 10
    for page in pages:
        name = page.partition("\n")[0] or "fit"
        assert re.search(rf"^  multiobs {name}\b", page, re.MULTILINE), page


@pytest.fixture(scope="module")
def model(data: Path) -> Path:
    path = data.with_name("m.json")
    with pytest.raises(SystemExit):
        main(["fit", str(data), "--x", "x", "--y", "y", "-o", str(path)])
    return path


def test_a_reader_who_goes_away_is_no_traceback(data: Path, model: Path) -> None:
    line = f"{command()} predict {model} {data} | head -n 2; echo ${{PIPESTATUS[0]}}"
    run = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
    assert "Traceback" not in run.stderr
    assert run.stdout.splitlines()[0].startswith("x,z,y,variance")
    assert run.stdout.splitlines()[-1] in ("0", "141")


def test_a_full_disk_behind_standard_output_is_one_sentence(data: Path, model: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("needs /dev/full")
    with full.open("wb") as sink:
        run = subprocess.run(
            [command(), "predict", model, data], stdout=sink, stderr=subprocess.PIPE, text=True
        )
    assert run.returncode == 3
    assert "No space left" in run.stderr
    assert "Traceback" not in run.stderr


def test_an_interrupt_that_became_another_error_is_still_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from multiobs.cli import app as commands

    def importing(**_: object) -> None:  # as a compiled module does
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise SystemError("returned a result with an exception set") from None

    monkeypatch.setattr(commands, "app", importing)
    # A shell starts what runs in its background with interrupts ignored: not so here.
    own = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(SystemExit) as end:
            main(["statistics"])
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, own)
    assert end.value.code == 130
    assert capsys.readouterr().err == ""
