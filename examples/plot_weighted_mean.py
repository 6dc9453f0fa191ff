"""
A better mean from a fitted variance
====================================

Weighted least squares needs the variance at each x. Fitted directly, it makes the slope of a mean
more precise; how much, 60 tables tell.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import SplineTransformer

from multiobs import MultiObservationRegressor

BLUE, ORANGE = "#0072B2", "#D55E00"
slopes = {"least squares": [], "weighted by the fitted variance": []}
for seed in range(60):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 1, (300, 1))
    y = x[:, 0] + rng.normal(size=300) * (0.2 + 2 * x[:, 0] ** 2)
    spread = MultiObservationRegressor(
        "gini_mean_difference", features=SplineTransformer(3, degree=2, include_bias=False)
    ).fit(x, y)
    weight = 1 / np.maximum(spread.predict(x), 0.05) ** 2
    for name, w in zip(slopes, (None, weight), strict=True):
        slopes[name].append(LinearRegression().fit(x, y, sample_weight=w).coef_[0])

# %%

fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
bins = np.linspace(0.2, 1.8, 30)
for (name, values), colour in zip(slopes.items(), (BLUE, ORANGE), strict=True):
    print(f"{name}: slope {np.mean(values):.2f}, standard deviation {np.std(values):.3f}")
    ax.hist(values, bins, color=colour, alpha=0.5, label=name)
ax.axvline(1, color="0.3", ls="--", lw=1)
ax.set(xlabel="estimated slope of the mean (true value 1)", ylabel="tables")
ax.legend(frameon=False)
plt.show()
