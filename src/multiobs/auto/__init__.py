"""What is chosen when the user leaves it open."""

from multiobs.auto.choice import MANY_COLUMNS, Choice, choose
from multiobs.auto.forest import FOLDS, GROWN_ON, TREES, grown, tree_targets
from multiobs.auto.preparation import Prepared, Request, prepare, weighted

__all__ = [
    "FOLDS",
    "GROWN_ON",
    "MANY_COLUMNS",
    "TREES",
    "Choice",
    "Prepared",
    "Request",
    "choose",
    "grown",
    "prepare",
    "tree_targets",
    "weighted",
]
