"""Errors at the door: each check states the rule, then the offender."""

import math
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt

from multiobs._types import FloatArray

TAME = 1e150  # values below it have ranges whose squares a float holds, in any number of columns
SMALLEST = float(np.finfo(np.float64).tiny)  # what a column may be divided by


def positive(name: str, value: Any) -> float:
    """Return ``value`` as a positive finite float, or raise.

    >>> positive("epsilon", 0.5)
    0.5
    >>> positive("epsilon", -0.1)
    Traceback (most recent call last):
        ...
    ValueError: epsilon must be positive, got -0.1
    """
    number = real(name, value)
    if not number > 0:
        raise ValueError(f"{name} must be positive, got {shown(value)}")
    return number


def nonnegative(name: str, value: Any) -> float:
    """Return ``value`` as a nonnegative finite float, or raise."""
    number = real(name, value)
    if not number >= 0:
        raise ValueError(f"{name} must be nonnegative, got {shown(value)}")
    return number


def real(name: str, value: Any) -> float:
    """Return ``value`` as a finite float, or raise."""
    if isinstance(value, bool | np.timedelta64) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a real number, got {shown(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, got {shown(value)}")
    return number


def integer(name: str, value: Any, low: int, high: int = 2**63 - 1) -> int:
    """Return ``value`` as an int of at least ``low`` and at most ``high``, or raise.

    >>> integer("order", 1, low=2)
    Traceback (most recent call last):
        ...
    ValueError: order must be at least 2, got 1
    """
    if isinstance(value, bool | np.timedelta64) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, got {shown(value)}")
    number = int(value)
    if number < low:
        raise ValueError(f"{name} must be at least {low}, got {shown(value)}")
    if number > high:
        most = "2^63 - 1" if high == 2**63 - 1 else high
        raise ValueError(f"{name} must be at most {most}, got {shown(value)}")
    return number


def integer_or(word: str, name: str, value: Any, low: int) -> int | None:
    """Return ``value`` as an int of at least ``low``, None for the word, or raise.

    >>> integer_or("auto", "min_leaf", "auto", low=1), integer_or("auto", "min_leaf", 3, low=1)
    (None, 3)
    >>> integer_or("auto", "min_leaf", "many", low=1)
    Traceback (most recent call last):
        ...
    ValueError: min_leaf must be an integer or 'auto', got 'many'
    """
    if isinstance(value, str):
        if value != word:
            raise ValueError(f"{name} must be an integer or {word!r}, got {shown(value)}")
        return None
    return integer(name, value, low)


def flags(**given: Any) -> None:
    """Refuse what is neither True nor False.

    >>> flags(shuffle="no")
    Traceback (most recent call last):
        ...
    TypeError: shuffle must be True or False, got 'no'
    """
    for name, value in given.items():
        if not (isinstance(value, bool | np.bool_) or (isinstance(value, int) and value in (0, 1))):
            raise TypeError(f"{name} must be True or False, got {shown(value)}")


def choice(name: str, value: Any, options: Iterable[str]) -> str:
    """Return ``value`` if it is one of ``options``, or raise and name the nearest one.

    >>> choice("sampler", "slidng", ("nearby", "sliding"))
    Traceback (most recent call last):
        ...
    ValueError: sampler must be one of 'nearby', 'sliding', got 'slidng': did you mean 'sliding'?
    """
    known = tuple(options)
    if not isinstance(value, str) or value not in known:
        listed = ", ".join(repr(option) for option in known)
        raise ValueError(f"{name} must be one of {listed}, got {shown(value)}{near(value, known)}")
    return value


def near(value: Any, options: Iterable[str]) -> str:
    """Return the end of a sentence about an unknown name: the nearest known one, or nothing.

    >>> near("varience", ["mean", "variance"]), near("q", ["mean"])
    (": did you mean 'variance'?", '')
    """
    if not isinstance(value, str):
        return ""
    known = list(options)
    folded = {each.lower(): each for each in known}
    found = get_close_matches(value.lower(), folded, n=1)
    return f": did you mean {folded[found[0]]!r}?" if found else ""


def numbers(name: str, value: Any) -> FloatArray:
    """Return ``value`` as an array of floats, or raise: text, dates and objects are no numbers.

    >>> numbers("labels", ["1", "b"])
    Traceback (most recent call last):
        ...
    TypeError: labels must be numbers, got values such as '1'
    """
    refuse_masked(name, value)
    try:
        found = np.asarray(value)
    except ValueError:
        raise ValueError(f"{name} must be rows of equal length, got a ragged list") from None
    except Exception:  # an object of another library that cannot be an array
        raise TypeError(f"{name} must be numbers, got {shown(value)}") from None
    if found.dtype.kind == "O" and all(isinstance(each, Real) for each in found.flat):
        try:
            found = found.astype(np.float64)
        except OverflowError:
            raise ValueError(
                f"{name} must be numbers that a float holds, got a larger one"
            ) from None
    if found.dtype.kind not in "buif":
        first = found.reshape(-1)[:1].tolist()
        raise TypeError(f"{name} must be numbers, got values such as {shown(first)[1:-1]}")
    return found.astype(np.float64, copy=False)


def refuse_masked(name: str, value: Any) -> None:
    """Refuse a masked array that hides something: as an array it would come to light again."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ValueError(f"{name} must hold every value, got a masked array")


def finite(name: str, value: Any) -> FloatArray:
    """Return ``value`` as an array of finite floats, or raise."""
    found = numbers(name, value)
    if not np.all(np.isfinite(found)):
        raise ValueError(f"{name} must be finite, got NaN or infinity")
    return found


def generator(name: str, value: Any) -> np.random.Generator:
    """Return ``value`` if it is a numpy Generator, or raise.

    >>> generator("rng", 0)
    Traceback (most recent call last):
        ...
    TypeError: rng must be a numpy Generator (numpy.random.default_rng), got 0
    """
    if not isinstance(value, np.random.Generator):
        raise TypeError(
            f"{name} must be a numpy Generator (numpy.random.default_rng), got {shown(value)}"
        )
    return value


def shown(value: Any) -> str:
    """Return an offender as a short text in one line.

    >>> shown("a"), len(shown([[1, 2]] * 100))
    ("'a'", 100)
    """
    text = " ".join(repr(value).split())
    return text if len(text) <= 100 else text[:99] + "…"


def refuse_complex(name: str, value: Any) -> None:
    """Raise if ``value`` holds complex numbers.

    >>> refuse_complex("X", [[1.0], [2.0j]])
    Traceback (most recent call last):
        ...
    ValueError: Complex data not supported: X must hold real numbers, got (1+0j)
    """
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        return
    if isinstance(value, list | tuple):
        try:
            value = np.asarray(value)
        except ValueError:  # ragged: not for this check to say
            return
    kinds = getattr(value, "dtypes", getattr(value, "dtype", None))  # of a frame, of an array
    listed = kinds if isinstance(kinds, list) else np.atleast_1d(np.asarray(kinds, dtype=object))
    if not any(str(kind).startswith(("complex", "object")) for kind in listed):
        return
    for each in np.asarray(value).flat:
        if isinstance(each, complex):  # numpy's own complex numbers are among them
            raise ValueError(
                f"Complex data not supported: {name} must hold real numbers, got {each}"
            )


@contextmanager
def arithmetic(what: str) -> Iterator[None]:
    """Turn overflow on the way to a result into one warning, or into the error it leads to.

    Parameters
    ----------
    what : str
        The arguments whose size is to blame.

    Examples
    --------
    >>> with arithmetic("X and y"):
    ...     raise FloatingPointError(np.array([1e200]) ** 2)
    Traceback (most recent call last):
        ...
    ValueError: X and y must be of a size whose powers a float holds, got an overflow
    """
    seen: list[str] = []

    def note(kind: str, _: int) -> None:
        seen.append(kind)

    try:
        with np.errstate(over="call", divide="call", invalid="call", call=note):
            yield
    except (ArithmeticError, ValueError, RuntimeError, IndexError) as error:
        if not isinstance(error, ArithmeticError) and (
            not seen
            or (_raised_in(error).startswith("multiobs.") and not isinstance(error, IndexError))
        ):
            raise
        raise ValueError(_sentence(what, seen)) from error
    if seen:
        warnings.warn(_sentence(what, seen), UserWarning, stacklevel=4)


def _sentence(what: str, seen: list[str]) -> str:
    kind = {"divide by zero": "a division by zero", "invalid value": "an undefined value"}
    found = "an overflow" if not seen or "overflow" in seen else kind.get(seen[0], seen[0])
    return f"{what} must be of a size whose powers a float holds, got {found}"


def _raised_in(error: BaseException) -> str:
    """Name of the module whose line raised an error."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "" if trace is None else str(trace.tb_frame.f_globals.get("__name__", ""))


def refuse_wide(name: str, values: FloatArray, squared: bool = True) -> None:
    """Refuse what is not finite, and columns whose range, its square or its inverse is no float.

    Distances are made of squares, and columns are divided by their range.

    >>> refuse_wide("X", np.array([[0.0], [1e200]]))
    Traceback (most recent call last):
        ...
    ValueError: X must have ranges whose squares a float holds, got values from 0 to 1e+200
    """
    if values.size == 0:
        return
    low, high = values.min(), values.max()
    if low > -TAME and high < TAME and np.abs(values[:1]).min() > 1.0 / TAME:
        return  # no column is wide, and none is within the smallest numbers
    if not np.all(np.isfinite(values)):
        raise ValueError(f"{name} must be finite, got NaN or infinity")
    with np.errstate(over="ignore"):
        width = np.max(values, axis=0) - np.min(values, axis=0)
        size = np.sum((4.0 * width) ** 2) if squared else np.sum(4.0 * width)
    narrow = width[(width > 0) & (width < SMALLEST)]
    if narrow.size:
        raise ValueError(f"{name} must have ranges of at least {SMALLEST:g}, got {narrow.min():g}")
    if not np.isfinite(size):
        whose = "whose squares a float holds" if squared else "that a float holds"
        raise ValueError(f"{name} must have ranges {whose}, got values from {low:g} to {high:g}")


def sampling(
    X: Any, arity: Any, rng: Any, groups: Any
) -> tuple[FloatArray, npt.NDArray[np.int64] | None]:
    """Return what a sampler builds from: finite positions (n, d), codes (n,) of groups or None."""
    place = numbers("X", X)
    if place.ndim != 2 or 0 in place.shape:
        raise ValueError(f"X must have shape (n, d) with rows and columns, got {place.shape}")
    refuse_wide("X", place)
    generator("rng", rng)
    integer("arity", arity, low=1)
    if groups is None:
        return place, None
    from multiobs._check.labelling import codes

    return place, codes("groups", groups, place.shape[0])


def validate_data(estimator: Any, /, *data: Any, **how: Any) -> Any:
    """Validate input and set or check ``n_features_in_`` and ``feature_names_in_``.

    With :func:`check_sample_weight` the one place that knows scikit-learn 1.5 from later versions;
    scikit-learn is imported when first needed.
    """
    refuse_complex("X", data[0])
    try:
        from sklearn.utils.validation import validate_data as validate
    except ImportError:  # scikit-learn 1.5 has it as a method of the estimator
        validate = type(estimator)._validate_data
    try:
        return validate(estimator, *data, **how)
    except Exception as error:
        if isinstance(error, ValueError) and _raised_in(error).startswith("sklearn."):
            raise
        if isinstance(error, TypeError) and scikit_says(error):
            raise
        for name, each in zip(("X", "y"), data, strict=False):  # another library's words
            if each is not None:
                numbers(name, each)
        raise TypeError(f"X must be numbers, got {shown(data[0])}") from error


def scikit_says(error: TypeError) -> bool:
    """Whether scikit-learn's own sentence is clear: its conventions ask for it.

    >>> scikit_says(TypeError("float() argument must be a string or a real number, not 'dict'"))
    True
    """
    text = str(error)
    return "argument must be a string or a" in text or text.lower().startswith("sparse")


def checked_array(name: str, value: Any) -> FloatArray:
    """Return what scikit-learn takes for labels as floats, of any shape."""
    from sklearn.utils.validation import check_array

    refuse_complex(name, value)
    try:
        found: FloatArray = check_array(
            value, dtype=np.float64, ensure_2d=False, allow_nd=False, input_name=name
        )
    except Exception as error:
        if isinstance(error, ValueError) and _raised_in(error).startswith("sklearn."):
            raise
        numbers(name, value)  # another library's words
        raise TypeError(f"{name} must be numbers, got {shown(value)}") from error
    return found


def check_sample_weight(weight: Any, X: FloatArray) -> FloatArray:
    """Weights of the rows of X as floats, (n,), none of them negative."""
    from sklearn.utils.validation import _check_sample_weight, check_non_negative

    refuse_complex("sample_weight", weight)
    # Not by _check_sample_weight's own option, whose name changed after scikit-learn 1.5.
    weight = numbers("sample_weight", weight)
    checked: FloatArray = _check_sample_weight(weight, X, dtype="float64")
    check_non_negative(checked, "`sample_weight`")
    return checked
