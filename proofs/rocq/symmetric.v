(** T6: every symmetric matrix over a real closed field is W diag(d) W^T with W orthogonal.

    Glossary
      M               a symmetric matrix
      secular a c d   the polynomial (X - a) prod_j (X - d_j) - sum_i c_i^2 prod_(j != i) (X - d_j), which is the
                      characteristic polynomial of the arrowhead matrix [a, c; c^T, diag(d)]
      householder v   the reflection that swaps the first unit vector and the unit vector v

    Headline theorem:
      T6  symmetric_spectrum     every symmetric matrix is W diag(d) W^T with W orthogonal

    The proof needs no complex numbers. Diagonalise all but the first row and column: what is left is an arrowhead
    matrix, whose secular polynomial is at most 0 at the largest d_j and at least 0 far out, so it has a root. That root
    has an eigenvector that can be written down; a reflection turns it into the first unit vector, and the matrix falls
    apart into a number and a smaller matrix.

    Axioms: none. *)
From mathcomp Require Import all_ssreflect all_algebra.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Arrowhead.

Variable R : rcfType.

Definition arrowhead n (a : R) (c d : 'rV[R]_n) : 'M_(1 + n) := block_mx a%:M c c^T (diag_mx d).

Definition secular n (a : R) (c d : 'rV[R]_n) : {poly R} :=
  ('X - a%:P) * (\prod_j ('X - (d 0 j)%:P)) - \sum_i ((c 0 i) ^+ 2)%:P * (\prod_(j | j != i) ('X - (d 0 j)%:P)).

Lemma secularE n (a : R) (c d : 'rV[R]_n) x :
  (secular a c d).[x] = (x - a) * (\prod_j (x - d 0 j)) - \sum_i (c 0 i) ^+ 2 * (\prod_(j | j != i) (x - d 0 j)).
Proof.
have prodE (P : pred 'I_n) : (\prod_(j | P j) ('X - (d 0 j)%:P)).[x] = \prod_(j | P j) (x - d 0 j).
  by rewrite horner_prod; apply: eq_bigr => j _; rewrite !hornerE.
rewrite /secular hornerD hornerN hornerM prodE horner_sum !hornerE; congr (_ - _).
by apply: eq_bigr => i _; rewrite hornerM hornerC prodE.
Qed.

(** At the largest d_j, or at a where there is none. *)
Lemma secular_low n (a : R) (c d : 'rV[R]_n) : exists x, (secular a c d).[x] <= 0 /\ forall j, d 0 j <= x.
Proof.
case: n c d => [|n] c d; first by exists a; split=> [|[]//]; rewrite secularE subrr mul0r big_ord0 subr0.
have [k _ k_max] := @arg_maxP _ _ _ (@ord0 n) xpredT (fun j => d 0 j) isT.
exists (d 0 k); split=> [|j]; last exact: k_max.
rewrite secularE (bigD1 k) //= subrr mul0r mulr0 sub0r oppr_le0; apply: sumr_ge0 => i _.
rewrite mulr_ge0 ?sqr_ge0 //; apply: prodr_ge0 => j _.
by rewrite subr_ge0; exact: k_max.
Qed.

Lemma secular_high n (a : R) (c d : 'rV[R]_n) low :
  (forall j, d 0 j <= low) -> exists2 x, low <= x & 0 <= (secular a c d).[x].
Proof.
move=> d_low; pose total := \sum_i (c 0 i) ^+ 2.
have total_ge0 : 0 <= total by apply: sumr_ge0 => i _; exact: sqr_ge0.
exists (`|low| + (`|a| + (total + 1))).
  by apply: le_trans (ler_norm low) _; rewrite ler_addl addr_ge0 ?addr_ge0 ?ler01.
set x := `|low| + _; have d_far j : 1 <= x - d 0 j.
  rewrite ler_subr_addl; apply: ler_add; first exact: le_trans (d_low j) (ler_norm low).
  by rewrite addrA ler_addr ?addr_ge0.
have d_pos j : 0 <= x - d 0 j by apply: le_trans (d_far j).
rewrite secularE subr_ge0; apply: (@le_trans _ _ (total * \prod_j (x - d 0 j))); last first.
  rewrite ler_wpmul2r ?prodr_ge0 // ler_subr_addl /x addrCA; apply: ler_add (ler_norm a) _.
  by rewrite addrCA ler_addl addr_ge0 ?ler01.
rewrite mulr_suml; apply: ler_sum => i _; rewrite ler_wpmul2l ?sqr_ge0 //.
by rewrite [leRHS](bigD1 i) //= ler_pemull ?prodr_ge0.
Qed.

Lemma secular_root n (a : R) (c d : 'rV[R]_n) : exists x, (secular a c d).[x] = 0.
Proof.
have [low [low_le0 d_low]] := secular_low a c d.
have [high low_high high_ge0] := secular_high a c d_low.
have [|x _ /rootP x_root] := @poly_ivt _ (secular a c d) _ _ low_high; last by exists x.
by rewrite low_le0.
Qed.

Lemma arrowhead_eigenvector n (a : R) (c d : 'rV[R]_n) :
  exists x, exists2 v : 'cV_(1 + n), v != 0 & arrowhead a c d *m v = x *: v.
Proof.
have [x x_root] := secular_root a c d; exists x.
pose others i := \prod_(j | j != i) (x - d 0 j).
have othersE i : (x - d 0 i) * others i = \prod_j (x - d 0 j) by rewrite [RHS](bigD1 i).
pose bottom : 'cV_n := \col_i (c 0 i * others i).
have mul_arrow (t : 'cV_1) (b : 'cV_n) :
    a *: t + c *m b = x *: t -> c^T *m t + diag_mx d *m b = x *: b ->
    arrowhead a c d *m col_mx t b = x *: col_mx t b.
  by move=> top low; rewrite /arrowhead mul_block_col mul_scalar_mx top low scale_col_mx.
have [v0|v_neq0] := eqVneq (col_mx (\prod_j (x - d 0 j))%:M bottom) 0; last first.
  exists (col_mx (\prod_j (x - d 0 j))%:M bottom) => //; apply: mul_arrow.
    apply/matrixP => i j; rewrite !ord1 !mxE eqxx mulr1n; apply/eqP; rewrite -subr_eq0 addrAC -mulrBl.
    rewrite -oppr_eq0 opprD -mulNr opprB; move/eqP: x_root; rewrite secularE; congr (_ - _ == 0).
    by apply: eq_bigr => k _; rewrite mxE mulrA expr2.
  rewrite mul_mx_scalar; apply/colP => i; rewrite mul_diag_mx !mxE.
  by rewrite -(othersE i) -mulrA (mulrC (others i)) -mulrDl subrK.
have [prod0 bottom0] : \prod_j (x - d 0 j) = 0 /\ forall i, c 0 i * others i = 0.
  move/eqP: v0; rewrite col_mx_eq0 => /andP[/eqP/matrixP/(_ 0 0) top /eqP/colP low].
  by split=> [|i]; [move: top | move: (low i)]; rewrite !mxE ?eqxx.
move/eqP/prodf_eq0: prod0 => [k _ /eqP xk].
have dk : d 0 k = x by apply/esym/subr0_eq.
have diag_delta j : d 0 j = x -> diag_mx d *m delta_mx j 0 = x *: (delta_mx j 0 : 'cV_n).
  move=> dj; apply/colP => i; rewrite mul_diag_mx !mxE eqxx andbT.
  by have [->|_] := eqVneq i j; rewrite ?dj // !mulr0.
have [ck0|ck_neq0] := eqVneq (c 0 k) 0.
  exists (col_mx 0 (delta_mx k 0)).
    by rewrite col_mx_eq0 eqxx /=; apply/eqP => /colP/(_ k)/eqP; rewrite !mxE !eqxx oner_eq0.
  apply: mul_arrow; rewrite ?mulmx0 ?scaler0 ?add0r ?diag_delta // -colE.
  by apply/colP => i; rewrite !mxE !ord1.
have /prodf_eq0[l neq_lk /eqP xl] : others k == 0.
  by move/eqP: (bottom0 k); rewrite mulf_eq0 (negbTE ck_neq0).
have dl : d 0 l = x by apply/esym/subr0_eq.
exists (col_mx 0 (c 0 l *: delta_mx k 0 - c 0 k *: delta_mx l 0)).
  rewrite col_mx_eq0 eqxx /=; apply: contraNneq ck_neq0 => /colP/(_ l)/eqP.
  by rewrite !mxE eqxx (negbTE neq_lk) mulr0 sub0r mulr1 oppr_eq0.
apply: mul_arrow.
  rewrite !scaler0 add0r mulmxBr -!scalemxAr -!colE; apply/colP => i.
  by rewrite !mxE !ord1 mulrC subrr.
by rewrite mulmx0 add0r mulmxBr scalerBr -!scalemxAr !diag_delta // !scalerA !(mulrC x).
Qed.

End Arrowhead.

Section Reflection.

Variable R : rcfType.

(** The square of the length of a column, as a 1 x 1 matrix: v^T v. *)
Lemma length_gt0 n (v : 'cV[R]_n) : v != 0 -> 0 < (v^T *m v) 0 0.
Proof.
move=> v_neq0; rewrite lt_def; apply/andP; split; last first.
  by rewrite mxE; apply: sumr_ge0 => i _; rewrite mxE -expr2 sqr_ge0.
apply: contraNneq v_neq0; rewrite mxE => /eqP; rewrite psumr_eq0 => [/allP v0|i _]; last by rewrite mxE -expr2 sqr_ge0.
by apply/eqP/colP => i; have := v0 i (mem_index_enum i); rewrite !mxE /= mulf_eq0 orbb => /eqP.
Qed.

(** Every vector but 0 has a multiple of length 1. *)
Lemma normalise n (v : 'cV[R]_n) : v != 0 -> exists2 a : R, 0 < a & (a *: v)^T *m (a *: v) = 1%:M.
Proof.
move=> /length_gt0; set l := (_ *m _) 0 0 => l_gt0.
have vv : v^T *m v = l%:M by rewrite [LHS]mx11_scalar.
exists (Num.sqrt l)^-1; first by rewrite invr_gt0 sqrtr_gt0.
rewrite [(_ *: v)^T]linearZ /= -scalemxAl -scalemxAr scalerA vv scale_scalar_mx.
by rewrite -expr2 exprVn sqr_sqrtr ?ltW // mulVf // gt_eqF.
Qed.

(** The reflection that swaps the first unit vector and v. *)
Lemma householder n (v : 'cV[R]_n.+1) : v^T *m v = 1%:M ->
  exists H : 'M_n.+1, [/\ H^T = H, H *m H = 1%:M & H *m delta_mx 0 0 = v].
Proof.
move=> vv; pose e : 'cV[R]_n.+1 := delta_mx 0 0; pose w := v - e.
have [w0|w_neq0] := eqVneq w 0.
  by exists 1%:M; rewrite trmx1 !mul1mx; split=> //; apply/esym/subr0_eq.
pose q := (w^T *m w) 0 0; have q_neq0 : q != 0 by rewrite gt_eqF ?length_gt0.
have ww : w^T *m w = q%:M by rewrite [LHS]mx11_scalar.
have e_e : e^T *m e = 1%:M.
  by rewrite trmx_delta mul_delta_mx; apply/matrixP => i j; rewrite !ord1 !mxE.
pose t := (v^T *m e) 0 0; have ve : v^T *m e = t%:M by rewrite [LHS]mx11_scalar.
have ev : e^T *m v = t%:M by rewrite -[LHS]trmxK trmx_mul trmxK ve tr_scalar_mx.
have wT : w^T = v^T - e^T by rewrite raddfB.
have qE : q = 2%:R * (1 - t).
  rewrite /q wT mulmxBl !mulmxBr vv ve ev e_e !mxE eqxx !mulr1n opprB.
  by rewrite mulr_natl mulr2n.
have we : w^T *m e = (- (q / 2%:R))%:M.
  by rewrite wT mulmxBl ve e_e -raddfB /= qE mulrAC divff ?pnatr_eq0 // mul1r opprB.
pose k := 2%:R / q; exists (1%:M - k *: (w *m w^T)); split.
- by rewrite raddfB /= trmx1 linearZ /= trmx_mul trmxK.
- have PP : w *m w^T *m (w *m w^T) = q *: (w *m w^T).
    by rewrite mulmxA -(mulmxA w) ww mul_mx_scalar -scalemxAl.
  have kkq : k * (k * q) = k + k by rewrite divfK // mulr_natr mulr2n.
  by rewrite mulmxBl mul1mx mulmxBr mulmx1 -scalemxAl -scalemxAr PP !scalerA -mulrA kkq scalerDl opprB addrK subrK.
rewrite mulmxBl mul1mx -scalemxAl -mulmxA we mul_mx_scalar scalerA mulrN scaleNr opprK.
by rewrite /k mulrA divfK // divff ?pnatr_eq0 // scale1r addrC subrK.
Qed.

End Reflection.

Section Spectrum.

Variable R : rcfType.

Lemma conjugate_block m n (V W : 'M[R]_n) (a : 'M_m) c b D :
  block_mx 1%:M 0 0 W *m block_mx a c b D *m (block_mx 1%:M 0 0 V)^T =
    block_mx a (c *m V^T) (W *m b) (W *m D *m V^T).
Proof.
by rewrite tr_block_mx !trmx0 trmx1 !mulmx_block !mulmx1 !mul1mx !mulmx0 !mul0mx !addr0 !add0r.
Qed.

(** So a decomposition of the lower right block is one of the whole matrix. *)
Lemma border_diag m n (V W : 'M[R]_n) (a : 'rV[R]_m) (d : 'rV[R]_n) :
  block_mx (diag_mx a) 0 0 (W *m diag_mx d *m V^T) =
    block_mx 1%:M 0 0 W *m diag_mx (row_mx a d) *m (block_mx 1%:M 0 0 V)^T.
Proof. by rewrite diag_mx_row conjugate_block mul0mx mulmx0. Qed.

Lemma orthogonal_block m n (W : 'M[R]_n) : W^T *m W = 1%:M ->
  (block_mx (1%:M : 'M_m) 0 0 W)^T *m block_mx (1%:M : 'M_m) 0 0 W = 1%:M.
Proof.
by move=> WW; rewrite tr_block_mx trmx1 !trmx0 mulmx_block !mul1mx !mulmx0 !mul0mx !addr0 !add0r WW -scalar_mx_block.
Qed.

Lemma corner n (B : 'M[R]_(1 + n)) s :
  B *m delta_mx 0 0 = s *: (delta_mx 0 0 : 'cV_(1 + n)) -> B^T *m delta_mx 0 0 = s *: (delta_mx 0 0 : 'cV_(1 + n)) ->
  B = block_mx s%:M 0 0 (drsubmx B).
Proof.
rewrite -!colE => /colP Be /colP Bte.
have column i : B i 0 = s *+ (i == 0) by have := Be i; rewrite !mxE andbT mulr_natr.
have line j : B 0 j = s *+ (j == 0) by have := Bte j; rewrite !mxE andbT mulr_natr.
have first (i : 'I_1) : lshift n i = 0 by apply/val_inj; rewrite /= ord1.
rewrite -[LHS]submxK; congr block_mx; apply/matrixP => i j; rewrite !mxE ?first ?column ?line //.
by rewrite !ord1.
Qed.

(** Where the reflections H and K send the first unit vector to u and v with A v = s u and A^T u = s v, the matrix
    H A K has s in its corner and zeros beside and below it. *)
Lemma deflate n (A H K : 'M[R]_(1 + n)) (u v : 'cV[R]_(1 + n)) s :
  [/\ H^T = H, H *m H = 1%:M & H *m delta_mx 0 0 = u] -> [/\ K^T = K, K *m K = 1%:M & K *m delta_mx 0 0 = v] ->
  A *m v = s *: u -> A^T *m u = s *: v ->
  A = H *m block_mx s%:M 0 0 (drsubmx (H *m A *m K)) *m K.
Proof.
move=> [H_sym HH Hu] [K_sym KK Kv] Av Au; rewrite -corner.
- by rewrite !mulmxA HH mul1mx -mulmxA KK mulmx1.
- by rewrite -!mulmxA Kv Av -scalemxAr -Hu mulmxA HH mul1mx.
by rewrite !trmx_mul H_sym K_sym -!mulmxA Hu Au -scalemxAr -Kv mulmxA KK mul1mx.
Qed.

(** An eigenvector, when all but the first row and column are diagonal in some orthogonal basis. *)
Lemma bordered_eigenvector n (M : 'M[R]_(1 + n)) (W : 'M[R]_n) d :
  M^T = M -> W^T *m W = 1%:M -> drsubmx M = W *m diag_mx d *m W^T ->
  exists x, exists2 v : 'cV_(1 + n), v^T *m v = 1%:M & M *m v = x *: v.
Proof.
move=> M_sym WW rest; pose Q : 'M[R]_(1 + n) := block_mx 1%:M 0 0 W.
have QQ : Q^T *m Q = 1%:M by apply: orthogonal_block.
pose c := ursubmx M *m W; have M_eq : M = Q *m arrowhead (M 0 0) c d *m Q^T.
  rewrite /Q /arrowhead conjugate_block -rest -[M in LHS]submxK; congr block_mx.
  - by apply/matrixP => i j; rewrite !ord1 !mxE eqxx; congr (M _ _); apply/val_inj.
  - by rewrite -mulmxA (mulmx1C WW) mulmx1.
  by rewrite /c trmx_mul mulmxA (mulmx1C WW) mul1mx trmx_ursub M_sym.
have [x [z z_neq0 z_eigen]] := arrowhead_eigenvector (M 0 0) c d.
have Qz_neq0 : Q *m z != 0 by apply: contraNneq z_neq0 => Qz; rewrite -[z]mul1mx -QQ -mulmxA Qz mulmx0.
have [a _ unit] := normalise Qz_neq0; exists x, (a *: (Q *m z)) => //.
by rewrite -scalemxAr M_eq -!mulmxA (mulmxA Q^T) QQ mul1mx z_eigen -scalemxAr scalerA mulrC -scalerA.
Qed.

Theorem symmetric_spectrum n (M : 'M[R]_n) : M^T = M ->
  exists W : 'M[R]_n, exists d, W^T *m W = 1%:M /\ M = W *m diag_mx d *m W^T.
Proof.
elim: n M => [|n IH] M M_sym; first by exists 1%:M, 0; split; apply/matrixP => -[].
pose rest (N : 'M[R]_(1 + n)) := drsubmx N.
have rest_sym N : N^T = N -> (rest N)^T = rest N by move=> N_sym; rewrite /rest trmx_drsub N_sym.
have [W [d [WW W_eq]]] := IH _ (rest_sym _ M_sym).
have [x [v vv v_eigen]] := bordered_eigenvector M_sym WW W_eq.
have [H H_reflects] := householder vv; have [H_sym HH _] := H_reflects.
have M_eq := deflate H_reflects H_reflects v_eigen (etrans (congr1 (mulmx^~ v) M_sym) v_eigen).
have [|W' [d' [WW' W_eq']]] := IH (rest (H *m M *m H)).
  by apply: rest_sym; rewrite !trmx_mul H_sym M_sym mulmxA.
pose Q : 'M[R]_(1 + n) := block_mx 1%:M 0 0 W'.
exists (H *m Q), (row_mx (const_mx x : 'rV_1) d'); split.
  by rewrite trmx_mul H_sym -mulmxA (mulmxA H) HH mul1mx; exact: (@orthogonal_block 1).
rewrite {1}M_eq -/(rest _) W_eq' -diag_const_mx trmx_mul H_sym !mulmxA; congr (_ *m H).
by rewrite -!mulmxA; congr (H *m _); have := border_diag W' W' (const_mx x : 'rV_1) d'; rewrite -!mulmxA.
Qed.

End Spectrum.
