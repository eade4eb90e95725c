(** The verified checker as an OCaml program: `support_safe` and `exact_safe` of checker.v, extracted unchanged.

    Only Rocq's booleans, pairs and lists become OCaml's; numbers stay Rocq's own binary numbers, so that no arithmetic
    has to be trusted beyond the extraction itself. decide.ml reads cases and prints answers; proofs/differential.py
    builds both. This file is not part of the development's build: it proves nothing. *)
From Coq Require Import Extraction ExtrOcamlBasic.
From AttnProof Require checker.

Extraction Language OCaml.
Extraction "extracted.ml" checker.support_safe checker.exact_safe.
