"""Files: written beside their target and renamed, so that a reader never sees half of one."""

import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform != "win32":  # there, writers do not wait for each other and nothing is swept
    import fcntl

_UNFINISHED = ".unfinished"


def as_path(name: str, given: object) -> Path:
    """Return the path, or refuse: a number would be taken for an open file, and closed."""
    if not isinstance(given, str | os.PathLike) or not os.fspath(given):
        shown = " ".join(repr(given).split())[:100]
        raise TypeError(f"{name} must be the name of a file, got {shown}")
    return Path(given)


@contextmanager
def beside(path: str | os.PathLike[str], *, durable: bool = True) -> Iterator[Path]:
    """Give a temporary path in the directory of ``path``; rename it to ``path`` when all went well.

    A durable file is on the disk before it gets its name. It has the permissions of the file it
    replaces, or those of any other new file. What writers of the same file left behind when they
    were killed is removed.

    Parameters
    ----------
    path : path-like
        The file to write. Its directory is made if it is missing; a link keeps pointing at it.
    durable : bool
        Whether to wait until it is on the disk. What can be made again need not survive a power
        cut, only the death of its writer.

    Yields
    ------
    Path
        Where to write. It has the suffix of ``path`` and is gone afterwards, whatever happened.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with beside(Path(folder) / "a.txt") as temporary:
    ...         _ = temporary.write_text("done")
    ...     [p.name for p in Path(folder).iterdir()]
    ['a.txt']
    """
    target = Path(os.path.realpath(as_path("the file", path)))
    target.parent.mkdir(parents=True, exist_ok=True)
    _sweep(target)
    temporary, handle = _claimed(target)
    try:
        yield temporary
        with suppress(FileNotFoundError):
            temporary.chmod(target.stat().st_mode & 0o777)
        if durable:
            _to_disk(temporary)
        if sys.platform == "win32":  # an open file cannot be renamed there
            os.close(handle)
            handle = -1
        os.replace(temporary, target)
        if durable:
            _to_disk(target.parent)
    finally:
        if handle >= 0:
            os.close(handle)
        temporary.unlink(missing_ok=True)


@contextmanager
def locked(path: str | os.PathLike[str]) -> Iterator[None]:
    """Hold an existing file alone among all who call this, in this process and in others.

    The file may be replaced by :func:`beside` while it is held: who waited for the old one then
    waits for the new one.

    Raises
    ------
    FileNotFoundError
        When there is no such file.
    """
    target = os.path.realpath(path)
    handle = os.open(target, os.O_RDONLY)
    try:
        while sys.platform != "win32":
            fcntl.flock(handle, fcntl.LOCK_EX)
            if os.path.samestat(os.fstat(handle), os.stat(target)):
                break
            os.close(handle)  # replaced while we waited
            handle = -1
            handle = os.open(target, os.O_RDONLY)
        yield
    finally:
        if handle >= 0:
            os.close(handle)


def _claimed(target: Path) -> tuple[Path, int]:
    """Make a temporary file that is locked as long as its writer lives."""
    while True:
        name = f".{target.name}.{secrets.token_hex(6)}{_UNFINISHED}{target.suffix}"
        temporary = target.with_name(name)
        # 0o666 less the umask: mkstemp's private files would stay private under their new name
        handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        if sys.platform == "win32" or _claim(temporary, handle):
            return temporary, handle
        os.close(handle)  # another writer swept it between the two calls


def _sweep(target: Path) -> None:
    """Remove the temporary files of writers that no longer live."""
    if sys.platform == "win32":
        return
    for left in target.parent.glob(f".{_literal(target.name)}.*{_UNFINISHED}*"):
        with suppress(OSError):
            handle = os.open(left, os.O_RDWR)
            try:
                if _claim(left, handle):
                    left.unlink()
            finally:
                os.close(handle)


def _claim(path: Path, handle: int) -> bool:
    """Lock an open file and say whether it is ours and still has its name."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(handle), path.stat())
    except OSError:
        return False


def _literal(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def _to_disk(path: Path) -> None:
    """Make a file, or the names in a directory, survive a power cut."""
    if path.is_dir():
        # Some systems do not let a directory be opened or synced.
        with suppress(OSError):
            _sync(os.open(path, os.O_RDONLY))
    else:
        _sync(os.open(path, os.O_RDWR))


def _sync(handle: int) -> None:
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
