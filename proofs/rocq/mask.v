(** T13: under the prefix boundary, the largest mask that passes T10; there is none that is largest for T11.

    Glossary
      reads s j       slot s reads position j: E_sj <> 0 or F_sj <> 0
      release s       one more than the last position that slot s reads, 0 for a slot that reads nothing; THEORY's
                      release, which is -1 in that case, is release s - 1
      mask            who sees what: a relation between queries t and slots s; query t stands at position t
      passes          the mask passes T10 under the prefix boundary: a visible slot reads nothing after t
      largest         query t sees slot s iff release s <= t + 1, that is, iff its last position is t or earlier
      starved         queries that see no slot

    Headline theorems:
      T13  largest_def, passes_def    the definitions
      T13  passes_iff_below     a mask passes iff it is contained in largest
      T13  largest_unique       largest is the only mask that passes and contains every mask that passes
      T13  largest_prefix_safe  heads under that mask are prefix-safe
      T13  starved_iff          query t is starved under it iff t comes before every release
      T13  no_largest_exact     under T11 two masks can be safe whose union is not

    Axioms: none. *)
From mathcomp Require Import all_ssreflect all_algebra.
From AttnProof Require Import independence causal_head exact support.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Mask.

Variables (R : ringType) (r n : nat) (E F : 'M[R]_(r, n)).

Definition mask := 'I_n -> pred 'I_r.

Definition reads (s : 'I_r) (j : 'I_n) := (E s j != 0) || (F s j != 0).

Definition release (s : 'I_r) : nat := \max_(j | reads s j) j.+1.

Definition passes (visible : mask) := forall t, supported E F (prefix_boundary t) (visible t).

Definition largest : mask := fun t s => (release s <= t.+1)%N.

Lemma largest_def t s : largest t s = (\max_(j < n | (E s j != 0%R) || (F s j != 0%R)) j.+1 <= t.+1)%N.
Proof. by []. Qed.

Lemma passes_def (visible : mask) :
  passes visible <-> forall t s (j : 'I_n), visible t s -> ~~ (j <= t)%N -> E s j = 0 /\ F s j = 0.
Proof. by []. Qed.

Lemma release_le s k : (release s <= k)%N = [forall j : 'I_n, reads s j ==> (j < k)%N].
Proof.
apply/bigmax_leqP/forallP => [le j | le j rj]; first by apply/implyP => rj; apply: le.
by apply: (implyP (le j)).
Qed.

Theorem passes_iff_below (visible : mask) : passes visible <-> forall t s, visible t s -> largest t s.
Proof.
split=> [pass t s vis | below t s j vis].
  rewrite /largest release_le; apply/forallP => j; apply/implyP => rj; rewrite ltnS leqNgt.
  apply/negP => late; have := pass t s j vis; rewrite /prefix_boundary -ltnNge => /(_ late) [zE zF].
  by move: rj; rewrite /reads zE zF eqxx.
rewrite /prefix_boundary -ltnNge => late.
have := below t s vis; rewrite /largest release_le => /forallP/(_ j); rewrite ltnS leqNgt late implybF.
by rewrite /reads negb_or !negbK => /andP[/eqP -> /eqP ->].
Qed.

Theorem largest_unique (visible : mask) :
  passes visible /\ (forall other, passes other -> forall t s, other t s -> visible t s) <->
  (forall t s, visible t s = largest t s).
Proof.
have largest_passes : passes largest by apply/passes_iff_below.
split=> [[pass contains] t s | same].
  apply/idP/idP; first exact: (passes_iff_below visible).1.
  exact: contains.
split=> [| other pass t s vis]; last by rewrite same; apply: ((passes_iff_below other).1 pass).
by apply/passes_iff_below => t s; rewrite same.
Qed.

Theorem starved_iff (t : 'I_n) : (forall s, ~~ largest t s) <-> forall s, (t.+1 < release s)%N.
Proof. by split=> late s; have := late s; rewrite /largest -ltnNge. Qed.

End Mask.

Theorem largest_prefix_safe (R : realFieldType) (e : R -> R) (scale : R) r n d dv (E F : 'M[R]_(r, n)) :
  prefix_safe e scale d dv E F (@prefix_boundary n) (largest E F).
Proof. by apply: support_prefix_safe; apply/passes_iff_below. Qed.

(** ** Any boundary: which positions a query may use need not be a prefix, nor the queries be positions *)

Section Boundary.

Variables (R : ringType) (r n m : nat) (E F : 'M[R]_(r, n)) (allowed : 'I_m -> pred 'I_n).

Definition passes_within (visible : 'I_m -> pred 'I_r) := forall t, supported E F (allowed t) (visible t).

(** A slot may be shown to a query iff what it reads is what the query may use. *)
Definition largest_within : 'I_m -> pred 'I_r := fun t s => [forall j, reads E F s j ==> allowed t j].

Lemma largest_within_def t s :
  largest_within t s = [forall j, (E s j != 0) || (F s j != 0) ==> allowed t j].
Proof. by []. Qed.

Lemma passes_within_def (visible : 'I_m -> pred 'I_r) :
  passes_within visible <-> forall t s j, visible t s -> ~~ allowed t j -> E s j = 0 /\ F s j = 0.
Proof. by []. Qed.

Theorem passes_within_iff (visible : 'I_m -> pred 'I_r) :
  passes_within visible <-> forall t s, visible t s -> largest_within t s.
Proof.
split=> [pass t s vis | below t s j vis forb].
  apply/forallP => j; apply/implyP; apply: contraTT => forb; have [zE zF] := pass t s j vis forb.
  by rewrite /reads zE zF eqxx.
have /forallP/(_ j) := below t s vis; rewrite (negPf forb) implybF /reads negb_or !negbK.
by case/andP => /eqP -> /eqP ->.
Qed.

Theorem largest_within_unique (visible : 'I_m -> pred 'I_r) :
  passes_within visible /\ (forall other, passes_within other -> forall t s, other t s -> visible t s) <->
  (forall t s, visible t s = largest_within t s).
Proof.
split=> [[pass contains] t s | same].
  apply/idP/idP; first exact: (passes_within_iff visible).1.
  by apply: contains; apply/passes_within_iff.
split=> [| other pass t s vis]; last by rewrite same; apply: ((passes_within_iff other).1 pass).
by apply/passes_within_iff => t s; rewrite same.
Qed.

End Boundary.

Theorem largest_within_safe (R : realFieldType) (e : R -> R) (scale : R) r n m d dv (E F : 'M[R]_(r, n))
    (allowed : 'I_m -> pred 'I_n) : prefix_safe e scale d dv E F allowed (largest_within E F allowed).
Proof. by apply: support_prefix_safe; apply/passes_within_iff. Qed.

(** Three slots that score alike and carry 1, -1, 1 times the value after the query: two of opposite sign are safe. *)
Section NoLargest.

Variables (R : realFieldType) (e : R -> R) (scale : R).
Hypothesis exp_e : exponential e.

Definition alternating : 'M[R]_(3, 2) := \matrix_(s, j) (if j == 0 then 1 else (-1) ^+ s).

Lemma alternating_criterion (S : pred 'I_3) :
  exact_criterion (0 : 'M[R]_(3, 2)) alternating (prefix_boundary (0 : 'I_2)) S <->
  \sum_(s | S s) (-1) ^+ s = 0 :> R.
Proof.
have forbidden (j : 'I_2) : ~~ prefix_boundary (0 : 'I_2) j -> j = 1.
  by case: j => -[|[|]] // lt _; apply/val_inj.
split=> [[rows _] | sum0]; last split=> [a j /forbidden -> | c j i _ _].
- rewrite -[RHS](rows 0 1 isT); apply: eq_big => [s | s _]; last by rewrite mxE.
  by rewrite row0 eqxx andbT.
- have [-> | neq] := eqVneq a 0; last by rewrite big_pred0 // => s; rewrite row0 eq_sym (negPf neq) andbF.
  rewrite -[RHS]sum0; apply: eq_big => [s | s _]; last by rewrite mxE.
  by rewrite row0 eqxx andbT.
by rewrite big1 // => p _; rewrite !mxE subrr mul0r.
Qed.

Theorem no_largest_exact : scale != 0 ->
  let safe (S : pred 'I_3) :=
    forall q : 'rV[R]_1, query_safe e scale 1 0 alternating (prefix_boundary (0 : 'I_2)) S q in
  [/\ safe (pred2 0 1), safe (pred2 1 2%:R) & ~ safe (predU (pred2 0 1) (pred2 1 2%:R))].
Proof.
move=> scale0 safe; have criterion (S : pred 'I_3) : (exists s, S s) -> \sum_(s | S s) (-1) ^+ s = 0 :> R -> safe S.
  by move=> seen sum0 q; apply: safe_of_criterion => //; apply/alternating_criterion.
split; [apply: criterion; first by exists 0 | apply: criterion; first by exists 1 | move=> /(_ (const_mx 1))].
- by rewrite big_mkcond !big_ord_recl big_ord0 /= expr0 expr1 !addr0 subrr.
- by rewrite big_mkcond !big_ord_recl big_ord0 /= expr1 -signr_odd expr0 add0r !addr0 addNr.
rewrite exact_criterion_query //; last 2 first.
- by apply/eqP => /rowP/(_ 0); rewrite !mxE; apply/eqP/oner_neq0.
- by exists 0.
move/alternating_criterion; rewrite big_mkcond !big_ord_recl big_ord0 /=.
by rewrite expr0 expr1 sqrrN expr1n addr0 addNr addr0; apply/eqP/oner_neq0.
Qed.

End NoLargest.
