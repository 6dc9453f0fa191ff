"""One case: a call with good and odd arguments, some of them replaced by bad ones."""

from collections.abc import Iterator
from typing import Any

from fuzz import calls_parts, calls_rows, calls_shown
from fuzz.law import complaint
from fuzz.values import Draw, misspelt

CALLS = calls_rows.CALLS | calls_parts.CALLS | calls_shown.CALLS
NAMES, WEIGHTS = zip(*((name, weight) for name, (weight, _) in CALLS.items()), strict=True)


def case(seed: int, number: int, only: str | None = None) -> tuple[str, Any, dict[str, Any]]:
    """The call with this number: its name, the function, its arguments."""
    draw = Draw(f"{seed}-{number}")
    name = only or draw.random.choices(NAMES, WEIGHTS)[0]
    function, given = CALLS[name][1](draw)
    for _ in range(draw.of(0, 0, 1, 1, 1, 2) if given else 0):
        key = draw.of(*given)
        known = isinstance(given[key], str) and given[key] and draw.chance(0.3)
        given[key] = misspelt(draw, given[key]) if known else draw.bad()
    return name, function, given


def told(value: Any) -> str:
    try:
        return f"{value!r:.70}"
    except Exception as error:
        return f"<no repr: {error}>"


def complaints(seed: int, numbers: range, only: str | None = None) -> Iterator[str]:
    for number in numbers:
        name, function, given = case(seed, number, only)
        found = complaint(function, given)
        if found is not None:
            shown = ", ".join(f"{key}={told(value)}" for key, value in given.items())
            yield f"case {number} {name}({' '.join(shown.split())}): {found}"
