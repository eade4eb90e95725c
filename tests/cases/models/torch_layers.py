"""Plain PyTorch 2.13.0+cpu: models whose verdict is known (models.csv)."""

import torch
import torch.nn.functional as F
from cases.models import case
from torch import nn


@case(n=32, width=32)
def batchnorm_eval(dtype):
    model = nn.BatchNorm1d(32)
    model = model.eval().to(dtype)

    def run(x):
        return model(x.transpose(1, 2)).transpose(1, 2)

    return model, run


@case(n=32, width=32)
def conv1d_chomp(dtype):
    """Symmetric pad + chomp (TCN)."""
    model = nn.Conv1d(32, 32, 5, padding=4)
    model = model.eval().to(dtype)

    def run(x):
        return model(x.transpose(1, 2))[..., :-4].transpose(1, 2)

    return model, run


@case(n=32, width=32)
def conv1d_offby1(dtype):
    """Pad (3,1): the off-by-one bug."""
    model = nn.Conv1d(32, 32, 5)
    model = model.eval().to(dtype)

    def run(x):
        return model(F.pad(x.transpose(1, 2), (3, 1))).transpose(1, 2)

    return model, run


@case(n=32, width=32)
def convtranspose_trim(dtype):
    model = nn.ConvTranspose1d(32, 32, 4, stride=1)
    model = model.eval().to(dtype)

    def run(x):
        return model(x.transpose(1, 2))[..., :32].transpose(1, 2)

    return model, run


@case(n=32, width=32)
def cumsum_mean(dtype):
    model = nn.Linear(32, 32)
    model = model.eval().to(dtype)

    def run(x):
        return model(x).cumsum(1) / torch.arange(1, 33, dtype=dtype)[:, None]

    return model, run


@case(n=32, width=32)
def cumsum_reversed_trick(dtype):
    """Exclusive prefix sum as total - suffix sum: causal in exact arithmetic only."""
    model = nn.Linear(32, 32)
    model = model.eval().to(dtype)

    def run(x):
        h = model(x)
        return h.sum(1, keepdim=True) - h.flip(1).cumsum(1).flip(1)

    return model, run


@case(n=32, width=32)
def fft_filter_pad(dtype):
    """Zero-padded FFT convolution."""
    model = nn.Linear(32, 32)
    kern = torch.randn(32, 32, dtype=dtype)
    model = model.eval().to(dtype)

    def run(x):
        return torch.fft.irfft(torch.fft.rfft(model(x), n=64, dim=1) * torch.fft.rfft(kern, n=64, dim=0), n=64, dim=1)[
            :, :32
        ]

    return model, run


@case(n=32, width=32, dtype=torch.float32)
def fft_filter_pad_f32(dtype):
    """Zero-padded FFT convolution in float32."""
    model = nn.Linear(32, 32)
    kern = torch.randn(32, 32, dtype=dtype)
    model = model.eval().to(dtype)

    def run(x):
        return torch.fft.irfft(torch.fft.rfft(model(x), n=64, dim=1) * torch.fft.rfft(kern, n=64, dim=0), n=64, dim=1)[
            :, :32
        ]

    return model, run


@case(n=32, width=32)
def instancenorm(dtype):
    """Normalises over time in eval too."""
    model = nn.InstanceNorm1d(32, affine=True)
    model = model.eval().to(dtype)

    def run(x):
        return model(x.transpose(1, 2)).transpose(1, 2)

    return model, run


@case(n=32, width=32)
def lstm_bidir(dtype):
    model = nn.LSTM(32, 16, 1, batch_first=True, bidirectional=True)
    model = model.eval().to(dtype)

    def run(x):
        return model(x)[0]

    return model, run


@case(n=32, width=32)
def rnn_tanh(dtype):
    model = nn.RNN(32, 32, 1, batch_first=True)
    model = model.eval().to(dtype)

    def run(x):
        return model(x)[0]

    return model, run


@case(n=32, width=32, first_query=16)
def sdpa_causal_L_lt_S_tail(dtype):
    """Queries are the last 16 of 32; is_causal aligns top-left, so query i sees keys up to i - 16: causal but wrong."""
    model = nn.Linear(32, 32)
    model = model.eval().to(dtype)

    def run(x):
        k = v = model(x)[:, None]
        q = x[:, None, 16:]
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)[:, 0]

    return model, run


@case(n=32, width=32)
def sdpa_fullymasked_row(dtype):
    """Strict bool mask in SDPA: row 0 fully masked."""
    model = nn.Linear(32, 32)
    mask = torch.ones(32, 32, dtype=torch.bool).tril(-1)
    model = model.eval().to(dtype)

    def run(x):
        q = k = v = model(x)[:, None]
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)[:, 0]

    return model, run


@case(n=32, width=32)
def sdpa_off(dtype):
    model = nn.Linear(32, 32)
    model = model.eval().to(dtype)

    def run(x):
        q = k = v = model(x)[:, None]
        return F.scaled_dot_product_attention(q, k, v)[:, 0]

    return model, run


@case(n=32, width=32)
def softmax_shift_max_global(dtype):
    """Global max subtracted for stability: cancels in exact arithmetic."""
    model = nn.Linear(32, 32)
    model = model.eval().to(dtype)

    def run(x):
        h = model(x)
        e = torch.exp(h - h.amax(1, keepdim=True))
        return (e * x).cumsum(1) / e.cumsum(1)

    return model, run


