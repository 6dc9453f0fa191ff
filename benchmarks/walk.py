"""The walk of a default fit through the package: which files, in which order, and up or down.

Run ``python -m benchmarks.walk [--columns 1] [--list]``.  What is counted:

* only files of multiobs; what numpy, scipy and scikit-learn do in between belongs to the function
  that asked them;
* a *switch* is a call from a function of one file to a function of another, validation and small
  properties included; functions inside functions, comprehensions and lambdas are part of the file
  they stand in, and a method that dataclasses write has no file;
* a *climb* is a switch from a room to a room above it, by the layers of pyproject.toml, whoever
  made the call;
* one fit has been made before, so imports and what is made once for all fits are no part of it.

tests/package/test_walk.py holds the limits.
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

Call = tuple[str, str, str, str]  # file and function that call, file and function called

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


def walk(columns: int = 1, n: int = 500) -> list[Call]:
    """Calls of a default fit that cross from one file to another: (file, function) twice."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n, columns))
    y = np.sin(6 * X[:, 0]) + rng.normal(size=n)
    MultiObservationRegressor(random_state=0).fit(X, y)  # imports and caches are not the walk
    calls: list[Call] = []

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


def files_of(calls: list[Call]) -> set[str]:
    """Files that the calls pass."""
    return {file for call in calls for file in (call[0], call[2])}


def room(file: str) -> str:
    """Room of a file."""
    return file.split("/")[0].removesuffix(".py")


def climbs(calls: list[Call]) -> list[Call]:
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
    files = files_of(calls)
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
