"""Plain PyTorch 2.13.0+cpu."""

from dataclasses import replace

import torch
import torch.nn.functional as F
from cases.models import first_output, numbers
from torch import nn

LINEAR = numbers(lambda: nn.Linear(32, 32))
ATTENTION = numbers(lambda: nn.MultiheadAttention(32, 4, batch_first=True))


def encoder_layer(**options):
    return nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True, **options)


def encoder(**options):
    return nn.TransformerEncoder(encoder_layer(**options), 2, enable_nested_tensor=False)


def causal_mask(dtype):
    return nn.Transformer.generate_square_subsequent_mask(32, dtype=dtype)


def filled(number, diagonal):
    """Makes masks: the number on and above the diagonal, else 0."""
    return lambda dtype: torch.full((32, 32), number, dtype=dtype).triu(diagonal)


def on_channels(model, x):
    """The model on (batch, channels, time)."""
    return model(x.transpose(1, 2)).transpose(1, 2)


batchnorm_eval = numbers(lambda: nn.BatchNorm1d(32), on_channels)
instancenorm = numbers(lambda: nn.InstanceNorm1d(32, affine=True), on_channels)
lstm_bidir = numbers(lambda: nn.LSTM(32, 16, 1, batch_first=True, bidirectional=True), first_output)
rnn_tanh = numbers(lambda: nn.RNN(32, 32, 1, batch_first=True), first_output)


@numbers(lambda: nn.Conv1d(32, 32, 5, padding=4)).run_by
def conv1d_chomp(model, x):
    return model(x.transpose(1, 2))[..., :-4].transpose(1, 2)


@numbers(lambda: nn.Conv1d(32, 32, 5)).run_by
def conv1d_offby1(model, x):
    return model(F.pad(x.transpose(1, 2), (3, 1))).transpose(1, 2)


@numbers(lambda: nn.ConvTranspose1d(32, 32, 4, stride=1)).run_by
def convtranspose_trim(model, x):
    return model(x.transpose(1, 2))[..., :32].transpose(1, 2)


@LINEAR.beside(count=lambda dtype: torch.arange(1, 33, dtype=dtype)[:, None]).run_by
def cumsum_mean(model, x, count):
    return model(x).cumsum(1) / count


@LINEAR.run_by
def cumsum_reversed_trick(model, x):
    h = model(x)
    return h.sum(1, keepdim=True) - h.flip(1).cumsum(1).flip(1)


@LINEAR.beside(kernel=lambda dtype: torch.randn(32, 32, dtype=dtype)).run_by
def fft_filter_pad(model, x, kernel):
    spectrum = torch.fft.rfft(model(x), n=64, dim=1) * torch.fft.rfft(kernel, n=64, dim=0)
    return torch.fft.irfft(spectrum, n=64, dim=1)[:, :32]


fft_filter_pad_f32 = replace(fft_filter_pad, dtype=torch.float32)


@LINEAR.run_by
def softmax_shift_max_global(model, x):
    h = model(x)
    e = torch.exp(h - h.amax(1, keepdim=True))
    return (e * x).cumsum(1) / e.cumsum(1)


@LINEAR.run_by
def softmax_shift_max_global_eps(model, x):
    h = model(x)
    e = torch.exp(h - h.amax(1, keepdim=True)) + 1e-4  # as in Performer
    return (e * x).cumsum(1) / e.cumsum(1)


@LINEAR.run_by
def sort_over_time(model, x):
    return model(x).sort(1).values


@LINEAR.run_by
def sdpa_off(model, x):
    q = k = v = model(x)[:, None]
    return F.scaled_dot_product_attention(q, k, v)[:, 0]


@replace(LINEAR, first_query=16).run_by
def sdpa_causal_L_lt_S_tail(model, x):
    k = v = model(x)[:, None]
    q = x[:, None, 16:]
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)[:, 0]


@LINEAR.beside(mask=lambda _: torch.ones(32, 32, dtype=torch.bool).tril(-1)).run_by
def sdpa_fullymasked_row(model, x, mask):
    q = k = v = model(x)[:, None]
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)[:, 0]


@LINEAR.beside(mask=filled(-1e9, diagonal=0)).run_by
def torch_fullymasked_rows_finite(model, x, mask):
    h = model(x)
    return (h @ h.transpose(1, 2) * 32**-0.5).masked_fill(mask < 0, -1e9).softmax(-1) @ h


def attended(model, x, mask):
    return model(x, x, x, attn_mask=mask)[0]


torch_mha_bigneg_mask = replace(ATTENTION.beside(mask=filled(-1e4, diagonal=1)), run=attended)
torch_mha_neg20_mask = replace(ATTENTION.beside(mask=filled(-20.0, diagonal=1)), run=attended)


@ATTENTION.beside(mask=lambda _: torch.triu(torch.ones(32, 32, dtype=torch.bool), 1)).run_by
def torch_mha_boolmask(model, x, mask):
    return model(x, x, x, attn_mask=mask, need_weights=False)[0]


@ATTENTION.beside(mask=filled(0.0, diagonal=0)).run_by
def torch_mha_iscausal_needweights_false(model, x, mask):
    return model(x, x, x, attn_mask=mask, is_causal=True, need_weights=False)[0]


@ATTENTION.beside(mask=filled(0.0, diagonal=0)).run_by
def torch_mha_iscausal_needweights_true(model, x, mask):
    return model(x, x, x, attn_mask=mask, is_causal=True, need_weights=True)[0]


def hinted(model, x):
    """With the hint that a causal mask is given, and none given."""
    return model(x, is_causal=True)


torch_encoder_iscausal_nomask = numbers(encoder, hinted)
torch_encoderlayer_iscausal_nomask = numbers(encoder_layer, hinted)


@numbers(lambda: encoder(norm_first=True)).beside(mask=causal_mask).run_by
def torch_encoder_mask_float_iscausal(model, x, mask):
    return model(x, mask=mask, is_causal=True)


@(
    numbers(lambda: nn.TransformerDecoder(nn.TransformerDecoderLayer(32, 4, 64, dropout=0.0, batch_first=True), 2))
    .beside(mask=causal_mask, memory=lambda dtype: torch.randn(1, 12, 32, dtype=dtype))
    .run_by
)
def torch_decoder_layer(model, x, mask, memory):
    return model(x, memory, tgt_mask=mask)


@numbers(lambda: nn.Transformer(32, 4, 1, 1, 64, dropout=0.0, batch_first=True)).beside(mask=causal_mask).run_by
def torch_transformer_src_is_tgt(model, x, mask):
    return model(x, x, src_mask=mask, tgt_mask=mask)
