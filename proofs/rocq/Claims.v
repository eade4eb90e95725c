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
