"""The `cranfield` program, and `python -m cranfield`."""

import gc
import os

gc.disable()  # a command is over before there is garbage worth collecting; loading makes none

try:
    from cranfield.cli import entry
except KeyboardInterrupt:  # there is nothing yet to put away
    os._exit(130)

if __name__ == "__main__":
    entry()
