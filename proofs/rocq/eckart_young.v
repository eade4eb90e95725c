(** T6: no matrix that passes through r slots comes closer than the singular values past the r-th allow.

    Glossary
      A            the matrix to be approximated (full attention weights), n x n over a real field
      X            any matrix of rank at most r, such as a product BF through r slots
      svd A U s V  a singular value decomposition: A = U diag(s) V^T, U and V orthogonal, s_0 >= s_1 >= … >= 0
      frob M       the square of the Frobenius norm: the sum of the squares of the entries
      norm2 v      the sum of the squares of a column
      centre       I - 11^T/n, which takes the mean off every column

    Headline theorems:
      T6  frobenius_bound       frob (A - X) >= the sum of s_i^2 over i >= r
      T6  frobenius_attained    the truncated decomposition has rank <= r and attains it
      T6  spectral_bound        some v <> 0 has |(A - X) v| >= s_r |v|
      T6  spectral_attained     for the truncated decomposition |(A - X) v| <= s_r |v| for all v
      T6  frob_orthogonal       neither norm is changed by an orthogonal factor
      T6  norm2_orthogonal
      T6  softmax_head_bound    if the rows of B sum to 1, frob (A - BF) >= the sum over i >= r - 1 for centre A

      T7  output_error_bound    frob ((A - BF) V) <= c frob V when |(A - BF) v|^2 <= c |v|^2 for all v

    Indices count from 0, so s_r is the (r + 1)-st singular value. That every square matrix has such a decomposition is
    proved in svd.v, and that only truncated decompositions attain the Frobenius bound in frobenius_optimum.v; both ask
    for a real closed field, while the bounds here hold over every ordered field in which a decomposition exists.

    Axioms: none. *)
From mathcomp Require Import all_ssreflect all_algebra.
From AttnProof Require Import rank kernel_direction leverage.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section EckartYoung.

Variable R : realFieldType.

