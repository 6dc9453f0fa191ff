"""Methods, grid, verdicts on the paper's sentences, figures and the command."""

import numpy as np
import pytest

from multiobs import statistics
from multiobs.baselines import EmpiricalStatisticRegressor
from multiobs.experiments.claims import Verdict, judge
from multiobs.experiments.document import claims_document, typical_reach
from multiobs.experiments.grids import FACTORS, SIZES, ReproductionPlan, applies
from multiobs.experiments.methods import METHODS, PAPER_METHODS, method
from multiobs.experiments.run import TrialRequest, run
from multiobs.experiments.scenarios import PANELS
from multiobs.experiments.store import Cell, Outcome
from multiobs.experiments.summary import MethodComparison, Trials
from multiobs.experiments.verdicts import at_least, at_most, power, slightly_better, unbeaten


def test_names_say_everything():
    assert PAPER_METHODS == (
        "2mom linear",
        "2mom quad",
        "improved",
        "sliding",
        "nearby",
        "empirical",
    )
    assert all(name == known.name for name, known in METHODS.items())
    for name in ("nearby x", "empirical k=many", "Sliding"):
        with pytest.raises(ValueError, match="method must be one of"):
            method(name)
    with pytest.raises(ValueError, match="scenario must be"):
        applies("2mom linear", "nowhere")


def test_full_plan_covers_the_issue():
    plan = ReproductionPlan()
    assert plan.reference == 1000
    requests = set(plan.requests())
    assert all(
        TrialRequest(panel, name, n, 1000) in requests
        for panel in PANELS
        for name in PAPER_METHODS
        for n in SIZES
        if applies(name, panel)
    )
    assert TrialRequest("minvar-exponential", "nearby x32", 1000, 1000) in requests
    assert {request.n for request in requests} >= {10_000, 100_000}
    with pytest.raises(ValueError, match="n must be at least 10, got 2"):
        ReproductionPlan(sizes=(2,)).requests()
    with pytest.raises(ValueError, match="trials must be at least 1, got 0"):
        ReproductionPlan(trials=0).requests()


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A small grid of everything: the panels' ranking, and material for the claims."""
    path = tmp_path_factory.mktemp("small") / "results.csv"
    plan = ReproductionPlan(sizes=(400,), trials=40, sweeps=False, beyond=False)
    wanted = (*PAPER_METHODS, "nearby x8")
    return plan, Trials(run([r for r in plan.requests() if r.method in wanted], path))


@pytest.mark.parametrize("panel", PANELS)
def test_ranking_on_a_small_grid(small, panel):
    _, trials = small
    for ours in ("sliding", "nearby"):
        for theirs in ("2mom linear", "2mom quad"):
            if (panel, theirs, 400) in trials:
                assert trials.compare(panel, 400, ours, theirs).ratio < 1.0
        assert not trials.compare(panel, 400, ours, "improved").worse
    if panel != "minvar-exponential":
        assert trials.compare(panel, 400, "sliding", "2mom linear").better
        assert trials.compare(panel, 400, "nearby", "2mom linear").better
    else:
        assert trials.compare(panel, 400, "nearby x8", "nearby").ratio < 0.9


def test_claims_are_judged_and_written(small):
    plan, trials = small
    claims = judge(trials, plan)
    lines = [claim for claim in claims if "Fitting lines" in claim.sentence]
    assert [claim.verdict for claim in lines] == [Verdict.CONFIRMED] * 3
    text = claims_document(trials, plan)
    table = text.partition("| claim |")[2].partition("\n\n")[0].splitlines()[2:]
    assert len(table) == len(claims)
    for claim, row in zip(claims, table, strict=True):
        assert claim.panel in row
        assert claim.verdict.value in row
        assert row.replace("\\|", "").count("|") == 6


# ---- verdicts on made-up trials ------------------------------------------------------------------


