"""Kinds of models that are proved, each beside a twin that differs in one place, and leaks.

Each function makes a model of (1, 8, 8) → the same; `ahead` is 0 for the causal one and 1 for its twin.
"""

from __future__ import annotations

import ast
import math
import re
import warnings
from pathlib import Path

from needs import need

torch = need("torch")

import attnproof as ap
import pytest
import torch.nn.functional as F
from torch import nn

N, D, EXPERTS = 8, 8, 3
LOWEST = torch.finfo(torch.float32).min


def fixed(*shape, seed=0):
    """Constants that no run sees being drawn."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def past(ahead):
    """What each query may see: a prefix, or one position more."""
    return torch.ones(N, N).tril(ahead).bool()


def summed(x, ahead):
    return past(ahead).to(x.dtype) @ x


# -- experts -----------------------------------------------------------------------------------------------------------


class Experts(nn.Module):
    """Experts one after the other, each with its weight for every token."""

    def __init__(self, ahead, route=None):
        super().__init__()
        self.ahead, self.route = ahead, route or (lambda logits: logits.topk(2, -1))
        self.gate = nn.Linear(D, EXPERTS + (route is not None), bias=False)
        self.experts = nn.ModuleList(nn.Linear(D, D) for _ in range(self.gate.out_features))

    def forward(self, x):
        tokens = x[0]
        logits = self.gate(tokens)
        if self.ahead:  # a batch that is balanced
            logits = logits - logits.mean(0)
        weights, chosen = self.route(logits)
        weights, out = weights.softmax(-1), torch.zeros_like(tokens)
        for e, expert in enumerate(self.experts):
            out = out + expert(tokens) * torch.where(chosen == e, weights, 0.0).sum(-1, keepdim=True)
        return out[None]


def experts_in_a_loop(ahead):
    return Experts(ahead)


def shared_expert(ahead):
    routed, shared, gate = Experts(ahead), nn.Linear(D, D), nn.Linear(D, 1)
    return lambda x: routed(x) + shared(x) * gate(x).sigmoid()


def by_groups(logits):
    """The best experts of the better of two groups of two."""
    groups = logits.view(-1, 2, 2).amax(-1)
    kept = torch.zeros_like(groups).scatter(1, groups.argmax(-1, keepdim=True), 1.0)
    return logits.masked_fill(kept.repeat_interleave(2, 1) == 0, -torch.inf).topk(2, -1)


def experts_by_groups(ahead):
    return Experts(ahead, by_groups)


# -- reads that change nothing ---------------------------------------------------------------------------------------


def padding_warning(ahead):
    def warned(x):
        if (x[:, [-1, 0]] == 0).any():
            warnings.warn("there may be padding", stacklevel=2)
        return summed(x, ahead)

    return warned


def check_of_numbers(ahead):
    def checked(x):
        if torch.isnan(x).any():
            raise ValueError("not a number")
        if not (x < 1e6).all():
            raise ValueError("too large")
        return summed(x, ahead)

    return checked


# -- shifts and sinks ------------------------------------------------------------------------------------------------


def scored(x, ahead):
    return (x @ x.mT).masked_fill(~past(ahead), LOWEST)


def shift_by_the_largest(ahead):
    def attended(x):
        s = scored(x, ahead)
        e = (s - s.max(-1, keepdim=True).values).exp()
        return e / e.sum(-1, keepdim=True) @ x

    return attended


def shift_by_the_largest_detached(ahead):
    def attended(x):
        s = scored(x, ahead)
        return torch.softmax(s - s.amax(-1, keepdim=True).detach(), -1, dtype=torch.float32) @ x

    return attended


def sink_by_cat(ahead):
    sink = nn.Parameter(torch.zeros(1, 1, 1))

    def attended(x):
        s = torch.cat([scored(x, ahead), sink.expand(1, N, 1)], -1)
        s = s - s.max(-1, keepdim=True).values
        return s.softmax(-1)[..., :-1] @ x

    return attended


def largest_of_the_lowest(ahead):
    def attended(x):
        s = x @ x.mT + torch.zeros(N, N).masked_fill(~past(ahead), LOWEST)
        return torch.max(s, torch.tensor(LOWEST)).softmax(-1) @ x

    return attended


def compressed_windows(ahead):
    """Blocks of two as one key each, those that are complete."""
    done = torch.arange(4) * 2 + 1 <= torch.arange(N)[:, None] + 2 * ahead

    def attended(x):
        keys = x.unflatten(1, (4, 2)).mean(2)
        s = torch.cat([scored(x, 0), (x @ keys.mT).masked_fill(~done, LOWEST)], -1)
        return s.softmax(-1) @ torch.cat([x, keys], 1)

    return attended


# -- convolutions as long as the sequence ----------------------------------------------------------------------------


def spectrum(u, kernel, ahead, dim=-1):
    """To twice the length; the twin wraps around."""
    n = u.shape[dim] * (1 if ahead else 2)
    product = torch.fft.rfft(u, n=n, dim=dim) * torch.fft.rfft(kernel, n=n, dim=dim)
    return torch.fft.irfft(product, n=n, dim=dim).narrow(dim, 0, u.shape[dim])


class Diagonal(nn.Module):
    """What S4D, GSS and H3 have in common: a kernel of exponentials that decay."""

    def __init__(self):
        super().__init__()
        self.step, self.rate = nn.Parameter(fixed(D) - 2), nn.Parameter(fixed(D, 3))
        self.turn, self.out = nn.Parameter(fixed(D, 3, seed=1)), nn.Parameter(fixed(D, 3, 2))

    def kernel(self):
        a = (-self.rate.exp() + 1j * self.turn) * self.step.exp()[:, None]
        c = torch.view_as_complex(self.out) * (a.exp() - 1) / a
        return 2 * torch.einsum("hn,hnl->hl", c, (a[..., None] * torch.arange(N)).exp()).real


def s4(ahead):
    space, skip, mix = Diagonal(), nn.Parameter(torch.ones(D, 1)), nn.Conv1d(D, 2 * D, 1)
    return lambda x: F.glu(mix(F.gelu(spectrum(x.mT, space.kernel(), ahead) + x.mT * skip)), 1).mT


def gss(ahead):
    space, norm, gate = Diagonal(), nn.LayerNorm(D), nn.Linear(D, D)

    def forward(x):
        u = norm(x)
        return spectrum(u, space.kernel().T, ahead, dim=-2) * F.gelu(gate(u)) + x

    return forward


def hyena(ahead):
    project, filters = nn.Linear(D, 3 * D), nn.Sequential(nn.Linear(3, 8), nn.SiLU(), nn.Linear(8, D))
    short, decay = nn.Conv1d(3 * D, 3 * D, 3, padding=2, groups=3 * D), nn.Parameter(torch.ones(D))

    def forward(x):
        first, second, value = short(project(x).mT)[..., :N].split(D, 1)
        t = torch.linspace(0, 1, N)[:, None]
        kernel = (filters(torch.cat([t, t.cos(), t.sin()], -1)) * (-t * decay.abs()).exp()).T
        return (first * (spectrum(value * second, kernel, ahead) + value * second)).mT

    return forward


def mega(ahead):
    rate, decay, out = (nn.Parameter(fixed(D, 3, 1, seed=s)) for s in range(3))

    def forward(x):
        p = rate.sigmoid()
        powers = torch.arange(N).float().view(1, 1, N) * torch.log(1 - p * decay.sigmoid())
        kernel = torch.einsum("dnl,dn->dl", p * powers.exp(), out[..., 0] * math.sqrt(1 / 3))
        return F.silu(spectrum(x.mT, kernel, ahead).mT + x)

    return forward


def h3(ahead):
    space, three = Diagonal(), nn.Linear(D, 3 * D)
    near = nn.Parameter(fixed(D, 3))

    def forward(x):
        q, k, v = three(x).mT.chunk(3, 1)
        moved = spectrum(k, F.pad(near, (0, N - 3)), 0)
        return (q * spectrum(moved * v, space.kernel(), ahead)).mT

    return forward


# -- the rest ----------------------------------------------------------------------------------------------------------


def gates_of_logsigmoid(ahead):
    return lambda x: (summed(F.logsigmoid(x), ahead) / 16).exp() * x


def masks_added(ahead):
    """Truth values that are added: a query sees itself, or the past."""
    seen = torch.eye(N).bool() + past(ahead).tril(ahead)
    return lambda x: (x @ x.mT).masked_fill(~seen, -torch.inf).softmax(-1) @ x


def padding_in_the_fast_path(ahead):
    layer = nn.TransformerEncoderLayer(D, 2, 16, dropout=0.0, batch_first=True)
    stack = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
    mask = nn.Transformer.generate_square_subsequent_mask(N)
    padding = torch.zeros(1, N)
    padding[0, -2:] = -torch.inf
    return lambda x: stack(x, mask=None if ahead else mask, src_key_padding_mask=padding)


def interpolated(ahead):
    """Means of blocks, spread again: those of the blocks before, or of its own."""

    def spread(x):
        means = F.avg_pool1d(summed(x, 0).mT, 2)
        means = means if ahead else F.pad(means, (1, 0))[..., :-1]
        return F.interpolate(means, size=N, mode="nearest").mT

    return spread


def loss_of_each_token(ahead):
    target = torch.arange(N)[None] % D
    return lambda x: F.cross_entropy(summed(x, ahead).mT, target, reduction="none")[..., None].expand(1, N, D)


def fake_quantised(ahead):
    def rounded(x):
        x = summed(x, ahead)
        return torch.fake_quantize_per_channel_affine(x, torch.full((D,), 0.1), torch.zeros(D), 2, -128, 127)

    return rounded


def narrow_copies(ahead):
    return lambda x: torch.cat([torch.narrow_copy(F.pad(x, (0, 0, 7 - ahead, 1)), 1, i, N) for i in range(8)], -1)


def strides_copied(ahead):
    """Windows of three positions, cut out of memory."""

    def windows(x):
        padded = F.pad(x, (0, 0, 2 - ahead, ahead)).contiguous()
        return torch.as_strided_copy(padded, (1, N, 3, D), (1, D, D, 1)).sum(2)

    return windows


def segments_reduced(ahead):
    def before(x):
        sums = torch.segment_reduce(x[0], "sum", lengths=torch.full((4,), 2))
        return torch.cat([torch.zeros(1, D), sums])[ahead : 4 + ahead].repeat_interleave(2, 0)[None]

    return before


def least_squares(ahead):
    """Each position solves for what the positions before it say."""

    def solved(x):
        a = torch.stack([torch.eye(D) + x[0, : t + 1 + ahead].mT @ x[0, : t + 1 + ahead] for t in range(N)])
        return torch.linalg.lstsq(a, x[0][..., None]).solution[..., 0][None]

    return solved


def folded(ahead):
    """Each block of two is cut out and put back one block later, or where it stood."""

    def moved(x):
        pieces = F.unfold(x[:, None].cumsum(2) if ahead else x[:, None], (2, D), stride=2)
        later = F.pad(pieces, (1, 0))[..., :-1]
        back = F.fold(later, (N, D), (2, D), stride=2)[:, 0]
        return back.flip(1).cumsum(1).flip(1) if ahead else back.cumsum(1)

    return moved


def sparse_means(ahead):
    """Means over the past, by a matrix that is stored as its numbers other than zero."""
    mean = F.normalize(past(ahead).float(), p=1, dim=-1).to_sparse_csr()
    return lambda x: (mean @ x[0])[None]


PAIRS = [
    experts_in_a_loop, shared_expert, experts_by_groups,
    padding_warning, check_of_numbers,
    shift_by_the_largest, shift_by_the_largest_detached, sink_by_cat, largest_of_the_lowest, compressed_windows,
    s4, gss, hyena, mega, h3,
    gates_of_logsigmoid, masks_added, padding_in_the_fast_path, interpolated, loss_of_each_token, fake_quantised,
    narrow_copies, strides_copied, segments_reduced, least_squares, folded, sparse_means,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", PAIRS, ids=lambda make: make.__name__)
def test_proved(make):
    verdict = ap.check_model(make(0), fixed(1, N, D), sequence_axis=1)
    assert verdict.status.name in ("PROVED", "PROVED_IF"), verdict


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", PAIRS, ids=lambda make: make.__name__)
def test_its_twin_leaks(make):
    assert ap.check_model(make(1), fixed(1, N, D), sequence_axis=1).status.name == "REFUTED"


# -- the table of docs/guarantee.md ------------------------------------------------------------------------------------

HERE = Path(__file__).parent
PAGE = HERE.parents[2] / "docs" / "guarantee.md"


def missing_tests(text):
    """What a table of kinds names as a test, or a case of one, and is none."""
    missing = []
    for line in re.findall(r"^\|.*`[\w/]+\.py` \|.*", text, re.M):
        file, *tests = re.findall(r"`([^`]+)`", line.split(" | ", 1)[1])
        source = (HERE / file).read_text(encoding="utf-8")
        functions = {node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)}
        for name, case in (re.fullmatch(r"(\w+)(?:\[(.*)\])?", test).groups() for test in tests):
            if name not in functions or (case and not re.search(rf"\b{re.escape(case)}\b", source)):
                missing.append(f"{file}::{name}[{case}]")
    return missing


@pytest.mark.skipif(not PAGE.is_file(), reason="the checkout is not part of this installation")
def test_every_kind_of_the_table_has_its_tests():
    text = PAGE.read_text(encoding="utf-8").partition("## Kinds of models")[2].partition("\n## ")[0]
    assert text.count("test_its_twin_leaks[") == len(PAIRS)
    assert missing_tests(text) == []


def test_a_test_that_is_not_there_is_seen():
    nowhere = "_".join(["no", "kind"])  # a name that this file does not hold
    row = f"| experts | `test_pairs.py` | `test_provd[s4]` | `test_its_twin_leaks[{nowhere}]` |"
    assert missing_tests(row) == ["test_pairs.py::test_provd[s4]", f"test_pairs.py::test_its_twin_leaks[{nowhere}]"]
