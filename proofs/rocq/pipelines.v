(** T17: for functions of a whole series, truncation invariance is the stronger of two ways not to look ahead.

    Glossary
      f                 maps series to series
      truncation f      what f says up to time t it says of the series up to t
      perturbation f    series of one length that agree up to t give outputs that agree up to t

    Headline theorems:
      T17  truncation_perturbation    truncation invariance implies perturbation invariance
      T17  perturbation_not_enough    not conversely: a function that tells the length of the series

    Axioms: none. *)
From mathcomp Require Import all_ssreflect.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Definition truncation (X Y : Type) (f : seq X -> seq Y) :=
  forall x t, t < size x -> take t.+1 (f x) = f (take t.+1 x).

Definition perturbation (X Y : Type) (f : seq X -> seq Y) :=
  forall x x' t, size x = size x' -> take t.+1 x = take t.+1 x' -> take t.+1 (f x) = take t.+1 (f x').

Theorem truncation_perturbation (X Y : Type) (f : seq X -> seq Y) : truncation f -> perturbation f.
Proof.
move=> trunc x x' t same_size same; have [lt | ge] := ltnP t (size x).
  by rewrite !trunc ?same // -same_size.
by have -> : x = x' by rewrite -(take_oversize (leqW ge)) same take_oversize // -same_size leqW.
Qed.

Theorem perturbation_not_enough (X : Type) (x : X) :
  let f (s : seq X) := nseq (size s) (size s) in perturbation f /\ ~ truncation f.
Proof.
move=> f; split=> [s s' t same _ | /(_ [:: x; x] 0 isT)]; first by rewrite /f same.
by rewrite /f.
Qed.
