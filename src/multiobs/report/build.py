"""From a study to its page."""

import platform
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from math import isfinite

import numpy as np

from multiobs._version import __version__
from multiobs.inference import TermSummary
from multiobs.report import checks, findings
from multiobs.report.checks import HeldOutChecks, Influence
from multiobs.report.curves import fitted_chart, rows_chart
from multiobs.report.page import Chart, Layer, Page, Section, TableBlock, number_text
from multiobs.report.study import Study

STEPS = 6
MATTER = (
    "The rows farthest from their neighbours, each left out and the model fitted again: the "
    "largest change of the fitted statistic at any of 200 rows."
)
MOST_CHARTS = 12  # columns of x that get a chart


def build(study: Study, step: Callable[[str], None] = lambda what: None) -> Page:
    """Compute everything the page shows.

    Parameters
    ----------
    study : Study
        What it is about.
    step : callable
        Told what is being done, ``STEPS`` times.

    Returns
    -------
    Page
        For :func:`multiobs.report.render`.

    Examples
    --------
    >>> import numpy as np
    >>> from multiobs import MultiObservationRegressor, report
    >>> x = np.linspace(0, 1, 200)
    >>> y = np.random.default_rng(0).normal(scale=1 + x)
    >>> model = MultiObservationRegressor("variance").fit(x[:, None], y)
    >>> page = build(report.Study(model, report.Positions({"x": x}, {"x": "number"}), y))
    >>> report.render(page).startswith("<!doctype html>")
    True
    """
    step("holding rows out")
    held = checks.held_out(study)
    step("drawing the fit")
    shown = list(study.x.columns)[:MOST_CHARTS]
    others = {} if held is None else held.others
    curves = [fitted_chart(study, name, others) for name in shown]
    clouds = [chart for name in shown[:4] if (chart := rows_chart(study, name)) is not None]
    step("looking at metasamples")
    report = study.model.metasample_report()
    step("trying widths")
    widths = _width_chart(study)
    step("leaving rows out")
    rows = checks.influential(study)
    step("writing")
    found = [
        *findings.about_the_fit(study),
        *findings.about_held_out(held),
        *findings.about_metasamples(report),
        *findings.about_influence(rows),
    ]
    metasamples = [tuple(line.split("  ", 1)) for line in str(report).splitlines() if "  " in line]
    sections = [
        Section("What was found", findings=found, warnings=findings.warnings_of(study)),
        _asked(study),
        Section("The fitted statistic", charts=curves),
        *_terms(study),
        Section("The rows", charts=clouds) if clouds else None,
        Section(
            "How the metasamples were built",
            ["Rows with nearby x stand in for repeated observations. What was chosen:"],
            findings=list(study.model.plan_.reasons),
            tables=[TableBlock([(key.strip(), value.strip()) for key, value in metasamples])],
        ),
        _held_out_section(study, held, widths),
        _influence_section(study, rows),
        _again(study),
    ]
    title = f"{study.what.capitalize()} of {study.y_name} given {', '.join(study.x.columns)}"
    lead = f"{study.x.size:,} rows of {study.source}. {found[0]}"
    return Page(title, lead, [each for each in sections if each is not None])


def _asked(study: Study) -> Section:
    kinds = ", ".join(f"{name} ({kind})" for name, kind in study.x.kinds.items())
    facts = [
        ("Statistic", f"{study.statistic!r}, of {study.statistic.arity} observations at a time"),
        ("Values it can have", f"{_domain_text(study)}; in {study.statistic.unit}"),
        ("y", study.y_name),
        ("x", kinds),
        ("Rows used", f"{study.x.size:,}"),
        *study.facts,
    ]
    return Section("What was asked, of which data", tables=[TableBlock(facts)])


def _domain_text(study: Study) -> str:
    low, high = study.statistic.domain
    if not isfinite(low):
        return "any" if not isfinite(high) else f"{high:g} or less"
    return f"{low:g} to {high:g}" if isfinite(high) else f"{low:g} or more"


def _terms(study: Study) -> list[Section]:
    try:
        summary = study.model.summary(level=study.level, clusters=study.clusters)
    except (AttributeError, ValueError):
        return []
    facts = TableBlock([(key, value) for key, value in summary.facts])
    if isinstance(summary, TermSummary):
        lines = TableBlock(summary.cells()[1:], summary.cells()[0])
        return [Section("Terms", list(summary.notes), tables=[lines, facts])]
    ends = f"{study.level:.0%}"
    head = ["term", "estimate", "standard error", "t", "p", f"{ends} from", "to"]
    rows = [
        [name, *map(number_text, row[:3]), f"{row[3]:.3f}", *map(number_text, row[4:6])]
        for name, row in zip(summary.names, summary.table, strict=True)
    ]
    if summary.shrunken is not None:
        head.append("shrunk")
        for row, value in zip(rows, summary.shrunken, strict=True):
            row.append(number_text(value))
    return [
        Section("Terms", list(summary.notes), tables=[TableBlock(rows[:200], head), facts]),
    ]


