"""`python -m attnproof`, the same as the command `attnproof`."""

from .cli import main

main()
