"""What a user may hand over as an estimator: by what it can do, not by what it is."""

from typing import Any

from multiobs._check import shown


def require_regressor(name: str, value: Any) -> Any:
    """Return ``value`` if it has ``fit`` and ``predict``, or raise.

    >>> require_regressor("estimator", [])
    Traceback (most recent call last):
        ...
    TypeError: estimator must be a regressor with fit and predict, got []
    """
    has = (callable(getattr(value, method, None)) for method in ("fit", "predict", "get_params"))
    if isinstance(value, type) or not all(has):
        raise TypeError(f"{name} must be a regressor with fit and predict, got {shown(value)}")
    return value


def require_transformer(name: str, value: Any) -> Any:
    """Return ``value`` if it has ``fit`` and ``transform``, or raise.

    >>> require_transformer("features", 3)
    Traceback (most recent call last):
        ...
    TypeError: features must be a transformer with fit and transform, got 3
    """
    has = (callable(getattr(value, method, None)) for method in ("fit", "transform", "get_params"))
    if isinstance(value, type) or not all(has):
        raise TypeError(f"{name} must be a transformer with fit and transform, got {shown(value)}")
    return value
