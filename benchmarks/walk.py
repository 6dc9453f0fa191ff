"""The walk of a default fit through the package: which files, in which order, and up or down.

Run ``python -m benchmarks.walk [--columns 1] [--list]``. A *switch* is a call from a function of
one file to a function of another; a *climb* is one from a room to a room above it, by the layers of
pyproject.toml. Calls into small records (a property, a comparison) count like any other.
"""

import argparse
import sys
import tomllib
import warnings
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import multiobs
from multiobs import MultiObservationRegressor

ROOT = Path(multiobs.__file__).parent
PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def floors() -> dict[str, int]:
    """Height of each room, the topmost highest."""
    contracts = tomllib.loads(PROJECT.read_text())["tool"]["importlinter"]["contracts"]
    layers = next(each["layers"] for each in contracts if each["type"] == "layers")
    height = {}
    for floor, layer in enumerate(reversed(layers)):
        for room in layer.replace("(", "").replace(")", "").replace(":", "|").split("|"):
            height[room.strip()] = floor
    return height


def walk(columns: int = 1, n: int = 500) -> list[tuple[str, str, str, str]]:
    """Calls of a default fit that cross from one file to another: (file, function) twice."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n, columns))
    y = np.sin(6 * X[:, 0]) + rng.normal(size=n)
    MultiObservationRegressor(random_state=0).fit(X, y)  # imports and caches are not the walk
    calls: list[tuple[str, str, str, str]] = []

    def place(frame: FrameType | None) -> tuple[str, str] | None:
        while frame is not None:
            path = Path(frame.f_code.co_filename)
            if path.is_relative_to(ROOT):
                return path.relative_to(ROOT).as_posix(), frame.f_code.co_qualname
            frame = frame.f_back
        return None

    def seen(frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or not Path(frame.f_code.co_filename).is_relative_to(ROOT):
            return
        here, before = place(frame), place(frame.f_back)
        if here is not None and before is not None and here[0] != before[0]:
            calls.append((*before, *here))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sys.setprofile(seen)
        try:
            MultiObservationRegressor(random_state=0).fit(X, y)
        finally:
            sys.setprofile(None)
    return calls


def room(file: str) -> str:
    """Room of a file."""
    return file.split("/")[0].removesuffix(".py")


def climbs(calls: list[tuple[str, str, str, str]]) -> list[tuple[str, str, str, str]]:
    """Calls from a room to one above it."""
    height = floors()
    return [call for call in calls if height[room(call[2])] > height[room(call[0])]]


def main() -> None:
    """Print the walk."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--columns", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="every switch in order")
    options = parser.parse_args()
    calls = walk(options.columns)
    files = {each for call in calls for each in (call[0], call[2])}
    functions = {(call[2], call[3]) for call in calls}
    if options.list:
        for call in calls:
            print(f"{call[0]}:{call[1]} -> {call[2]}:{call[3]}")
    for (a, b), times in Counter((call[0], call[2]) for call in calls).most_common():
        print(f"{times:5d}  {a} -> {b}")
    up = climbs(calls)
    print(
        f"{len(files)} files, {len(functions)} functions entered, {len(calls)} switches, "
        f"{len(up)} climbs"
    )
    for call in up:
        print("climb:", *call)


if __name__ == "__main__":
    main()
