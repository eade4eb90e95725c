(** The checker that is itself proved: T10 and T11 as functions on rational matrices, which run by vm_compute or extracted.

    Glossary
      n, r, m           positions, slots, queries (natural numbers)
      E, F              projections as lists of r rows of n rationals (Q); a missing entry reads as 0
      allowed, visible  m rows of booleans: the positions that a query may use, the slots that it sees; missing is false
      slots, forbidden, permitted    the indices that a row of booleans shows or does not show
      support_query, exact_query     the criterion at one query
      support_safe, exact_safe       the criterion at every query
      to_matrix, to_relation         what the lists mean: a matrix over the real field R, a relation on indices

    Headline theorems:
      T10  support_safe_sound  support_safe … = true implies that the softmax head is prefix-safe
      T10  support_safeP       support_safe … = true iff the support condition holds
      T11  exact_safeP         exact_safe … = true iff the softmax head is prefix-safe
      T11  support_safe_exact  support_safe … = true implies exact_safe … = true

    The heads are those of causal_head.v over any real field with any exponential; exact_reals.v puts in the real one.
    Axioms: none. *)
From Coq Require Import ZArith QArith.
From mathcomp Require Import all_ssreflect all_algebra.
From AttnProof Require Import independence causal_head support exact rationals.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** ** The functions *)

Notation rows := (seq (seq Q)).
Notation bits := (seq (seq bool)).

Definition row_of T (M : seq (seq T)) (s : nat) : seq T := nth [::] M s.
Definition entry (M : rows) (s j : nat) : Q := nth (Qmake Z0 xH) (row_of M s) j.

(** The r x n matrix, missing entries filled in. *)
Definition filled (r n : nat) (M : rows) : rows := mkseq (fun s => mkseq (entry M s) n) r.

Definition indices (k : nat) (b : seq bool) : seq nat := [seq i <- iota 0 k | nth false b i].
Definition other_indices (k : nat) (b : seq bool) : seq nat := [seq i <- iota 0 k | ~~ nth false b i].

Fixpoint same_row (x y : seq Q) : bool :=
  match x, y with
  | a :: x, b :: y => qeq a b && same_row x y
  | [::], [::] => true
  | _, _ => false
  end.

Fixpoint add_rows (x y : seq Q) : seq Q :=
  match x, y with
  | a :: x, b :: y => qadd a b :: add_rows x y
  | _, _ => [::]
  end.

Definition support_query (r n : nat) (E F : rows) (A S : seq bool) : bool :=
  let slots := indices r S in
  all (fun j => all (fun s => qzero (entry E s j) && qzero (entry F s j)) slots) (other_indices n A).

(** (1): sum the rows of F over every class of equal rows of E. *)
Definition rows_query (E F : rows) (slots forbidden : seq nat) : bool :=
  all (fun s =>
    let cls := [seq u <- slots | same_row (row_of E u) (row_of E s)] in
    all (fun j => qzero (qsum [seq entry F u j | u <- cls])) forbidden) slots.

(** (2): sum the products of differences over every class of pairs with equal sums. *)
Definition pairs_of (slots : seq nat) : seq (nat * nat) :=
  [seq (s, u) | s <- slots, u <- [seq u <- slots | (s < u)%N]].

Definition pair_term (E F : rows) (j i : nat) (p : nat * nat) : Q :=
  qmul (qsub (entry E p.1 j) (entry E p.2 j)) (qsub (entry F p.1 i) (entry F p.2 i)).

Definition pair_sum (E : rows) (p : nat * nat) : seq Q := add_rows (row_of E p.1) (row_of E p.2).

