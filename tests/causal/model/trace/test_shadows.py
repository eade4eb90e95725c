"""The store of shadows: found by storage, whatever tensor shows it."""

import gc

from needs import need

torch = need("torch")

import pytest
from attnproof.causal.model.trace.domain import FIXED, VARIES, uniform
from attnproof.causal.model.trace.ledger import Ledger
from attnproof.causal.model.trace.policy import Policy
from attnproof.causal.model.trace.shadows import Shadows


class Here:
    """Stands for `location.Places`."""

    module, line = staticmethod(lambda: ""), staticmethod(lambda: "model.py:7")


@pytest.fixture
def store():
    """A store with six ranks; what it meets from now on is new."""
    made = []

    def make(**policy):
        made.append(Shadows(Ledger(Here(), 5), 5, Policy(**policy)))
        gc.freeze()
        return made[-1]

    yield make
    gc.unfreeze()


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
