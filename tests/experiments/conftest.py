"""A small grid of cells and the bytes that it leaves."""

import pytest

from multiobs.experiments.run import TrialRequest, run

GRID = [
    TrialRequest("variance-sine", "sliding", 60, 60),
    TrialRequest("variance-sine", "2mom linear", 60, 55),
    TrialRequest("minvar-exponential", "empirical", 60, 10),
]


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """The bytes that an undisturbed run with one worker leaves."""
    path = tmp_path_factory.mktemp("reference") / "results.csv"
    run(GRID, path)
    return path.read_bytes()


@pytest.fixture
def grid():
    """The cells of ``reference``."""
    return list(GRID)
