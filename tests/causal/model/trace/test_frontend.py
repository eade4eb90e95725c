"""The front end: what leaves the tensors, what it cannot see, user rules, state, policies, words."""

from __future__ import annotations

from needs import need

torch = need("torch")
need("torch.utils.checkpoint")

import copy
import gc
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from attnproof.causal import trace
from attnproof.causal.model.trace import Rule
from attnproof.causal.model.trace.memory import Memory
from tensor_probe import check, normal

X = normal(6, 4)


def latest(run, output=0, axis=0):
    return run.outputs[output].along(axis)[1].tolist()


ESCAPES = {
    "item": lambda x: x * x[-1, 0].item(),
    "bool": lambda x: x if x[-1, 0] > 0 else -x,
    "int": lambda x: x * int(x[-1, 0] > 0),
    "index": lambda x: x[int(x[-1, 0] > 0)],
    "float": lambda x: x * float(x[-1].sum()),
    "tolist": lambda x: torch.tensor(x.flip(0).tolist()),
    "numpy": lambda x: torch.from_numpy(x.numpy()[::-1].copy()),
    "asarray": lambda x: torch.from_numpy(np.asarray(x)[::-1].copy()),
    "equal": lambda x: x if torch.equal(x, X) else -x,
    "allclose": lambda x: x if torch.allclose(x, X) else -x,
    "nonzero shape": lambda x: x * (x > 0).nonzero().shape[0],
    "repr": lambda x: x * len(repr(x)),
    "format": lambda x: x * len(f"{x[-1, 0]}"),
    "dlpack": lambda x: torch.from_dlpack(x.detach()) + 0 * x if hasattr(x, "__dlpack__") else x,
    "to_dlpack": lambda x: torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(x)),
    "thread": lambda x: _in_thread(x),
    "executor": lambda x: POOL.submit(lambda: x.flip(0)).result(),
    "data_ptr": lambda x: x * (x.data_ptr() > 0),
    "sparse count": lambda x: x * x.relu().to_sparse()._nnz(),
    "any in Python": lambda x: x * (1.0 if 0.0 in x else 2.0),
    "map": lambda x: torch.zeros_like(x).map_(x.flip(0), lambda _, b: b),
    "pickle": lambda x: pickle.loads(pickle.dumps(x.flip(0))),
    "typed storage": lambda x: x * x.storage()[23],
    "storage": lambda x: x * x.untyped_storage().tolist()[0],
}
POOL = ThreadPoolExecutor(1)
POOL.submit(int).result()


def _in_thread(x):
    out = []
    worker = threading.Thread(target=lambda: out.append(x.flip(0)))
    worker.start()
    worker.join()
    return out[0]


@pytest.mark.parametrize("name", ESCAPES)
def test_what_leaves_the_tensors_is_reported(name):
    run = trace.run(ESCAPES[name], (X,), sequence_axis=0)
    assert not run.complete or latest(run) == [5] * 6, (run.reads, latest(run))
    if run.reads:
        assert "test_frontend.py" in run.reads[0].operation.line


def test_constants_may_leave():
    mask = torch.ones(6, 6).tril()

    def f(x):
        assert mask.sum().item() == 21
        assert bool((mask[0] == 1).any())
        return torch.tensor(mask.tolist(), dtype=x.dtype) @ x

    run = check(f, X)
    assert run.reads == ()


def test_reading_a_parameter_is_an_assumption_only():
    gate = torch.nn.Parameter(torch.ones(()))
    run = trace.run(lambda x: x if gate.item() > 0 else x.flip(0), (X,), sequence_axis=0)
    assert run.complete
    assert run.reads[0].source == "parameters"
    assert any("route" in a for a in run.assumptions)


@pytest.mark.parametrize("make", [torch.nn.Parameter, lambda t: t.requires_grad_()])
def test_loose_parameters_count_as_any_value(make):
    weight = make(torch.eye(6, dtype=torch.float64).tril())
    f = lambda x: weight @ x  # noqa: E731
    assert latest(trace.run(f, (X,), sequence_axis=0)) == [5] * 6
    stored = trace.run(f, (X,), sequence_axis=0, parameters="stored")
    assert latest(stored) == [0, 1, 2, 3, 4, 5]
    assert stored.parameter_zeros == ("a parameter outside the modules",)


def test_copies_and_aliases_are_followed():
    def f(x):
        y = copy.deepcopy(x.flip(0))
        z = torch.zeros_like(x)
        z.data = y
        z.set_(y.contiguous())
        out = torch.zeros_like(x)
        torch.add(z, 1.0, out=out)
        return out

    assert latest(check(f, X)) == [5, 4, 3, 2, 1, 0]


def test_a_captured_constant_that_is_overwritten_becomes_data():
    cache = torch.zeros(6, 4, dtype=torch.float64)

    def f(x):
        cache.copy_(x.flip(0))
        return cache * 2

    assert latest(trace.run(f, (X,), sequence_axis=0)) == [5, 4, 3, 2, 1, 0]


