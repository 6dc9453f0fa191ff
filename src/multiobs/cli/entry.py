"""The ``multiobs`` command: says which extra is missing, or hands over to the commands."""

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType

EXTRA = frozenset({"typer", "rich", "click", "shellingham", "pyarrow", "pandas"})


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line, which needs the extra ``cli``.

    A problem with what the user gave (a value, a file) ends with one sentence and a status that
    says what kind of problem it is (:class:`multiobs.cli.problems.Code`); a mistake in the program
    keeps its traceback.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after ``multiobs``; those of the process by default.
    """
    from multiobs.cli.problems import Code

    with _noticed() as signals:
        try:
            from multiobs.cli.app import app

            app(args=arguments, prog_name="multiobs")
        except SystemExit as end:
            if not (signals and end.code):
                raise
            sys.exit(Code.INTERRUPTED.value)
        except KeyboardInterrupt:
            sys.exit(Code.INTERRUPTED.value)
        except Exception as problem:
            if signals:  # compiled modules turn the interrupt of their import into other errors
                sys.exit(Code.INTERRUPTED.value)
            _explain(problem)


@contextmanager
def _noticed() -> Iterator[list[int]]:
    """Give a list that is no longer empty once Ctrl-C was pressed, whatever becomes of it."""
    came: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler or current_thread() is not main_thread():
        yield came
        return

    def notice(number: int, frame: FrameType | None) -> None:
        came.append(number)
        signal.default_int_handler(number, frame)

    signal.signal(signal.SIGINT, notice)
    try:
        yield came
    finally:
        signal.signal(signal.SIGINT, before)


def _explain(problem: Exception) -> None:
    """End with one sentence and the code that says what kind of problem it is, or raise it."""
    from multiobs.cli.problems import Code, Refusal

    match problem:
        case ModuleNotFoundError():
            name = (problem.name or "").partition(".")[0]
            if name not in EXTRA:
                raise problem
            needs = "typer and rich" if name not in ("pyarrow", "pandas") else name
            _end(f"the multiobs command needs {needs}: pip install 'multiobs[cli]'", Code.DATA)
        case Refusal():
            _end(f"multiobs: {problem}", problem.code)
        case OSError():
            _end(f"multiobs: {_said(problem)}", Code.FILE)
        case ValueError():
            _end(f"multiobs: {_one_line(str(problem))}", Code.DATA)
        case MemoryError():
            _end("multiobs: not enough memory: fewer columns of --x, or fewer rows", Code.DATA)
        case _:
            raise problem


def _end(sentence: str, code: int) -> None:
    print(sentence, file=sys.stderr)
    sys.exit(int(code))


def _said(problem: OSError) -> str:
    """The reason and the file, in that order."""
    if problem.strerror is None:
        return _one_line(str(problem))
    where = f": {problem.filename}" if problem.filename is not None else ""
    return _one_line(f"{problem.strerror}{where}")


def _one_line(text: str) -> str:
    return " ".join(text.split())
