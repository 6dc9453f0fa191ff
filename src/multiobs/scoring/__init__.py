"""Held-out scores of any prediction of a statistic, ours or a peer's.

The loss of m observations that elicits a statistic is also its score: :func:`score` and
:func:`make_scorer`. :func:`compare` says whether one forecast is better than another by more than
chance, :func:`backtest` does so for series in time, with verdicts. :func:`calibration_test`,
:func:`reliability_curve`, :func:`decompose` and :func:`murphy_curve` say why.
"""

from multiobs.scoring._backtest import Backtest, backtest
from multiobs.scoring._calibration import (
    CalibrationTest,
    Reliability,
    calibration_test,
    reliability_curve,
)
from multiobs.scoring._compare import Comparison, Difference, compare
from multiobs.scoring._decomposition import Decomposition, decompose
from multiobs.scoring._heldout import HeldOut
from multiobs.scoring._losses import FixedLoss, level_of
from multiobs.scoring._murphy import Murphy, murphy_curve
from multiobs.scoring._paths import DriftCurve, EpsilonPath, drift_curve, epsilon_path
from multiobs.scoring._score import Scorer, make_scorer, score

__all__ = [
    "score",
    "make_scorer",
    "compare",
    "backtest",
    "calibration_test",
    "reliability_curve",
    "decompose",
    "murphy_curve",
    "epsilon_path",
    "drift_curve",
    "Backtest",
    "CalibrationTest",
    "Comparison",
    "Decomposition",
    "Difference",
    "DriftCurve",
    "EpsilonPath",
    "FixedLoss",
    "HeldOut",
    "level_of",
    "Murphy",
    "Reliability",
    "Scorer",
]
