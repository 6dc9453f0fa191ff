"""Files that are either the old state or the new one, never something between."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt


def save_arrays(path: str | os.PathLike[str], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write arrays to one ``.npz`` file atomically: beside it, to the disk, then renamed.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_arrays(Path(folder) / "a.npz", {"x": np.arange(3)})
    ...     load_arrays(Path(folder) / "a.npz")["x"].tolist(), os.listdir(folder)
    ([0, 1, 2], ['a.npz'])
    """
    pickled = [name for name, array in arrays.items() if array.dtype.hasobject]
    if pickled:
        raise ValueError(f"arrays must hold plain numbers or text, got objects in {pickled[0]!r}")
    target = Path(path)
    handle, beside = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, **cast(Any, arrays))  # numpy types the names of arrays as its flags
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
    _sync_directory(target.parent)


def load_arrays(path: str | os.PathLike[str]) -> dict[str, npt.NDArray[Any]]:
    """Read the arrays of a file written by :func:`save_arrays`; nothing in it is executed."""
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def _sync_directory(folder: Path) -> None:
    """Make the new name itself survive a power cut, where the system lets a directory be synced."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)
