"""
A statistic of your own: the expected range of three draws
==========================================================

One function of (t, 3) labels is all there is to write.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np

from multiobs import MultiObservationRegressor, statistics

BLUE, ORANGE = "#0072B2", "#D55E00"
spread = statistics.mean_of(lambda Y: Y.max(axis=1) - Y.min(axis=1), arity=3, name="range")
rng = np.random.default_rng(0)
x = rng.uniform(0, 1, 1500)
y = np.sin(6 * x) + rng.uniform(0, 1 + x)  # the range of three uniform draws is half the width
model = MultiObservationRegressor(spread, "sliding", transport=None).fit(x[:, None], y)

# %%

grid = np.linspace(0, 1, 50)[:, None]
low, high = model.predict_interval(grid).T
fig, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
axes[0].plot(x, y, ".", ms=3, color=BLUE, alpha=0.5, mew=0)
axes[0].set(xlabel="x", ylabel="y")
axes[1].fill_between(grid[:, 0], low, high, color=ORANGE, alpha=0.2, lw=0, label="95 % limits")
axes[1].plot(grid, model.predict(grid), color=ORANGE, lw=2, label="fitted")
axes[1].plot(grid, (1 + grid) / 2, "--", color="0.3", lw=1, label="true")
axes[1].set(xlabel="x", ylabel="expected range of three draws", ylim=(0, None))
axes[1].legend(frameon=False)
plt.show()
