(** T1: the article's example, exactly.

    Glossary
      R                    the real numbers (any realType of MathComp-Analysis); expR is the exponential
      attention Q K V      softmax (Q K^T / sqrt d) V
      keys, values         the columns (1, 2, 3) and (10, 20, 30); the query is 1 and d = 1
      E                    [[1/2, 1/2, 0], [0, 0, 1]], used for keys and values alike
      e, h                 expR 1 and expR (1/2), so that h^2 = e

    Headline theorems:
      T1  full_weights         (1, e, e^2) / (1 + e + e^2)
      T1  compressed_weights   (1, h^3) / (1 + h^3)
      T1  full_output          10 (1 + 2 e + 3 e^2) / (1 + e + e^2)
      T1  compressed_output    15 (1 + 2 h^3) / (1 + h^3)
      T1  output_difference    their difference in closed form, and that it is positive

    Axioms: the three of MathComp-Analysis. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.analysis Require Import reals sequences exp nsatz_realtype.
From AttnProof Require Import softmax_det kernel_direction.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(** nsatz knows neither powers nor numerals, so write them out. *)
Ltac real_ring := rewrite -?pmulrn !(exprS, expr0, mulrS, mulr0n); nsatz.

Section Example.

Variable R : realType.

Definition attention m n d dv (Q : 'M[R]_(m, d)) (K : 'M[R]_(n, d)) (V : 'M[R]_(n, dv)) : 'M[R]_(m, dv) :=
  softmax ((Num.sqrt d%:R)^-1 *: (Q *m K^T)) *m V.

Definition keys : 'cV[R]_3 := \col_j j.+1%:R.
Definition values : 'cV[R]_3 := \col_j (10 * j.+1)%:R.
Definition query : 'M[R]_1 := 1%:M.
Definition E : 'M[R]_(2, 3) := example_F R.

Let e : R := expR 1.
Let h : R := expR (1 / 2).

Let e_gt0 : 0 < e. Proof. exact: expR_gt0. Qed.
Let h_gt0 : 0 < h. Proof. exact: expR_gt0. Qed.

Lemma expR_whole k : expR k%:R = e ^+ k.
Proof. by rewrite -[k%:R]mulr1 expRMm. Qed.

Lemma expR_halves k : expR (k%:R / 2) = h ^+ k.
Proof. by rewrite -expRMm mul1r. Qed.

Lemma scores n (K : 'cV[R]_n) j : ((Num.sqrt 1%:R)^-1 *: (query *m K^T)) 0 j = K j 0.
Proof. by rewrite sqrtr1 invr1 scale1r mul1mx mxE. Qed.

Lemma compressed_keys s : (E *m keys) s 0 = (if s == 0%N :> nat then 3%N else 6%N)%:R / 2.
Proof.
rewrite mxE !big_ord_recl big_ord0 !mxE /=; case: (_ == _).
  by rewrite mul0r !addr0 -mulrDr mulrC -natrD.
by rewrite !mul0r !add0r addr0 mul1r (natrM _ 3 2) mulfK // pnatr_eq0.
Qed.

Lemma compressed_values s : (E *m values) s 0 = (if s == 0%N :> nat then 15%N else 30%N)%:R.
Proof.
rewrite mxE !big_ord_recl big_ord0 !mxE /=; case: (_ == _).
  by rewrite mul0r !addr0 -mulrDr mulrC -natrD (natrM _ 15 2) mulfK // pnatr_eq0.
by rewrite !mul0r !add0r addr0 mul1r.
Qed.

Theorem full_weights (j : 'I_3) :
  softmax ((Num.sqrt 1%:R)^-1 *: (query *m keys^T)) 0 j = expR 1 ^+ j / (1 + expR 1 + expR 1 ^+ 2).
Proof.
rewrite mxE scores; under eq_bigr do rewrite scores mxE expR_whole.
rewrite mxE expR_whole !big_ord_recl big_ord0 /= addr0 addrA -/e.
rewrite [X in _ / X = _](_ : _ = e * (1 + e + e ^+ 2)); last by rewrite !mulrDr mulr1 -exprS -expr2 expr1.
by rewrite exprS invfM mulrACA mulfV ?mul1r // gt_eqF.
Qed.

Theorem compressed_weights (s : 'I_2) :
  softmax ((Num.sqrt 1%:R)^-1 *: (query *m (E *m keys)^T)) 0 s = expR (1 / 2) ^+ (3 * s) / (1 + expR (1 / 2) ^+ 3).
Proof.
rewrite mxE scores; under eq_bigr do rewrite scores compressed_keys expR_halves.
rewrite compressed_keys expR_halves !big_ord_recl big_ord0 /= addr0 -/h.
rewrite (_ : h ^+ 3 + h ^+ 6 = h ^+ 3 * (1 + h ^+ 3)); last by rewrite mulrDr mulr1 -exprD.
rewrite invfM mulrA; congr (_ / _); case: s => [[|[|//]] lt_s] /=; rewrite ?mulfV ?expf_neq0 ?gt_eqF //.
by rewrite (exprD h 3 3) mulfK // expf_neq0 // gt_eqF.
Qed.

Theorem full_output :
  attention query keys values 0 0 = 10 * (1 + 2 * expR 1 + 3 * expR 1 ^+ 2) / (1 + expR 1 + expR 1 ^+ 2).
Proof.
rewrite mxE !big_ord_recl big_ord0 !full_weights !mxE /= addr0 -/e /bump /= !natrM.
by rewrite ![_ / _ * _]mulrAC -!mulrDl; congr (_ / _); real_ring.
Qed.

Theorem compressed_output :
  attention query (E *m keys) (E *m values) 0 0 = 15 * (1 + 2 * expR (1 / 2) ^+ 3) / (1 + expR (1 / 2) ^+ 3).
Proof.
rewrite mxE !big_ord_recl big_ord0 !compressed_weights !compressed_values /= addr0 -/h /bump /=.
by rewrite ![_ / _ * _]mulrAC -!mulrDl; congr (_ / _); real_ring.
Qed.

Theorem output_difference : let t : R := expR (1 / 2) in
  attention query (E *m keys) (E *m values) 0 0 - attention query keys values 0 0 =
    5 * (1 - t ^+ 2 + 4 * t ^+ 3 - 3 * t ^+ 4 + 2 * t ^+ 5) / ((1 + t ^+ 3) * (1 + t ^+ 2 + t ^+ 4)) /\
  0 < attention query (E *m keys) (E *m values) 0 0 - attention query keys values 0 0.
Proof.
rewrite /= full_output compressed_output -/h.
have -> : expR 1 = h ^+ 2 :> R by rewrite -expR_halves divff // pnatr_eq0.
have eq_diff : 15 * (1 + 2 * h ^+ 3) / (1 + h ^+ 3)
    - 10 * (1 + 2 * h ^+ 2 + 3 * (h ^+ 2) ^+ 2) / (1 + h ^+ 2 + (h ^+ 2) ^+ 2) =
    5 * (1 - h ^+ 2 + 4 * h ^+ 3 - 3 * h ^+ 4 + 2 * h ^+ 5) / ((1 + h ^+ 3) * (1 + h ^+ 2 + h ^+ 4)).
  have pos k : 0 < h ^+ k by rewrite exprn_gt0.
  rewrite -exprM -mulNr addf_div ?gt_eqF ?addr_gt0 ?ltr01 ?pos //; congr (_ / _).
  by real_ring.
split=> //; rewrite eq_diff.
have u_gt0 : 0 < h - 1 by rewrite subr_gt0 expR_gt1 divr_gt0 ?ltr01 ?ltr0n.
have -> : 1 - h ^+ 2 + 4 * h ^+ 3 - 3 * h ^+ 4 + 2 * h ^+ 5 =
    3 + 8 * (h - 1) + 13 * (h - 1) ^+ 2 + 12 * (h - 1) ^+ 3 + 7 * (h - 1) ^+ 4 + 2 * (h - 1) ^+ 5.
  by real_ring.
by rewrite divr_gt0 ?mulr_gt0 ?addr_gt0 ?mulr_gt0 ?exprn_gt0 ?ltr0n ?ltr01.
Qed.

End Example.
