# ruff: noqa: E501 - tables of calls
"""Random programs: a change of an input position outside a claimed interval must not move the element; every rule runs."""

from __future__ import annotations

from needs import need

torch = need("torch")

import importlib
import pkgutil
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensor_programs
from attnproof.causal import trace
from attnproof.causal.model.trace import domain, frontend  # noqa: F401  (registers the rules)
from attnproof.causal.model.trace.registry import BUILT_IN
from hypothesis import given, settings
from hypothesis import strategies as st
from tensor_probe import moved
from tensor_programs import SIZES

MOST = 1e12


def unusable(values: list[torch.Tensor]) -> bool:
    """Whether a run broke the assumptions: NaN, overflow, or numbers beyond all rounding."""
    for t in values:
        t = torch.view_as_real(t) if t.is_complex() else t
        if t.is_floating_point() and t.numel():
            finite = t[t.isfinite()].abs()
            finite = finite[(finite < 1e29) | (finite > 1e31)]  # apart from a finite mask itself
            if t.isnan().any() or (t == torch.inf).any() or (finite.numel() and finite.max() > MOST):
                return True
    return False


def broken(
    seed: int, length: int, draws: int = 2, hidden: float = -torch.inf, size: tuple[int, ...] = SIZES[0]
) -> str | None:
    """What is wrong with the claims about one random program, or None."""
    program = tensor_programs.program(seed, length, hidden)
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(size, generator=g, dtype=torch.float64)
    with torch.no_grad():
        try:
            base = program(x.clone())
        except (RuntimeError, ValueError, IndexError):
            return None  # no valid program
        if unusable(base):
            return None
    for values in (True, False):
        what = claim_broken(seed, program, x, base, draws, values, finite_masks=hidden > -torch.inf)
        if what is not None:
            return f"{what} ({'with' if values else 'without'} values)"
    return None


def claim_broken(
    seed: int, program: Any, x: torch.Tensor, base: list[torch.Tensor], draws: int, values: bool, finite_masks: bool
) -> str | None:
    """The same of one run's claims, with values or, as far as it can do without, without."""
    g = torch.Generator().manual_seed(seed + 1)
    with torch.no_grad():
        run = trace.run(program, (x,), sequence_axis=0, finite_masks=finite_masks, values=values)
        if not run.complete or any(c.kind != "finite-mask" for c in run.conditions):
            return None
        for output, value in zip(run.outputs, base, strict=True):
            if not output.value.is_meta and moved(value, output.value).any():
                return f"seed {seed}: {output.path} is not what the program computes"
        for j in range(x.shape[0]):
            for draw in range(draws):
                y = x.clone()
                y[j] = torch.randn(x.shape[1:], generator=g, dtype=torch.float64) * (0.5, 5.0)[draw % 2]
                after = program(y)
                if unusable(after):
                    continue
                for output, p, q in zip(run.outputs, base, after, strict=True):
                    lo, hi, kind = domain.full(output.shadow)
                    change = moved(p, q)
                    if (change & ~((lo <= j) & (hi >= j))).any():
                        return f"seed {seed}: {output.path} moves with position {j}"
                    if (change & (kind >= domain.FIXED)).any():
                        return f"seed {seed}: {output.path} is no constant"
    return None


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6), length=st.integers(2, 9), size=st.sampled_from(SIZES))
def test_random_programs(seed, length, size):
    assert broken(seed, length, size=size) is None


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), length=st.integers(2, 7), size=st.sampled_from(SIZES))
def test_random_programs_with_finite_masks(seed, length, size):
    """The conditions hold by far: scores stay small beside the mask."""
    assert broken(seed, length, hidden=-1e30, size=size) is None


# Programs that once broke a claim, or showed that one could break.
REGRESSIONS = [(311, 8), (385, 8), (1112, 10), (1169, 10)]


@pytest.mark.parametrize(("seed", "length"), REGRESSIONS)
def test_programs_that_were_wrong_once(seed, length):
    assert broken(seed, length) is None


def forget(function):
    """A rule that claims that nothing depends on anything."""

    def wrong(call):
        def empty(s):
            if not isinstance(s, domain.Shadow):
                return s
            return domain.Shadow(
                s.shape, np.full_like(s.lo, domain.NONE_LO), np.full_like(s.hi, domain.NONE_HI), s.kind
            )

        result = function(call)
        return empty(result) if isinstance(result, domain.Shadow) else tuple(map(empty, result))

    return wrong


@pytest.mark.parametrize(
    "name", ["aten.mul", "aten.where.self", "aten._softmax", "aten.index", "aten.cumsum", "aten.sort"]
)
def test_the_test_finds_a_wrong_rule(name, monkeypatch):
    wrong = replace(BUILT_IN[name], function=forget(BUILT_IN[name].function))
    monkeypatch.setitem(BUILT_IN, name, wrong)
    assert any(broken(seed, 8) for seed in range(200))


# Rules for kernels that only other devices, builds or releases run.
ELSEWHERE = [
    "_batch_norm_with_update",
    "_embedding_bag",
    "_grouped_mm",
    "_fused_rms_norm",
    "_linalg_check_errors",
    "_mkl_linear",
    "_native_batch_norm_legit",
    "_scaled_dot_product_cudnn_attention",
    "_scaled_dot_product_efficient_attention",
    "_scaled_dot_product_flash_attention",
    "_scaled_dot_product_fused_attention_overrideable",
    "_pin_memory",
    "cudnn_batch_norm",
    "miopen_batch_norm",
    "convolution_overrideable",
    "mkldnn_convolution",
    "mkldnn_linear",
    "_linear_pointwise",
    "mkldnn_rnn_layer",
    "mkldnn_rnn_layer_backward",
    "_convolution",
    "linear",
    "_cudnn_rnn",
    "_dyn_quant_matmul_4bit",
    "_fused_rms_norm_backward",
    "_linear_cross_entropy_batch_chunked",
    "_linear_cross_entropy_batch_chunked_no_reduction",
    "_scaled_mm",
    "_weight_int4pack_mm_for_cpu",
]


def cases() -> dict[str, tuple[object, torch.Tensor]]:
    """Every table of calls in the test files of the families."""
    found = {}
    folder = str(Path(__file__).parent / "rules")
    sys.path.insert(0, folder)
    try:
        for info in pkgutil.iter_modules([folder]):
            module = importlib.import_module(info.name)
            for table in ("CASES", "NOISE", "FRESH"):
                for name, call in getattr(module, table, {}).items():
                    found[f"{info.name}:{name}"] = (call, module.X)
    finally:
        sys.path.pop(0)
    a = torch.ops.aten
    found["limited norm"] = (lambda x: a.embedding_renorm(x.clone(), torch.tensor([0, 2]), 1.0, 2.0), module.X)
    found["slope of mish"] = (lambda x: a.mish_backward(x, x), module.X)
    return found


def test_every_rule_is_run_by_some_case():
    seen: set[str] = set()
    for call, x in cases().values():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seen |= set(trace.run(call, (x,), sequence_axis=0).operations)
    for seed in range(60):
        try:
            program = tensor_programs.program(seed, 8)
            x = torch.randn(tensor_programs.N, tensor_programs.D, dtype=torch.float64)
            seen |= set(trace.run(program, (x,), sequence_axis=0).operations)
        except (RuntimeError, ValueError, IndexError):
            continue
    seen |= {name.removesuffix("_") for name in seen}
    rules = {".".join(name.split(".")[:2]) for name in BUILT_IN}
    missing = {name for name in rules - seen if name.split(".")[1] not in ELSEWHERE}
    assert missing == set()
