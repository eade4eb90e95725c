"""Doors that do not dispatch, also by names that a program took before the run, and what runs out of sight."""

from __future__ import annotations

from needs import need

torch = need("torch")


import io
import multiprocessing
import tempfile
import zlib
from pathlib import Path

import attnproof as ap
import numpy as np
import pytest
import torch.utils._python_dispatch as dispatch
from attnproof.causal import trace
from leaks import complete, never_proved, only_first
from torch import nn
from torch._C import _DisableTorchDispatch as off
from torch._C import _pop_torch_dispatch_stack as pop
from torch.utils._python_dispatch import _disable_current_modes as no_modes
from torch.utils.dlpack import to_dlpack

N = 8
KEY = torch._C.DispatchKey
CPU, PYTHON = torch._C.DispatchKeySet(KEY.CPU), torch._C.DispatchKeySet(KEY.Python)
COPY = torch.ops.aten.copy_.default


def popped(x):
    mode = pop(None)
    x.add(1)
    torch._C._push_on_torch_dispatch_stack(mode)


def under(guard):
    def function(x):
        with guard():
            x.add(1)

    return function


def excluded(x):
    torch._C._dispatch_tls_set_dispatch_key_excluded(KEY.Python, True)
    x.add(1)
    torch._C._dispatch_tls_set_dispatch_key_excluded(KEY.Python, False)


def poked(x):
    torch.zeros(1).untyped_storage()[3] = 64


DOORS = {
    "no modes": under(no_modes),
    "a mode taken off": popped,
    "no dispatch": under(off),
    "a key excluded": under(lambda: torch._C._ExcludeDispatchKeyGuard(PYTHON)),
    "keys forced": under(lambda: torch._C._ForceDispatchKeyGuard(CPU, PYTHON)),
    "a key set to be excluded": under(lambda: torch._C._SetExcludeDispatchKeyGuard(KEY.Python, True)),
    "a key excluded by a call": excluded,
    "redispatch": lambda x: COPY.redispatch(CPU, torch.zeros(3), x[0, 1]),
    "a kernel by its key": lambda x: COPY._op_dk(KEY.CPU, torch.zeros(3), x[0, 1]),
    "dlpack by its name": lambda x: to_dlpack(x.clone()),
    "dlpack with a version": lambda x: torch._C._to_dlpack_versioned(x.clone()),
    "a byte of a storage": poked,
    "bytes of a storage swapped": lambda x: torch.zeros(1).untyped_storage().byteswap(torch.float32),
}


@pytest.mark.parametrize("values", [True, False])
@pytest.mark.parametrize("name", DOORS)
def test_a_door_is_seen(name, values):
    assert not complete(DOORS[name], values)


@pytest.mark.skipif(not hasattr(torch.library, "get_kernel"), reason="needs a PyTorch that shows its kernels")
def test_a_kernel_that_is_called_itself_is_seen():
    for values in (True, False):
        assert not complete(lambda x: torch.library.get_kernel("aten::neg", "CPU").call_boxed(CPU, x), values)


def test_what_leaves_the_modes_on_is_no_door():
    def function(x):
        with torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(KEY.AutogradCPU)):
            str(torch.zeros(2))
        return torch.vmap(lambda v: v * 2)(x)

    assert complete(function)
    assert complete(function, values=False)
    assert "_op_dk" not in vars(torch._ops.OpOverload)


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


LEAKS = {
    "dlpack capsule": capsule,
    "file of a storage": file_of_a_storage,
    "saved script": saved_script,
    "text in TorchScript": lambda x: only_first(x, as_text(x)),
    "other process": other_process,
    "dispatch off": dispatch_off,
    "modes off": modes_off,
    "functions off": functions_off,
    "state of the generator": state_of_the_generator,
}


@pytest.mark.parametrize("name", LEAKS)
@pytest.mark.filterwarnings("ignore")
def test_what_runs_out_of_sight_is_never_proved(name):
    never_proved(LEAKS[name])


def state_kept(x):
    with torch.random.fork_rng([]):
        torch.manual_seed(3)
        return x * torch.rand(2)


def test_a_state_of_the_generator_that_is_put_back_is_proved():
    assert ap.check_model(state_kept, torch.randn(1, N, 2), sequence_axis=1).status.name == "PROVED"


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_an_encoder_with_padding_is_checked_on_its_plain_path():
    hidden = torch.ones(N, N, dtype=torch.bool).triu(1)
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 2).eval()
    padding = torch.zeros(2, N, dtype=torch.bool)
    padding[1, 4:] = True
    x = torch.randn(2, N, 4)
    assert ap.check_model(lambda x: encoder(x, src_key_padding_mask=padding), x).status.name == "REFUTED"
    verdict = ap.check_model(lambda x: encoder(x, mask=hidden, src_key_padding_mask=padding), x)
    assert verdict.status.name == "PROVED"
    assert any(a.startswith("the nested tensors of nn.TransformerEncoder") for a in verdict.assumptions)

    def steered(x):
        return encoder(x, mask=hidden, src_key_padding_mask=(x[:, :, 0] > 1).cumsum(1) > 0)

    assert not trace.run(steered, (x,)).complete  # the padding steers which path is taken
