"""omninet-pytorch 0.0.6."""

from cases.models import numbers
from omninet_pytorch import Omninet, OmninetCausal

SMALL = {"dim": 32, "depth": 2, "dim_head": 8, "heads": 4, "pool_layer_tokens_every": 2}

omninet_causal = numbers(lambda: OmninetCausal(**SMALL))
omninet_off = numbers(lambda: Omninet(**SMALL))
