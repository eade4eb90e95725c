"""Proofs for every length: the programs that JAX records, followed with terms for their sizes (theory T26)."""
