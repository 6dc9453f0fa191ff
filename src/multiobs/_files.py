"""Files: written beside their target and renamed, so that a reader never sees half of one."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def beside(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path in the directory of ``path``; rename it to ``path`` when all went well.

    Parameters
    ----------
    path : path-like
        The file to write. Its directory is made if it is missing.

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
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(
        prefix=f".{target.stem}-", suffix=target.suffix, dir=target.parent
    )
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        # mkstemp makes the file private; the result gets the permissions of any other new file.
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
