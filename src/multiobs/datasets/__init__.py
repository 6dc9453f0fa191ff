"""Small tables that come with the package; origin and licence are in README.md and LICENSE."""

from multiobs.datasets.flights import load_flights

__all__ = ["load_flights"]
