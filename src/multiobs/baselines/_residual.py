"""What a practitioner does about the variance: smooth the mean, regress squared residuals."""

from typing import Any, Self, final

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.model_selection import KFold, cross_val_predict

from multiobs._check.estimators import require_regressor
from multiobs._types import FloatArray
from multiobs.baselines._base import Baseline, chosen
from multiobs.baselines._moments import required_moments
from multiobs.statistics import Statistic
from multiobs.transport.spline import SplinePilot

_VARIANCE_FLOOR = 0.05  # of the mean variance, for the roots of a smoothed variance


@final
class ResidualRegressor(Baseline):
    r"""Fit a flexible mean, correct its squared residuals for degrees of freedom, regress on them.

    With :math:`\hat m` the mean and :math:`e_i^2 = (y_i - \hat m(x_i))^2 / (1 - 2h_{ii} +
    (HH')_{ii})` the corrected squared residuals, the variance is the regression of
    :math:`e_i^2` on x. A statistic :math:`g(m, v)` of mean and variance is the regression of its
    one-step value

    .. math:: g(\hat m, \hat v) + g_m \cdot (y - \hat m) + g_v \cdot (e^2 - \hat v),

    with :math:`\hat v` a smooth of the :math:`e_i^2`: the errors of both smooths then matter only
    to second order.

    Parameters
    ----------
    statistic : str or Statistic
        Variance, standard deviation, UCB, dispersion index, squared coefficient of variation.
    mean_estimator : "auto" or regressor, default="auto"
        "auto" is a smoothing spline in one column and a sum of them in several, penalties chosen
        by generalised cross-validation. Any other regressor is predicted out of fold (5 folds),
        which is its correction for overfitting.
    estimator : regressor, optional
        The hypothesis class of the statistic; linear functions by default.

    Attributes
    ----------
    estimator_ : the fitted regressor.
    mean_ : fitted SplinePilot or regressor of the mean.

    Notes
    -----
    Not in the paper, which compares itself with moments of a misspecified class only.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(2000)
    >>> y = np.sin(12 * x) + (1 + x) * rng.standard_normal(2000)
    >>> model = ResidualRegressor("variance").fit(x[:, None], y)
    >>> bool(np.all(np.abs(model.predict([[0.0], [1.0]]) - [0.7, 3.7]) < 0.5))
    True
    """

    def __init__(
        self,
        statistic: str | Statistic = "variance",
        mean_estimator: Any = "auto",
        estimator: Any = None,
    ) -> None:
        self.statistic = statistic
        self.mean_estimator = mean_estimator
        self.estimator = estimator

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Self:
        """Fit the mean, then the statistic, to X of shape (n, d) and y of shape (n,)."""
        data, labels, what = self._checked(X, y)
        function = required_moments("ResidualRegressor", what)
        if len(labels) < 2:
            raise ValueError(f"ResidualRegressor needs at least 2 rows, got {len(labels)} sample")
        mean, squared = self._mean(data, labels)
        if function.linear:
            target = function.value(labels, squared)  # its one-step value, without any smooth
        else:
            smooth = SplinePilot().fit(data, squared).predict(data)
            average = float(squared.mean())
            if average == 0.0:  # noiseless labels: nothing to correct
                target = function.value(mean, np.zeros_like(mean))
            else:
                variance = np.maximum(smooth, _VARIANCE_FLOOR * average)
                target = (
                    function.value(mean, variance)
                    + function.d_mean(mean, variance) * (labels - mean)
                    + function.d_variance(mean, variance) * (squared - variance)
                )
        model = chosen("estimator", self.estimator)
        self.estimator_ = model.fit(data, target)
        return self

    def _mean(self, X: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Fitted mean at the rows and squared residuals, both corrected for overfitting."""
        if isinstance(self.mean_estimator, str):
            if self.mean_estimator != "auto":
                raise ValueError(
                    f"mean_estimator must be 'auto' or a regressor, got {self.mean_estimator!r}"
                )
            self.mean_ = SplinePilot().fit(X, y)
            mean = self.mean_.predict(X)
            # A row with a leverage of one has no residual; it must not become 0/0.
            share = np.maximum(self.mean_.residual_share(X), 1e-3)
            return mean, (y - mean) ** 2 / share
        self.mean_ = clone(require_regressor("mean_estimator", self.mean_estimator)).fit(X, y)
        folds = KFold(min(5, len(y)), shuffle=True, random_state=0)
        outside = cross_val_predict(clone(self.mean_estimator), X, y, cv=folds)
        return np.asarray(outside, dtype=np.float64), (y - outside) ** 2

    def _predict(self, X: FloatArray) -> FloatArray:
        return np.asarray(self.estimator_.predict(X), dtype=np.float64)
