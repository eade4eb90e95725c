"""The one walker: every kind of node in `leaves` and `mapped` alike, and nothing passed over in silence."""

import collections
import dataclasses
import types
from typing import NamedTuple

import pytest
from needs import need

torch = need("torch")
from attnproof.causal.model.trace.pytree import TreeError, leaves, mapped
from torch.utils import _pytree as pytree


class Pair(NamedTuple):
    left: object
    right: object


class Longer(Pair):
    """A namedtuple's subclass, which PyTorch takes for a leaf."""


@dataclasses.dataclass
class Plain:
    x: object
    derived: object = dataclasses.field(init=False, default=None)

    def __post_init__(self):
        self.derived, self.beside = [self.x], self.x


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: object
    y: object = 1


@dataclasses.dataclass(frozen=True, slots=True)
class Slots:
    x: object


@dataclasses.dataclass
class Refusing:
    """As a configuration of layers that differ, which says to whoever asks for a number that there are many."""

    x: object

    def __getattribute__(self, name):
        if name == "x":
            raise ValueError("there is one for each layer")
        return super().__getattribute__(name)


class Own:
    def __init__(self, x):
        self.x = x


class Keyed(Own):
    pass


class Words(dict):
    pass


class ReadOnly(collections.abc.Mapping):
    """A mapping that no constructor call of the usual kind builds anew."""

    def __init__(self, *, x):
        self._held = {"x": x}

    def __getitem__(self, key):
        return self._held[key]

    def __iter__(self):
        return iter(self._held)

    def __len__(self):
        return 1


class InContext(Own):
    pass


pytree.register_pytree_node(Own, lambda o: ([o.x], None), lambda children, _: Own(*children))
pytree.register_pytree_node(
    Keyed,
    lambda o: ([o.x], None),
    lambda children, _: Keyed(*children),
    flatten_with_keys_fn=lambda o: ([(pytree.GetAttrKey("x"), o.x)], None),
)
pytree.register_pytree_node(InContext, lambda o: ([], o.x), lambda _, x: InContext(x))

BUILD = {  # each holds its argument once or more; the paths at which it does
    "list": (lambda x: [1, x], ["[1]"]),
    "tuple": (lambda x: (x,), ["[0]"]),
    "dict": (lambda x: {"a": {2: x}}, ["['a'][2]"]),
    "namedtuple": (lambda x: Pair(1, x), [".right"]),
    "subclass of a namedtuple": (lambda x: Longer(x, 2), [".left"]),
    "OrderedDict": (lambda x: collections.OrderedDict(a=x), ["['a']"]),
    "defaultdict": (lambda x: collections.defaultdict(list, a=x), ["['a']"]),
    "deque": (lambda x: collections.deque([x], 4), ["[0]"]),
    "subclass of dict": (lambda x: Words(a=x), ["['a']"]),
    "UserDict": (lambda x: collections.UserDict(a=x), ["['a']"]),
    "UserList": (lambda x: collections.UserList([x]), ["[0]"]),
    "view of a dict": (lambda x: types.MappingProxyType({"a": x}), ["['a']"]),
    "dataclass": (Plain, [".x", ".derived[0]", ".beside"]),
    "frozen dataclass": (Frozen, [".x"]),
    "dataclass with slots": (Slots, [".x"]),
    "dataclass that shows no field": (Refusing, [".x"]),
    "registered": (Own, ["[0]"]),
    "registered with keys": (Keyed, [".x"]),
}


@pytest.mark.parametrize("kind", BUILD)
def test_leaves_and_mapped_walk_the_same_nodes(kind):
    build, paths = BUILD[kind]
    x, y = torch.zeros(2), torch.ones(2)
    value = build(x)
    assert [path for path, leaf in leaves(value) if leaf is x] == paths
    image = mapped(lambda leaf: y if leaf is x else leaf, value)
    assert type(image) is type(value)
    assert image is not value
    assert [path for path, leaf in leaves(image) if leaf is y] == paths
    assert [path for path, _ in leaves(image)] == [path for path, _ in leaves(value)]
    assert [path for path, leaf in leaves(value) if leaf is x] == paths  # the caller's own is as it was


def test_what_walking_has_always_taken_for_a_leaf_is_one():
    module = torch.nn.Linear(2, 2)
    for leaf in ("text", b"bytes", range(3), None, 1.5, module, torch.float32, Plain):
        assert [found for _, found in leaves(leaf)] == [leaf]


def test_what_cannot_be_walked_or_built_is_refused():
    round_about = []
    round_about.append((round_about,))
    with pytest.raises(TreeError, match="levels deep or in itself"):
        list(leaves(round_about))
    with pytest.raises(TreeError, match="levels deep or in itself"):
        mapped(lambda leaf: leaf, round_about)
    with pytest.raises(TreeError, match="a ReadOnly cannot be built anew with other tensors; register it"):
        mapped(lambda leaf: torch.ones(2), ReadOnly(x=torch.zeros(2)))
    kept = ReadOnly(x=3)
    assert mapped(lambda leaf: leaf, kept) is kept  # nothing in it changes
    with pytest.raises(TreeError, match="a tensor in its context"):
        list(leaves(InContext(torch.zeros(2))))
    assert list(leaves(InContext("words"))) == []
