"""The modules that a callable reaches, found once for the runs of the model and for the abstract run."""

import contextvars
import functools
import itertools
import weakref
from collections import deque
from types import SimpleNamespace

import pytest
from needs import need

torch = need("torch")
from attnproof.causal import trace
from attnproof.causal.model import check_model
from attnproof.causal.model.modules import modules_of, seeded
from torch import nn

LAYER = nn.Linear(2, 2)
LAYERS = [nn.Linear(2, 2), nn.Linear(2, 2)]
REGISTRY = {"a": nn.Linear(2, 2)}


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


class Predicting:
    def __init__(self, module):
        self.module = module

    def predict(self, x):
        return self.module(x)


class Slotted:
    __slots__ = ("module",)

    def __init__(self, module):
        self.module = module

    def predict(self, x):
        return self.module(x)


class Hiding(nn.Module):
    """PyTorch sees no module in a plain list."""

    def __init__(self, module):
        super().__init__()
        self.hidden = [{"deep": module}]

    def forward(self, x):
        return self.hidden[0]["deep"](x)


SERVICE = Predicting(nn.Linear(2, 2))


def global_layer(x):
    return LAYER(x)


def global_layers(x):
    return LAYERS[1](LAYERS[0](x))


def calls_another(x):
    return global_layers(x)


def closed_over(module):
    return lambda x: module(x)


def in_a_dictionary(module):
    held = {"layers": [module]}
    return lambda x: held["layers"][0](x)


def by_default(x, layer=LAYER):
    return layer(x)


def wrapped(module):
    def call(x):
        return module(x)

    @functools.wraps(call)
    def outer(x):
        return call(x)

    return outer


def in_an_iterator(module):
    held = itertools.cycle([module])
    return lambda x: next(held)(x)


def in_a_class(module):
    class Named:
        layer = module

        def __call__(self, x):
            return Named.layer(x)

    return Named()


def weakly(module):
    held = weakref.ref(module)
    return lambda x: held()(x)


def in_a_context(module):
    held = contextvars.ContextVar("held", default=None)
    held.set(module)
    return lambda x: held.get()(x)


HELD = {
    "method of an object": lambda m: Predicting(m).predict,
    "method of an object with slots": lambda m: Slotted(m).predict,
    "closure over an object": lambda m: closed_over(Predicting(m).predict),
    "closure over a namespace in a set": lambda m: closed_over_parts({SimpleNamespace}, SimpleNamespace(layer=m)),
    "deque": lambda m: closed_over_parts(deque([m])),
    "frozenset": lambda m: closed_over_parts(frozenset([m])),
    "wraps": wrapped,
    "cache": lambda m: functools.lru_cache(m),
    "class": in_a_class,
    "weak reference": weakly,
    "context variable": in_a_context,
}


def closed_over_parts(*parts):
    def call(x):
        held = parts[-1]
        return (held.layer if hasattr(held, "layer") else next(iter(held)))(x)

    return call


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
    **HELD,
}


@pytest.mark.parametrize("how", FOUND)
def test_a_module_is_found_however_it_is_held(how):
    module = nn.Sequential(nn.Linear(2, 2))
    assert modules_of(FOUND[how](module)) == [module]


def test_modules_among_the_globals_are_found():
    assert modules_of(global_layer) == [LAYER]
    assert modules_of(global_layers) == LAYERS
    assert modules_of(by_default) == [LAYER]


def test_modules_in_containers_and_objects_among_the_globals_are_found():
    assert modules_of(lambda x: REGISTRY["a"](x)) == [REGISTRY["a"]]
    assert modules_of(lambda x: SERVICE.predict(x)) == [SERVICE.module]
    assert modules_of(calls_another) == LAYERS


def test_a_module_that_another_hides_is_found_beside_it():
    outer = Hiding(nn.Linear(2, 2))
    assert modules_of(outer) == [outer, outer.hidden[0]["deep"]]


def test_what_a_callable_does_not_name_is_not_reached():
    assert modules_of(lambda x: x + 1) == []
    assert modules_of(torch.nn.functional.relu) == []


