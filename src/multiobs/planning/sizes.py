"""How many metasamples, labels and rows a target needs, and what a budget promises."""

from dataclasses import asdict, dataclass
from math import ceil, inf, isfinite, sqrt
from typing import Any, Literal, final

from multiobs import _check, bounds
from multiobs.planning.problem import BoundedProblem, read_problem

Theorem = Literal["slow", "fast", "replicates"]
Form = Literal["paper", "repaired"]
THEOREMS = ("slow", "fast", "replicates")


@final
@dataclass(frozen=True)
class SampleSize:
    """What a theorem asks for.

    Attributes
    ----------
    theorem : str
        Which one.
    n, m, labels : int
        Metasamples, labels in each, and their product.
    rows : float
        x that must be drawn, anchors included; inf beyond what a double holds.
    epsilon : float
        How near the labels of a metasample must be.
    excess_risk, delta : float
        What is promised, and with which failure probability.

    Examples
    --------
    >>> size = sample_size(0.1, BoundedProblem(K=0.5))
    >>> size.labels == size.n * size.m
    True
    """

    theorem: str
    n: int
    m: int
    labels: int
    rows: float
    epsilon: float
    excess_risk: float
    delta: float

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary for JSON (infinite rows as None)."""
        fields = asdict(self)
        fields["rows"] = self.rows if isfinite(self.rows) else None
        return fields


def sample_size(
    target_excess_risk: float,
    problem: BoundedProblem | None = None,
    *,
    theorem: Theorem = "slow",
    delta: float = 0.05,
    C: float = 1.0,
    form: Form = "paper",
) -> SampleSize:
    r"""Metasamples, labels and rows that a theorem asks for to promise a target excess risk.

    Parameters
    ----------
    target_excess_risk : float
        The excess risk wanted, in units of the loss; for a squared loss and a statistic inside
        the class it is the mean squared error of the fit.
    problem : BoundedProblem, optional
        Ranges, dimension and K; the variance of labels in [0, 1] with d = K = 1 by default.
    theorem : {"slow", "fast", "replicates"}
        Theorem 1 (any law of x), Theorem 2 (uniform x, strongly convex risk), or m labels at each
        x (fully active learning), which needs no neighbours.
    delta : float
        Failure probability; at most 3 exp(-4) for "fast".
    C : float
        The universal constant of the sampling lemmas.
    form : {"paper", "repaired"}
        As printed, or as the proofs give it; see the page *Theory*.

    Returns
    -------
    SampleSize

    Notes
    -----
    The bounds are loose, often by factors of thousands: set :func:`multiobs.planning.simulate`
    beside them.

    Examples
    --------
    >>> size = sample_size(0.1, BoundedProblem(K=0.5), theorem="slow")
    >>> size.n, size.labels, size.excess_risk <= 0.1
    (906, 1812, True)
    """
    problem = read_problem(problem)
    target = _check.positive("target_excess_risk", target_excess_risk)
    delta, C = _check.real("delta", delta), _check.real("C", C)
    _check.choice("theorem", theorem, THEOREMS)
    found, m = problem.constants, problem.arity
    if theorem == "replicates":
        n = float(
            bounds.clean_metasamples(target, found.L, found.B, problem.rademacher_constant, delta)
        )
    elif theorem == "slow":
        n = float(
            bounds.slow_metasamples(
                target,
                m,
                problem.K,
                found.L,
                found.B,
                problem.rademacher_constant,
                delta=delta,
                form=form,
            )
        )
    else:
        n = float(
            bounds.fast_metasamples(
                target,
                found.B,
                found.L,
                _sigma(problem),
                delta,
                feature_norm=problem.feature_norm,
                form=form,
            )
        )
    if not isfinite(n) or n > 2**63:
        raise ValueError(
            f"target_excess_risk must need fewer than 2^63 metasamples, got {target:g}"
        )
    return _describe(ceil(n), problem, theorem, delta, C, form)


def label_budget(
    target_excess_risk: float,
    problem: BoundedProblem | None = None,
    *,
    theorem: Theorem = "slow",
    delta: float = 0.05,
    form: Form = "paper",
) -> int:
    """Labels to pay for in pool-based active learning: n m, whatever the pool costs.

    Parameters
    ----------
    target_excess_risk, problem, theorem, delta, form
        As in :func:`sample_size`.

    Examples
    --------
    >>> label_budget(0.1, BoundedProblem(K=0.5))
    1812
    """
    return sample_size(target_excess_risk, problem, theorem=theorem, delta=delta, form=form).labels


def guarantee(
    problem: BoundedProblem | None = None,
    *,
    labels: int | None = None,
    rows: float | None = None,
    theorem: Theorem = "slow",
    delta: float = 0.05,
    C: float = 1.0,
    form: Form = "paper",
) -> SampleSize:
    """Report what a theorem promises for a budget of labels, or of rows.

    Parameters
    ----------
    labels : int, optional
        Labels that can be bought; n = labels // m. Give this or ``rows``.
    rows : float, optional
        Rows there are, labelled or not; n is the largest whose sample size fits.

    Examples
    --------
    >>> promise = guarantee(BoundedProblem(K=0.5), labels=1812)
    >>> promise.n, round(promise.excess_risk, 4)
    (906, 0.1)
    >>> guarantee(BoundedProblem(K=0.5), rows=promise.rows).n
    906
    """
    delta, C = _check.real("delta", delta), _check.real("C", C)
    problem = read_problem(problem)
    _check.choice("theorem", theorem, THEOREMS)
    if (labels is None) == (rows is None):
        raise ValueError("give exactly one of labels and rows, got both or neither")
    if labels is not None:
        n = _check.integer("labels", labels, low=1) // problem.arity
        if n == 0:
            raise ValueError(f"labels must cover one metasample of {problem.arity}, got {labels}")
    else:
        n = _fitting(_check.positive("rows", rows), problem, theorem, delta, C)
    return _describe(n, problem, theorem, delta, C, form)


def _rows(n: int, problem: BoundedProblem, theorem: Theorem, delta: float, C: float) -> float:
    if theorem == "replicates":
        return float(n)
    if theorem == "slow":
        drawn = bounds.improved_sample_size(n, problem.arity, problem.d, delta, C)
    else:
        drawn = bounds.fast_sample_size(n, problem.arity, problem.d, problem.K, delta, C)
    return n + float(drawn)


def _fitting(rows: float, problem: BoundedProblem, theorem: Theorem, delta: float, C: float) -> int:
    """Largest n whose rows fit, by bisection: the rows grow with n."""
    low, high = 0, ceil(rows)
    least = ceil(1 / (problem.arity * problem.K)) + 1 if theorem == "fast" and problem.K else 1
    while low < high:
        middle = (low + high + 1) // 2
        if middle < least or _rows(middle, problem, theorem, delta, C) <= rows * (1 + 1e-12):
            low = middle
        else:
            high = middle - 1
    if low < least:
        raise ValueError(f"rows must suffice for one metasample, got {rows:g}")
    return low


def _describe(
    n: int, problem: BoundedProblem, theorem: Theorem, delta: float, C: float, form: Form
) -> SampleSize:
    found, m = problem.constants, problem.arity
    rademacher = problem.rademacher_constant / sqrt(n)
    if theorem == "replicates":
        risk = bounds.clean_excess_risk(n, found.L, found.B, rademacher, delta)
        epsilon = 0.0
    elif theorem == "slow":
        risk = bounds.excess_risk(n, m, problem.K, found.L, found.B, rademacher, delta, form=form)
        epsilon = 1 / sqrt(n)
    else:
        risk = bounds.fast_excess_risk(
            n,
            found.B,
            found.L,
            _sigma(problem),
            delta,
            feature_norm=problem.feature_norm,
            form=form,
        )
        epsilon = float(bounds.fast_epsilon(n, m, problem.K)) if problem.K else inf
    rows = _rows(n, problem, theorem, delta, C)
    return SampleSize(theorem, n, m, n * m, rows, epsilon, float(risk), delta)


def _sigma(problem: BoundedProblem) -> float:
    if problem.sigma <= 0:
        raise ValueError(
            "the fast rate needs a strongly convex risk, got curvature 0 for "
            f"{problem.resolved!r}: use theorem='slow'"
        )
    if problem.K == 0:
        raise ValueError("K must be positive for the fast rate, got 0")
    return problem.sigma
