"""A pinned subset of the public models whose causality is known: no verdict may contradict the truth.

The cases of plain PyTorch always run, those of packages where they are installed; `benchmarks/corpus.py` runs them all.
"""

from __future__ import annotations

import warnings

import pytest
from needs import need

torch = need("torch")
from cases.models import load, rows

PLAIN = [name for name, row in rows().items() if row["package"] == "torch"]
PACKAGES = {
    "transformers": (
        "hf_gpt2",
        "hf_llama_sdpa",
        "hf_gemma3_text",
        "hf_gemma3_text_bidir",
        "hf_mamba",
        "hf_mixtral",
        "hf_bert_lmhead_notdecoder",
        "hf_llama_noncausal_flag",
    ),
    "linformer_pytorch": ("linformer_pytorch_causal_k8", "linformer_pytorch_causal_fullattn"),
    "x_transformers": ("xt_decoder", "xt_encoder", "xt_dec_zeroinit"),
    "reformer_pytorch": ("reformer_causal", "reformer_causal_fullattn"),
    "pytorch_tcn": ("tcn_causal", "tcn_causal_batchnorm_train"),
    "local_attention": ("local_mha_causal_exact", "local_mha_off"),
    "minGRU_pytorch": ("mingru",),
}


def check(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load(name).check()


def judge(name):
    verdict = check(name)
    truth = rows()[name]["truth"]
    if truth == "leaks":
        assert verdict.status.name == "REFUTED", verdict
        assert verdict.witness.replay()
        assert not verdict.boundary.allowed(verdict.witness.query, verdict.witness.position)
        assert verdict.details["blame"]["entry"]["operation"]
    elif truth == "rounding":
        assert verdict.status.name != "REFUTED", verdict
    else:
        assert verdict.status.name in ("PROVED", "PROVED_IF"), verdict
    return verdict


@pytest.mark.parametrize("name", PLAIN)
def test_plain_pytorch(name):
    judge(name)


@pytest.mark.parametrize(("package", "name"), [(p, name) for p, names in PACKAGES.items() for name in names])
def test_packages(package, name):
    need(package)
    judge(name)


def test_the_compressed_attention_that_claims_to_be_causal_is_blamed():
    """Its keys and values mix every position before the mask over the slots is applied."""
    need("linformer_pytorch")
    verdict = check("linformer_pytorch_causal_k8")
    entry = verdict.details["blame"]["entry"]
    assert verdict.status.name == "REFUTED"
    assert entry["module"].endswith((".E", ".F"))
    assert "linformer_pytorch" in entry["line"]


def test_every_row_has_a_known_truth():
    assert {row["truth"] for row in rows().values()} == {"causal", "leaks", "rounding"}
    assert sum(row["truth"] == "causal" for row in rows().values()) == 103
