"""What is chosen when the user leaves it open."""

from multiobs.auto.choice import MANY_COLUMNS, Choice, choose
from multiobs.auto.preparation import Prepared, Request, prepare

__all__ = ["MANY_COLUMNS", "Choice", "Prepared", "Request", "choose", "prepare"]
