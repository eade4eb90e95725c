(** T2: averaging keys before exponentiation loses mass, before normalisation.

    Glossary
      R                the real numbers (any realType of MathComp-Analysis)
      x j              score of position j
      w j              weight of position j in a slot: w >= 0 with sum 1
      \sum_j w j * x j score of the slot, so expR of it is the mass that the slot carries before normalisation
      ln               the natural logarithm

    Headline theorems:
      T2  jensen_exp        exp (sum w x) <= sum w exp x
      T2  jensen_exp_eq     equality iff all x_j with w_j > 0 are equal
      T2  slot_mass_max     a slot carries at most max w of the mass that the positions carry
      T2  slot_mass_mean    a slot that averages m positions carries at most 1/m of it
      T2  slot_mass_log     with log m added to its score, at most all of it
      T2  example_mass      in the article's example 1 / (2 cosh 1/2) of the total

    Axioms: the three of MathComp-Analysis. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.classical Require Import classical_sets.
From mathcomp.analysis Require Import reals topology normedtype derive sequences exp.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.Theory.
Import numFieldNormedType.Exports.
Local Open Scope ring_scope.

Section Jensen.

Variable R : realType.

(** The tangent at 0 lies below the exponential and touches it only there: the mean value theorem. *)
Lemma expR_gt1Dx (x : R) : x != 0 -> 1 + x < expR x.
Proof.
have mean_value (a b : R) : a < b -> exists2 c, a < c < b & expR b - expR a = expR c * (b - a).
  move=> lt_ab; have derive t : t \in `]a, b[%R -> is_derive t 1 (@expR R) (expR t) by move=> _; exact: is_derive_expR.
  have cont : {within `[a, b]%classic, continuous (@expR R)}.
    by apply: continuous_subspaceT => t; exact: continuous_expR.
  have [c] := MVT lt_ab derive cont.
  by rewrite in_itv /= => c_in eq_c; exists c.
rewrite neq_lt => /orP[x_lt0|x_gt0].
  have [c /andP[_ c_lt0]] := mean_value x 0 x_lt0; rewrite expR0 sub0r => eq_c.
  have : 1 - expR x < - x by rewrite eq_c gtr_pmull ?oppr_gt0 // expR_lt1.
  by rewrite ltr_subl_addr addrC ltr_subr_addr.
have [c /andP[c_gt0 _]] := mean_value 0 x x_gt0; rewrite expR0 subr0 => eq_c.
by rewrite -ltr_subr_addl eq_c ltr_pmull // expR_gt1.
Qed.

