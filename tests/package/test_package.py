"""The package as a package: versions, optional parts, data, names in the documentation."""

import ast
import gzip
import importlib
import inspect
import re
import subprocess
import sys
import tomllib
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

import multiobs
from multiobs._files import beside
from multiobs.datasets import load_flights

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "multiobs"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
REQUIREMENTS = sorted((ROOT / "requirements").glob("*.txt"))
# Which rooms may import an optional package, at the top of the file or inside a function.
ROOMS = {
    "matplotlib": {"plots", "report", "cli", "experiments", "planning"},
    "typer": {"cli"},
    "rich": {"cli", "_tables", "_progress"},
    "dask": {"scale"},
    "duckdb": {"scale"},
    "pyarrow": {"scale", "cli"},
    "skops": {"models"},
}


def pins(path: Path) -> dict[str, str]:
    lines = [line for line in path.read_text().splitlines() if line and line[0] != "#"]
    return {
        re.sub(r"[-_.]+", "-", line.split("==")[0]).lower(): line.split("==")[1] for line in lines
    }


def number(version: str) -> tuple[int, ...]:
    found = tuple(int(part) for part in re.findall(r"\d+", version))
    while found and found[-1] == 0:
        found = found[:-1]
    return found


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module.partition(".")[0])
    return found


def room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", REQUIREMENTS, ids=lambda path: path.name)
def test_requirements_are_exact_and_name_no_index(path: Path) -> None:
    lines = [line for line in path.read_text().splitlines() if line and line[0] != "#"]
    assert lines
    for line in lines:
        assert re.fullmatch(r"[A-Za-z0-9_.-]+==[A-Za-z0-9_.]+", line), line


def test_minimum_requirements_are_the_declared_lower_bounds() -> None:
    installed = pins(ROOT / "requirements" / "minimum.txt")
    extras = PROJECT["optional-dependencies"]
    declared = [*PROJECT["dependencies"], *extras["plot"], *extras["cli"]]
    declared += [*extras["models"], *extras["scale"]]
    for requirement in declared:
        name, _, low = requirement.partition(">=")
        assert number(installed[name]) == number(low), requirement


def test_versions_agree() -> None:
    version = multiobs.__version__
    assert PROJECT["dynamic"] == ["version"]  # read off multiobs/_version.py by the build
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"\n## {version}" in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.parametrize("package", sorted(ROOMS))
def test_optional_packages_stay_in_their_rooms(package: str) -> None:
    users = {room(path) for path in SOURCE.rglob("*.py") if package in imports(path)}
    assert users <= ROOMS[package]


def test_optional_packages_are_not_needed_to_import_and_fit() -> None:
    blocked = [*ROOMS, "pandas", "polars", "tqdm"]
    program = f"""
import sys
from importlib.abc import MetaPathFinder

class Absent(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Absent())
import numpy as np
from multiobs import MultiObservationRegressor
x = np.linspace(0, 1, 200)
y = np.where(np.arange(200) % 2, 1.0, -1.0)
model = MultiObservationRegressor("variance", "sliding", transport=None).fit(x[:, None], y)
print(model.predict([[0.5]]).round(6))
"""
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True
    )
    assert run.stderr == ""
    assert run.stdout == "[2.]\n"


def test_names_are_imported_when_they_are_asked_for() -> None:
    program = """
import sys
import multiobs
print([name for name in ("numpy", "scipy", "sklearn") if name in sys.modules])
for name in multiobs.__all__:
    if name not in ("plots",):
        assert getattr(multiobs, name) is not None
    assert name in dir(multiobs)
from multiobs import MultiObservationRegressor, metasamples, statistics
"""
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True
    )
    assert run.stderr == ""
    assert run.stdout == "[]\n"
    with pytest.raises(AttributeError, match="no attribute 'variance'"):
        multiobs.variance  # noqa: B018 (asking is the test)


def test_bundled_flights_are_what_their_note_says() -> None:
    flights = load_flights()
    note = (SOURCE / "datasets" / "README.md").read_text()
    assert {len(column) for column in flights.values()} == {40919}
    assert "40,919" in note
    assert set(np.unique(flights["origin"])) == {"EWR", "JFK", "LGA"}
    assert 0 <= flights["departure"].min() < flights["departure"].max() < 24 * 60
    assert flights["air_time"].min() > 0
    for name in flights:
        assert name in note


def test_package_data_is_installed() -> None:
    package = resources.files("multiobs")
    for name in ("py.typed", "datasets/flights.csv.gz", "datasets/README.md", "datasets/LICENSE"):
        assert package.joinpath(name).is_file(), name
    packed = package.joinpath("datasets/flights.csv.gz").read_bytes()
    assert gzip.decompress(packed).startswith(b"month,day,departure,")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "table.csv"
    target.write_text("old")

    def interrupted() -> None:
        with beside(target) as temporary:
            temporary.write_text("half of the new")
            raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        interrupted()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def resolve(name: str) -> object:
    """The object of a dotted name such as multiobs.samplers.Nearby."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:  # a module's names may be lazy, a class's may be descriptors
            lazy = inspect.ismodule(found)
            found = getattr(found, part) if lazy else inspect.getattr_static(found, part)
        return found
    raise ModuleNotFoundError(name)


@pytest.mark.parametrize(
    "path", sorted((ROOT / "docs").glob("**/*.md")), ids=lambda path: path.stem
)
def test_names_in_the_documentation_exist(path: Path) -> None:
    references = re.findall(r"\{py:\w+\}`~?([\w.]+)`", path.read_text())
    for name in references:
        assert resolve(name) is not None


def test_what_the_paper_map_calls_to_come_has_not_come() -> None:
    lines = (ROOT / "docs" / "paper_map.md").read_text().splitlines()
    for line in lines:
        before, found, _ = line.partition("*to come*")
        for name in re.findall(r"`(\w+(?:\.\w+)?)`", before) if found else []:
            try:
                resolve(f"multiobs.{name}")
            except (ModuleNotFoundError, AttributeError):
                continue
            pytest.fail(f"docs/paper_map.md calls {name} 'to come', but it is there: {line}")
