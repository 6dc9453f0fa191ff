"""Where runs and finished parts are kept: a folder, or any storage that fsspec knows.

Workers on many machines need storage that all of them reach.  A folder of a shared file system is
one; ``s3://bucket/scratch`` and its like are another, in which a file appears whole or not at all.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, final

from multiobs._files import beside


@lru_cache(maxsize=8)
def _storage(protocol: str) -> Any:
    return import_module("fsspec").filesystem(protocol)


@final
@dataclass(frozen=True)
class Remote:
    """A place on storage that fsspec knows, with as much of a path's manners as is needed here.

    Parameters
    ----------
    url : str
        Such as ``s3://bucket/folder``.

    Examples
    --------
    >>> place = Remote("memory://scratch") / "a.txt"
    >>> with written(place) as temporary:
    ...     _ = temporary.write_text("done")
    >>> place.exists(), place.name
    (True, 'a.txt')
    >>> remove(Remote("memory://scratch"))
    """

    url: str

    def __truediv__(self, name: str) -> "Remote":
        return Remote(f"{self.url.rstrip('/')}/{name}")

    def __str__(self) -> str:
        return self.url

    @property
    def storage(self) -> Any:
        """The file system."""
        return _storage(self.url.split("://", 1)[0])

    @property
    def name(self) -> str:
        """Last part of the address."""
        return self.url.rsplit("/", 1)[1]

    def exists(self) -> bool:
        """Whether there is such a file."""
        return bool(self.storage.exists(self.url))

    def size(self) -> int:
        """Bytes of the file."""
        return int(self.storage.size(self.url))

    def open(self, mode: str = "rb", buffering: int = -1) -> Any:
        """Open a file for reading: only the bytes that are asked for are fetched."""
        return self.storage.open(self.url, mode, cache_type="none")


Place = Path | Remote


def place_of(folder: str | os.PathLike[str]) -> Place:
    """A folder of this machine, or a place on other storage.

    >>> place_of("memory://scratch")
    Remote(url='memory://scratch')
    """
    name = os.fspath(folder)
    if "://" in name and not name.startswith("file://"):
        return Remote(name)
    return Path(name.removeprefix("file://"))


def size_of(place: Place) -> int:
    """Bytes of a file; none if there is no such file."""
    if not place.exists():
        return 0
    return place.stat().st_size if isinstance(place, Path) else place.size()


def make_folder(place: Place) -> None:
    """Make a folder, if it is missing."""
    if isinstance(place, Path):
        place.mkdir(parents=True, exist_ok=True)
    else:
        place.storage.makedirs(place.url, exist_ok=True)


def staging(place: Place) -> Path:
    """A folder of this machine for what only this process reads."""
    return place if isinstance(place, Path) else Path(tempfile.gettempdir())


def remove(place: Place) -> None:
    """Remove a file, or a folder and all that is in it."""
    if isinstance(place, Path) and place.is_file():
        place.unlink()
    elif isinstance(place, Path):
        shutil.rmtree(place)
    elif place.exists():
        place.storage.rm(place.url, recursive=True)


@contextmanager
def written(place: Place) -> Iterator[Path]:
    """Give a temporary file of this machine that takes its place when all went well.

    Parameters
    ----------
    place : Path or Remote
        The file to write.
    """
    if isinstance(place, Path):
        with beside(place, durable=False) as temporary:
            yield temporary
        return
    with tempfile.TemporaryDirectory() as folder:
        temporary = Path(folder) / place.name
        temporary.touch()
        yield temporary
        above = place.url.rsplit("/", 1)[0]
        place.storage.makedirs(above, exist_ok=True)
        place.storage.put_file(str(temporary), place.url)
