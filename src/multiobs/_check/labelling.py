"""Labels of groups and clusters, of any kind that compares for equality, as codes."""

from typing import Any

import numpy as np
import numpy.typing as npt

from multiobs._check import shown
from multiobs._types import IntArray


def codes(name: str, value: npt.ArrayLike, n: int) -> IntArray:
    """Return one code 0, 1, … for each of n labels; labels of several types may be mixed.

    >>> codes("groups", ["b", 1, "b", 2.5], 4).tolist()
    [2, 1, 2, 0]
    >>> codes("groups", [[0, 1], [1, 0]], 2)
    Traceback (most recent call last):
        ...
    ValueError: groups must hold one label for each of the 2 rows, got shape (2, 2)
    """
    rule = f"{name} must hold one label for each of the {n} rows"
    try:
        given = np.asarray(value)
        if given.dtype.kind in "US" and isinstance(value, list | tuple):
            given = np.asarray(value, dtype=object)  # numpy made text of the numbers among them
    except Exception:
        raise ValueError(f"{rule}, got {shown(value)}") from None
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]  # one column of a table
    if given.shape != (n,):
        raise ValueError(f"{rule}, got shape {given.shape}")
    if given.dtype.kind == "O":
        return _of_objects(rule, given)
    if given.dtype.kind in "fcMm" and np.any(given != given):
        raise ValueError(f"{name} must not hold missing labels, got {given[given != given][0]!r}")
    if given.dtype.kind == "V":
        raise ValueError(f"{rule}, got records of several fields")
    return np.unique(given, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _of_objects(rule: str, given: npt.NDArray[Any]) -> IntArray:
    listed = given.tolist()
    for each in listed:
        if is_missing(each):
            raise ValueError(f"{rule}, got a missing one, {shown(each)}")
    try:
        distinct = sorted(set(listed), key=lambda each: (str(type(each)), each))
    except TypeError:
        raise ValueError(f"{rule}, got some without an order, such as {shown(listed[0])}") from None
    known = {each: code for code, each in enumerate(distinct)}
    return np.array([known[each] for each in listed], dtype=np.int64)


def is_missing(label: Any) -> bool:
    """Whether a label is None, or NaN, NaT, NA, none of which equals itself."""
    try:
        return label is None or not bool(label == label)
    except (TypeError, ValueError):
        return True
