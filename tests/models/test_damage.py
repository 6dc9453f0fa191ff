"""Model files that were damaged, cut short, forged or written long ago."""

import base64
import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from multiobs import models
from multiobs.models.container import VERSION, Fields, ModelFileError, pack, unpack

EXAMPLES = Path(__file__).parent / "examples"
FILES = sorted(EXAMPLES.glob("*.json"))
LINEAR, SMOOTH = EXAMPLES / "maxvar-v1.json", EXAMPLES / "smooth-ucb-v2.json"
FLIPS = int(os.environ.get("MULTIOBS_FLIPS", "2000"))  # make fuzz: a hundred thousand


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_files_of_the_past_are_read_forever(path: Path) -> None:
    pd = pytest.importorskip("pandas")
    expected = json.loads(path.with_suffix(".expected").read_text())
    stored = models.load(path)
    places = pd.DataFrame({"x": expected["x"], "kind": expected["kind"]})
    np.testing.assert_allclose(stored.predict(places), expected["prediction"], rtol=1e-9)
    # how intervals are computed may be improved; that they are near the estimate may not change
    limits = stored.predict_interval(places)
    assert np.all(limits[:, 0] < stored.predict(places))
    assert np.all(limits[:, 1] > stored.predict(places))
    np.testing.assert_allclose(limits, expected["interval"], rtol=0.2)


def test_there_is_a_file_of_every_version() -> None:
    for version in range(1, VERSION + 1):
        assert list(EXAMPLES.glob(f"*-v{version}.json"))


@pytest.mark.parametrize("path", [LINEAR, SMOOTH], ids=lambda path: path.name)
def test_no_flipped_lost_or_added_byte_goes_unnoticed(path: Path) -> None:
    whole = path.read_bytes()
    draw = random.Random(0)
    for trial in range(FLIPS):
        data = bytearray(whole)
        kind = trial % 4
        at = draw.randrange(len(data))
        if kind == 0:
            data[at] ^= 1 << draw.randrange(8)
        elif kind == 1:
            data = data[:at]
        elif kind == 2:
            data.insert(at, draw.randrange(256))
        else:
            data[at] = (data[at] + draw.randrange(1, 256)) % 256
        if bytes(data) == whole:
            continue
        with pytest.raises(ModelFileError, match=r"m\.json") as refused:
            models.loads(bytes(data), "m.json")
        assert len(str(refused.value)) < 300


@pytest.mark.parametrize("path", [LINEAR, SMOOTH], ids=lambda path: path.name)
def test_no_bit_of_the_first_line_can_change(path: Path) -> None:
    whole = path.read_bytes()
    for at in range(160):
        for bit in range(8):
            data = bytearray(whole)
            data[at] ^= 1 << bit
            with pytest.raises(ModelFileError):
                models.loads(bytes(data), "m.json")


def test_a_file_cut_anywhere_says_so() -> None:
    whole = LINEAR.read_bytes()
    for length in [0, 1, 5, 20, 60, 100, 130, len(whole) - 2, len(whole) - 1]:
        with pytest.raises(ModelFileError):
            models.loads(whole[:length], "m.json")


def test_other_versions_are_a_sentence() -> None:
    later = LINEAR.read_bytes().replace(b'"version":1', b'"version":7', 1)
    with pytest.raises(ModelFileError, match=r"has version 7 of the format, .* reads 1 to 3"):
        models.loads(later)
    other = LINEAR.read_bytes().replace(b'"version":1', b'"version":2', 1)
    with pytest.raises(ModelFileError, match="its version is not that of its content"):
        models.loads(other)


def content(path: Path = LINEAR) -> dict[str, Any]:
    return unpack(path.read_bytes(), "m.json")


def put(*path: Any) -> Callable[[dict[str, Any]], None]:
    """Return a change of the content: all but the last are keys, the last is the value."""

    def change(found: dict[str, Any]) -> None:
        *keys, value = path
        for key in keys[:-1]:
            found = found[key]
        found[keys[-1]] = value

    return change


ARRAY = {"dtype": "<f8", "shape": [1], "base64": base64.b64encode(b"\0" * 8).decode()}
FORGED = {
    "no statistic": put("statistic", None),
    "another statistic": put("statistic", "name", "os.system"),
    "parameters of another": put("statistic", "parameters", {"command": "ls"}),
    "another loss": put("statistic", "loss", "__import__"),
    "too few coefficients": put("class", "w", ARRAY),
    "a kind of class": put("class", "kind", "pickle"),
    "a transformer": put("class", "transformer", {"kind": "pickle", "base64": "gASVAAAA"}),
    "no archive": put(
        "class",
        "transformer",
        {"kind": "skops", "scikit-learn": "1.5", "base64": base64.b64encode(b"x").decode()},
    ),
    "objects": put("class", "w", {**ARRAY, "dtype": "|O"}),
    "a shape": put("class", "w", {**ARRAY, "shape": [2**60]}),
    "a negative shape": put("class", "w", {**ARRAY, "shape": [-1]}),
    "no base64": put("class", "w", {**ARRAY, "base64": "?"}),
    "NaN": put(
        "class", "w", {**ARRAY, "base64": base64.b64encode(np.float64("nan").tobytes()).decode()}
    ),
    "names": put("columns", "names", ["x"]),
    "places": put("columns", "categories", "places", [7]),
    "levels": put("columns", "categories", "levels", [[{"a": 1}]]),
    "a flag": put("class", "intercept", "yes"),
    "df": put("class", "uncertainty", "df", -1),
    "a word": put("class", "uncertainty", "df", "many"),
    "rows": put("fit", "rows", -3),
    "notes": put("notes", [1]),
    "units": put("units", "factor", 0.0),
    "infinite units": put("units", "scale", "inf"),
}


