(** T16: a family of designs is safe for every n and all weights with its support iff nothing that a query sees reads
    what is forbidden to it: the formula whose unsatisfiability the solvers decide.

    Glossary (see causal_head.v for prefix_safe)
      slots n            the number of slots
      reads s j n, sees t s n, allowed t j n    the rules, on numbers
      inside E           E is 0 where the rules do not read

    Headline theorem:
      T16  family_safe_iff    the reduction, for all n at once

    Axioms: none. *)
From mathcomp Require Import all_ssreflect all_algebra.
From AttnProof Require Import independence causal_head support exact.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Definition inside (R : ringType) r n (reads : nat -> nat -> nat -> bool) (E : 'M[R]_(r, n)) :=
  forall (s : 'I_r) (j : 'I_n), ~~ reads s j n -> E s j = 0.

Theorem family_safe_iff (R : realFieldType) (e : R -> R) (scale : R) d dv (slots : nat -> nat)
    (reads sees allowed : nat -> nat -> nat -> bool) :
  exponential e -> scale != 0 -> (0 < d)%N -> (0 < dv)%N ->
  (forall n (E F : 'M[R]_(slots n, n)), (0 < n)%N -> inside reads E -> inside reads F ->
     prefix_safe e scale d dv E F (fun (t : 'I_n) j => allowed t j n) (fun t s => sees t s n)) <->
  (forall n t s j, (0 < n)%N -> (t < n)%N -> (s < slots n)%N -> (j < n)%N ->
     ~ [&& sees t s n, reads s j n & ~~ allowed t j n]).
Proof.
move=> exp_e scale0 d_gt0 dv_gt0; split=> [safe n t s j n0 lt_t lt_s lt_j /and3P[vis read forb] | none n E F n0 inE inF].
  pose T := Ordinal lt_t; pose S := Ordinal lt_s; pose J := Ordinal lt_j.
  have in0 : inside reads (0 : 'M[R]_(slots n, n)) by move=> s' j' _; rewrite mxE.
  have in1 : inside reads (delta_mx S J : 'M[R]_(slots n, n)).
    move=> s' j' out; rewrite mxE; case: eqP => // sE; case: eqP => // jE.
    by move: out; rewrite sE jE /= read.
  have /(exact_criterionP _ _ _ _ exp_e scale0 d_gt0 dv_gt0)/(_ T) := safe n 0 (delta_mx S J) n0 in0 in1.
  case; first by exists S.
  move=> /(_ 0 J forb) + _; rewrite (bigD1 S) /= ?vis ?row0 ?eqxx // big1 ?addr0 => [|s' /andP[_ neq]].
    by rewrite mxE !eqxx => /eqP; rewrite oner_eq0.
  by rewrite mxE (negPf neq).
apply: support_prefix_safe => t s j vis forb; have [read | out] := boolP (reads s j n); last by rewrite inE ?inF.
by case: (none n t s j n0 (ltn_ord t) (ltn_ord s) (ltn_ord j)); rewrite vis read.
Qed.
