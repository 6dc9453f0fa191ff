"""What tests of the displays share: a fitted model, and no figure left open."""

import sys

import pytest
from drawn_rows import rows

from multiobs import MultiObservationRegressor


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="module")
def model():
    return MultiObservationRegressor("variance").fit(*rows())
