"""Results on disk: no finished cell is lost, the same bytes always, foreign files left alone."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from multiobs.experiments.run import Block, TrialRequest, run, run_block
from multiobs.experiments.scenarios import SCENARIOS
from multiobs.experiments.store import (
    HEADER,
    Cell,
    Outcome,
    ResultsError,
    ResultsStore,
    read_results,
)


def test_final_file_is_sorted_whole_and_alone(reference, tmp_path):
    path = tmp_path / "results.csv"
    path.write_bytes(reference)
    cells = read_results(path)
    assert len(cells) == 125
    assert list(cells) == sorted(cells)
    assert reference.startswith(HEADER.encode())


@pytest.mark.parametrize("workers", [1, 2])
def test_bytes_do_not_depend_on_workers_or_order(grid, reference, tmp_path, workers):
    path = tmp_path / "results.csv"
    run(grid[::-1], path, workers=workers)
    assert path.read_bytes() == reference
    assert [entry.name for entry in tmp_path.iterdir()] == ["results.csv"]


def test_a_cell_does_not_depend_on_the_grid_around_it(grid, reference, tmp_path):
    path = tmp_path / "results.csv"
    run([TrialRequest("variance-sine", "sliding", 60, 3)], path)
    part = path.read_bytes().splitlines()[1:]
    assert len(part) == 3
    assert set(part) <= set(reference.splitlines())
    run(grid, path)  # a larger grid goes on from a smaller one
    assert path.read_bytes() == reference


def test_another_seed_gives_other_numbers(grid, tmp_path):
    one = run(grid[:1], tmp_path / "a.csv", seed=0)
    two = run(grid[:1], tmp_path / "b.csv", seed=1)
    assert all(one[cell] != two[cell] for cell in one)


def test_methods_of_one_trial_see_the_same_rows(monkeypatch):
    seen = []
    law = SCENARIOS["variance-sine"]
    original = type(law).sample

    def spy(self, n, rng):
        rows = original(self, n, rng)
        seen.append(rows[1])
        return rows

    monkeypatch.setattr(type(law), "sample", spy)
    for name in ("sliding", "nearby", "2mom linear", "residual"):
        run_block(Block("variance-sine", name, 40, (0, 1)), seed=0)
    for later in range(2, 8):
        np.testing.assert_array_equal(seen[later], seen[later % 2])
    assert not np.array_equal(seen[0], seen[1])


def test_misspelt_names_stop_before_any_work(grid, tmp_path):
    with pytest.raises(ValueError, match="method must be one of"):
        run([TrialRequest("variance-sine", "slidding", 60, 1)], tmp_path / "results.csv")
    with pytest.raises(ValueError, match="scenario must be one of"):
        run([TrialRequest("variance-cosine", "sliding", 60, 1)], tmp_path / "results.csv")
    with pytest.raises(ValueError, match="workers must be at least 1, got 0"):
        run(grid, tmp_path / "results.csv", workers=0)
    assert list(tmp_path.iterdir()) == []


# ---- interruptions -------------------------------------------------------------------------------

DRIVER = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background shell ignores it
import sys, time
from pathlib import Path
from multiobs.experiments import run as module
from multiobs.experiments.run import TrialRequest, run
path, workers, limit = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
if limit:
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
grid = [TrialRequest("variance-sine", "sliding", 60, 60),
        TrialRequest("variance-sine", "2mom linear", 60, 55),
        TrialRequest("minvar-exponential", "empirical", 60, 10)]
def slowly(done, total):
    print(done, flush=True)
    time.sleep(0.0 if limit else 0.6)
module._TRIALS_IN_BLOCK = 10
run(grid, path, workers=workers, on_progress=slowly)
"""


