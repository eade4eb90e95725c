"""remixer-pytorch 0.0.3."""

from cases.models import numbers
from remixer_pytorch import RemixerBlock

remixer_causal = numbers(lambda: RemixerBlock(dim=32, seq_len=32, causal=True))
remixer_off = numbers(lambda: RemixerBlock(dim=32, seq_len=32, causal=False))
