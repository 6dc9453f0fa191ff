r"""The file itself: one JSON object of four members, of which the first three are fixed text.

``{"format":"multiobs model","version":1,"sha256":"<64 hex digits>","content":{...}}`` and a line
feed. The digest is that of every byte after ``"content":`` up to the closing brace, and the bytes
before it must be exactly these: a flipped, lost or added byte anywhere is noticed before anything
is read. It guards against accidents; whoever forges a file can forge its digest, which is why
nothing in a file is ever run.

Version 2 is version 1 with two more classes, smooth terms and a bootstrap's replicates, and is
written only for those; a reader of version 1 says that it is too old for them.  Version 3 adds the
average of a linear and a smooth class, in the same way.

Arrays are ``{"dtype":"<f8","shape":[2,3],"base64":"..."}``, little-endian and C-ordered: exact.
"""

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Mapping
from math import inf, isfinite, isnan, nan, prod
from typing import Any, NoReturn, final

import numpy as np
import numpy.typing as npt

from multiobs import _check

VERSION = 3
HEAD = re.compile(
    rb'\{"format":"multiobs model","version":([0-9]{1,6}),"sha256":"([0-9a-f]{64})","content":'
)
START = b'{"format":"multiobs model"'
END = b"}\n"
DTYPES = ("<f8", "<i8", "|b1")
WORDS = {"inf": inf, "-inf": -inf, "nan": nan}


@final
class ModelFileError(ValueError):
    """A model file that cannot be used, with the reason.

    Examples
    --------
    >>> from multiobs import models
    >>> try:
    ...     models.loads(b"{}")
    ... except models.ModelFileError as error:
    ...     print(error)
    the file is not a multiobs model
    """


def pack(content: dict[str, Any], version: int = VERSION) -> bytes:
    """Return the bytes of a model file.

    Parameters
    ----------
    content : dict
        JSON values and arrays from :func:`array`.
    version : int
        The first that knows such content.
    """
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()
    digest = hashlib.sha256(text).hexdigest()
    head = f'{{"format":"multiobs model","version":{version},"sha256":"{digest}","content":'
    return head.encode() + text + END


def checked_notes(notes: Any) -> dict[str, Any]:
    """Refuse notes that JSON cannot hold."""
    if notes is None:
        return {}
    if not isinstance(notes, Mapping) or not all(isinstance(key, str) for key in notes):
        raise TypeError(f"notes must be JSON values by name, got {_check.shown(notes)}")
    try:
        json.dumps(dict(notes), allow_nan=False)
    except (TypeError, ValueError):
        raise ValueError(f"notes must be JSON values, got {_check.shown(notes)}") from None
    return dict(notes)


def unpack(data: bytes, name: str) -> dict[str, Any]:
    """Return the content of a model file, or say what is wrong with it.

    Parameters
    ----------
    data : bytes
        The whole file.
    name : str
        For messages.

    Examples
    --------
    >>> unpack(pack({"a": 1}), "m.json")
    {'a': 1}
    >>> unpack(pack({"a": 1})[:-5], "m.json")
    Traceback (most recent call last):
        ...
    multiobs.models.container.ModelFileError: m.json is damaged or cut short: its checksum ...
    """
    head = HEAD.match(data)
    if head is None:
        if data.startswith(START) or (START.startswith(data[: len(START)]) and data):
            raise ModelFileError(f"{name} is damaged or cut short: its first line is not whole")
        raise ModelFileError(f"{name} is not a multiobs model")
    version = int(head[1])
    if not 1 <= version <= VERSION:
        raise ModelFileError(
            f"{name} has version {version} of the format, this multiobs reads 1 to {VERSION}: "
            "install the multiobs that wrote it, or a later one"
        )
    text = data[head.end() : -len(END)]
    whole = data.endswith(END) and hashlib.sha256(text).hexdigest() == head[2].decode()
    if not whole:
        raise ModelFileError(f"{name} is damaged or cut short: its checksum does not fit")
    try:
        content = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as problem:
        raise ModelFileError(f"{name} was tampered with: {problem}") from None
    if not isinstance(content, dict):
        raise ModelFileError(f"{name} was tampered with: its content is no object")
    return content


def version_in(data: bytes) -> int:
    """Return the version that the first bytes of a model file name; zero where they do not."""
    head = HEAD.match(data)
    return 0 if head is None else int(head[1])


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON")


