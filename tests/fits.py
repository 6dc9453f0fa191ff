"""What tests of the estimator share."""

import warnings

import numpy as np

from multiobs import MultiObservationRegressor


def paper(statistic, sampler, **options):
    """The paper's estimator: no transport."""
    options = {"random_state": 0, **options}
    return MultiObservationRegressor(statistic, sampler, transport=None, **options)


def fit_quietly(estimator, X, y, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(X, y, **more)


def coefficients(fitted):
    return np.append(fitted.intercept_, fitted.coef_)