def made_up(medians, n=1000, trials=300):
    """Trials whose errors are log-normal around given medians."""
    cells = {}
    for place, ((law, name), median) in enumerate(medians.items()):
        errors = median * np.exp(np.random.default_rng(place).normal(0, 0.5, trials))
        for trial, error in enumerate(errors):
            cells[Cell(law, name, n, trial)] = Outcome(float(error), "ok")
    return Trials(cells)


def minvar_trials(**changed):
    medians = {"improved": 3.0, "sliding": 0.8, "nearby": 0.9, "empirical": 1.0, "disjoint": 1.2}
    medians |= {f"nearby x{factor:g}": 1.0 for factor in FACTORS if factor != 1}
    medians |= {"nearby x8": 0.5} | changed
    return made_up({("minvar-exponential", name): value for name, value in medians.items()})


def verdicts(trials, words):
    plan = ReproductionPlan(panels=("minvar-exponential",), sizes=(1000,), beyond=False)
    return [claim.verdict for claim in judge(trials, plan) if words in claim.sentence]


def test_each_verdict_can_be_reached():
    fine = minvar_trials()
    assert verdicts(fine, "performed the best") == [Verdict.CONFIRMED]
    assert verdicts(fine, "larger values of epsilon") == [Verdict.CONFIRMED]
    assert verdicts(fine, "well-chosen epsilon") == [Verdict.CONFIRMED]
    assert verdicts(fine, "disjoint") == [Verdict.CONFIRMED]
    bad = minvar_trials(**{"nearby": 1.5, "nearby x8": 1.6, "disjoint": 0.5})
    for words in ("performed the best", "slight improvement", "well-chosen", "disjoint"):
        assert verdicts(bad, words) == [Verdict.CONTRADICTED]
    level = minvar_trials(**{"nearby": 1.0, "sliding": 1.0})
    assert verdicts(level, "performed the best") == [Verdict.UNDECIDED]
    large = minvar_trials(**{"nearby": 0.3, "sliding": 0.3})
    assert verdicts(large, "slight improvement") == [Verdict.PARTLY]


def test_crossing_is_found():
    values = {
        0.02: 0.5,
        0.05: 0.5,
        0.1: 0.5,
        0.2: 0.5,
        0.3: 0.8,
        0.4: 1.25,
        0.5: 2.0,
        0.7: 4.0,
        1.0: 50.0,
    }
    medians = {}
    for amplitude, ratio in values.items():
        law = "variance-sine" if amplitude == 1 else f"variance-sine(amplitude={amplitude:g})"
        medians |= {(law, "sliding"): 1.0, (law, "nearby"): 1.0, (law, "2mom linear"): ratio}
    medians |= {("variance-sine", name): 1.5 for name in ("2mom quad", "improved", "disjoint")}
    medians |= {("variance-sine", f"nearby x{f:g}"): 1.5 for f in FACTORS if f != 1}
    plan = ReproductionPlan(panels=("variance-sine",), sizes=(1000,), beyond=False)
    (claim,) = [c for c in judge(made_up(medians), plan) if "non-linear part" in c.sentence]
    assert claim.verdict is Verdict.CONFIRMED
    assert "better than both at amplitude 0.02, 0.05, 0.1, 0.2, 0.3" in claim.measured
    assert "equal to sliding at amplitude 0.3" in claim.measured
    assert "power to see a true ratio of 0.92 there: " in claim.measured


def test_comparisons_know_their_uncertainty():
    trials = made_up({("a", "u"): 1.0, ("a", "v"): 1.0, ("a", "w"): 2.0})
    same, less = trials.compare("a", 1000, "u", "v"), trials.compare("a", 1000, "u", "w")
    assert not same.better
    assert not same.worse
    assert same.low < 1 < same.high
    assert less.better
    assert trials.compare("a", 1000, "w", "u").worse
    assert less.ratio == pytest.approx(0.5, rel=0.15)
    assert trials.ranks("a", 1000, ["u", "v", "w"])["w"] == (3, 3)
    spread = trials.spread("a", "w", 1000)
    assert spread.first_quartile < spread.low < spread.median < spread.high < spread.third_quartile


