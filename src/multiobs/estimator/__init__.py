"""The estimator: scikit-learn's conventions around the rooms that do the work."""

from multiobs.estimator.diagnostics import MetasampleReport, metasample_report
from multiobs.estimator.fitted import FitPlan, Fitted
from multiobs.estimator.intervals import ClusterLabels
from multiobs.estimator.listing import Metasamples, metasamples
from multiobs.estimator.messages import warn_of
from multiobs.estimator.regressor import MultiObservationRegressor

__all__ = [
    "ClusterLabels",
    "FitPlan",
    "Fitted",
    "MetasampleReport",
    "Metasamples",
    "MultiObservationRegressor",
    "metasample_report",
    "metasamples",
    "warn_of",
]