Definition frob m n (M : 'M[R]_(m, n)) : R := \sum_i \sum_j M i j ^+ 2.

Definition norm2 n (v : 'cV[R]_n) : R := \sum_i v i 0 ^+ 2.

Definition svd n (A U : 'M[R]_n) (s : 'rV[R]_n) (V : 'M[R]_n) :=
  [/\ A = U *m diag_mx s *m V^T, U^T *m U = 1%:M, V^T *m V = 1%:M,
      forall i, 0 <= s 0 i & forall i j : 'I_n, (i <= j)%N -> s 0 j <= s 0 i].

Lemma frob_trace m n (M : 'M[R]_(m, n)) : frob M = \tr (M *m M^T).
Proof. by apply: eq_bigr => i _; rewrite mxE; apply: eq_bigr => j _; rewrite mxE expr2. Qed.

Lemma frob_ge0 m n (M : 'M[R]_(m, n)) : 0 <= frob M.
Proof. by apply: sumr_ge0 => i _; apply: sumr_ge0 => j _; exact: sqr_ge0. Qed.

Lemma frob_tr m n (M : 'M[R]_(m, n)) : frob M^T = frob M.
Proof. by rewrite !frob_trace trmxK mxtrace_mulC. Qed.

Lemma frob_orthogonal m n (U : 'M[R]_m) (M : 'M[R]_(m, n)) : U^T *m U = 1%:M -> frob (U *m M) = frob M.
Proof. by move=> UU; rewrite !frob_trace trmx_mul mulmxA mxtrace_mulC !mulmxA UU mul1mx. Qed.

Lemma norm2_orthogonal n (W : 'M[R]_n) (v : 'cV[R]_n) : W^T *m W = 1%:M -> norm2 (W *m v) = norm2 v.
Proof.
have frobE (u : 'cV[R]_n) : norm2 u = frob u by apply: eq_bigr => i _; rewrite big_ord1.
by move=> WW; rewrite !frobE frob_orthogonal.
Qed.

(** A symmetric idempotent shortens. *)
Lemma frob_mul_projector m n (M : 'M[R]_(m, n)) (P : 'M[R]_n) :
  P^T = P -> P *m P = P -> frob (M *m P) = \tr (M *m P *m M^T).
Proof. by move=> P_sym PP; rewrite frob_trace trmx_mul P_sym mulmxA -(mulmxA M P P) PP. Qed.

Lemma frob_projector m n (M : 'M[R]_(m, n)) (P : 'M[R]_n) : P^T = P -> P *m P = P -> frob (M *m P) <= frob M.
Proof.
move=> P_sym PP; pose Q := 1%:M - P.
have Q_sym : Q^T = Q by rewrite /Q raddfB /= trmx1 P_sym.
have QQ : Q *m Q = Q by rewrite /Q mulmxBr mulmx1 mulmxBl mul1mx PP subrr subr0.
suff -> : frob M = frob (M *m P) + frob (M *m Q) by rewrite ler_addl frob_ge0.
rewrite !frob_mul_projector // -raddfD /= -mulmxDl -mulmxDr /Q addrC subrK mulmx1.
by rewrite -frob_trace.
Qed.

(** Weights in [0, 1] of total at least n - r keep at least the smallest n - r of the numbers. *)
Lemma weighted_tail n r (t p : 'I_n -> R) :
  (forall i, 0 <= t i) -> (forall i j : 'I_n, (i <= j)%N -> t j <= t i) -> (forall i, 0 <= p i <= 1) ->
  (n - r)%:R <= \sum_i p i -> \sum_(i < n | (r <= i)%N) t i <= \sum_i t i * p i.
Proof.
move=> t_ge0 t_noninc p01 total.
have [lenr|ltrn] := leqP n r.
  rewrite big1 => [|i]; last by rewrite leqNgt (leq_trans (ltn_ord i) lenr).
  by apply: sumr_ge0 => i _; case/andP: (p01 i) => p_ge0 _; rewrite mulr_ge0.
pose tau := t (Ordinal ltrn); pose c (i : 'I_n) : R := (r <= i)%N%:R.
have c_total : \sum_i c i = (n - r)%:R.
  rewrite /c -natr_sum -big_mkcond /= -(big_geq_mkord _ _ xpredT (fun=> 1%N)) sum_nat_const_nat muln1.
  by [].
have -> : \sum_(i < n | (r <= i)%N) t i = \sum_i t i * c i.
  by rewrite big_mkcond; apply: eq_bigr => i _; rewrite /c; case: leqP; rewrite ?mulr1 ?mulr0.
rewrite -subr_ge0 -sumrB; apply: (@le_trans _ _ (tau * \sum_i (p i - c i))).
  by rewrite mulr_ge0 ?t_ge0 // sumrB c_total subr_ge0.
rewrite mulr_sumr; apply: ler_sum => i _; rewrite -mulrBr -subr_ge0 -mulrBl.
case/andP: (p01 i) => p_ge0 p_le1; rewrite /c; case: leqP => [le_ri|lt_ir].
  by rewrite mulr_le0 // subr_le0 // t_noninc.
by rewrite subr0 mulr_ge0 // subr_ge0 t_noninc // ltnW.
Qed.

Theorem frobenius_bound n r (A U V X : 'M[R]_n) (s : 'rV[R]_n) :
  svd A U s V -> (\rank X <= r)%N -> \sum_(i < n | (r <= i)%N) s 0 i ^+ 2 <= frob (A - X).
Proof.
move=> [A_eq UU VV s_ge0 s_noninc] X_rank.
have UU' : U *m U^T = 1%:M by apply: mulmx1C.
have VV' : V *m V^T = 1%:M by apply: mulmx1C.
pose Y := U^T *m X *m V.
have [G [YGY GY_sym]] := pseudo_inverse_exists Y.
pose P := 1%:M - G *m Y.
have P_sym : P^T = P by rewrite /P raddfB /= trmx1 GY_sym.
have GY_idem : (G *m Y) *m (G *m Y) = G *m Y by rewrite -mulmxA (mulmxA Y) YGY.
have PP : P *m P = P by rewrite /P mulmxBr mulmx1 mulmxBl mul1mx GY_idem subrr subr0.
have YP : Y *m P = 0 by rewrite /P mulmxBr mulmx1 mulmxA YGY subrr.
have -> : frob (A - X) = frob (diag_mx s - Y).
  have -> : A - X = U *m ((diag_mx s - Y) *m V^T).
    rewrite A_eq mulmxBl mulmxBr mulmxA; congr (_ - _).
    by rewrite /Y !mulmxA UU' mul1mx -mulmxA VV' mulmx1.
  by rewrite frob_orthogonal // -frob_tr trmx_mul trmxK frob_orthogonal // frob_tr.
apply: le_trans _ (frob_projector (diag_mx s - Y) P_sym PP).
rewrite mulmxBl YP subr0 frob_mul_projector // tr_diag_mx.
have -> : \tr (diag_mx s *m P *m diag_mx s) = \sum_i s 0 i ^+ 2 * P i i.
  by apply: eq_bigr => i _; rewrite mul_mx_diag mxE mul_diag_mx mxE mulrAC expr2.
have P_diag i : P i i = 1 - leverage Y G i by rewrite /P mxE [X in _ + X]mxE [X in X - _]mxE eqxx.
apply: (@weighted_tail n r (fun i => s 0 i ^+ 2) (fun i => P i i)).
- by move=> i; exact: sqr_ge0.
- by move=> i j le_ij; rewrite ler_sqr ?nnegrE // s_noninc.
- move=> i; rewrite P_diag subr_ge0 ler_subl_addr ler_addl andbC.
  by apply: leverage_bounds.
rewrite (eq_bigr _ (fun i _ => P_diag i)) sumrB sumr_const card_ord.
have [-> _] := leverage_sum (conj YGY GY_sym : pseudo_inverse Y G).
have Y_rank : (\rank Y <= r)%N.
  by apply: leq_trans X_rank; rewrite /Y (leq_trans (mxrankM_maxl _ _)) // mxrankM_maxr.
by rewrite -natrB ?rank_leq_row // ler_nat leq_sub2l.
Qed.

(** What truncation leaves, whatever the order of the values. *)
Lemma truncation_error n r (U V : 'M[R]_n) (s : 'rV[R]_n) : U^T *m U = 1%:M -> V^T *m V = 1%:M ->
  frob (U *m diag_mx s *m V^T - U *m (diag_mx s *m pid_mx r) *m V^T) = \sum_(i < n | (r <= i)%N) s 0 i ^+ 2.
Proof.
move=> UU VV; rewrite -mulmxBl -mulmxBr -mulmxA frob_orthogonal // -frob_tr trmx_mul trmxK frob_orthogonal // frob_tr.
rewrite /frob [RHS]big_mkcond; apply: eq_bigr => i _; rewrite (bigD1 i) //= big1 => [|j neq_ji].
  by rewrite addr0 mul_diag_mx !mxE !eqxx /=; case: leqP => _; rewrite ?mulr1 ?subrr ?mulr0 ?subr0 ?expr0n.
have /negbTE neq_ij : i != j by rewrite eq_sym.
by rewrite mul_diag_mx !mxE -val_eqE /= val_eqE neq_ij /= mulr0n mulr0 subrr expr0n.
Qed.

Lemma truncation_rank n r (U D V : 'M[R]_n) : (\rank (U *m (D *m pid_mx r) *m V) <= r)%N.
Proof.
apply: leq_trans (mxrankM_maxl _ _) _; apply: leq_trans (mxrankM_maxr _ _) _.
apply: leq_trans (mxrankM_maxr _ _) _.
by rewrite -pid_mx_minv rank_pid_mx ?geq_minr ?geq_minl.
Qed.

Theorem frobenius_attained n r (A U V : 'M[R]_n) (s : 'rV[R]_n) :
  svd A U s V ->
  exists2 X, (\rank X <= r)%N & frob (A - X) = \sum_(i < n | (r <= i)%N) s 0 i ^+ 2.
Proof.
move=> [A_eq UU VV _ _]; exists (U *m (diag_mx s *m pid_mx r) *m V^T); first exact: truncation_rank.
by rewrite {1}A_eq truncation_error.
Qed.

Theorem spectral_bound n r (A U V X : 'M[R]_n) (s : 'rV[R]_n) (ltrn : (r < n)%N) :
  svd A U s V -> (\rank X <= r)%N ->
  exists2 v : 'cV[R]_n, v != 0 & s 0 (Ordinal ltrn) ^+ 2 * norm2 v <= norm2 ((A - X) *m v).
Proof.
move=> [A_eq UU VV s_ge0 s_noninc] X_rank.
have UU' : U *m U^T = 1%:M by apply: mulmx1C.
have [B [F X_eq]] := (rank_le_factors r X).1 X_rank.
have [x [x_neq0 FVx _]] := blind_direction (F *m V *m (pid_mx r.+1 : 'M_(n, r.+1))) (ltnSn r).
pose w := (pid_mx r.+1 : 'M_(n, r.+1)) *m x.
have w_tail (i : 'I_n) : (r < i)%N -> w i 0 = 0.
  by move=> lt_ri; rewrite mxE big1 // => k _; rewrite mxE ltnNge lt_ri andbF mul0r.
have w_neq0 : w != 0.
  apply: contraNneq x_neq0 => w0; rewrite -[x]mul1mx -pid_mx_1 -(@pid_mx_id _ _ n _ _ ltrn) -mulmxA.
  by rewrite -/w w0 mulmx0.
exists (V *m w).
  by apply: contraNneq w_neq0 => Vw0; rewrite -[w]mul1mx -VV -mulmxA Vw0 mulmx0.
have -> : (A - X) *m (V *m w) = U *m (diag_mx s *m w).
  rewrite mulmxBl X_eq -[B *m F *m _]mulmxA (mulmxA F) [F *m V *m w]mulmxA FVx mulmx0 subr0.
  by rewrite A_eq -!mulmxA (mulmxA V^T) VV mul1mx.
rewrite (norm2_orthogonal _ VV) (norm2_orthogonal _ UU) /norm2 mulr_sumr; apply: ler_sum => i _.
have -> : (diag_mx s *m w) i 0 = s 0 i * w i 0 by rewrite mul_diag_mx mxE.
rewrite exprMn; have [le_ir|lt_ri] := leqP i r; last by rewrite w_tail // expr0n mulr0 mulr0.
by rewrite ler_wpmul2r ?sqr_ge0 // ler_sqr ?nnegrE // s_noninc.
Qed.

Theorem spectral_attained n r (A U V : 'M[R]_n) (s : 'rV[R]_n) (ltrn : (r < n)%N) :
  svd A U s V ->
  exists2 X, (\rank X <= r)%N & forall v, norm2 ((A - X) *m v) <= s 0 (Ordinal ltrn) ^+ 2 * norm2 v.
Proof.
move=> [A_eq UU VV s_ge0 s_noninc]; exists (U *m (diag_mx s *m pid_mx r) *m V^T); first exact: truncation_rank.
have VV' : V^T^T *m V^T = 1%:M by rewrite trmxK; apply: mulmx1C.
move=> v; rewrite {1}A_eq -mulmxBl -mulmxBr -!mulmxA (norm2_orthogonal _ UU) -(norm2_orthogonal v VV').
rewrite /norm2 mulr_sumr; apply: ler_sum => i _; set w := V^T *m v.
have -> : ((diag_mx s - diag_mx s *m pid_mx r) *m w) i 0 = (if (i < r)%N then 0 else s 0 i * w i 0).
  have pid_w : ((pid_mx r : 'M_n) *m w) i 0 = (i < r)%N%:R * w i 0.
    rewrite mxE (bigD1 i) //= mxE eqxx big1 ?addr0 // => j neq_ji.
    by rewrite mxE val_eqE eq_sym (negbTE neq_ji) mul0r.
  rewrite mulmxBl -mulmxA mxE [X in _ + X]mxE !mul_diag_mx mxE [X in _ - X]mxE pid_w.
  by case: ltnP; rewrite ?mul1r ?subrr // mul0r mulr0 subr0.
case: ltnP => [_|le_ri]; first by rewrite expr0n mulr_ge0 ?sqr_ge0.
by rewrite exprMn ler_wpmul2r ?sqr_ge0 // ler_sqr ?nnegrE // s_noninc.
Qed.

(** T7's bound that does hold, with the squares of both norms: each column of the values is multiplied alike. *)
Theorem output_error_bound m n dv (M : 'M[R]_(m, n)) (V : 'M[R]_(n, dv)) c :
  (forall v, norm2 (M *m v) <= c * norm2 v) -> frob (M *m V) <= c * frob V.
Proof.
have by_columns a (W : 'M[R]_(a, dv)) : frob W = \sum_j norm2 (col j W).
  by rewrite /frob exchange_big; apply: eq_bigr => j _; apply: eq_bigr => i _; rewrite mxE.
move=> bound; rewrite !by_columns mulr_sumr; apply: ler_sum => j _.
by rewrite colE -mulmxA -colE.
Qed.

Definition centre n : 'M[R]_n := 1%:M - n%:R^-1 *: const_mx 1.

Theorem softmax_head_bound n r (A U V : 'M[R]_n.+1) (s : 'rV[R]_n.+1) (B : 'M[R]_(n.+1, r)) (F : 'M[R]_(r, n.+1)) :
  (forall i, \sum_k B i k = 1) -> svd (centre n.+1 *m A) U s V ->
  \sum_(i < n.+1 | (r.-1 <= i)%N) s 0 i ^+ 2 <= frob (A - B *m F).
Proof.
move=> B1 dec; pose C := centre n.+1.
pose ones : 'M[R]_n.+1 := const_mx 1.
have ones_sq : ones *m ones = n.+1%:R *: ones.
  apply/matrixP => i j; rewrite !mxE mulr1 -[in RHS](card_ord n.+1) -sumr_const.
  by apply: eq_bigr => k _; rewrite !mxE mulr1.
have n_neq0 : n.+1%:R != 0 :> R by rewrite pnatr_eq0.
pose mean := n.+1%:R^-1 *: ones.
have mean_ones : mean *m ones = ones by rewrite -scalemxAl ones_sq scalerA mulVf // scale1r.
have mean_idem : mean *m mean = mean by rewrite {2}/mean -scalemxAr mean_ones.
have C_sym : C^T = C by rewrite /C /centre raddfB /= trmx1 linearZ /= trmx_const.
have CC : C *m C = C.
  by rewrite /C /centre -/ones -/mean mulmxBr mulmx1 mulmxBl mul1mx mean_idem subrr subr0.
have C_ones : C *m ones = 0 by rewrite /C /centre -/ones -/mean mulmxBl mul1mx mean_ones subrr.
have CB_rank : (\rank (C *m B) <= r.-1)%N.
  have CB_ones : C *m B *m (const_mx 1 : 'M[R]_(r, n.+1)) = 0.
    rewrite -mulmxA (_ : B *m _ = ones) //; apply/matrixP => i j.
    by rewrite [RHS]mxE -[RHS](B1 i) mxE; apply: eq_bigr => k _; rewrite mxE mulr1.
  have := mulmx0_rank_max CB_ones; case: (posnP r) => [r0 | r_gt0].
    by move=> _; rewrite (leq_trans (rank_leq_col _)) // {1}r0.
  have ones_rank : (0 < \rank (const_mx 1 : 'M[R]_(r, n.+1))%R)%N.
    rewrite lt0n mxrank_eq0; apply/eqP => /matrixP/(_ (Ordinal r_gt0) 0); rewrite !mxE => /eqP.
    by rewrite oner_eq0.
  move=> total; rewrite -ltnS (prednK r_gt0); apply: leq_trans total.
  by rewrite -addn1 leq_add2l.
apply: (@le_trans _ _ (frob (C *m A - C *m B *m F))).
  apply: frobenius_bound dec _.
  exact: leq_trans (mxrankM_maxl _ _) CB_rank.
rewrite -mulmxA -mulmxBr -frob_tr trmx_mul C_sym -[leRHS]frob_tr.
exact: frob_projector.
Qed.

End EckartYoung.