def test_failed_trials_count_as_infinite():
    cells = {Cell("a", "u", 10, t): Outcome(np.inf if t < 6 else 1.0, "failed") for t in range(10)}
    cells |= {Cell("a", "v", 10, t): Outcome(1.0, "ok") for t in range(10)}
    trials = Trials(cells)
    assert trials.quartiles("a", "u", 10) == (1.0, np.inf, np.inf)
    assert trials.compare("a", 10, "v", "u").ratio == 0.0
    assert trials.warned("a", "u", 10) == 10


# ---- figures and command -------------------------------------------------------------------------


def test_figures_are_drawn_and_repeat(tmp_path):
    pytest.importorskip("matplotlib")
    from multiobs.experiments.reproduce import reproduce

    panels = ("variance-sine", "minvar-exponential")
    plan = ReproductionPlan(panels, sizes=(40, 80), trials=3, beyond=False)
    written = reproduce(plan, tmp_path)
    names = {path.name for path in written}
    assert names == {"results.csv", "claims.md"} | {
        f"{stem}.{kind}" for stem in ("figure", "sweeps") for kind in ("png", "svg", "pdf")
    }
    drawing = (tmp_path / "figure.svg").read_text()
    for name in (*PAPER_METHODS, "nearby, 8 × epsilon †", "residual regression †"):
        assert name in drawing
    before = {path: path.read_bytes() for path in written}
    reproduce(plan, tmp_path)
    assert {path: path.read_bytes() for path in written} == before


def test_command(tmp_path):
    typer = pytest.importorskip("typer")
    pytest.importorskip("matplotlib")
    from typer.testing import CliRunner

    from multiobs.cli.reproduce import reproduce

    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(reproduce)
    options = ["--panel", "variance-line", "--n", "50", "--trials", "3", "--no-sweeps"]
    options += ["--no-beyond", "--workers", "1", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, options)
    assert result.exit_code == 0, result.output
    assert "claims.md" in result.output
    assert (tmp_path / "figure.pdf").stat().st_size > 1000
    wrong = CliRunner().invoke(app, ["--panel", "variance", "--out", str(tmp_path)])
    assert wrong.exit_code == 2


# ---- limits, power, divisors, and what few trials can show ---------------------------------------


def ratio(low, middle, high):
    return MethodComparison(middle, low, high, 1e-6, 0.7 if middle < 1 else 0.3)


@pytest.mark.parametrize(
    ("rule", "limits", "verdict"),
    [
        (lambda pair: at_least([pair], 2.0), (2.1, 3.0, 4.0), Verdict.CONFIRMED),
        (lambda pair: at_least([pair], 2.0), (1.5, 3.0, 4.0), Verdict.UNDECIDED),
        (lambda pair: at_least([pair], 2.0), (1.1, 1.5, 1.9), Verdict.CONTRADICTED),
        (lambda pair: at_most([pair], 1.25), (0.9, 1.0, 1.2), Verdict.CONFIRMED),
        (lambda pair: at_most([pair], 1.25), (0.9, 1.0, 1.3), Verdict.UNDECIDED),
        (lambda pair: at_most([pair], 1.25), (1.3, 1.4, 1.5), Verdict.CONTRADICTED),
        (lambda pair: slightly_better([pair], 0.8), (0.85, 0.9, 0.95), Verdict.CONFIRMED),
        (lambda pair: slightly_better([pair], 0.8), (0.7, 0.84, 0.95), Verdict.UNDECIDED),
        (lambda pair: slightly_better([pair], 0.8), (0.5, 0.6, 0.7), Verdict.PARTLY),
        (lambda pair: slightly_better([pair], 0.8), (0.9, 1.0, 1.1), Verdict.UNDECIDED),
        (lambda pair: slightly_better([pair], 0.8), (1.1, 1.2, 1.3), Verdict.CONTRADICTED),
        # a rival that is surely better, but perhaps by less than a tenth, beats nobody yet
        (lambda pair: unbeaten(pair, 0.9), (0.85, 0.92, 0.98), Verdict.UNDECIDED),
        (lambda pair: unbeaten(pair, 0.9), (0.7, 0.8, 0.88), Verdict.CONTRADICTED),
    ],
)
def test_verdicts_are_judged_by_limits(rule, limits, verdict):
    assert rule(ratio(*limits)) is verdict


