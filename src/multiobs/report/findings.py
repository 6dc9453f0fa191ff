"""What was found, in sentences."""

import numpy as np

from multiobs.estimator import MetasampleReport
from multiobs.report.checks import HeldOutChecks, Influence
from multiobs.report.curves import limits_at
from multiobs.report.page import number_text
from multiobs.report.study import Study
from multiobs.statistics import outside_domain

TOO_WIDE = (
    "The metasamples are wide and the mean moves inside them: the fit measures that movement too. "
    "More rows, fewer columns or --transport auto may help."
)
SURE = 0.01  # p-values below are called clear, up to 0.05 likely


def p_text(p: float) -> str:
    """Write a p-value.

    >>> p_text(0.00001), p_text(0.034)
    ('p < 0.001', 'p = 0.034')
    """
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def about_the_fit(study: Study) -> list[str]:
    """Range of the fitted statistic, and whether it changes with x."""
    prediction = study.model.predict(study.x.frame())
    low, middle, high = np.quantile(prediction, [0.05, 0.5, 0.95])
    first = (
        f"The {study.unit} is fitted at {number_text(middle)} for the middle row; nine rows in ten "
        f"lie between {number_text(low)} and {number_text(high)}."
    )
    found = [first]
    try:
        test = study.model.test_constant(clusters=study.clusters)
    except (AttributeError, ValueError):
        return found
    names = list(study.x.columns)
    given = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    if test.p_value < SURE:
        found.append(f"It changes with {given}: that is clear ({p_text(test.p_value)}).")
    elif test.p_value < 0.05:
        found.append(f"It probably changes with {given} ({p_text(test.p_value)}).")
    else:
        found.append(
            f"These rows give no evidence that it changes with {given} ({p_text(test.p_value)}): "
            "a constant would explain them as well."
        )
    return found


def about_held_out(held: HeldOutChecks | None) -> list[str]:
    """Whether the model predicts rows it has not seen."""
    if held is None:
        return ["There are too few rows to hold some out and score the fit on them."]
    table = held.comparison
    own = table.names.index("this model")
    gain, error = float(table.gain[own]), float(table.gain_se[own])
    found = []
    if gain > 2 * error:
        found.append(
            f"On {held.test:,} rows it had not seen the model does better than the best constant, "
            f"by {number_text(gain, 3)} ± {number_text(error, 2)} in loss."
        )
    elif gain < -2 * error:
        found.append(
            f"On {held.test:,} rows it had not seen the model does worse than the best constant, "
            f"by {number_text(-gain, 3)} ± {number_text(error, 2)} in loss: do not rely on its "
            "shape."
        )
    else:
        found.append(
            f"On {held.test:,} rows it had not seen the model and the best constant cannot be told "
            f"from each other (a gain of {number_text(gain, 3)} ± {number_text(error, 2)} in loss)."
        )
    for name in table.names:
        if name == "this model":
            continue
        each = table.difference(name, "this model")
        if each.p < 0.05 and each.difference < 0:
            found.append(
                f"'{name}' does better than the model on those rows ({p_text(each.p)}): another "
                "class (--class smooth or boosting) may follow its shape."
            )
    if held.calibration is not None and held.calibration.joint_p < SURE:
        found.append(
            "Its predictions are off on average or in slope on those rows "
            f"({p_text(held.calibration.joint_p)}): see the reliability chart."
        )
    return found


def about_metasamples(report: MetasampleReport) -> list[str]:
    """Whether the metasamples are healthy."""
    if report.too_wide:
        return [TOO_WIDE]
    share = report.unused_rows / max(report.rows, 1)
    if share > 0.2:
        return [f"{share:.0%} of the rows have no neighbour and are in no metasample."]
    return ["The metasamples are healthy: narrow, and nearly all rows are used."]


def warnings_of(study: Study) -> list[str]:
    """What the fit warned about, and predictions that no law can have."""
    found = list(study.warnings)
    prediction = study.model.predict(study.x.frame())
    wrong = outside_domain(study.statistic, prediction)
    if wrong.size and not any("lies in" in sentence for sentence in found):
        low, high = study.statistic.domain
        found.append(
            f"The fit leaves the range [{low:g}, {high:g}] of the {study.what} at {wrong.size:,} "
            f"of {prediction.size:,} rows: use --class smooth."
        )
    band = limits_at(study, study.x.at(np.arange(min(study.x.size, 5))))
    if band is None:
        found.append("This class has no confidence band; treat the curve as a description.")
    return found


def about_influence(rows: list[Influence]) -> list[str]:
    """Whether the fit depends on single rows."""
    strong = [each for each in rows if each.errors > 1.0]
    if strong:
        first = strong[0]
        sentence = (
            f"Row {first.row:,} matters: without it the fit moves by {first.errors:.1f} standard "
            f"errors somewhere, from {number_text(first.before)} to {number_text(first.after)}."
        )
        return [sentence]
    return []
