"""Tensors given twice or inside structures, draws that use up random numbers as the data will, padding of encoders."""

import collections
import dataclasses
from typing import NamedTuple

import attnproof as ap
import pytest
from attnproof.causal import trace
from attnproof.causal.model import ModelError
from needs import need

torch = need("torch")
from torch import nn
from torch.nn import functional as F
from torch.utils._pytree import register_pytree_node

N = 6
HIDDEN = torch.ones(N, N, dtype=torch.bool).triu(1)


def attend(q, k, v):
    return (q @ k.mT).softmax(-1) @ v


def difference(q, k):
    return q + (k - q).flip(1)  # cancels when both are the same


def by_keyword(q, *, k):
    return q + k.flip(1)


@pytest.mark.parametrize("layer", ["attention layer", "function"])
def test_one_tensor_given_three_times_is_varied_as_one(layer):
    torch.manual_seed(0)
    model = nn.MultiheadAttention(4, 2, batch_first=True).eval() if layer == "attention layer" else attend
    x = torch.randn(2, N, 4)
    verdict = ap.check_model(model, x, x, x)
    assert verdict.status.name == "REFUTED"
    assert not verdict.witness.setting.alone
    assert verdict.witness.replay()
    back = ap.Verdict.from_json(verdict.to_json()).witness
    assert back == verdict.witness
    assert back.tied == (1, 2)
    assert back.replay(model)


def test_keywords_are_tied_as_well():
    x = torch.randn(2, N, 4)
    verdict = ap.check_model(by_keyword, x, {"k": x})
    assert (verdict.status.name, verdict.witness.tied) == ("REFUTED", ("k",))
    assert ap.Verdict.from_json(verdict.to_json()).witness.replay(by_keyword)


def test_a_leak_that_cancels_in_tied_inputs_is_found_in_one_alone():
    x = torch.randn(2, N, 4)
    verdict = ap.check_model(difference, x, x)
    assert verdict.status.name == "REFUTED"
    assert verdict.witness.replay()
    assert "the other inputs that are the same tensor kept" in verdict.witness.describe()
    assert ap.Verdict.from_json(verdict.to_json()).witness.replay(difference)


def test_tied_inputs_under_a_mask_are_proved():
    x = torch.randn(2, N, 4)
    attention = nn.MultiheadAttention(4, 2, batch_first=True).eval()
    assert ap.check_model(attention, x, x, x, {"attn_mask": HIDDEN}).status.name == "PROVED"
    assert ap.check_model(attention, x, x, x.clone(), {"attn_mask": HIDDEN}).status.name == "PROVED"


DRAWS = {
    "rrelu": nn.RReLU(),
    "rrelu in place": lambda x: F.rrelu(x.clone(), training=True, inplace=True),
    "poisson": lambda x: torch.poisson(x.abs() * 5),
    "poisson from the end": lambda x: torch.poisson(x.flip(1).abs() * 5).flip(1),
    "binomial": lambda x: torch.binomial(torch.full_like(x, 50.0), x.sigmoid()),
    "gamma": lambda x: torch._standard_gamma(x.abs() + 1),
    "dirichlet": lambda x: torch._sample_dirichlet(x.abs() + 0.5),
    "a later draw": lambda x: x + 0 * torch.poisson(x.abs()).sum() + torch.rand(1, N, 2),
}


@pytest.mark.parametrize("name", DRAWS)
def test_each_element_is_drawn_from_a_stream_of_its_own(name):
    verdict = ap.check_model(DRAWS[name], torch.randn(1, N, 2), sequence_axis=1, modes=("train",))
    assert verdict.status.name == "PROVED", verdict
    assert any("has a stream of its own" in a for a in verdict.assumptions)
    assert all(e.ok is not False for e in verdict.evidence)


@pytest.mark.parametrize(
    "model",
    [
        lambda x: torch.poisson(x.flip(1).abs() * 5),
        lambda x: nn.RReLU()(x) + x.flip(1),
        lambda x: torch._sample_dirichlet((x.abs() + 0.5).mT.contiguous()).mT,
    ],
)
def test_a_leak_through_a_draw_is_found(model):
    verdict = ap.check_model(model, torch.randn(1, N, 2), modes=("train",))
    assert verdict.status.name == "REFUTED"
    assert verdict.witness.replay()


def test_a_draw_moves_with_its_own_rate():
    from attnproof.causal.model import draws

    rates = torch.full((4, 3), 5.0)
    with torch.random.fork_rng([]), draws.apart():
        torch.manual_seed(0)
        first = torch.poisson(rates)
        rates[0, 0] = 50.0
        torch.manual_seed(0)
        second = torch.poisson(rates)
    assert first[0, 0] != second[0, 0]
    assert torch.equal(first.reshape(-1)[1:], second.reshape(-1)[1:])
    assert len(first.unique()) > 2


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_an_encoder_with_padding_is_checked_on_its_plain_path():
    torch.manual_seed(0)
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 2).eval()
    padding = torch.zeros(2, N, dtype=torch.bool)
    padding[1, 4:] = True
    x = torch.randn(2, N, 4)
    assert ap.check_model(lambda x: encoder(x, src_key_padding_mask=padding), x).status.name == "REFUTED"
    verdict = ap.check_model(lambda x: encoder(x, mask=HIDDEN, src_key_padding_mask=padding), x)
    assert verdict.status.name == "PROVED"
    assert any(a.startswith("the nested tensors of nn.TransformerEncoder") for a in verdict.assumptions)

    def steered(x):
        return encoder(x, mask=HIDDEN, src_key_padding_mask=(x[:, :, 0] > 1).cumsum(1) > 0)

    assert not trace.run(steered, (x,)).complete  # the padding steers which path is taken


