"""Models that select what a query reads, rewritten short from what is published, each with twins that look ahead."""

from __future__ import annotations

from needs import need

torch = need("torch")

import attnproof as ap
import pytest
from torch import nn

N, WIDTH, BLOCK = 12, 4, 4
BLOCKS = N // BLOCK
LOWEST = torch.finfo(torch.float32).min
AHEAD = torch.ones(N, N, dtype=torch.bool).triu(1)


class Attention(nn.Module):
    """Queries, keys and values of a sequence, handed to a function of them."""

    def __init__(self, mix):
        super().__init__()
        self.mix = mix
        self.project = nn.Linear(WIDTH, 3 * WIDTH)

    def forward(self, x):
        return self.mix(*self.project(x)[0].chunk(3, -1))[None]


def in_blocks(t):
    return t.reshape(BLOCKS, BLOCK, WIDTH)


def sinkhorn(best=1, temperature=0.75, fault=""):
    """Keys of past blocks, sorted by a learned score, beside those of the query's own block (Tay et al. 2020): each
    block takes the `best` ones, or learned ones that stand before the first.

    `fault`: the score of a block reads the "whole" block; it is "balanced" over all blocks, later ones among them; a
    block may take "itself".
    """

    def mix(q, k, v):
        mean = lambda t: in_blocks(t.cumsum(0) / torch.arange(1, N + 1)[:, None])  # noqa: E731
        asks = mean(q).sum(1) if fault == "whole" else mean(q)[:, 0]
        scores = asks @ nn.functional.pad(mean(k).sum(1), (0, 0, best, 0)).T
        hidden = torch.zeros(scores.shape, dtype=torch.bool)
        i, j = torch.triu_indices(BLOCKS, BLOCKS, 1 if fault == "itself" else 0)
        hidden[i, j + best] = True
        if fault == "balanced":
            for _ in range(3):
                scores = scores - scores.logsumexp(1, keepdim=True)
                scores = scores - scores.logsumexp(0, keepdim=True)
        scores.masked_fill_(hidden, LOWEST)
        taken = []
        for _ in range(best):
            weight, where = (scores / temperature).softmax(-1).topk(1, -1)
            taken.append(torch.zeros_like(scores).scatter_(-1, where, weight))
            scores.scatter_(-1, where, -torch.inf)
        order = torch.stack(taken, 1)  # (blocks, best, sources)
        past = lambda t: torch.einsum("ubs,std->ubtd", order, torch.cat([torch.ones(best, BLOCK, WIDTH), in_blocks(t)]))  # noqa: E731
        keys, values = (torch.cat([past(t).flatten(1, 2), in_blocks(t)], 1) for t in (k, v))
        dots = in_blocks(q) @ keys.mT
        later = nn.functional.pad(torch.ones(BLOCK, BLOCK, dtype=torch.bool).triu(1), (best * BLOCK, 0))
        return (dots.masked_fill(later, LOWEST).softmax(-1) @ values).reshape(N, WIDTH)

    return mix


def scored_blocks(pool, score, own="after", early=0):
    """Attention to the two past blocks that score highest and to the query's own (MoBA, SeerAttention, Quest): blocks
    are scored by what was pooled of their keys. `own`: "competes" where that block has to score, too.
    """

    def mix(q, k, v):
        at = torch.arange(N)[:, None]
        mine = at // BLOCK == torch.arange(BLOCKS)
        hidden = (torch.arange(BLOCKS) + 1) * BLOCK > at + 1 + early
        scores = score(q, pool(in_blocks(k)))
        scores = scores.masked_fill(hidden & ~mine if own == "competes" else hidden, LOWEST)
        chosen = torch.zeros_like(scores, dtype=torch.bool).scatter_(-1, scores.topk(2, -1).indices, True)
        seen = (chosen | mine).repeat_interleave(BLOCK, 1) & ~AHEAD
        return (q @ k.T).masked_fill(~seen, LOWEST).softmax(-1) @ v

    return mix


def bounds(q, pooled):
    """The most that a key of a block can score, by the least and the largest of each coordinate."""
    return torch.maximum(q[:, None] * pooled[0], q[:, None] * pooled[1]).sum(-1)


def routed(best, over):
    """Tokens that choose two of three experts, or experts that choose tokens (mixture of depths)."""

    def mix(q, k, v):
        weights = (q[:, :3] if over == 1 else q[:, :1]).softmax(over)
        kept = torch.zeros_like(weights).scatter(over, *reversed(weights.topk(best, over)))
        return (kept.sum(1, keepdim=True) * k.tanh() + v).cumsum(0)

    return mix


def sparsest(hidden, low):
    """Attention by sparsemax (Martins and Astudillo 2016): the point of the simplex that is next to the scores."""

    def mix(q, k, v):
        scores = (q @ k.T).masked_fill(hidden, low)
        ordered = scores.sort(-1, descending=True).values
        sums, places = ordered.cumsum(-1) - 1, torch.arange(1, N + 1)
        kept = (places * ordered > sums).sum(-1, keepdim=True)
        return (scores - sums.gather(-1, kept - 1) / kept).clamp(min=0) @ v

    return mix


CAUSAL = {
    "sparsemax": sparsest(AHEAD, -torch.inf),
    "sparsemax of finite masks": sparsest(AHEAD, -1e9),
    "a learned sort": sinkhorn(),
    "two of a learned sort": sinkhorn(best=2, temperature=1.0),
    "blocks by their mean": scored_blocks(lambda k: k.mean(1), lambda q, p: q @ p.T),
    "blocks by their bounds": scored_blocks(lambda k: (k.amin(1), k.amax(1)), bounds),
    "tokens choose experts": routed(2, over=1),
}
LEAKING = {
    "sparsemax one place too far": sparsest(AHEAD.triu(2), -1e9),
    "a sort that reads whole blocks": sinkhorn(fault="whole"),
    "a sort balanced over all blocks": sinkhorn(fault="balanced"),
    "a block that takes itself": sinkhorn(fault="itself"),
    "blocks too early": scored_blocks(lambda k: k.mean(1), lambda q, p: q @ p.T, early=1),
    "the own block competes": scored_blocks(lambda k: k.mean(1), lambda q, p: q @ p.T, own="competes"),
    "experts choose tokens": routed(5, over=0),
}


@pytest.mark.parametrize("name", CAUSAL)
def test_what_selects_among_the_past_is_proved(name):
    torch.manual_seed(0)
    model, x = Attention(CAUSAL[name]), torch.randn(1, N, WIDTH)
    assert ap.check_model(model, x).status.name in ("PROVED", "PROVED_IF")


@pytest.mark.parametrize("name", LEAKING)
def test_what_selects_by_the_future_is_refuted(name):
    torch.manual_seed(0)
    model, x = Attention(LEAKING[name]), torch.randn(1, N, WIDTH)
    assert ap.check_model(model, x, tries=400).status.name == "REFUTED"
