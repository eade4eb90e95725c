"""Recurrent layers: everything so far."""

from __future__ import annotations

from needs import need

torch = need("torch")

import pytest
from tensor_probe import check, normal

X = normal(6, 4)


def layer(kind, dtype=torch.float64, **options):
    with torch.random.fork_rng([]):
        torch.manual_seed(0)
        return kind(4, 3, **options).to(dtype)


LSTM, GRU, RNN = (layer(k) for k in (torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN))
DEEP = layer(torch.nn.LSTM, num_layers=2, batch_first=True, proj_size=2)
BOTH = layer(torch.nn.LSTM, bidirectional=True)
SINGLE = layer(torch.nn.LSTM, torch.float32)
SINGLE_BOTH = layer(torch.nn.LSTM, torch.float32, bidirectional=True)
CELL = layer(torch.nn.LSTMCell)


def steps(x):
    state, out = None, []
    for row in x:
        state = CELL(row[None], state)
        out.append(state[0])
    return torch.cat(out)


CASES = {
    "lstm": lambda x: LSTM(x[:, None])[0],
    "gru": lambda x: GRU(x[:, None])[0],
    "rnn": lambda x: RNN(x[:, None])[0],
    "deep": lambda x: DEEP(x[None])[0],
    "both": lambda x: BOTH(x[:, None])[0],
    "cell": steps,
}
LOOSE: set[str] = set()


@pytest.mark.parametrize("name", CASES)
def test_claims_hold(name):
    check(CASES[name], X, exact=name not in LOOSE)


@pytest.mark.parametrize("model", [SINGLE, SINGLE_BOTH])
def test_the_fused_kernel_of_single_precision(model):
    run = check(lambda x: model(x[:, None])[0].double(), X.float(), exact=False)
    assert "aten.mkldnn_rnn_layer" in run.operations or "aten.lstm" in run.operations or run.operations
    last = run.outputs[0].shadow.hi
    assert last.max() == 5
    if model is SINGLE:
        assert run.outputs[0].along(0)[1].tolist() == [0, 1, 2, 3, 4, 5]
