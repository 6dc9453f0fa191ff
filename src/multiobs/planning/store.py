"""The file of a LabelPlan: what it holds, how it is written, and every way it can be wrong."""

import json
import os
from dataclasses import dataclass
from typing import Any, NoReturn, cast, final

import numpy as np
import numpy.typing as npt

from multiobs import statistics
from multiobs._files import beside
from multiobs._types import BoolArray, FloatArray
from multiobs.planning.selection import Selection
from multiobs.statistics import Statistic

FORMAT = 1
ABOUT: dict[str, type | tuple[type, ...]] = {
    "format": int,
    "statistic": str,
    "parameters": dict,
    "epsilon": (int, float),
    "n_pool": int,
}
SELECTED = ("anchors", "members", "x_anchors", "x_members", "radius")
ARRAYS = (*SELECTED, "labels", "asked")

Arrays = dict[str, npt.NDArray[Any]]


@final
@dataclass(frozen=True)
class PlanState:
    """What a plan's file holds.

    name and parameters are those of the statistic; labels (n, m) or (n, m, s), NaN where missing;
    asked (n, m).
    """

    name: str
    parameters: dict[str, Any]
    selection: Selection
    labels: FloatArray
    asked: BoolArray

    def statistic(self, path: str | os.PathLike[str], given: Statistic | None) -> Statistic:
        """Return the statistic that the file names, or the given one if it fits the labels."""
        what = None if given is None else statistics.resolve(given)
        if what is None:
            try:
                what = statistics.build(self.name, self.parameters)
            except (TypeError, ValueError) as error:
                raise ValueError(
                    f"{os.fspath(path)} needs its statistic, which is not in the catalogue: pass "
                    f"statistic=, got {self.name!r}"
                ) from error
        m = int(self.labels.shape[1])
        columns = int(np.prod(self.labels.shape[2:]))
        if (what.arity, what.n_columns) != (m, columns):
            raise ValueError(
                f"{os.fspath(path)} needs a statistic of {m} observations of {columns} columns, "
                f"got {what!r} of {what.arity} and {what.n_columns}"
            )
        return what

    def same_rows(self, other: Selection) -> bool:
        """Whether the file is that of a plan with these rows."""
        here = self.selection
        return np.array_equal(here.anchors, other.anchors) and np.array_equal(
            here.members, other.members
        )


def present(labels: FloatArray, like: BoolArray) -> BoolArray:
    """Which labels are there, in the shape (n, m) of ``like``."""
    return ~np.isnan(labels.reshape(like.size, -1)[:, 0]).reshape(like.shape)


def write_plan(path: str | os.PathLike[str], state: PlanState) -> None:
    """Replace the file by this state: a reader finds the old one or the new one."""
    chosen = state.selection
    about = {
        "format": FORMAT,
        "statistic": state.name,
        "parameters": state.parameters,
        "epsilon": chosen.epsilon,
        "n_pool": chosen.n_pool,
    }
    arrays: Arrays = {
        "about": np.array(json.dumps(about)),
        "anchors": chosen.anchors,
        "members": chosen.members,
        "x_anchors": chosen.x_anchors,
        "x_members": chosen.x_members,
        "radius": chosen.radius,
        "labels": state.labels,
        "asked": state.asked,
    }
    with beside(path) as temporary, open(temporary, "wb") as file:
        np.savez(file, **cast(Any, arrays))  # numpy types the names of arrays as its flags


