"""The ``multiobs`` command: says which extra is missing, or hands over to the commands."""

import sys
from collections.abc import Sequence

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
    from multiobs.cli.problems import Code, Refusal

    try:
        from multiobs.cli.app import app

        app(args=arguments, prog_name="multiobs")
    except ModuleNotFoundError as missing:
        name = (missing.name or "").partition(".")[0]
        if name not in EXTRA:
            raise
        needs = "typer and rich" if name not in ("pyarrow", "pandas") else name
        _end(f"the multiobs command needs {needs}: pip install 'multiobs[cli]'", Code.DATA)
    except Refusal as problem:
        _end(f"multiobs: {problem}", problem.code)
    except OSError as problem:
        _end(f"multiobs: {_said(problem)}", Code.FILE)
    except ValueError as problem:
        _end(f"multiobs: {_one_line(str(problem))}", Code.DATA)
    except MemoryError:
        _end("multiobs: not enough memory: fewer columns of --x, or fewer rows", Code.DATA)
    except KeyboardInterrupt:
        sys.exit(Code.INTERRUPTED.value)


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
