(** The checker that is itself proved: T10 and T11 as functions on rational matrices, run by vm_compute or extracted.

    Glossary
      n, r, m           positions, slots, queries (natural numbers)
      E, F              projections as lists of r rows of n rationals (Q); a missing entry reads as 0
      allowed, visible  m rows of booleans: the positions that a query may use, the slots that it sees; missing is false
      slots, forbidden, permitted    the indices that a row of booleans shows or does not show
      support_query, exact_query     the criterion at one query
      active            a pair of slots that can contribute to (2) at this query
      every             `all`, written so that it stops early however it is evaluated
      support_safe, exact_safe       the criterion at every query
      to_matrix, to_relation         what the lists mean: a matrix over the real field R, a relation on indices

    Headline theorems:
      T10  entry_def           how a list of rows is read
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

(** `all` that stops at the first failure under call by value too, which is how the kernel's machine evaluates. *)
Fixpoint every T (p : T -> bool) (l : seq T) : bool :=
  if l is x :: l then if p x then every p l else false else true.

Fixpoint same_row (x y : seq Q) : bool :=
  match x, y with
  | a :: x, b :: y => if qeq a b then same_row x y else false
  | [::], [::] => true
  | _, _ => false
  end.

(** Whether x and y differ at a place that b marks. *)
Fixpoint differ (b : seq bool) (x y : seq Q) : bool :=
  match b, x, y with
  | marked :: b, a :: x, c :: y => if (if marked then qeq a c else true) then differ b x y else true
  | _, _, _ => false
  end.

Fixpoint add_rows (x y : seq Q) : seq Q :=
  match x, y with
  | a :: x, b :: y => qadd a b :: add_rows x y
  | _, _ => [::]
  end.

Definition support_query (r n : nat) (E F : rows) (A S : seq bool) : bool :=
  let slots := indices r S in
  let reads_nothing j s := if qzero (entry E s j) then qzero (entry F s j) else false in
  every (fun j => every (reads_nothing j) slots) (other_indices n A).

(** (1): sum the rows of F over every class of equal rows of E. *)
Definition rows_query (E F : rows) (slots forbidden : seq nat) : bool :=
  every (fun s =>
    let cls := [seq u <- slots | same_row (row_of E u) (row_of E s)] in
    every (fun j => qzero (qsum [seq entry F u j | u <- cls])) forbidden) slots.

(** (2): sum the products of differences over every class of pairs with equal sums. A pair whose rows of E agree where
    they are forbidden, or whose rows of F agree where they are permitted, contributes nothing and is left out. *)
Definition pairs_of (slots : seq nat) : seq (nat * nat) :=
  [seq (s, u) | s <- slots, u <- [seq u <- slots | (s < u)%N]].

Definition active (E F : rows) (hide show : seq bool) (p : nat * nat) : bool :=
  if differ hide (row_of E p.1) (row_of E p.2) then differ show (row_of F p.1) (row_of F p.2) else false.

Definition pair_term (E F : rows) (j i : nat) (p : nat * nat) : Q :=
  qmul (qsub (entry E p.1 j) (entry E p.2 j)) (qsub (entry F p.1 i) (entry F p.2 i)).

Definition pair_sum (E : rows) (p : nat * nat) : seq Q := add_rows (row_of E p.1) (row_of E p.2).

Definition pairs_query (n : nat) (E F : rows) (A : seq bool) (slots forbidden permitted : seq nat) : bool :=
  let show := mkseq (nth false A) n in
  let hide := map negb show in
  let pairs := [seq (p, pair_sum E p) | p <- [seq p <- pairs_of slots | active E F hide show p]] in
  every (fun p =>
    let cls := [seq p'.1 | p' <- pairs & same_row p'.2 p.2] in
    every (fun j => every (fun i => qzero (qsum [seq pair_term E F j i p' | p' <- cls])) permitted) forbidden) pairs.

Definition exact_query (r n : nat) (E F : rows) (A S : seq bool) : bool :=
  let slots := indices r S in
  let forbidden := other_indices n A in
  let permitted := indices n A in
  if rows_query E F slots forbidden then pairs_query n E F A slots forbidden permitted else false.

Definition every_query (m : nat) (check : seq bool -> seq bool -> bool) (allowed visible : bits) : bool :=
  every (fun t => check (row_of allowed t) (row_of visible t)) (iota 0 m).

Definition support_safe (r n m : nat) (E F : rows) (allowed visible : bits) : bool :=
  let E := filled r n E in
  let F := filled r n F in
  every_query m (support_query r n E F) allowed visible.

Definition exact_safe (r n m : nat) (E F : rows) (allowed visible : bits) : bool :=
  let E := filled r n E in
  let F := filled r n F in
  every_query m (exact_query r n E F) allowed visible.

(** ** What they decide *)

Definition to_matrix (R : numFieldType) r n (M : rows) : 'M[R]_(r, n) := \matrix_(s, j) of_Q R (entry M s j).

Definition to_relation m k (b : bits) : 'I_m -> pred 'I_k := fun t i => nth false (row_of b t) i.

Lemma everyE T (p : T -> bool) l : every p l = all p l.
Proof. by elim: l => //= x l ->. Qed.

Lemma entry_def (M : rows) s j : entry M s j = nth (Qmake Z0 xH) (nth [::] M s) j.
Proof. by []. Qed.

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
  reflect (forall i : 'I_k, ~~ nth false b i -> P i) (every P (other_indices k b)).
Proof.
rewrite everyE; apply: (iffP allP) => [each i forb | each i].
  by apply: each; rewrite mem_filter forb mem_iota ltn_ord.
by rewrite mem_filter mem_iota add0n => /andP[forb /= lt]; apply: (each (Ordinal lt)).
Qed.

Lemma all_indices k b (P : pred nat) :
  reflect (forall i : 'I_k, nth false b i -> P i) (every P (indices k b)).
Proof.
rewrite everyE; apply: (iffP allP) => [each i forb | each i].
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
  by rewrite /mkseq; elim: (iota 0 n) => //= j l ->; case: (qeq _ _).
apply/allP/eqP => [same | /rowP same j].
  apply/rowP => j; rewrite !mxE; apply/eqP; rewrite of_Q_eq; apply: same.
  by rewrite mem_iota ltn_ord.
rewrite mem_iota add0n => /= lt; rewrite -(of_Q_eq R).
by have := same (Ordinal lt); rewrite !mxE => ->.
Qed.

Lemma add_rows_mkseq (f g : nat -> Q) : add_rows (mkseq f n) (mkseq g n) = mkseq (fun j => qadd (f j) (g j)) n.
Proof. by rewrite /mkseq; elim: (iota 0 n) => //= j l ->. Qed.

Lemma differ_mkseq (b : nat -> bool) (f g : nat -> Q) :
  differ (mkseq b n) (mkseq f n) (mkseq g n) = [exists j : 'I_n, b j && (of_Q R (f j) != of_Q R (g j))].
Proof.
rewrite (_ : differ _ _ _ = has (fun j => b j && ~~ qeq (f j) (g j)) (iota 0 n)); last first.
  by rewrite /mkseq; elim: (iota 0 n) => //= j l ->; case: (b j); case: (qeq _ _).
apply/hasP/existsP => [[j] | [j]]; rewrite ?of_Q_eq.
  by rewrite mem_iota add0n => /= lt diff; exists (Ordinal lt); rewrite of_Q_eq.
by move=> diff; exists (j : nat); rewrite // mem_iota ltn_ord.
Qed.

Lemma row_to_matrix M s : row s (to_matrix R r n M) = \row_j of_Q R (entry M s j).
Proof. by apply/rowP => j; rewrite !mxE. Qed.

Lemma pair_sum_filled M (s u : 'I_r) (s' u' : 'I_r) :
  same_row (pair_sum (filled r n M) (s : nat, u : nat)) (pair_sum (filled r n M) (s' : nat, u' : nat)) =
  (row s (to_matrix R r n M) + row u (to_matrix R r n M) == row s' (to_matrix R r n M) + row u' (to_matrix R r n M)).
Proof.
rewrite /pair_sum /= !row_of_filled !add_rows_mkseq same_row_mkseq !row_to_matrix.
by congr (_ == _); apply/rowP => j; rewrite !mxE of_Q_add.
Qed.

(** A pair that is left out contributes nothing. *)
Lemma inactive_term E F A (s u : 'I_r) (j i : 'I_n) :
  let show := mkseq (nth false A) n in
  ~~ active (filled r n E) (filled r n F) (map negb show) show (s : nat, u : nat) ->
  ~~ nth false A j -> nth false A i ->
  (to_matrix R r n E s j - to_matrix R r n E u j) * (to_matrix R r n F s i - to_matrix R r n F u i) = 0.
Proof.
rewrite /active /= !row_of_filled /mkseq -map_comp -/(mkseq _ n) !differ_mkseq => inactive forb perm; apply/eqP.
rewrite mulf_eq0 !subr_eq0 !mxE; apply: contraNT inactive; rewrite negb_or => /andP[diffE diffF].
have -> : [exists j : 'I_n, (~~ nth false A j) && (of_Q R (entry E s j) != of_Q R (entry E u j))].
  by apply/existsP; exists j; rewrite forb.
by apply/existsP; exists i; rewrite perm.
Qed.

Lemma support_queryP E F A S :
  reflect (supported (to_matrix R r n E) (to_matrix R r n F) (nth false A) (nth false S))
          (support_query r n (filled r n E) (filled r n F) A S).
Proof.
apply: (iffP (all_other _ _ _)) => [each s j Ss forb | each j forb].
  have /all_indices/(_ s Ss) := each j forb; rewrite !entry_filled -!(of_Q_eq0 R) !mxE.
  by case: eqP => // -> /eqP.
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
  have [s /andP[Ss /eqP <-] | none] := pickP (fun s : 'I_r =>
      nth false S s && (row s (to_matrix R r n E) == a)); last first.
    by rewrite big_pred0.
  by rewrite -sums; apply/eqP; rewrite of_Q_eq0; have /all_other/(_ j forb) := each s Ss.
by apply/all_other => j forb; rewrite -(of_Q_eq0 R) sums each.
Qed.

Lemma pairs_queryP E F A S :
  reflect (pairs_cancel (to_matrix R r n E) (to_matrix R r n F) (nth false A) (nth false S))
          (pairs_query n (filled r n E) (filled r n F) A (indices r S) (other_indices n A) (indices n A)).
Proof.
set mE := to_matrix R r n E; set mF := to_matrix R r n F.
set hE := filled r n E; set hF := filled r n F.
pose act p := active hE hF (map negb (mkseq (nth false A) n)) (mkseq (nth false A) n) p.
pose pairs := [seq (p, pair_sum hE p) | p <- [seq p <- pairs_of (indices r S) | act p]].
have sums (s u : 'I_r) (j i : 'I_n) : ~~ nth false A j -> nth false A i ->
    of_Q R (qsum [seq pair_term hE hF j i p' |
      p' <- [seq p'.1 | p' <- pairs & same_row p'.2 (pair_sum hE (s : nat, u : nat))]]) =
    \sum_(p : 'I_r * 'I_r | [&& (p.1 < p.2)%N, nth false S p.1, nth false S p.2 &
        row p.1 mE + row p.2 mE == row s mE + row u mE]) (mE p.1 j - mE p.2 j) * (mF p.1 i - mF p.2 i).
  move=> forb perm; rewrite of_Q_sum !big_map big_filter big_map big_filter_cond big_mkcond /pairs_of big_allpairs_dep.
  transitivity (\sum_(s' : 'I_r | nth false S s') \sum_(u' : 'I_r | [&& nth false S u', (s' < u')%N &
      row s' mE + row u' mE == row s mE + row u mE]) (mE s' j - mE u' j) * (mF s' i - mF u' i)).
    rewrite (sum_indices _ _ predT); apply: eq_big => [s' | s' _]; first by rewrite andbT.
    rewrite big_filter sum_indices big_mkcondr /= [in RHS](eq_bigl (fun u' : 'I_r =>
      (nth false S u' && (s' < u')%N) && (row s' mE + row u' mE == row s mE + row u mE))); last first.
      by move=> u'; rewrite andbA.
    rewrite [in RHS]big_mkcondr [in RHS]big_mkcondr; apply: eq_bigr => u' _.
    rewrite pair_sum_filled; case: ifP => // _; case: ifP => [/andP[_ ->] | ].
      by rewrite /pair_term /= !entry_filled of_Q_mul !of_Q_sub !mxE.
    case: (row s' mE + row u' mE == _); rewrite ?andbF // andbT => /negbT inactive.
    by rewrite -[LHS](inactive_term inactive forb perm).
  rewrite pair_big_dep; apply: eq_bigl => -[s' u'] /=.
  by case: (nth false S s'); case: (nth false S u'); case: (s' < u')%N.
have mem_pairs (s u : 'I_r) :
    ((s : nat, u : nat) \in pairs_of (indices r S)) = [&& (s < u)%N, nth false S s & nth false S u].
  apply/allpairsPdep/and3P => [[s' [u' [/= ss uu [-> ->]]]] | [lt Ss Su]].
    by move: ss uu; rewrite !mem_filter => /andP[-> _] /and3P[-> -> _].
  by exists (s : nat), (u : nat); rewrite !mem_filter !mem_iota !ltn_ord lt Ss Su.
rewrite /pairs_query everyE all_map; apply: (iffP allP) => /= [each c j i forb perm | each [s u]].
  have [[s u] /andP[acts /and4P[lt Ss Su /eqP <-]] | none] := pickP (fun p : 'I_r * 'I_r =>
    act (p.1 : nat, p.2 : nat) &&
    [&& (p.1 < p.2)%N, nth false S p.1, nth false S p.2 & row p.1 mE + row p.2 mE == c]); last first.
    rewrite big1 // => -[s u] cls; apply: inactive_term forb perm.
    by have := none (s, u); rewrite cls andbT => /negbT.
  have /each/= : (s : nat, u : nat) \in [seq p <- pairs_of (indices r S) | act p].
    by rewrite mem_filter acts mem_pairs lt Ss Su.
  by move/all_other/(_ j forb)/all_indices/(_ i perm); rewrite -(of_Q_eq0 R) sums // => /eqP.
rewrite mem_filter => /andP[_ mem].
have [s' [u' [E1 E2]]] : exists s' u' : 'I_r, s = s' /\ u = u'.
  case/allpairsPdep: mem => [x [y [+ + [-> ->]]]]; rewrite !mem_filter !mem_iota !add0n.
  by case/andP=> _ /= ltx /and3P[_ _ /= lty]; exists (Ordinal ltx), (Ordinal lty).
rewrite {s mem}E1 {u}E2.
apply/all_other => j forb; apply/all_indices => i perm.
by rewrite -(of_Q_eq0 R) sums // each.
Qed.

Lemma exact_queryP E F A S :
  reflect (exact_criterion (to_matrix R r n E) (to_matrix R r n F) (nth false A) (nth false S))
          (exact_query r n (filled r n E) (filled r n F) A S).
Proof.
rewrite /exact_query; case: rows_queryP => [rows_ok | rows_bad]; last by constructor => -[/rows_bad].
by apply: (iffP (pairs_queryP _ _ _ _)) => [|[]].
Qed.

Lemma every_queryP m (check : seq bool -> seq bool -> bool) (allowed visible : bits) :
  reflect (forall t : 'I_m, check (row_of allowed t) (row_of visible t)) (every_query m check allowed visible).
Proof.
rewrite /every_query everyE; apply: (iffP allP) => [each t | each t]; first by apply: each; rewrite mem_iota ltn_ord.
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
