"""The one place that knows scikit-learn 1.5 from later versions."""

from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight, check_non_negative

from multiobs._types import FloatArray

__all__ = ["check_sample_weight", "validate_data"]

try:
    from sklearn.utils.validation import validate_data as _validate
except ImportError:  # scikit-learn 1.5 has it as a method of the estimator

    def _validate(estimator: Any, /, *data: Any, **how: Any) -> Any:
        return estimator._validate_data(*data, **how)


def validate_data(estimator: Any, /, *data: Any, **how: Any) -> Any:
    """Validate input and set or check ``n_features_in_`` and ``feature_names_in_``."""
    return _validate(estimator, *data, **how)


def check_sample_weight(weight: Any, X: FloatArray) -> FloatArray:
    """Weights of the rows of X as floats, (n,), none of them negative."""
    # Not by _check_sample_weight's own option, whose name changed after scikit-learn 1.5.
    checked: FloatArray = _check_sample_weight(weight, X, dtype=np.float64)
    check_non_negative(checked, "`sample_weight`")
    return checked
