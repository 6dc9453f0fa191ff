"""One run of a command: what it says to people and to machines, warnings, steps, the end."""

import json
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import isfinite
from typing import Any, final

import typer

from multiobs.cli.problems import Code, Refusal
from multiobs.cli.source import FORMATS, Dialect


@final
class Steps:
    """A bar on standard error while somebody is looking; silent anywhere else.

    Parameters
    ----------
    total : int
        How many steps there will be.
    """

    def __init__(self, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
            disable=not sys.stderr.isatty(),
        )
        self._task = self._bar.add_task("starting", total=total)

    def __enter__(self) -> "Steps":
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if not self._bar.disable:  # rich before 13.8 ends even a bar it never showed with a line
            self._bar.stop()
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            typer.echo("multiobs: interrupted, nothing was written", err=True)

    def next(self, what: str) -> None:
        """Say what is being done now; what was done before is finished."""
        description = self._bar.tasks[0].description
        self._bar.update(
            self._task, description=what, advance=0 if description == "starting" else 1
        )


@contextmanager
def caught(into: list[str]) -> Iterator[None]:
    """Collect the sentences of warnings, each once, in place of Python's own printing of them.

    What to do about them is said in the words of the command line.
    """
    from multiobs._check.advice import Advice, FarNeighbours, OutsideDomain

    remedies: dict[type[Advice], str] = {
        OutsideDomain: "--class smooth stays inside",
        FarNeighbours: "take fewer columns of --x, or leave --sampler and --transport at auto",
    }
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield
    for each in found:
        sentence = str(each.message)
        if isinstance(each.message, Advice):
            sentence = f"{each.message.finding}: {remedies[type(each.message)]}"
        if sentence not in into and not issubclass(each.category, DeprecationWarning):
            into.append(sentence)


def tell_warnings(sentences: Sequence[str]) -> None:
    """Print warnings on standard error."""
    for sentence in sentences:
        typer.echo(f"warning: {sentence}", err=True)


def print_json(found: Mapping[str, Any]) -> None:
    """Print one JSON object; numbers that JSON does not have become null."""
    typer.echo(json.dumps(_plain(found), ensure_ascii=False, allow_nan=False, indent=1))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value


def dialect_of(format_: str | None, delimiter: str | None, decimal: str, encoding: str) -> Dialect:
    """Check what the user says about a text file."""
    known = next((each for each in FORMATS if each == format_), None)
    if format_ is not None and known is None:
        raise Refusal(f"--format must be one of {', '.join(FORMATS)}, got {format_!r}", Code.USAGE)
    if delimiter is not None:
        delimiter = {"tab": "\t", "\\t": "\t"}.get(delimiter, delimiter)
        if len(delimiter) != 1:
            raise Refusal(f"--delimiter must be one character, got {delimiter!r}", Code.USAGE)
    if len(decimal) != 1:
        raise Refusal(f"--decimal must be one character, got {decimal!r}", Code.USAGE)
    return Dialect(known, delimiter, decimal, encoding)
