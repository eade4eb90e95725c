(** T11 with finite biases, both ways: for given biases a head is safe iff the sums of the criterion vanish with each slot
    counted e(bias) times. (biases.v has what suffices for all multiples of the biases at once.)

    Glossary (see exact.v and biases.v)
      weighted_rows      (1): over equal rows of E
      weighted_steps     (2'): over ordered pairs of slots with equal sums of rows and equal E[u, j]

    Headline theorem:
      T11  biased_exact

    Axioms: none. *)
From mathcomp Require Import all_ssreflect all_algebra.
From AttnProof Require Import independence causal_head exact biases.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section BiasedExact.

Variables (R : realFieldType) (e : R -> R).
Hypothesis exp_e : exponential e.
Variables (r n : nat) (E F : 'M[R]_(r, n)) (bias : 'I_r -> R) (A : pred 'I_n) (S : pred 'I_r).

Definition weighted_rows := forall (a : 'rV[R]_n) j, ~~ A j ->
  \sum_(s | S s && (row s E == a)) e (bias s) * F s j = 0.

Definition weighted_steps := forall (c : 'rV[R]_n) (b : R) j i, ~~ A j -> A i ->
  \sum_(p : 'I_r * 'I_r | [&& S p.1, S p.2, row p.1 E + row p.2 E == c & E p.2 j == b])
    e (bias p.1 + bias p.2) * (F p.1 i - F p.2 i) = 0.

Let num (kappa : 'cV[R]_n) i := \sum_(s | S s) F s i * e (dot kappa (row s E) + bias s).
Let den (kappa : 'cV[R]_n) := \sum_(s | S s) e (dot kappa (row s E) + bias s).

Lemma den_pos kappa : (exists s, S s) -> 0 < den kappa.
Proof.
case=> s Ss; rewrite /den (bigD1 s) //= ltr_paddr ?(exponential_gt0 exp_e) //.
by apply: sumr_ge0 => u _; apply/ltW/exponential_gt0.
Qed.

Lemma rows_num : weighted_rows <-> forall kappa j, ~~ A j -> num kappa j = 0.
Proof.
have numE kappa j : num kappa j = \sum_(s | S s) (e (bias s) * F s j) * e ((row s E *m kappa) 0 0).
  by apply: eq_bigr => s _; rewrite (exponentialD exp_e) [e _ * e _]mulrC mulrA [F _ _ * _]mulrC.
split=> [rows kappa j forb | num0 a j forb].
  by rewrite numE; apply: (independence exp_e S (fun s => row s E) (fun s => e (bias s) * F s j)).2 => a; apply: rows.
apply: (independence exp_e S (fun s => row s E) (fun s => e (bias s) * F s j)).1 => kappa; rewrite -[RHS](num0 kappa j forb).
by rewrite numE.
Qed.

Lemma cross_biased kappa delta j i :
  num kappa i * den (bump kappa j delta) - num (bump kappa j delta) i * den kappa =
  expsum e (visible_pair S) (step_exponent E j) (fun p => e (bias p.1 + bias p.2) * value_difference F i p)
    (step_point kappa delta).
Proof.
rewrite [_ (bump _ _ _) i * _]mulrC !big_distrlr -sumrB /= /expsum -(pair_big S S (fun s u =>
  e (bias s + bias u) * (F s i - F u i) * e (dot (step_point kappa delta) (step_exponent E j (s, u))))) /=.
apply: eq_bigr => s _; rewrite -sumrB; apply: eq_bigr => u _.
rewrite dot_step_point dot_bump /= dot_add; set x := dot _ (row s E); set y := dot _ (row u E).
have -> : e (bias s + bias u) * (F s i - F u i) * e (x + y + E u j * delta) =
    (F s i - F u i) * (e (x + bias s) * e (y + E u j * delta + bias u)).
  by rewrite -[in RHS](exponentialD exp_e) [in RHS]addrACA [in RHS](exponentialD exp_e) [x + (y + _)]addrA [RHS]mulrCA [RHS]mulrC [_ * e (bias s + _)]mulrC.
by rewrite mulrBl; congr (_ - _); [rewrite mulrA | rewrite mulrCA].
Qed.

Lemma weighted_steps_num : weighted_steps <->
  forall kappa delta j i, ~~ A j -> A i -> num kappa i * den (bump kappa j delta) = num (bump kappa j delta) i * den kappa.
Proof.
split=> [steps kappa delta j i forb all | cross c b j i forb all].
  apply/eqP; rewrite -subr_eq0 cross_biased; apply/eqP; move: (step_point _ _).
  apply/(independence exp_e) => c; rewrite -[RHS](steps (lsubmx c) (rsubmx c 0 0) j i forb all).
  apply: eq_bigl => p; rewrite -step_class; congr (_ && (_ == _)); apply: etrans (esym (hsubmxK c)) _; congr row_mx.
  by apply/matrixP => x y; rewrite !ord1 [RHS]mxE.
have vanish x : expsum e (visible_pair S) (step_exponent E j) (fun p => e (bias p.1 + bias p.2) * value_difference F i p) x = 0.
  by rewrite -[x]step_pointK -cross_biased cross // subrr.
rewrite -[RHS]((independence exp_e _ _ _).1 vanish (row_mx c (const_mx b))).
by apply: eq_bigl => p; rewrite step_class.
Qed.

Section Head.

Variables (scale : R) (d dv : nat).
Notation biased_head := (biased_head e scale E F bias S).

Lemma biased_num (q : 'rV[R]_d) (K : 'M[R]_(n, d)) (V : 'M[R]_(n, dv)) k :
  biased_head q K V 0 k = (\sum_i num (position_scores scale q K) i * V i k) / den (position_scores scale q K).
Proof.
rewrite biased_head_def; congr (_ / _); last by apply: eq_bigr => s _; rewrite -scoreE.
under eq_bigr do rewrite [(F *m V) _ _]mxE mulr_sumr.
rewrite exchange_big; apply: eq_bigr => i _; rewrite /num mulr_suml; apply: eq_bigr => s _.
by rewrite -scoreE mulrCA mulrA.
Qed.

(** Forbidden scores can be moved one at a time. *)
Lemma biased_coefficient (kappa kappa' : 'cV[R]_n) i :
  (forall kappa delta j i, ~~ A j -> A i -> num kappa i * den (bump kappa j delta) = num (bump kappa j delta) i * den kappa) ->
  (exists s, S s) -> A i -> (forall j, A j -> kappa j 0 = kappa' j 0) -> num kappa i / den kappa = num kappa' i / den kappa'.
Proof.
move=> cross seen all same.
pose mixed k : 'cV[R]_n := \col_j (if (j < k)%N then kappa' j 0 else kappa j 0).
have den_neq0 x : den x != 0 by rewrite gt_eqF // den_pos.
have mixed_step (k : 'I_n) : mixed k.+1 = bump (mixed k) k (kappa' k 0 - kappa k 0).
  apply/matrixP => j y; rewrite (ord1 y) !mxE eqxx andbT ltnS leq_eqVlt.
  have [-> | neq] := eqVneq j k; first by rewrite eqxx ltnn mulr1 addrC subrK.
  by rewrite (negPf (neq : (j : nat) != k)) mulr0 addr0.
have path k : (k <= n)%N -> num (mixed k) i / den (mixed k) = num kappa i / den kappa.
  elim: k => [_ | k IH ltkn].
    by rewrite (_ : mixed 0%N = kappa) //; apply/matrixP => j y; rewrite (ord1 y) mxE.
  rewrite -IH 1?ltnW // (mixed_step (Ordinal ltkn)) /=.
  have [allk | forb] := boolP (A (Ordinal ltkn)); first by rewrite same // subrr /bump scale0r addr0.
  by apply/eqP; rewrite eqr_div //; apply/eqP; rewrite cross.
rewrite -(path n) // (_ : mixed n = kappa') //.
by apply/matrixP => j y; rewrite (ord1 y) mxE ltn_ord.
Qed.

Theorem biased_exact (q : 'rV[R]_d) : scale != 0 -> q != 0 -> (0 < dv)%N -> (exists s, S s) ->
  biased_query_safe e scale dv E F bias A S q <-> weighted_rows /\ weighted_steps.
Proof.
move=> scale0 q0 dv_gt0 seen; rewrite rows_num weighted_steps_num; have den_neq0 x : den x != 0 by rewrite gt_eqF // den_pos.
split=> [safe | [num0 cross] K K' V V' sameK sameV].
  have [l ql0] := query_coordinate q0; pose k0 : 'I_dv := Ordinal dv_gt0.
  have one i kappa : biased_head q (keys_of scale q l kappa) (delta_mx i k0) 0 k0 = num kappa i / den kappa.
    rewrite biased_num position_scores_keys // (bigD1 i) //= big1 ?addr0 ?mxE ?eqxx ?mulr1 // => j neq.
    by rewrite mxE (negPf neq) mulr0.
  split=> [kappa j forb | kappa delta j i forb all].
    have agreeV : agree A (delta_mx j k0 : 'M[R]_(n, dv)) 0.
      move=> i all; apply/rowP => k; rewrite !mxE.
      by case: eqP => // same; move: forb; rewrite -same all.
    have /rowP/(_ k0) := safe (keys_of scale q l kappa) _ _ _ (fun _ _ => erefl) agreeV.
    rewrite one biased_num [X in _ = X / _]big1 ?mul0r => [/eqP | i _]; last by rewrite mxE mulr0.
    by rewrite mulf_eq0 invr_eq0 (negPf (den_neq0 _)) orbF => /eqP.
  have agreeK : agree A (keys_of scale q l kappa) (keys_of scale q l (bump kappa j delta)).
    move=> i' all'; apply/rowP => k; rewrite !mxE !big_ord1 !mxE; congr (_ * (_ * _)).
    by case: eqP => [same | _]; [move: forb; rewrite -same all' | rewrite mulr0 addr0].
  have /rowP/(_ k0) := safe _ _ (delta_mx i k0) _ agreeK (fun _ _ => erefl).
  by rewrite !one => /eqP; rewrite eqr_div // => /eqP.
apply/rowP => k; rewrite !biased_num !mulr_suml; apply: eq_bigr => i _.
have [all | forb] := boolP (A i); last by rewrite !num0 // !mul0r.
have -> : V i k = V' i k by have /rowP/(_ k) := sameV i all; rewrite !mxE.
rewrite mulrAC [RHS]mulrAC; congr (_ * _); apply: biased_coefficient => // j allj.
have /rowP row_j := sameK j allj; rewrite !mxE; congr (_ * _).
by apply: eq_bigr => l _; have := row_j l; rewrite !mxE => ->.
Qed.

End Head.

End BiasedExact.
