"""
Ten columns, one of which matters
=================================

The mean depends on two columns, the variance on a third; seven are noise. Rows count as neighbours
when they share leaves of trees grown on other rows' labels.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np

from multiobs import MultiObservationRegressor, plots

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, (3000, 10))
y = 2 * X[:, 0] + np.sin(3 * X[:, 1]) + rng.normal(size=3000) * np.sqrt(1.2 + X[:, 2])
model = MultiObservationRegressor("variance").fit(X, y)
print(model.plan_)

# %%

plots.CoefficientDisplay.from_estimator(model)
plt.show()
