"""Functions that users pass: what they answer, or a word on what does not fit."""

from collections.abc import Callable
from typing import Any


def answer(what: str, function: Callable[..., Any], *given: Any) -> Any:
    """Return what a user's function answers; an error about types names the function.

    >>> answer("transport", len, 1, 2)
    Traceback (most recent call last):
        ...
    TypeError: transport must answer to 2 arguments, got len() takes exactly one argument (2 given)
    """
    try:
        return function(*given)
    except TypeError as error:
        many = "1 argument" if len(given) == 1 else f"{len(given)} arguments"
        text = " ".join(str(error).split())[:200]
        raise TypeError(f"{what} must answer to {many}, got {text}") from error
