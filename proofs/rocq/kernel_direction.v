(** T7: compression to fewer slots than positions has a blind direction, so there is no relative error bound.

    Glossary
      A           full attention weights, n x n (here any matrix, or any nonsingular one)
      B, F        slot weights n x r and value projection r x n, with r < n
      A *m V - B *m F *m V    the output error, for values V of shape n x (d_v + 1)
      size        any function that is positive away from 0, such as a norm
      example_F   the article's projection [[1/2, 1/2, 0], [0, 0, 1]]

    Headline theorems:
      T7  blind_direction         if r < n, some v <> 0 has F v = 0, and then B F v = 0 for every B
      T7  full_attention_sees     if A is nonsingular, A v <> 0 for that v
      T7  no_relative_error       no c < 1 has size (Y - Y') <= c * size Y for all V
      T7  example_blind_span      in the article's example F v = 0 iff v is a multiple of (1, -1, 0)

    Axioms: none. *)
From mathcomp Require Import all_ssreflect all_algebra.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section AnyField.

Variable K : fieldType.

Theorem blind_direction n r (F : 'M[K]_(r, n)) :
  (r < n)%N ->
  exists v : 'cV[K]_n, [/\ v != 0, F *m v = 0 & forall m (B : 'M[K]_(m, r)), B *m F *m v = 0].
Proof.
move=> ltrn; have /rowV0Pn[u /sub_kermxP uF u_neq0] : kermx F^T != 0.
  by rewrite -mxrank_eq0 mxrank_ker -lt0n subn_gt0 (leq_ltn_trans (rank_leq_col _)).
have Fv : F *m u^T = 0 by rewrite -[F]trmxK -trmx_mul uF trmx0.
exists u^T; split=> // [|m B]; last by rewrite -mulmxA Fv mulmx0.
by apply: contraNneq u_neq0 => u0; rewrite -[u]trmxK u0 trmx0.
Qed.

Theorem full_attention_sees n (A : 'M[K]_n) m (v : 'M[K]_(n, m)) :
  A \in unitmx -> v != 0 -> A *m v != 0.
Proof. by move=> A_unit; apply: contraNneq => Av0; rewrite -(mulKmx A_unit v) Av0 mulmx0. Qed.

End AnyField.

Section RealField.

Variable R : realFieldType.

Theorem no_relative_error n r dv (A : 'M[R]_n) (B : 'M[R]_(n, r)) (F : 'M[R]_(r, n))
    (size : 'M[R]_(n, dv.+1) -> R) (c : R) :
  (r < n)%N -> A \in unitmx -> (forall Y, Y != 0 -> 0 < size Y) -> c < 1 ->
  ~ (forall V, size (A *m V - B *m F *m V) <= c * size (A *m V)).
Proof.
move=> ltrn A_unit size_gt0 c_lt1 bound.
have [v [v_neq0 _ BFv]] := blind_direction F ltrn.
pose V : 'M[R]_(n, dv.+1) := v *m const_mx 1.
have V_neq0 : V != 0.
  apply: contraNneq v_neq0 => /matrixP V0; apply/eqP/matrixP => i j.
  by have := V0 i ord0; rewrite !mxE big_ord1 !mxE mulr1 ord1.
have := bound V; rewrite [B *m F *m V]mulmxA BFv mul0mx subr0 leNgt.
by rewrite gtr_pmull ?c_lt1 // size_gt0 // full_attention_sees.
Qed.

Definition example_F : 'M[R]_(2, 3) :=
  \matrix_(s, j) if s == 0%N :> nat then (if (j < 2)%N then 2^-1 else 0) else (if (j < 2)%N then 0 else 1).

Definition example_blind : 'cV[R]_3 := \col_j if j == 0%N :> nat then 1 else if j == 1%N :> nat then - 1 else 0.

Theorem example_blind_span (v : 'cV[R]_3) :
  example_F *m v = 0 <-> exists a : R, v = a *: example_blind.
Proof.
split=> [/matrixP Fv0 | [a ->]]; last first.
  rewrite -scalemxAr; apply/matrixP => s j; rewrite !mxE !big_ord_recl big_ord0 !mxE /=.
  by case: (_ == _); rewrite ?mul0r ?mulr1 ?mulr0 ?mulrN ?mulr1 ?addr0 ?add0r ?subrr ?oppr0 ?mulr0.
exists (v 0 0); have := Fv0 0 0; have := Fv0 1 0.
rewrite !mxE !big_ord_recl !big_ord0 !mxE /= !mul0r !add0r !addr0 mul1r => v2 /eqP.
rewrite -mulrDr mulf_eq0 invr_eq0 pnatr_eq0 /= addr_eq0 => /eqP v0.
apply/matrixP => j k; rewrite ord1 !mxE {k}.
case: j => [[|[|[|//]]] lt_j3] /=.
- by rewrite mulr1; congr (v _ _); apply: val_inj.
- by rewrite v0 mulrN mulr1 opprK; congr (v _ _); apply: val_inj.
- by rewrite mulr0 -[RHS]v2; congr (v _ _); apply: val_inj.
Qed.

End RealField.
