"""From a problem to a fitted class of functions: risks, designs, solvers."""

__all__ = []
