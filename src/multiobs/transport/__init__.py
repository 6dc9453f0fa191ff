"""Pilots of the mean and the spread, and labels moved along them to the representative."""

from multiobs.transport.pilots import fit_pilot
from multiobs.transport.residuals import (
    LocationScale,
    Residuals,
    ScalePilot,
    Transport,
    fit_scale_pilot,
    leverage_corrected,
    residuals_of,
)

__all__ = [
    "LocationScale",
    "Residuals",
    "ScalePilot",
    "Transport",
    "fit_pilot",
    "fit_scale_pilot",
    "leverage_corrected",
    "residuals_of",
]
