"""A second adversary's finds: shared memory, modes switched off, caught failures, signs of zeros, infinities."""

import collections
import contextlib
import io
import math
import multiprocessing
import tempfile
import zlib
from pathlib import Path

import attnproof as ap
import numpy as np
import pytest
from needs import need

torch = need("torch")
import torch.utils._python_dispatch as dispatch
from torch.nn import functional as F

N = 8
OUTSIDE = np.zeros(2, np.float32)
SHARED = torch.from_numpy(OUTSIDE)


def only_first(x, value):
    """The input, with `value` added to output 0: a leak that shows at one position only."""
    mark = torch.zeros(1, x.shape[1], 1)
    mark[0, 0] = 1
    return x + mark * value


def positive(x):
    return (x[0, 1] > 0).long()


# -- memory that another library holds ------------------------------------------------------------------------------


def written_through_numpy(x):
    buffer = torch.zeros(2)
    window = buffer.numpy()
    torch.add(x[0, 1], 0, out=buffer)
    return only_first(x, float(window[0]))


def from_numpy(x):
    array = np.zeros(2, np.float32)
    torch.from_numpy(array).copy_(x[0, 1])
    return only_first(x, float(array[0]))


def from_numpy_before(x):
    SHARED.copy_(x[0, 1])
    return only_first(x, float(OUTSIDE[0]))


def changed_from_outside(x):
    OUTSIDE[:] = 0
    _ = SHARED * x[0, 1]
    OUTSIDE[:] = 1
    return only_first(x, SHARED * x[0, 1])


def frombuffer(x):
    array = bytearray(8)
    torch.frombuffer(array, dtype=torch.float32).copy_(x[0, 1])
    return only_first(x, float(array[1]))


def second_view_by_numpy(x):
    buffer = torch.zeros(2)
    torch.from_numpy(buffer.numpy()).copy_(x[0, 1])
    return only_first(x, buffer)


def mapped_file(x):
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "shared")
        Path(path).write_bytes(bytes(8))
        torch.from_file(path, shared=True, size=2).copy_(x[0, 1])
        return only_first(x, torch.from_file(path, shared=True, size=2).clone())


def capsule(x):
    held = torch.to_dlpack(x[0, 1].clone())

    class Array:
        def __dlpack__(self, **_):
            return held

        def __dlpack_device__(self):
            return 1, 0

    return only_first(x, float(np.from_dlpack(Array())[0]))


def file_of_a_storage(x):
    with tempfile.NamedTemporaryFile() as file:
        x[:, 1].clone().untyped_storage()._write_file(file, True, True, 1)
        file.flush()
        return only_first(x, float(zlib.crc32(Path(file.name).read_bytes()) % 97))


class Holds(torch.nn.Module):
    def __init__(self, value):
        super().__init__()
        self.register_buffer("value", value)

    def forward(self, y):
        return y


def saved_script(x):
    file = io.BytesIO()
    torch.jit.save(torch.jit.script(Holds(x[0, 1].clone())), file)
    return only_first(x, float(zlib.crc32(file.getvalue()) % 97))


@torch.jit.script
def as_text(x):
    text = str(x[0, 1])
    return torch.ones(2) * ord(text[3])


# -- where nobody looks ------------------------------------------------------------------------------------------------


def other_process(x):
    context = multiprocessing.get_context("fork")
    mine, theirs = context.Pipe()
    process = context.Process(target=lambda: theirs.send(float(x[0, 1, 0])))
    process.start()
    value = mine.recv()
    process.join()
    return only_first(x, value)


def dispatch_off(x):
    buffer = torch.zeros(2)
    with torch._C._DisableTorchDispatch():
        buffer.copy_(x[0, 1])
    return only_first(x, buffer)


def modes_off(x):
    buffer = torch.zeros(2)
    with dispatch._disable_current_modes():
        buffer.copy_(x[0, 1])
    return only_first(x, buffer)


def functions_off(x):
    with torch._C.DisableTorchFunction():
        return only_first(x, torch.tensor([x[0, 1, 0], x[0, 1, 1]]))


def state_of_the_generator(x):
    state = torch.get_rng_state().clone()
    state[32:64] = (x[0, 1, 0].abs() * 100).to(torch.uint8)
    torch.set_rng_state(state)
    return only_first(x, torch.rand(2))


class Pair:
    def __init__(self, values):
        self.values = values

    def __len__(self):
        return 2

    def __getitem__(self, i):
        if i > 1:
            raise IndexError
        return self.values[i]


# -- failures as control flow ------------------------------------------------------------------------------------------


