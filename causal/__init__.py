"""The checker: boundaries, verdicts, projections, families, models and pipelines."""
