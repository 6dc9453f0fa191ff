"""The scratch folder: finished parts, kept under the name of everything they depend on.

A part is reused if, and only if, nothing it was made from has changed: names are digests of the
inputs' stamps, of the parameters and of the package's version.  Files are written beside their
target and renamed, so whatever is found under a name is whole, but for a power cut: what that cut
short is made again.
"""

import errno
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from multiobs.scale.storage import Place, make_folder, place_of, remove, written

Arrays = dict[str, npt.NDArray[Any]]
FORMAT = 1  # of the files below
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # a disk, a quota, a limit of the process


def digest(*content: Any) -> str:
    """Name of some parameters: equal for equal ones, another for others.

    >>> digest(1, "a") == digest(1, "a"), digest(1) == digest(2)
    (True, False)
    """
    text = json.dumps([FORMAT, version("multiobs"), content], default=repr, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def named(content: Any) -> str:
    """Name of any object by all that is in it, the code of a user's own functions included.

    >>> named((1, abs)) == named((1, abs)), named((1, abs)) == named((1, max))
    (True, False)
    """
    import cloudpickle

    return hashlib.sha256(cloudpickle.dumps(content)).hexdigest()[:20]


def kept(path: Place, make: Callable[[], Mapping[str, Any]]) -> Arrays:
    """Arrays of a finished part, or make them and keep them.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = kept(Path(folder) / "a.npz", lambda: {"a": np.ones(1)})
    ...     again = kept(Path(folder) / "a.npz", lambda: {"a": np.zeros(1)})
    >>> again["a"]
    array([1.])
    """
    if path.exists():
        with suppress(EOFError, ValueError, BadZipFile), path.open("rb") as file:
            return _arrays(file)
    with written(path) as temporary:
        arrays: Any = {name: np.asarray(value) for name, value in make().items()}
        with temporary.open("w+b") as file:
            np.savez(file, **arrays)
            file.seek(0)
            return _arrays(file)


def _arrays(file: IO[bytes]) -> Arrays:
    with np.load(file, allow_pickle=False) as found:
        return {name: found[name] for name in found.files}


def scratch_folder(folder: str | os.PathLike[str] | None) -> Place:
    """Where files go: the user's folder or storage, or the system's folder for temporary files."""
    found = place_of(tempfile.gettempdir() if folder is None else folder)
    make_folder(found)
    return found


@contextmanager
def opened(above: Place, name: str, keep: bool) -> Iterator[Place]:
    """Give the folder of one fit; removed when all went well, unless it is to be kept.

    Parameters
    ----------
    above : Path or Remote
        Where to put it.
    name : str
        Digest of all that the fit depends on: a second attempt finds what the first left.
    keep : bool
        Whether it stays.
    """
    here = above / f"multiobs-{name}"
    make_folder(here)
    with _alone(here):
        _describe(here, name)
        try:
            yield here
        except OSError as error:
            if error.errno not in FULL:
                raise
            raise OSError(
                error.errno,
                f"scratch must have room for sorted runs and finished parts, but {above} is full: "
                "make room there and call again, which resumes from what is finished, or choose "
                "another folder with scratch=",
            ) from error
    if not keep:
        remove(here)


@contextmanager
def _alone(here: Place) -> Iterator[None]:
    """Hold the folder for this process; other storage has no locks."""
    if not isinstance(here, Path):
        yield
        return
    try:
        import fcntl
    except ImportError:  # no locks of this kind on Windows
        yield
        return
    with (here / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise RuntimeError(
                f"the scratch folder must be used by one fit at a time, but another holds {here}"
            ) from error
        yield


def _describe(here: Place, name: str) -> None:
    target = here / "manifest.json"
    if not target.exists():
        with written(target) as temporary:
            temporary.write_text(json.dumps({"digest": name, "multiobs": version("multiobs")}))


def check_space(here: Place, needed: int) -> None:
    """Refuse to begin what cannot be finished.

    Parameters
    ----------
    here : Path or Remote
        The folder that will hold the files; nobody knows how much room other storage has.
    needed : int
        Bytes.
    """
    if not isinstance(here, Path):
        return
    make_folder(here)
    present = sum(each.stat().st_size for each in here.rglob("*") if each.is_file())
    free = shutil.disk_usage(here).free + present
    if needed > free:
        raise OSError(
            f"scratch must have {needed / 1e9:.3g} GB free for rows at work, got "
            f"{free / 1e9:.3g} GB in {here}: choose another folder with scratch="
        )
