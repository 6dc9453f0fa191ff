"""Columns rounded to the bins of a histogram, for regressors that tell no more values apart.

With ``sample_weight``, scikit-learn looks for each of 255 weighted quantiles of a column anew,
which takes several times as long as the boosting itself; it looks for none where a column has few
values.
"""

from typing import Any

import numpy as np

from multiobs._types import FloatArray


def in_bins(regressor: Any, X: FloatArray) -> FloatArray:
    """Return X (n, d) with no more values a column than the regressor has bins, if it has any.

    Bins are those of quantiles, each with the middle of its values.

    Parameters
    ----------
    regressor : regressor
        One with a parameter ``max_bins`` sees bins only.
    X : ndarray (n, d)
        Positions.

    Examples
    --------
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> x = np.array([[0.0], [1.0], [2.0], [10.0]])
    >>> in_bins(HistGradientBoostingRegressor(max_bins=2), x).ravel().tolist()
    [0.5, 0.5, 6.0, 6.0]
    """
    most = regressor.get_params(deep=False).get("max_bins")
    if most is None:
        return X
    out = X.copy()
    for j, values in enumerate(X.T):
        distinct = np.unique(values)
        if distinct.size <= most:
            continue
        share = np.linspace(0.0, 1.0, most + 1)[1:-1]
        cuts = np.quantile(values, share, method="averaged_inverted_cdf")
        first = np.unique(np.concatenate([[0], np.searchsorted(distinct, cuts, side="right")]))
        first = first[first < distinct.size]
        last = np.append(first[1:], distinct.size) - 1
        middle = distinct[first] + (distinct[last] - distinct[first]) / 2
        out[:, j] = middle[np.searchsorted(distinct[first], values, side="right") - 1]
    return out
