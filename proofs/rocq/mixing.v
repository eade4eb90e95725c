(** T4: the effective position mixing BF need not be a probability matrix.

    Glossary
      B                  slot weights, n x r
      F                  value projection along the sequence axis, r x m
      row_stochastic B   the entries of B are >= 0 and every row sums to 1
      positive B         the entries of B are > 0 (a softmax over finite scores is both)
      tilted s M         the row that gives slot s the weight M and each other slot 1, divided by the sum

    Headline theorems:
      T4  mixing_row_sum            (BF)1 = B(F1)
      T4  mixing_row_sums_iff       BF has row sums 1 for every row-stochastic B iff F has
      T4  mixing_nonneg_iff         BF >= 0 for every row-stochastic B with positive entries iff F >= 0
      T4  mixing_not_probability    for every row-stochastic B some F gives negative entries and other row sums
      T4  uniform_head_nonneg       for one fixed B, F >= 0 is not necessary

    Axioms: none. *)
From mathcomp Require Import all_ssreflect all_algebra.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Mixing.

Variable R : realFieldType.

Definition row_stochastic n r (B : 'M[R]_(n, r)) :=
  (forall i s, 0 <= B i s) /\ (forall i, \sum_s B i s = 1).

Definition positive n r (B : 'M[R]_(n, r)) := forall i s, 0 < B i s.

Theorem mixing_row_sum n m r (B : 'M[R]_(n, r)) (F : 'M[R]_(r, m)) i :
  \sum_j (B *m F) i j = \sum_s B i s * (\sum_j F s j).
Proof.
under eq_bigr do rewrite mxE.
by rewrite exchange_big; apply: eq_bigr => s _; rewrite mulr_sumr.
Qed.

Section Tilted.

Variables (n r : nat) (s : 'I_r) (M : R).
Hypothesis M_gt0 : 0 < M.

Definition tilted : 'M[R]_(n, r) := \matrix_(i, u) ((if u == s then M else 1) / (M + r.-1%:R)).

Let total_gt0 : 0 < M + r.-1%:R.
Proof. by rewrite ltr_paddr ?ler0n. Qed.

Lemma tilted_mean (f : 'I_r -> R) i :
  \sum_u tilted i u * f u = (M * f s + \sum_(u | u != s) f u) / (M + r.-1%:R).
Proof.
rewrite (bigD1 s) //= mxE eqxx mulrDl; congr (_ + _); first by rewrite mulrAC.
rewrite mulr_suml; apply: eq_bigr => u /negbTE neq_us.
by rewrite mxE neq_us mul1r mulrC.
Qed.

Lemma tilted_positive : positive tilted.
Proof. by move=> i u; rewrite mxE divr_gt0 ?total_gt0 //; case: ifP => _; rewrite ?ltr01. Qed.

Lemma tilted_stochastic : row_stochastic tilted.
Proof.
split=> [i u|i]; first exact/ltW/tilted_positive.
have -> : \sum_u tilted i u = \sum_u tilted i u * 1 by apply: eq_bigr => u _; rewrite mulr1.
rewrite (tilted_mean (fun=> 1)) mulr1 sumr_const cardC1 card_ord divff //.
by rewrite gt_eqF.
Qed.

End Tilted.

Theorem mixing_row_sums_iff n m r (F : 'M[R]_(r, m)) :
  (forall B : 'M[R]_(n.+1, r), row_stochastic B -> forall i, \sum_j (B *m F) i j = 1) <->
  (forall s, \sum_j F s j = 1).
Proof.
split=> [sum1 s|sum1 B [_ B1] i]; last first.
  by rewrite mixing_row_sum -(B1 i); apply: eq_bigr => s _; rewrite sum1 mulr1.
pose B : 'M[R]_(n.+1, r) := \matrix_(_, u) (u == s)%:R.
have B_stoch : row_stochastic B.
  split=> [i u|i]; first by rewrite mxE ler0n.
  by rewrite (bigD1 s) //= mxE eqxx big1 ?addr0 // => u /negbTE; rewrite mxE => ->.
rewrite -[RHS](sum1 B B_stoch ord0) mixing_row_sum [RHS](bigD1 s) //= mxE eqxx mul1r.
by rewrite [X in _ = _ + X]big1 ?addr0 // => u /negbTE; rewrite mxE => ->; rewrite mul0r.
Qed.

Theorem mixing_nonneg_iff n m r (F : 'M[R]_(r, m)) :
  (forall B : 'M[R]_(n.+1, r), row_stochastic B -> positive B -> forall i j, 0 <= (B *m F) i j) <->
  (forall s j, 0 <= F s j).
Proof.
split=> [BF_ge0 s j|F_ge0 B [B_ge0 _] _ i j]; last first.
  by rewrite mxE; apply: sumr_ge0 => s _; exact: mulr_ge0.
rewrite leNgt; apply/negP => Fsj_lt0.
pose rest := \sum_(u | u != s) F u j; pose M := 1 + `|rest| / - F s j.
have M_gt0 : 0 < M by rewrite ltr_paddr // divr_ge0 // oppr_ge0 ltW.
have := BF_ge0 (tilted n.+1 s M) (tilted_stochastic n.+1 s M_gt0) (tilted_positive s M_gt0) ord0 j.
rewrite mxE tilted_mean pmulr_lge0 ?invr_gt0 ?(ltr_paddr _ M_gt0) ?ler0n // leNgt => /negP; apply.
have -> : M * F s j = F s j - `|rest|.
  rewrite mulrDl mul1r invrN mulrN mulNr -mulrA mulVf ?mulr1 //.
  by rewrite lt_eqF.
by rewrite -addrA (le_lt_trans _ Fsj_lt0) // ger_addl addrC subr_le0 ler_norm.
Qed.

Theorem mixing_not_probability n m r (B : 'M[R]_(n, r)) :
  row_stochastic B ->
  exists F : 'M[R]_(r, m.+1), forall i, (forall j, (B *m F) i j < 0) /\ \sum_j (B *m F) i j != 1.
Proof.
move=> [_ B1]; exists (const_mx (- 1)) => i.
have BF j : (B *m const_mx (- 1) : 'M_(_, m.+1)) i j = - 1.
  by rewrite mxE -[RHS]mul1r -(B1 i) mulr_suml; apply: eq_bigr => s _; rewrite mxE.
split=> [j|]; first by rewrite BF oppr_lt0 ltr01.
under eq_bigr do rewrite BF.
rewrite sumr_const card_ord mulNrn; apply: contraTneq (ltr01 : 0 < 1 :> R) => <-.
by rewrite -leNgt oppr_le0 ler0n.
Qed.

(** With all scores equal (E = 0) the head only averages the slots, and the average may be nonnegative all the same. *)
Theorem uniform_head_nonneg n m :
  exists F : 'M[R]_(2, m.+1), (exists s j, F s j < 0) /\
    forall i j, 0 <= (const_mx 2^-1 *m F : 'M[R]_(n, m.+1)) i j.
Proof.
exists (\matrix_(s, _) if s == 0 then - 1 else 1); split.
  by exists 0, 0; rewrite mxE oppr_lt0 ltr01.
by move=> i j; rewrite mxE big_ord_recl big_ord1 !mxE mulrN addNr.
Qed.

End Mixing.
