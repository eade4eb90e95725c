(** T6: every square matrix over a real closed field has a singular value decomposition, and only one row of values.

    Glossary
      svd A U s V   A = U diag(s) V^T, U and V orthogonal, s_0 >= s_1 >= … >= 0

    Headline theorems:
      T6  svd_exists     every A has a singular value decomposition
      T6  svd_values     and any two have the same singular values

    Axioms: none. *)
From mathcomp Require Import all_ssreflect all_fingroup all_algebra.
From AttnProof Require Import symmetric eckart_young.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Existence.

Variable R : rcfType.

(** Unit vectors u and v with A v = s u and A^T u = s v. *)
Lemma singular_pair n (A : 'M[R]_n.+1) :
  exists (u v : 'cV_n.+1) s, [/\ u^T *m u = 1%:M, v^T *m v = 1%:M, 0 <= s, A *m v = s *: u & A^T *m u = s *: v].
Proof.
have [|W [d [WW AA]]] := @symmetric_spectrum _ _ (A^T *m A); first by rewrite trmx_mul trmxK.
pose e : 'cV[R]_n.+1 := delta_mx 0 0; pose v := W *m e.
have e_e : e^T *m e = 1%:M.
  by rewrite trmx_delta mul_delta_mx; apply/matrixP => i j; rewrite !ord1 !mxE.
have vv : v^T *m v = 1%:M by rewrite trmx_mul -mulmxA (mulmxA W^T) WW mul1mx.
have AAv : A^T *m (A *m v) = d 0 0 *: v.
  rewrite mulmxA AA /v -!mulmxA (mulmxA W^T) WW mul1mx scalemxAr; congr (_ *m _).
  by apply/colP => i; rewrite mul_diag_mx !mxE andbT; have [->|_] := eqVneq i 0; rewrite ?mulr0.
have [Av0|Av_neq0] := eqVneq (A *m v) 0.
  have v_neq0 : v != 0 by apply: contra_eq_neq vv => ->; rewrite mulmx0 eq_sym oner_eq0.
  have /det0P[y y_neq0 yA] : \det A == 0.
    by rewrite -det_tr; apply/det0P; exists v^T; rewrite ?trmx_eq0 // -trmx_mul Av0 trmx0.
  have [|a _ unit] := @normalise _ _ y^T; first by rewrite trmx_eq0.
  exists (a *: y^T), v, 0; split=> //; first by rewrite Av0 scale0r.
  by rewrite -scalemxAr -trmx_mul yA trmx0 scaler0 scale0r.
have [a a_gt0 unit] := normalise Av_neq0.
exists (a *: (A *m v)), v, a^-1; split=> //.
- by rewrite invr_ge0 ltW.
- by rewrite scalerA mulVf ?scale1r // gt_eqF.
have aad : a * (a * d 0 0) = 1.
  move: unit; rewrite [(_ *: _)^T]linearZ /= -scalemxAl -scalemxAr trmx_mul -mulmxA AAv -scalemxAr vv !scalerA.
  by move/matrixP/(_ 0 0); rewrite !mxE mulr1 mulrA.
have a_neq0 : a != 0 by rewrite gt_eqF.
by rewrite -scalemxAr AAv scalerA; congr (_ *: v); apply: (mulfI a_neq0); rewrite aad mulfV.
Qed.

(** A decomposition, the values in any order. *)
Lemma unsorted n (A : 'M[R]_n) : exists (U V : 'M[R]_n) s,
  [/\ A = U *m diag_mx s *m V^T, U^T *m U = 1%:M, V^T *m V = 1%:M & forall i, 0 <= s 0 i].
Proof.
elim: n A => [|n IH] A; first by exists 1%:M, 1%:M, 0; split=> [||| []//]; apply/matrixP => -[].
have [u [v [s [uu vv s_ge0 Av Au]]]] := singular_pair A.
have [H H_reflects] := householder uu; have [K K_reflects] := householder vv.
have A_eq := deflate H_reflects K_reflects Av Au.
have [H_sym HH _] := H_reflects; have [K_sym KK _] := K_reflects.
have [U [V [t [rest UU VV t_ge0]]]] := IH (drsubmx (H *m A *m K : 'M_(1 + n))).
pose bordered (W : 'M[R]_n) : 'M[R]_(1 + n) := block_mx 1%:M 0 0 W.
exists (H *m bordered U), (K *m bordered V), (row_mx (const_mx s : 'rV_1) t); split.
- rewrite {1}A_eq rest -diag_const_mx trmx_mul K_sym !mulmxA; congr (_ *m K); rewrite -!mulmxA; congr (H *m _).
  by have := border_diag V U (const_mx s : 'rV_1) t; rewrite -!mulmxA.
- by rewrite trmx_mul H_sym -mulmxA (mulmxA H) HH mul1mx; exact: (@orthogonal_block _ 1).
- by rewrite trmx_mul K_sym -mulmxA (mulmxA K) KK mul1mx; exact: (@orthogonal_block _ 1).
by move=> i; rewrite mxE; case: splitP => j _ //; rewrite mxE.
Qed.

(** A permutation that puts the values in order. *)
Lemma sorting_perm n (s : 'rV[R]_n) : exists p : 'S_n, forall i j : 'I_n, (i <= j)%N -> s 0 (p j) <= s 0 (p i).
Proof.
pose t := [tuple s 0 i | i < n].
have /tuple_permP[p p_eq] : perm_eq (sort >=%O t) t by rewrite perm_sort.
exists p => i j le_ij.
have sortedE (k : 'I_n) : nth 0 (sort >=%O t) k = s 0 (p k).
  by rewrite p_eq -tnth_nth !tnth_mktuple.
rewrite -!sortedE; have := sorted_leq_nth ge_trans ge_refl 0 (sort_sorted ge_total t).
by move/(_ i j); rewrite !inE size_sort size_tuple !ltn_ord; apply.
Qed.

Lemma orthogonal_perm n (W : 'M[R]_n) (p : 'S_n) :
  W^T *m W = 1%:M -> (col_perm p W)^T *m col_perm p W = 1%:M.
Proof.
move/matrixP => WW; apply/matrixP => i j; have := WW (p i) (p j); rewrite !mxE (inj_eq perm_inj) => <-.
by apply: eq_bigr => k _; rewrite !mxE.
Qed.

(** The order of the values does not matter to the product. *)
Lemma reorder n (U V : 'M[R]_n) (s : 'rV[R]_n) (p : 'S_n) :
  U *m diag_mx s *m V^T = col_perm p U *m diag_mx (\row_i s 0 (p i)) *m (col_perm p V)^T.
Proof.
apply/matrixP => i j; rewrite !mxE (reindex_perm p); apply: eq_bigr => k _.
by rewrite !mul_mx_diag !mxE.
Qed.

Theorem svd_exists n (A : 'M[R]_n) : exists U s V, svd A U s V.
Proof.
have [U [V [s [A_eq UU VV s_ge0]]]] := unsorted A; have [p p_sorts] := sorting_perm s.
exists (col_perm p U), (\row_i s 0 (p i)), (col_perm p V); split; rewrite ?orthogonal_perm //.
- by rewrite -reorder.
- by move=> i; rewrite mxE.
by move=> i j le_ij; rewrite !mxE p_sorts.
Qed.

Theorem svd_values n (A U V U' V' : 'M[R]_n) s s' : svd A U s V -> svd A U' s' V' -> s = s'.
Proof.
pose tail (t : 'rV[R]_n) r := \sum_(i < n | (r <= i)%N) t 0 i ^+ 2.
have step (t : 'rV[R]_n) (i : 'I_n) : t 0 i ^+ 2 = tail t i - tail t i.+1.
  apply/esym/eqP; rewrite subr_eq /tail (bigD1 i) //=; apply/eqP; congr (_ + _); apply: eq_bigl => k.
  by rewrite [RHS]ltn_neqAle andbC eq_sym.
have le_tail (P Q P' Q' : 'M[R]_n) t t' r : svd A P t Q -> svd A P' t' Q' -> tail t r <= tail t' r.
  move=> dec /(frobenius_attained r)[X X_rank X_error].
  by rewrite [leRHS](_ : _ = frob (A - X)) //; exact: frobenius_bound dec X_rank.
move=> dec dec'; apply/rowP => i; have [[_ _ _ s_ge0 _] [_ _ _ s'_ge0 _]] := (dec, dec').
apply/eqP; rewrite -(@eqr_expn2 _ 2) // !step; apply/eqP.
by congr (_ - _); apply: le_anti; rewrite (le_tail _ _ _ _ _ _ _ dec dec') (le_tail _ _ _ _ _ _ _ dec' dec).
Qed.

End Existence.
