(** T6 for matrices of any shape: attention weights of m queries over n positions.

    Glossary (see eckart_young.v)
      thin_svd A U s V   A = U diag(s) V^T with k singular values, U and V with orthonormal columns

    Headline theorems:
      T6  rectangular_frobenius, rectangular_frobenius_attained
      T6  rectangular_spectral, rectangular_spectral_attained

    Axioms: none. *)
From mathcomp Require Import all_ssreflect all_algebra.
From AttnProof Require Import eckart_young.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Rectangular.

Variable R : realFieldType.

Definition thin_svd m n k (A : 'M[R]_(m, n)) (U : 'M[R]_(m, k)) (s : 'rV[R]_k) (V : 'M[R]_(n, k)) :=
  [/\ A = U *m diag_mx s *m V^T, U^T *m U = 1%:M, V^T *m V = 1%:M,
      forall i, 0 <= s 0 i & forall i j : 'I_k, (i <= j)%N -> s 0 j <= s 0 i].

Lemma frob_isometry m n k (U : 'M[R]_(m, k)) (M : 'M[R]_(k, n)) : U^T *m U = 1%:M -> frob (U *m M) = frob M.
Proof. by move=> UU; rewrite !frob_trace trmx_mul mulmxA mxtrace_mulC !mulmxA UU mul1mx. Qed.

Lemma frob_projected m n k (U : 'M[R]_(m, k)) (M : 'M[R]_(m, n)) : U^T *m U = 1%:M -> frob (U^T *m M) <= frob M.
Proof.
move=> UU; rewrite -(frob_isometry _ UU) mulmxA -frob_tr trmx_mul -[frob M]frob_tr.
have sym : (U *m U^T)^T = U *m U^T by rewrite trmx_mul trmxK.
by rewrite sym; apply: frob_projector => //; rewrite mulmxA -[U *m _ *m U]mulmxA UU mulmx1.
Qed.

Lemma norm2_frob n (v : 'cV[R]_n) : norm2 v = frob v.
Proof. by apply: eq_bigr => i _; rewrite big_ord1. Qed.

Lemma middle m n k (A : 'M[R]_(m, n)) U (s : 'rV[R]_k) V : thin_svd A U s V -> svd (diag_mx s) 1%:M s 1%:M /\ U^T *m A *m V = diag_mx s.
Proof.
case=> -> UU VV s_ge0 sorted; split; last by rewrite !mulmxA UU mul1mx -mulmxA VV mulmx1.
by split=> //; rewrite ?trmx1 ?mul1mx ?mulmx1.
Qed.

Lemma between m n k (A X : 'M[R]_(m, n)) U (s : 'rV[R]_k) V : thin_svd A U s V ->
  diag_mx s - U^T *m X *m V = U^T *m (A - X) *m V.
Proof. by case/middle=> _ <-; rewrite mulmxBr mulmxBl. Qed.

Lemma between_rank m n k r (X : 'M[R]_(m, n)) (U : 'M[R]_(m, k)) (V : 'M[R]_(n, k)) :
  (\rank X <= r)%N -> (\rank (U^T *m X *m V) <= r)%N.
Proof. by apply: leq_trans; apply: leq_trans (mxrankM_maxl _ _) (mxrankM_maxr _ _). Qed.

Theorem rectangular_frobenius m n k r (A X : 'M[R]_(m, n)) U (s : 'rV[R]_k) V :
  thin_svd A U s V -> (\rank X <= r)%N -> \sum_(i < k | (r <= i)%N) s 0 i ^+ 2 <= frob (A - X).
Proof.
move=> dec rankX; have [square _] := middle dec; have [_ UU VV _ _] := dec.
apply: le_trans (frobenius_bound square (between_rank U V rankX)) _; rewrite (between _ dec).
apply: le_trans (frob_projected (A - X) UU); rewrite -frob_tr trmx_mul -[X in _ <= X]frob_tr.
exact: frob_projected.
Qed.

Theorem rectangular_frobenius_attained m n k r (A : 'M[R]_(m, n)) U (s : 'rV[R]_k) V : thin_svd A U s V ->
  exists2 X, (\rank X <= r)%N & frob (A - X) = \sum_(i < k | (r <= i)%N) s 0 i ^+ 2.
Proof.
move=> dec; have [square _] := middle dec; have [-> UU VV _ _] := dec.
have [Y rankY optimal] := frobenius_attained r square; exists (U *m Y *m V^T).
  apply: leq_trans (mxrankM_maxl _ _) _; exact: leq_trans (mxrankM_maxr _ _) rankY.
by rewrite -optimal -mulmxBl -mulmxBr -mulmxA frob_isometry // -frob_tr trmx_mul trmxK frob_isometry // frob_tr.
Qed.

Theorem rectangular_spectral m n k r (A X : 'M[R]_(m, n)) U (s : 'rV[R]_k) V (ltrk : (r < k)%N) :
  thin_svd A U s V -> (\rank X <= r)%N ->
  exists2 v : 'cV[R]_n, v != 0 & s 0 (Ordinal ltrk) ^+ 2 * norm2 v <= norm2 ((A - X) *m v).
Proof.
move=> dec rankX; have [square _] := middle dec; have [_ UU VV _ _] := dec.
have [w w0 far] := spectral_bound ltrk square (between_rank U V rankX); exists (V *m w).
  by apply: contraNneq w0 => zero; rewrite -[w]mul1mx -VV -mulmxA zero mulmx0.
rewrite !norm2_frob in far *; rewrite frob_isometry //; apply: le_trans far _; rewrite (between _ dec) -!mulmxA.
exact: frob_projected.
Qed.

Theorem rectangular_spectral_attained m n k r (A : 'M[R]_(m, n)) U (s : 'rV[R]_k) V (ltrk : (r < k)%N) :
  thin_svd A U s V ->
  exists2 X, (\rank X <= r)%N & forall v, norm2 ((A - X) *m v) <= s 0 (Ordinal ltrk) ^+ 2 * norm2 v.
Proof.
move=> dec; have [square _] := middle dec; have [-> UU VV _ _] := dec.
have [Y rankY near] := spectral_attained ltrk square; exists (U *m Y *m V^T).
  apply: leq_trans (mxrankM_maxl _ _) _; exact: leq_trans (mxrankM_maxr _ _) rankY.
move=> v; rewrite -mulmxBl -mulmxBr -!mulmxA norm2_frob frob_isometry // -norm2_frob.
apply: le_trans (near _) _; apply: ler_wpmul2l; first exact: sqr_ge0.
by rewrite !norm2_frob frob_projected.
Qed.

End Rectangular.
