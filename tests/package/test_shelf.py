"""The package on a shelf: build hook, workflow files, recipe, what is installed where."""

import importlib.util
import re
import stat
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import multiobs

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture
def hook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compiler(folder: Path, refuses: str) -> Path:
    """A C compiler that fails on one word, and else writes its words into the output."""
    path = folder / "cc"
    path.write_text(
        "#!/bin/sh\n"
        f'for word in "$@"; do [ "$word" = "{refuses}" ] && echo no {refuses} >&2 && exit 1; done\n'
        'while [ "$1" != -o ]; do all="$all $1"; shift; done; echo "$all" > "$2"\n'
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def source(folder: Path, hook: ModuleType) -> Path:
    native = folder / hook.NATIVE
    native.mkdir(parents=True)
    return folder


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
def test_a_universal_tag_holds_both_architectures(
    hook: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook.sysconfig, "get_platform", lambda: "macosx-11.0-universal2")
    monkeypatch.setattr(hook.platform, "machine", lambda: "arm64")
    monkeypatch.setenv("CC", str(compiler(tmp_path, refuses="-never")))
    built = hook.compile_native(source(tmp_path / "both", hook))
    assert built is not None
    assert built[1] == "macosx_11_0_universal2"
    assert "-arch x86_64 -arch arm64" in built[0].read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
def test_one_architecture_is_never_tagged_universal(
    hook: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook.sysconfig, "get_platform", lambda: "macosx-11.0-universal2")
    monkeypatch.setattr(hook.platform, "machine", lambda: "arm64")
    monkeypatch.setenv("CC", str(compiler(tmp_path, refuses="x86_64")))
    built = hook.compile_native(source(tmp_path / "one", hook))
    assert built is not None
    assert built[1] == "macosx_11_0_arm64"


def test_a_pure_wheel_can_be_asked_for(hook: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MULTIOBS_PURE", "1")
    assert hook.compilers() == []


def test_every_python_that_is_promised_is_tested() -> None:
    promised = {
        line.rpartition(" ")[2] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)
    }
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    tested = set(re.findall(r'"(3\.\d+)"', workflow.partition("python: [")[2].partition("]")[0]))
    assert promised == tested
    assert min(promised, key=lambda v: int(v[2:])) == PROJECT["requires-python"].removeprefix(">=")


def test_workflows_are_yaml_and_call_targets_that_exist() -> None:
    yaml = pytest.importorskip("yaml")
    makefile = (ROOT / "Makefile").read_text()
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        text = path.read_text()
        assert yaml.safe_load(text)["jobs"], path
        called = set(re.findall(r"make ([a-z][a-z-]*)", text))
        called |= set(
            re.findall(r"target: \[([^]]*)\]", text)[0].split(", ") if "target:" in text else []
        )
        for target in called:
            assert re.search(rf"^{target}:", makefile, re.M), f"{path.name}: make {target}"


def test_the_recipe_asks_for_what_the_project_asks_for() -> None:
    recipe = (ROOT / "conda" / "meta.yaml").read_text()
    wanted = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["cli"]]
    for requirement in wanted:
        name, _, low = requirement.partition(">=")
        assert f"- {name} >={low}\n" in recipe


def test_the_demo_installs_no_test_tools() -> None:
    lines = (ROOT / "requirements" / "demo.txt").read_text().splitlines()
    names = {line.partition("==")[0].lower() for line in lines if not line.startswith("#")}
    assert {"numpy", "scipy", "scikit-learn", "typer", "rich", "matplotlib"} <= names
    assert not names & {"pytest", "mypy", "ruff", "hypothesis", "pandas", "dask", "duckdb"}


def test_install_instructions_agree() -> None:
    extras = PROJECT["optional-dependencies"]
    for page in ("README.md", "docs/index.md", "docs/command_line.md"):
        text = (ROOT / page).read_text()
        assert "pip install" in text, page
        for named in re.findall(r"multiobs\[([a-z,]+)\]", text):
            assert set(named.split(",")) <= set(extras), page
    assert f"## {multiobs.__version__}" in (ROOT / "CHANGELOG.md").read_text()
