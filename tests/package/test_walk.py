"""A default fit goes from the door to the solution through few files and never back up."""

import pytest

from benchmarks import walk

FILES, SWITCHES = 25, 120
LATER = ("inference/", "scoring/", "plots/", "report/")  # rooms that wait until they are asked

Calls = list[walk.Call]


@pytest.fixture(scope="module")
def calls() -> Calls:
    return walk.walk()


def test_a_default_fit_passes_few_files(calls: Calls) -> None:
    files = walk.files_of(calls)
    assert len(files) <= FILES, sorted(files)
    assert len(calls) <= SWITCHES


def test_no_call_climbs_to_a_room_above(calls: Calls) -> None:
    assert walk.climbs(calls) == []


def test_inference_waits_until_it_is_asked_for(calls: Calls) -> None:
    assert not [file for file in walk.files_of(calls) if file.startswith(LATER)]
