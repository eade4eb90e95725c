(** The statements that the kit's theorems are held to.

    Each headline theorem is pinned here in full: `Check (name : statement)` compiles only while the theorem called
    `name` still proves `statement`, so a theorem cannot be weakened without this file changing.  The definitions that
    the statements use are pinned in the same way, by an equation.  A heading `(** * Tk. title *)` names the claim
    (THEORY's numbering) that the checks below it belong to.  proofs/kernel.py reads this file: one `Check (name : …).`
    per theorem, closed by a full stop at the end of a line.

    Reading guide: 'M[K]_(n, r) is an n x r matrix over K, 'I_n the indices 0 … n-1, *m the matrix product, ^T the
    transpose, \rank and \det as usual, \sum_i and \prod_i over all indices, x%:R the number x read in the ring,
    n.+1 is n + 1; A i j is the entry in row i and column j. *)
From mathcomp Require Import all_ssreflect all_algebra.
From AttnProof Require rank.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory.
Local Open Scope ring_scope.

(* ==================== Matrices, softmax, cost (T1–T9, T18) ==================== *)

(** * T3. rank (BF) <= r, over any field *)

Check (rank.mixing_rank_le :
  forall (K : fieldType) (n m r : nat) (B : 'M[K]_(n, r)) (F : 'M[K]_(r, m)),
  (\rank (B *m F) <= r)%N).

Check (rank.mixing_minor_eq0 :
  forall (K : fieldType) (n m r k : nat) (B : 'M[K]_(n, r)) (F : 'M[K]_(r, m))
    (f : 'I_k -> 'I_n) (g : 'I_k -> 'I_m),
  (r < k)%N -> \det (mxsub f g (B *m F)) = 0).

Check (rank.mixing_rank_ge :
  forall (K : fieldType) (n m r : nat) (B : 'M[K]_(n, r)) (F : 'M[K]_(r, m)),
  (\rank B + \rank F <= \rank (B *m F) + r)%N).

Check (rank.rank_le_factors :
  forall (K : fieldType) (n m r : nat) (A : 'M[K]_(n, m)),
  (\rank A <= r)%N <-> exists (B : 'M[K]_(n, r)) (F : 'M[K]_(r, m)), A = B *m F).

Check (rank.mixing_rank_full :
  forall (K : fieldType) (n m r : nat),
  \rank ((pid_mx r : 'M[K]_(n, r)) *m (pid_mx r : 'M[K]_(r, m))) = minn r (minn n m)).

Check (rank.mixing_rank_generic :
  forall (K : fieldType) (n m r : nat) (B : 'M[K]_(n, r)) (F : 'M[K]_(r, m)),
  exists2 p : {poly K}, p != 0 &
    forall t, ~~ root p t ->
      \rank ((pid_mx r + t *: (B - pid_mx r)) *m (pid_mx r + t *: (F - pid_mx r)))
      = minn r (minn n m)).

(* ==================== Causality and the verified checker (T10–T15) ==================== *)

From AttnProof Require Import independence causal_head support exact.

(** * T10. Slots that read nothing forbidden are safe *)

Check (causal_head.weights_def :
  forall (R : realFieldType) (e : R -> R) (scale : R) (r n d : nat) (E : 'M[R]_(r, n)) (S : pred 'I_r)
    (q : 'rV[R]_d) (K : 'M[R]_(n, d)) (s : 'I_r),
  weights e scale E S q K 0 s =
  if S s then e (scale * (q *m (E *m K)^T) 0 s) / \sum_(u | S u) e (scale * (q *m (E *m K)^T) 0 u) else 0).

Check (causal_head.head_def :
  forall (R : realFieldType) (e : R -> R) (scale : R) (r n d dv : nat) (E F : 'M[R]_(r, n)) (S : pred 'I_r)
    (q : 'rV[R]_d) (K : 'M[R]_(n, d)) (V : 'M[R]_(n, dv)),
  head e scale E F S q K V = weights e scale E S q K *m (F *m V)).

Check (causal_head.prefix_safe_def :
  forall (R : realFieldType) (e : R -> R) (scale : R) (r n m d dv : nat) (E F : 'M[R]_(r, n))
    (allowed : 'I_m -> pred 'I_n) (visible : 'I_m -> pred 'I_r),
  prefix_safe e scale d dv E F allowed visible <->
  forall t, (exists s, visible t s) ->
  forall (q : 'rV[R]_d) (K K' : 'M[R]_(n, d)) (V V' : 'M[R]_(n, dv)),
    (forall j, allowed t j -> row j K = row j K') -> (forall j, allowed t j -> row j V = row j V') ->
    head e scale E F (visible t) q K V = head e scale E F (visible t) q K' V').

Check (support.support_safe_view :
  forall (R : ringType) (r n d dv : nat) (Out : Type) (E F : 'M[R]_(r, n)) (A : pred 'I_n) (S : pred 'I_r)
    (output : 'rV[R]_d -> {ffun 'I_r -> option ('rV[R]_d * 'rV[R]_dv)} -> Out) (q : 'rV[R]_d)
    (K K' : 'M[R]_(n, d)) (V V' : 'M[R]_(n, dv)),
  (forall s j, S s -> ~~ A j -> E s j = 0 /\ F s j = 0) ->
  (forall j, A j -> row j K = row j K') -> (forall j, A j -> row j V = row j V') ->
  output q [ffun s => if S s then Some (row s (E *m K), row s (F *m V)) else None] =
  output q [ffun s => if S s then Some (row s (E *m K'), row s (F *m V')) else None]).

Check (support.support_prefix_safe :
  forall (R : realFieldType) (e : R -> R) (scale : R) (r n d dv m : nat) (E F : 'M[R]_(r, n))
    (allowed : 'I_m -> pred 'I_n) (visible : 'I_m -> pred 'I_r),
  (forall t s j, visible t s -> ~~ allowed t j -> E s j = 0 /\ F s j = 0) ->
  prefix_safe e scale d dv E F allowed visible).

Check (support.support_first_query :
  forall (R : ringType) (r n : nat) (E F : 'M[R]_(r, n.+1)),
  (forall (s : 'I_r) (j : 'I_n.+1), true -> ~~ (j <= 0)%N -> E s j = 0 /\ F s j = 0) <->
  (forall s j, j != ord0 -> E s j = 0 /\ F s j = 0)).

Check (support.support_safe_rounded :
  forall (T : Type) (add mul : T -> T -> T) (fma : T -> T -> T -> T) (is_zero finite : T -> Prop)
    (same : T -> T -> Prop),
  (forall x, same x x) -> (forall x y z, same x y -> same y z -> same x z) ->
  (forall x y, is_zero x -> is_zero y -> same x y) ->
  (forall x x' y y', same x x' -> same y y' -> same (add x y) (add x' y')) ->
  (forall a x c c', same c c' -> same (fma a x c) (fma a x c')) ->
  (forall a x, is_zero a -> finite x -> is_zero (mul a x)) ->
  (forall a x x' c, is_zero a -> finite x -> finite x' -> same (fma a x c) (fma a x' c)) ->
  forall (Out Query : Type) (r n d dv : nat) (E F : 'I_r -> 'I_n -> T) (A : pred 'I_n) (S : pred 'I_r)
    (output : Query -> ('I_r -> 'I_d -> T) -> ('I_r -> 'I_dv -> T) -> Out)
    (key_tree : 'I_r -> 'I_d -> tree n) (value_tree : 'I_r -> 'I_dv -> tree n)
    (q : Query) (K K' : 'I_n -> 'I_d -> T) (V V' : 'I_n -> 'I_dv -> T),
  (forall q kb kb' vb vb', (forall s k, S s -> same (kb s k) (kb' s k)) ->
     (forall s k, S s -> same (vb s k) (vb' s k)) -> output q kb vb = output q kb' vb') ->
  (forall s j, S s -> ~~ A j -> is_zero (E s j) /\ is_zero (F s j)) ->
  (forall j k, finite (K j k) /\ finite (K' j k)) -> (forall j k, finite (V j k) /\ finite (V' j k)) ->
  (forall j, A j -> K j =1 K' j) -> (forall j, A j -> V j =1 V' j) ->
  output q (fun s k => rounded_dot add mul fma (key_tree s k) (E s) (K^~ k))
           (fun s k => rounded_dot add mul fma (value_tree s k) (F s) (V^~ k)) =
  output q (fun s k => rounded_dot add mul fma (key_tree s k) (E s) (K'^~ k))
           (fun s k => rounded_dot add mul fma (value_tree s k) (F s) (V'^~ k))).

Check (support.masked_after_leaks :
  forall (R : realFieldType) (e : R -> R) (scale : R), exponential e -> scale != 0 ->
  let E := 1%:M : 'M[R]_2 in let first := pred1 0 : pred 'I_2 in
  (forall s j, first s -> ~~ first j -> E s j = 0 /\ E s j = 0) /\
  exists (q : 'rV[R]_1) (K K' : 'M[R]_(2, 1)) (V : 'M[R]_(2, 1)),
    (forall j, first j -> row j K = row j K') /\
    (\row_s if first s then weights e scale E predT q K 0 s else 0) *m (E *m V) <>
    (\row_s if first s then weights e scale E predT q K' 0 s else 0) *m (E *m V)).

Check (support.article_leak :
  forall (R : realFieldType) (e : R -> R) (scale : R), exponential e ->
  forall (dv : nat) (S : pred 'I_2) (d : nat) (q : 'rV[R]_d), scale != 0 -> q != 0 -> (0 < dv)%N -> S 0 ->
  let half := \matrix_(s < 2, j < 3)
    (if s == 0 then (if j == 2%:R then 0 else 2%:R^-1) else (j == 2%:R)%:R) in
  ~ query_safe e scale dv half half (fun j => (j <= 0)%N) S q).

(** * T11. The exact criterion for softmax heads *)

Check (independence.exponential_def :
  forall (R : realFieldType) (e : R -> R),
  exponential e <-> [/\ forall x, 0 < e x, forall x y, e (x + y) = e x * e y & injective e]).

Check (exact.exact_criterionP :
  forall (R : realFieldType) (e : R -> R) (scale : R) (r n d dv m : nat) (E F : 'M[R]_(r, n))
    (allowed : 'I_m -> pred 'I_n) (visible : 'I_m -> pred 'I_r),
  exponential e -> scale != 0 -> (0 < d)%N -> (0 < dv)%N ->
  prefix_safe e scale d dv E F allowed visible <->
  forall t, (exists s, visible t s) ->
    (forall (a : 'rV[R]_n) j, ~~ allowed t j ->
       \sum_(s | visible t s && (row s E == a)) F s j = 0) /\
    (forall (c : 'rV[R]_n) j i, ~~ allowed t j -> allowed t i ->
       \sum_(p : 'I_r * 'I_r |
           [&& (p.1 < p.2)%N, visible t p.1, visible t p.2 & row p.1 E + row p.2 E == c])
         (E p.1 j - E p.2 j) * (F p.1 i - F p.2 i) = 0)).

Check (exact.exact_criterion_query :
  forall (R : realFieldType) (e : R -> R) (scale : R) (r n d dv : nat) (E F : 'M[R]_(r, n)) (A : pred 'I_n)
    (S : pred 'I_r) (q : 'rV[R]_d),
  exponential e -> scale != 0 -> q != 0 -> (0 < dv)%N -> (exists s, S s) ->
  query_safe e scale dv E F A S q <-> exact_criterion E F A S).

Check (exact.pairs_cancel_steps :
  forall (R : realFieldType) (e : R -> R), exponential e ->
  forall (r n : nat) (E F : 'M[R]_(r, n)) (A : pred 'I_n) (S : pred 'I_r),
  pairs_cancel E F A S <->
  forall (c : 'rV[R]_n) (b : R) j i, ~~ A j -> A i ->
    \sum_(p : 'I_r * 'I_r | [&& S p.1, S p.2, row p.1 E + row p.2 E == c & E p.2 j == b])
      (F p.1 i - F p.2 i) = 0).

Check (exact.support_exact :
  forall (R : realFieldType) (r n : nat) (E F : 'M[R]_(r, n)) (A : pred 'I_n) (S : pred 'I_r),
  (forall s j, S s -> ~~ A j -> E s j = 0 /\ F s j = 0) -> exact_criterion E F A S).
