"""Options and markers shared by all tests."""

import pytest
from hypothesis import HealthCheck, settings

# No deadline: on a busy machine a slow example is not a wrong one.
settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# Thousands of cases for every kernel and power: pytest --hypothesis-profile=thorough
settings.register_profile(
    "thorough", settings.get_profile("default"), max_examples=4000, derandomize=True
)
settings.load_profile("default")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="also run the slow simulations")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--slow"):
        return
    skip = pytest.mark.skip(reason="slow simulation: run with --slow (make coverage-sim)")
    for item in items:
        if item.get_closest_marker("slow") is not None:
            item.add_marker(skip)
