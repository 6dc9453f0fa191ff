"""claims.md: the verdicts, the rankings and the numbers beyond the paper, as Markdown."""

from collections.abc import Iterator
from itertools import combinations
from math import isfinite

from multiobs.experiments.claims import judge
from multiobs.experiments.grids import BEYOND_SIZES, ReproductionPlan
from multiobs.experiments.methods import ADDITIONS, PAPER_METHODS
from multiobs.experiments.scenarios import scenario
from multiobs.experiments.summary import Trials
from multiobs.experiments.verdicts import Verdict, reach

__all__ = ["claims_document", "typical_reach"]

ENOUGH = 200  # trials below which the file begins with what they cannot show
SEEN = 2.8 / 1.96  # a difference of 2.8 standard errors is seen in four runs of five


def claims_document(trials: Trials, plan: ReproductionPlan) -> str:
    """Write the whole of claims.md."""
    return "\n".join([*_introduction(trials, plan), *_claims(trials, plan),
                      *_rankings(trials, plan), *_medians(trials, plan), *_beyond(trials, plan),
                      ""])  # fmt: skip


def typical_reach(trials: Trials, plan: ReproductionPlan) -> float:
    """Factor by which the limits of a ratio of two of the paper's methods typically exceed it."""
    n = plan.reference
    pairs = []
    for panel in plan.panels:
        names = [m for m in PAPER_METHODS if (panel, m, n) in trials]
        pairs += [trials.compare(panel, n, a, b) for a, b in combinations(names, 2)]
    return reach([pair for pair in pairs if isfinite(pair.high)])


def _introduction(trials: Trials, plan: ReproductionPlan) -> Iterator[str]:
    yield "# The claims of the paper's experiments, measured"
    yield ""
    if plan.trials < ENOUGH:
        factor = typical_reach(trials, plan)
        yield (
            f"**This is a first look with {plan.trials} trials of each point, and it can show "
            f"little.** The limits of a ratio here typically reach from 1/{factor:.2g} to "
            f"{factor:.2g} times it: to be seen in four runs of five, a method must be better by a "
            f"factor of {factor**SEEN:.2g}. What is smaller comes out undecided, which is what the "
            "word means below. The paper used 1000 trials, and so does `multiobs reproduce` "
            "without `--quick`."
        )
        yield ""
    yield (
        f"{plan.trials} trials of each point ({plan.few} of the default estimator and the sweeps "
        f"over amplitude, lambda and replicates, {plan.many} at the smallest amplitudes, "
        f"{plan.beyond_trials} beyond n = {max(plan.sizes)}). Claims are judged at n = "
        f"{plan.reference}. A ratio is of median mean squared errors, smaller than one when the "
        "first method is better, with 95 % bootstrap limits over trials; p is Wilcoxon's "
        "signed-rank test of the log ratio within trials; wins is the share of trials in which the "
        "first method is closer to the truth. Methods of one trial see the same rows, except the "
        "empirical approach, which draws its own replicates. Better means: limits below one, "
        "p < 0.05, more than half of the trials won. Verdicts are judged by limits: confirmed and "
        "contradicted when they lie on one side of what the claim needs, else undecided. The "
        "empirical approach to UCB is measured with both divisors of its variance, k - 1 "
        "(empirical) and k (empirical /k); the paper does not say which it used."
    )
    yield ""


def _claims(trials: Trials, plan: ReproductionPlan) -> Iterator[str]:
    claims = judge(trials, plan)
    counts = {each: sum(claim.verdict is each for claim in claims) for each in Verdict}
    told = ", ".join(f"{count} {each.value}" for each, count in counts.items() if count)
    yield f"## Verdicts on {len(claims)} rows: {told}"
    yield ""
    yield "| claim | panel | verdict | measured | counts as true when |"
    yield "|---|---|---|---|---|"
    for claim in claims:
        mark = "**confirmed**" if claim.verdict is Verdict.CONFIRMED else claim.verdict.value
        yield (
            f"| “{_cell(claim.sentence)}” ({claim.place}) | {claim.panel} | {mark} | "
            f"{_cell(claim.measured)} | {claim.rule} |"
        )
    yield ""


def _rankings(trials: Trials, plan: ReproductionPlan) -> Iterator[str]:
    n = plan.reference
    yield f"## Ranking of each panel at n = {n}"
    yield ""
    yield (
        "The rank is a 95 % bootstrap range; † marks additions to the paper's six methods. "
        "Warned counts fits that said that a prediction is impossible or that failed."
    )
    for panel in plan.panels:
        names = [m for m in (*PAPER_METHODS, *ADDITIONS) if (panel, m, n) in trials]
        ranks = trials.ranks(panel, n, names)
        yield ""
        yield f"### {scenario(panel).title}"
        yield ""
        yield "| method | rank | median MSE | 95 % limits | quartiles | trials | warned |"
        yield "|---|---|---|---|---|---|---|"
        for name in sorted(names, key=lambda m: trials.quartiles(panel, m, n)[1]):
            spread = trials.spread(panel, name, n)
            low, high = ranks[name]
            yield (
                f"| {_mark(name)} | {low if low == high else f'{low}–{high}'} | "
                f"{spread.median:.4g} | {spread.low:.4g} – {spread.high:.4g} | "
                f"{spread.first_quartile:.4g} – {spread.third_quartile:.4g} | "
                f"{len(trials.errors(panel, name, n))} | {trials.warned(panel, name, n)} |"
            )
    yield ""


def _medians(trials: Trials, plan: ReproductionPlan) -> Iterator[str]:
    yield "## Median MSE at every n"
    for panel in plan.panels:
        yield from _table(trials, panel, plan.sizes)
    yield ""


def _beyond(trials: Trials, plan: ReproductionPlan) -> Iterator[str]:
    if plan.beyond:
        yield "## Beyond the paper: larger n"
        for panel in plan.panels:
            yield from _table(trials, panel, BEYOND_SIZES)
        yield ""


def _table(trials: Trials, panel: str, sizes: tuple[int, ...]) -> Iterator[str]:
    yield ""
    yield f"### {scenario(panel).title}"
    yield ""
    yield "| method | " + " | ".join(f"n = {n}" for n in sizes) + " |"
    yield "|---|" + "---|" * len(sizes)
    for name in (*PAPER_METHODS, *ADDITIONS):
        if any((panel, name, n) in trials for n in sizes):
            values = [
                f"{trials.quartiles(panel, name, n)[1]:.4g}" if (panel, name, n) in trials else "–"
                for n in sizes
            ]
            yield f"| {_mark(name)} | " + " | ".join(values) + " |"


def _mark(name: str) -> str:
    return f"{name} †" if name in ADDITIONS else name


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
