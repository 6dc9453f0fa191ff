"""
A variance as a curve: smooth classes
=====================================

``features="smooth"`` is a sum of penalised splines, one for each column, whose smoothness is found
for the loss of several observations. The variance stays positive by construction (a log link), each
term has a band and a test, and a column that does not matter is smoothed away.
"""

# %%
# One column
# ----------
# The scatter has a bump. A line cannot follow it; the smooth class finds it without being told.

import matplotlib.pyplot as plt
import numpy as np

from multiobs import MultiObservationRegressor, plots

rng = np.random.default_rng(4)
x = rng.uniform(0, 1, 1500)


def variance(x):
    return 0.3 + 1.5 * np.exp(-0.5 * ((x - 0.6) / 0.1) ** 2)


y = np.cos(7 * x) + rng.normal(size=1500) * np.sqrt(variance(x))
line = MultiObservationRegressor("variance").fit(x[:, None], y)
curve = MultiObservationRegressor("variance", features="smooth").fit(x[:, None], y)

at = np.linspace(0, 1, 200)[:, None]
low, high = curve.predict_interval(at).T
fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.fill_between(at[:, 0], low, high, color="#0072B2", alpha=0.2, lw=0, label="95 % band")
ax.plot(at, curve.predict(at), color="#0072B2", label="smooth")
ax.plot(at, line.predict(at), color="#D55E00", label="line")
ax.plot(at, variance(at), color="black", ls="--", lw=1, label="truth")
ax.set(xlabel="x", ylabel="variance of y", ylim=(0, None))
ax.legend(frameon=False)

# %%
# Several columns
# ---------------
# Effects on the log of the variance add up. Column x1 moves the mean only, column x2 nothing.

X = rng.uniform(0, 1, (2000, 3))
spread = np.exp(np.sin(6 * X[:, 0]))
z = 3 * X[:, 1] ** 2 + rng.normal(size=2000) * np.sqrt(spread)
model = MultiObservationRegressor("variance", features="smooth", random_state=0).fit(X, z)
print(model.summary())

# %%
# Partial effects, each with its band: what a column does to the variance, the others held.

display = plots.PartialEffectsDisplay.from_estimator(model)
display.figure_.set_size_inches(8, 3)
plt.show()
