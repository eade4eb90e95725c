"""The abstract run over a tensor program: a domain of dependency intervals and one file of rules per family."""
