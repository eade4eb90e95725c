"""A refuted model is blamed on the operation that does it, and the chain goes forward from there."""

from __future__ import annotations

import inspect
import warnings
from dataclasses import replace

import attnproof as ap
import numpy as np
import pytest
from needs import need

torch = need("torch")
from attnproof.causal.model.arguments import subject_of
from attnproof.causal.model.program import Program
from attnproof.causal.model.setting import Setting
from attnproof.causal.model.trace import frontend
from attnproof.causal.model.trace.policy import Policy
from model_checks import x
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    """Causal attention with a residual."""

    def __init__(self):
        super().__init__()
        self.to_q, self.to_k, self.to_v = (nn.Linear(8, 8) for _ in range(3))

    def forward(self, x):
        return x + F.scaled_dot_product_attention(self.to_q(x), self.to_k(x), self.to_v(x), is_causal=True)


class Leaking(nn.Module):
    """A fault between causal layers."""

    def __init__(self, fault):
        super().__init__()
        self.before, self.norm, self.after, self.fault = Attention(), nn.LayerNorm(8), Attention(), fault

    def forward(self, x):
        h = self.before(x)
        h = h + self.fault(h)
        return self.after(self.norm(h))


def mean(h):
    return h.mean(1, keepdim=True)


def scaled(h):
    return h / h.norm(dim=1, keepdim=True)


def shift(h):
    return h.roll(-1, 1)


def shift_by_slices(h):
    return F.pad(h[:, 1:], (0, 0, 0, 1))


def reversed_scan(h):
    return h.flip(1).cumsum(1).flip(1)


def block_mean(h):
    return h.unflatten(1, (-1, 4)).mean(2).repeat_interleave(4, 1)


def attention(h):
    return (h @ h.mT).softmax(-1) @ h


def written(h):
    y = torch.zeros_like(h)
    y[:, :-1] = h[:, 1:]
    return y


FAULTS = {
    mean: "aten.mean",
    scaled: "aten.linalg_vector_norm",
    shift: "aten.roll",
    shift_by_slices: "aten.constant_pad_nd",
    reversed_scan: "aten.cumsum",
    block_mean: "aten.mean",
    attention: "aten._softmax",
    written: "aten.copy_",
}


def check(fault, n):
    torch.manual_seed(0)
    return ap.check_model(Leaking(fault), torch.randn(1, n, 8))


@pytest.mark.parametrize("n", [8, 12], ids=["as many positions as features", "other sizes"])
@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.__name__)
def test_the_operation_that_does_it_is_named_with_its_line(fault, n):
    entry = check(fault, n).details["blame"]["entry"]
    lines, first = inspect.getsourcelines(fault)
    assert entry["operation"] == FAULTS[fault]
    file, _, line = entry["line"].rpartition(":")
    assert file == __file__
    assert first < int(line) < first + len(lines)


def test_the_chain_goes_forward_from_the_entry_and_lists_no_causal_layer():
    blame = check(reversed_scan, 12).details["blame"]
    assert blame["path"][0] == blame["entry"]
    assert blame["entries"] == [blame["entry"]]
    assert [step["operation"] for step in blame["path"]][:3] == ["aten.cumsum", "aten.flip", "aten.add"]
    assert "before" not in {step["module"].partition(".")[0] for step in blame["path"]}


def test_message_caption_and_details_name_the_same_entry():
    from attnproof.causal.model.picture import caption

    verdict = check(shift, 12)
    entry = verdict.details["blame"]["entry"]
    assert verdict.reasons[0].startswith(f"input 1 can enter output 0 at {entry['operation']} ({entry['line']})")
    line = entry["line"].rpartition(":")[2]
    assert caption(verdict) == f"the future enters at {entry['operation']} (model/test_blame.py:{line})"


def test_a_hook_belongs_to_its_module():
    torch.manual_seed(0)
    model = nn.Sequential(Attention(), nn.LayerNorm(8), Attention())
    model[1].register_forward_hook(lambda module, given, y: y + y.mean(1, keepdim=True))
    entry = ap.check_model(model, torch.randn(1, 12, 8)).details["blame"]["entry"]
    assert (entry["operation"], entry["module"]) == ("aten.mean", "1")


