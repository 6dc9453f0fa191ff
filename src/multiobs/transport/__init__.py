"""Pilots of the mean and the spread, and labels moved along them to the representative."""

from multiobs.transport.pilots import (
    fit_pilot,
)
from multiobs.transport.residuals import (
    Carried,
    Transport,
    carry,
    fit_spread,
    restored,
)

__all__ = [
    "Carried",
    "Transport",
    "carry",
    "fit_pilot",
    "fit_spread",
    "restored",
]
