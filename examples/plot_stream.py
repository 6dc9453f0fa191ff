"""
Rows that arrive in order
=========================

``partial_fit`` keeps one window of rows in memory and equals ``fit`` on all rows so far.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np

from multiobs import MultiObservationRegressor, samplers

BLUE, ORANGE = "#0072B2", "#D55E00"
rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 10, 20_000))
y = np.sin(x) + rng.normal(size=x.size) * np.sqrt(1 + 0.3 * x)
stream = MultiObservationRegressor("variance", samplers.Nearby(0.02), transport=None)
seen, slope = [], []
for part in np.array_split(np.arange(x.size), 100):
    stream.partial_fit(x[part, None], y[part])
    seen.append(part[-1] + 1)
    slope.append(stream.coef_[0])
whole = MultiObservationRegressor("variance", samplers.Nearby(0.02), transport=None)
whole.fit(x[:, None], y)
print(f"slope from the stream {stream.coef_[0]:.6f}, from all rows at once {whole.coef_[0]:.6f}")

# %%

fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.plot(seen[5:], slope[5:], color=ORANGE, lw=2, label="slope so far")
ax.axhline(0.3, color="0.3", ls="--", lw=1, label="true slope")
ax.set(xlabel="rows seen", ylabel="slope of the variance")
ax.legend(frameon=False)
plt.show()
