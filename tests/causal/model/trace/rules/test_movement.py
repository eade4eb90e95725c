# ruff: noqa: E501 - tables of calls
"""Moving elements: what goes where, and what stays compressed."""

from __future__ import annotations

from needs import need

torch = need("torch")

import attnproof as ap
import pytest
import torch.nn.functional as F
from attnproof.causal import trace
from tensor_probe import check, normal
from torch.nn.utils.rnn import pack_padded_sequence as pack
from torch.nn.utils.rnn import pad_packed_sequence as pad

X = normal(6, 4)
C = normal(6, 4, seed=1)
MASK = C > 0
VIEWS = {
    "reshape": lambda x: [
        x.reshape(-1),
        x.reshape(2, 3, 4),
        x.reshape(3, 8),
        x.T.reshape(-1),
        x.view(2, 3, 2, 2),
        x[None].flatten(0, 1),
    ],
    "permute": lambda x: [x.T, x.t(), x.permute(1, 0), x[None].movedim(0, 2), x.transpose(0, 1), x.mT],
    "slices": lambda x: [x[1:4], x[:, ::2], x[2], x[..., -1], x[None, :, None], x.narrow(0, 1, 2), x.select(1, 2)],
    "strides": lambda x: [
        torch.as_strided_copy(x, (3, 2), (5, 1), 2),
        torch.as_strided_copy(x[1:].T, (3,), (7,), 1),
        torch.as_strided_scatter(x, C[:2, :2], (2, 2), (9, 2), 3),
        torch.as_strided_scatter(C[1:].T, x[:2, :2], (2, 2), (9, 2), 3),
        torch.as_strided_scatter(x.T[:, 1:], C[0, :3], (3,), (2,), 1),
    ],
    "pieces filled up": lambda x: torch._chunk_cat([x, x[:3] * 2], 0, 4),
    "conjugate": lambda x: torch.complex(x, x * 2).conj_physical_().imag,
    "narrow_copy": lambda x: [torch.narrow_copy(x, 0, 1, 3), torch.narrow_copy(x, 1, 0, 2)],
    "expand": lambda x: [
        x.expand(2, 6, 4),
        x.unsqueeze(1).expand(6, 3, 4),
        x[:, :1].expand_as(x),
        x[None].squeeze(0),
        x[None].squeeze(),
    ],
    "split": lambda x: [
        *x.split(4),
        *x.chunk(3),
        *x.unbind(1),
        *x.split([1, 5]),
        *x.tensor_split(4),
        *torch.unsafe_split(x, 4),
        *torch.unsafe_split_with_sizes(x, [2, 4]),
    ],
    "windows": lambda x: [
        x.unfold(0, 3, 1),
        x.unfold(0, 2, 2),
        x.diagonal(),
        x.as_strided((3, 2), (4, 1), 2),
        x.as_strided((4,), (5,)),
    ],
    "real views": lambda x: [
        torch.view_as_complex(x.reshape(6, 2, 2)),
        torch.view_as_real(torch.complex(x, C)),
        torch.complex(x, C).imag,
    ],
    "bits": lambda x: [x.view(torch.int64).view(torch.float64)],
    "alias": lambda x: [x.detach(), x.data, x.alias() if hasattr(x, "alias") else x],
}
COPIES = {
    "copies": lambda x: [x.clone(), x.contiguous(), x.T.contiguous(), x.to(torch.float32).double(), x.double(), x.to_dense()],
    "conversions": lambda x: [(x > 0).double(), (x * 9).long().double()],
    "repeat": lambda x: [x.repeat(2, 1), x.tile(1, 2), x.repeat_interleave(2, 0), x.repeat_interleave(torch.tensor([1, 2, 1, 2, 1, 2]), 0)],
    "turns": lambda x: [x.flip(0), x.roll(1, 0), x.roll((1, 2), (0, 1)), torch.rot90(x), x.roll(3)],
    "joined": lambda x: [torch.cat([x, C]), torch.cat([x, x.flip(0)], 1), torch.stack([x, C], 1), torch.hstack([x, C]), torch.cat([x[:0], x]), torch.cat([torch.zeros(0), x])],
    "padded": lambda x: [F.pad(x, (1, 1)), F.pad(x, (0, 0, 2, -2)), F.pad(x, (0, 0, 1, 0), value=3.0), F.pad(x, (0, 0, -1, 1))],
    "mirrored": lambda x: [F.pad(x.T[None], (1, 2), mode=m) for m in ("reflect", "replicate", "circular")],
    "mirrored planes": lambda x: [F.pad(x[None, None], (1, 1, 2, 1), mode=m) for m in ("reflect", "replicate")],
    "mirrored volumes": lambda x: [F.pad(x[None, None, None], (1, 1, 2, 1, 0, 0), mode=m) for m in ("reflect", "replicate")],
    "triangles": lambda x: [x.tril(), x.triu(1), x.tril(-1), torch.diag_embed(x), torch.diag(x[:, 0]), torch.block_diag(x, C), torch.diagonal_scatter(x, C[:4, 0])],
    "scattered views": lambda x: [torch.slice_scatter(x, C[:2], 0, 1, 3), torch.select_scatter(C, x[0], 0, 2)],
    "pixels": lambda x: [F.pixel_shuffle(x.reshape(1, 4, 3, 2), 2), F.pixel_unshuffle(x.reshape(1, 1, 6, 4), 2), F.channel_shuffle(x.reshape(1, 4, 6, 1), 2)],
    "unfolded": lambda x: F.unfold(x[None, None], 2),
    "upsampled": lambda x: [F.interpolate(x.T[None], scale_factor=2), F.interpolate(x[None, None], scale_factor=2), F.interpolate(x.T[None], size=9, mode="nearest-exact"), F.interpolate(x[None, None], size=(9, 3), mode="nearest-exact"), *(F.interpolate(x[None, None, None], size=(2, 9, 3), mode=m) for m in ("nearest", "nearest-exact"))],
    "masked scatter": lambda x: [torch.masked_scatter(C, MASK, x), torch.masked_scatter(x, x > 0, C)],
    "overwritten": lambda x: [torch.zeros(6, 4).copy_(x), torch.zeros(2, 6, 4, dtype=x.dtype).copy_(x), torch.ops.aten.copy(C, x), torch.zeros(6, 4, dtype=torch.int64).copy_(x * 9)],
    "copied views": lambda x: [
        torch.view_copy(x, (24,)), torch.permute_copy(x, (1, 0)), torch.transpose_copy(x, 0, 1), torch.expand_copy(x, (2, 6, 4)),
        torch.slice_copy(x, 0, 1, 3), torch.select_copy(x, 0, 1), torch.unsqueeze_copy(x, 0), torch.squeeze_copy(x[None]), torch.t_copy(x),
        *torch.unbind_copy(x), *torch.split_copy(x, 4), *torch.split_with_sizes_copy(x, [2, 4]), torch.unfold_copy(x, 0, 2, 1),
        torch.diagonal_copy(x), torch.alias_copy(x), torch.detach_copy(x),
    ],
    "identities": lambda x: [torch.ops.aten.lift_fresh_copy(x), torch.ops.aten.lift(x), torch.ops.aten._conj_physical(x), torch.ops.aten._reshape_copy(x, [24]), torch.ops.aten._reshape_alias(x, [4, 6], [1, 4])],
}  # fmt: skip
LENGTHS = torch.tensor([4, 2, 1])
PACKED = {
    "packed": lambda x: pack(x[:4, None].expand(4, 3, 4), LENGTHS).data,
    "packed, batch first": lambda x: pack(x[None, :4].expand(3, 4, 4), LENGTHS, batch_first=True).data,
    "packed and unpacked": lambda x: pad(pack(x[None, :4].expand(3, 4, 4), LENGTHS, batch_first=True))[0],
}
CASES = {**VIEWS, **COPIES, **PACKED}
LOOSE = {"conversions", "masked scatter", "overwritten", "real views"}


