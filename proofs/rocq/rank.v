(** T3: a product that passes through r slots has rank at most r.

    Glossary
      n, m, r   positions (of queries, of values) and slots; any natural numbers
      B         slot weights, n x r (in the kit a row-wise softmax, here any matrix)
      F         value projection along the sequence axis, r x m
      B *m F    effective position mixing
      \rank     rank of a matrix over a field
      mxsub f g A   the submatrix of A with rows f 0, f 1, … and columns g 0, g 1, …
      pid_mx r      ones on the first r places of the diagonal, zeros elsewhere, of any shape

    Headline theorems:
      T3  mixing_rank_le        rank (BF) <= r
      T3  mixing_minor_eq0      every minor of BF of order > r vanishes
      T3  mixing_rank_ge        rank B + rank F <= rank (BF) + r   (Sylvester)
      T3  rank_le_factors       rank A <= r iff A passes through r slots
      T3  mixing_rank_full      the rank min(n, m, r) is reached
      T3  mixing_rank_generic   on every line through that point all but finitely many pairs reach it

    Axioms: none. *)
From mathcomp Require Import all_ssreflect all_algebra.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory.
Local Open Scope ring_scope.

Section Rank.

Variable K : fieldType.

Theorem mixing_rank_le n m r (B : 'M[K]_(n, r)) (F : 'M[K]_(r, m)) :
  (\rank (B *m F) <= r)%N.
Proof. exact: mulmx_max_rank. Qed.

Lemma mxsub_mulmx n m r k (B : 'M[K]_(n, r)) (F : 'M[K]_(r, m)) (f : 'I_k -> 'I_n) (g : 'I_k -> 'I_m) :
  mxsub f g (B *m F) = rowsub f B *m colsub g F.
Proof.
apply/matrixP => i j; rewrite !mxE; apply: eq_bigr => s _.
by rewrite !mxE.
Qed.

Theorem mixing_minor_eq0 n m r k (B : 'M[K]_(n, r)) (F : 'M[K]_(r, m)) (f : 'I_k -> 'I_n) (g : 'I_k -> 'I_m) :
  (r < k)%N -> \det (mxsub f g (B *m F)) = 0.
Proof.
move=> ltrk; apply/eqP; apply: contraLR ltrk; rewrite mxsub_mulmx -leqNgt => det_neq0.
have unit_minor : rowsub f B *m colsub g F \in unitmx by rewrite unitmxE unitfE.
by rewrite -(mxrank_unit unit_minor) mixing_rank_le.
Qed.

Theorem mixing_rank_ge n m r (B : 'M[K]_(n, r)) (F : 'M[K]_(r, m)) :
  (\rank B + \rank F <= \rank (B *m F) + r)%N.
Proof. by rewrite [leqRHS]addnC -leq_subLR mxrank_mul_min. Qed.

Theorem rank_le_factors n m r (A : 'M[K]_(n, m)) :
  (\rank A <= r)%N <-> exists (B : 'M[K]_(n, r)) (F : 'M[K]_(r, m)), A = B *m F.
Proof.
split=> [leAr | [B [F ->]]]; last exact: mixing_rank_le.
exists (col_base A *m pid_mx (\rank A)), (pid_mx (\rank A) *m row_base A).
by rewrite mulmxA -[_ *m pid_mx _ *m pid_mx _]mulmxA pid_mx_id // pid_mx_1 mulmx1 mulmx_base.
Qed.

(** The point at which the bound is reached: slot s reads position s, query s sees slot s, as far as they exist. *)
Lemma diagonal_mixing n m r :
  (pid_mx r : 'M[K]_(n, r)) *m (pid_mx r : 'M[K]_(r, m)) = pid_mx (minn r (minn n m)).
Proof. by rewrite mul_pid_mx !minnn minnA minnC pid_mx_minh minnC pid_mx_minv. Qed.

Theorem mixing_rank_full n m r :
  \rank ((pid_mx r : 'M[K]_(n, r)) *m (pid_mx r : 'M[K]_(r, m))) = minn r (minn n m).
Proof. by rewrite diagonal_mixing rank_pid_mx // !geq_min leqnn ?orbT. Qed.

(** The straight line from the pair of diagonal matrices at t = 0 through a given pair at t = 1. *)
Definition line_to n m (A : 'M[K]_(n, m)) r (t : K) : 'M[K]_(n, m) := pid_mx r + t *: (A - pid_mx r).

Theorem mixing_rank_generic n m r (B : 'M[K]_(n, r)) (F : 'M[K]_(r, m)) :
  exists2 p : {poly K}, p != 0 &
    forall t, ~~ root p t -> \rank (line_to B r t *m line_to F r t) = minn r (minn n m).
Proof.
pose k := minn r (minn n m).
have [lekn lekm] : (k <= n)%N /\ (k <= m)%N by rewrite /k !geq_min !leqnn ?orbT.
pose f := widen_ord lekn; pose g := widen_ord lekm.
pose linep a b (A : 'M[K]_(a, b)) : 'M[{poly K}]_(a, b) :=
  map_mx polyC (pid_mx r) + 'X *: map_mx polyC (A - pid_mx r).
pose p := \det (mxsub f g (linep _ _ B *m linep _ _ F)).
have line_at a b (A : 'M[K]_(a, b)) t : map_mx (horner^~ t) (linep _ _ A) = line_to A r t.
  by apply/matrixP=> i j; rewrite !mxE !hornerE.
have p_at t : p.[t] = \det (mxsub f g (line_to B r t *m line_to F r t)).
  rewrite -!line_at /p -[p.[t]]/(horner_eval t p) -det_map_mx; congr (\det _).
  by rewrite map_mxsub map_mxM.
exists p.
  apply/eqP=> p0; have /eqP := p_at 0; rewrite p0 horner0 /line_to !scale0r !addr0 diagonal_mixing -/k.
  suff -> : mxsub f g (pid_mx k) = 1%:M :> 'M[K]_k by rewrite det1 eq_sym oner_eq0.
  by apply/matrixP=> i j; rewrite !mxE /= ltn_ord andbT.
move=> t nroot; apply/eqP; rewrite eqn_leq; apply/andP; split.
  by rewrite !leq_min mixing_rank_le rank_leq_row rank_leq_col.
rewrite leqNgt -/k; apply: contra nroot => ltk; rewrite /root p_at.
have [B' [F' ->]] := (rank_le_factors _ (line_to B r t *m line_to F r t)).1 (leqnn _).
by rewrite mixing_minor_eq0.
Qed.

End Rank.
