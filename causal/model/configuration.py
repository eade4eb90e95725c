"""From a configuration alone: the model that a file or a type of `transformers` describes, without weights.

Nothing is fetched and no code of others is run: a configuration that names code or kernels elsewhere is refused.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ...libraries import library
from .on_meta import parameters_on_meta
from .setting import ModelError

if TYPE_CHECKING:
    from torch import Tensor

OFFLINE = {"HF_HUB_OFFLINE": "1", "USE_HUB_KERNELS": "0"}
"""What keeps `transformers` from fetching files and kernels, where it is said before it is imported."""

UNUSED = {
    "auto_map": ("names code elsewhere, which is never run", "remove it to check the class named"),
    "quantization_config": ("describes how weights are stored", "remove it to check the model without it"),
}
"""Entries that say something of the model which its class alone does not do."""


class Described(NamedTuple):
    """A model without weights, its inputs of n tokens, and how many tokens there are."""

    model: Any
    make_input: Callable[[int], Tensor]
    vocabulary: int


def from_configuration(model_class: Any, configuration: str | os.PathLike[str]) -> Described:
    """The model that a configuration of `transformers` describes, without the values that a checkpoint would bring.

    `model_class` is a class of `transformers` that takes tokens, such as `LlamaForCausalLM` or `AutoModelForCausalLM`;
    `configuration` the path of a JSON file (`config.json`), or a type that transformers knows, such as "llama", with
    its default numbers. The model keeps no cache of earlier keys. `make_input(n)` gives whole numbers of shape (1, n)
    below the vocabulary. Needs no network and runs no code but that of the class.

    Raises ModelError with one sentence.
    """
    with offline():
        library("transformers", "a configuration")
        name = getattr(model_class, "__name__", str(model_class))
        try:
            data = _read(configuration)
            model = _built(model_class, _suited(model_class, data, configuration))
        except ModelError:
            raise
        except Exception as error:
            said = " ".join(str(error).split())[:300].rstrip(".")
            remedy = f"pass one that {name} can be made from"
            raise _misfit(configuration, f"does not give a {name} ({type(error).__name__}: {said})", remedy) from error
    vocabulary = _tokens(model, name, configuration)
    return Described(model, lambda n: _input(n, vocabulary), vocabulary)


@contextmanager
def offline() -> Iterator[None]:
    """Neither files nor kernels are fetched inside, if `transformers` is first imported here or was told so before."""
    before = {name: os.environ.get(name) for name in OFFLINE}
    os.environ.update(OFFLINE)
    constants = library("huggingface_hub.constants", "a configuration")
    was, constants.HF_HUB_OFFLINE = constants.HF_HUB_OFFLINE, True
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = was
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


# -- the configuration --------------------------------------------------------------------------------------------


def _misfit(configuration: Any, problem: str, remedy: str) -> ModelError:
    return ModelError("configuration", problem, remedy, str(configuration))


def _read(configuration: str | os.PathLike[str]) -> dict[str, Any]:
    """The entries of a file, or those that a type has by default."""
    from transformers import CONFIG_MAPPING

    path = Path(configuration)
    if not path.is_file():
        if str(configuration) in CONFIG_MAPPING:
            found: dict[str, Any] = CONFIG_MAPPING[str(configuration)]().to_dict()
            return found
        if path.is_dir():
            raise _misfit(configuration, "is a folder", "pass the path of the config.json in it")
        near = get_close_matches(str(configuration), list(CONFIG_MAPPING), n=1)
        hint = f"did you mean {near[0]}? pass" if near else "pass"
        problem = "is neither a file nor a model type that transformers knows"
        raise _misfit(configuration, problem, f"{hint} the path of a config.json or a type such as llama")
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise _misfit(configuration, f"cannot be read ({error.strerror})", "make it readable") from None
    except ValueError as error:
        raise _misfit(configuration, f"is no JSON ({error})", "pass a config.json") from None
    if not isinstance(data, dict):
        raise _misfit(configuration, f"holds a JSON {type(data).__name__}", "pass a config.json, which holds an object")
    _no_code_elsewhere(configuration, data)
    return data


def _no_code_elsewhere(configuration: Any, data: Mapping[str, Any]) -> None:
    """ModelError where an entry, at any depth, names code or kernels to be fetched, or what a class does not apply."""
    for key, value in data.items():
        if key in UNUSED and value:
            problem, remedy = UNUSED[key]
            raise _misfit(configuration, f"holds {key}, which {problem}", remedy)
        if key.endswith("_implementation") and any("/" in text for text in _texts(value)):
            raise _misfit(configuration, f"holds {key} = {value!r}, a kernel elsewhere", "use 'sdpa' or 'eager'")
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, dict):
                _no_code_elsewhere(configuration, inner)


def _texts(value: Any) -> list[str]:
    return [str(v) for v in value.values()] if isinstance(value, dict) else [str(value)]


def _suited(model_class: Any, data: dict[str, Any], configuration: Any) -> Any:
    """The configuration object that the class takes, from these entries or from those of the part that is its own."""
    from transformers import CONFIG_MAPPING, PretrainedConfig

    kind, own = str(data.get("model_type") or ""), getattr(model_class, "config_class", None)
    name = getattr(model_class, "__name__", str(model_class))
    if own is None and hasattr(model_class, "from_config"):
        if kind not in CONFIG_MAPPING:
            raise _misfit(configuration, f"names the model_type {kind!r}", "pass one that transformers knows")
        return CONFIG_MAPPING[kind].from_dict(data)
    if not (isinstance(own, type) and issubclass(own, PretrainedConfig)):
        raise ModelError(
            "model_class", "takes no configuration of transformers", "pass a class such as LlamaForCausalLM", name
        )
    wanted = own.model_type
    if kind in CONFIG_MAPPING and issubclass(CONFIG_MAPPING[kind], own):  # a type that shares the class
        own = CONFIG_MAPPING[kind]
    elif kind not in ("", wanted):
        parts = [v for v in data.values() if isinstance(v, dict) and v.get("model_type") == wanted]
        if not parts:
            raise _misfit(
                configuration,
                f"describes a {kind!r}, and {name} takes a {wanted!r}",
                "pass the class that its architectures name, or AutoModelForCausalLM",
            )
        data = parts[0]
    return own.from_dict(data)


# -- the model ----------------------------------------------------------------------------------------------------


def _built(model_class: Any, config: Any) -> Any:
    for part in (config, config.get_text_config()):
        part.use_cache = False
    build = getattr(model_class, "from_config", None) or model_class._from_config  # what the first calls as well
    with parameters_on_meta():
        return _to_be_filled(build(config).eval())


def _to_be_filled(model: Any) -> Any:
    """The model, its buffers without values where a checkpoint brings them.

    Those are buffers that are stored and hold one number throughout, as for the correction of a router; one with a
    pattern is a mask or a decay that the class computes.
    """
    stored = model.state_dict()
    for path, module in model.named_modules():
        for name, buffer in list(module.named_buffers(recurse=False)):
            if f"{path}.{name}".lstrip(".") in stored and bool((buffer == buffer.reshape(-1)[:1]).all()):
                setattr(module, name, buffer.to("meta"))
    return model


def _tokens(model: Any, name: str, configuration: Any) -> int:
    """The number of tokens; ModelError where the model takes something else, or more than one sequence."""
    takes = getattr(model, "main_input_name", "input_ids")
    if model.config.is_encoder_decoder:
        takes = "input_ids and decoder_input_ids"
    count = getattr(model.config.get_text_config(), "vocab_size", None)
    if takes != "input_ids" or not isinstance(count, int) or count < 2:
        what = f"takes {takes}" if takes != "input_ids" else "names no vocab_size"
        raise ModelError(
            "model_class",
            f"from {str(configuration)!r} {what}, so that its input is not told",
            "write a factory that returns (model, inputs)",
            name,
        )
    return count


def _input(n: int, vocabulary: int) -> Tensor:
    import torch

    return torch.randint(0, vocabulary, (1, n), generator=torch.Generator().manual_seed(n))
