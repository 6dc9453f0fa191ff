"""The ``multiobs`` command: says which extra is missing, or hands over to the commands."""

import sys
from collections.abc import Sequence

EXTRA = frozenset({"typer", "rich", "click", "shellingham"})


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line, which needs the extra ``cli``.

    A problem with what the user gave (a value, a file) ends with one sentence and status 1; a
    mistake in the program keeps its traceback.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after ``multiobs``; those of the process by default.
    """
    try:
        from multiobs.cli.app import app
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] not in EXTRA:
            raise
        sys.exit("the multiobs command needs typer and rich: pip install 'multiobs[cli]'")
    try:
        app(args=arguments, prog_name="multiobs")
    except (ValueError, OSError) as problem:
        sys.exit(f"multiobs: {problem}")
