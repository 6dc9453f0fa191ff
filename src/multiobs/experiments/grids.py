"""Which cells the reproduction needs: the paper's figure, its footnotes, and what lies beyond."""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple, final

from multiobs import _check
from multiobs.experiments.methods import ADDITIONS, METHODS, PAPER_METHODS
from multiobs.experiments.run import TrialRequest
from multiobs.experiments.scenarios import PANELS, scenario

__all__ = [
    "AMPLITUDES",
    "BEYOND_SIZES",
    "FACTORS",
    "LAMBDAS",
    "SIZES",
    "ReproductionPlan",
    "applies",
]

SIZES = (50, 100, 200, 400, 800, 1000, 1600, 3200)
"""Labels on the axis of the figure; 1000 is where the claims are judged."""

BEYOND_SIZES = (10_000, 32_000, 100_000)
FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
AMPLITUDES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
LAMBDAS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
_REPLICATE_FACTORS = (0.25, 0.5, 2.0, 4.0)
_HARDLY = 0.05  # amplitudes up to it differ by so little that more trials are needed to see it
_DEAR = ("default",)  # validates its own width and transport in every fit
_BEYOND_METHODS = (*PAPER_METHODS, "nearby x8", "default", "residual")


@final
class ReproductionPlan(NamedTuple):
    """What one call of ``multiobs reproduce`` computes.

    Parameters
    ----------
    panels : tuple of str
        Scenarios of the figure.
    sizes : tuple of int
        Numbers of labels.
    trials : int
        Trials of each point of the figure and of the sweep over epsilon; the default estimator,
        which validates in every fit, and the sweeps over amplitude and lambda have a quarter of
        them, sizes beyond the figure a twentieth.
    sweeps, beyond : bool
        Whether the footnotes' sweeps, and the sizes to 10^5, are computed too.

    Examples
    --------
    >>> plan = ReproductionPlan(("minvar-exponential",), (100,), 10, sweeps=False, beyond=False)
    >>> [request.method for request in plan.requests()]  # doctest: +NORMALIZE_WHITESPACE
    ['improved', 'sliding', 'nearby', 'empirical', 'nearby x8', 'local', 'default']
    """

    panels: tuple[str, ...] = PANELS
    sizes: tuple[int, ...] = SIZES
    trials: int = 1000
    sweeps: bool = True
    beyond: bool = True

    @property
    def reference(self) -> int:
        """The number of labels at which claims are judged: 1000, or the largest below it."""
        return max((n for n in self.sizes if n <= 1000), default=min(self.sizes))

    @property
    def few(self) -> int:
        """Trials of the default estimator and of the sweeps over amplitude and lambda."""
        return max(min(self.trials, 10), self.trials // 4)

    @property
    def many(self) -> int:
        """Trials at the smallest amplitudes: at 2000, a ratio of 0.92 is seen nine times of ten."""
        return 2 * self.trials

    @property
    def beyond_trials(self) -> int:
        """Trials of each point beyond the figure."""
        return max(min(self.trials, 10), self.trials // 20)

    def requests(self) -> list[TrialRequest]:
        """List all trials needed, each once."""
        found = self.figure()
        if self.sweeps:
            for part in (self.epsilons(), self.weakened(), self.replicates(), self.disjoint()):
                found += part
        if self.beyond:
            found += self.beyond_figure()
        return list(dict.fromkeys(found))

    def figure(self) -> list[TrialRequest]:
        """Cover the paper's figure, with our additions."""
        dear = [name for name in ADDITIONS if name in _DEAR]
        others = [name for name in (*PAPER_METHODS, *ADDITIONS) if name not in _DEAR]
        found = self._product(self.panels, others, self.sizes, self.trials)
        found += self._product(self.panels, dear, self.sizes, self.few)
        return [request for request in found if _drawn(request)]

    def beyond_figure(self) -> list[TrialRequest]:
        """Cover the same panels at sizes that enumeration could not reach."""
        found = self._product(self.panels, _BEYOND_METHODS, BEYOND_SIZES, self.beyond_trials)
        return [request for request in found if _drawn(request)]

    def epsilons(self) -> list[TrialRequest]:
        """Cover multiples of the paper's epsilon, footnote on MINVAR in its simulation details."""
        names = [nearby(factor) for factor in FACTORS]
        return self._product(self.panels, names, (self.reference,), self.trials)

    def weakened(self) -> list[TrialRequest]:
        """Cover smaller non-linear parts, footnote of the experiments section."""
        how = ("2mom linear", "2mom quad", "sliding", "nearby")
        laws = {
            amplified(panel, a): self.many if a <= _HARDLY else self.few
            for panel in self.panels
            if panel in _AMPLIFIED
            for a in AMPLITUDES
        }
        laws |= {lessened(lam): self.few for lam in LAMBDAS if "ucb-gamma" in self.panels}
        return [
            request
            for law, trials in laws.items()
            for request in self._product((law,), how, (self.reference,), trials)
        ]

    def replicates(self) -> list[TrialRequest]:
        """Cover other numbers of labels a point for the empirical approach than the paper's."""
        if "ucb-gamma" not in self.panels:
            return []
        return self._product(
            ("ucb-gamma",), replicate_names(self.reference), (self.reference,), self.few
        )

    def disjoint(self) -> list[TrialRequest]:
        """Cover the partitioned variant of Sliding Window, footnote of the algorithms section."""
        return self._product(self.panels, ("disjoint",), (self.reference,), self.trials)

    def _product(
        self, laws: Sequence[str], how: Sequence[str], sizes: Sequence[int], trials: int
    ) -> list[TrialRequest]:
        _check.integer("trials", trials, low=1)
        for n in sizes:
            _check.integer("n", n, low=10)
        return [
            TrialRequest(law, name, n, trials)
            for law in laws
            for name in how
            if applies(name, law)
            for n in sizes
        ]


def _drawn(request: TrialRequest) -> bool:
    """Wide windows are for MINVAR, whose law changes slowly; elsewhere the sweep shows them."""
    return request.method != "nearby x8" or scenario(request.scenario).statistic == "minvar"


_AMPLIFIED = ("variance-sine", "variance-line")


def applies(method_name: str, law_name: str) -> bool:
    """Whether the method can estimate the statistic of the law.

    >>> applies("2mom linear", "minvar-exponential")
    False
    """
    known = METHODS.get(method_name)
    return known is None or scenario(law_name).statistic in known.statistics


def nearby(factor: float) -> str:
    """Name of epsilon-Nearby with a multiple of the paper's epsilon.

    >>> nearby(1.0), nearby(0.5)
    ('nearby', 'nearby x0.5')
    """
    return "nearby" if factor == 1.0 else f"nearby x{factor:g}"


def amplified(panel: str, amplitude: float) -> str:
    """Name of a variance panel with another amplitude of its mean.

    >>> amplified("variance-sine", 0.5)
    'variance-sine(amplitude=0.5)'
    """
    return panel if amplitude == 1.0 else f"{panel}(amplitude={amplitude:g})"


def lessened(lam: float) -> str:
    """Name of the UCB panel with another lambda.

    >>> lessened(2.0)
    'ucb-gamma(lam=2)'
    """
    return "ucb-gamma" if lam == 8.0 else f"ucb-gamma(lam={lam:g})"


def replicate_names(n: int) -> list[str]:
    """Names of the empirical approach with other numbers of labels a point.

    >>> replicate_names(1000)
    ['empirical k=8', 'empirical k=16', 'empirical k=63', 'empirical k=126']
    """
    return [f"empirical k={max(2, round(f * sqrt(n)))}" for f in _REPLICATE_FACTORS]
