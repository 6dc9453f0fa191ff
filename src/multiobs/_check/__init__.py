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
        raise TypeError(f"{name} must be a real number, got {value!r}")
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, got {value!r}")
    return number


def integer(name: str, value: Any, low: int) -> int:
    """Return ``value`` as an int of at least ``low``, or raise.

    >>> integer("order", 1, low=2)
    Traceback (most recent call last):
        ...
    ValueError: order must be at least 2, got 1
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    number = int(value)
    if number < low:
        raise ValueError(f"{name} must be at least {low}, got {value!r}")
    return number


def choice(name: str, value: Any, options: tuple[str, ...]) -> str:
    """Return ``value`` if it is one of ``options``, or raise."""
    if not isinstance(value, str) or value not in options:
        listed = ", ".join(repr(option) for option in options)
        raise ValueError(f"{name} must be one of {listed}, got {value!r}")
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
        found = found.astype(np.float64)
    if found.dtype.kind not in "buif":
        first = found.reshape(-1)[:1].tolist()
        raise TypeError(f"{name} must be numbers, got values such as {str(first)[1:-1]}")
    return found.astype(np.float64, copy=False)


def validate_data(estimator: Any, /, *data: Any, **how: Any) -> Any:
    """Validate input and set or check ``n_features_in_`` and ``feature_names_in_``.

    With :func:`check_sample_weight` the one place that knows scikit-learn 1.5 from later versions;
    scikit-learn is imported when first needed.
    """
    try:
        from sklearn.utils.validation import validate_data as validate
    except ImportError:  # scikit-learn 1.5 has it as a method of the estimator
        return estimator._validate_data(*data, **how)
    return validate(estimator, *data, **how)


def check_sample_weight(weight: Any, X: FloatArray) -> FloatArray:
    """Weights of the rows of X as floats, (n,), none of them negative."""
    from sklearn.utils.validation import _check_sample_weight, check_non_negative

    # Not by _check_sample_weight's own option, whose name changed after scikit-learn 1.5.
    checked: FloatArray = _check_sample_weight(weight, X, dtype="float64")
    check_non_negative(checked, "`sample_weight`")
    return checked
