"""
Prediction intervals that follow x: conformal calibration
=========================================================

A fitted spread (here Gini's mean difference) says how wide a prediction interval should be
*relative to other x*.
Split-conformal calibration makes the coverage right: whatever the law, 90 % of new labels fall
inside on average.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import SplineTransformer

from multiobs import MultiObservationRegressor

BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
rng = np.random.default_rng(0)


def sample(n):
    x = rng.uniform(0, 1, n)
    return x[:, None], np.sin(6 * x) + (0.1 + x) * rng.standard_t(5, n)


X, y = sample(2000)
X_held, y_held = sample(1000)
X_new, y_new = sample(5000)
curve = SplineTransformer(n_knots=8, include_bias=False)
mean = MultiObservationRegressor("mean", features=curve).fit(X, y)
spread = MultiObservationRegressor("gini_mean_difference").fit(X, y)


def quantile(score, level=0.9):
    """Rank that split-conformal calibration asks for."""
    return np.sort(score)[int(np.ceil(level * (score.size + 1))) - 1]


error = np.abs(y_held - mean.predict(X_held))
constant = quantile(error)
scaled = quantile(error / spread.predict(X_held))

# %%
# Both cover 90 % on average. The constant width is too wide on the left and too narrow on the
# right.

new_error = np.abs(y_new - mean.predict(X_new))
left = X_new[:, 0] < 0.25
right = X_new[:, 0] > 0.75
for name, width in (("constant", constant), ("scaled", scaled * spread.predict(X_new))):
    inside = new_error <= width
    print(
        f"{name:9s} all {inside.mean():.1%}, left {inside[left].mean():.1%}, "
        f"right {inside[right].mean():.1%}"
    )

grid = np.linspace(0, 1, 200)[:, None]
middle, width = mean.predict(grid), scaled * spread.predict(grid)
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(X_new[:1000, 0], y_new[:1000], ".", ms=3, color=BLUE, alpha=0.4, mew=0)
ax.fill_between(
    grid[:, 0],
    middle - width,
    middle + width,
    color=ORANGE,
    alpha=0.25,
    lw=0,
    label="90 %, scaled by the fitted spread",
)
for sign in (-1, 1):
    ax.plot(
        grid,
        middle + sign * constant,
        "--",
        color=GREEN,
        lw=1.2,
        label="90 %, constant width" if sign > 0 else None,
    )
ax.set(xlabel="x", ylabel="y")
ax.legend(frameon=False, loc="upper left")
plt.show()
