"""``python -m multiobs`` is the ``multiobs`` command."""

from multiobs.cli import main

if __name__ == "__main__":
    main()