def caught(operation):
    def model(x):
        try:
            operation(x)
        except (IndexError, RuntimeError):
            return only_first(x, 1.0)
        return x

    return model


def bare(x):
    try:
        torch.linalg.cholesky(torch.diag(x[0, 1]))
    except:  # noqa: E722
        return only_first(x, 1.0)
    return x


def caught_by_local_names(x):
    errors = (IndexError, KeyError)
    try:
        torch.ones(4)[positive(x) * 7]
    except errors:
        return only_first(x, 1.0)
    return x


def finally_returns(x):
    value = 1.0
    try:
        torch.ones(4)[positive(x) * 7]
        value = 0.0
    finally:
        return only_first(x, value)  # noqa: B012


def suppressed(x):
    value = 1.0
    with contextlib.suppress(IndexError):
        torch.ones(4)[positive(x) * 7]
        value = 0.0
    return only_first(x, value)


LEAKS = {
    "written through NumPy": written_through_numpy,
    "from_numpy": from_numpy,
    "from_numpy before the run": from_numpy_before,
    "changed from outside": changed_from_outside,
    "frombuffer": frombuffer,
    "second view by NumPy": second_view_by_numpy,
    "mapped file": mapped_file,
    "dlpack capsule": capsule,
    "file of a storage": file_of_a_storage,
    "saved script": saved_script,
    "text in TorchScript": lambda x: only_first(x, as_text(x)),
    "other process": other_process,
    "dispatch off": dispatch_off,
    "modes off": modes_off,
    "functions off": functions_off,
    "state of the generator": state_of_the_generator,
    "sequence of its own kind": lambda x: only_first(x, torch.tensor(Pair(x[0, 1]))),
    "UserList": lambda x: only_first(x, torch.tensor(collections.UserList([x[0, 1, 0], x[0, 1, 1]]))),
    "index caught": caught(lambda x: torch.ones(4)[positive(x) * 7]),
    "embedding caught": caught(lambda x: F.embedding(positive(x) * 7, torch.ones(4, 2))),
    "gather caught": caught(lambda x: torch.ones(4).gather(0, positive(x) * 7)),
    "scatter caught": caught(lambda x: torch.ones(4).scatter(0, positive(x) * 7, 1.0)),
    "write caught": caught(lambda x: torch.ones(4).index_add_(0, positive(x) * 7, torch.ones(2))),
    "take caught": caught(lambda x: torch.ones(4).take(positive(x) * 7)),
    "inverse caught": caught(lambda x: torch.linalg.inv(torch.diag(positive(x).float()))),
    "draw caught": caught(lambda x: torch.bernoulli(x[0, 1] * 0.5 + 0.5)),
    "division caught": caught(lambda x: positive(x) // positive(x)),
    "assertion caught": caught(lambda x: torch._assert_async((x[0, 1] > 0).all())),
    "loss caught": caught(lambda x: F.nll_loss(torch.zeros(2, 2), positive(x) * 7)),
    "bare except": bare,
    "suppressed": suppressed,
    "caught by local names": caught_by_local_names,
    "finally returns": finally_returns,
    "sign in Python": lambda x: only_first(x, math.copysign(1.0, (0.0 * x[0, 1, 0]).item())),
    "sign in a text": lambda x: only_first(x, float(len(str(0.0 * x[0, 1, 0])))),
    "sign in NumPy": lambda x: only_first(x, float(np.signbit((0.0 * x[0, 1]).numpy())[0])),
    "sign of a product": lambda x: only_first(x, math.copysign(1.0, (torch.zeros(1, 1) @ x[0, 1:2, :1]).item())),
    "sign of a choice": lambda x: only_first(x, torch.where(x[0, 1] > 0, 0.0, -torch.zeros(2)).signbit().float()),
    "divided by a zero": lambda x: only_first(x, (1 / (0.0 * x[0, 1])).clamp(-1, 1)),
    "a zero to the power −1": lambda x: only_first(x, ((0.0 * x[0, 1]) ** -1).sign()),
    "sign in the bits": lambda x: only_first(x, torch.hash_tensor(0.0 * x[0, 1]).float()),
    "a zero meets infinity": lambda x: only_first(x, (torch.zeros(2) * (x[0, 1] * 1e30 * 1e30)).isnan().float()),
    "zeros meet infinity": lambda x: only_first(x, (torch.zeros(2, 2) @ (x[0, 1] * 1e30 * 1e30)).isnan().float()),
    "−∞ meets +∞": lambda x: only_first(x, (torch.full((2,), -math.inf) + x[0, 1].abs() * 1e30 * 1e30).isnan() * 1.0),
    "sorter": lambda x: only_first(
        x, torch.searchsorted(torch.tensor([0.0, 1.0]), torch.tensor([0.5]), sorter=x[0, 1].argsort()).float()
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LEAKS)
@pytest.mark.filterwarnings("ignore")
def test_it_is_never_proved(name):
    torch.manual_seed(0)
    assert ap.check_model(LEAKS[name], torch.randn(1, N, 2)).status.name in ("REFUTED", "UNDECIDED")


@torch.library.custom_op("attnproof_doors::minus", mutates_args=())
def minus(x: torch.Tensor) -> torch.Tensor:
    return torch.signbit(x).to(x.dtype)


def test_an_operation_without_a_rule_may_see_the_sign_of_a_zero():
    verdict = ap.check_model(lambda x: only_first(x, minus(0.0 * x[0, 1])), torch.randn(1, N, 2))
    assert verdict.status.name == "REFUTED"
    assert (
        ap.check_model(lambda x: x + minus(torch.zeros(2)), torch.randn(1, N, 2), sequence_axis=1).status.name
        == "PROVED"
    )


def named(x):
    try:
        return x[:, torch.arange(N)].cumsum(1)
    except KeyError:
        return x.flip(1)


def several(x):
    try:
        return x[:, (x[0, :, 0] * 0).long() + torch.arange(N)] * 0 + x.cumsum(1)
    except ImportError:
        print(x)
    except (KeyError, AttributeError):
        return x.flip(1)
    finally:
        x = x + 1


def no_failure(x):
    try:
        return (x * 2).cumsum(1)
    except RuntimeError:
        return x.flip(1)


def state_kept(x):
    with torch.random.fork_rng([]):
        torch.manual_seed(3)
        return x * torch.rand(2)


def killed_number(x):
    return x + 0.0 * x.sum()


def prints_a_constant(x):
    assert f"{torch.ones(2)} {torch.ones(3)!r}".startswith("tensor")
    return x.cumsum(1)


@pytest.mark.parametrize("model", [named, several, no_failure, state_kept, killed_number, prints_a_constant])
def test_harmless_neighbours_are_proved(model):
    assert ap.check_model(model, torch.randn(1, N, 2), sequence_axis=1).status.name == "PROVED"


def test_constants_of_numpy_are_read():
    table = torch.from_numpy(np.tril(np.ones((N, N), np.float32)))

    def model(x):
        assert float(table[0, 1]) == 0
        return table @ x

    assert ap.check_model(model, torch.randn(1, N, 2), sequence_axis=1).status.name == "PROVED"


def test_a_run_that_breaks_the_assumptions_says_so():
    verdict = ap.check_model(LEAKS["a zero meets infinity"], torch.randn(1, N, 2))
    assert any("meets a number that is not finite at aten.mul" in r for r in verdict.reasons)


def test_what_other_inputs_must_keep_is_printed():
    hidden = torch.ones(N, N, dtype=torch.bool).triu(1)

    def model(x, mask, y):
        return (x @ x.mT).masked_fill(mask, -math.inf).softmax(-1) @ x + y

    verdict = ap.check_model(model, torch.randn(1, N, 2), hidden, torch.randn(1, N, 2))
    assert verdict.status.name == "PROVED"
    assert "the other inputs of whole numbers and truth values keep the values given" in verdict.assumptions


def test_a_row_of_float16_is_summed_in_float32():
    """At 19 below, every masked weight is 0 in float16, and still the visible ones move: the condition asks for 104."""
    torch.manual_seed(0)
    moved = 0
    for _ in range(100):
        row = torch.cat([torch.rand(8) * 3, torch.zeros(4088)]).half()
        row[8:] = row[:8].max() - 19
        hidden = torch.cat([row[:8], torch.full((4088,), -6e4).half()])
        assert not row.softmax(0)[8:].any()
        moved += not torch.equal(row.softmax(0)[:8], hidden.softmax(0)[:8])
    assert moved
    mask = torch.full((N, N), -6e4).half().triu(1)
    verdict = ap.check_model(lambda x: ((x @ x.mT).half() + mask).softmax(-1).float() @ x, torch.randn(1, N, 2))
    assert verdict.status.name == "PROVED_IF"
    assert "by more than 104 (float16)" in verdict.conditions[0].text


def branches(x):
    return torch.cond(x.sum() > 0, lambda y: y.flip(1), lambda y: y * 2, (x,))


def test_control_flow_works_as_before_after_a_check():
    x = torch.ones(1, N, 2)
    assert ap.check_model(branches, x).status.name in ("REFUTED", "UNDECIDED")
    with torch.no_grad():
        assert torch.equal(branches(-x), -2 * x)
