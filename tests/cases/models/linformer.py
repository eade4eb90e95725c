"""linformer 0.2.3."""

from cases.models import tokens
from linformer import LinformerLM

linformer_lm = tokens(lambda: LinformerLM(num_tokens=50, dim=32, seq_len=32, depth=2, k=8, heads=4))
