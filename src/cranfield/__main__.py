"""`python -m cranfield`"""

from cranfield.cli import main

main()
