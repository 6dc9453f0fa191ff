"""
Scoring a predicted variance on held-out data
=============================================

A predicted mean is scored by its squared error. A predicted *variance* has nothing to be compared
with: no row shows its own variance. The loss of two observations that elicits the variance is the
score, and it takes any prediction, ours or a peer's.
"""

# %%
# Four predictions of one variance
# --------------------------------
# The mean is a sine wave, the variance is 0.5 + 2 x. The rows that score were seen by no model.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.preprocessing import SplineTransformer

from multiobs import MultiObservationRegressor, baselines, plots, scoring

rng = np.random.default_rng(0)


def sample(n):
    x = rng.uniform(0, 1, n)
    return x[:, None], 2 * np.sin(12 * x) + np.sqrt(0.5 + 2 * x) * rng.normal(size=n)


X, y = sample(5000)
X_new, y_new = sample(5000)
truth = 0.5 + 2 * X_new[:, 0]

mean = HistGradientBoostingRegressor(random_state=0).fit(X, y)
spread = HistGradientBoostingRegressor(random_state=0).fit(X, (y - mean.predict(X)) ** 2)
forecasts = {
    "multiobs": MultiObservationRegressor("variance").fit(X, y).predict(X_new),
    "residuals": baselines.ResidualRegressor("variance").fit(X, y).predict(X_new),
    "boosted trees": spread.predict(X_new),
    "constant": np.full(5000, np.mean(0.5 * np.diff(y[np.argsort(X[:, 0])]) ** 2)),
    "10 % too high": 1.1 * truth,
    "true": truth,
}
table = scoring.compare("variance", X_new, y_new, forecasts)
print(table)

# %%
# Differences of the scores estimate differences of the mean squared error to the truth, which
# here is known:

for name in table.names:
    error = np.mean((forecasts[name] - truth) ** 2)
    print(f"{name:15s} true mean squared error {error:.4f}")

# %%
# Standard errors know that neighbouring metasamples share labels. A pair of forecasts:

gap = table.difference("multiobs", "boosted trees")
print(f"{gap.difference:.4f} ± {gap.se:.4f}, p = {gap.p:.2g}")

# %%
# Scores that weigh relative errors
# ---------------------------------
# QLIKE (the gamma loss) is consistent for positive statistics.

positive = {name: values for name, values in forecasts.items() if values.min() > 0}
print(scoring.compare("variance", X_new, y_new, positive, loss="gamma"))

# %%
# Why is a score what it is?
# --------------------------

for name in ("multiobs", "boosted trees", "10 % too high", "constant"):
    print(f"{name:15s} {scoring.decompose('variance', X_new, y_new, forecasts[name])}")
print(scoring.calibration_test("variance", X_new, y_new, forecasts["10 % too high"]))

# %%

fig, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
for ax, name in zip(axes, ("multiobs", "boosted trees"), strict=True):
    plots.ReliabilityDisplay.from_predictions(
        "variance", X_new, y_new, forecasts[name], name=name, ax=ax
    )

# %%

shown = {name: forecasts[name] for name in ("multiobs", "boosted trees")}
plots.MurphyDisplay.from_predictions("variance", X_new, y_new, shown)

# %%
# In scikit-learn's tools
# -----------------------
# The scorer builds metasamples inside each held-out fold, so that no label is on both sides.

scorer = scoring.make_scorer("variance")
model = MultiObservationRegressor("variance", features=SplineTransformer(include_bias=False))
print(cross_val_score(model, X, y, cv=5, scoring=scorer).round(3))
search = GridSearchCV(model, {"features__n_knots": [2, 4, 8, 16]}, scoring=scorer, cv=5).fit(X, y)
print(search.best_params_)
plt.show()
