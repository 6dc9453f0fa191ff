"""Whatever fails: a clear message, no wrong answer, inputs untouched, and the next run resumes."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow.parquet as pq
import pytest

from multiobs import samplers, statistics
from multiobs.scale import Serial, fit
from multiobs.scale import runs as runs_module

OPTIONS = dict(sampler=samplers.Adjacent(8), ranges=5, engine=Serial())


@pytest.fixture
def folder(tmp_path, rows, table):
    x, y = rows("plain", 2000)
    frame = table(x, y)
    (tmp_path / "in").mkdir()
    for i in range(4):
        pq.write_table(frame.slice(500 * i, 500), tmp_path / "in" / f"{i}.parquet")
    return tmp_path


class Dying:
    """Runs parts until it has no life left."""

    def __init__(self, lives):
        self.lives = lives

    def map(self, function, items):
        for item in items:
            if self.lives == 0:
                raise KeyboardInterrupt
            self.lives -= 1
            yield function(item)


@pytest.mark.parametrize("lives", [1, 5, 11])
def test_an_interrupted_fit_resumes_where_it_was(folder, lives, monkeypatch):
    expected = fit(folder / "in", "x", "y", **OPTIONS)
    where = dict(scratch=folder / "scratch")
    with pytest.raises(KeyboardInterrupt):
        fit(folder / "in", "x", "y", **(OPTIONS | {"engine": Dying(lives)}), **where)
    done = sorted(p.name for p in (folder / "scratch").rglob("*.npz"))
    assert len(done) == lives
    made = []
    sort = runs_module._sort
    monkeypatch.setattr(runs_module, "_sort", lambda *a: made.append(a[1]) or sort(*a))
    found = fit(folder / "in", "x", "y", **OPTIONS, **where)
    assert len(made) == max(4 - lives, 0)  # pieces that were sorted are not sorted again
    assert np.array_equal(found.coef_, expected.coef_)
    assert np.array_equal(found.coef_cov_, expected.coef_cov_)
    assert list((folder / "scratch").iterdir()) == []


def test_kept_runs_serve_another_statistic(folder, monkeypatch):
    where = dict(scratch=folder / "scratch", keep=True)
    fit(folder / "in", "x", "y", **OPTIONS, **where)
    monkeypatch.setattr(runs_module, "_sort", lambda *a: pytest.fail("sorted again"))
    again = fit(folder / "in", "x", "y", statistic="ucb", **OPTIONS, **where)
    expected = fit(folder / "in", "x", "y", statistic="ucb", **OPTIONS, **where)
    assert np.array_equal(again.coef_, expected.coef_)


def test_a_changed_file_is_sorted_again(folder, rows, table):
    where = dict(scratch=folder / "scratch", keep=True)
    before = fit(folder / "in", "x", "y", **OPTIONS, **where)
    x, y = rows("plain", 500, seed=9)
    pq.write_table(table(x, 3 * y), folder / "in" / "2.parquet")
    after = fit(folder / "in", "x", "y", **OPTIONS, **where)
    assert not np.allclose(before.coef_, after.coef_)
    expected = fit(folder / "in", "x", "y", **OPTIONS)
    assert np.array_equal(after.coef_, expected.coef_)


def test_a_file_that_changes_while_it_is_read_is_refused(folder, monkeypatch):
    numbers = runs_module._numbers

    def touching(how, part):
        yield from numbers(how, part)
        os.utime(part.path, ns=(1, 1))

    monkeypatch.setattr(runs_module, "_numbers", touching)
    with pytest.raises(RuntimeError, match="the source must not change while it is read"):
        fit(folder / "in", "x", "y", **OPTIONS, scratch=folder / "scratch")


def test_a_truncated_file_is_named(folder):
    path = folder / "in" / "3.parquet"
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(ValueError, match=r"3\.parquet must be a whole, readable file"):
        fit(folder / "in", "x", "y", **OPTIONS)


def test_no_room_is_said_before_the_start(folder, monkeypatch):
    import shutil

    usage = shutil.disk_usage(folder)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=100))
    with pytest.raises(OSError, match="scratch must have"):
        fit(folder / "in", "x", "y", **OPTIONS, scratch=folder / "scratch")


@pytest.mark.parametrize("statistic", ["variance", "minvar"], ids=["leaves", "buckets"])
def test_no_room_for_leaves_is_said_before_they_are_written(
    statistic, tmp_path, rows, table, monkeypatch
):
    import shutil

    x, y = rows("plain", 400)
    frame = table(x, y, z=np.random.default_rng(0).random(400))
    room = {"leaves": 100, "buckets": 100} if statistic == "variance" else {"buckets": 100}
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(
        shutil, "disk_usage", lambda path: usage._replace(free=room.get(path.name, usage.free))
    )
    with pytest.raises(OSError, match=r"scratch must have .* GB free"):
        fit(frame, ["x", "z"], "y", statistic=statistic, transport=None, engine=Serial(),
            scratch=tmp_path, errors=False)  # fmt: skip
    assert not list(tmp_path.rglob("leaves-*.bin")) or statistic == "minvar"
    assert not list(tmp_path.rglob("buckets-*"))


@pytest.fixture
def small_disk(tmp_path):
    """A folder of a hundred kilobytes, and how to give it more."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o"]
    try:
        made = subprocess.run([*mount, "size=100k", "tmpfs", folder], capture_output=True)
    except FileNotFoundError:
        pytest.skip("no mount")
    if made.returncode:
        pytest.skip("a disk may only be mounted by root")
    yield folder, lambda: subprocess.run([*mount, "remount,size=10m", folder], check=True)
    subprocess.run(["umount", folder], check=True)


