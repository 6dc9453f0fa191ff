"""Standard errors, intervals and tests for linear coefficients under shared labels."""

from multiobs.inference.covariance import Covariance, Record, covariance
from multiobs.inference.fitted import Inference
from multiobs.inference.intervals import Skewness, limits, quantile
from multiobs.inference.wald import TestResult, varying_directions, wald

__all__ = [
    "Covariance",
    "Inference",
    "Record",
    "Skewness",
    "TestResult",
    "covariance",
    "limits",
    "quantile",
    "varying_directions",
    "wald",
]
