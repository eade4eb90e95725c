"""What leaves the tensors for Python, by reading it or by building new tensors of it: such a leak is never proved.

The list grew from attacks on the abstract run; keep every hole that was ever found.
"""

from __future__ import annotations

import collections
import ctypes
import io
import pickle
import threading
import zlib

import attnproof as ap
import numpy as np
import pytest
from needs import need

torch = need("torch")
from leaks import never_proved, only_first, positive

N = 8


@torch.jit.script
def negated_by_script(x):
    if bool(x[0, -1, 0] > 0):
        return -x
    return x


flipped_by_trace = torch.jit.trace(lambda x: x.flip(1) + 0, (torch.zeros(1, 8, 4),))


def through_save(x):
    b = io.BytesIO()
    torch.save(x, b)
    b.seek(0)
    return x + torch.load(b).flip(1)


def through_ctypes(x):
    a = (ctypes.c_float * x.numel()).from_address(x.data_ptr())
    return x + a[x.numel() - 1]


def through_thread(x):
    out = []
    t = threading.Thread(target=lambda: out.append(x.flip(1) + 0))
    t.start()
    t.join()
    return out[0]


def through_contig_numpy_write(x):
    y = torch.zeros(1, 8, 4)
    v = y.numpy()
    v[...] = x.flip(1).numpy()
    return y


READ = {
    "numpy": lambda x: x + float(np.asarray(x)[0, -1, 0] > 0.1) * 1.0,
    "tolist": lambda x: x * (1 + (x[0, -1].tolist()[0] > 0)),
    "str": lambda x: x + len(str(x[0, -1, 0].round())),
    "repr": lambda x: x + (1 if "-" in repr(x[0, -1]) else 0),
    "format": lambda x: x + float(f"{x[0, -1, 0]}"),
    "float": lambda x: x + float(x[0, -1, 0]),
    "int": lambda x: x + int(x[0, -1, 0] * 10),
    "pickle": lambda x: x + pickle.loads(pickle.dumps(x)).flip(1),
    "save": through_save,
    "storage": lambda x: x + x.untyped_storage()[3],
    "storage_tolist": lambda x: x + sum(x.untyped_storage().tolist()) % 7,
    "typed": lambda x: x + x.storage()[-1],
    "ctypes": through_ctypes,
    "dlpack": lambda x: torch.from_dlpack(x.flip(1)),
    "frombuffer": lambda x: (
        x + torch.frombuffer(bytearray(x.numpy().tobytes()), dtype=torch.float32).view(1, 8, 4).flip(1)
    ),
    "equal": lambda x: x if torch.equal(x[:, -1], x[:, -1].abs()) else -x,
    "allclose": lambda x: x if torch.allclose(x[:, -1, :1], x[:, -1, :1].abs()) else -x,
    "in": lambda x: x + (1.0 if 1.0 in (x[:, -1, :1] > 0).float() else 0),
    "hash": lambda x: x + hash(x[0, -1, 0].item()) % 5,
    "thread": through_thread,
    "script": lambda x: negated_by_script(x),
    "jit_trace": lambda x: flipped_by_trace(x),
    "contig_numpy_write": through_contig_numpy_write,
    "numpy_roundtrip": lambda x: torch.from_numpy(x.numpy()[:, ::-1].copy()),
    "numpy_ufunc": lambda x: x + torch.as_tensor(np.add(x, 0))[:, -1:],
    "array_func": lambda x: x + torch.tensor(np.mean(x.detach().numpy())),
    "tensor_ctor": lambda x: x + torch.tensor([x[0, -1, 0]]),
    "newtensor": lambda x: x + x.new_tensor(x[0, -1, 0].item()),
    "full": lambda x: x + torch.full((1,), x[0, -1, 0]),
    "arange": lambda x: x + torch.arange(1 + int(x[0, -1, 0] > 0)).sum(),
    "is_nonzero": lambda x: x if torch.is_nonzero(x[0, -1, 0] > 0) else -x,
    "isnan_any": lambda x: x if (x[:, -1] > 0).any() else -x,
    "max_key": lambda x: torch.stack(sorted(x[0], key=lambda r: float(r[0])))[None],
    "roll_t": lambda x: x.roll(int(x[0, -1, 0] > 0), 1),
    "select_t": lambda x: x + torch.select(torch.arange(8.0), 0, int(x[0, -1, 0] > 0)),
    "split_sizes": lambda x: x + x[0].split([int(x[0, -1, 0] > 0) + 1, 7 - int(x[0, -1, 0] > 0)])[0].sum(),
    "iter": lambda x: torch.stack(list(x[0])[::-1])[None],
    "cond": lambda x: torch.cond(x[0, -1, 0] > 0, lambda v: v + 1, lambda v: v - 1, (x,)),
}


