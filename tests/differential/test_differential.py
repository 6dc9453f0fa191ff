"""The package against exact fractions on tiny data sets.

A few hundred by default; ``make differential`` draws a hundred thousand. A line begins with the
number of its case: ``python -m differential SEED NUMBER NUMBER+1`` from tests/ makes it again.
"""

import os

import numpy as np
from differential.cases import RTOL, draw, errors, mismatches
from tables import SAMPLERS, STATISTICS

CASES = int(os.environ.get("MULTIOBS_DIFFERENTIAL", "250"))
SEED = int(os.environ.get("MULTIOBS_DIFFERENTIAL_SEED", "13"))
FIRST = int(os.environ.get("MULTIOBS_DIFFERENTIAL_FIRST", "0"))


def test_every_sum_gradient_and_line_is_the_exact_one():
    found = list(mismatches(SEED, range(FIRST, FIRST + CASES)))
    print(f"{len(found)} mismatches of {CASES} cases from {FIRST}, seed {SEED}")
    assert found == []


def test_everything_is_drawn():
    cases = [draw(SEED, number) for number in range(1500)]
    assert {each.statistic for each in cases} == set(STATISTICS)
    assert {each.sampler for each in cases} == set(SAMPLERS)
    assert {type(each.X) for each in cases} == {list, np.ndarray}
    assert {np.asarray(each.X).dtype.kind for each in cases} == {"f", "i"}


def test_a_wrong_label_is_noticed():
    asked = noticed = 0
    for number in range(60):
        case = draw(SEED, number)
        used = any(0 in members for members, *_ in case.listed)
        if used and case.weight is None:
            asked += 1
            first = case.exact_y[0]
            case.exact_y[0] = [97, 98] if isinstance(first, list) else 97
            noticed += any(error > RTOL for _, error in errors(case, 1))
    assert noticed >= 0.5 * asked > 3  # the lowest of several labels may stay the lowest