def _held_out_section(
    study: Study, held: HeldOutChecks | None, widths: Chart | None
) -> Section | None:
    charts: list[Chart] = []
    tables: list[TableBlock] = []
    said: list[str] = []
    if held is not None:
        table = held.comparison
        said.append(
            f"Every method was fitted to {held.train:,} rows and scored on {held.test:,} others by "
            "the loss of the statistic; the gain is over the best constant, with hindsight."
        )
        said += [f"Not in the comparison: {sentence}" for sentence in held.left_out]
        rows = [
            (
                name,
                number_text(table.scores[i], 5),
                f"{number_text(table.gain[i], 3)} ± {number_text(table.gain_se[i], 2)}",
                _against(held, name),
            )
            for i, name in enumerate(table.names)
        ]
        head = ("method", "held-out loss", "gain over a constant", "against this model")
        tables.append(TableBlock(rows, head, "Smaller loss is better."))
        charts.append(_gain_chart(held))
        if held.reliability is not None:
            charts.append(_reliability_chart(study, held))
    if widths is not None:
        charts.append(widths)
    if not charts:
        return None
    return Section("On rows it had not seen", said, charts=charts, tables=tables)


def _against(held: HeldOutChecks, name: str) -> str:
    if name == "this model":
        return "–"
    each = held.comparison.difference(name, "this model")
    if each.p != each.p:
        return "the same"
    if each.p >= 0.05:
        return f"no clear difference ({findings.p_text(each.p)})"
    word = "worse" if each.difference > 0 else "better"
    return f"{word} ({findings.p_text(each.p)})"


def _gain_chart(held: HeldOutChecks) -> Chart:
    table = held.comparison
    at = np.arange(float(len(table.names)))
    reach = 1.96 * table.gain_se
    # one method far below must not flatten the others
    floor = -10 * float(np.median(np.abs(table.gain) + reach))
    top = float((table.gain + reach).max())
    layer = Layer("gain", at, table.gain, "points", table.gain - reach, table.gain + reach)
    return Chart(
        "Gain over the best constant, by method",
        "method",
        "gain in held-out loss",
        [layer],
        "category",
        table.names,
        "Above zero is better than a constant. Whiskers: 95 %."
        + (" Some lie below the frame." if (table.gain < floor).any() else ""),
        (floor, max(top, 0.0)) if (table.gain - reach < floor).any() else None,
        zero=True,
    )


def _reliability_chart(study: Study, held: HeldOutChecks) -> Chart:
    curve = held.reliability
    assert curve is not None
    reach = 1.96 * curve.se
    return Chart(
        "Reliability: what the statistic was where it was predicted to be so much",
        f"predicted {study.what}",
        f"{study.what} found",
        [
            Layer(
                "bins of held-out rows",
                curve.forecast,
                curve.observed,
                "points",
                curve.observed - reach,
                curve.observed + reach,
            )
        ],
        note="On the dashed line predictions are right on average. Whiskers: 95 %.",
        diagonal=True,
    )


def _width_chart(study: Study) -> Chart | None:
    path = checks.width_path(study)
    if path is None:
        return None
    one = sum(kind != "category" for kind in study.x.kinds.values()) == 1
    at = np.arange(float(path.epsilon.size))
    low, high = path.score - path.score_se, path.score + path.score_se
    return Chart(
        "Held-out loss by the width of neighbourhoods",
        "width (in units of x)" if one else "width (in interquartile ranges of x)",
        "held-out loss",
        [Layer("nearby rows", at, path.score, "points", low, high)],
        "category",
        [f"{width:.3g}" for width in path.epsilon],
        f"Best at {path.best:.3g}. Whiskers: one standard error of the difference from it. Where "
        "they all overlap, the width hardly matters.",
    )


def _influence_section(study: Study, rows: list[Influence]) -> Section | None:
    if not rows:
        return None
    head = ("row", study.y_name, "fitted with it", "without it", "in standard errors", "where")
    cells = [
        (
            f"{each.row:,}",
            number_text(each.label),
            number_text(each.before),
            number_text(each.after),
            "–" if each.errors != each.errors else f"{each.errors:.2f}",
            each.where,
        )
        for each in rows
    ]
    return Section(
        "Rows that matter most",
        [MATTER],
        tables=[TableBlock(cells, head)],
    )


def _again(study: Study) -> Section:
    packages = []
    for name in ("numpy", "scipy", "scikit-learn", "pandas", "pyarrow"):
        try:
            packages.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    facts = [
        ("multiobs", __version__),
        ("Python", f"{platform.python_version()} on {sys.platform}"),
        ("Packages", ", ".join(packages)),
        ("Seed", str(study.seed)),
    ]
    code = [study.command] if study.command else []
    return Section("How to make this page again", tables=[TableBlock(facts)], code=code)
