"""All designs beside each other: what the theorems ask for, and what simulation finds enough."""

import json
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any, final

import numpy as np

from multiobs import _check, bounds
from multiobs._tables import Table
from multiobs.bounds.risk import FAST_DELTA
from multiobs.planning.problem import BoundedProblem, read_problem
from multiobs.planning.simulation import DESIGNS, Design, KnownLaw, SimulatedSize, simulated_size
from multiobs.planning.sizes import Form, Theorem, guarantee, sample_size

WORDS = {
    "two-moment": "two moments",
    "supervised": "rows (Alg. 2)",
    "default": "rows (default)",
    "pool": "pool (Alg. 2)",
    "replicates": "replicates",
}
HEAD = ("design", "by", "n", "labels", "rows", "rate", "simulated")


@final
@dataclass(frozen=True)
class DesignRow:
    """One line of the table.

    Attributes
    ----------
    design : str
        Which.
    by : str
        The theorem, "clean ERM" for :func:`multiobs.bounds.clean_excess_risk`, "rate" where only
        the exponent is known and no constant (so no number of labels follows), or "none".
    metasamples, labels, rows : number or None
        What it asks for; None when it does not say.
    rate : float or None
        Exponent of the excess risk in the number of labels.
    simulated : bool
        Whether it was simulated.
    simulated_labels : int or None
        Labels that were enough; None if not simulated or beyond the limit.

    Examples
    --------
    >>> compare_designs(0.05, BoundedProblem(K=0.5)).rows[0].design
    'two-moment'
    """

    design: Design
    by: str
    metasamples: int | None
    labels: float | None
    rows: float | None
    rate: float | None
    simulated: bool
    simulated_labels: int | None

    def cells(self, limit: int) -> tuple[str, ...]:
        """Texts for the columns ``HEAD``."""
        if not self.simulated:
            measured = "-"
        elif self.simulated_labels is None:
            measured = f"> {limit:,}"
        else:
            measured = f"{self.simulated_labels:,}"
        return (
            WORDS[self.design],
            self.by,
            _number(self.metasamples),
            _number(self.labels),
            _number(self.rows),
            "-" if self.rate is None else f"{self.rate:.2f}",
            measured,
        )


def _finite(value: float | None) -> float | None:
    """JSON has no infinity."""
    return value if value is not None and isfinite(value) else None


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    if not isfinite(value):
        return "> 1e308"
    return f"{value:,.0f}" if value < 1e7 else f"{value:.1e}"


@final
@dataclass(frozen=True)
class DesignComparison:
    """Designs compared at one target; a table, JSON, or a plot.

    Attributes
    ----------
    target, delta : float
        Excess risk and failure probability.
    problem : BoundedProblem
        Ranges, dimension, K.
    rows : tuple of DesignRow
        The designs.
    limit : int
        The most labels that simulations tried.
    simulations : tuple of SimulatedSize
        What they found.

    Examples
    --------
    >>> len(compare_designs(0.05, BoundedProblem(K=0.5)).rows)
    7
    """

    target: float
    delta: float
    problem: BoundedProblem
    rows: tuple[DesignRow, ...]
    limit: int
    simulations: tuple[SimulatedSize, ...]

    @property
    def title(self) -> str:
        """One line that says what was asked."""
        return (
            f"Excess risk of at most {self.target:g} with probability {1 - self.delta:g}: "
            f"{self.problem.resolved!r}, d = {self.problem.d}, K = {self.problem.K:g}"
        )

    def table(self) -> Table:
        """Return the designs as texts."""
        return Table(self.title, HEAD, [row.cells(self.limit) for row in self.rows], left=(0, 1))

    def to_text(self) -> str:
        """Lay the table out with spaces."""
        return self.table().plain()

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data; infinite numbers become None."""
        found = self.problem.constants
        rows = [asdict(row) for row in self.rows]
        for row in rows:
            row |= {name: _finite(row[name]) for name in ("labels", "rows")}
        return {
            "target_excess_risk": self.target,
            "delta": self.delta,
            "statistic": repr(self.problem.resolved),
            "d": self.problem.d,
            "K": self.problem.K,
            "y_range": list(self.problem.y_range),
            "r_range": list(self.problem.predictions),
            "L": found.L,
            "B": found.B,
            "sigma": self.problem.sigma,
            "designs": rows,
            "simulations": [
                {
                    "design": curve.design,
                    "labels": [each.labels for each in curve.curve],
                    "mean": [_finite(each.mean) for each in curve.curve],
                    "quantile": [_finite(each.quantile(1 - self.delta)) for each in curve.curve],
                }
                for curve in self.simulations
            ],
        }

    def to_json(self) -> str:
        """Everything as JSON."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    def to_frame(self) -> Any:
        """Return the table as a pandas DataFrame."""
        import pandas as pd  # an optional package: only this method needs it

        return pd.DataFrame([asdict(row) for row in self.rows])

    def plot(self, ax: Any = None) -> Any:
        """Draw bounds and simulated errors against labels, both logarithmic; needs matplotlib.

        Returns
        -------
        matplotlib Axes
        """
        import matplotlib.pyplot as plt  # only pictures need it

        if ax is None:
            ax = plt.subplots(figsize=(7, 4.5), layout="constrained")[1]
        known = [row.labels for row in self.rows if row.labels and isfinite(row.labels)]
        grid = np.unique(np.geomspace(200, max([2000.0, *known]) * 2, 60).astype(int))
        theorems: dict[str, Theorem] = {"Theorem 1": "slow", "replicates": "replicates"}
        if self.problem.sigma > 0 and self.problem.K > 0 and self.delta <= FAST_DELTA:
            theorems["Theorem 2"] = "fast"
        for name, theorem in theorems.items():
            promised = [
                guarantee(self.problem, labels=int(n), theorem=theorem, delta=self.delta)
                for n in grid
            ]
            ax.plot(grid, [each.excess_risk for each in promised], label=f"bound: {name}")
        for curve in self.simulations:
            n = [each.labels for each in curve.curve]
            high = [each.quantile(1 - self.delta) for each in curve.curve]
            ax.plot(n, high, "o--", markersize=4, label=f"simulated: {WORDS[curve.design]}")
        ax.axhline(self.target, color="0.5", linewidth=1)
        ax.set(xscale="log", yscale="log", xlabel="labels", ylabel="excess risk")
        ax.set_title("What is promised, and what happens")
        ax.legend(fontsize="small")
        return ax


