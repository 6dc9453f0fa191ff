"""The estimator: scikit-learn's conventions around the rooms that do the work."""

from multiobs.estimator.diagnostics import MetasampleReport, metasample_report
from multiobs.estimator.listing import Metasamples, metasamples
from multiobs.estimator.regressor import MultiObservationRegressor

__all__ = [
    "MetasampleReport",
    "Metasamples",
    "MultiObservationRegressor",
    "metasample_report",
    "metasamples",
]
