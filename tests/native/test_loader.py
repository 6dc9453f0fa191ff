"""The compiled library is the one this version was written for, or it is not used."""

import re
import shutil
import subprocess
import zlib
from pathlib import Path

import numpy as np
import pytest

from multiobs.native import loader

SOURCES = Path(loader.__file__).parent
# Prototypes of the exported functions at each number of the interface: a changed signature needs a
# new number in native.h and loader.py, and a new line here.
PROTOTYPES = {1: 0xEC20605F}


def prototypes() -> int:
    """Checksum of all exported prototypes, white space folded."""
    found = []
    for path in sorted(SOURCES.glob("*.c")):
        found += re.findall(r"^API ([^{;]*)", path.read_text(), flags=re.M)
    return zlib.crc32(" ".join(" ".join(found).split()).encode())


def test_a_changed_signature_has_a_new_number() -> None:
    assert prototypes() == PROTOTYPES[loader.INTERFACE]
    assert f"#define INTERFACE {loader.INTERFACE}\n" in (SOURCES / "native.h").read_text()


@pytest.mark.skipif(not loader.available(), reason="no compiled loops here")
def test_a_wrong_array_is_refused() -> None:
    library = loader.library()
    assert library is not None
    x, order = np.zeros(3), np.zeros(3, dtype=np.int64)
    assert library.mo_stable_argsort(x, 3, order, None) == 0
    for wrong in (x.astype(np.float32), order, np.zeros((3, 2))[:, 0], None):
        with pytest.raises(Exception, match="argument 1"):
            library.mo_stable_argsort(wrong, 3, order, None)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_a_library_of_another_version_is_not_used(tmp_path: Path) -> None:
    assert loader.load(tmp_path / "absent.so") is None
    names = ("window_stops", "window_sums", "stable_argsort", "window_totals")
    text = "".join(f"int mo_{name}(void) {{ return 0; }}\n" for name in names)
    text += "int mo_rank_windows(void) { return 0; }\nint mo_rank_lists(void) { return 0; }\n"
    for number, kept in ((loader.INTERFACE, True), (loader.INTERFACE + 1, False)):
        source, built = tmp_path / f"v{number}.c", tmp_path / f"v{number}.so"
        source.write_text(text + f"long long mo_interface(void) {{ return {number}; }}\n")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", built, source], check=True)
        assert (loader.load(built) is not None) is kept
    old, built = tmp_path / "old.c", tmp_path / "old.so"
    old.write_text(text)  # as built before there were numbers
    subprocess.run(["cc", "-shared", "-fPIC", "-o", built, old], check=True)
    assert loader.load(built) is None
