"""Reading arguments: numbers or arrays in, the rule and then the offender out."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

# The alias of multiobs._types, spelled again because this package imports only math and numpy.
FloatArray = npt.NDArray[np.float64]
Number = float | FloatArray
P = ParamSpec("P")
R = TypeVar("R")
FORMS = ("paper", "repaired")


def _first(values: FloatArray, wrong: npt.NDArray[np.bool_]) -> float:
    return float(values[wrong].ravel()[0])


def _read(
    name: str,
    value: npt.ArrayLike,
    rule: str,
    holds: Callable[[FloatArray], npt.NDArray[np.bool_]],
) -> FloatArray:
    array = numbers(name, value)
    wrong = ~(holds(array) & np.isfinite(array))
    if wrong.any():
        raise ValueError(f"{name} must be {rule}, got {_first(array, wrong):g}")
    return array


def numbers(name: str, value: npt.ArrayLike) -> FloatArray:
    """Read numbers; text, objects, complex numbers and ragged lists are none."""
    try:
        array = np.asarray(value)
        if array.dtype.kind in "OiufbV":
            return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    text = " ".join(repr(value).split())
    raise TypeError(f"{name} must be numbers, got {text if len(text) <= 100 else text[:99] + '…'}")


def positive(name: str, value: npt.ArrayLike) -> FloatArray:
    return _read(name, value, "positive", lambda a: a > 0)


def nonnegative(name: str, value: npt.ArrayLike) -> FloatArray:
    return _read(name, value, "at least 0", lambda a: a >= 0)


def at_least_one(name: str, value: npt.ArrayLike) -> FloatArray:
    return _read(name, value, "at least 1", lambda a: a >= 1)


def whole(name: str, value: npt.ArrayLike) -> FloatArray:
    rule = "a whole number of at least 1"
    return _read(name, value, rule, lambda a: (a >= 1) & (a == np.floor(a)))


def number(name: str, value: npt.ArrayLike) -> FloatArray:
    return _read(name, value, "a finite number", lambda a: a == a)


def fraction(name: str, value: npt.ArrayLike) -> FloatArray:
    return _read(name, value, "strictly between 0 and 1", lambda a: (a > 0) & (a < 1))


def read_form(value: str) -> bool:
    """Whether the repaired statement is asked for."""
    one_of("form", value, FORMS)
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
    ends = numbers(name, value)
    if ends.shape != (2,):
        raise ValueError(f"{name} must be (low, high), got shape {ends.shape}")
    low, high = float(ends[0]), float(ends[1])
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise ValueError(f"{name} must be (low, high) with low < high, got ({low:g}, {high:g})")
    return low, high


def generator(value: object) -> np.random.Generator:
    """Refuse what is no numpy Generator."""
    if not isinstance(value, np.random.Generator):
        raise TypeError(
            f"rng must be a numpy Generator (numpy.random.default_rng), got {type(value).__name__}"
        )
    return value


def one_of(name: str, value: object, options: tuple[object, ...]) -> None:
    """Refuse what is not among the options, whatever its type compares like."""
    if not isinstance(value, int | str) or isinstance(value, bool) or value not in options:
        text = " ".join(repr(value).split())[:100]
        listed = [repr(option) for option in options]
        rule = " or ".join(listed) if len(listed) == 2 else "one of " + ", ".join(listed)
        raise ValueError(f"{name} must be {rule}, got {text}")


def representable(function: Callable[P, R]) -> Callable[P, R]:
    """Turn what happens to numbers beyond floats into one sentence."""

    def checked(*args: P.args, **options: P.kwargs) -> R:
        try:
            with np.errstate(over="raise", invalid="raise", divide="raise"):
                return function(*args, **options)
        except (ArithmeticError, np.linalg.LinAlgError):
            raise ValueError(
                f"arguments of {function.__name__} must be of a size whose powers a float holds, "
                "got an overflow"
            ) from None

    return _named_like(function, checked)


def _named_like(function: Callable[P, R], checked: Callable[P, R]) -> Callable[P, R]:
    for name in ("__name__", "__qualname__", "__module__", "__doc__"):  # functools is not here
        setattr(checked, name, getattr(function, name))
    setattr(checked, "__wrapped__", function)  # noqa: B010  (not known to types)
    return checked


def _holds_numbers(value: object) -> bool:
    try:
        return np.asarray(value).dtype.kind in "iufb"
    except ValueError:  # rows of unequal length
        return False


def elementwise(function: Callable[P, R]) -> Callable[P, R]:
    """Let arguments broadcast, or say which do not; beyond the largest float there is inf."""

    def checked(*args: P.args, **options: P.kwargs) -> R:
        try:
            with np.errstate(over="ignore"):
                return function(*args, **options)
        except ValueError:
            given = [each for each in (*args, *options.values()) if each is not None]
            shapes = [np.asarray(each).shape for each in given if _holds_numbers(each)]
            try:
                np.broadcast_shapes(*shapes)
            except ValueError:
                listed = ", ".join(str(each) for each in dict.fromkeys(shapes) if each)
                raise ValueError(
                    f"arguments of {function.__name__} must broadcast against each other, got "
                    f"shapes {listed}"
                ) from None
            raise

    return _named_like(function, checked)


def switch(name: str, value: object) -> bool:
    """Refuse what is neither True nor False."""
    if not isinstance(value, bool | np.bool_) and not (isinstance(value, int) and value in (0, 1)):
        text = " ".join(repr(value).split())[:100]
        raise TypeError(f"{name} must be True or False, got {text}")
    return bool(value)


def single(name: str, array: FloatArray) -> float:
    """Return the one number in an array of shape ()."""
    if array.ndim:
        raise ValueError(f"{name} must be one number, got shape {array.shape}")
    return float(array)


def give(array: npt.ArrayLike) -> Number:
    """Return a Python float for scalar arguments, an array otherwise."""
    out = np.asarray(array, dtype=np.float64)
    return float(out) if out.ndim == 0 else out


def unlog(log_value: FloatArray, log: bool) -> Number:
    """exp(log_value), inf where that exceeds the largest double, or the logarithm itself."""
    if switch("log", log):
        return give(log_value)
    with np.errstate(over="ignore"):
        return give(np.exp(log_value))
