"""infini-transformer-pytorch 0.2.1."""

import torch
from cases.models import first_output, tokens
from infini_transformer_pytorch import InfiniTransformer

SMALL = {"num_tokens": 50, "dim": 32, "depth": 2, "dim_head": 8, "heads": 4}


def in_two_segments(model, x):
    before, _, memories = model(x[:, :16], return_new_memories=True)
    after, _, _ = model(x[:, 16:], past_memories=memories, return_new_memories=True)
    return torch.cat((before, after), 1)


infini = tokens(lambda: InfiniTransformer(**SMALL), first_output)
infini_segs = tokens(lambda: InfiniTransformer(**SMALL), in_two_segments)
infini_segs_delta = tokens(
    lambda: InfiniTransformer(**SMALL, use_mem_delta_rule=True, learned_delta_update=True), in_two_segments
)
