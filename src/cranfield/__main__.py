"""`python -m cranfield`"""

from cranfield.cli import entry

entry()
