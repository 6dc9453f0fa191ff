"""Tests of both ways: the compiled loops (where they were built) and numpy."""

import pytest

from multiobs.native import loader


def use_native(patch: pytest.MonkeyPatch, setting: str) -> None:
    """Let every sum be formed with MULTIOBS_NATIVE at this setting, until the patch ends."""
    patch.setenv("MULTIOBS_NATIVE", setting)
    read_once = loader.library
    patch.setattr(loader, "library", getattr(read_once, "__wrapped__", read_once))
