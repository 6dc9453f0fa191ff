"""The paper's experiments: laws with a known statistic, methods, the grid, the figure."""

from multiobs.experiments.scenarios import PANELS, SCENARIOS, Scenario, scenario

__all__ = ["PANELS", "SCENARIOS", "Scenario", "scenario"]
