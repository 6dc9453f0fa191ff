"""The faults of ``make mutants`` can still be planted: their texts and tests are there."""

from pathlib import Path

import pytest

from benchmarks.mutants import EXPECTED, MUTANTS, ROOT

SOURCES = ROOT / "src" / "multiobs"


@pytest.mark.parametrize("fault", [*MUTANTS, *EXPECTED], ids=lambda each: f"{each.file} {each.old}")
def test_the_text_of_a_fault_is_in_its_file(fault):
    text = (SOURCES / fault.file).read_text()
    assert fault.old in text
    assert text.replace(fault.old, fault.new, 1) != text


def test_the_tests_that_should_notice_exist():
    missing = {each for one in MUTANTS for each in one.tests.split()}
    assert not [each for each in missing if not (Path(ROOT) / "tests" / each).exists()]
