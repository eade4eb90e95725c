"""Does a short decisive disclosure survive compression? An experiment beside the linear limit of T8.

A document is boilerplate with one of two sentences spliced in at a random place. A linear probe reads the values of one
layer (all heads side by side), either all n of them or r compressed ones, and must tell which sentence it was. Two
probes: one that is not told the place reads F V as it is; one that is told it reads the span out of the best linear
reconstruction F⁺F V, which is what the linear limit speaks of: the share of the span's variance that any linear decoder
can recover is its mean leverage.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import TYPE_CHECKING

import numpy as np

from . import designs
from .encoder import Encoder, installed_text
from .retention import leverage

if TYPE_CHECKING:
    from ..aliases import Array

SENTENCES = (
    "management now expects revenue to fall sharply next quarter.",
    "management now expects revenue to rise slightly next quarter.",
)
PROJECTIONS: Mapping[str, Callable[[int, int], Array]] = {
    "mean pooling": designs.pooling,
    "strided": designs.strided,
    "random": designs.gaussian,
}


@dataclass(frozen=True)
class Documents:
    """`values` (count, n, width) of one layer, `labels` (count,) 0 or 1, `starts` (count,), and the span's length."""

    values: Array
    labels: Array
    starts: Array
    length: int


@dataclass(frozen=True)
class Result:
    """Accuracies on unseen documents with 95 % half-widths over seeds, and the span's mean leverage under F.

    `accuracy` of the probe that does not know the place, `known` of the one that does.
    """

    projection: str
    r: int
    accuracy: float
    half_width: float
    known: float
    known_half_width: float
    leverage: float


def documents(encoder: Encoder, n: int, count: int, seed: int, *, layer: int = 0, text: str | None = None) -> Documents:
    """`count` documents of n tokens, each with one of SENTENCES at a place drawn uniformly.

    Raises ValueError when a sentence does not fit or the text is shorter than a document.
    """
    rng = np.random.default_rng(seed)
    boilerplate = np.array(encoder.tokens(installed_text() if text is None else text))
    spans = [np.array(encoder.tokens(s)) for s in SENTENCES]
    length = len(spans[0])
    if len(spans[1]) != length or length >= n:
        raise ValueError(f"n = {n} tokens do not hold a sentence of {length}; choose a larger n")
    if len(boilerplate) < n:
        raise ValueError(f"text has {len(boilerplate)} tokens, a document needs n = {n}; give a longer text")
    labels, starts = rng.integers(0, 2, count), rng.integers(0, n - length + 1, count)
    values = []
    for label, start in zip(labels, starts, strict=True):
        at = int(rng.integers(0, len(boilerplate) - n + 1))
        tokens = boilerplate[at : at + n].copy()
        tokens[start : start + length] = spans[label]
        hidden = encoder.embed(tokens.tolist())
        for index in range(layer):
            hidden = encoder.layer(index, hidden)[1]
        values.append(encoder.values(hidden, layer).swapaxes(0, 1).reshape(n, -1))
    return Documents(np.stack(values).astype(np.float32), labels, starts, length)


def probe_accuracy(features: Array, labels: Array, train: int, penalties: Sequence[float] | None = None) -> float:
    """Accuracy on the documents after the first `train` of a ridge probe fitted on those; penalty by leave-one-out.

    Works in the dual, so features (count, …) may be wider than there are documents.

    >>> x = np.array([[1.0], [-1], [1.1], [-0.9], [1.2], [-1.3]])
    >>> probe_accuracy(x, np.array([1, 0, 1, 0, 1, 0]), 4)
    1.0
    """
    X = features.reshape(len(features), -1)
    X = X - X[:train].mean(0)
    target = 2.0 * labels - 1
    centre = target[:train].mean()
    gram = (X[:train] @ X[:train].T).astype(float)
    cross = (X[train:] @ X[:train].T).astype(float)
    values, vectors = np.linalg.eigh(gram)
    rotated = vectors.T @ (target[:train] - centre)
    scale = max(float(values.mean()), 1e-30)
    best: tuple[float, Array] | None = None
    for penalty in penalties if penalties is not None else 10.0 ** np.arange(-4, 4):
        shrunk = 1 / (np.maximum(values, 0) + penalty * scale)
        dual = vectors @ (shrunk * rotated)
        left_out = dual / np.maximum((vectors**2 * shrunk).sum(1), 1e-300)  # y − ŷ without that document
        loss = float(np.mean(left_out**2))
        if best is None or loss < best[0]:
            best = (loss, dual)
    assert best is not None
    guess = cross @ best[1] + centre > 0
    return float(np.mean(guess == (target[train:] > 0)))


def decoded_spans(drawn: Documents, F: Array | None) -> Array:
    """The rows of V (F None) or of F⁺F V at each document's span, shape (count, length, width)."""
    spans = drawn.starts[:, None] + np.arange(drawn.length)
    if F is None:
        return np.take_along_axis(drawn.values, spans[:, :, None], axis=1)
    decoder = (np.linalg.pinv(F) @ F).astype(np.float32)
    decoded: Array = decoder[spans] @ drawn.values
    return decoded


def span_share(F: Array | None, starts: Array, length: int, n: int) -> float:
    """Mean leverage of the spans' positions: 1 for full values (F None)."""
    if F is None:
        return 1.0
    levels = np.asarray(leverage(F).values)
    return float(np.mean([levels[s : s + length].mean() for s in starts]))


def experiment(
    encoder: Encoder,
    slots: Sequence[int],
    *,
    n: int = 64,
    count: int = 700,
    train: int = 500,
    seeds: Sequence[int] = range(3),
    layer: int = 0,
    progress: Callable[[int], None] | None = None,
) -> list[Result]:
    """Accuracies and leverage for full values and for every projection and r; seeds draw documents and random F."""
    scores: dict[tuple[str, int], list[tuple[float, float, float]]] = {}
    for done, seed in enumerate(seeds):
        drawn = documents(encoder, n, count, seed, layer=layer)
        projections: dict[tuple[str, int], Array | None] = {("full", n): None}
        for r in slots:
            for kind, build in PROJECTIONS.items():
                projections[kind, r] = designs.gaussian(n, r, seed) if kind == "random" else build(n, r)
        for name, F in projections.items():
            read = drawn.values if F is None else F.astype(np.float32) @ drawn.values
            scores.setdefault(name, []).append(
                (
                    probe_accuracy(read, drawn.labels, train),
                    probe_accuracy(decoded_spans(drawn, F), drawn.labels, train),
                    span_share(F, drawn.starts, drawn.length, n),
                )
            )
        if progress is not None:
            progress(done + 1)
    return [
        Result(
            kind,
            r,
            *_interval([a for a, _, _ in all3]),
            *_interval([k for _, k, _ in all3]),
            mean([s for _, _, s in all3]),
        )
        for (kind, r), all3 in scores.items()
    ]


def _interval(values: Sequence[float]) -> tuple[float, float]:
    from .roofline import student

    k = len(values)
    spread = float(np.std(values, ddof=1)) if k > 1 else math.nan
    return float(np.mean(values)), student(k - 1) * spread / math.sqrt(k) if k > 1 else math.nan
