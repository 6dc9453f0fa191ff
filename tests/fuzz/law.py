"""The law at the door: a right answer, or one sentence raised there; no NaN without a word."""

import dataclasses
import linecache
import os
import signal
import traceback
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import multiobs

SOURCE = str(Path(multiobs.__file__).parent) + os.sep
HERE = str(Path(__file__).parent) + os.sep
# scikit-learn's own doors, when one of our doors calls them
VALIDATION = tuple(
    os.path.join("sklearn", *each)
    for each in (("utils", "validation"), ("utils", "_param_validation"), ("utils", "_array_api"),
                 ("utils", "_available_if"), ("base",), ("utils", "_tags"), ("exceptions",))
)  # fmt: skip
DOORS = ("_check", "estimator", "baselines", "scoring", "plots", "models")
SECONDS = 20.0  # of one case; anything at this size takes a hundredth


class TooLongError(Exception):
    """A case that does not end."""


def complaint(function: Callable[..., Any], given: Mapping[str, Any]) -> str | None:
    """What is wrong with the answer to one call, None when nothing is."""
    before = signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            answer = function(**given)
    except Exception as error:
        return None if at_the_door(error) else told(error)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)
    leaked = [each for each in said if not issubclass(each.category, UserWarning)]
    if leaked:
        where = f"{leaked[0].filename}:{leaked[0].lineno}"
        return f"leaked {leaked[0].category.__name__}: {leaked[0].message} at {where}"
    if not said and holds_nan(answer):
        return f"NaN without a word in {type(answer).__name__} {answer!r:.300}"
    return None


def _stop(*_: Any) -> None:
    raise TooLongError(f"more than {SECONDS} CPU-seconds")


def told(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [each for each in frames if each.filename.startswith(SOURCE)]
    where = "".join(f" {each.filename[len(SOURCE) :]}:{each.lineno}" for each in ours[-2:])
    return f"{type(error).__name__}: {error!s:.150} at{where}"


def at_the_door(error: BaseException) -> bool:
    """Whether an exception is a sentence of ours, or of scikit-learn's validation in our door."""
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1]
    if isinstance(error, OSError) and error.filename is not None:
        return True  # the system's words, which name the file
    if last.filename.startswith(HERE):
        return True  # the caller's own function
    if last.filename.startswith(SOURCE):
        line = linecache.getline(last.filename, last.lineno or 0).strip()
        kinds = ValueError | TypeError | ImportError | AttributeError | OSError
        return isinstance(error, kinds) and line.startswith("raise") and one_sentence(error)
    places = [i for i, each in enumerate(frames) if each.filename.startswith(SOURCE)]
    below = frames[places[-1] + 1 :] if places else [last]
    if any(name in each.filename for each in below for name in VALIDATION):
        ours = [frames[i] for i in places]
        room = ours[-1].filename[len(SOURCE) :].split(os.sep)[0] if ours else ""
        known = isinstance(error, ValueError | TypeError | AttributeError)
        return known and (room in DOORS or not ours)
    return not any(each.filename.startswith(SOURCE) for each in frames[1:])  # the caller's own


def one_sentence(error: BaseException) -> bool:
    text = str(error)
    return 8 <= len(text) <= 500 and "\n" not in text


def holds_nan(answer: Any, depth: int = 0) -> bool:
    """Whether a number anywhere in an answer is NaN, unless a status stands beside it."""
    if depth > 5 or isinstance(answer, str | bytes | type) or answer is None:
        return False
    if isinstance(answer, float | np.floating | np.ndarray | complex):
        values = np.asarray(answer)
        return bool(values.dtype.kind in "fc" and np.isnan(values).any())
    if isinstance(answer, Mapping):
        return any(holds_nan(each, depth + 1) for each in answer.values())
    if isinstance(answer, tuple | list):
        return any(holds_nan(each, depth + 1) for each in answer)
    if dataclasses.is_dataclass(answer):
        names = [field.name for field in dataclasses.fields(answer)]
        if "status" in names or "NaN" in (type(answer).__doc__ or ""):
            return False  # a record that says where it is NaN, and why
        return any(holds_nan(getattr(answer, name), depth + 1) for name in names)
    return False
