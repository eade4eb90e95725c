"""Exact mathematics: derivations that are re-checked step by step, exact rank and determinants, cost formulas."""
