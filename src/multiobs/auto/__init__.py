"""What is chosen when the user leaves it open."""

__all__ = []
