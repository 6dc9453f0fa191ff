"""The reference: every public name, its parameters, an example that runs; nothing private."""

import importlib
import inspect
import re
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any

import page_code
import pytest

import multiobs

API = page_code.ROOT / "docs" / "api"
# Exported so that other rooms may import them; a user has no use for them.
FOR_OTHER_ROOMS = {
    "statistics": "KernelMeans MomentFunction Parts Ranges outside_domain resolve verify "
    "weighted_mean",
    "samplers": "Reach column_scales for_group narrowest one_order reach resolve takes_replicates "
    "settled_for",
    "baselines": "plug_in",
    "scale": "bytes_of",
    "scoring": "FixedLoss HeldOut level_of",
    "report": "Chart Layer Section TableBlock",
}


def listed() -> list[str]:
    """Names of the reference as one would import them, such as ``multiobs.scoring.compare``."""
    found = []
    for page in sorted(API.glob("*.md")):
        module = ""
        for line in page.read_text().splitlines():
            if match := re.match(r"\.\. currentmodule:: (\S+)", line):
                module = match[1]
            elif re.match(r"   [A-Za-z_.]+$", line):
                found.append(f"{module}.{line.strip()}")
    return found


NAMES = listed()


def named(name: str) -> Any:
    module, _, last = name.rpartition(".")
    if module == "multiobs.plots":
        pytest.importorskip("matplotlib")
    return getattr(importlib.import_module(module), last)


def without_parameters(public: Any) -> bool:
    """Whether there is nothing to say about what it takes."""
    if inspect.isclass(public) and issubclass(public, Enum | Exception):
        return True
    if inspect.isabstract(public) or getattr(public, "_is_protocol", False):
        return True
    return not inspect.signature(public).parameters


@pytest.mark.parametrize("name", NAMES)
def test_a_name_has_its_parameters_and_an_example(name: str) -> None:
    public = named(name)
    text = inspect.getdoc(public) or ""
    assert ">>> " in text, f"{name} has no example"
    assert without_parameters(public) or re.search(r"^(Parameters|Attributes)$", text, re.M), (
        f"{name} does not say what it takes"
    )


def test_no_name_is_listed_twice_and_none_is_private() -> None:
    assert len(NAMES) == len(set(NAMES)) > 150
    assert not [name for name in NAMES if "._" in name]


@pytest.mark.parametrize(
    "room", [m for m in multiobs.__all__ if inspect.ismodule(getattr(multiobs, m))]
)
def test_what_a_public_room_exports_is_in_the_reference(room: str) -> None:
    if room == "plots":
        pytest.importorskip("matplotlib")
    module: ModuleType = getattr(multiobs, room)
    for name in module.__all__:
        public = getattr(module, name)
        if inspect.ismodule(public) or not callable(public):
            continue
        known = f"multiobs.{room}.{name}" in NAMES
        assert known != (name in FOR_OTHER_ROOMS.get(room, "").split()), name


def test_every_name_of_the_package_is_in_the_reference() -> None:
    names = [name for name in multiobs.__all__ if not inspect.ismodule(getattr(multiobs, name))]
    assert len(names) > 5
    assert not [name for name in names if f"multiobs.{name}" not in NAMES]


def test_pages_of_the_reference_name_the_room_they_describe() -> None:
    """So that links to a module lead somewhere."""
    pages = "".join(page.read_text() for page in Path(API).glob("*.md"))
    for room in ("statistics", "samplers", "scoring", "baselines", "plots", "models", "scale"):
        assert f".. automodule:: multiobs.{room}\n" in pages