PART = ("class", "parts", 0)
TERM = (*PART, "terms", 0)
FORGED_TERMS = {
    "parts that are not its own": put("class", "made_of", {"beta": 0.5}),
    "no parts": put("class", "made_of", None),
    "one part": lambda found: found["class"]["parts"].pop(),
    "a link": put(*PART, "link", "exec"),
    "a logit without ends": put(*PART, "link", "logit"),
    "few coefficients": put(*PART, "w", ARRAY),
    "a small covariance": put(*PART, "covariance", ARRAY),
    "nothing shared": put("class", "shared", []),
    "shared of another shape": put("class", "shared", [ARRAY]),
    "units of a part": put(*PART, "units", "factor", 0.0),
    "no terms": put(*PART, "terms", []),
    "terms that are no list": put(*PART, "terms", {"kind": "line"}),
    "a kind of term": put(*TERM, "kind", "pickle"),
    "a column": put(*TERM, "column", 9),
    "knots": put(*TERM, "knots", ARRAY),
    "a table": put(*TERM, "table", ARRAY),
    "a width": put(*TERM, "width", 0.0),
    "a basis": put(*TERM, "basis", ARRAY),
    "indicators": put(*PART, "terms", 1, "indicators", [77]),
    "tests": put("class", "tests", [{"part": "mean"}]),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_content_with_a_right_checksum_is_refused(name: str) -> None:
    found = content()
    FORGED[name](found)
    with pytest.raises(ModelFileError):
        models.loads(pack(found, 1), "m.json")


@pytest.mark.parametrize("name", FORGED_TERMS)
def test_forged_terms_are_refused(name: str) -> None:
    found = content(SMOOTH)
    models.loads(pack(found, 2), "m.json")
    FORGED_TERMS[name](found)
    with pytest.raises(ModelFileError):
        models.loads(pack(found, 2), "m.json")


@pytest.mark.parametrize(
    "forge",
    [
        put("class", "weight", 1.5),
        put("class", "weight", 0.0),
        put("class", "line", "w", ARRAY),
        put("class", "line_units", "factor", 0.0),
        put("class", "smooth", "parts", []),
    ],
)
def test_forged_averages_are_refused(forge: Callable[[dict[str, Any]], None]) -> None:
    found = content(EXAMPLES / "averaged-gini-v3.json")
    models.loads(pack(found, 3), "m.json")
    forge(found)
    with pytest.raises(ModelFileError):
        models.loads(pack(found, 3), "m.json")


def test_every_missing_member_is_noticed() -> None:
    def paths(value: Any, here: tuple[str, ...]) -> list[tuple[str, ...]]:
        if not isinstance(value, dict) or "base64" in value:
            return [here]
        return [here] * bool(here) + [p for k, v in value.items() for p in paths(v, (*here, k))]

    optional = {("notes", "made"), ("statistic", "loss")}
    optional |= {("columns", "names"), ("columns", "categories"), ("class", "uncertainty")}
    optional |= {("class", "uncertainty", "cubic")}
    models.loads(pack(content(), 1), "m.json")
    for path in paths(content(), ()):
        found = content()
        inner = found
        for key in path[:-1]:
            inner = inner[key]
        del inner[path[-1]]
        if path in optional:
            continue
        with pytest.raises(ModelFileError):
            models.loads(pack(found, 1), "m.json")


def test_pickles_and_deep_nests_are_refused() -> None:
    import pickle

    with pytest.raises(ModelFileError, match="is not a multiobs model"):
        models.loads(pickle.dumps({"a": 1}), "m.json")
    text = b"[" * 100_000
    import hashlib

    head = b'{"format":"multiobs model","version":1,"sha256":"%s","content":'
    data = head % hashlib.sha256(text).hexdigest().encode() + text + b"}\n"
    with pytest.raises(ModelFileError, match="tampered"):
        models.loads(data, "m.json")


def test_a_type_that_is_not_trusted_is_not_built() -> None:
    skops = pytest.importorskip("skops.io")
    from multiobs.models.parts import estimator_from

    data = skops.dumps(Path("/tmp"))  # any type outside the list
    packed = {"kind": "skops", "scikit-learn": "1", "base64": base64.b64encode(data).decode()}
    with pytest.raises(ModelFileError, match="types that are refused"):
        estimator_from(Fields(packed, "m.json"))