Lemma expR_ge1Dx (x : R) : 1 + x <= expR x.
Proof. by have [->|/expR_gt1Dx/ltW//] := eqVneq x 0; rewrite expR0 addr0. Qed.

Section Slot.

Variables (n : nat) (w x : 'I_n -> R).
Hypothesis w_ge0 : forall j, 0 <= w j.

(** How much mass a position keeps beyond the tangent at the slot's score m. *)
Let gap m j := w j * (expR (x j - m) - (1 + (x j - m))).

Let gap_ge0 m j : 0 <= gap m j.
Proof. by rewrite mulr_ge0 // subr_ge0 expR_ge1Dx. Qed.

Hypothesis w_sum : \sum_j w j = 1.

Let m := \sum_j w j * x j.

Let jensen_gap : \sum_j w j * expR (x j) - expR m = expR m * \sum_j gap m j.
Proof.
have gapE j : gap m j = w j * expR (x j) / expR m - w j - (w j * x j - m * w j).
  by rewrite /gap expRB; rewrite mulrBr mulrDr mulr1 mulrBr mulrA opprD addrA [w j * m]mulrC.
rewrite (eq_bigr _ (fun j _ => gapE j)) !sumrB -mulr_suml -mulr_sumr w_sum mulr1 subrr subr0.
by rewrite mulrBr mulr1 mulrCA mulfV ?mulr1 // gt_eqF ?expR_gt0.
Qed.

Theorem jensen_exp : expR (\sum_j w j * x j) <= \sum_j w j * expR (x j).
Proof.
by rewrite -subr_ge0 jensen_gap mulr_ge0 ?(ltW (expR_gt0 _)) // sumr_ge0.
Qed.

Theorem jensen_exp_eq :
  expR (\sum_j w j * x j) = \sum_j w j * expR (x j) <->
  (forall i j, 0 < w i -> 0 < w j -> x i = x j).
Proof.
split=> [eq_masses | all_equal].
  have : \sum_j gap m j == 0.
    have /eqP := jensen_gap; rewrite -eq_masses subrr eq_sym mulf_eq0.
    by rewrite (gt_eqF (expR_gt0 _)).
  rewrite psumr_eq0 => [/allP gap0|j _]; last exact: gap_ge0.
  suff at_m j : 0 < w j -> x j = m by move=> i j /at_m-> /at_m->.
  move=> w_gt0; have := gap0 j (mem_index_enum j); rewrite /= mulf_eq0 (gt_eqF w_gt0) /= => /eqP tangent.
  have [/eqP|/expR_gt1Dx] := eqVneq (x j - m) 0; first by rewrite subr_eq0 => /eqP.
  by rewrite -subr_gt0 tangent ltxx.
have [i w_i] : exists i, 0 < w i.
  apply/existsP; apply: contra_eqT w_sum => /existsPn w_le0.
  rewrite big1 => [|j _]; first by rewrite eq_sym oner_neq0.
  by apply/eqP; rewrite eq_le w_ge0 leNgt w_le0.
have at_i (f : R -> R) : \sum_j w j * f (x j) = f (x i).
  rewrite -[RHS]mul1r -w_sum mulr_suml; apply: eq_bigr => j _.
  have [w_gt0|] := boolP (0 < w j); first by rewrite (all_equal j i).
  rewrite -leNgt => w_le0; have -> : w j = 0 by apply/eqP; rewrite eq_le w_le0 w_ge0.
  by rewrite !mul0r.
by rewrite (at_i id) (at_i expR).
Qed.

Theorem slot_mass_max wmax : (forall j, w j <= wmax) ->
  expR (\sum_j w j * x j) <= wmax * \sum_j expR (x j).
Proof.
move=> w_le; apply: (le_trans jensen_exp); rewrite mulr_sumr; apply: ler_sum => j _.
by rewrite ler_wpmul2r // ltW // expR_gt0.
Qed.

End Slot.

Theorem slot_mass_mean m (x : 'I_m.+1 -> R) :
  expR ((\sum_j x j) / m.+1%:R) <= (\sum_j expR (x j)) / m.+1%:R.
Proof.
have m_gt0 : 0 < m.+1%:R^-1 :> R by rewrite invr_gt0 ltr0n.
rewrite [X in expR X]mulrC [leRHS]mulrC mulr_sumr.
apply: (slot_mass_max (w := fun=> m.+1%:R^-1)) => // [j|]; first exact: ltW.
by rewrite sumr_const card_ord -(mulr_natr (_^-1)) mulVf // pnatr_eq0.
Qed.

Theorem slot_mass_log m (x : 'I_m.+1 -> R) :
  expR (ln m.+1%:R + (\sum_j x j) / m.+1%:R) <= \sum_j expR (x j).
Proof.
have m_gt0 : 0 < m.+1%:R :> R by rewrite ltr0n.
by rewrite expRD lnK ?posrE // mulrC -ler_pdivl_mulr // slot_mass_mean.
Qed.

(** Keys 1 and 2, averaged: the share of the total, and twice that, the share of the mean. *)
Theorem example_mass :
  expR ((1 + 2) / 2) / (expR 1 + expR 2) = (expR (1 / 2) + expR (- (1 / 2)))^-1 :> R.
Proof.
pose h : R := 1 / 2; have hh : h + h = 1 by rewrite -splitr.
have -> : (1 + 2) / 2 = h + 1 by rewrite mulrDl divff ?pnatr_eq0.
have -> : expR 1 + expR 2 = expR (h + 1) * (expR h + expR (- h)).
  rewrite mulrDr -!expRD addrC; congr (expR _ + expR _); first by rewrite addrAC hh.
  by rewrite addrAC subrr add0r.
rewrite invfM mulrA mulfV; first by rewrite [LHS]mul1r.
by rewrite gt_eqF ?expR_gt0.
Qed.

End Jensen.
