(** The rules of transfer.v as an OCaml program, which proofs/transfers.py compares with the tracer's own functions.

    Integers become OCaml's, of 63 bits; ranks have 32. This file is not part of the development's build: it proves
    nothing. *)
From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlZInt ExtrOcamlNatInt.
From AttnProof Require transfer.

Extraction Language OCaml.
Extraction "rules.ml" transfer.joined transfer.added transfer.multiplied transfer.exponential_of transfer.selected
  transfer.summed transfer.contracted transfer.softmaxed transfer.scanned transfer.running_sum transfer.running_product
  transfer.peaked.
