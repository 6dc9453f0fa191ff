"""The laws of the contest, and the data sets drawn from them: the same for every method."""

from zlib import crc32

import numpy as np

from benchmarks.curve_laws import curve_laws
from benchmarks.harder_laws import harder_laws
from benchmarks.quality_laws import Law


def laws_of(half: str) -> dict[str, tuple[str, Law]]:
    """Kind and law of each name."""
    found = {law.name: ("line", law) for law in harder_laws(half)}
    return {**found, **{law.name: ("curve", law) for law in curve_laws(half)}}


def sample(law: Law, rows: int, trial: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw a data set."""
    own = crc32(law.name.encode())  # or all laws would share one noise
    return law.sample(rows, np.random.default_rng([trial, rows, own]))


def grid_of(law: Law, X: np.ndarray) -> np.ndarray:
    """Where errors are taken; nothing is known about a level that nobody has seen."""
    grid = law.place(1000, np.random.default_rng(99))
    return grid[np.isin(grid[:, -1], X[:, -1])] if law.levels else grid
