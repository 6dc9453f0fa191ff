"""Pilots of the mean and the spread, and labels moved along them to the representative."""

from multiobs.transport import basis
from multiobs.transport.bins import in_bins
from multiobs.transport.memory import PilotFit, PilotMemory
from multiobs.transport.pilots import Piloted, completed, fit_pilot, one_thread, spread_folds
from multiobs.transport.residuals import (
    LocationScale,
    Residuals,
    ScalePilot,
    Transport,
    fit_scale_pilot,
    leverage_corrected,
    residuals_of,
)
from multiobs.transport.spline import SplinePilot

__all__ = [
    "LocationScale",
    "PilotFit",
    "PilotMemory",
    "Piloted",
    "Residuals",
    "ScalePilot",
    "SplinePilot",
    "Transport",
    "basis",
    "completed",
    "fit_pilot",
    "fit_scale_pilot",
    "in_bins",
    "leverage_corrected",
    "one_thread",
    "residuals_of",
    "spread_folds",
]