def test_features_as_many_as_positions_are_no_positions():
    """The second half of the features, those of the way back, lies where positions that are closed would."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), nn.LSTM(4, 4, batch_first=True, bidirectional=True))
    assert ap.check_model(model, torch.randn(1, 8, 4)).details["blame"]["entry"]["module"] == "1"


def test_what_could_not_be_excluded_is_blamed_on_its_operation_too():
    verdict = ap.check_model(Leaking(lambda h: mean(h) - mean(h)), torch.randn(1, 12, 8))
    assert verdict.status.name == "UNDECIDED"
    assert verdict.details["blame"]["entry"]["operation"] == "aten.mean"


def test_blame_names_the_module_the_line_and_the_chain():
    class Compressed(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
            self.mix = nn.Linear(8, 8)

        def forward(self, x):
            return self.mix(self.inner(x).mT).mT.tanh()

    blame = ap.check_model(Compressed(), x()).details["blame"]
    assert blame["entry"]["module"] == "mix"
    assert blame["entry"]["line"].rpartition(":")[0].endswith("test_blame.py")
    assert blame["path"][-1]["operation"] == "aten.tanh"


@pytest.mark.parametrize("gradients", [True, False], ids=["plain path", "fused path"])
def test_blame_passes_over_a_causal_layer_that_the_future_leaves_again(gradients):
    """Later positions of its output depend on the future of earlier ones; they are closed to those, too."""

    class Pooled(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval()
            self.pool = nn.Linear(8, 3)

        def forward(self, x):
            y = self.layer(x, src_mask=nn.Transformer.generate_square_subsequent_mask(8))
            slots = self.pool(y.mT).mT
            return y + (y @ slots.mT).softmax(-1) @ slots

    with torch.set_grad_enabled(gradients):
        blame = ap.check_model(Pooled(), x()).details["blame"]
    assert blame["entry"]["module"] == "pool"
    assert "layer" not in {step["module"].partition(".")[0] for step in blame["path"]}


def test_blame_passes_over_a_padded_convolution_that_is_causal():
    """The convolution's output is longer than the sequence, so its shape alone does not clear it; the two runs do."""

    class Chomped(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv1d(4, 4, 3, padding=2)

        def forward(self, x):
            return self.conv(x)[..., :-2]

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.norm = Chomped(), nn.BatchNorm1d(4)

        def forward(self, x):
            return self.norm(self.first(x.mT)).mT

    entry = ap.check_model(Block(), x(), modes="train").details["blame"]["entry"]
    assert (entry["operation"], entry["module"]) == ("aten.native_batch_norm", "norm")


class Warns(nn.Module):
    """Reads a truth value that changes nothing, before attention that looks at all positions."""

    def __init__(self):
        super().__init__()
        self.to_q, self.to_k = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x):
        if (x > 100).any():
            warnings.warn("large", stacklevel=2)
        return (self.to_q(x) @ self.to_k(x).mT).softmax(-1) @ x


def test_the_first_run_with_values_shows_the_axes_of_a_chain(monkeypatch):
    model = Warns()
    subject = subject_of(model, (x(8, 8),), 0, 1, None)
    program, seen = Program.of(subject).acquainted("eval")
    first, runs, run = seen.first, [], frontend.run
    monkeypatch.setattr(frontend, "run", lambda *a, **k: (runs.append(a), run(*a, **k))[1])
    marked = np.arange(8) == 5
    asked = {"output": 0, "position": 2, "forbidden": marked, "closed": np.arange(8) > 2}
    setting = Setting(mode="eval")
    chains, counts = [], []
    for like in (first, replace(first, axes=()), replace(first, course=first.course + 1)):
        runs.clear()
        chains.append(program.chain(Policy(values=False), setting, like, **asked))
        counts.append(len(runs))
    assert first.axes
    assert chains[0].entry.name == "aten._softmax"
    assert chains[0] == chains[1] == chains[2]
    assert counts == [1, 2, 3]  # a run that takes another course shows nothing
