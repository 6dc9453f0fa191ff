"""Model files: safe, versioned, exact.

:func:`save` writes what prediction and intervals need as JSON, never the rows of the fit;
:func:`load` reads it without running anything that the file says. The format is described in
:mod:`multiobs.models.container`.
"""

from multiobs.models.container import VERSION, ModelFileError
from multiobs.models.files import dumps, load, loads, save
from multiobs.models.stored import StoredModel

__all__ = ["VERSION", "ModelFileError", "StoredModel", "dumps", "load", "loads", "save"]