def test_power_is_the_share_of_runs_that_see_the_difference():
    seen = []
    powers = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        common = rng.normal(0, 0.5, 400)
        errors = {"u": 0.9 * np.exp(common + rng.normal(0, 0.4, 400)),
                  "v": np.exp(common + rng.normal(0, 0.4, 400))}  # fmt: skip
        cells = {Cell("a", name, 9, t): Outcome(float(e), "ok")
                 for name, values in errors.items() for t, e in enumerate(values)}  # fmt: skip
        pair = Trials(cells).compare("a", 9, "u", "v")
        seen.append(pair.high < 1)
        powers.append(power(pair, 0.9))
    assert np.mean(seen) == pytest.approx(np.mean(powers), abs=0.1)


def test_divisors_of_the_empirical_bound():
    rng = np.random.default_rng(0)
    x, y = rng.random((30, 1)), rng.gamma(2.0, size=(30, 7))
    for unbiased in (True, False):
        model = EmpiricalStatisticRegressor(statistics.ucb(8.0), unbiased=unbiased).fit(x, y)
        expected = y.mean(axis=1) + 8 * y.std(axis=1, ddof=1 if unbiased else 0)
        np.testing.assert_allclose(model.values_, expected)
    with pytest.raises(ValueError, match=r"unbiased=False.* needs a function of mean and variance"):
        EmpiricalStatisticRegressor("minvar", unbiased=False).fit(x, y)


def test_claims_about_the_empirical_bound_are_judged_for_both_divisors():
    medians = {"2mom linear": 9.0, "2mom quad": 9.0, "improved": 3.0, "sliding": 0.9,
               "nearby": 0.9, "empirical": 0.5, "empirical /k": 1.0}  # fmt: skip
    trials = made_up({("ucb-gamma", name): value for name, value in medians.items()}, trials=3000)
    plan = ReproductionPlan(("ucb-gamma",), (1000,), sweeps=False, beyond=False)
    for words in ("performed the best", "slight improvement"):
        found = [claim for claim in judge(trials, plan) if words in claim.sentence]
        assert [claim.verdict for claim in found] == [Verdict.CONTRADICTED, Verdict.CONFIRMED]
        assert ["divisor k - 1" in claim.rule for claim in found] == [True, False]


def test_a_quick_run_begins_with_what_it_cannot_show(small):
    plan, trials = small
    top = claims_document(trials, plan).split("\n")[2]
    assert top.startswith("**This is a first look with 40 trials of each point")
    factor = typical_reach(trials, plan)
    assert 1.1 < factor < 3
    assert f"1/{factor:.2g} to {factor:.2g}" in top
    whole = plan._replace(trials=1000)
    text = claims_document(trials, whole)
    assert "first look" not in text
    heading = next(line for line in text.split("\n") if line.startswith("## Verdicts"))
    assert "of" not in heading.partition(":")[2]  # counts of each kind, no score
    assert "confirmed" in heading


def test_small_amplitudes_have_the_trials_they_need():
    requests = ReproductionPlan().requests()
    trials = {r.scenario: r.trials for r in requests if r.method == "2mom linear"}
    assert trials["variance-sine(amplitude=0.05)"] == 2000
    assert trials["variance-sine(amplitude=0.3)"] == 250
