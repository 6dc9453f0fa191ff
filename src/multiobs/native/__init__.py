"""Compiled loops with their numpy twins: the only place that knows there is a C library."""

from multiobs.native import loader, rank_sums, window_sums

__all__ = ["loader", "rank_sums", "window_sums"]
