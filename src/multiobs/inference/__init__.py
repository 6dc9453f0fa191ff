"""Standard errors, intervals and tests of fits whose metasamples share labels."""

from multiobs.inference import bootstrap
from multiobs.inference.additive import AdditiveFit, Pair, Part, fit_part
from multiobs.inference.blocks import drawn_blocks, overlap_sums
from multiobs.inference.curve import Curve, CurvePart
from multiobs.inference.deciding import RowInfluence
from multiobs.inference.dependence import Dependence, dependence_of
from multiobs.inference.doubts import Doubts, doubts_about
from multiobs.inference.few_rows import free_rows
from multiobs.inference.fitted import Inference, unit_rows
from multiobs.inference.hypotheses import TestResult, varying_directions, wald
from multiobs.inference.interactions import interacting_pairs
from multiobs.inference.intervals import Method, Skewness, holding, limits, quantile
from multiobs.inference.leaf_parts import drawn_scores, row_scores, scores_of_rows
from multiobs.inference.parts import (
    Leverages,
    covariance_by_parts,
    leverage_sums,
    leverages,
    score_sums,
    variance_by_parts,
)
from multiobs.inference.sandwich import Covariance, covariance, hessian_of, rank_of
from multiobs.inference.shares import Shares, n_packed
from multiobs.inference.shrinking import shrink
from multiobs.inference.summary import Summary, coefficient_table, range_of
from multiobs.inference.terms import (
    PartialEffect,
    TermSummary,
    TermTest,
    constant_test,
    partial_effects,
    term_tests,
)
from multiobs.inference.undersmooth import undersmoothed

__all__ = [
    "AdditiveFit",
    "Covariance",
    "Curve",
    "CurvePart",
    "Dependence",
    "Doubts",
    "Inference",
    "Leverages",
    "Method",
    "Pair",
    "Part",
    "PartialEffect",
    "RowInfluence",
    "Shares",
    "Skewness",
    "Summary",
    "TermSummary",
    "TermTest",
    "TestResult",
    "bootstrap",
    "coefficient_table",
    "constant_test",
    "covariance",
    "covariance_by_parts",
    "drawn_blocks",
    "leverage_sums",
    "leverages",
    "dependence_of",
    "doubts_about",
    "free_rows",
    "hessian_of",
    "holding",
    "interacting_pairs",
    "limits",
    "n_packed",
    "overlap_sums",
    "fit_part",
    "partial_effects",
    "quantile",
    "range_of",
    "rank_of",
    "drawn_scores",
    "score_sums",
    "row_scores",
    "scores_of_rows",
    "variance_by_parts",
    "shrink",
    "term_tests",
    "undersmoothed",
    "unit_rows",
    "varying_directions",
    "wald",
]
