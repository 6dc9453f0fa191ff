"""The compiled loops, when there are any: one shared library beside this file, loaded by ctypes.

ctypes releases the interpreter's lock while a function runs, loads in well under a millisecond and
needs no Python header at build time. The environment variable ``MULTIOBS_NATIVE=0`` makes every
caller use numpy instead, as it does where the package was installed without a C compiler.

Arrays are handed over as arrays: their dtype and layout are checked against the signature, so that
a wrong one is a TypeError and not a wrong sum.
"""

import ctypes
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["INTERFACE", "available", "library"]

INTERFACE = 1  # the number in native.h: raise both when a signature or its meaning changes


def _array(dtype: type, optional: bool = False) -> Any:
    """Make the type of a contiguous array argument, or of None too."""
    exact: Any = np.ctypeslib.ndpointer(dtype=dtype, flags="C_CONTIGUOUS")
    if not optional:
        return exact

    class OrNone(exact):  # type: ignore[misc]
        @classmethod
        def from_param(cls, value: Any) -> Any:
            return None if value is None else exact.from_param(value)

    return OrNone


_D, _DN = _array(np.float64), _array(np.float64, optional=True)
_L, _LN, _I = _array(np.int64), _array(np.int64, optional=True), _array(np.int32)
_P, _n, _x = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double
_O = ctypes.POINTER(ctypes.c_double)  # a place for numbers, or None: no array is looked at
_RANKS = [_D, _DN, _DN, _D, _n, _n, _D, _DN]
_SIGNATURES: dict[str, tuple[list[Any], Any]] = {
    "mo_interface": ([], ctypes.c_int64),
    "mo_window_stops": ([_D, _n, _x, _LN, _L], None),
    "mo_window_sums": ([_D, _n, _L, _L, _n, _D], ctypes.c_int),
    "mo_stable_argsort": ([_D, _n, _L, _O], ctypes.c_int),
    "mo_window_totals": (
        [_L, _L, _n, _P, _L, _D, _D, _I, _n, _I, _n, _I, _n, _I, _n, _n, _D],
        ctypes.c_int,
    ),
    "mo_rank_windows": ([*_RANKS, _L, _n, _n, _n], ctypes.c_int),
    "mo_rank_lists": ([*_RANKS, _L, _L, _n], ctypes.c_int),
}


def load(path: Path) -> ctypes.CDLL | None:
    """Load a library; None when it is not there or was built for another version of this file."""
    try:
        loaded = ctypes.CDLL(str(path))
        for name, (arguments, result) in _SIGNATURES.items():
            function = getattr(loaded, name)
            function.argtypes = arguments
            function.restype = result
    except (OSError, AttributeError):  # not built here, or built from other sources
        return None
    return loaded if loaded.mo_interface() == INTERFACE else None


@cache
def library() -> ctypes.CDLL | None:
    """Return the compiled library, or None when numpy must do the work.

    The environment is read once: a process works in one way from beginning to end.
    """
    if os.environ.get("MULTIOBS_NATIVE") == "0":
        return None
    suffix = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
    return load(Path(__file__).with_name(f"libmultiobs{suffix}"))


def available() -> bool:
    """Say whether the compiled loops are in use.

    Examples
    --------
    >>> available() in (True, False)
    True
    """
    return library() is not None
