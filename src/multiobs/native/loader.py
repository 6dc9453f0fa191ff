"""The compiled loops, when there are any: one shared library beside this file, loaded by ctypes.

ctypes releases the interpreter's lock while a function runs, loads in well under a millisecond and
needs no Python header at build time. The environment variable ``MULTIOBS_NATIVE=0`` makes every
caller use numpy instead, as it does where the package was installed without a C compiler.
"""

import ctypes
import os
import sys
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

__all__ = ["address", "available", "library"]

_P, _I, _D = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double
_SIGNATURES = {
    "mo_window_stops": ([_P, _I, _D, _P, _P], None),
    "mo_window_sums": ([_P, _I, _P, _P, _I, _P], ctypes.c_int),
    "mo_stable_argsort": ([_P, _I, _P, _P], ctypes.c_int),
    "mo_window_totals": (
        [_P, _P, _I, _P, _P, _P, _P, _P, _I, _P, _I, _P, _I, _P, _I, _I, _P],
        ctypes.c_int,
    ),
    "mo_rank_windows": ([_P, _P, _P, _P, _I, _I, _P, _P, _P, _I, _I, _I], ctypes.c_int),
    "mo_rank_lists": ([_P, _P, _P, _P, _I, _I, _P, _P, _P, _P, _I], ctypes.c_int),
}


@cache
def _load() -> ctypes.CDLL | None:
    suffix = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
    try:
        loaded = ctypes.CDLL(str(Path(__file__).with_name(f"libmultiobs{suffix}")))
        for name, (arguments, result) in _SIGNATURES.items():
            function = getattr(loaded, name)
            function.argtypes = arguments
            function.restype = result
    except (OSError, AttributeError):  # not built here, or built from other sources
        return None
    return loaded


def library() -> ctypes.CDLL | None:
    """Return the compiled library, or None when numpy must do the work."""
    return None if os.environ.get("MULTIOBS_NATIVE") == "0" else _load()


def available() -> bool:
    """Say whether the compiled loops are in use.

    Examples
    --------
    >>> available() in (True, False)
    True
    """
    return library() is not None


def address(array: npt.NDArray[np.generic] | None) -> int | None:
    """Return the address of an array's first value for a ctypes call; None stays None."""
    return None if array is None else array.ctypes.data