def read_plan(path: str | os.PathLike[str]) -> PlanState:
    """Read a plan's file; nothing in it is executed, and a fault is named in one sentence.

    Raises
    ------
    OSError
        When there is no such file or it may not be read.
    ValueError
        When it is no plan, or a damaged one.
    """
    arrays = _load(path)

    def fault(what: str) -> NoReturn:
        raise ValueError(f"{os.fspath(path)} must be the file of a LabelPlan, but {what}")

    absent = [name for name in ("about", *ARRAYS) if name not in arrays]
    if absent:
        fault(f"it lacks {absent[0]!r}")
    unknown = sorted(set(arrays) - {"about", *ARRAYS})
    if unknown:
        fault(f"it holds {unknown[0]!r}, which no plan has")
    about = _about(arrays.pop("about"))
    if isinstance(about, str):
        fault(about)
    found = _fault(arrays, int(about["n_pool"]), float(about["epsilon"]))
    if found:
        fault(found)
    selection = Selection(
        **{name: arrays[name] for name in SELECTED},
        epsilon=float(about["epsilon"]),
        n_pool=int(about["n_pool"]),
    )
    return PlanState(
        about["statistic"], about["parameters"], selection, arrays["labels"], arrays["asked"]
    )


def _load(path: str | os.PathLike[str]) -> Arrays:
    with open(path, "rb") as file:  # a missing file is the system's error, which names it
        try:
            loaded = np.load(file, allow_pickle=False)
            if not isinstance(loaded, np.lib.npyio.NpzFile):
                raise ValueError("a single array")
            with loaded:
                return {name: loaded[name] for name in loaded.files}
        # Damaged bytes may raise anything: zipfile's, zlib's, struct's, numpy's own errors.
        except Exception as error:
            raise ValueError(
                f"{os.fspath(path)} must be the file of a LabelPlan, but it cannot be read as an "
                f".npz archive ({type(error).__name__})"
            ) from error


def _about(text: npt.NDArray[Any]) -> dict[str, Any] | str:
    """Return the header, or what is wrong with it."""
    try:
        about = json.loads(str(text))
    except ValueError:
        about = None
    if not isinstance(about, dict):
        return "its header is not JSON"
    for key, kind in ABOUT.items():
        value = about.get(key)
        if not isinstance(value, kind) or isinstance(value, bool):
            return f"its header has {value!r} for {key!r}"
    if about["format"] != FORMAT:
        return f"its format is {about['format']}, and this version reads {FORMAT}"
    return about


def _fault(arrays: Arrays, n_pool: int, epsilon: float) -> str | None:
    """Return what is wrong with the arrays, or None."""
    for name, kinds in {
        **dict.fromkeys(("anchors", "members"), "i"),
        **dict.fromkeys(("x_anchors", "x_members", "radius", "labels"), "f"),
        "asked": "b",
    }.items():
        if arrays[name].dtype.kind not in kinds:
            return f"its {name} are of type {arrays[name].dtype}"
    shape, place = arrays["members"].shape, arrays["x_anchors"].shape
    if len(shape) != 2 or shape[1] < 1 or len(place) != 2:
        return f"its members and x_anchors have shapes {shape} and {place}"
    n, m, d = *shape, place[1]
    for name, expected in {
        "anchors": (n,),
        "x_anchors": (n, d),
        "x_members": (n, m, d),
        "radius": (n,),
        "asked": (n, m),
        "labels": (n, m, *arrays["labels"].shape[2:3]),
    }.items():
        if arrays[name].shape != expected:
            return f"its {name} have shape {arrays[name].shape} where members have {shape}"
    rows = np.concatenate([arrays["anchors"], arrays["members"].reshape(-1)])
    if rows.size and not (rows.min() >= 0 and rows.max() < n_pool):
        return f"its rows reach beyond a pool of {n_pool}"
    values, counts = np.unique(rows, return_counts=True)
    if values.size < rows.size:
        return f"row {int(values[counts > 1][0])} is in it twice"
    for name in ("x_anchors", "x_members", "radius"):
        if not np.isfinite(arrays[name]).all():
            return f"its {name} are not all finite"
    if not (np.isfinite(epsilon) and epsilon > 0):
        return f"its epsilon is {epsilon:g}"
    labels = arrays["labels"].reshape(n * m, -1)
    if np.isinf(labels).any():
        return "a label is infinite"
    missing = np.isnan(labels)
    if labels.shape[1] == 0 or (missing.any(axis=1) != missing.all(axis=1)).any():
        return "a label is there in part"
    return None
