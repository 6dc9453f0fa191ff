"""
Outliers: Gini's mean difference beside the standard deviation
==============================================================

Two per cent of the labels are wild. Squares make them decide; Gini's mean difference, the expected
distance of two draws, gives them the weight of any other row.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np

from multiobs import MultiObservationRegressor

BLUE, ORANGE = "#0072B2", "#D55E00"
TO_SD = np.sqrt(np.pi) / 2  # for a normal law
grid = np.linspace(0, 1, 50)[:, None]
fitted = {"standard_deviation": [], "gini_mean_difference": []}
for seed in range(25):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 1, (600, 1))
    y = np.sin(6 * x[:, 0]) + rng.normal(size=600) * (0.5 + x[:, 0])
    y[rng.random(600) < 0.02] += 12.0
    for name in fitted:
        value = MultiObservationRegressor(name).fit(x, y).predict(grid)
        fitted[name].append(value * (TO_SD if name.startswith("gini") else 1.0))

# %%

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for (name, values), colour in zip(fitted.items(), (BLUE, ORANGE), strict=True):
    low, middle, high = np.percentile(values, [10, 50, 90], axis=0)
    ax.fill_between(grid[:, 0], low, high, color=colour, alpha=0.2, lw=0)
    ax.plot(grid, middle, color=colour, lw=2, label=name.replace("_", " "))
    print(f"{name:22s} at x = 0.5: {middle[25]:.2f} ({low[25]:.2f} to {high[25]:.2f})")
ax.plot(grid, 0.5 + grid, "--", color="0.3", lw=1, label="sd without outliers")
ax.set(xlabel="x", ylabel="spread, as a standard deviation", ylim=(0, None))
ax.legend(frameon=False)
plt.show()