SEEN = {
    "vmap": lambda x: torch.vmap(lambda column: column.flip(0), in_dims=1, out_dims=1)(x),
    "gradient": lambda x: torch.func.grad(lambda y: (y**2 * y.flip(0)).sum())(x),
    "checkpoint": lambda x: torch.utils.checkpoint.checkpoint(lambda y: y.flip(0) * 2, x, use_reentrant=False),
    "foreach": lambda x: torch._foreach_mul([x], [x.flip(0)])[0],
    "sparse": lambda x: torch.sparse.mm(torch.eye(6, dtype=x.dtype).flip(0).to_sparse(), x),
    "inference mode": torch.inference_mode()(lambda x: x.flip(0) * 2),
    "bits": lambda x: x.view(torch.uint8).flip(0).view(torch.float64),
    "swapped rows": lambda x: x.clone().index_put_((torch.tensor([0, 5]),), x[[5, 0]]).t_().unsqueeze_(0),
    "storage copy": lambda x: _storage_copy(x),
    "higher order": lambda x: torch.cond(torch.ones(2).sum() > 0, lambda y: y.flip(0), lambda y: y * 2, (x,)),
}


def test_a_branch_that_data_choose_is_a_read():
    run = trace.run(
        lambda x: torch.cond(x.sum() > 0, lambda y: y.flip(0), lambda y: y * 2, (x,)), (X,), sequence_axis=0
    )
    assert not run.complete
    assert {read.source for read in run.reads} == {"input"}


def _storage_copy(x):
    y = torch.zeros(6, 4, dtype=x.dtype)
    y.untyped_storage().copy_(x.flip(0).untyped_storage())
    return y


@pytest.mark.parametrize("name", SEEN)
def test_what_runs_below_transforms_and_wrappers_is_seen(name):
    assert check(SEEN[name], X, exact=False).complete


def test_how_many_elements_a_sparse_tensor_stores_is_a_read():
    run = trace.run(lambda x: x.flip(0).to_sparse().to_dense(), (X,), sequence_axis=0)
    assert not run.complete
    assert run.outputs[0].along(0)[1].max() == 5


def test_nested_tensors_depend_on_everything():
    layer = torch.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).double()
    encoder = torch.nn.TransformerEncoder(layer, 1).eval()
    pad = torch.tensor([[False] * 4 + [True] * 2])
    run = trace.run(lambda x: encoder(x[None], src_key_padding_mask=pad)[0], (X,), sequence_axis=0)
    assert run.outputs[0].along(0)[1].max() == 5


def test_custom_autograd_functions_are_seen_through():
    class Reverse(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.flip(0)

        @staticmethod
        def backward(ctx, g):
            return g

    assert latest(check(Reverse.apply, X)) == [5, 4, 3, 2, 1, 0]


def test_compiled_and_scripted_functions_are_seen_through():
    script = torch.jit.script(_scripted)
    for _ in range(3):
        script(X)
    assert latest(check(script, X)) == [5, 4, 3, 2, 1, 0]
    compiled = torch.compile(_scripted, backend="eager")
    compiled(X)
    assert latest(check(compiled, X)) == [5, 4, 3, 2, 1, 0]


def _scripted(x: torch.Tensor) -> torch.Tensor:
    return torch.tanh(x.flip(0)) * 2 + 1


@torch.library.custom_op("attnproof_tests::shift", mutates_args=())
def shift(x: torch.Tensor) -> torch.Tensor:
    return torch.cat([torch.zeros_like(x[:1]), x[:-1]])


def test_an_operation_without_a_rule_depends_on_everything_and_is_named():
    run = trace.run(lambda x: shift(x), (X,), sequence_axis=0)
    assert latest(run) == [5] * 6
    assert [u.name for u in run.unknown] == ["attnproof_tests.shift"]
    assert "test_frontend.py" in run.unknown[0].line


def test_users_can_give_a_rule():
    def rule(call):
        s = call["x"].shadow
        lo, hi = (np.concatenate([np.full_like(a[:1], e), a[:-1]]) for a, e in ((s.lo, 2**31 - 1), (s.hi, -1)))
        return trace.Shadow(s.shape, lo, hi, s.kind)

    run = trace.run(lambda x: shift(x), (X,), sequence_axis=0, rules=[Rule(("attnproof_tests::shift",), rule)])
    assert latest(run) == [-1, 0, 1, 2, 3, 4]
    assert run.unknown == ()


class Stateful(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(4, dtype=torch.float64))
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x):
        self.count += 1
        self.seen += x.sum(0)
        return x


def test_state_that_data_was_written_into_is_named():
    assert trace.run(Stateful(), (X,), sequence_axis=0).written == ("seen",)


def test_a_model_that_writes_into_its_input_gets_a_copy():
    before = X.clone()
    run = trace.run(lambda x: x.mul_(2), (X,), sequence_axis=0)
    assert torch.equal(X, before)
    assert run.written == ("input",)


