"""The `cranfield` program, and `python -m cranfield`."""

import gc

gc.disable()  # a command is over before there is garbage worth collecting; loading makes none

from cranfield.cli import entry  # noqa: E402

if __name__ == "__main__":
    entry()
