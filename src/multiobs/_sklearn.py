"""The one place that knows scikit-learn 1.5 from later versions."""

from typing import Any

__all__ = ["validate_data"]

try:
    from sklearn.utils.validation import validate_data as _validate
except ImportError:  # scikit-learn 1.5 has it as a method of the estimator

    def _validate(estimator: Any, /, *data: Any, **how: Any) -> Any:
        return estimator._validate_data(*data, **how)


def validate_data(estimator: Any, /, *data: Any, **how: Any) -> Any:
    """Validate input and set or check ``n_features_in_`` and ``feature_names_in_``."""
    return _validate(estimator, *data, **how)
