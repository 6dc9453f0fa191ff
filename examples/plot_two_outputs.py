"""
Do two outputs move together? Covariance and Kendall's tau
==========================================================

Two labels at each x. Their covariance given x changes sign, while over the whole table they look
unrelated.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np

from multiobs import MultiObservationRegressor

BLUE, ORANGE = "#0072B2", "#D55E00"
rng = np.random.default_rng(0)
x = rng.uniform(-1, 1, 3000)
first = rng.normal(size=3000)
second = 0.9 * x * first + np.sqrt(1 - (0.9 * x) ** 2) * rng.normal(size=3000)
Y = np.column_stack([np.sin(3 * x) + first, second])
print(f"correlation over all rows {np.corrcoef(Y.T)[0, 1]:.2f}")

grid = np.linspace(-1, 1, 100)[:, None]
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for name, colour in (("covariance", ORANGE), ("kendall_tau", BLUE)):
    model = MultiObservationRegressor(name).fit(x[:, None], Y)
    low, high = model.predict_interval(grid).T
    ax.fill_between(grid[:, 0], low, high, color=colour, alpha=0.2, lw=0)
    ax.plot(grid, model.predict(grid), color=colour, lw=2, label=name.replace("_", " "))
ax.plot(grid, 0.9 * grid, "--", color="0.3", lw=1, label="true covariance")
ax.set(xlabel="x", ylabel="dependence of the two outputs given x")
ax.legend(frameon=False)
plt.show()
