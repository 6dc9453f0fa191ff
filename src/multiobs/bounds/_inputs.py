"""Reading arguments: numbers or arrays in, the rule and then the offender out."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

# The alias of multiobs._types, spelled again because this package imports only math and numpy.
FloatArray = npt.NDArray[np.float64]
Number = float | FloatArray
FORMS = ("paper", "repaired")


def _first(values: FloatArray, wrong: npt.NDArray[np.bool_]) -> float:
    return float(values[wrong].ravel()[0])


def _read(
    name: str,
    value: npt.ArrayLike,
    rule: str,
    holds: Callable[[FloatArray], npt.NDArray[np.bool_]],
) -> FloatArray:
    array = np.asarray(value, dtype=np.float64)
    wrong = ~(holds(array) & np.isfinite(array))
    if wrong.any():
        raise ValueError(f"{name} must be {rule}, got {_first(array, wrong):g}")
    return array


def positive(name: str, value: npt.ArrayLike) -> FloatArray:
    return _read(name, value, "positive", lambda a: a > 0)


def nonnegative(name: str, value: npt.ArrayLike) -> FloatArray:
    return _read(name, value, "at least 0", lambda a: a >= 0)


def at_least_one(name: str, value: npt.ArrayLike) -> FloatArray:
    return _read(name, value, "at least 1", lambda a: a >= 1)


def whole(name: str, value: npt.ArrayLike) -> FloatArray:
    rule = "a whole number of at least 1"
    return _read(name, value, rule, lambda a: (a >= 1) & (a == np.floor(a)))


def fraction(name: str, value: npt.ArrayLike) -> FloatArray:
    return _read(name, value, "strictly between 0 and 1", lambda a: (a > 0) & (a < 1))


def read_form(value: str) -> bool:
    """Whether the repaired statement is asked for."""
    if value not in FORMS:
        raise ValueError(f"form must be 'paper' or 'repaired', got {value!r}")
    return value == "repaired"


def require(condition: npt.ArrayLike, values: npt.ArrayLike, message: str, limit: object) -> None:
    """Raise ``message`` with the limit and the offender when a theorem's condition fails.

    ``message`` holds ``{limit}`` and ends before the offender.
    """
    wrong, offender, bound = np.broadcast_arrays(
        ~np.asarray(condition), np.asarray(values, dtype=np.float64), np.asarray(limit)
    )
    if wrong.any():
        text = message.format(limit=f"{_first(np.asarray(bound, dtype=np.float64), wrong):.4g}")
        raise ValueError(f"{text}, got {_first(offender, wrong):g}")


def interval(name: str, value: tuple[float, float]) -> tuple[float, float]:
    low, high = float(value[0]), float(value[1])
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise ValueError(f"{name} must be (low, high) with low < high, got ({low:g}, {high:g})")
    return low, high


def give(array: npt.ArrayLike) -> Number:
    """Return a Python float for scalar arguments, an array otherwise."""
    out = np.asarray(array, dtype=np.float64)
    return float(out) if out.ndim == 0 else out


def unlog(log_value: FloatArray, log: bool) -> Number:
    """exp(log_value), inf where that exceeds the largest double, or the logarithm itself."""
    if log:
        return give(log_value)
    with np.errstate(over="ignore"):
        return give(np.exp(log_value))
