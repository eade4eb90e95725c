(** T22: heads with keys of their own whose values are shared: what two of them leak can cancel.

    Glossary (see causal_head.v, exact.v)
      w h                what the output projection gives head h in one coordinate of the output
      mean h j           what the slots of head h with equal rows of E carry of position j, on average

    Headline theorem:
      T22  shared_values_exact   safe iff every head that w reads satisfies (2), has means that do not depend on the
                                 row, and these cancel

    Axioms: none. *)
From mathcomp Require Import all_ssreflect all_algebra.
From AttnProof Require Import independence causal_head exact.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section SharedValues.

Variables (R : realFieldType) (e : R -> R).
Hypothesis exp_e : exponential e.
Variables (scale : R) (H r n d : nat).
Variables (E F : 'I_H -> 'M[R]_(r, n)) (A : pred 'I_n) (S : 'I_H -> pred 'I_r) (q : 'I_H -> 'rV[R]_d) (w : 'I_H -> R).
Hypotheses (scale0 : scale != 0) (q0 : forall h, q h != 0) (seen : forall h, exists s, S h s).

Definition shared_values_safe := forall (K K' : 'I_H -> 'M[R]_(n, d)) (V V' : 'cV[R]_n),
  (forall h, agree A (K h) (K' h)) -> agree A V V' ->
  \sum_h w h * head e scale (E h) (F h) (S h) (q h) (K h) V 0 0 =
  \sum_h w h * head e scale (E h) (F h) (S h) (q h) (K' h) V' 0 0.

Let share h kappa i := num e (E h) (F h) (S h) kappa i / den e (E h) (S h) kappa.

Let den0 h kappa : den e (E h) (S h) kappa != 0.
Proof. by rewrite gt_eqF //; apply: den_gt0. Qed.

(** F without what it reads of forbidden positions: (2) does not look there. *)
Let allowed_part h : 'M[R]_(r, n) := \matrix_(s, i) if A i then F h s i else 0.

Let part_num h kappa i : A i -> num e (E h) (allowed_part h) (S h) kappa i = num e (E h) (F h) (S h) kappa i.
Proof. by move=> all; apply: eq_bigr => s _; rewrite mxE all. Qed.

Let part_rows h : rows_cancel (E h) (allowed_part h) A (S h).
Proof. by move=> a j /negPf forb; rewrite big1 // => s _; rewrite mxE forb. Qed.

Let part_pairs h : pairs_cancel (E h) (allowed_part h) A (S h) <-> pairs_cancel (E h) (F h) A (S h).
Proof.
by split=> zero c j i forb all; rewrite -[RHS](zero c j i forb all); apply: eq_bigr => s _; rewrite !mxE all.
Qed.

Let means_num h g : (forall (a : 'rV[R]_n), \sum_(s | S h s && (row s (E h) == a)) (F h s g.1 - g.2) = 0) <->
  forall kappa, share h kappa g.1 = g.2.
Proof.
rewrite -(independence exp_e); split=> zero kappa; have := zero kappa.
  rewrite /expsum (eq_bigr _ (fun s _ => mulrBl _ _ _)) sumrB -mulr_sumr => /eqP.
  by rewrite subr_eq0 => /eqP same; apply: (mulIf (den0 h kappa)); rewrite /share divfK.
rewrite /expsum (eq_bigr _ (fun s _ => mulrBl _ _ _)) sumrB -mulr_sumr; move/(congr1 ( *%R^~ (den e (E h) (S h) kappa))).
by rewrite /share divfK // /num /den => ->; rewrite subrr.
Qed.

Let keys_for kappa h : exists K : 'M[R]_(n, d), position_scores scale (q h) K = kappa /\
  forall j delta, exists2 K', position_scores scale (q h) K' = bump kappa j delta & forall i, i != j -> row i K = row i K'.
Proof.
have /existsP[l ql0] : [exists l, q h 0 l != 0].
  apply: contraNT (q0 h); rewrite negb_exists => /forallP zero; apply/eqP/rowP => l; rewrite mxE.
  by apply/eqP; have := zero l; rewrite negbK.
exists (keys_of scale (q h) l kappa); split; first exact: position_scores_keys.
move=> j delta; exists (keys_of scale (q h) l (bump kappa j delta)); first exact: position_scores_keys.
by move=> i neq; apply/rowP => k; rewrite !mxE !big_ord1 !mxE (negPf neq) mulr0 addr0.
Qed.

Let head_share h K (V : 'cV[R]_n) : head e scale (E h) (F h) (S h) (q h) K V 0 0 =
  \sum_i share h (position_scores scale (q h) K) i * V i 0.
Proof. by rewrite head_num mulr_suml; apply: eq_bigr => i _; rewrite mulrAC. Qed.

Let one h K i : head e scale (E h) (F h) (S h) (q h) K (delta_mx i 0 : 'cV[R]_n) 0 0 =
  share h (position_scores scale (q h) K) i.
Proof.
rewrite head_share (bigD1 i) //= big1 ?addr0 ?mxE ?eqxx ?mulr1 // => j neq.
by rewrite mxE (negPf neq) mulr0.
Qed.

Theorem shared_values_exact : shared_values_safe <->
  (forall h, w h != 0 -> pairs_cancel (E h) (F h) A (S h)) /\
  exists mean : 'I_H -> 'I_n -> R,
    (forall h, w h != 0 -> forall (a : 'rV[R]_n) j, ~~ A j ->
       \sum_(s | S h s && (row s (E h) == a)) (F h s j - mean h j) = 0) /\
    (forall j, ~~ A j -> \sum_h w h * mean h j = 0).
Proof.
split=> [safe | [pairs [mean [means zero]]] K K' V V' sameK sameV]; last first.
  rewrite !(eq_bigr _ (fun h _ => congr1 ( *%R (w h)) (head_share h _ _))).
  rewrite !(eq_bigr _ (fun h _ => mulr_sumr _ _ _ _)) [LHS]exchange_big [RHS]exchange_big; apply: eq_bigr => i _ /=.
  have [all | forb] := boolP (A i); last first.
    have gone (L : 'I_H -> 'M[R]_(n, d)) x : \sum_h w h * (share h (position_scores scale (q h) (L h)) i * x) = 0.
      transitivity ((\sum_h w h * mean h i) * x); last by rewrite zero ?mul0r.
      rewrite mulr_suml; apply: eq_bigr => h _; rewrite mulrA; congr (_ * _).
      have [-> | wh] := eqVneq (w h) 0; first by rewrite !mul0r.
      by congr (_ * _); apply: (means_num h (i, mean h i)).1 => a; exact: means.
    by rewrite !gone.
  have -> : V i 0 = V' i 0 by have /rowP/(_ 0) := sameV i all; rewrite !mxE.
  apply: eq_bigr => h _; have [-> | wh] := eqVneq (w h) 0; first by rewrite !mul0r.
  congr (_ * (_ * _)); rewrite /share -!part_num //; apply: (coefficient_safe exp_e (A := A)) => //.
    apply: proj2; apply/(exact_criterion_num exp_e).
    by split; [exact: part_rows | by apply/part_pairs; exact: pairs].
  move=> j allj; have /rowP row_j := sameK h j allj; rewrite !mxE; congr (_ * _).
  by apply: eq_bigr => l _; have := row_j l; rewrite !mxE => ->.
have step h kappa j delta i : w h != 0 -> ~~ A j -> A i -> share h kappa i = share h (bump kappa j delta) i.
  move=> wh forb all; have [K [scoresK step]] := keys_for kappa h; have [K' scoresK' sameK] := step j delta.
  pose Ks (L : 'M[R]_(n, d)) g := if g == h then L else 0.
  have sameKs g : agree A (Ks K g) (Ks K' g).
    rewrite /Ks; case: eqP => // _ l alll; apply: sameK; by apply: contraNneq forb => <-.
  have := safe _ _ (delta_mx i 0) _ sameKs (fun _ _ => erefl).
  rewrite (bigD1 h) //= [RHS](bigD1 h) //= /Ks eqxx !one scoresK scoresK'.
  rewrite [X in _ + X = _ -> _](eq_bigr (fun g => w g * share g (position_scores scale (q g) 0) i)); last first.
    by move=> g /negPf neq; rewrite neq one.
  rewrite [X in _ = _ + X -> _](eq_bigr (fun g => w g * share g (position_scores scale (q g) 0) i)); last first.
    by move=> g /negPf neq; rewrite neq one.
  by move/addIr/(mulfI wh).
have total (K : 'I_H -> 'M[R]_(n, d)) j : ~~ A j -> \sum_h w h * share h (position_scores scale (q h) (K h)) j = 0.
  move=> forb; have same0 : agree A (delta_mx j 0 : 'cV[R]_n) 0.
    move=> i all; apply/rowP => l; rewrite !mxE; case: eqP => // same; by move: forb; rewrite -same all.
  transitivity (\sum_h w h * head e scale (E h) (F h) (S h) (q h) (K h) (delta_mx j 0 : 'cV[R]_n) 0 0).
    by apply: eq_bigr => h _; rewrite one.
  rewrite (safe K K _ 0 (fun _ _ _ => erefl) same0) big1 // => h _.
  by rewrite head_share big1 ?mulr0 // => i _; rewrite mxE mulr0.
split=> [h wh | ].
  apply/part_pairs; have [] // : exact_criterion (E h) (allowed_part h) A (S h).
  apply/(exact_criterion_num exp_e); split; first by apply/(rows_cancel_num exp_e)/part_rows.
  move=> kappa delta j i forb all; rewrite !part_num //; apply/eqP; rewrite -eqr_div //; apply/eqP.
  exact: step.
exists (fun h j => share h (position_scores scale (q h) 0) j); split=> [h wh a j forb | j forb]; last exact: (total (fun=> 0)).
apply: (means_num h (j, _)).2 => kappa /=.
have [K [scoresK _]] := keys_for kappa h; pose Ks g := if g == h then K else 0.
have := total Ks j forb; rewrite -[RHS](total (fun=> 0) j forb) (bigD1 h) //= [RHS](bigD1 h) //= /Ks eqxx scoresK.
rewrite (eq_bigr (fun g => w g * share g (position_scores scale (q g) 0) j)) => [|g /negPf -> //].
by move/addIr/(mulfI wh).
Qed.

End SharedValues.
