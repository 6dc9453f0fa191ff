"""Inverse questions: which sample size, which labels to buy, which design.

:func:`sample_size`, :func:`label_budget` and :func:`guarantee` turn the theorems of
:mod:`multiobs.bounds` around; :class:`LabelPlan` chooses rows of an unlabelled pool and collects
their labels; :func:`replicates_design` spends a budget when an x can be labelled repeatedly;
:func:`compare_designs` sets all of this beside each other, and :func:`simulate` measures what
really happens on a law like the user's own, because the bounds are loose.
"""

from .comparison import DesignComparison, DesignRow, compare_designs
from .labels import LabelPlan
from .problem import BoundedProblem
from .replicates import (
    ReplicateDesign,
    replicates_design,
    u_statistic_variance,
    variance_components,
)
from .simulation import KnownLaw, SimulatedSize, Simulation, simulate, simulated_size
from .sizes import SampleSize, guarantee, label_budget, sample_size

__all__ = [
    "DesignComparison",
    "DesignRow",
    "KnownLaw",
    "SimulatedSize",
    "Simulation",
    "compare_designs",
    "simulate",
    "simulated_size",
    "LabelPlan",
    "BoundedProblem",
    "ReplicateDesign",
    "SampleSize",
    "guarantee",
    "label_budget",
    "replicates_design",
    "sample_size",
    "u_statistic_variance",
    "variance_components",
]
