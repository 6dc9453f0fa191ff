"""Exit codes that mean something, and the errors that carry them."""

from enum import IntEnum
from typing import final


@final
class Code(IntEnum):
    """What the exit code of ``multiobs`` says.

    >>> Code.DATA.value
    1
    """

    DONE = 0
    DATA = 1  # a value or the data cannot be used: the message says which column and row
    USAGE = 2  # an option is missing or unknown (click's own code)
    FILE = 3  # a file cannot be read or written
    MODEL = 4  # a model file is damaged, of another version, or of other columns
    FIT = 5  # the fit did not converge: nothing was written
    INTERRUPTED = 130
    PIPE = 141  # whoever read our output went away


@final
class Refusal(Exception):
    """One sentence for the user, and the exit code to end with.

    Parameters
    ----------
    sentence : str
        The rule, the offender and the remedy.
    code : Code
        How to end.
    """

    def __init__(self, sentence: str, code: Code = Code.DATA) -> None:
        super().__init__(sentence)
        self.code = code

    @property
    def again(self) -> bool:
        """Whether the whole table may say otherwise than a part of it did."""
        return self.code is Code.DATA


def rows_text(count: int, what: str = "row") -> str:
    """Return a count with its noun.

    >>> rows_text(1), rows_text(1234, "value")
    ('1 row', '1,234 values')
    """
    return f"{count:,} {what}" + ("" if count == 1 else "s")