def start(path, workers=1, limit=0):
    source = str(Path(__file__).parents[2] / "src")
    environment = {**os.environ, "PYTHONPATH": source, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(path), str(workers), str(limit)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finished(path):
    """Cells that the journal holds, read without opening it for writing."""
    journal = path.with_name(path.name + ".journal")
    return journal.read_text().count("\n") - 1


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize(
    ("how", "workers"), [(signal.SIGINT, 1), (signal.SIGKILL, 1), (signal.SIGKILL, 2)]
)
def test_interrupted_runs_lose_nothing_and_end_the_same(grid, reference, tmp_path, how, workers):
    path = tmp_path / "results.csv"
    process = start(path, workers)
    told = 0
    while told < 20:
        told = int(process.stdout.readline())
    process.send_signal(how)
    process.wait(timeout=60)
    with contextlib.suppress(ProcessLookupError):  # workers that outlive a killed parent
        os.killpg(process.pid, signal.SIGKILL)
    process.stdout.close()
    process.stderr.close()
    assert process.returncode != 0
    assert not path.exists()
    kept = finished(path)
    assert told <= kept < 125
    again = []
    run(grid, path, on_progress=lambda done, total: again.append(done))
    assert again[0] == kept
    assert path.read_bytes() == reference


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX limits")
def test_full_disk_keeps_what_was_finished(grid, reference, tmp_path):
    path = tmp_path / "results.csv"
    process = start(path, limit=3000)
    output, errors = process.communicate(timeout=120)
    assert process.returncode != 0
    last = errors.strip().splitlines()[-1]
    assert "could not be written" in last
    assert "finished cells are kept" in last
    kept = int(output.split()[-1])
    assert 0 < kept < 125
    assert finished(path) == kept
    run(grid, path)
    assert path.read_bytes() == reference


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX limits")
def test_full_disk_at_the_very_end_keeps_the_journal(reference, tmp_path):
    import resource

    path = tmp_path / "results.csv"
    with ResultsStore(path, seed=0) as store:
        store.append([(Cell("a", "b", 1, t), Outcome(0.5, "ok")) for t in range(50)])
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (600, before[1]))
        try:
            with pytest.raises(ResultsError, match="could not be written"):
                store.finish()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [entry.name for entry in tmp_path.iterdir()] == ["results.csv.journal"]
    with ResultsStore(path, seed=0) as store:
        assert len(store.cells) == 50


@pytest.mark.parametrize("cut", [0, 5, len(HEADER), len(HEADER) + 1, 200, 1000])
def test_any_torn_journal_is_continued(grid, reference, tmp_path, cut):
    path = tmp_path / "results.csv"
    (tmp_path / "results.csv.journal").write_bytes(reference[:cut])
    run(grid, path)
    assert path.read_bytes() == reference


# ---- files that are not ours ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["results.csv", "results.csv.journal"])
@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda data: b"x,y\n1,2\n", "must be a results file with the header"),
        (lambda data: b"\x00\xff" * 50, "must be a results file with the header"),
        (lambda data: data.replace(b",60,4,", b",60,5,", 1), "the file is damaged"),
        (lambda data: data.replace(b",ok,", b",no,", 1), "the file is damaged"),
        (lambda data: data[:300] + b"\n" + data[300:], "the file is damaged"),
    ],
    ids=["foreign", "binary", "changed number", "changed word", "broken line"],
)
def test_foreign_and_damaged_files_are_refused_and_left_alone(
    grid, reference, tmp_path, name, spoil, words
):
    bad = spoil(reference)
    assert bad != reference
    (tmp_path / name).write_bytes(bad)
    with pytest.raises(ResultsError, match=words):
        run(grid, tmp_path / "results.csv")
    assert (tmp_path / name).read_bytes() == bad


def test_cut_results_and_other_seeds_are_refused(grid, reference, tmp_path):
    path = tmp_path / "results.csv"
    path.write_bytes(reference[:-10])
    with pytest.raises(ResultsError, match="the file is damaged"):
        run(grid, path)
    path.write_bytes(reference)
    with pytest.raises(ResultsError, match="must hold results of seed 3, line 2 has seed 0"):
        run(grid, path, seed=3)
    assert path.read_bytes() == reference


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX locks")
def test_two_runs_do_not_share_a_file(tmp_path):
    path = tmp_path / "results.csv"
    with (
        ResultsStore(path, seed=0),
        pytest.raises(ResultsError, match="one run at a time"),
        ResultsStore(path, seed=0),
    ):
        pass
