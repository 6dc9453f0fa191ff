"""The ``multiobs`` command."""

from multiobs.cli.entry import main

__all__ = ["main"]
