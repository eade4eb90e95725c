(** T12: every leak has a finite witness, and a finite search finds one.

    With d = dv = 1, q = 1 and scale 1 the keys are the scores of the positions, so a witness is a pair of columns of
    keys and a pair of columns of values. All inputs that the search tries are natural numbers: multiples m of a point
    (1, t, t^2, …) of the moment curve that separates what must be told apart. Trying multiples replaces the
    transcendence theorem (Lindemann–Weierstrass) that would make the first of them work for the real exponential.

    Glossary
      A, S              positions that the query may use, slots that it sees
      witness           keys, other keys, values, other values
      admissible w      both inputs agree on the positions of A
      refutes w         the two outputs differ; decidable in a real field, by evaluating the head
      row_time          the first t whose point separates the distinct rows of E
      step_time j       the first t whose point (kappa, delta) separates the classes of (2')
      candidates        the witnesses that the search tries: for (1) V = e_j against 0, for (2') a step of the score of
                        j with V = e_i
      find_witness      the first candidate that refutes

    Headline theorems:
      T12  output_def             the head at d = dv = 1, q = 1
      T12  find_witnessP          the search finds nothing iff the head is safe (iff T11's criterion holds)
      T12  find_witness_refutes   what it finds is admissible and refutes
      T12  witness_not_safe       an admissible refuting witness is a counterexample to safety
      T12  find_witness_natural   its keys are m t^k, or m t^k + m t^n at one position, with t <= (n+1) r^4 and m <= r^2

    Axioms: none. *)
From mathcomp Require Import all_ssreflect all_algebra.
From AttnProof Require Import independence causal_head exact.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** ((keys, other keys), (values, other values)) *)
Definition witness (R : ringType) n := (('cV[R]_n * 'cV[R]_n) * ('cV[R]_n * 'cV[R]_n))%type.
Notation keys w := (w.1.1).
Notation other_keys w := (w.1.2).
Notation values w := (w.2.1).
Notation other_values w := (w.2.2).

Section Search.

Variables (R : realFieldType) (e : R -> R) (r n : nat) (E F : 'M[R]_(r, n)) (A : pred 'I_n) (S : pred 'I_r).

(** The head at d = dv = 1, q = 1, scale 1. *)
Definition output (K V : 'cV[R]_n) : R := head e 1 E F S (1%:M : 'rV_1) K V 0 0.

Definition admissible (w : witness R n) :=
  agree A (keys w) (other_keys w) /\ agree A (values w) (other_values w).

Definition refutes (w : witness R n) := output (keys w) (values w) != output (other_keys w) (other_values w).

Lemma output_def K V :
  output K V = (\sum_(s | S s) e ((E *m K) s 0) * (F *m V) s 0) / \sum_(s | S s) e ((E *m K) s 0).
Proof.
have scores s : score 1 E (1%:M : 'rV_1) K s = (E *m K) s 0 by rewrite /score mul1r mul1mx [LHS]mxE.
by rewrite /output headE; congr (_ / _); apply: eq_bigr => s _; rewrite scores.
Qed.

(** ** The search *)

Definition first_separating (P : finType) N (a : P -> 'rV[R]_N) : nat :=
  find (fun t => separates a (moment N t%:R)) (iota 0 (N * #|P| ^ 2).+1).

Definition row_time := first_separating (fun s => row s E).
Definition step_time j := first_separating (@step_exponent R r n E j).

Definition value_candidate (j : 'I_n) (m : nat) : witness R n :=
  let K := m%:R *: moment n row_time%:R in ((K, K), (delta_mx j 0, 0)).

Definition key_candidate (j i : 'I_n) (m : nat) : witness R n :=
  let x := m%:R *: moment (n + 1) (step_time j)%:R in
  ((usubmx x, bump (usubmx x) j (dsubmx x 0 0)), (delta_mx i 0, delta_mx i 0)).

Definition candidates : seq (witness R n) :=
  [seq value_candidate j m | j <- [seq j <- enum 'I_n | ~~ A j], m <- iota 0 r] ++
  [seq key_candidate ji.1 ji.2 m |
    ji <- [seq ji <- enum [finType of 'I_n * 'I_n] | ~~ A ji.1 && A ji.2], m <- iota 0 (r * r)].

Definition find_witness : option (witness R n) := ohead [seq w <- candidates | refutes w].

(** ** It is right *)

Hypothesis exp_e : exponential e.
Hypothesis seen : exists s, S s.

Lemma first_separatingP (P : finType) N (a : P -> 'rV[R]_N) :
  (first_separating a <= N * #|P| ^ 2)%N /\ separates a (moment N (first_separating a)%:R).
Proof.
have found : has (fun t => separates a (moment N t%:R)) (iota 0 (N * #|P| ^ 2).+1).
  by have [t ltt sep] := separating_moment a; apply/hasP; exists t; rewrite // mem_iota.
split; first by rewrite -ltnS -[X in (_ < X)%N](size_iota 0) -has_find.
by have := nth_find 0%N found; rewrite nth_iota // -[X in (_ < X)%N](size_iota 0) -has_find.
Qed.

Lemma output_num K V : output K V = (\sum_i num e E F S K i * V i 0) / den e E S K.
Proof. by rewrite /output head_num /position_scores scale1r trmx1 mulmx1. Qed.

Lemma output_delta K i : output K (delta_mx i 0) = num e E F S K i / den e E S K.
Proof.
rewrite output_num (bigD1 i) //= big1 ?addr0 ?mxE ?eqxx ?mulr1 // => j neq.
by rewrite mxE (negPf neq) mulr0.
Qed.

Lemma output0 K : output K 0 = 0.
Proof. by rewrite output_num big1 ?mul0r // => i _; rewrite mxE mulr0. Qed.

Lemma den_neq0 K : den e E S K != 0.
Proof. by rewrite gt_eqF // den_gt0. Qed.

Lemma candidates_admissible w : w \in candidates -> admissible w.
Proof.
rewrite mem_cat => /orP[] /allpairsP[[j m] /=]; rewrite mem_filter => -[/andP[forb _] _ ->]; split=> //= l all.
- apply/rowP => k; rewrite (ord1 k) !mxE.
  by case: eqP => // lj; move: forb; rewrite -lj all.
- apply/rowP => k; rewrite (ord1 k) [LHS]mxE [RHS]mxE /bump [RHS]mxE.
  case/andP: forb => forb _; rewrite [X in _ + X]mxE [X in _ * X]mxE.
  by case: eqP => [lj | _]; [move: forb; rewrite -lj all | rewrite mulr0 addr0].
Qed.

Theorem exhausted_search : ~~ has refutes candidates -> exact_criterion E F A S.
Proof.
rewrite has_cat negb_or => /andP[no_value no_key]; split=> [a j forb|].
  apply/eqP; apply: contraNT no_value => class_neq0.
  have [_ sep] := first_separatingP (fun s => row s E).
  have [m ltm nz] := witness_multiple exp_e sep class_neq0.
  apply/hasP; exists (value_candidate j m).
    by apply/allpairsP; exists (j, m); rewrite mem_filter forb mem_enum mem_iota add0n -[X in (_ < X)%N]card_ord ltm.
  rewrite /refutes /= output0 output_delta mulf_eq0 invr_eq0 (negPf (den_neq0 _)) orbF.
  exact: nz.
apply/(pairs_cancel_steps exp_e) => c b j i forb all.
apply/eqP; apply: contraNT no_key => class_neq0.
have [_ sep] := first_separatingP (@step_exponent R r n E j).
have [|m ltm] := witness_multiple (Q := visible_pair S) (g := value_difference F i) exp_e sep
  (c := row_mx c (const_mx b)).
  by rewrite (eq_bigl _ _ (step_class E S j c b)).
rewrite -[X in expsum _ _ _ _ X]step_pointK -cross_expsum // subr_eq0 => nz.
apply/hasP; exists (key_candidate j i m).
  apply/allpairsP; exists ((j, i), m); rewrite mem_filter forb all mem_enum mem_iota add0n.
  by rewrite -[X in (_ < X * X)%N]card_ord -card_prod ltm.
by rewrite /refutes /= !output_delta eqr_div ?den_neq0.
Qed.

Theorem witness_not_safe w : admissible w -> refutes w -> ~ query_safe e 1 1 E F A S (1%:M : 'rV_1).
Proof.
move=> [sameK sameV] /eqP differ safe; apply: differ.
by rewrite /output; have /rowP/(_ 0) := safe _ _ _ _ sameK sameV.
Qed.

Lemma find_witness_candidate w : find_witness = Some w -> refutes w && (w \in candidates).
Proof.
rewrite /find_witness; case found: [seq _ <- _ | _] => [|w' l] //= [<-].
have : w' \in [seq w <- candidates | refutes w] by rewrite found mem_head.
by rewrite mem_filter.
Qed.

Theorem find_witness_refutes w : find_witness = Some w -> admissible w /\ refutes w.
Proof. by move/find_witness_candidate/andP => [ref /candidates_admissible]. Qed.

Theorem find_witnessP : find_witness = None <-> exact_criterion E F A S.
Proof.
split=> [none | crit].
  apply: exhausted_search; rewrite has_filter negbK.
  by move: none; rewrite /find_witness; case: [seq _ <- _ | _].
case found: find_witness => [w|] //; have [adm ref] := find_witness_refutes found.
by case: (witness_not_safe adm ref); apply: safe_of_criterion.
Qed.

Theorem candidates_natural w : w \in candidates ->
  exists t m i, [/\ (t <= n.+1 * r ^ 4)%N, (m <= r ^ 2)%N,
    forall k, keys w k 0 = (m * t ^ k)%:R /\
      (other_keys w k 0 = (m * t ^ k)%:R \/ other_keys w k 0 = (m * t ^ k + m * t ^ n)%:R) &
    values w = delta_mx i 0 /\ (other_values w = 0 \/ other_values w = delta_mx i 0)].
Proof.
have r_gt0 : (0 < r)%N by case: seen => s _; apply: leq_ltn_trans (ltn_ord s).
rewrite mem_cat => /orP[] /allpairsP[[j m] /=]; rewrite mem_iota add0n => -[_ /andP[_ ltm] ->].
  exists row_time, m, j; split=> [|||]; last by split=> //; left.
  - have [le _] := first_separatingP (fun s => row s E); apply: leq_trans le _.
    by rewrite card_ord leq_mul // ?leqnSn // leq_pexp2l.
  - by rewrite ltnW // (leq_trans ltm) // -mulnn leq_pmull.
  - by move=> k; rewrite /= !mxE natrM natrX; split=> //; left.
exists (step_time j.1), m, j.2; split=> [|||]; last by split=> //; right.
- have [le _] := first_separatingP (@step_exponent R r n E j.1); apply: leq_trans le _.
  by rewrite card_prod card_ord mulnn -expnM addn1.
- by rewrite -mulnn ltnW.
move=> k; rewrite /= /bump !mxE /= natrD !natrM !natrX addn0; split=> //.
by case: eqP => _; rewrite ?mulr1 ?mulr0 ?addr0; [right | left].
Qed.

Theorem find_witness_natural w : find_witness = Some w ->
  exists t m i, [/\ (t <= n.+1 * r ^ 4)%N, (m <= r ^ 2)%N,
    forall k, keys w k 0 = (m * t ^ k)%:R /\
      (other_keys w k 0 = (m * t ^ k)%:R \/ other_keys w k 0 = (m * t ^ k + m * t ^ n)%:R) &
    values w = delta_mx i 0 /\ (other_values w = 0 \/ other_values w = delta_mx i 0)].
Proof. by move/find_witness_candidate/andP => [_ /candidates_natural]. Qed.

End Search.
