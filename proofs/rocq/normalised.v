(** T2 after normalisation: a slot's weight can exceed the mean of the full weights of the positions that it averages, since
    every other slot shrinks too.

    Headline theorem:
      T2  normalised_exceeds    slot 0 of the article's example: more than half of what positions 0 and 1 have together

    Axioms: the three of MathComp-Analysis. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.analysis Require Import reals sequences exp nsatz_realtype.
From AttnProof Require Import softmax_det example example_decimals.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Normalised.

Variable R : realType.

Theorem normalised_exceeds :
  let full j := softmax ((Num.sqrt 1%:R)^-1 *: (query R *m (keys R)^T)) 0 j in
  let compressed s := softmax ((Num.sqrt 1%:R)^-1 *: (query R *m (E R *m keys R)^T)) 0 s in
  (full 0 + full 1) / 2 < compressed 0.
Proof.
have [printed_full printed_compressed] := printed_weights R; move=> /=.
move: (printed_compressed 0) (printed_full 0) (printed_full 1); rewrite /printed !ltr_distl.
move=> /andP[lo _] /andP[_ hi0] /andP[_ hi1].
have u0 : 0 < (10 ^+ 4)^-1 :> R by rewrite invr_gt0 exprn_gt0 ?ltr0n.
have w0 : 0 < 2^-1 :> R by rewrite invr_gt0 ltr0n.
have ww : 2^-1 + 2^-1 = 1 :> R by rewrite -mulr2n -[_ *+ 2]mulr_natr mulVf ?pnatr_eq0.
apply: lt_trans lo; apply: lt_trans (_ : _ < (_ + _) / 2) _.
  by rewrite ltr_pmul2r //; apply: ltr_add hi0 hi1.
have half : 1 / (2 * 10 ^+ 4) = 2^-1 * (10 ^+ 4)^-1 :> R by rewrite mul1r invfM.
rewrite !half -subr_gt0 /=; set u := _^-1 in u0 *; set w := 2^-1 in w0 ww *.
rewrite (_ : _ - _ = 13 * 23 * (w * u)); first by rewrite !mulr_gt0 ?ltr0n.
by real_ring.
Qed.

End Normalised.
