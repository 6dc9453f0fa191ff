"""The one sum over tuples, how it is formed, and everything that is read off it."""

__all__ = []
