"""
Any regressor as the class: boosted trees for a variance
========================================================

``estimator=`` takes any scikit-learn regressor with sample weights, LightGBM's among them. A gamma
loss keeps the variance positive.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from multiobs import MultiObservationRegressor

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, (6000, 2))


def variance(X):
    return 0.3 + 2.0 * (np.hypot(X[:, 0], X[:, 1]) < 0.6)


y = 3 * X[:, 0] + rng.normal(size=6000) * np.sqrt(variance(X))
trees = HistGradientBoostingRegressor(
    loss="gamma", learning_rate=0.05, max_iter=80, min_samples_leaf=60, random_state=0
)
model = MultiObservationRegressor("variance", estimator=trees).fit(X, y)

# %%

axis = np.linspace(-1, 1, 80)
grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
fig, axes = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained", sharey=True)
for ax, values, title in (
    (axes[0], variance(grid), "true variance"),
    (axes[1], model.predict(grid), "fitted"),
):
    image = ax.pcolormesh(axis, axis, values.reshape(80, 80), vmin=0, vmax=2.6)
    ax.set(title=title, aspect="equal", xlabel="x0")
axes[0].set_ylabel("x1")
fig.colorbar(image, ax=axes)
print(f"correlation with the truth {np.corrcoef(variance(grid), model.predict(grid))[0, 1]:.2f}")
plt.show()
