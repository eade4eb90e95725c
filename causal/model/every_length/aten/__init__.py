"""Programs that `torch.export` recorded with a symbol for their length, followed by the rules for every length.

`recording` makes them and keeps what they assume of the length, `sizes` reads PyTorch's sizes as terms, `walk` follows
a graph. What an operation of ATen does is said in `elementwise`, `movement`, `reductions` and `indexing`, each in terms
of the operations that have rules already.
"""