@pytest.mark.parametrize("name", CASES)
def test_claims_hold(name):
    check(CASES[name], X, exact=name not in LOOSE)


def test_features_and_heads_cost_nothing():
    x = torch.randn(1, 64, 96)
    run = trace.run(
        lambda x: x.view(1, 64, 8, 12).transpose(1, 2).reshape(8, 64, 12).transpose(0, 1).flatten(1)[None], (x,)
    )
    shadow = run.outputs[0].shadow
    assert shadow.shape == (1, 64, 96)
    assert shadow.hi.size == 64


@pytest.mark.parametrize("kind", [torch.nn.GRU, torch.nn.LSTM, torch.nn.RNN])
def test_a_recurrent_layer_over_packed_sequences_is_proved_and_a_bidirectional_one_refuted(kind):
    def tagger(bidirectional, lengths=None):
        layer = kind(4, 3, batch_first=True, bidirectional=bidirectional)

        def model(x):
            n = (x[..., 0] < 9).sum(1).clamp(min=1) if lengths is None else lengths
            return pad(layer(pack(x, n, batch_first=True, enforce_sorted=False))[0], batch_first=True, total_length=5)[
                0
            ]

        return model

    x = torch.randn(2, 5, 4)
    assert ap.check_model(tagger(False, torch.tensor([3, 5])), x).status.name == "PROVED"
    assert ap.check_model(tagger(True, torch.tensor([3, 5])), x).status.name == "REFUTED"
    told = ap.check_model(tagger(False), x)  # lengths that the data tells
    assert told.status.name == "UNDECIDED"
