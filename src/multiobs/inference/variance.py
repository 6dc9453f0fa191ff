"""Which of the ways to estimate the variance of the gradient fits the tuples."""

from multiobs.inference.gradient import Gradient
from multiobs.inference.meat import Meat
from multiobs.inference.meat_of_rows import meat_of_rows
from multiobs.inference.meat_of_tuples import meat_of_tuples
from multiobs.inference.meat_of_windows import meat_of_windows, sliding
from multiobs.sums.overlaps import OVERLAPS
from multiobs.tuples import Tuples

LISTED = 30_000  # tuples that are listed rather than drawn
FEW_OVERLAPS = 500_000  # pairs of tuples that share a row, up to which nothing else is as quick


def meat(gradient: Gradient) -> Meat:
    """Estimate the variance of the gradient of the risk at its minimum.

    Listed tuples one by one, sliding windows by running sums, all others by the scores of rows.

    Parameters
    ----------
    gradient : Gradient
        What is summed.
    """
    tuples = gradient.tuples
    given = isinstance(tuples, Tuples)
    one_each = sliding(tuples)
    if given or (tuples.arity > 2 and tuples.count() <= LISTED and not one_each):
        found = meat_of_tuples(gradient, OVERLAPS if given else FEW_OVERLAPS)
        if found is not None:
            return found
    return meat_of_windows(gradient) if one_each else meat_of_rows(gradient)
