"""The store of shadows: found by storage, whatever tensor shows it."""

from contextlib import ExitStack

from needs import need

torch = need("torch")

import tempfile
from pathlib import Path

import attnproof as ap
import numpy as np
import pytest
from attnproof.causal.model.age import young
from attnproof.causal.model.trace.domain import FIXED, VARIES, uniform
from attnproof.causal.model.trace.ledger import Ledger
from attnproof.causal.model.trace.policy import Policy
from attnproof.causal.model.trace.shadows import Shadows
from leaks import never_proved, only_first


class Here:
    """Stands for `location.Places`."""

    module, line = staticmethod(lambda: ""), staticmethod(lambda: "model.py:7")


@pytest.fixture
def store():
    """A store with six ranks; what it meets from now on is new."""
    with ExitStack() as stack:

        def make(**policy):
            made = Shadows(Ledger(Here(), 5), 5, Policy(**policy))
            stack.enter_context(young())
            return made

        yield make


def test_a_view_shows_what_was_written_through_another(store):
    x = torch.zeros(2, 3)
    shadows = store()
    shadows.assign(x, uniform((2, 3), VARIES, 1, 4))
    shadows.assign(x[0], uniform((3,), FIXED))
    assert shadows.of(x.T[:, 0]).is_fixed
    assert int(shadows.of(x.T[:, 1]).hi.max()) == 4


def test_a_parameter_is_arbitrary_or_the_constant_it_is(store):
    weight = torch.nn.Parameter(torch.ones(2))
    for parameters, fixed in (("any", False), ("stored", True)):
        shadows = store(parameters=parameters)
        shadows.parameters[weight.untyped_storage()._cdata] = "weight"
        assert shadows.of(weight).is_fixed is fixed
        assert shadows.memory_of(weight).sources == ({"weight"} if fixed else set())


def test_what_nobody_saw_being_made_may_depend_on_everything(store):
    old = torch.ones(2)
    shadows = store()
    new, literal = torch.ones(2), torch.ones(2)
    shadows.memory_of(literal, literal=True)
    assert shadows.of(old).is_fixed
    assert shadows.of(literal).is_fixed
    assert (int(shadows.of(new).lo.min()), int(shadows.of(new).hi.max())) == (0, 5)
    assert [o.name for o in shadows.ledger.unknown.values()] == ["a tensor of unknown origin"]


def test_storages_that_are_gone_are_forgotten(store):
    shadows = store()
    for _ in range(2000):
        shadows.assign(torch.ones(1), uniform((1,)))
    assert len(shadows._memories) < 400


def test_bytes_that_others_may_hold_are_no_place_for_a_secret(store):
    x = torch.from_numpy(torch.zeros(3).numpy())
    shadows = store()
    shadows.assign(x, uniform((3,), FIXED))
    assert not shadows.ledger.reads
    shadows.assign(x, uniform((3,), VARIES, 0, 2))
    assert "memory that NumPy" in next(iter(shadows.ledger.reads.values())).operation.name


# -- memory that another library holds ------------------------------------------------------------------------------


N = 8
OUTSIDE = np.zeros(2, np.float32)
SHARED = torch.from_numpy(OUTSIDE)


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


LEAKS = {
    "written through NumPy": written_through_numpy,
    "from_numpy": from_numpy,
    "from_numpy before the run": from_numpy_before,
    "changed from outside": changed_from_outside,
    "frombuffer": frombuffer,
    "second view by NumPy": second_view_by_numpy,
    "mapped file": mapped_file,
}


@pytest.mark.parametrize("name", LEAKS)
@pytest.mark.filterwarnings("ignore")
def test_memory_that_another_library_holds_is_never_proved(name):
    never_proved(LEAKS[name])


def test_constants_of_numpy_are_read():
    table = torch.from_numpy(np.tril(np.ones((N, N), np.float32)))

    def model(x):
        assert float(table[0, 1]) == 0
        return table @ x

    assert ap.check_model(model, torch.randn(1, N, 2), sequence_axis=1).status.name == "PROVED"
