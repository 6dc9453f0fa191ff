"""Standard errors, intervals and tests of fits whose metasamples share labels."""

from multiobs.inference import bootstrap
from multiobs.inference.fitted import Inference
from multiobs.inference.intervals import Method, Skewness, limits, quantile
from multiobs.inference.sandwich import Covariance, covariance
from multiobs.inference.shrinking import shrink
from multiobs.inference.summary import Summary, coefficient_table
from multiobs.inference.undersmooth import undersmoothed
from multiobs.inference.wald import TestResult, varying_directions, wald

__all__ = [
    "Covariance",
    "Inference",
    "Method",
    "Skewness",
    "Summary",
    "TestResult",
    "bootstrap",
    "coefficient_table",
    "covariance",
    "limits",
    "quantile",
    "shrink",
    "undersmoothed",
    "varying_directions",
    "wald",
]
