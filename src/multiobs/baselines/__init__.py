"""Competitors: the paper's two, and the two that a practitioner would really use."""

from multiobs.baselines._empirical import EmpiricalStatisticRegressor, replicate_design
from multiobs.baselines._local import LocalPlugInRegressor
from multiobs.baselines._plug_in import plug_in
from multiobs.baselines._residual import ResidualRegressor
from multiobs.baselines._two_moment import TwoMomentRegressor

__all__ = [
    "EmpiricalStatisticRegressor",
    "LocalPlugInRegressor",
    "ResidualRegressor",
    "TwoMomentRegressor",
    "plug_in",
    "replicate_design",
]
