"""Compiled loops with their numpy twins: the only place that knows there is a C library."""
