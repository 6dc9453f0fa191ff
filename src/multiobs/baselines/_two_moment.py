"""The paper's first competitor: regress y and y squared, then combine the two."""

from typing import Any, Self, final

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from multiobs import _check
from multiobs._check.estimators import require_regressor
from multiobs._types import FloatArray
from multiobs.baselines._base import Baseline, positive_variance
from multiobs.baselines._moments import required_moments
from multiobs.statistics import Statistic


@final
class TwoMomentRegressor(Baseline):
    r"""Regress Y and Y squared on X, then combine: the paper's "2mom linear" and "2mom quad".

    With :math:`\hat m_1, \hat m_2` the two fitted regressions the variance is :math:`\hat m_2 -
    \hat m_1^2`, and the statistic the function of mean and variance that it is.

    Parameters
    ----------
    statistic : str or Statistic
        Variance, standard deviation, UCB, dispersion index, squared coefficient of variation.
    degree : int, default=1
        Degree of the polynomials in x, 1 or 2 in the paper.
    estimator : regressor, optional
        Any scikit-learn regressor in place of the polynomials, cloned for each moment.

    Attributes
    ----------
    moments_ : list of fitted regressors
        Of Y and of Y squared around the mean of all labels; polynomials have one for both.

    Notes
    -----
    Section "Experiments" of the paper. A variance that comes out negative has no root: where the
    statistic needs one, zero is used and a warning says how often.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 200)[:, None]
    >>> y = np.tile([-1.0, 1.0], 100)
    >>> TwoMomentRegressor("variance").fit(x, y).predict(x[:1]).round(2)
    array([1.])
    """

    def __init__(
        self, statistic: str | Statistic = "variance", degree: int = 1, estimator: Any = None
    ) -> None:
        self.statistic = statistic
        self.degree = degree
        self.estimator = estimator

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Self:
        """Fit both moments to X of shape (n, d) and y of shape (n,)."""
        data, labels, what = self._checked(X, y)
        required_moments("TwoMomentRegressor", what)
        self._what = what
        degree = _check.integer("degree", self.degree, low=1)
        # The variance is the same around any origin, and around the mean no digits cancel. A class
        # that holds the constants makes this the paper's estimator, up to rounding.
        self._origin = float(labels.mean())
        targets = np.column_stack([labels - self._origin, (labels - self._origin) ** 2])
        if self.estimator is not None:
            each = require_regressor("estimator", self.estimator)
            self.moments_ = [clone(each).fit(data, target) for target in targets.T]
        elif degree == 1:
            self.moments_ = [LinearRegression().fit(data, targets)]
        else:
            powers = PolynomialFeatures(degree, include_bias=False)
            self.moments_ = [make_pipeline(powers, LinearRegression()).fit(data, targets)]
        return self

    def _predict(self, X: FloatArray) -> FloatArray:
        mean, second = np.column_stack([model.predict(X) for model in self.moments_]).T
        variance = second - mean**2
        function = required_moments("TwoMomentRegressor", self._what)
        if function.rooted:
            variance = positive_variance("TwoMomentRegressor", variance, 0.0)
        return function.value(mean + self._origin, variance)
