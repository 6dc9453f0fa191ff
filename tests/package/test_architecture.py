"""The rules of the house, counted: folders, names, sizes, parameters and who asks for types."""

import ast
import re
from itertools import combinations
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "multiobs"
FILES = sorted(SOURCE.rglob("*.py"))
FOLDERS = sorted(path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists())
TREES = {path: ast.parse(path.read_text()) for path in FILES}
# Types whose owners answer for them; the rest of the package asks them and never their type.
OWNED = {
    "statistics": {
        "Loss", "TupleLoss", "PolynomialLoss", "RootLoss", "BregmanLoss", "CallableLoss",
        "Kernel", "ListedKernel", "Monomials", "OrderStatistic", "Equality", "Opaque", "Square",
    },
    "samplers": {
        "Sampler", "Counted", "Coded", "Adjustable", "Streaming", "Adjacent", "Disjoint",
        "Improved", "Leaves", "Naive", "Nearby", "Nearest",
        "Replicates", "SlidingWindow",
    },
}  # fmt: skip
# The visible choosers, and the branches of the one sum they choose between.
CHOOSERS = {
    ("sums/contraction.py", "plan"),
    ("sums/contraction.py", "contract_all"),
    ("fit/solvers.py", "choose_solver"),
    ("auto/choice.py", "choose"),
    ("auto/choice.py", "_sampler"),
}
HEAVY = {"experiments"}  # imported piece by piece where a command needs it
PROMISED = {"excess_risk"}  # its seven arguments are a public contract
ENTRIES = {"build"}  # report.build: the one way into its folder
BANNED = ("comfortable", "carried", "evened", "lopsided")


def folder(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def test_at_most_twelve_entries_are_not_folders() -> None:
    loose = [
        path.name
        for path in SOURCE.iterdir()
        if path.is_file() and path.suffix in {".py", ".typed", ".c", ".h"}
    ]
    assert len(loose) <= 12, loose


def test_no_two_modules_differ_by_an_underscore_or_an_s() -> None:
    for room in [SOURCE, *(SOURCE / name for name in FOLDERS)]:
        names = [path.stem for path in room.glob("*.py")] + [
            path.name for path in room.iterdir() if (path / "__init__.py").exists()
        ]
        for one, two in combinations(sorted(names), 2):
            assert one.strip("_").rstrip("s") != two.strip("_").rstrip("s"), (room.name, one, two)


def test_one_name_one_thing() -> None:
    places: dict[str, list[str]] = {}
    for path in FILES:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(path.relative_to(SOURCE)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_no_module_has_the_name_of_something_its_folder_exports() -> None:
    for name in FOLDERS:
        tree = TREES[SOURCE / name / "__init__.py"]
        taken = {
            alias.asname or alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module != f"multiobs.{name}"
            for alias in node.names
        }
        modules = {path.stem for path in (SOURCE / name).glob("*.py")}
        clash = taken & modules - ENTRIES
        assert not clash, (name, clash)


@pytest.mark.parametrize("tree", ["src", "tests", "benchmarks"])
def test_no_file_is_longer_than_400_lines(tree: str) -> None:
    for path in sorted((ROOT / tree).rglob("*")):
        if path.suffix in {".py", ".c", ".h"}:
            lines = path.read_text().count("\n")
            assert lines <= 400, f"{path.relative_to(ROOT)} has {lines}: find its second idea"


def test_no_function_takes_more_than_six_positional_parameters() -> None:
    for path, tree in TREES.items():
        if folder(path) == "native":
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                taken = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
                count = len(taken) - (taken[:1] in (["self"], ["cls"]))
                assert count <= 6 or node.name in PROMISED, (
                    f"{path.relative_to(SOURCE)}: {node.name} takes {count}"
                )


def asked(tree: ast.Module) -> list[tuple[str, str]]:
    """Names of types in isinstance, with the function that asks."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef):
            continue
        for call in ast.walk(node):
            if (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Name)
                and call.func.id == "isinstance"
            ):
                names = {each.id for each in ast.walk(call.args[1]) if isinstance(each, ast.Name)}
                found += [(node.name, name) for name in names]
    return found


def test_types_are_asked_for_only_by_their_owners_and_the_choosers() -> None:
    wrong = set()
    for path, tree in TREES.items():
        where = path.relative_to(SOURCE).as_posix()
        for function, name in asked(tree):
            for owner, types in OWNED.items():
                mine = folder(path) == owner or (where, function) in CHOOSERS
                if name in types and not mine:
                    wrong.add((where, function, name))
    assert not wrong, sorted(wrong)


def test_rooms_import_only_what_another_room_exports() -> None:
    wrong = []
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith(
                "multiobs."
            ):
                continue
            parts = str(node.module).split(".")[1:]
            if parts[0] == folder(path) or parts[0] not in FOLDERS or len(parts) < 2:
                continue
            if parts[0].startswith("_") or parts[0] in HEAVY:
                continue
            exported = exports(parts[0])
            inner = {alias.name for alias in node.names}
            if parts[1] not in exported and not inner <= exported:
                wrong.append((path.relative_to(SOURCE).as_posix(), node.module, sorted(inner)))
    assert not wrong, wrong


def exports(room: str) -> set[str]:
    """What the folder's __init__ names in __all__."""
    for node in TREES[SOURCE / room / "__init__.py"].body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return {each.value for each in ast.walk(node.value) if isinstance(each, ast.Constant)}
    return set()


def test_words_of_the_field() -> None:
    pages = [*FILES, *(ROOT / "docs").glob("*.md"), *(ROOT / "docs").glob("*.rst")]
    pattern = re.compile(r"\b(" + "|".join(BANNED) + r")\b", re.I)
    for path in pages:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            assert not pattern.search(line), f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
