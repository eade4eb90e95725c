"""linformer-pytorch 0.19.3."""

import torch
from cases.models import tokens
from linformer_pytorch import LinformerEncDec, LinformerLM

SIZES = {"num_tokens": 50, "input_size": 32, "channels": 32, "dim_ff": 64, "nhead": 4, "depth": 2}
NO_DROPOUT = {"dropout": 0.0, "dropout_ff": 0.0, "dropout_tokens": 0.0}
SMALL = SIZES | NO_DROPOUT | {"dim_k": 8}
SIDE = {"num_tokens": 50, "input_size": 32, "channels": 32, "dim_k": 8, "full_attention": True}
SIDES = {f"{side}_{name}": value for side in ("enc", "dec") for name, value in SIDE.items()}


def beside_embeddings(model, x, embeddings):
    return model(x, embeddings=embeddings)


def decoded(model, x, source):
    return model(source, x)


def decoder(**options):
    recipe = tokens(lambda: LinformerLM(**SMALL, causal=True, decoder_mode=True, **options), beside_embeddings)
    return recipe.beside(embeddings=lambda dtype: torch.randn(1, 32, 32, dtype=dtype))


linformer_pytorch_causal_conv = tokens(lambda: LinformerLM(**SMALL, causal=True, method="convolution"))
linformer_pytorch_causal_fullattn = tokens(lambda: LinformerLM(**SMALL, causal=True, full_attention=True))
linformer_pytorch_causal_fullk = tokens(lambda: LinformerLM(**SIZES, **NO_DROPOUT, dim_k=32, causal=True))
linformer_pytorch_causal_k8 = tokens(lambda: LinformerLM(**SMALL, causal=True))
linformer_pytorch_causal_noparams = tokens(lambda: LinformerLM(**SMALL, causal=True, method="no_params"))
linformer_pytorch_decoder_causal = decoder()
linformer_pytorch_decoder_causal_fullattn = decoder(full_attention=True)
linformer_pytorch_encdec_fullattn = tokens(lambda: LinformerEncDec(**SIDES), decoded).beside(
    source=lambda _: torch.randint(0, 50, (1, 32))
)
linformer_pytorch_fullattn_off = tokens(lambda: LinformerLM(**SMALL, causal=False, full_attention=True))
linformer_pytorch_off = tokens(lambda: LinformerLM(**SMALL, causal=False))
