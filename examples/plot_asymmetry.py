"""
Which side has the longer tail?
===============================

The third central moment given x, from triples of neighbours: negative where bad surprises are
larger than good ones.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np

from multiobs import MultiObservationRegressor, statistics

BLUE, ORANGE = "#0072B2", "#D55E00"
rng = np.random.default_rng(0)
x = rng.uniform(-1, 1, 4000)
tail = rng.exponential(size=4000) - 1  # third central moment 2
y = np.cos(4 * x) + np.cbrt(x) * tail + 0.3 * rng.normal(size=4000)
model = MultiObservationRegressor(statistics.central_moment(3)).fit(x[:, None], y)
print(model.summary())

# %%

grid = np.linspace(-1, 1, 100)[:, None]
low, high = model.predict_interval(grid).T
fig, axes = plt.subplots(2, 1, figsize=(7, 5), sharex=True, layout="constrained")
axes[0].plot(x, y, ".", ms=3, color=BLUE, alpha=0.4, mew=0)
axes[0].set(ylabel="y")
axes[1].fill_between(grid[:, 0], low, high, color=ORANGE, alpha=0.2, lw=0, label="95 % limits")
axes[1].plot(grid, model.predict(grid), color=ORANGE, lw=2, label="fitted")
axes[1].plot(grid, 2 * grid, "--", color="0.3", lw=1, label="true")
axes[1].set(xlabel="x", ylabel="third central moment")
axes[1].legend(frameon=False)
plt.show()