@pytest.mark.parametrize("name", READ)
@pytest.mark.filterwarnings("ignore")
def test_a_value_that_python_reads_is_never_proved(name):
    never_proved(READ[name], width=4)


class Sequence:
    def __init__(self, values):
        self.values = values

    def __len__(self):
        return 2

    def __getitem__(self, i):
        if i > 1:
            raise IndexError
        return self.values[i]


def packed(x):
    lengths = (positive(x) + 1).sort(descending=True)[0]
    return torch.nn.utils.rnn.pack_padded_sequence(torch.ones(2, 3, 1), lengths, batch_first=True)


def assigned(x):
    y = torch.zeros(2)
    y[:] = torch.tensor([x[0, 1, 0], 0.0])
    return only_first(x, y[0])


LEAKS = {
    "sequence of its own kind": lambda x: only_first(x, torch.tensor(Sequence(x[0, 1]))),
    "UserList": lambda x: only_first(x, torch.tensor(collections.UserList([x[0, 1, 0], x[0, 1, 1]]))),
    "tensor of tensors": lambda x: only_first(x, torch.tensor([x[0, 1, 0], x[0, 1, 1]])),
    "as_tensor": lambda x: only_first(x, torch.as_tensor([x[0, 1, 0], x[0, 1, 1]])),
    "asarray": lambda x: only_first(x, torch.asarray([x[0, 1, 0], x[0, 1, 1]])),
    "nested list": lambda x: only_first(x, torch.tensor([[[x[0, 1, 0]]]])),
    "new_tensor": lambda x: only_first(x, x.new_tensor([x[0, 1, 0], x[0, 1, 1]])),
    "FloatTensor": lambda x: only_first(x, torch.FloatTensor([x[0, 1, 0], x[0, 1, 1]])),
    "Tensor": lambda x: only_first(x, torch.Tensor([x[0, 1, 0], x[0, 1, 1]])),
    "item assignment of a list": assigned,
    "index list": lambda x: only_first(x, torch.arange(4.0)[torch.tensor([(x[0, 1, 0] > 0).long(), 1])].sum()),
    "pickled bytes": lambda x: only_first(x, float(zlib.crc32(pickle.dumps(x[:, :2])) % 97)),
    "bytes of a storage": lambda x: only_first(x, float(zlib.crc32(bytes(x[:, 1].clone().untyped_storage())) % 97)),
    "one byte of a storage": lambda x: only_first(x, float(x[:, 1].clone().untyped_storage()[0])),
    "linspace between tensors": lambda x: only_first(x, torch.linspace(x[0, 1, 0], x[0, 1, 1], 2)),
    "linspace from a tensor": lambda x: only_first(x, torch.linspace(x[0, 1, 0], 1.0, 2)),
    "logspace": lambda x: only_first(x, torch.logspace(x[0, 1, 0], x[0, 1, 1], 2)),
    "sparse values": lambda x: only_first(x, float(x[0, 1].relu().to_sparse().values().shape[0])),
    "sparse indices": lambda x: only_first(x, float(x[0, 1].relu().to_sparse()._indices().shape[1])),
    "compressed rows": lambda x: only_first(x, float(x[0, :2].relu().to_sparse_csr().values().shape[0])),
    "tensor_split": lambda x: only_first(x, torch.arange(1.0, 9.0).tensor_split(positive(x)[:1] + 1)[0].sum()),
    "packed sequence": lambda x: only_first(x, float(packed(x).data.shape[0])),
}


@pytest.mark.parametrize("name", LEAKS)
@pytest.mark.filterwarnings("ignore")
def test_a_value_that_leaves_the_tensors_is_never_proved(name):
    never_proved(LEAKS[name])


def prints_a_constant(x):
    assert f"{torch.ones(2)} {torch.ones(3)!r}".startswith("tensor")
    return x.cumsum(1)


def test_constants_may_leave():
    assert ap.check_model(prints_a_constant, torch.randn(1, N, 2), sequence_axis=1).status.name == "PROVED"


@pytest.mark.parametrize("literal", [torch.tensor, torch.as_tensor, torch.FloatTensor, torch.Tensor])
def test_numbers_from_python_stay_constants(literal):
    verdict = ap.check_model(lambda x: x * literal([0.0, 2.0])[1], torch.randn(1, N, 2), sequence_axis=1)
    assert verdict.status.name == "PROVED"
