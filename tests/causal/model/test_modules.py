"""The modules that a callable reaches, found once for the runs of the model and for the abstract run."""

import functools

import pytest
from needs import need

torch = need("torch")
from attnproof.causal import trace
from attnproof.causal.model.modules import modules_of
from torch import nn

LAYER = nn.Linear(2, 2)
LAYERS = [nn.Linear(2, 2), nn.Linear(2, 2)]


class Holding:
    def __init__(self, module):
        self.module = module

    def __call__(self, x):
        return self.module(x)

    def run(self, x):
        return self.module(x)


class Asked:
    __slots__ = ("_kept",)

    def __init__(self, module):
        self._kept = module

    @property
    def model(self):
        return self._kept

    def __call__(self, x):
        return self._kept(x)


def global_layer(x):
    return LAYER(x)


def global_layers(x):
    return LAYERS[1](LAYERS[0](x))


def closed_over(module):
    return lambda x: module(x)


def in_a_dictionary(module):
    held = {"layers": [module]}
    return lambda x: held["layers"][0](x)


def by_default(x, layer=LAYER):
    return layer(x)


FOUND = {
    "itself": lambda m: m,
    "closure": closed_over,
    "dictionary in a closure": in_a_dictionary,
    "bound method": lambda m: m.forward,
    "method of an object": lambda m: Holding(m).run.__self__,
    "partial": functools.partial,
    "partial of a partial's keyword": lambda m: functools.partial(lambda x, layer: layer(x), layer=m),
    "attribute": Holding,
    "property": Asked,
}


@pytest.mark.parametrize("how", FOUND)
def test_a_module_is_found_however_it_is_held(how):
    module = nn.Sequential(nn.Linear(2, 2))
    assert modules_of(FOUND[how](module)) == [module]


def test_modules_among_the_globals_are_found():
    assert modules_of(global_layer) == [LAYER]
    assert modules_of(global_layers) == LAYERS
    assert modules_of(by_default) == [LAYER]


@pytest.mark.parametrize("how", FOUND)
def test_the_abstract_run_names_the_parameters_of_whatever_is_found(how):
    module = nn.Sequential(nn.Linear(2, 2))
    nn.init.zeros_(module[0].weight)
    found = trace.run(FOUND[how](module), (torch.randn(1, 3, 2),), parameters="stored")
    assert found.parameter_zeros == ("0.weight",)