def array(values: npt.ArrayLike) -> dict[str, Any]:
    """Return an array as JSON, exactly.

    >>> array([1.0])
    {'dtype': '<f8', 'shape': [1], 'base64': 'AAAAAAAA8D8='}
    """
    given = np.asarray(values)
    kind = {"f": "<f8", "i": "<i8", "b": "|b1"}[given.dtype.kind]
    plain = np.ascontiguousarray(given, dtype=kind)
    return {
        "dtype": kind,
        "shape": list(plain.shape),
        "base64": base64.b64encode(plain.tobytes()).decode(),
    }


def number(value: float) -> float | str:
    """Return a float as JSON, infinities and NaN as words.

    >>> number(0.5), number(float("inf"))
    (0.5, 'inf')
    """
    if isfinite(value):
        return float(value)
    return "nan" if isnan(value) else ("inf" if value > 0 else "-inf")


@final
class Fields:
    """Members of an object of a file, each checked when it is asked for.

    Parameters
    ----------
    content : object
        What should be a JSON object.
    where : str
        Its place, for messages.
    """

    def __init__(self, content: Any, where: str) -> None:
        if not isinstance(content, dict):
            raise ModelFileError(f"{where} was tampered with: an object is missing")
        self._content = content
        self._where = where

    def wrong(self, key: str, rule: str) -> ModelFileError:
        """Return the error about a member."""
        return ModelFileError(f"{self._where} was tampered with: {key!r} must be {rule}")

    def has(self, key: str) -> bool:
        """Whether a member is there and not null."""
        return self._content.get(key) is not None

    def inner(self, key: str) -> "Fields":
        """Return a member that is an object."""
        return Fields(self._content.get(key), f"{self._where}, {key!r}")

    def objects(self, key: str) -> "tuple[Fields, ...]":
        """Return a member that is a list of objects."""
        value = self._content.get(key)
        if not isinstance(value, list):
            raise self.wrong(key, "a list")
        where = f"{self._where}, {key!r}"
        return tuple(Fields(each, f"{where} {place}") for place, each in enumerate(value))

    def text(self, key: str) -> str:
        """Return a member that is a text."""
        value = self._content.get(key)
        if not isinstance(value, str):
            raise self.wrong(key, "a text")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a member that is a list of texts."""
        value = self._content.get(key)
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self.wrong(key, "a list of texts")
        return tuple(value)

    def flag(self, key: str) -> bool:
        """Return a member that is true or false."""
        value = self._content.get(key)
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def count(self, key: str) -> int:
        """Return a member that is a nonnegative integer."""
        value = self._content.get(key)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self.wrong(key, "a nonnegative integer")
        return value

    def real(self, key: str) -> float:
        """Return a member that is a number or the word for one."""
        value = self._content.get(key)
        if isinstance(value, str) and value in WORDS:
            return WORDS[value]
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.wrong(key, "a number")
        return float(value)

    def any(self, key: str) -> Any:
        """Return a member whatever it is, null included."""
        return self._content.get(key)

    def array(self, key: str, *shape: int | None) -> npt.NDArray[Any]:
        """Return a member that is a finite array of a shape, None for any length."""
        return self.inner(key).as_array(*shape)

    def as_array(self, *shape: int | None) -> npt.NDArray[Any]:
        """Return this object, a finite array of a shape, None for any length."""
        fields, key = self, "shape"
        dtype = fields.text("dtype")
        if dtype not in DTYPES:
            raise self.wrong(key, f"an array of {', '.join(DTYPES)}")
        size = fields.any("shape")
        if not isinstance(size, list) or not all(type(n) is int and 0 <= n < 2**40 for n in size):
            raise self.wrong(key, "an array with a shape")
        try:
            data = base64.b64decode(fields.text("base64"), validate=True)
        except binascii.Error:
            raise self.wrong(key, "base64") from None
        if len(data) != prod(size) * np.dtype(dtype).itemsize:
            raise self.wrong(key, f"as long as its shape {size} says")
        wanted = tuple(n if m is None else m for m, n in zip(shape, size, strict=False))
        if len(size) != len(shape) or tuple(size) != wanted:
            raise self.wrong(key, f"of shape {shape}, not {tuple(size)}")
        found = np.frombuffer(data, dtype=dtype).reshape(size).copy()
        if dtype == "<f8" and not np.all(np.isfinite(found)):
            raise self.wrong(key, "finite")
        return found