def test_other_inputs_are_constants_or_anything():
    mask = torch.ones(6, 6, dtype=torch.float64).tril()
    f = lambda x, m: m @ x  # noqa: E731
    given = trace.run(f, (X, mask), sequence_axis=0)
    assert latest(given) == [0, 1, 2, 3, 4, 5]
    assert any("other inputs" in a for a in given.assumptions)
    free = trace.run(f, (X, mask), sequence_axis=0, others="any")
    assert latest(free) == [5] * 6


def test_one_tensor_given_twice_is_one_input():
    assert latest(trace.run(lambda x, y: x + y.flip(0), (X, X), sequence_axis=0)) == [5, 4, 3, 3, 4, 5]


def test_keywords_nested_inputs_and_outputs():
    def f(batch, *, scale):
        return {"a": batch["x"] * scale, "b": (scale.flip(0),)}

    run = trace.run(f, ({"x": X},), keywords={"scale": X}, input_index="scale", sequence_axis=0)
    assert [o.path for o in run.outputs] == ["['a']", "['b'][0]"]
    assert latest(run, 1) == [5, 4, 3, 2, 1, 0]


def test_ranks_stand_for_positions():
    run = trace.run(lambda x: x.cumsum(0), (X,), sequence_axis=0, ranks=[5, 4, 3, 2, 1, 0])
    assert latest(run) == [5] * 6
    assert run.outputs[0].along(0)[0].tolist() == [5, 4, 3, 2, 1, 0]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"input_index": 3}, "input_index = 3 names no input"),
        ({"sequence_axis": 4}, "sequence_axis = 4 is no axis of an input of shape"),
        ({"ranks": [0, 1]}, "ranks has shape"),
        ({"parameters": "some"}, "parameters = 'some' is unknown"),
        ({"others": "some"}, "others = 'some' is unknown"),
    ],
)
def test_errors_name_the_argument(arguments, text):
    with pytest.raises(ValueError, match=text):
        trace.run(lambda x: x, (X,), **{"sequence_axis": 0, **arguments})


def test_an_input_that_is_no_tensor():
    with pytest.raises(TypeError, match="choose an input that is a tensor"):
        trace.run(lambda x: x, ([1, 2],))


def test_what_the_model_raises_comes_through_and_everything_is_put_back():
    def f(x):
        raise KeyError("mine")

    doors = {n: getattr(torch.Tensor, n) for n in ("numpy", "tolist", "__repr__")}
    with pytest.raises(KeyError, match="mine"):
        trace.run(f, (X,), sequence_axis=0)
    assert doors == {n: getattr(torch.Tensor, n) for n in doors}
    assert torch.backends.mha.get_fastpath_enabled()
    assert isinstance(X.tolist(), list)


class Leaky(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.to_q = torch.nn.Linear(4, 4, dtype=torch.float64)
        self.mix = torch.nn.ModuleList([torch.nn.Linear(6, 6, dtype=torch.float64)])

    def forward(self, x):
        return torch.tanh(self.mix[0](self.to_q(x).T).T) + x


def test_blame_names_the_module_that_mixes():
    forbidden = np.arange(6) > 2
    chain = trace.blame(Leaky(), (X,), output=0, output_axis=0, position=2, forbidden=forbidden, sequence_axis=0)
    assert chain.entry is not None
    assert chain.entry.module == "mix.0"
    assert [op.name.split(".")[1] for op in chain.path][-2:] == ["tanh", "add"]


def test_blame_of_a_padded_convolution_before_batch_statistics():
    conv = torch.nn.Conv1d(4, 4, 3, padding=2, dtype=torch.float64)
    norm = torch.nn.BatchNorm1d(4, dtype=torch.float64)
    f = lambda x: norm(conv(x.T[None])[..., :-2])[0].T  # noqa: E731
    forbidden = np.arange(6) > 0
    chain = trace.blame(f, (X,), output=0, output_axis=0, position=0, forbidden=forbidden, sequence_axis=0)
    assert chain.entry is not None
    assert "batch_norm" in chain.entry.name


def test_no_chain_where_nothing_leaks():
    forbidden = np.arange(6) > 2
    chain = trace.blame(
        lambda x: x * 2, (X,), output=0, output_axis=0, position=2, forbidden=forbidden, sequence_axis=0
    )
    assert chain.entry is None


@pytest.mark.parametrize("asked", ["flash_sdp_enabled", "mem_efficient_sdp_enabled", "math_sdp_enabled"])
def test_a_program_that_asks_for_the_kernels_of_attention_is_told_what_is_so_without_the_trace(asked):
    was = getattr(torch.backends.cuda, asked)()
    run = trace.run(
        lambda x: x.cumsum(0) if getattr(torch.backends.cuda, asked)() == was else x.flip(0), (X,), sequence_axis=0
    )
    assert latest(run) == list(range(6))


def test_the_constants_of_a_run_without_values_go_with_it_and_wait_for_no_collection():
    def held():
        return [value for value in gc.get_objects() if type(value) is Memory and value.twin is not None]

    gc.collect()
    gc.disable()
    try:
        trace.run(lambda x: torch.ones(6, 6, dtype=x.dtype).tril() @ x, (X,), sequence_axis=0, values=False)
        assert not held()
    finally:
        gc.enable()