def compare_designs(
    target_excess_risk: float,
    problem: BoundedProblem | None = None,
    *,
    delta: float = 0.05,
    C: float = 1.0,
    form: Form = "paper",
    scenario: KnownLaw | None = None,
    runs: int = 50,
    limit: int = 20_000,
    rng: np.random.Generator | None = None,
) -> DesignComparison:
    r"""Compare the ways of spending labels on one statistic.

    Parameters
    ----------
    target_excess_risk : float
        For a squared loss and a statistic inside the class: the mean squared error.
    problem : BoundedProblem, optional
        Ranges, dimension, K.
    delta : float
        Failure probability; Theorem 2 is listed when it is at most 3 exp(-4).
    C : float
        The universal constant of the sampling lemmas.
    scenario : KnownLaw, optional
        A law like the user's own: with it every design is simulated, because the bounds are
        loose. Needs ``rng``.
    runs, limit : int
        Repetitions of a simulation, and the most labels to try.

    Returns
    -------
    DesignComparison

    Examples
    --------
    >>> table = compare_designs(0.05, BoundedProblem(K=0.5))
    >>> [(row.design, row.by, row.labels) for row in table.rows if row.by == "Theorem 1"]
    [('supervised', 'Theorem 1', 89761.0), ('pool', 'Theorem 1', 7248.0)]
    """
    problem = read_problem(problem)
    _check.real("delta", delta)
    runs, limit = _check.integer("runs", runs, low=1), _check.integer("limit", limit, low=1)
    target = _check.positive("target_excess_risk", target_excess_risk)
    if scenario is not None and rng is None:
        raise ValueError("rng must be a numpy Generator when a scenario is simulated, got None")
    found: dict[str, SimulatedSize] = {}
    if scenario is not None and rng is not None:
        for design in DESIGNS:
            if design == "two-moment" and not _rivals(problem):
                continue
            found[design] = simulated_size(
                scenario, design, target, statistic=problem.statistic, delta=delta, runs=runs,
                limit=limit, rng=rng,
            )  # fmt: skip
    rows = [
        _row(
            design,
            by,
            found.get(design),
            target=target,
            problem=problem,
            delta=delta,
            C=C,
            form=form,
        )
        for design, by in _lines(problem, delta)
    ]
    return DesignComparison(target, delta, problem, tuple(rows), limit, tuple(found.values()))


def _rivals(problem: BoundedProblem) -> bool:
    """Whether the route through two moments leads to this statistic, and is another one."""
    return problem.resolved.moments is not None and problem.arity > 1


def _lines(problem: BoundedProblem, delta: float) -> list[tuple[Design, str]]:
    fast = problem.sigma > 0 and problem.K > 0 and delta <= FAST_DELTA
    theorems = ["Theorem 1", "Theorem 2"] if fast else ["Theorem 1"]
    lines: list[tuple[Design, str]] = []
    if _rivals(problem):
        lines.append(("two-moment", "rate"))
    for design in ("supervised", "pool"):
        lines += [(design, by) for by in theorems]
    return [*lines, ("replicates", "clean ERM"), ("default", "none")]


def _row(
    design: Design,
    by: str,
    simulated: SimulatedSize | None,
    *,
    target: float,
    problem: BoundedProblem,
    delta: float,
    C: float,
    form: Form,
) -> DesignRow:
    measured = None if simulated is None else simulated.labels
    known = simulated is not None
    if design == "default":
        return DesignRow(design, by, None, None, None, None, known, measured)
    if design == "two-moment":
        exponent = float(bounds.rate_exponent("two-moment", problem.d))
        return DesignRow(design, by, None, None, None, exponent, known, measured)
    theorem: Theorem = "replicates"
    if design != "replicates":
        theorem = "slow" if by == "Theorem 1" else "fast"
    size = sample_size(target, problem, theorem=theorem, delta=delta, C=C, form=form)
    labels: float = size.rows if design == "supervised" else size.labels
    labels = float(np.ceil(labels))
    if design == "supervised":
        kind = "slow" if theorem == "slow" else "fast"
        rate = float(bounds.rate_exponent(kind, problem.d, count="rows"))
    else:
        rate = -1.0 if theorem == "fast" else -0.5
    rows = float(np.ceil(size.rows))
    return DesignRow(design, by, size.n, labels, rows, rate, known, measured)
