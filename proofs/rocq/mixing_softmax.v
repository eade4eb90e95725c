(** T4 for one softmax head: with E = F its mixing is nonnegative for all inputs iff F is; with E = 0 it need not be.

    Glossary
      R                      the real numbers (any realType of MathComp-Analysis)
      head_weights a E q K   softmax (a q (E K)^T): the slot weights of one query, where a is the scale 1/sqrt d
      F                      value projection, r x n, used for the keys as well

    Headline theorems:
      T4  shared_head_nonneg_iff   softmax (a q (F K)^T) F >= 0 for all q and K iff F >= 0, when a <> 0
      T4  blind_head_uniform       with E = 0 every slot weight is 1/r

    Axioms: the three of MathComp-Analysis. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.analysis Require Import reals sequences exp.
From AttnProof Require Import softmax_det jensen.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Head.

Variable R : realType.

Definition head_weights n d r (a : R) (E : 'M[R]_(r, n)) (q : 'rV[R]_d) (K : 'M[R]_(n, d)) : 'rV[R]_r :=
  softmax (a *: (q *m (E *m K)^T)).

(** Scores that favour small numbers make the weighted sum negative as soon as one of the numbers is. *)
Lemma tilted_sum_lt0 r (f : 'I_r -> R) s : f s < 0 ->
  exists2 t, 0 <= t & \sum_u expR (- t * f u) * f u < 0.
Proof.
move=> fs_lt0; pose total := \sum_u `|f u|; pose t := total / f s ^+ 2.
have fs2_gt0 : 0 < f s ^+ 2 by rewrite lt_def sqrf_eq0 (lt_eqF fs_lt0) sqr_ge0.
have t_ge0 : 0 <= t by rewrite divr_ge0 ?(ltW fs2_gt0) // sumr_ge0.
exists t => //; rewrite (bigD1 s) //=.
have at_s : expR (- t * f s) * f s <= f s - total.
  have -> : f s - total = (1 + - t * f s) * f s.
    by rewrite mulrDl mul1r !mulNr -mulrA -expr2 divfK // gt_eqF.
  by rewrite ler_nmul2r // expR_ge1Dx.
have elsewhere : \sum_(u | u != s) expR (- t * f u) * f u <= total.
  apply: (@le_trans _ _ (\sum_(u | u != s) `|f u|)); last first.
    by rewrite /total [leRHS](bigD1 s) //= ler_addr.
  apply: ler_sum => u _; have [f_ge0|f_lt0] := leP 0 (f u).
    have le1 : expR (- t * f u) <= 1 by rewrite leNgt expR_gt1 -leNgt mulNr oppr_le0 mulr_ge0.
    by apply: le_trans (ler_norm _); rewrite -[leRHS]mul1r ler_wpmul2r.
  by apply: le_trans (normr_ge0 _); rewrite mulr_ge0_le0 ?(ltW f_lt0) // ltW ?expR_gt0.
by rewrite (le_lt_trans (ler_add at_s elsewhere)) // subrK.
Qed.

Theorem shared_head_nonneg_iff n d r (a : R) (F : 'M[R]_(r, n)) : a != 0 ->
  (forall (q : 'rV[R]_d.+1) (K : 'M[R]_(n, d.+1)) j, 0 <= (head_weights a F q K *m F) 0 j) <->
  (forall s j, 0 <= F s j).
Proof.
move=> a_neq0; split=> [nonneg s j | F_ge0 q K j]; last first.
  rewrite mxE; apply: sumr_ge0 => s _; rewrite mulr_ge0 ?F_ge0 // mxE.
  by rewrite divr_ge0 ?sumr_ge0 // => [|u _]; exact/ltW/expR_gt0.
rewrite leNgt; apply/negP => Fsj_lt0.
have [t _ negative] := @tilted_sum_lt0 r (fun u => F u j) s Fsj_lt0.
pose q : 'rV[R]_d.+1 := delta_mx 0 0; pose K : 'M[R]_(n, d.+1) := (- t / a) *: delta_mx j 0.
have scoreE u : (a *: (q *m (F *m K)^T)) 0 u = - t * F u j.
  have FK : (F *m K) u 0 = - t / a * F u j.
    rewrite -scalemxAr mxE mxE (bigD1 j) //= mxE !eqxx mulr1 big1 ?addr0 // => k /negbTE neq_kj.
    by rewrite mxE neq_kj mulr0.
  by rewrite mxE -rowE mxE mxE FK mulrA [a * _]mulrC divfK.
have := nonneg q K j; rewrite mxE leNgt => /negP; apply.
under eq_bigr do rewrite mxE scoreE mulrAC.
rewrite -mulr_suml pmulr_llt0 // invr_gt0.
rewrite (bigD1 s) //= ltr_paddr ?expR_gt0 // sumr_ge0 // => u _.
exact/ltW/expR_gt0.
Qed.

Theorem blind_head_uniform n d r (a : R) (q : 'rV[R]_d) (K : 'M[R]_(n, d)) :
  head_weights a (0 : 'M[R]_(r, n)) q K = const_mx r%:R^-1.
Proof.
apply/matrixP => i s; rewrite /head_weights mul0mx trmx0 mulmx0 scaler0 !mxE.
by under eq_bigr do rewrite mxE expR0; rewrite expR0 sumr_const card_ord mul1r.
Qed.

End Head.