@pytest.mark.parametrize("how", FOUND)
def test_the_abstract_run_names_the_parameters_of_whatever_is_found(how):
    module = nn.Sequential(nn.Linear(2, 2))
    nn.init.zeros_(module[0].weight)
    found = trace.run(FOUND[how](module), (torch.randn(1, 3, 2),), parameters="stored")
    assert found.parameter_zeros == ("0.weight",)


class CausalInTraining(nn.Module):
    def forward(self, x):
        return nn.functional.scaled_dot_product_attention(x, x, x, is_causal=self.training)


X = torch.linspace(-1, 1, 32).sin().reshape(1, 8, 4)


@pytest.mark.parametrize("how", FOUND)
def test_the_mode_is_set_on_a_module_however_it_is_held(how):
    module = CausalInTraining()
    assert check_model(FOUND[how](module), X).status.name == "REFUTED"
    assert module.training


class Unseen:
    """Keeps its module where only its own code finds it."""

    def __init__(self, module):
        self._key = id(module)

    def __call__(self, x):
        return eval("ELSEWHERE")[self._key](x)


ELSEWHERE = weakref.WeakValueDictionary()


def unseen(module):
    ELSEWHERE[id(module)] = module
    return Unseen(module)


@pytest.mark.parametrize("hidden", [unseen, in_an_iterator])
def test_a_module_that_runs_and_was_not_reached_is_met_and_put_in_the_mode(hidden):
    module = CausalInTraining()
    model = hidden(module)
    assert module not in modules_of(model)
    assert check_model(model, X).status.name == "REFUTED"
    assert check_model(model, X, modes=("train",)).status.name == "PROVED"
    assert module.training


@pytest.mark.parametrize("how", ["itself", "method of an object", "unseen"])
def test_running_statistics_are_the_callers_after_a_check(how):
    class Normed(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.BatchNorm1d(4)

        def forward(self, x):
            return self.norm(x.mT).mT

    module = Normed()
    model = unseen(module) if how == "unseen" else FOUND[how](module)
    assert check_model(model, X, sequence_axis=1).status.name == "PROVED"
    assert check_model(model, X, sequence_axis=1, modes=("train",)).status.name == "REFUTED"
    assert module.norm.running_mean.eq(0).all()
    assert module.norm.num_batches_tracked == 0


def test_a_module_made_in_the_run_keeps_the_mode_that_it_was_made_in():
    assert check_model(lambda x: CausalInTraining()(x), X).status.name == "PROVED"


def fixed():
    plain = nn.Sequential(nn.Linear(4, 4), nn.Dropout())
    with torch.no_grad():
        yield "TopLevelTracedModule", torch.jit.trace(plain.eval(), X)
    yield "RecursiveScriptModule", torch.jit.freeze(torch.jit.script(plain.eval()))
    yield "RecursiveScriptModule", nn.Sequential(torch.jit.freeze(torch.jit.script(plain.eval())), nn.Dropout())
    yield "GraphModule", torch.export.export(plain, (X,)).module()


def test_an_unseen_module_is_in_the_mode_in_the_run_with_values_that_follows_one_without():
    module = nn.BatchNorm1d(4)
    norm = unseen(module)

    def model(x):
        y = norm(x.mT).mT
        with torch.autocast("cpu"):
            return y.cumsum(1)

    assert check_model(model, X, replay="never").status.name == "PROVED"
    assert module.training


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_mode_that_is_built_in_is_said():
    for name, model in fixed():
        verdict = check_model(model, X.clone(), sequence_axis=1, modes=("train",))  # an exported program keeps X itself
        assert verdict.status.name == "PROVED"
        assert any(f"the mode of {name} is built in" in reason for reason in verdict.reasons)
        frozen = [m for m in model.modules() if type(m).__name__ == "RecursiveScriptModule"]
        assert not any(hasattr(m, "training") for m in frozen)
    assert not any("built in" in r for r in check_model(nn.Linear(4, 4), X, sequence_axis=1).reasons)


def test_a_seed_that_waits_for_a_device_stays_the_callers(monkeypatch):
    """What PyTorch is told before CUDA's first use, it says then: a check must not be the last to have told it."""
    told = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: False)
    monkeypatch.setattr(torch.cuda, "manual_seed_all", told.append)
    with seeded(3):
        first = torch.rand(2)
    with seeded(3):
        assert torch.equal(torch.rand(2), first)
    assert not told
