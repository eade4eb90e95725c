"""Old tensor types and the devices of storages: a run without values answers what one with values would."""

from __future__ import annotations

import pytest
from needs import need

torch = need("torch")

from attnproof import Status
from attnproof.causal.model import check_model
from torch import FloatTensor as Imported

X = torch.randn(1, 6, 4)
QUESTIONS = {
    "the type": lambda x: isinstance(x, torch.FloatTensor),
    "a type by its own name": lambda x: isinstance(x, Imported),
    "one of several": lambda x: isinstance(x.argmax(1), (torch.IntTensor, torch.LongTensor)),
    "another device": lambda x: not isinstance(x, torch.cuda.FloatTensor),
    "another width": lambda x: not isinstance(x, torch.HalfTensor),
    "made by a type": lambda x: isinstance(torch.FloatTensor([1, 2]).type(torch.LongTensor), torch.LongTensor),
    "a storage": lambda x: x.untyped_storage().device == x.device,
    "a typed storage": lambda x: x.storage().device.type == "cpu" and not x.storage().is_cuda,
}


@pytest.mark.filterwarnings("ignore:TypedStorage")
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_branch_on_what_a_tensor_is_goes_as_in_a_run_with_values(question):
    asked = QUESTIONS[question]
    assert asked(X)
    causal = check_model(lambda x: x.cumsum(1) if asked(x) else x.flip(1), X, replay="never")
    assert causal.status is Status.PROVED
    assert "without values" in causal.evidence[0].detail
    ahead = check_model(lambda x: x.flip(1) if asked(x) else x.cumsum(1), X, replay="never")
    assert ahead.status is Status.UNDECIDED
