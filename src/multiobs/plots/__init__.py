"""Pictures, as scikit-learn's Display objects: compute once, draw where you like.

Needs matplotlib. Everything shown is computed in :mod:`multiobs.scoring` and the estimators.
"""

from multiobs.plots._backtest import BacktestDisplay
from multiobs.plots._coefficients import CoefficientDisplay
from multiobs.plots._drift import DriftBiasDisplay
from multiobs.plots._effects import PartialEffectsDisplay
from multiobs.plots._epsilon import EpsilonPathDisplay
from multiobs.plots._fitted import FittedStatisticDisplay
from multiobs.plots._metasamples import MetasamplesDisplay
from multiobs.plots._murphy import MurphyDisplay
from multiobs.plots._reliability import ReliabilityDisplay

__all__ = [
    "FittedStatisticDisplay",
    "ReliabilityDisplay",
    "MurphyDisplay",
    "MetasamplesDisplay",
    "EpsilonPathDisplay",
    "DriftBiasDisplay",
    "CoefficientDisplay",
    "PartialEffectsDisplay",
    "BacktestDisplay",
]
