"""Ways out of the tensors and around the rules that once led to a wrong PROVED; none of them may be proved again."""

import pickle
import zlib

import attnproof as ap
import pytest
from needs import need

torch = need("torch")
N = 8


def only_first(x, value):
    """The input, with `value` added to output 0: a leak that shows at one position only."""
    mark = torch.zeros(1, x.shape[1], 1)
    mark[0, 0] = 1
    return x + mark * value


def nested_write(x):
    base = torch.ones(4)
    sizes, strides = torch.tensor([[2], [2]]), torch.tensor([[1], [1]])
    torch._nested_view_from_buffer(base, sizes, strides, torch.tensor([0, 2])).mul_(x[0, 1, 0])
    return only_first(x, base[0])


def sparse_write(x):
    values = torch.ones(2)
    sparse = torch.sparse_coo_tensor(torch.tensor([[0, 1]]), values, (2,), is_coalesced=True)
    sparse.mul_(x[0, 1, 0])
    return only_first(x, sparse._values()[0])


LEAKS = {
    "tensor of tensors": lambda x: only_first(x, torch.tensor([x[0, 1, 0], x[0, 1, 1]])),
    "as_tensor": lambda x: only_first(x, torch.as_tensor([x[0, 1, 0], x[0, 1, 1]])),
    "asarray": lambda x: only_first(x, torch.asarray([x[0, 1, 0], x[0, 1, 1]])),
    "nested list": lambda x: only_first(x, torch.tensor([[[x[0, 1, 0]]]])),
    "new_tensor": lambda x: only_first(x, x.new_tensor([x[0, 1, 0], x[0, 1, 1]])),
    "FloatTensor": lambda x: only_first(x, torch.FloatTensor([x[0, 1, 0], x[0, 1, 1]])),
    "Tensor": lambda x: only_first(x, torch.Tensor([x[0, 1, 0], x[0, 1, 1]])),
    "item assignment of a list": lambda x: assigned(x),
    "index list": lambda x: only_first(x, torch.arange(4.0)[torch.tensor([(x[0, 1, 0] > 0).long(), 1])].sum()),
    "pickle": lambda x: only_first(x, float(zlib.crc32(pickle.dumps(x[:, :2])) % 97)),
    "bytes of a storage": lambda x: only_first(x, float(zlib.crc32(bytes(x[:, 1].clone().untyped_storage())) % 97)),
    "one byte of a storage": lambda x: only_first(x, float(x[:, 1].clone().untyped_storage()[0])),
    "nested tensor written": nested_write,
    "sparse tensor written": sparse_write,
}


def positive(x):
    return (x[0, 1] > 0).long()


def packed(x):
    lengths = (positive(x) + 1).sort(descending=True)[0]
    return torch.nn.utils.rnn.pack_padded_sequence(torch.ones(2, 3, 1), lengths, batch_first=True)


def complex_with_zero(x):
    return torch.complex(torch.full((2,), -1.0), 0.0 * x[0, 1])


LEAKS |= {
    "linspace between tensors": lambda x: only_first(x, torch.linspace(x[0, 1, 0], x[0, 1, 1], 2)),
    "linspace from a tensor": lambda x: only_first(x, torch.linspace(x[0, 1, 0], 1.0, 2)),
    "logspace": lambda x: only_first(x, torch.logspace(x[0, 1, 0], x[0, 1, 1], 2)),
    "sparse values": lambda x: only_first(x, float(x[0, 1].relu().to_sparse().values().shape[0])),
    "sparse indices": lambda x: only_first(x, float(x[0, 1].relu().to_sparse()._indices().shape[1])),
    "compressed rows": lambda x: only_first(x, float(x[0, :2].relu().to_sparse_csr().values().shape[0])),
    "tensor_split": lambda x: only_first(x, torch.arange(1.0, 9.0).tensor_split(positive(x)[:1] + 1)[0].sum()),
    "packed sequence": lambda x: only_first(x, float(packed(x).data.shape[0])),
    "atan2 of a zero": lambda x: only_first(x, torch.atan2(0.0 * x[0, 1], torch.full((2,), -1.0))),
    "copysign of a zero": lambda x: only_first(x, torch.copysign(torch.ones(2), 0.0 * x[0, 1])),
    "signbit of a zero": lambda x: only_first(x, (0.0 * x[0, 1]).signbit().float()),
    "bits of a zero": lambda x: only_first(x, (0.0 * x[0, 1]).view(torch.int32).sign().float()),
    "a zero divided": lambda x: only_first(x, (torch.zeros(2) / x[0, 1]).signbit().float()),
    "complex angle": lambda x: only_first(x, complex_with_zero(x).angle()),
    "complex log": lambda x: only_first(x, complex_with_zero(x).log().imag),
    "complex sqrt": lambda x: only_first(x, complex_with_zero(x).sqrt().imag),
    "complex power": lambda x: only_first(x, (complex_with_zero(x) ** 0.5).imag),
}


