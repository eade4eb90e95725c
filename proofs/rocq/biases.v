(** T11 with finite biases: grouping slots by (row of E, bias) is enough for safety.

    A bias is a score that every input shares, so it can be read from one more position whose key and value never
    change: append the biases to E as a column and zeros to F. T11 for the longer sequence is then a sufficient
    criterion for the biased head. (It is necessary too when the biases are rational and e is the real exponential, by
    Lindemann–Weierstrass, which is not used here.)

    Glossary
      bias s                 a finite bias added to the score of slot s; slots outside S have bias minus infinity
      biased_head            the head with scores + biases
      biased_query_safe      inputs that agree on A give the same output
      biased_rows_cancel     (1) over the slots with E_s = a and bias beta
      biased_pairs_cancel    (2) over the pairs with E_s + E_u = c and biases that sum to beta

    Headline theorems:
      T11  biased_head_def   what the biased head computes; without biases it is head
      T11  biased_safe       (1) and (2) over the finer classes make the biased head safe

    Axioms: none. *)
From mathcomp Require Import all_ssreflect all_algebra.
From AttnProof Require Import independence causal_head exact.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Biased.

Variables (R : realFieldType) (e : R -> R) (scale : R) (r n d dv : nat) (E F : 'M[R]_(r, n)) (bias : 'I_r -> R).
Implicit Types (A : pred 'I_n) (S : pred 'I_r) (q : 'rV[R]_d) (K : 'M[R]_(n, d)) (V : 'M[R]_(n, dv)).

Definition biased_weights S q K : 'rV[R]_r :=
  \row_s (if S s then e (score scale E q K s + bias s) / \sum_(u | S u) e (score scale E q K u + bias u) else 0).

Definition biased_head S q K V : 'rV[R]_dv := biased_weights S q K *m (F *m V).

Definition biased_query_safe A S q := forall K K' V V',
  agree A K K' -> agree A V V' -> biased_head S q K V = biased_head S q K' V'.

Definition biased_rows_cancel A S := forall (a : 'rV[R]_n) beta j, ~~ A j ->
  \sum_(s | [&& S s, row s E == a & bias s == beta]) F s j = 0.

Definition biased_pairs_cancel A S := forall (c : 'rV[R]_n) beta j i, ~~ A j -> A i ->
  \sum_(p : 'I_r * 'I_r | [&& (p.1 < p.2)%N, S p.1, S p.2, row p.1 E + row p.2 E == c & bias p.1 + bias p.2 == beta])
    (E p.1 j - E p.2 j) * (F p.1 i - F p.2 i) = 0.

Lemma biased_head_def S q K V k : biased_head S q K V 0 k =
  (\sum_(s | S s) e (scale * (q *m (E *m K)^T) 0 s + bias s) * (F *m V) s k) /
  \sum_(s | S s) e (scale * (q *m (E *m K)^T) 0 s + bias s).
Proof.
rewrite /biased_head mxE mulr_suml [in RHS]big_mkcond; apply: eq_bigr => s _; rewrite mxE.
by case: ifP => _; rewrite ?mul0r // mulrAC.
Qed.

(** ** The longer sequence *)

Let longer_E : 'M[R]_(r, n + 1) := row_mx E (\matrix_(s, _) bias s).
Let longer_F : 'M[R]_(r, n + 1) := row_mx F 0.
Let longer_q q : 'rV[R]_(d + 1) := row_mx q 1%:M.
Let longer_K K : 'M[R]_(n + 1, d + 1) := block_mx K 0 0 (scale^-1)%:M.
Let longer_V V : 'M[R]_(n + 1, dv) := col_mx V 0.
Let longer_A A : pred 'I_(n + 1) := fun j => if split j is inl j' then A j' else true.

Lemma longer_score q K s : scale != 0 ->
  score scale longer_E (longer_q q) (longer_K K) s = score scale E q K s + bias s.
Proof.
move=> scale0; rewrite /score mul_row_block !mulmx0 addr0 add0r tr_row_mx mul_row_col mul1mx mxE mulrDr.
by congr (_ + _); rewrite mxE mul_mx_scalar !mxE mulrA mulfV // mul1r.
Qed.

Lemma longer_head S q K V : scale != 0 ->
  head e scale longer_E longer_F S (longer_q q) (longer_K K) (longer_V V) = biased_head S q K V.
Proof.
move=> scale0; apply/rowP => k; rewrite headE biased_head_def mul_row_col mul0mx addr0.
by congr (_ / _); apply: eq_bigr => s _; rewrite longer_score.
Qed.

Lemma longer_agree A d' (X Y : 'M[R]_(n, d')) (Z : 'M[R]_(1, d')) :
  agree A X Y -> agree (longer_A A) (col_mx X Z) (col_mx Y Z).
Proof.
move=> same j; rewrite /longer_A; case: split_ordP => j' -> => [/same|_]; last by rewrite !rowKd.
by rewrite !rowKu.
Qed.

Lemma longer_row s : row s longer_E = row_mx (row s E) (const_mx (bias s)).
Proof. by rewrite row_row_mx; congr row_mx; apply/rowP => j; rewrite !mxE. Qed.

Lemma longer_eq (x : 'rV[R]_n) beta (a : 'rV[R]_(n + 1)) :
  (row_mx x (const_mx beta) == a) = (x == lsubmx a) && (beta == rsubmx a 0 0).
Proof.
apply/eqP/andP => [<- | [/eqP -> /eqP ->]]; first by rewrite row_mxKl row_mxKr mxE !eqxx.
by rewrite -[RHS]hsubmxK; congr row_mx; apply/rowP => j; rewrite (ord1 j) mxE.
Qed.

Lemma longer_criterion A S : biased_rows_cancel A S -> biased_pairs_cancel A S ->
  exact_criterion longer_E longer_F (longer_A A) S.
Proof.
move=> rows pairs; split=> [a j | c j i].
  rewrite /longer_A; case: split_ordP => j' -> // forb.
  rewrite -[RHS](rows (lsubmx a) (rsubmx a 0 0) j' forb); apply: eq_big => [s | s _]; last by rewrite row_mxEl.
  by rewrite longer_row longer_eq.
rewrite /longer_A; case: split_ordP => j' -> // forb; case: split_ordP => i' -> all; last first.
  by rewrite big1 // => p _; rewrite !row_mxEr !mxE subrr mulr0.
rewrite -[RHS](pairs (lsubmx c) (rsubmx c 0 0) j' i' forb all); apply: eq_big => [p | p _]; last by rewrite !row_mxEl.
do 3!congr (_ && _); rewrite !longer_row add_row_mx -longer_eq; congr (row_mx _ _ == _).
by apply/rowP => k; rewrite !mxE.
Qed.

Theorem biased_safe A S q : exponential e -> scale != 0 -> (exists s, S s) ->
  biased_rows_cancel A S -> biased_pairs_cancel A S -> biased_query_safe A S q.
Proof.
move=> exp_e scale0 seen rows pairs K K' V V' sameK sameV; rewrite -!longer_head //.
apply: (safe_of_criterion exp_e scale _ (longer_criterion rows pairs) seen); last exact: longer_agree.
by rewrite /longer_K /block_mx; apply: longer_agree => j all; rewrite !row_row_mx sameK.
Qed.

End Biased.