@case(n=32, width=32)
def softmax_shift_max_global_eps(dtype):
    """As above plus eps (as in Performer): no longer cancels."""
    model = nn.Linear(32, 32)
    model = model.eval().to(dtype)

    def run(x):
        h = model(x)
        e = torch.exp(h - h.amax(1, keepdim=True)) + 1e-4
        return (e * x).cumsum(1) / e.cumsum(1)

    return model, run


@case(n=32, width=32)
def sort_over_time(dtype):
    model = nn.Linear(32, 32)
    model = model.eval().to(dtype)

    def run(x):
        return model(x).sort(1).values

    return model, run


@case(n=32, width=32)
def torch_decoder_layer(dtype):
    model = nn.TransformerDecoder(nn.TransformerDecoderLayer(32, 4, 64, dropout=0.0, batch_first=True), 2)
    mask = nn.Transformer.generate_square_subsequent_mask(32, dtype=dtype)
    mem = torch.randn(1, 12, 32, dtype=dtype)
    model = model.eval().to(dtype)

    def run(x):
        return model(x, mem, tgt_mask=mask)

    return model, run


@case(n=32, width=32)
def torch_encoder_iscausal_nomask(dtype):
    """Is_causal=True is only a hint: without mask?."""
    model = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True), 2, enable_nested_tensor=False
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x, is_causal=True)

    return model, run


@case(n=32, width=32)
def torch_encoder_mask_float_iscausal(dtype):
    model = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True, norm_first=True),
        2,
        enable_nested_tensor=False,
    )
    mask = nn.Transformer.generate_square_subsequent_mask(32, dtype=dtype)
    model = model.eval().to(dtype)

    def run(x):
        return model(x, mask=mask, is_causal=True)

    return model, run


@case(n=32, width=32)
def torch_encoderlayer_iscausal_nomask(dtype):
    """Is_causal=True without src_mask."""
    model = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
    model = model.eval().to(dtype)

    def run(x):
        return model(x, is_causal=True)

    return model, run


@case(n=32, width=32)
def torch_fullymasked_rows_finite(dtype):
    """Strict mask (i sees j<i) with a finite fill: row 0 is fully masked and attends to everything uniformly."""
    model = nn.Linear(32, 32)
    mask = torch.full((32, 32), -1e9, dtype=dtype).triu(0)
    model = model.eval().to(dtype)

    def run(x):
        h = model(x)
        return (h @ h.transpose(1, 2) * 32**-0.5).masked_fill(mask < 0, -1e9).softmax(-1) @ h

    return model, run


@case(n=32, width=32)
def torch_mha_bigneg_mask(dtype):
    """Finite -1e4 mask."""
    model = nn.MultiheadAttention(32, 4, batch_first=True)
    mask = torch.full((32, 32), -1e4, dtype=dtype).triu(1)
    model = model.eval().to(dtype)

    def run(x):
        return model(x, x, x, attn_mask=mask)[0]

    return model, run


@case(n=32, width=32)
def torch_mha_boolmask(dtype):
    model = nn.MultiheadAttention(32, 4, batch_first=True)
    mask = torch.triu(torch.ones(32, 32, dtype=torch.bool), 1)
    model = model.eval().to(dtype)

    def run(x):
        return model(x, x, x, attn_mask=mask, need_weights=False)[0]

    return model, run


@case(n=32, width=32)
def torch_mha_iscausal_needweights_false(dtype):
    """Is_causal hint with an all-zeros mask, need_weights=False."""
    model = nn.MultiheadAttention(32, 4, batch_first=True)
    mask = torch.zeros(32, 32, dtype=dtype)
    model = model.eval().to(dtype)

    def run(x):
        return model(x, x, x, attn_mask=mask, is_causal=True, need_weights=False)[0]

    return model, run


@case(n=32, width=32)
def torch_mha_iscausal_needweights_true(dtype):
    """Same hint, need_weights=True: hint ignored."""
    model = nn.MultiheadAttention(32, 4, batch_first=True)
    mask = torch.zeros(32, 32, dtype=dtype)
    model = model.eval().to(dtype)

    def run(x):
        return model(x, x, x, attn_mask=mask, is_causal=True, need_weights=True)[0]

    return model, run


@case(n=32, width=32)
def torch_mha_neg20_mask(dtype):
    """Soft mask -20: tiny leak by design."""
    model = nn.MultiheadAttention(32, 4, batch_first=True)
    mask = torch.full((32, 32), -20.0, dtype=dtype).triu(1)
    model = model.eval().to(dtype)

    def run(x):
        return model(x, x, x, attn_mask=mask)[0]

    return model, run


@case(n=32, width=32)
def torch_transformer_src_is_tgt(dtype):
    """Src==tgt, memory_mask forgotten: the usual encoder/decoder mistake."""
    model = nn.Transformer(32, 4, 1, 1, 64, dropout=0.0, batch_first=True)
    mask = nn.Transformer.generate_square_subsequent_mask(32, dtype=dtype)
    model = model.eval().to(dtype)

    def run(x):
        return model(x, x, src_mask=mask, tgt_mask=mask)

    return model, run