def assigned(x):
    y = torch.zeros(2)
    y[:] = torch.tensor([x[0, 1, 0], 0.0])
    return only_first(x, y[0])


@pytest.mark.parametrize("name", LEAKS)
@pytest.mark.filterwarnings("ignore")
def test_a_value_that_leaves_the_tensors_is_never_proved(name):
    torch.manual_seed(0)
    assert ap.check_model(LEAKS[name], torch.randn(1, N, 2)).status.name in ("REFUTED", "UNDECIDED")


@pytest.mark.parametrize("literal", [torch.tensor, torch.as_tensor, torch.FloatTensor, torch.Tensor])
def test_numbers_from_python_stay_constants(literal):
    verdict = ap.check_model(lambda x: x * literal([0.0, 2.0])[1], torch.randn(1, N, 2), sequence_axis=1)
    assert verdict.status.name == "PROVED"


def padding(n):
    """One row per sample, as many samples as positions: its shape is that of a (queries, keys) mask."""
    mask = torch.triu(torch.ones(n, n, dtype=torch.bool), 1)
    mask[3:, 1:] = True
    return mask


def test_a_padding_mask_is_no_causal_mask():
    x = torch.randn(6, 6, 4)
    attention = torch.nn.MultiheadAttention(4, 2, batch_first=True).eval()
    layer = torch.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval()
    hidden = padding(6)
    models = [
        lambda x: attention(x, x, x, key_padding_mask=hidden, need_weights=False)[0],
        lambda x: layer(x, src_key_padding_mask=hidden),
    ]
    for model in models:
        assert ap.check_model(model, x).status.name == "REFUTED"
    causal = torch.nn.Transformer.generate_square_subsequent_mask(6)
    assert ap.check_model(lambda x: layer(x, src_mask=causal), x).status.name == "PROVED"


def shifted(x):
    lagged = torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], 1)
    return lagged.flip(1).contiguous()


def added(x):
    y = shifted(x)
    y[:, 1:] += y[:, :-1]  # runs element by element: a running sum from the end
    return y.flip(1)


def copied(x):
    y = shifted(x)
    y[:, 1:].copy_(y[:, :-1])
    return y.flip(1)


@pytest.mark.parametrize("model", [added, copied])
def test_a_write_through_overlapping_views_is_never_proved(model):
    assert ap.check_model(model, torch.randn(3, 20, 1, dtype=torch.float64)).status.name in ("REFUTED", "UNDECIDED")


def test_writes_to_other_rows_of_the_same_memory_are_followed():
    def scan(x):
        y = x.clone()
        for t in range(1, x.shape[1]):
            y[:, t] += y[:, t - 1]
        return y

    assert ap.check_model(scan, torch.randn(2, N, 3)).status.name == "PROVED"


class ReadsItsGate(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = torch.nn.Parameter(torch.zeros(()))

    def forward(self, x):
        return x + self.gate.item() * x.flip(1)


def test_a_parameter_read_as_a_number_is_a_condition():
    verdict = ap.check_model(ReadsItsGate(), torch.randn(1, 4, 1), sequence_axis=1)
    assert verdict.status.name == "PROVED_IF"
    assert (
        "parameters and random draws that the program reads as numbers stay as they are" in verdict.conditions[0].text
    )


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (torch.relu, "every masked value is at most 0"),
        (torch.exp, "every masked value is below −104 (float32)"),
        (torch.sigmoid, "every masked value is so low that the result is exactly 0 (float32)"),
    ],
)
def test_a_finite_mask_outside_a_softmax_states_its_own_condition(function, sentence):
    mask = torch.triu(torch.full((4, 4), -1e4), 1)

    def model(x):
        return function(x[..., 0][:, None, :].expand(1, 4, 4) + mask) @ x

    verdict = ap.check_model(model, torch.randn(1, 4, 1))
    assert verdict.status.name == "PROVED_IF"
    assert any(c.text.endswith(sentence) for c in verdict.conditions)


def test_a_batch_of_vectors_is_solved_with_the_batches_that_it_has():
    n = 6
    matrices = torch.eye(2).expand(n, n, 2, 2) + 0.1

    def model(x):
        solved = torch.linalg.solve(matrices, x[0])  # solved[a, b] reads x[a, b]
        mark = torch.zeros(n, 1)
        mark[0] = 1
        return (x[0].sum(1) + mark * solved[1, 0])[None]

    assert ap.check_model(model, torch.randn(1, n, n, 2)).status.name == "REFUTED"


@pytest.mark.parametrize("write", [lambda y: y.pow_(2), lambda y: y.square_(), lambda y: y.float_power_(2)])
def test_powers_in_place_are_followed(write):
    assert ap.check_model(lambda x: write(x.double().cumsum(1)), torch.randn(1, 6, 2)).status.name == "PROVED"
