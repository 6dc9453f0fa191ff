"""
All displays
============

Each picture is a ``Display`` object in the manner of scikit-learn: ``from_estimator``,
``from_predictions`` or ``from_data`` computes and draws, ``plot(ax=...)`` draws again elsewhere.
"""

# %%
# Data: the mean is a sine wave, the variance is the line 0.5 + 2 x.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import SplineTransformer

from multiobs import MultiObservationRegressor, plots, samplers, statistics

rng = np.random.default_rng(0)
n = 1500


def sample(size):
    x = rng.uniform(0, 1, size)
    return x[:, None], 2 * np.sin(8 * x) + np.sqrt(0.5 + 2 * x) * rng.normal(size=size)


X, y = sample(n)
X_new, y_new = sample(n)
model = MultiObservationRegressor("variance").fit(X, y)

# %%
# Data, fitted statistic and band
# -------------------------------
# A variance becomes ribbons of mean ± sd over the data, with the fitted line and its confidence
# band below.

plots.FittedStatisticDisplay.from_estimator(model, X, y, y_unit="cm", x_label="x [s]")

# %%
# A statistic in the units of y that moves with it, such as MINVAR or an upper confidence bound, is
# drawn over the data.

splines = SplineTransformer(n_knots=7, include_bias=False)
bound = MultiObservationRegressor(statistics.ucb(2.0), features=splines).fit(X, y)
plots.FittedStatisticDisplay.from_estimator(bound, X, y, y_unit="cm", x_label="x [s]")

# %%
# Reliability
# -----------
# On held-out rows: what the variance was where it was predicted to be r. This model is calibrated.

plots.ReliabilityDisplay.from_estimator(model, X_new, y_new, y_unit="cm")

# %%
# Murphy diagram
# --------------
# A forecast that is lower at every threshold is better under every consistent loss.

forecasts = {
    "multiobs": model.predict(X_new),
    "constant": np.full(n, 1.5),
}
plots.MurphyDisplay.from_predictions("variance", X_new, y_new, forecasts, y_unit="cm")

# %%
# Which rows were put together
# ----------------------------
# Few rows, so that one sees something.

few = np.arange(40)
plots.MetasamplesDisplay.from_data(
    X[few], y[few], sampler=samplers.Nearby(0.03), y_unit="cm", x_label="x [s]"
)

# %%
# Width of the windows
# --------------------
# Without transport, wide windows count the drift of the mean as variance: the score on held-out
# rows finds the width from which on that matters.

plain = MultiObservationRegressor("variance", transport=None)
plots.EpsilonPathDisplay.from_estimator(plain, X, y, y_unit="cm")

# %%
# Drift bias
# ----------
# The same without any model: the variance that windows of growing width see.

plots.DriftBiasDisplay.from_data("variance", X, y, y_unit="cm")

# %%
# Coefficients
# ------------
# The variance depends on the first two of five columns.

wide = rng.uniform(-1, 1, size=(3000, 5))
noise = np.sqrt(2 + 0.8 * wide[:, 0] - 0.5 * wide[:, 1])
label = wide[:, 2] + noise * rng.normal(size=3000)
linear = MultiObservationRegressor("variance", "nearest").fit(wide, label)
plots.CoefficientDisplay.from_estimator(
    linear, names=["dose", "age", "weight", "height", "hour"], scale=wide.std(axis=0)
)
plt.show()
