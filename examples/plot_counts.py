"""
Counts: more scattered than Poisson?
====================================

The index of dispersion, variance over mean, is one for Poisson counts. Here it grows with x, while
the mean goes up and down.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np

from multiobs import MultiObservationRegressor

BLUE, ORANGE = "#0072B2", "#D55E00"
rng = np.random.default_rng(0)
x = rng.uniform(0, 1, 3000)
mean = 10 + 5 * np.sin(6 * x)
index = 1 + 2 * x
counts = rng.negative_binomial(mean / (index - 1 + 1e-9), 1 / index).astype(float)
model = MultiObservationRegressor("dispersion_index").fit(x[:, None], counts)
print(model.summary())
print(f"Poisson everywhere: p = {model.wald_test(np.eye(2), q=[1.0, 0.0]).p_value:.1g}")

# %%

grid = np.linspace(0, 1, 100)[:, None]
low, high = model.predict_interval(grid).T
fig, axes = plt.subplots(2, 1, figsize=(7, 5), sharex=True, layout="constrained")
axes[0].plot(x, counts, ".", ms=3, color=BLUE, alpha=0.4, mew=0)
axes[0].set(ylabel="count")
axes[1].fill_between(grid[:, 0], low, high, color=ORANGE, alpha=0.2, lw=0, label="95 % limits")
axes[1].plot(grid, model.predict(grid), color=ORANGE, lw=2, label="fitted")
axes[1].plot(grid, 1 + 2 * grid, "--", color="0.3", lw=1, label="true")
axes[1].axhline(1, color="0.7", lw=1)
axes[1].set(xlabel="x", ylabel="variance / mean", ylim=(0, None))
axes[1].legend(frameon=False)
plt.show()