def test_experts_by_groups_stay_open_with_a_remedy():
    if not hasattr(torch, "_grouped_mm"):
        pytest.skip("this PyTorch has no grouped product")
    torch.manual_seed(0)
    weights = torch.randn(2, 4, 4)

    def experts(x):
        chosen = (x[0, :, 0] > 0).long()
        order = chosen.argsort()
        ends = torch.nn.functional.one_hot(chosen, 2).sum(0).cumsum(0).int()
        y = torch._grouped_mm(x[0][order], weights, offs=ends)
        return y[order.argsort()][None]

    def gathered(x):
        return torch.einsum("btd,btde->bte", x, weights[(x[..., 0] > 0).long()])

    x = torch.randn(1, N, 4)
    torch.testing.assert_close(experts(x), gathered(x))
    verdict = ap.check_model(experts, x, sequence_axis=1)
    assert verdict.status.name == "UNDECIDED"
    assert any("experts_implementation='batched_mm'" in r for r in verdict.reasons)
    assert ap.check_model(gathered, x, sequence_axis=1).status.name == "PROVED"


# -- other inputs inside structures -------------------------------------------------------------------------------


class Pair(NamedTuple):
    first: object
    second: object


@dataclasses.dataclass
class Plain:
    first: object
    second: object


@dataclasses.dataclass(frozen=True)
class Frozen:
    first: object
    second: object


class Registered:
    def __init__(self, *held):
        self.held = held


register_pytree_node(Registered, lambda r: (list(r.held), None), lambda children, _: Registered(*children))


def model_output(first, second):
    outputs = need("transformers.modeling_outputs")
    return outputs.BaseModelOutput(last_hidden_state=first, hidden_states=(second,))


def get(held):
    """The two tensors of any of the structures, the second of them in a tuple where the structure wants that."""
    if isinstance(held, (Plain, Frozen)):
        return held.first, held.second
    pair = held.held if isinstance(held, Registered) else tuple(held.values()) if hasattr(held, "values") else held
    return pair[0], pair[1][0] if isinstance(pair[1], tuple) else pair[1]


HELD = {
    "tuple": lambda a, b: (a, b),
    "namedtuple": Pair,
    "OrderedDict": lambda a, b: collections.OrderedDict(a=a, b=b),
    "defaultdict": lambda a, b: collections.defaultdict(None, a=a, b=b),
    "UserDict": lambda a, b: collections.UserDict(a=a, b=b),
    "ModelOutput": model_output,
    "registered": Registered,
    "dataclass": Plain,
    "frozen dataclass": Frozen,
}


@pytest.mark.parametrize("keyword", [False, True])
@pytest.mark.parametrize("kind", HELD)
def test_floats_inside_a_structure_are_other_inputs_as_in_a_tuple(kind, keyword):
    def gated(x, held):
        a, gate = get(held)
        return x + a + gate * x.flip(1)

    held = HELD[kind](torch.ones(1, N, 2), torch.zeros(1, N, 2))
    given = ({"held": held},) if keyword else (held, {})  # a last mapping holds keywords
    verdict = ap.check_model(gated, torch.randn(1, N, 2), *given)
    assert verdict.status.name == "PROVED_IF", verdict
    assert [c.text for c in verdict.conditions] == [
        "the other inputs keep the values given (with arbitrary values it is open)"
    ]


@pytest.mark.parametrize("kind", HELD)
def test_a_leak_through_a_structure_is_found(kind):
    def gated(x, held):
        return x + get(held)[1] * x.flip(1)

    verdict = ap.check_model(
        gated, torch.randn(1, N, 2), HELD[kind](torch.ones(1, N, 2), torch.ones(1, N, 2)), {}, sequence_axis=1
    )
    assert verdict.status.name == "REFUTED"
    assert verdict.witness.replay()


@pytest.mark.parametrize("kind", HELD)
def test_what_is_written_inside_a_structure_does_not_reach_the_caller(kind):
    def counting(x, held):
        a, b = get(held)
        b += 1
        return x + a

    a, b = torch.ones(1, N, 2), torch.zeros(1, N, 2)
    verdict = ap.check_model(counting, torch.randn(1, N, 2), HELD[kind](a, b), {}, sequence_axis=1)
    assert verdict.status.name == "PROVED"
    assert not b.any()
    assert any("writes into its input 2" in r for r in verdict.reasons)


def test_complex_numbers_are_other_inputs_as_well():
    verdict = ap.check_model(
        lambda x, c: x + c.real * x.flip(1), torch.randn(1, N, 2), torch.zeros(2, dtype=torch.cfloat)
    )
    assert verdict.status.name == "PROVED_IF", verdict


def test_the_hash_counts_tensors_inside_structures():
    x = torch.randn(1, N, 2)

    def hashed(value):
        return ap.check_model(
            lambda x, p: x + p.first, x, Pair(torch.full((1, N, 2), value), 0), sequence_axis=1
        ).input_hash

    assert hashed(1.0) == hashed(1.0) != hashed(2.0)


def test_structures_that_hold_themselves_are_refused_in_a_sentence():
    loop = []
    loop.append(loop)
    with pytest.raises(ModelError, match="a list lies more than 64 levels deep or in itself; pass"):
        ap.check_model(lambda x, _: x, torch.randn(1, N, 2), loop)
    with pytest.raises(ModelError, match="levels deep or in itself"):
        ap.check_model(lambda x: [x, loop], torch.randn(1, N, 2))
