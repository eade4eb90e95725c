"""linformer-pytorch 0.19.3: models whose verdict is known (models.csv)."""

import torch
from cases.models import case
from linformer_pytorch import LinformerEncDec, LinformerLM


@case(n=32, tokens=50)
def linformer_pytorch_causal_conv(dtype):
    model = LinformerLM(
        num_tokens=50,
        input_size=32,
        channels=32,
        dim_k=8,
        dim_ff=64,
        nhead=4,
        depth=2,
        dropout=0.0,
        dropout_ff=0.0,
        dropout_tokens=0.0,
        causal=True,
        method="convolution",
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def linformer_pytorch_causal_fullattn(dtype):
    """Causal=True, full_attention=True."""
    model = LinformerLM(
        num_tokens=50,
        input_size=32,
        channels=32,
        dim_k=8,
        dim_ff=64,
        nhead=4,
        depth=2,
        dropout=0.0,
        dropout_ff=0.0,
        dropout_tokens=0.0,
        causal=True,
        full_attention=True,
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def linformer_pytorch_causal_fullk(dtype):
    """Causal=True, dim_k == input_size."""
    model = LinformerLM(
        num_tokens=50,
        input_size=32,
        channels=32,
        dim_k=32,
        dim_ff=64,
        nhead=4,
        depth=2,
        dropout=0.0,
        dropout_ff=0.0,
        dropout_tokens=0.0,
        causal=True,
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def linformer_pytorch_causal_k8(dtype):
    """Causal=True, low-rank E/F projections mix all positions before the mask."""
    model = LinformerLM(
        num_tokens=50,
        input_size=32,
        channels=32,
        dim_k=8,
        dim_ff=64,
        nhead=4,
        depth=2,
        dropout=0.0,
        dropout_ff=0.0,
        dropout_tokens=0.0,
        causal=True,
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def linformer_pytorch_causal_noparams(dtype):
    model = LinformerLM(
        num_tokens=50,
        input_size=32,
        channels=32,
        dim_k=8,
        dim_ff=64,
        nhead=4,
        depth=2,
        dropout=0.0,
        dropout_ff=0.0,
        dropout_tokens=0.0,
        causal=True,
        method="no_params",
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def linformer_pytorch_decoder_causal(dtype):
    """Decoder_mode=True + causal=True: the self-attention gets mask None (causal_enc only if not decoder_mode)."""
    model = LinformerLM(
        num_tokens=50,
        input_size=32,
        channels=32,
        dim_k=8,
        dim_ff=64,
        nhead=4,
        depth=2,
        dropout=0.0,
        dropout_ff=0.0,
        dropout_tokens=0.0,
        causal=True,
        decoder_mode=True,
    )
    mem = torch.randn(1, 32, 32, dtype=dtype)
    model = model.eval().to(dtype)

    def run(x):
        return model(x, embeddings=mem)

    return model, run


@case(n=32, tokens=50)
def linformer_pytorch_decoder_causal_fullattn(dtype):
    """Even with full_attention the decoder self-attention is unmasked."""
    model = LinformerLM(
        num_tokens=50,
        input_size=32,
        channels=32,
        dim_k=8,
        dim_ff=64,
        nhead=4,
        depth=2,
        dropout=0.0,
        dropout_ff=0.0,
        dropout_tokens=0.0,
        causal=True,
        decoder_mode=True,
        full_attention=True,
    )
    mem = torch.randn(1, 32, 32, dtype=dtype)
    model = model.eval().to(dtype)

    def run(x):
        return model(x, embeddings=mem)

    return model, run


@case(n=32, tokens=50)
def linformer_pytorch_encdec_fullattn(dtype):
    """Decoder input varied, source fixed; decoder hard-codes causal=True."""
    model = LinformerEncDec(
        enc_num_tokens=50,
        enc_input_size=32,
        enc_channels=32,
        dec_num_tokens=50,
        dec_input_size=32,
        dec_channels=32,
        enc_dim_k=8,
        dec_dim_k=8,
        dec_full_attention=True,
        enc_full_attention=True,
    )
    src = torch.randint(0, 50, (1, 32))
    model = model.eval().to(dtype)

    def run(x):
        return model(src, x)

    return model, run


@case(n=32, tokens=50)
def linformer_pytorch_fullattn_off(dtype):
    model = LinformerLM(
        num_tokens=50,
        input_size=32,
        channels=32,
        dim_k=8,
        dim_ff=64,
        nhead=4,
        depth=2,
        dropout=0.0,
        dropout_ff=0.0,
        dropout_tokens=0.0,
        causal=False,
        full_attention=True,
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def linformer_pytorch_off(dtype):
    model = LinformerLM(
        num_tokens=50,
        input_size=32,
        channels=32,
        dim_k=8,
        dim_ff=64,
        nhead=4,
        depth=2,
        dropout=0.0,
        dropout_ff=0.0,
        dropout_tokens=0.0,
        causal=False,
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run
