"""`python -m attnproof.cli` does what `attnproof` does."""

from . import main

main()
