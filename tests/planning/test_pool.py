"""Assigning candidates to anchors."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import KDTree

from multiobs.planning.pool import assign


def most_complete(anchors, candidates, m, epsilon):
    """Largest number of anchors with m candidates of their own, by trying everything."""
    near = [
        [j for j, c in enumerate(candidates) if np.linalg.norm(a - c) <= epsilon] for a in anchors
    ]
    best = 0

    def search(i, taken, count):
        nonlocal best
        best = max(best, count)
        if i == len(anchors) or count + len(anchors) - i <= best:
            return
        free = [j for j in near[i] if j not in taken]
        for chosen in itertools.combinations(free, m):
            search(i + 1, taken | set(chosen), count + 1)
        search(i + 1, taken, count)

    search(0, frozenset(), 0)
    return best


def check_assignment(members, anchors, candidates, epsilon):
    full = members[:, 0] >= 0
    assert np.all((members >= 0) == full[:, None])
    used = members[full]
    assert np.unique(used).size == used.size
    gaps = np.linalg.norm(candidates[used] - anchors[full][:, None, :], axis=2)
    assert np.all(gaps <= epsilon)
    return int(full.sum())


grid_points = st.lists(st.integers(0, 12), min_size=1, max_size=6)


@given(grid_points, st.lists(st.integers(0, 12), min_size=1, max_size=9), st.integers(1, 3))
def test_assignment_on_the_line_is_maximum(a, c, m):
    anchors, candidates = np.array(a, float)[:, None], np.array(c, float)[:, None]
    for epsilon in (0.5, 1.0, 3.0):
        found = check_assignment(
            assign(anchors, candidates, m, epsilon), anchors, candidates, epsilon
        )
        assert found == most_complete(anchors, candidates, m, epsilon)


@given(st.integers(0, 10_000), st.integers(1, 2))
def test_assignment_in_the_plane(seed, m):
    rng = np.random.default_rng(seed)
    anchors, candidates = rng.random((5, 2)), rng.random((10, 2))
    for epsilon in (0.2, 0.4, 0.7):
        found = check_assignment(
            assign(anchors, candidates, m, epsilon), anchors, candidates, epsilon
        )
        best = most_complete(anchors, candidates, m, epsilon)
        assert found <= best
        if m == 1 or best == len(anchors):
            assert found == best


def test_assignment_prefers_the_nearest_when_there_is_room():
    rng = np.random.default_rng(0)
    for d in (1, 2):
        anchors = rng.random((20, d))
        candidates = rng.random((20_000, d))
        members = assign(anchors, candidates, 2, 0.5)
        gaps = np.linalg.norm(candidates[members] - anchors[:, None, :], axis=2).max(axis=1)
        ideal = KDTree(candidates).query(anchors, k=2)[0][:, 1]
        assert np.median(gaps / ideal) < 1.5


def test_crowded_anchors_reach_beyond_their_nearest():
    # all anchors at one place: the nearest candidates are everybody's
    anchors = np.zeros((50, 2))
    candidates = np.random.default_rng(0).uniform(-1, 1, size=(400, 2))
    members = assign(anchors, candidates, 3, 1.2)
    assert check_assignment(members, anchors, candidates, 1.2) == 50