# of the archive that numpy could not finish
@pytest.mark.filterwarnings("ignore:Exception ignored in. <function ZipFile")
@pytest.mark.parametrize("columns", [["x"], ["x", "z"]], ids=["one column", "leaves"])
def test_a_full_disk_is_named_and_the_next_run_resumes(
    columns, small_disk, tmp_path, rows, table, monkeypatch
):
    import shutil

    disk, enlarge = small_disk
    x, y = rows("plain", 4000)
    frame = table(x, y, z=np.random.default_rng(0).random(4000))
    (tmp_path / "in").mkdir()
    for i in range(8):
        pq.write_table(frame.slice(500 * i, 500), tmp_path / "in" / f"{i}.parquet")
    before = {path: path.read_bytes() for path in (tmp_path / "in").iterdir()}
    options = dict(engine=Serial(), transport=None)
    expected = fit(tmp_path / "in", columns, "y", **options)
    with monkeypatch.context() as patched:  # as if the room had been there at the start
        usage = shutil.disk_usage(disk)
        patched.setattr(shutil, "disk_usage", lambda path: usage._replace(free=10**9))
        with pytest.raises(OSError, match=r"disk is full: make room there and call again"):
            fit(tmp_path / "in", columns, "y", scratch=disk, **options)
    finished = {path.name for path in disk.rglob("part-*.npz")}
    assert finished
    assert not any("unfinished" in path.name for path in disk.rglob("*"))
    enlarge()
    made = []
    sort = runs_module._sort
    monkeypatch.setattr(runs_module, "_sort", lambda *a: made.append(a[1]) or sort(*a))
    found = fit(tmp_path / "in", columns, "y", scratch=disk, **options)
    assert len(made) == 8 - len(finished)
    assert np.array_equal(found.coef_, expected.coef_)
    assert np.array_equal(found.coef_cov_, expected.coef_cov_)
    assert {path: path.read_bytes() for path in before} == before


LIMITED = """
import resource, signal, sys
from multiobs.scale import Serial, fit

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
try:
    fit(sys.argv[1], "x", "y", engine=Serial(), scratch=sys.argv[2], transport=None)
except OSError as error:
    print(error)
"""


def test_a_quota_is_named(folder):
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, folder / "in", folder / "scratch"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "scratch must have room for sorted runs" in done.stdout
    found = fit(
        folder / "in", "x", "y", engine=Serial(), transport=None, scratch=folder / "scratch"
    )
    expected = fit(folder / "in", "x", "y", engine=Serial(), transport=None)
    assert np.array_equal(found.coef_, expected.coef_)


def test_a_file_that_changes_between_two_passes_is_refused(folder, monkeypatch):
    from multiobs.scale import sorting

    groups = [folder / "in" / f"{i}.parquet" for i in range(4)]
    for path in groups:
        frame = pq.read_table(path)
        pq.write_table(frame.append_column("g", [[i % 3 for i in range(500)]]), path)
    levels = sorting._levels

    def touching(*args):
        found = levels(*args)
        os.utime(groups[1], ns=(1, 1))
        return found

    monkeypatch.setattr(sorting, "_levels", touching)
    with pytest.raises(RuntimeError, match=r"must not change while it is read, but .*1\.parquet"):
        fit(folder / "in", "x", "y", groups="g", **OPTIONS, scratch=folder / "scratch")


def test_two_fits_do_not_share_a_folder(folder):
    class Second:
        def map(self, function, items):
            with pytest.raises(RuntimeError, match="used by one fit at a time"):
                fit(folder / "in", "x", "y", **OPTIONS, scratch=folder / "scratch")
            return map(function, items)

    fit(folder / "in", "x", "y", **(OPTIONS | {"engine": Second()}), scratch=folder / "scratch")


SCRIPT = """
import sys, time
from multiobs import samplers, statistics
from multiobs.scale import Serial, fit

class Slow:
    def map(self, function, items):
        for item in items:
            print("part", flush=True)
            yield function(item)
            time.sleep(0.2)

options = dict(sampler=samplers.Adjacent(8), ranges=5, engine=Slow(), scratch=sys.argv[2])
fit(sys.argv[1], "x", "y", **options)
"""


def test_a_killed_driver_leaves_whole_parts_only(folder):
    expected = fit(folder / "in", "x", "y", **OPTIONS)
    scratch = folder / "scratch"
    driver = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, folder / "in", scratch], stdout=subprocess.PIPE
    )
    assert driver.stdout is not None
    for _ in range(3):
        driver.stdout.readline()
    time.sleep(0.05)
    os.kill(driver.pid, signal.SIGKILL)
    driver.wait()
    driver.stdout.close()
    assert any(scratch.rglob("part-*.npz"))
    found = fit(folder / "in", "x", "y", **OPTIONS, scratch=scratch)
    assert np.array_equal(found.coef_, expected.coef_)
    assert np.array_equal(found.coef_cov_, expected.coef_cov_)


def test_tensors_of_many_columns_are_refused():
    """Risks of parts are sums of all products of four columns: 60 columns have 13 million."""
    from multiobs.scale.budget import refuse_tensors

    refuse_tensors(statistics.variance(), 1000)
    refuse_tensors(statistics.ucb(1.0), 56)
    with pytest.raises(ValueError, match=r"ucb.* must have at most 56 columns by parts"):
        refuse_tensors(statistics.ucb(1.0), 60)
