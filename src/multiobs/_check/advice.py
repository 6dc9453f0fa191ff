"""Warnings that keep what was found apart from what to do, which differs from door to door."""

from typing import final


class Advice(UserWarning):
    """What was found, and the remedy in Python.

    Parameters
    ----------
    finding : str
        What is wrong.
    remedy : str
        What to do about it, for those who call the estimator.

    Examples
    --------
    >>> str(OutsideDomain("variance lies in [0, inf], but the fit reaches -1", "use link='log'"))
    "variance lies in [0, inf], but the fit reaches -1: use link='log'"
    """

    def __init__(self, finding: str, remedy: str) -> None:
        super().__init__(f"{finding}: {remedy}")
        self.finding = finding


@final
class OutsideDomain(Advice):
    """The fit has values that the statistic cannot have."""


@final
class FarNeighbours(Advice):
    """Rows that go together are hardly nearer than any two rows."""
