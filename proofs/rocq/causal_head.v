(** The compressed softmax head, the information boundary, and what "prefix-safe" means.

    Glossary
      R          a real field; e an abstract exponential on it (independence.v), scale the factor 1/sqrt d of the scores
      n, r, m    positions, slots, queries; d, dv the widths of a key and of a value
      E, F       key and value projections along the sequence axis, r x n (slots first)
      q, K, V    one query (a row), keys (n x d) and values (n x dv) of the whole sequence
      score      scale * q . (E K)_s, the score of slot s
      weights S  softmax of the scores over the slots of S, 0 for the others (their bias is minus infinity)
      head S     the output of a query that sees the slots of S: weights S *m (F *m V)
      allowed t j    the information boundary: query t may use position j; the other positions are forbidden
      visible t s    query t sees slot s
      agree A X Y    the sequences X and Y have the same rows at the positions of A
      prefix_safe    for every query that sees a slot, inputs that agree on its allowed positions give the same output

    The query is fixed while keys and values vary, because it is computed from its own position.

    Headline theorems (the definitions, spelled out; Claims.v pins them):
      T10, T11  weights_def, head_def, query_safe_def, prefix_safe_def

    Axioms: none. *)
From mathcomp Require Import all_ssreflect all_algebra.
From AttnProof Require Import independence.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Definition agree (R : Type) n d (A : pred 'I_n) (X Y : 'M[R]_(n, d)) := forall j, A j -> row j X = row j Y.

Section Head.

Variables (R : realFieldType) (e : R -> R) (scale : R) (r n d dv : nat) (E F : 'M[R]_(r, n)).
Implicit Types (S : pred 'I_r) (q : 'rV[R]_d) (K : 'M[R]_(n, d)) (V : 'M[R]_(n, dv)).

Definition score q K (s : 'I_r) : R := scale * (q *m (E *m K)^T) 0 s.

Definition weights S q K : 'rV[R]_r :=
  \row_s (if S s then e (score q K s) / \sum_(u | S u) e (score q K u) else 0).

Definition head S q K V : 'rV[R]_dv := weights S q K *m (F *m V).

End Head.

Section Safety.

Variables (R : realFieldType) (e : R -> R) (scale : R) (r n d dv : nat) (E F : 'M[R]_(r, n)).

(** Safety of one query that sees the slots of S and may use the positions of A; the query vector is q. *)
Definition query_safe (A : pred 'I_n) (S : pred 'I_r) (q : 'rV[R]_d) :=
  forall (K K' : 'M[R]_(n, d)) (V V' : 'M[R]_(n, dv)),
    agree A K K' -> agree A V V' -> head e scale E F S q K V = head e scale E F S q K' V'.

Definition prefix_safe m (allowed : 'I_m -> pred 'I_n) (visible : 'I_m -> pred 'I_r) :=
  forall t, (exists s, visible t s) -> forall q, query_safe (allowed t) (visible t) q.

End Safety.

Lemma weights_def (R : realFieldType) (e : R -> R) (scale : R) r n d (E : 'M[R]_(r, n)) (S : pred 'I_r)
    (q : 'rV[R]_d) (K : 'M[R]_(n, d)) s :
  weights e scale E S q K 0 s =
  if S s then e (scale * (q *m (E *m K)^T) 0 s) / \sum_(u | S u) e (scale * (q *m (E *m K)^T) 0 u) else 0.
Proof. by rewrite mxE. Qed.

Lemma head_def (R : realFieldType) (e : R -> R) (scale : R) r n d dv (E F : 'M[R]_(r, n)) (S : pred 'I_r)
    (q : 'rV[R]_d) (K : 'M[R]_(n, d)) (V : 'M[R]_(n, dv)) :
  head e scale E F S q K V = weights e scale E S q K *m (F *m V).
Proof. by []. Qed.

Lemma query_safe_def (R : realFieldType) (e : R -> R) (scale : R) r n d dv (E F : 'M[R]_(r, n)) (A : pred 'I_n)
    (S : pred 'I_r) (q : 'rV[R]_d) :
  query_safe e scale dv E F A S q <->
  forall (K K' : 'M[R]_(n, d)) (V V' : 'M[R]_(n, dv)),
    (forall j, A j -> row j K = row j K') -> (forall j, A j -> row j V = row j V') ->
    head e scale E F S q K V = head e scale E F S q K' V'.
Proof. by []. Qed.

Lemma prefix_safe_def (R : realFieldType) (e : R -> R) (scale : R) r n m d dv (E F : 'M[R]_(r, n))
    (allowed : 'I_m -> pred 'I_n) (visible : 'I_m -> pred 'I_r) :
  prefix_safe e scale d dv E F allowed visible <->
  forall t, (exists s, visible t s) ->
  forall (q : 'rV[R]_d) (K K' : 'M[R]_(n, d)) (V V' : 'M[R]_(n, dv)),
    (forall j, allowed t j -> row j K = row j K') -> (forall j, allowed t j -> row j V = row j V') ->
    head e scale E F (visible t) q K V = head e scale E F (visible t) q K' V'.
Proof. by []. Qed.

(** The prefix boundary: query t stands at position t. *)
Definition prefix_boundary n : 'I_n -> pred 'I_n := fun t j => (j <= t)%N.

Section Lemmas.

Variables (R : realFieldType) (e : R -> R) (scale : R) (r n d dv : nat) (E F : 'M[R]_(r, n)).
Implicit Types (S : pred 'I_r) (q : 'rV[R]_d) (K : 'M[R]_(n, d)) (V : 'M[R]_(n, dv)).

(** The score depends on the keys through one number per position, kappa_j = scale * q . k_j. *)
Definition position_scores q K : 'cV[R]_n := scale *: (K *m q^T).

Lemma scoreE q K s : score scale E q K s = dot (position_scores q K) (row s E).
Proof.
rewrite /score /dot /position_scores -[q *m _]trmxK trmx_mul trmxK mxE.
by rewrite -scalemxAr [in RHS]mxE mulmxA -!row_mul [in RHS]mxE.
Qed.

Lemma headE S q K V k :
  head e scale E F S q K V 0 k =
  (\sum_(s | S s) e (score scale E q K s) * (F *m V) s k) / \sum_(s | S s) e (score scale E q K s).
Proof.
rewrite /head mxE mulr_suml [in RHS]big_mkcond; apply: eq_bigr => s _; rewrite mxE.
by case: ifP => _; rewrite ?mul0r // mulrAC.
Qed.

End Lemmas.
