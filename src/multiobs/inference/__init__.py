"""Standard errors, intervals and tests of fits whose metasamples share labels."""

from multiobs.inference import bootstrap
from multiobs.inference.blocks import drawn_blocks, overlap_sums
from multiobs.inference.fitted import Inference
from multiobs.inference.intervals import Method, Skewness, limits, quantile
from multiobs.inference.parts import (
    Leverages,
    covariance_by_parts,
    leverage_sums,
    leverages,
    score_sums,
)
from multiobs.inference.sandwich import Covariance, covariance
from multiobs.inference.shrinking import shrink
from multiobs.inference.summary import Summary, coefficient_table
from multiobs.inference.undersmooth import undersmoothed
from multiobs.inference.wald import TestResult, varying_directions, wald

__all__ = [
    "Covariance",
    "Inference",
    "Leverages",
    "Method",
    "Skewness",
    "Summary",
    "TestResult",
    "bootstrap",
    "coefficient_table",
    "covariance",
    "covariance_by_parts",
    "drawn_blocks",
    "leverage_sums",
    "leverages",
    "limits",
    "overlap_sums",
    "quantile",
    "score_sums",
    "shrink",
    "undersmoothed",
    "varying_directions",
    "wald",
]
