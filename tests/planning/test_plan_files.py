"""Plans on disk: nothing paid for is lost, to other holders, to interruptions or to damage."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from planning.plans import make_plan

from multiobs import _files, statistics
from multiobs.planning import LabelPlan

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX locks, signals and modes")


def test_interrupted_and_resumed_with_nothing_lost(tmp_path):
    _, y, whole = make_plan()
    whole.record(whole.queries, y[whole.queries])
    _, _, plan = make_plan()
    path = tmp_path / "plan.npz"
    plan.save(path)
    rng = np.random.default_rng(0)
    while True:
        plan = LabelPlan.load(path)  # as if the program had just been started again
        rows = plan.outstanding if plan.outstanding.size else plan.ask(13)
        if not rows.size:
            break
        answered = rng.permutation(rows)[: max(1, rows.size // 2)]
        plan.record(answered, y[answered])
        del plan
    assert plan.n_labelled == plan.label_complexity
    np.testing.assert_array_equal(plan.labels, whole.labels)
    np.testing.assert_array_equal(plan.fit().coef_, whole.fit().coef_)
    assert os.listdir(tmp_path) == ["plan.npz"]


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    _, y, plan = make_plan()
    path = tmp_path / "plan.npz"
    plan.save(path)
    first = plan.ask(5)
    plan.record(first, y[first])

    def broken(*_):
        raise OSError("disk full")

    second = plan.ask(5)
    monkeypatch.setattr(_files.os, "replace", broken)
    with pytest.raises(OSError, match="disk full"):
        plan.record(second, y[second])
    monkeypatch.undo()
    again = LabelPlan.load(path)
    assert again.n_labelled == plan.n_labelled == 5
    assert sorted(again.outstanding.tolist()) == sorted(second.tolist())
    assert os.listdir(tmp_path) == ["plan.npz"]


def test_saved_statistics(tmp_path):
    path = tmp_path / "plan.npz"
    _, _, plan = make_plan(statistic=statistics.ucb(8.0))
    plan.save(path)
    assert LabelPlan.load(path).statistic.parameters["lam"] == 8.0
    own = statistics.mean_of(lambda Y: np.ptp(Y, axis=1), 3, name="spread")
    _, _, plan = make_plan(statistic=own)
    with pytest.raises(ValueError, match="must be new or hold this plan, got a plan of other rows"):
        plan.save(path)
    plan.save(path, overwrite=True)
    with pytest.raises(ValueError, match="pass statistic=, got 'own spread'"):
        LabelPlan.load(path)
    assert LabelPlan.load(path, statistic=own).arity == 3
    with pytest.raises(ValueError, match="needs a statistic of 3 observations"):
        LabelPlan.load(path, statistic=statistics.variance())


def test_a_namesake_of_a_catalogue_statistic_is_not_taken_for_it(tmp_path):
    path = tmp_path / "plan.npz"
    own = statistics.mean_of(lambda Y: np.ptp(Y, axis=1), 2, name="variance")
    make_plan(statistic=own)[2].save(path)
    with pytest.raises(ValueError, match="which is not in the catalogue: pass statistic="):
        LabelPlan.load(path)
    make_plan(statistic=statistics.variance().with_loss("gamma"))[2].save(path, overwrite=True)
    with pytest.raises(ValueError, match="which is not in the catalogue"):
        LabelPlan.load(path)  # the loss is not in the name either


# ---- several holders -----------------------------------------------------------------------------


def test_two_holders_get_different_rows_and_keep_each_others_labels(tmp_path):
    path = tmp_path / "plan.npz"
    _, y, plan = make_plan()
    plan.save(path)
    one, two = LabelPlan.load(path), LabelPlan.load(path)
    mine, yours = one.ask(10), two.ask(10)
    assert not set(mine.tolist()) & set(yours.tolist())
    two.record(yours, y[yours])
    one.record(mine, y[mine])  # saved later, and still does not drop the earlier labels
    assert LabelPlan.load(path).n_labelled == 20
    assert two.n_labelled == 10
    two.refresh()
    assert two.n_labelled == 20
    with pytest.raises(ValueError, match=f"got another one for row {mine[0]}"):
        two.record([mine[0]], [y[mine[0]] + 1])
    assert sorted([*plan.ask().tolist(), *mine.tolist(), *yours.tolist()]) == sorted(
        plan.queries.tolist()
    )


def test_saving_again_merges_with_what_others_recorded(tmp_path):
    path = tmp_path / "plan.npz"
    _, y, plan = make_plan()
    plan.save(path)
    detached = make_plan()[2]  # the same plan, from the same seed, labelled elsewhere
    rows = detached.queries[:4]
    detached.record(rows, y[rows])
    plan.record(plan.queries[2:8], y[plan.queries[2:8]])
    detached.save(path)
    assert LabelPlan.load(path).n_labelled == detached.n_labelled == 8
    contrary = make_plan()[2]
    contrary.record([rows[0]], [y[rows[0]] + 1])
    with pytest.raises(ValueError, match=rf"one label, got another one in .* row {rows[0]}"):
        contrary.save(path)
    assert LabelPlan.load(path).labels[0, 0] == y[rows[0]]


def test_a_file_that_went_away_is_an_error_and_nothing_is_marked(tmp_path):
    path = tmp_path / "plan.npz"
    plan = make_plan()[2]
    plan.save(path)
    path.unlink()
    with pytest.raises(FileNotFoundError, match=r"plan\.npz"):
        plan.ask(3)
    assert plan.outstanding.size == 0
    plan.save(path)
    assert plan.ask(3).size == 3


def test_rows_are_marked_only_when_that_is_on_disk(tmp_path, monkeypatch):
    plan = make_plan()[2]
    plan.save(tmp_path / "plan.npz")

    def broken(*_):
        raise OSError("disk full")

    monkeypatch.setattr(_files.os, "replace", broken)
    with pytest.raises(OSError, match="disk full"):
        plan.ask(3)
    monkeypatch.undo()
    assert plan.outstanding.size == 0
    assert plan.ask(3).tolist() == plan.queries[:3].tolist()


WORKER = """
import sys, numpy as np
from multiobs.planning import LabelPlan
plan = LabelPlan.load(sys.argv[1])
while (rows := plan.ask(3)).size:
    print("asked", *rows, flush=True)
    plan.record(rows, np.sin(rows))
    print("recorded", *rows, flush=True)
