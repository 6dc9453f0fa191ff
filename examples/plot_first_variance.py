"""
A variance with its interval
============================

The mean is a sine wave, which nobody tells the model; the variance is the line 0.5 + x.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np

from multiobs import MultiObservationRegressor, plots

rng = np.random.default_rng(0)
x = rng.uniform(0, 1, 2000)
y = np.sin(4 * np.pi * x) + rng.normal(0, np.sqrt(0.5 + x))
model = MultiObservationRegressor("variance").fit(x[:, None], y)
print(model.summary())

# %%
# The band is a 95 % confidence interval of the variance at each x.

plots.FittedStatisticDisplay.from_estimator(model, x[:, None], y)
plt.show()
