"""All studies, or those named: ``python -m docs.studies [motorcycle returns truss flights]``."""

import sys
from importlib import import_module

NAMES = ("motorcycle", "returns", "truss", "flights")

for name in sys.argv[1:] or NAMES:
    if name not in NAMES:
        sys.exit(f"study must be one of {', '.join(NAMES)}, got {name!r}")
    import_module(f"docs.studies.{name}").main()
