"""Statistics that are functions of the mean and the variance, asked for at the door."""

from multiobs.statistics import MomentFunction, Statistic


def required_moments(who: str, what: Statistic) -> MomentFunction:
    """Return the statistic as a function of mean and variance, or say that it is none."""
    if what.moments is None:
        raise ValueError(
            f"{who} needs a function of mean and variance (variance, standard_deviation, ucb, "
            f"dispersion_index, squared_cv or mean), got {what!r}"
        )
    return what.moments
