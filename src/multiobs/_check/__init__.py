"""Errors at the door: each check states the rule, then the offender."""

import math
from numbers import Integral, Real
from typing import Any

import numpy as np

from multiobs._types import FloatArray


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
        raise ValueError(f"{name} must be positive, got {value!r}")
    return number


def nonnegative(name: str, value: Any) -> float:
    """Return ``value`` as a nonnegative finite float, or raise."""
    number = real(name, value)
    if not number >= 0:
        raise ValueError(f"{name} must be nonnegative, got {value!r}")
    return number


def real(name: str, value: Any) -> float:
    """Return ``value`` as a finite float, or raise."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a real number, got {shown(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, got {shown(value)}")
    return number


def integer(name: str, value: Any, low: int) -> int:
    """Return ``value`` as an int of at least ``low``, or raise.

    >>> integer("order", 1, low=2)
    Traceback (most recent call last):
        ...
    ValueError: order must be at least 2, got 1
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, got {shown(value)}")
    number = int(value)
    if number < low:
        raise ValueError(f"{name} must be at least {low}, got {shown(value)}")
    if number >= 2**63:
        raise ValueError(f"{name} must be below 2^63, got {shown(value)}")
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
            raise ValueError(f"{name} must be an integer or {word!r}, got {value!r}")
        return None
    return integer(name, value, low)


def regressor(name: str, value: Any) -> Any:
    """Return ``value`` if it has ``fit`` and ``predict``, or raise.

    >>> regressor("estimator", [])
    Traceback (most recent call last):
        ...
    TypeError: estimator must be a regressor with fit and predict, got []
    """
    has = (callable(getattr(value, method, None)) for method in ("fit", "predict", "get_params"))
    if isinstance(value, type) or not all(has):
        raise TypeError(f"{name} must be a regressor with fit and predict, got {shown(value)}")
    return value


def choice(name: str, value: Any, options: tuple[str, ...]) -> str:
    """Return ``value`` if it is one of ``options``, or raise."""
    if not isinstance(value, str) or value not in options:
        listed = ", ".join(repr(option) for option in options)
        raise ValueError(f"{name} must be one of {listed}, got {shown(value)}")
    return value


def numbers(name: str, value: Any) -> FloatArray:
    """Return ``value`` as an array of floats, or raise: text, dates and objects are no numbers.

    >>> numbers("labels", ["1", "b"])
    Traceback (most recent call last):
        ...
    TypeError: labels must be numbers, got values such as '1'
    """
    try:
        found = np.asarray(value)
    except ValueError:
        raise ValueError(f"{name} must be rows of equal length, got a ragged list") from None
    if found.dtype.kind == "O" and all(isinstance(each, Real) for each in found.flat):
        try:
            found = found.astype(np.float64)
        except OverflowError:
            raise ValueError(
                f"{name} must be numbers that a float holds, got a larger one"
            ) from None
    if found.dtype.kind not in "buif":
        first = found.reshape(-1)[:1].tolist()
        raise TypeError(f"{name} must be numbers, got values such as {str(first)[1:-1]}")
    return found.astype(np.float64, copy=False)


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


def validate_data(estimator: Any, /, *data: Any, **how: Any) -> Any:
    """Validate input and set or check ``n_features_in_`` and ``feature_names_in_``.

    With :func:`check_sample_weight` the one place that knows scikit-learn 1.5 from later versions;
    scikit-learn is imported when first needed.
    """
    refuse_complex("X", data[0])
    try:
        from sklearn.utils.validation import validate_data as validate
    except ImportError:  # scikit-learn 1.5 has it as a method of the estimator
        return estimator._validate_data(*data, **how)
    return validate(estimator, *data, **how)


def check_sample_weight(weight: Any, X: FloatArray) -> FloatArray:
    """Weights of the rows of X as floats, (n,), none of them negative."""
    from sklearn.utils.validation import _check_sample_weight, check_non_negative

    refuse_complex("sample_weight", weight)
    # Not by _check_sample_weight's own option, whose name changed after scikit-learn 1.5.
    checked: FloatArray = _check_sample_weight(weight, X, dtype="float64")
    check_non_negative(checked, "`sample_weight`")
    return checked
