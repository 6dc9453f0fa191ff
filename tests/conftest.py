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
    parser.addoption("--browser", action="store_true", help="also read the report in Chromium")


OPTIONAL = {
    "slow": "slow simulation: run with --slow (make coverage-sim)",
    "browser": "needs Chromium: run with --browser (make browser)",
}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for marker, reason in OPTIONAL.items():
        if config.getoption(f"--{marker}"):
            continue
        skip = pytest.mark.skip(reason=reason)
        for item in items:
            if item.get_closest_marker(marker) is not None:
                item.add_marker(skip)
