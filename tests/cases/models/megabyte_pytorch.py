"""MEGABYTE-pytorch 0.3.6."""

from cases.models import tokens
from MEGABYTE_pytorch import MEGABYTE

SMALL = {"num_tokens": 50, "dim_head": 8, "heads": 2}
TWO = SMALL | {"dim": (32, 16), "depth": (2, 1), "max_seq_len": (8, 4)}
THREE = SMALL | {"dim": (32, 16, 16), "depth": (1, 1, 1), "max_seq_len": (4, 4, 2)}

megabyte = tokens(lambda: MEGABYTE(**TWO))
megabyte_3stage = tokens(lambda: MEGABYTE(**THREE))
megabyte_flash = tokens(lambda: MEGABYTE(**TWO, flash_attn=True))
megabyte_posemb = tokens(lambda: MEGABYTE(**TWO, pos_emb=True, rel_pos=True))
