(** T26: one program for every length. Obligations that hold for all n from n0 on make it causal for all those n.

    Glossary (see transfer.v, transfer_sound.v)
      program n          the graph at length n: nodes with operands by place, what they compute, and their rules
      starved            a row in which no place is visible

    Headline theorems:
      T26  every_length_causal   rules that keep the relation and indices in bounds, for all n >= n0, and a shadow of the
                                 output at t that ends at t: the output at t does not depend on inputs after t, for all n >= n0
      T26  starved_row_attends   a row that a finite mask hides throughout is a mean of everything
      T26  wrapped_index_leaks   an index of t - 1 that wraps at 0 reads the last position

    Axioms: none. *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From AttnProof Require Import independence transfer transfer_sound.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section EveryLength.

Variables (R : realFieldType) (program : nat -> seq (node (option R))) (out : nat -> nat -> nat) (n0 : nat).

Definition at_rank (i : nat) : shadow := Shadow (Z.of_nat i) (Z.of_nat i) Varies.
Definition shadows n := abstract [seq at_rank i | i <- iota 0 n] (program n).

Theorem every_length_causal :
  (forall n, (n0 <= n)%N -> in_order n (program n)) ->
  (forall n t, (n0 <= n)%N -> (t < n)%N -> forall nd, List.In nd (program n) -> forall ss us vs,
     rels (fun d => Z.lt (Z.of_nat t) d) ss us vs ->
     holds (fun d => Z.lt (Z.of_nat t) d) (rule nd ss) (compute nd us) (compute nd vs)) ->
  (forall n t, (n0 <= n)%N -> (t < n)%N ->
     (out n t < size (shadows n))%N /\ Z.le (hi (nth s0 (shadows n) (out n t))) (Z.of_nat t)) ->
  forall n t (xs ys : seq (option R)), (n0 <= n)%N -> (t < n)%N -> size xs = n -> size ys = n ->
  all isSome xs -> all isSome ys -> (forall i, (i <= t)%N -> nth None xs i = nth None ys i) ->
  nth None (run None xs (program n)) (out n t) = nth None (run None ys (program n)) (out n t).
Proof.
move=> order sound ends n t xs ys le lt sx sy fx fy same; have [inside early] := ends n t le lt.
apply: (@graph_causal R (program n) xs ys (Z.of_nat t) (out n t)); rewrite ?sx ?sy //.
- by move=> i _ le_it; apply: same; apply/ssrnat.leP/Nat2Z.inj_le.
- exact: order.
- exact: sound.
Qed.

End EveryLength.

(** Scores that a finite mask lowers by the same amount: the softmax does not notice. *)
Theorem starved_row_attends (R : realFieldType) (e : R -> R) n (z v : 'I_n -> R) (c : R) : exponential e ->
  let mean z := (\sum_j e (z j) * v j) / \sum_j e (z j) in mean (fun j => z j + c) = mean z.
Proof.
move=> exp_e mean; rewrite /mean; have c0 : e c != 0 by apply: exponential_neq0.
have top : \sum_j e (z j + c) * v j = (\sum_j e (z j) * v j) * e c.
  by rewrite mulr_suml; apply: eq_bigr => j _; rewrite exponentialD // mulrAC.
have bottom : \sum_j e (z j + c) = (\sum_j e (z j)) * e c.
  by rewrite mulr_suml; apply: eq_bigr => j _; rewrite exponentialD.
by rewrite top bottom invfM mulrACA divff // mulr1.
Qed.

(** x[t - 1] in a language that counts negative indices from the end. *)
Theorem wrapped_index_leaks n (t : 'I_n.+1) :
  let wrapped : 'I_n.+1 := inord ((t + n) %% n.+1) in (wrapped <= t)%N = ((0 < t)%N || (n == 0)%N).
Proof.
move=> wrapped; rewrite /wrapped inordK ?ltn_pmod // {wrapped}; case: t => [[|t] lt] /=.
  by rewrite add0n modn_small // leqn0.
by rewrite addSnnS modnDr modn_small ?leqnSn // ltnW.
Qed.