Definition pairs_query (E F : rows) (slots forbidden permitted : seq nat) : bool :=
  let pairs := [seq (p, pair_sum E p) | p <- pairs_of slots] in
  all (fun p =>
    let cls := [seq p'.1 | p' <- pairs & same_row p'.2 p.2] in
    all (fun j => all (fun i => qzero (qsum [seq pair_term E F j i p' | p' <- cls])) permitted) forbidden) pairs.

Definition exact_query (r n : nat) (E F : rows) (A S : seq bool) : bool :=
  let slots := indices r S in
  let forbidden := other_indices n A in
  let permitted := indices n A in
  rows_query E F slots forbidden && pairs_query E F slots forbidden permitted.

Definition every_query (m : nat) (check : seq bool -> seq bool -> bool) (allowed visible : bits) : bool :=
  all (fun t => check (row_of allowed t) (row_of visible t)) (iota 0 m).

Definition support_safe (r n m : nat) (E F : rows) (allowed visible : bits) : bool :=
  every_query m (support_query r n (filled r n E) (filled r n F)) allowed visible.

Definition exact_safe (r n m : nat) (E F : rows) (allowed visible : bits) : bool :=
  every_query m (exact_query r n (filled r n E) (filled r n F)) allowed visible.

(** ** What they decide *)

Definition to_matrix (R : numFieldType) r n (M : rows) : 'M[R]_(r, n) := \matrix_(s, j) of_Q R (entry M s j).

Definition to_relation m k (b : bits) : 'I_m -> pred 'I_k := fun t i => nth false (row_of b t) i.

Section Queries.

Variables (R : realFieldType) (r n : nat).
Implicit Types (M E F : rows) (A S : seq bool).

Lemma entry_filled M (s : 'I_r) (j : 'I_n) : entry (filled r n M) s j = entry M s j.
Proof. by rewrite /entry /row_of /filled nth_mkseq // nth_mkseq. Qed.

Lemma to_matrix_filled M : to_matrix R r n (filled r n M) = to_matrix R r n M.
Proof. by apply/matrixP => s j; rewrite !mxE entry_filled. Qed.

Lemma row_of_filled M (s : 'I_r) : row_of (filled r n M) s = mkseq (entry M s) n.
Proof. by rewrite /row_of /filled nth_mkseq. Qed.

Lemma all_other k b (P : pred nat) :
  reflect (forall i : 'I_k, ~~ nth false b i -> P i) (all P (other_indices k b)).
Proof.
apply: (iffP allP) => [each i forb | each i].
  by apply: each; rewrite mem_filter forb mem_iota ltn_ord.
by rewrite mem_filter mem_iota add0n => /andP[forb /= lt]; apply: (each (Ordinal lt)).
Qed.

Lemma all_indices k b (P : pred nat) :
  reflect (forall i : 'I_k, nth false b i -> P i) (all P (indices k b)).
Proof.
apply: (iffP allP) => [each i forb | each i].
  by apply: each; rewrite mem_filter forb mem_iota ltn_ord.
by rewrite mem_filter mem_iota add0n => /andP[forb /= lt]; apply: (each (Ordinal lt)).
Qed.

Lemma sum_indices k b (P : pred nat) (f : nat -> R) :
  \sum_(i <- indices k b | P i) f i = \sum_(i < k | nth false b i && P i) f i.
Proof. by rewrite big_filter_cond (_ : iota 0 k = index_iota 0 k) ?big_mkord // /index_iota subn0. Qed.

Lemma same_row_mkseq (f g : nat -> Q) :
  same_row (mkseq f n) (mkseq g n) = ((\row_(j < n) of_Q R (f j)) == \row_(j < n) of_Q R (g j)).
Proof.
rewrite (_ : same_row _ _ = all (fun j => qeq (f j) (g j)) (iota 0 n)); last first.
  by rewrite /mkseq; elim: (iota 0 n) => //= j l ->.
apply/allP/eqP => [same | /rowP same j].
  apply/rowP => j; rewrite !mxE; apply/eqP; rewrite of_Q_eq; apply: same.
  by rewrite mem_iota ltn_ord.
rewrite mem_iota add0n => /= lt; rewrite -(of_Q_eq R).
by have := same (Ordinal lt); rewrite !mxE => ->.
Qed.

Lemma add_rows_mkseq (f g : nat -> Q) : add_rows (mkseq f n) (mkseq g n) = mkseq (fun j => qadd (f j) (g j)) n.
Proof. by rewrite /mkseq; elim: (iota 0 n) => //= j l ->. Qed.

Lemma row_to_matrix M s : row s (to_matrix R r n M) = \row_j of_Q R (entry M s j).
Proof. by apply/rowP => j; rewrite !mxE. Qed.

Lemma pair_sum_filled M (s u : 'I_r) (s' u' : 'I_r) :
  same_row (pair_sum (filled r n M) (s : nat, u : nat)) (pair_sum (filled r n M) (s' : nat, u' : nat)) =
  (row s (to_matrix R r n M) + row u (to_matrix R r n M) == row s' (to_matrix R r n M) + row u' (to_matrix R r n M)).
Proof.
rewrite /pair_sum /= !row_of_filled !add_rows_mkseq same_row_mkseq !row_to_matrix.
by congr (_ == _); apply/rowP => j; rewrite !mxE of_Q_add.
Qed.

Lemma support_queryP E F A S :
  reflect (supported (to_matrix R r n E) (to_matrix R r n F) (nth false A) (nth false S))
          (support_query r n (filled r n E) (filled r n F) A S).
Proof.
apply: (iffP (all_other _ _ _)) => [each s j Ss forb | each j forb].
  have /all_indices/(_ s Ss)/andP[] := each j forb.
  by rewrite !entry_filled -!(of_Q_eq0 R) => /eqP zE /eqP zF; rewrite !mxE.
apply/all_indices => s Ss; rewrite !entry_filled -!(of_Q_eq0 R).
by have [zE zF] := each s j Ss forb; move: zE zF; rewrite !mxE => -> ->; rewrite eqxx.
Qed.

Lemma rows_queryP E F A S :
  reflect (rows_cancel (to_matrix R r n E) (to_matrix R r n F) (nth false A) (nth false S))
          (rows_query (filled r n E) (filled r n F) (indices r S) (other_indices n A)).
Proof.
have sums (s : 'I_r) (j : 'I_n) : of_Q R (qsum [seq entry (filled r n F) u j |
      u <- indices r S & same_row (row_of (filled r n E) u) (row_of (filled r n E) s)]) =
    \sum_(u : 'I_r | nth false S u && (row u (to_matrix R r n E) == row s (to_matrix R r n E))) to_matrix R r n F u j.
  rewrite of_Q_sum big_map big_filter sum_indices; apply: eq_big => [u | u _].
    by rewrite !row_of_filled same_row_mkseq !row_to_matrix.
  by rewrite entry_filled mxE.
apply: (iffP (all_indices _ _ _)) => [each a j forb | each s Ss].
  have [s /andP[Ss /eqP <-] | none] := pickP (fun s : 'I_r => nth false S s && (row s (to_matrix R r n E) == a)); last first.
    by rewrite big_pred0.
  by rewrite -sums; apply/eqP; rewrite of_Q_eq0; have /all_other/(_ j forb) := each s Ss.
by apply/all_other => j forb; rewrite -(of_Q_eq0 R) sums each.
Qed.

Lemma pairs_queryP E F A S :
  reflect (pairs_cancel (to_matrix R r n E) (to_matrix R r n F) (nth false A) (nth false S))
          (pairs_query (filled r n E) (filled r n F) (indices r S) (other_indices n A) (indices n A)).
Proof.
set mE := to_matrix R r n E; set mF := to_matrix R r n F.
have sums (s u : 'I_r) (j i : 'I_n) : of_Q R (qsum [seq pair_term (filled r n E) (filled r n F) j i p' |
      p' <- [seq p'.1 | p' <- [seq (p, pair_sum (filled r n E) p) | p <- pairs_of (indices r S)] &
             same_row p'.2 (pair_sum (filled r n E) (s : nat, u : nat))]]) =
    \sum_(p : 'I_r * 'I_r | [&& (p.1 < p.2)%N, nth false S p.1, nth false S p.2 &
        row p.1 mE + row p.2 mE == row s mE + row u mE]) (mE p.1 j - mE p.2 j) * (mF p.1 i - mF p.2 i).
  rewrite of_Q_sum !big_map big_filter big_map big_mkcond /pairs_of big_allpairs_dep.
  transitivity (\sum_(s' : 'I_r | nth false S s') \sum_(u' : 'I_r | [&& nth false S u', (s' < u')%N &
      row s' mE + row u' mE == row s mE + row u mE]) (mE s' j - mE u' j) * (mF s' i - mF u' i)).
    rewrite (sum_indices _ _ predT); apply: eq_big => [s' | s' _]; first by rewrite andbT.
    rewrite big_filter sum_indices big_mkcondr /= [in RHS](eq_bigl (fun u' : 'I_r =>
      (nth false S u' && (s' < u')%N) && (row s' mE + row u' mE == row s mE + row u mE))); last first.
      by move=> u'; rewrite andbA.
    rewrite [in RHS]big_mkcondr [in RHS]big_mkcondr; apply: eq_bigr => u' _.
    rewrite pair_sum_filled /pair_term /= !entry_filled.
    by case: ifP => // _; case: ifP => // _; rewrite of_Q_mul !of_Q_sub !mxE.
  rewrite pair_big_dep; apply: eq_bigl => -[s' u'] /=.
  by case: (nth false S s'); case: (nth false S u'); case: (s' < u')%N.
have mem_pairs (s u : 'I_r) : ((s : nat, u : nat) \in pairs_of (indices r S)) = [&& (s < u)%N, nth false S s & nth false S u].
  apply/allpairsPdep/and3P => [[s' [u' [/= ss uu [-> ->]]]] | [lt Ss Su]].
    by move: ss uu; rewrite !mem_filter => /andP[-> _] /and3P[-> -> _].
  by exists (s : nat), (u : nat); rewrite !mem_filter !mem_iota !ltn_ord lt Ss Su.
rewrite /pairs_query all_map; apply: (iffP allP) => /= [each c j i forb perm | each [s u] mem].
  have [[s u] /and4P[lt Ss Su /eqP <-] | none] := pickP (fun p : 'I_r * 'I_r =>
    [&& (p.1 < p.2)%N, nth false S p.1, nth false S p.2 & row p.1 mE + row p.2 mE == c]); last by rewrite big_pred0.
  have /each/= : (s : nat, u : nat) \in pairs_of (indices r S) by rewrite mem_pairs lt Ss Su.
  by move/all_other/(_ j forb)/all_indices/(_ i perm); rewrite -(of_Q_eq0 R) sums => /eqP.
have [s' [u' [E1 E2]]] : exists s' u' : 'I_r, s = s' /\ u = u'.
  case/allpairsPdep: mem => [x [y [+ + [-> ->]]]]; rewrite !mem_filter !mem_iota !add0n.
  by case/andP=> _ /= ltx /and3P[_ _ /= lty]; exists (Ordinal ltx), (Ordinal lty).
move: mem; rewrite {s}E1 {u}E2 mem_pairs => mem.
apply/all_other => j forb; apply/all_indices => i perm.
by rewrite -(of_Q_eq0 R) sums each.
Qed.

Lemma exact_queryP E F A S :
  reflect (exact_criterion (to_matrix R r n E) (to_matrix R r n F) (nth false A) (nth false S))
          (exact_query r n (filled r n E) (filled r n F) A S).
Proof. by apply: (iffP andP) => -[/rows_queryP ? /pairs_queryP ?]; split. Qed.

Lemma every_queryP m (check : seq bool -> seq bool -> bool) (allowed visible : bits) :
  reflect (forall t : 'I_m, check (row_of allowed t) (row_of visible t)) (every_query m check allowed visible).
Proof.
apply: (iffP allP) => [each t | each t]; first by apply: each; rewrite mem_iota ltn_ord.
by rewrite mem_iota add0n => /= lt; apply: (each (Ordinal lt)).
Qed.

End Queries.

Section Theorems.

Variables (R : realFieldType) (e : R -> R) (scale : R) (r n d dv m : nat) (E F : rows) (allowed visible : bits).

Theorem support_safeP : support_safe r n m E F allowed visible = true <->
  forall t : 'I_m, supported (to_matrix R r n E) (to_matrix R r n F) (to_relation allowed t) (to_relation visible t).
Proof.
split=> [/every_queryP each t | each]; first exact/support_queryP/each.
by apply/every_queryP => t; apply/(@support_queryP R)/each.
Qed.

Theorem support_safe_sound : support_safe r n m E F allowed visible = true ->
  prefix_safe e scale d dv (to_matrix R r n E) (to_matrix R r n F)
    (to_relation allowed : 'I_m -> pred 'I_n) (to_relation visible).
Proof. by move/support_safeP => zero; apply: support_prefix_safe. Qed.

Theorem exact_safeP : exponential e -> scale != 0 -> (0 < d)%N -> (0 < dv)%N ->
  exact_safe r n m E F allowed visible = true <->
  prefix_safe e scale d dv (to_matrix R r n E) (to_matrix R r n F)
    (to_relation allowed : 'I_m -> pred 'I_n) (to_relation visible).
Proof.
move=> exp_e scale0 d0 dv0; rewrite exact_criterionP //; split=> [/every_queryP each t _ | each].
  exact/(@exact_queryP R)/each.
apply/every_queryP => t; apply/(@exact_queryP R).
have [s seen | none] := pickP (to_relation visible t : pred 'I_r); first by apply: each; exists s.
have hidden (s : 'I_r) : nth false (row_of visible t) s = false := none s.
by split=> [a j _ | c j i _ _]; apply: big_pred0 => p; rewrite !hidden ?andbF.
Qed.

End Theorems.

Theorem support_safe_exact r n m (E F : rows) (allowed visible : bits) :
  support_safe r n m E F allowed visible = true -> exact_safe r n m E F allowed visible = true.
Proof.
move/(@support_safeP [realFieldType of rat]) => zero; apply/every_queryP => t.
by apply/(@exact_queryP [realFieldType of rat]); apply: support_exact; apply: zero.
Qed.
