"""compressive-transformer-pytorch 0.4.0."""

import torch
from cases.models import first_output, tokens
from compressive_transformer_pytorch import CompressiveTransformer

SMALL = {"num_tokens": 50, "dim": 32, "depth": 2, "heads": 4, "cmem_len": 8, "cmem_ratio": 4}
WHOLE = SMALL | {"seq_len": 32, "mem_len": 32}

compressive = tokens(lambda: CompressiveTransformer(**WHOLE), first_output)
compressive_nogru = tokens(lambda: CompressiveTransformer(**WHOLE, gru_gated_residual=False, ff_glu=True), first_output)


@tokens(lambda: CompressiveTransformer(**SMALL, seq_len=16, mem_len=16)).run_by
def compressive_mem(model, x):
    before, memories, _ = model(x[:, :16])
    after, _, _ = model(x[:, 16:], memories=memories)
    return torch.cat((before, after), 1)
