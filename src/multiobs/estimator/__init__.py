"""The estimator: scikit-learn's conventions around the rooms that do the work."""

from multiobs.estimator.diagnostics import MetasampleReport, metasample_report
from multiobs.estimator.fitted import FitPlan, Fitted
from multiobs.estimator.listing import Metasamples, metasamples
from multiobs.estimator.messages import warn_of, warn_of_cost
from multiobs.estimator.regressor import MultiObservationRegressor
from multiobs.estimator.replicated import ClusterLabels
from multiobs.estimator.selection import Candidate, ClassScores, candidates

__all__ = [
    "Candidate",
    "ClassScores",
    "ClusterLabels",
    "FitPlan",
    "Fitted",
    "MetasampleReport",
    "Metasamples",
    "MultiObservationRegressor",
    "candidates",
    "metasample_report",
    "metasamples",
    "warn_of",
    "warn_of_cost",
]
