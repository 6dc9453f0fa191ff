"""Rules from measured ratios to verdicts: by the limits of a ratio, never by its point alone."""

from collections.abc import Sequence
from enum import Enum
from math import log, sqrt
from typing import NamedTuple, final

from scipy import stats

from multiobs.experiments.summary import MethodComparison

__all__ = ["Claim", "Verdict", "all_better", "at_least", "power", "slightly_better", "unbeaten"]


@final
class Verdict(Enum):
    """What the measurements say; the member's value is what the file writes."""

    CONFIRMED = "confirmed"
    CONTRADICTED = "contradicted"
    UNDECIDED = "undecided"
    PARTLY = "holds in part"


class Claim(NamedTuple):
    """One sentence on one panel: what was said, when it counts as true, what was measured."""

    place: str
    sentence: str
    panel: str
    rule: str
    measured: str
    verdict: Verdict


def all_better(pairs: Sequence[MethodComparison]) -> Verdict:
    """Every first method is better than the second: all limits below one; none above it."""
    if all(pair.better for pair in pairs):
        return Verdict.CONFIRMED
    return Verdict.CONTRADICTED if any(pair.worse for pair in pairs) else Verdict.UNDECIDED


def at_least(pairs: Sequence[MethodComparison], factor: float) -> Verdict:
    """Every ratio is at least ``factor``.

    >>> wide = MethodComparison(2.0, 1.5, 2.5, 0.01, 0.9)
    >>> [at_least([wide], factor).name for factor in (1.2, 2.0, 3.0)]
    ['CONFIRMED', 'UNDECIDED', 'CONTRADICTED']
    """
    if all(pair.low > factor for pair in pairs):
        return Verdict.CONFIRMED
    beyond = any(pair.high < factor for pair in pairs)
    return Verdict.CONTRADICTED if beyond else Verdict.UNDECIDED


def at_most(pairs: Sequence[MethodComparison], factor: float) -> Verdict:
    """Every ratio is at most ``factor``."""
    if all(pair.high < factor for pair in pairs):
        return Verdict.CONFIRMED
    beyond = any(pair.low > factor for pair in pairs)
    return Verdict.CONTRADICTED if beyond else Verdict.UNDECIDED


def slightly_better(pairs: Sequence[MethodComparison], slight: float) -> Verdict:
    """Every first method is better, and none by more than ``slight`` allows."""
    verdict = all_better(pairs)
    if verdict is not Verdict.CONFIRMED:
        return verdict
    if all(pair.low > slight for pair in pairs):
        return Verdict.CONFIRMED
    much = any(pair.high < slight for pair in pairs)
    return Verdict.PARTLY if much else Verdict.UNDECIDED


def unbeaten(rival: MethodComparison, margin: float) -> Verdict:
    """The best rival found is not below ``margin`` times what it is compared with."""
    return at_least([rival], margin)


def power(pair: MethodComparison, ratio: float) -> float:
    """Chance that limits as wide as these would exclude one if the true ratio were ``ratio``.

    >>> round(power(MethodComparison(0.92, 0.865, 0.971, 0.01, 0.6), 0.92), 2)
    0.81
    """
    error = log(pair.high / pair.low) / (2 * stats.norm.ppf(0.975))
    return float(stats.norm.cdf(abs(log(ratio)) / error - stats.norm.ppf(0.975)))


def reach(pairs: Sequence[MethodComparison]) -> float:
    """Typical factor by which the limits of a ratio exceed it: their geometric half-width.

    >>> reach([MethodComparison(1.0, 0.5, 2.0, 0.5, 0.5)])
    2.0
    """
    widths = sorted(sqrt(pair.high / pair.low) for pair in pairs if pair.low > 0)
    return widths[len(widths) // 2]
