"""No fit changes unless it is meant to: the stored table of coefficients and intervals."""

import json

import numpy as np
import pytest
from reference_fits import STORED, cases, fitted

KNOWN = json.loads(STORED.read_text())
CASES = {key: (d, parameters) for key, d, parameters in cases()}


def test_the_table_holds_every_case() -> None:
    assert set(CASES) == set(KNOWN)


@pytest.mark.parametrize("name", sorted({key.split(" | ")[0] for key in CASES}))
def test_same_numbers_as_before(name: str) -> None:
    for key, (d, parameters) in CASES.items():
        if key.split(" | ")[0] != name:
            continue
        found, known = fitted(key, d, parameters), KNOWN[key]
        if isinstance(known, str) or isinstance(found, str):
            assert found == known, key
            continue
        size = np.nanmax(np.abs(known[:-7] + known[-6:]), initial=1e-300)
        np.testing.assert_allclose(found, known, rtol=1e-9, atol=1e-10 * size, err_msg=key)
