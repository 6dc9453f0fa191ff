"""Medians over trials, and comparisons of two methods paired by trial, with their uncertainty."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, final

import numpy as np
from scipy import stats

from multiobs._types import FloatArray, IntArray
from multiobs.experiments.store import Cell, Outcome

__all__ = ["MethodComparison", "MedianSpread", "Trials"]

_RESAMPLES = 1000


class MedianSpread(NamedTuple):
    """Median over trials, its 95 % bootstrap limits, and the quartiles."""

    median: float
    low: float
    high: float
    first_quartile: float
    third_quartile: float


class MethodComparison(NamedTuple):
    """Median of one method over that of another: ratio, 95 % limits, paired test, wins.

    The limits are a bootstrap over trials; the test is Wilcoxon's signed-rank test of the log ratio
    of the two errors within a trial; wins is the share of trials in which the first is smaller.
    """

    ratio: float
    low: float
    high: float
    p_value: float
    wins: float

    @property
    def better(self) -> bool:
        """The first method is better beyond doubt: limits below one and the test agrees."""
        return self.high < 1.0 and self.p_value < 0.05 and self.wins > 0.5

    @property
    def worse(self) -> bool:
        """The first method is worse beyond doubt."""
        return self.low > 1.0 and self.p_value < 0.05 and self.wins < 0.5

    def __str__(self) -> str:
        return (
            f"{self.ratio:.3g} [{self.low:.3g}, {self.high:.3g}], p {_p(self.p_value)}, "
            f"wins {100 * self.wins:.0f} %"
        )


@final
class Trials:
    """Errors by (scenario, method, n), each an array over trials.

    Examples
    --------
    >>> cells = {Cell("a", m, 10, t): Outcome(e, "ok") for m, e in (("u", 1.0), ("v", 2.0))
    ...          for t in range(8)}
    >>> trials = Trials(cells)
    >>> trials.spread("a", "u", 10).median, trials.compare("a", 10, "u", "v").ratio
    (1.0, 0.5)
    """

    def __init__(self, cells: Mapping[Cell, Outcome]) -> None:
        collected: dict[tuple[str, str, int], dict[int, Outcome]] = {}
        for cell, outcome in cells.items():
            key = (cell.scenario, cell.method, cell.n)
            collected.setdefault(key, {})[cell.trial] = outcome
        self._errors: dict[tuple[str, str, int], FloatArray] = {}
        self._warned: dict[tuple[str, str, int], int] = {}
        for key, outcomes in collected.items():
            numbers = range(len(outcomes))  # trials are 0 .. trials - 1
            self._errors[key] = np.array([outcomes[t].mse for t in numbers])
            self._warned[key] = sum(outcomes[t].status != "ok" for t in numbers)

    def __contains__(self, key: tuple[str, str, int]) -> bool:
        return key in self._errors

    def errors(self, scenario: str, method: str, n: int) -> FloatArray:
        """Return the mean squared errors of the trials, shape (trials,)."""
        return self._errors[scenario, method, n]

    def warned(self, scenario: str, method: str, n: int) -> int:
        """Return how many fits gave a warning or failed."""
        return self._warned[scenario, method, n]

    def methods(self, scenario: str, n: int) -> list[str]:
        """Return the methods measured on a law at n."""
        return [method for law, method, size in self._errors if (law, size) == (scenario, n)]

    def sizes(self, scenario: str, method: str) -> list[int]:
        """Return the sizes at which a method was measured on a law."""
        return sorted(n for law, how, n in self._errors if (law, how) == (scenario, method))

    def spread(self, scenario: str, method: str, n: int) -> MedianSpread:
        """Return the median with its uncertainty and the quartiles."""
        errors = self._errors[scenario, method, n]
        medians = np.median(errors[_resample(len(errors))], axis=1)
        first, middle, third = _quantiles(errors, (0.25, 0.5, 0.75))
        low, high = _quantiles(medians, (0.025, 0.975))
        return MedianSpread(middle, low, high, first, third)

    def quartiles(self, scenario: str, method: str, n: int) -> tuple[float, float, float]:
        """Return the quartiles and the median between them."""
        first, middle, third = _quantiles(self._errors[scenario, method, n], (0.25, 0.5, 0.75))
        return first, middle, third

    def compare(self, scenario: str, n: int, one: str, other: str) -> MethodComparison:
        """Compare two methods over the trials that both have."""
        a, b = self._errors[scenario, one, n], self._errors[scenario, other, n]
        both = min(len(a), len(b))
        a, b = a[:both], b[:both]
        index = _resample(both)
        ratios = np.median(a[index], axis=1) / np.median(b[index], axis=1)
        finite = np.isfinite(a) & np.isfinite(b) & (a > 0) & (b > 0)
        gain = np.log(a[finite]) - np.log(b[finite])
        p = float(stats.wilcoxon(gain).pvalue) if np.any(gain != 0) else 1.0
        low, high = _quantiles(ratios, (0.025, 0.975))
        ties = float(np.mean(a == b))
        wins = float(np.mean(a < b)) + 0.5 * ties
        return MethodComparison(float(np.median(a) / np.median(b)), low, high, p, wins)

    def ranks(self, scenario: str, n: int, methods: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Return the 95 % bootstrap range of each method's rank by median error, 1 the best."""
        errors = [self._errors[scenario, method, n] for method in methods]
        # Methods with as many trials are resampled together, as the trials are paired.
        medians = np.stack([np.median(e[_resample(len(e))], axis=1) for e in errors])
        order = np.argsort(np.argsort(medians, axis=0), axis=0) + 1
        low = np.quantile(order, 0.025, axis=1, method="lower")
        high = np.quantile(order, 0.975, axis=1, method="higher")
        return {name: (int(a), int(b)) for name, a, b in zip(methods, low, high, strict=True)}


@lru_cache(maxsize=4)
def _resample(size: int) -> IntArray:
    """Bootstrap row numbers, the same for every method of that many trials."""
    return np.random.default_rng(size).integers(size, size=(_RESAMPLES, size))


def _quantiles(values: FloatArray, levels: Sequence[float]) -> tuple[float, ...]:
    # 'nearest' never averages a finite with an infinite error, which would warn.
    return tuple(float(np.quantile(values, level, method="nearest")) for level in levels)


def _p(value: float) -> str:
    return "< 1e-12" if value < 1e-12 else f"= {value:.2g}"