"""


def start(path):
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, str(path)],
        env=environment, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def told(lines, word):
    return [int(row) for line in lines if line.startswith(word) for row in line.split()[1:]]


@posix
def test_programs_share_a_file_and_the_killed_lose_nothing(tmp_path):
    path = tmp_path / "plan.npz"
    plan = make_plan(n=200, rows=6000)[2]
    plan.save(path)
    workers = [start(path) for _ in range(3)]
    first = [workers[0].stdout.readline() for _ in range(20)]
    workers[0].send_signal(signal.SIGKILL)  # in the middle of something
    outputs = [worker.communicate(timeout=120)[0].splitlines() for worker in workers]
    outputs[0] = [line for line in [*first, *outputs[0]] if line.endswith("\n") or line]
    asked = [row for lines in outputs for row in told(lines, "asked")]
    recorded = {row for lines in outputs for row in told(lines, "recorded")}
    assert len(asked) == len(set(asked))  # no row was handed out twice
    final = LabelPlan.load(path)
    known = set(final.members[~np.isnan(final.labels)].tolist())
    assert recorded <= known  # whatever a program was told to be safe is there
    assert len(known) + final.outstanding.size == final.label_complexity
    assert final.outstanding.size <= 3  # at most what the killed program had in hand
    np.testing.assert_array_equal(
        final.labels[final.complete], np.sin(final.members)[final.complete]
    )
    final.record(final.outstanding, np.sin(final.outstanding))
    assert [entry.name for entry in tmp_path.iterdir()] == ["plan.npz"]


# ---- damaged files -------------------------------------------------------------------------------


def parts(path):
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


def changed(path, **arrays):
    np.savez(path, **(parts(path) | arrays))


def header(path, **values):
    about = json.loads(str(parts(path)["about"])) | values
    changed(path, about=np.array(json.dumps(about)))


def without(path, name):
    kept = parts(path)
    del kept[name]
    np.savez(path, **kept)


def single(path):
    with open(path, "wb") as file:
        np.save(file, np.arange(3))


def infinite(path):
    labels = parts(path)["labels"]
    labels[2, 1] = np.inf
    changed(path, labels=labels)


def doubled(path):
    members = parts(path)["members"]
    members[1, 0] = members[0, 0]
    changed(path, members=members)


DAMAGE = {
    "text": (lambda path: path.write_text("x,y\n1,2\n"), "cannot be read as an .npz archive"),
    "empty": (lambda path: path.write_bytes(b""), "cannot be read as an .npz archive"),
    "cut": (lambda path: path.write_bytes(path.read_bytes()[:700]), "cannot be read"),
    "one array": (single, "cannot be read"),
    "others": (lambda path: np.savez(path, a=np.arange(3)), "it lacks 'about'"),
    "key": (lambda path: without(path, "asked"), "it lacks 'asked'"),
    "stranger": (lambda path: changed(path, more=np.arange(3)), "it holds 'more'"),
    "header": (lambda path: changed(path, about=np.array("{")), "its header is not JSON"),
    "type": (lambda path: header(path, n_pool="many"), "its header has 'many' for 'n_pool'"),
    "format": (lambda path: header(path, format=7), "its format is 7"),
    "epsilon": (lambda path: header(path, epsilon=-1.0), "its epsilon is -1"),
    "pool": (lambda path: header(path, n_pool=10), "beyond a pool of 10"),
    "shape": (lambda path: changed(path, labels=np.zeros((3, 2))), "its labels have shape"),
    "asked": (lambda path: changed(path, asked=np.zeros((40, 2))), "its asked are of type float64"),
    "x": (lambda path: changed(path, x_anchors=np.full((40, 1), np.nan)), "not all finite"),
    "infinite": (infinite, "a label is infinite"),
    "double": (doubled, "is in it twice"),
    "objects": (lambda path: changed(path, labels=np.array([[None]])), "cannot be read"),
}  # fmt: skip


@pytest.mark.parametrize("kind", DAMAGE)
def test_damaged_files_are_named_with_their_fault(tmp_path, kind):
    path = tmp_path / "plan.npz"
    plan = make_plan()[2]
    plan.save(path)
    damage, words = DAMAGE[kind]
    damage(path)
    bytes_before = path.read_bytes()
    for action in (LabelPlan.load, lambda _: plan.ask(1), lambda _: plan.save(path)):
        with pytest.raises(ValueError, match=words) as caught:
            action(path)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)
    assert path.read_bytes() == bytes_before  # refused, and left alone
    assert plan.outstanding.size == 0


def test_random_damage_is_a_sentence_or_the_same_plan(tmp_path):
    path = tmp_path / "plan.npz"
    plan = make_plan(n=5, rows=100)[2]
    plan.save(path)
    sound = path.read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(300):
        data = bytearray(sound)
        for place in rng.integers(len(data), size=rng.integers(1, 4)):
            data[place] ^= int(rng.integers(1, 256))
        path.write_bytes(bytes(data))
        fault = None
        try:
            found = LabelPlan.load(path)
        except ValueError as error:
            fault = str(error)
        if fault is not None:
            assert str(path) in fault
            refused += 1
        else:  # the damage lies where nothing is read: zip comments, times
            np.testing.assert_array_equal(found.members, plan.members)
            assert found.n_labelled == 0
    assert refused > 200


# ---- the file itself -----------------------------------------------------------------------------


@posix
@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_mode_follows_the_umask(tmp_path, mask):
    path = tmp_path / "plan.npz"
    plan = make_plan()[2]
    before = os.umask(mask)
    try:
        plan.save(path)
        assert path.stat().st_mode & 0o777 == 0o666 & ~mask
    finally:
        os.umask(before)
    path.chmod(0o640)
    plan.ask(1)
    assert path.stat().st_mode & 0o777 == 0o640  # what the owner chose stays


@posix
def test_what_killed_savers_left_is_swept_and_a_living_one_is_not_disturbed(tmp_path):
    path = tmp_path / "plan.npz"
    plan = make_plan()[2]
    plan.save(path)
    code = (
        "import sys, time; from multiobs._files import beside\n"
        "with beside(sys.argv[1]) as temporary:\n"
        "    temporary.write_text('half'); print('here', flush=True); time.sleep(60)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    saver = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], env=environment, stdout=subprocess.PIPE
    )
    assert saver.stdout.readline() == b"here\n"
    plan.ask(1)
    assert len(list(tmp_path.iterdir())) == 2  # its file is its own as long as it lives
    saver.kill()
    saver.communicate()
    plan.ask(1)
    assert [entry.name for entry in tmp_path.iterdir()] == ["plan.npz"]
    assert LabelPlan.load(path).outstanding.size == 2


@posix
def test_a_link_goes_on_pointing(tmp_path):
    path, link = tmp_path / "plan.npz", tmp_path / "link.npz"
    make_plan()[2].save(path)
    link.symlink_to(path)
    LabelPlan.load(link).ask(2)
    assert link.is_symlink()
    assert LabelPlan.load(path).outstanding.size == 2
