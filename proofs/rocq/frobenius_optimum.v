(** T6: in the Frobenius norm nothing but a truncated singular value decomposition attains the optimum.

    Glossary
      A            the matrix to be approximated, n x n over a real closed field
      X            a matrix of rank at most r
      svd A U s V  a singular value decomposition: A = U diag(s) V^T, U and V orthogonal, s_0 >= s_1 >= … >= 0
      frob M       the square of the Frobenius norm

    Headline theorem:
      T6  frobenius_only_truncations   frob (A - X) is the sum of s_i^2 over i >= r only if X = U' diag(s_0, …, s_(r-1),
                                       0, …, 0) V'^T for some decomposition U', s, V' of A itself

    Where s_r = s_(r-1) there is more than one decomposition, hence more than one optimum; the theorem says that each
    comes from one of them.

    Read in the singular bases of X, the optimum must keep the first r rows of A, or the matrix of those rows would be
    closer; likewise the first r columns. So A falls apart into the values of X and a rest, and no value of the rest
    exceeds one of X, or exchanging the two would be closer.

    Axioms: none. *)
From mathcomp Require Import all_ssreflect all_fingroup all_algebra.
From AttnProof Require Import symmetric eckart_young svd.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Optimum.

Variable R : rcfType.

Lemma frob_eq0 m n (M : 'M[R]_(m, n)) : frob M = 0 -> M = 0.
Proof.
move=> /eqP; rewrite psumr_eq0 => [/allP rows|i _]; last by apply: sumr_ge0 => j _; exact: sqr_ge0.
apply/matrixP => i j; have := rows i (mem_index_enum i); rewrite /= psumr_eq0 => [/allP entries|k _]; last first.
  exact: sqr_ge0.
by have := entries j (mem_index_enum j); rewrite /= sqrf_eq0 mxE => /eqP.
Qed.

Lemma frob_block m1 m2 n1 n2 (a : 'M[R]_(m1, n1)) (b : 'M_(m1, n2)) (c : 'M_(m2, n1)) (d : 'M_(m2, n2)) :
  frob (block_mx a b c d) = (frob a + frob b) + (frob c + frob d).
Proof.
rewrite /frob big_split_ord /= -!big_split /=; congr (_ + _); apply: eq_bigr => i _; rewrite big_split_ord /=.
  by congr (_ + _); apply: eq_bigr => j _; rewrite ?block_mxEul ?block_mxEur.
by congr (_ + _); apply: eq_bigr => j _; rewrite ?block_mxEdl ?block_mxEdr.
Qed.

Lemma frob0 m n : frob (0 : 'M[R]_(m, n)) = 0.
Proof. by rewrite /frob big1 // => i _; rewrite big1 // => j _; rewrite mxE expr0n. Qed.

(** What is nearest among the matrices of rank at most r agrees with its target on the first r rows and columns. *)
Lemma nearest_splits r m (B : 'M[R]_(r + m)) (t : 'rV[R]_r) :
  (forall D : 'M_(r + m), (\rank D <= r)%N -> frob (B - block_mx (diag_mx t) 0 0 0) <= frob (B - D)) ->
  B = block_mx (diag_mx t) 0 0 (drsubmx B).
Proof.
move=> nearest; rewrite -[in LHS](submxK B).
set a := ulsubmx B; set b := ursubmx B; set c := dlsubmx B; set d := drsubmx B.
have BE : B = block_mx a b c d by rewrite submxK.
have rows : frob (a - diag_mx t) + frob b <= 0.
  have := nearest (block_mx a b 0 0); rewrite {1}block_mxEv row_mx0 rank_col_mx0 => /(_ (rank_leq_row _)).
  rewrite BE !opp_block_mx !add_block_mx !frob_block !subrr !oppr0 !addr0 !frob0 !add0r.
  by rewrite ger_addr.
have columns : frob (a - diag_mx t) + frob c <= 0.
  have := nearest (block_mx a 0 c 0); rewrite {1}block_mxEh col_mx0 rank_row_mx0 => /(_ (rank_leq_col _)).
  rewrite BE !opp_block_mx !add_block_mx !frob_block !subrr !oppr0 !addr0 !frob0 !add0r.
  by rewrite addrACA ger_addr.
have split (x y : R) : 0 <= x -> 0 <= y -> x + y <= 0 -> x = 0 /\ y = 0.
  by move=> x_ge0 y_ge0 /(conj (addr_ge0 x_ge0 y_ge0))/andP/le_anti/esym/eqP; rewrite paddr_eq0 // => /andP[/eqP-> /eqP->].
have [/frob_eq0/subr0_eq-> /frob_eq0->] := split _ _ (frob_ge0 _) (frob_ge0 _) rows.
by have [_ /frob_eq0->] := split _ _ (frob_ge0 _) (frob_ge0 _) columns.
Qed.

(** No value that an optimal truncation leaves out exceeds one that it keeps. *)
Lemma kept_exceed_left n r (A U V : 'M[R]_n) (w : 'rV[R]_n) :
  A = U *m diag_mx w *m V^T -> U^T *m U = 1%:M -> V^T *m V = 1%:M -> (forall i, 0 <= w 0 i) ->
  (forall Y, (\rank Y <= r)%N -> \sum_(i < n | (r <= i)%N) w 0 i ^+ 2 <= frob (A - Y)) ->
  forall i j : 'I_n, (i < r)%N -> (r <= j)%N -> w 0 j <= w 0 i.
Proof.
move=> A_eq UU VV w_ge0 nearest i j lt_ir le_rj; pose p := tperm i j.
have := nearest _ (truncation_rank r (col_perm p U) (diag_mx (\row_k w 0 (p k))) (col_perm p V)^T).
rewrite {1}A_eq (reorder _ _ _ p) truncation_error ?orthogonal_perm //.
rewrite (bigD1 j) //= [leRHS](bigD1 j) //= mxE tpermR.
rewrite [X in _ <= _ + X](eq_bigr (fun k => w 0 k ^+ 2)) => [|k /andP[le_rk neq_kj]]; last first.
  by rewrite mxE tpermD // 1?eq_sym //; apply: contraTneq le_rk => ->; rewrite -ltnNge.
by rewrite ler_add2r ler_sqr ?nnegrE.
Qed.

Theorem frobenius_only_truncations n r (A U V X : 'M[R]_n) (s : 'rV[R]_n) :
  svd A U s V -> (\rank X <= r)%N -> frob (A - X) = \sum_(i < n | (r <= i)%N) s 0 i ^+ 2 ->
  exists U' V', svd A U' s V' /\ X = U' *m (diag_mx s *m pid_mx r) *m V'^T.
Proof.
move=> dec X_rank X_error.
have nearest Y : (\rank Y <= r)%N -> frob (A - X) <= frob (A - Y).
  by rewrite X_error; exact: frobenius_bound dec.
have [le_nr|lt_rn] := leqP n r.
  have AX : A = X.
    apply/subr0_eq/frob_eq0; rewrite X_error big1 // => i le_ri.
    by have := leq_trans (ltn_ord i) (leq_trans le_nr le_ri); rewrite ltnn.
  exists U, V; split=> //; have -> : pid_mx r = 1%:M :> 'M[R]_n by rewrite -pid_mx_minh (minn_idPl le_nr) pid_mx_1.
  by rewrite mulmx1 -AX; case: dec.
have [m n_eq] : exists m, (r + m)%N = n by exists (n - r)%N; rewrite subnKC // ltnW.
case: n / n_eq A U V X s dec X_rank X_error nearest {lt_rn} => A U V X s dec X_rank X_error nearest.
have [P [t [Q decX]]] := svd_exists X; have [X_eq PP QQ t_ge0 t_sorted] := decX.
have t_tail i : t 0 (rshift r i) = 0.
  have := frobenius_bound decX X_rank; rewrite subrr frob0 big_mkcond big_split_ord /= big1 => [|k _]; last first.
    by rewrite leqNgt ltn_ord.
  rewrite add0r (eq_bigr (fun k => t 0 (rshift r k) ^+ 2)) => [|k _]; last by rewrite leq_addr.
  move=> le0; have /eqP : \sum_k t 0 (rshift r k) ^+ 2 = 0.
    by apply: le_anti; rewrite le0; apply: sumr_ge0 => k _; exact: sqr_ge0.
  rewrite psumr_eq0 => [/allP/(_ i (mem_index_enum i))|k _]; last exact: sqr_ge0.
  by rewrite /= sqrf_eq0 => /eqP.
pose t1 : 'rV[R]_r := lsubmx t; pose B := P^T *m A *m Q.
have PP' : P *m P^T = 1%:M by apply: mulmx1C.
have QQ' : Q *m Q^T = 1%:M by apply: mulmx1C.
have t_block : diag_mx t = block_mx (diag_mx t1) 0 0 0.
  rewrite -[t in LHS]hsubmxK diag_mx_row; congr block_mx.
  have -> : rsubmx t = 0 by apply/rowP => i; rewrite !mxE t_tail.
  exact: linear0.
have in_bases D : frob (A - P *m D *m Q^T) = frob (B - D).
  have -> : A - P *m D *m Q^T = P *m ((B - D) *m Q^T).
    by rewrite mulmxBl mulmxBr !mulmxA PP' mul1mx -(mulmxA A) QQ' mulmx1.
  by rewrite frob_orthogonal // -frob_tr trmx_mul trmxK frob_orthogonal // frob_tr.
have B_split : B = block_mx (diag_mx t1) 0 0 (drsubmx B).
  apply: nearest_splits => D D_rank; rewrite -t_block -!in_bases -X_eq; apply: nearest.
  by apply: leq_trans D_rank; rewrite (leq_trans (mxrankM_maxl _ _)) // mxrankM_maxr.
have [U2 [c [V2 [rest UU2 VV2 c_ge0 c_sorted]]]] := svd_exists (drsubmx B).
pose bordered (W : 'M[R]_m) : 'M[R]_(r + m) := block_mx 1%:M 0 0 W.
pose U' := P *m bordered U2; pose V' := Q *m bordered V2; pose w := row_mx t1 c.
have UU' : U'^T *m U' = 1%:M by rewrite trmx_mul -mulmxA (mulmxA P^T) PP mul1mx orthogonal_block.
have VV' : V'^T *m V' = 1%:M by rewrite trmx_mul -mulmxA (mulmxA Q^T) QQ mul1mx orthogonal_block.
have A_eq : A = U' *m diag_mx w *m V'^T.
  have -> : A = P *m B *m Q^T by rewrite !mulmxA PP' mul1mx -mulmxA QQ' mulmx1.
  by rewrite B_split rest border_diag trmx_mul !mulmxA; congr (_ *m Q^T); rewrite -!mulmxA; congr (P *m _).
have X_trunc : X = U' *m (diag_mx w *m pid_mx r) *m V'^T.
  have -> : diag_mx w *m pid_mx r = block_mx (diag_mx t1) 0 0 0 :> 'M_(r + m).
    by rewrite diag_mx_row pid_mx_block mulmx_block !mulmx0 !mul0mx !mulmx1 !addr0.
  rewrite X_eq t_block trmx_mul !mulmxA; congr (_ *m Q^T); rewrite -!mulmxA; congr (P *m _).
  by have := conjugate_block V2 U2 (diag_mx t1) 0 0 0; rewrite !mul0mx !mulmx0 mul0mx -!mulmxA => /esym.
have w_ge0 i : 0 <= w 0 i.
  by rewrite mxE; case: splitP => k _; rewrite ?mxE.
have w_sorted (i j : 'I_(r + m)) : (i <= j)%N -> w 0 j <= w 0 i.
  have kept := kept_exceed_left A_eq UU' VV' w_ge0 _.
  case: (split_ordP i) => i' ->; case: (split_ordP j) => j' -> /= le_ij.
  - by rewrite !row_mxEl !mxE; exact: t_sorted.
  - apply: (kept r); rewrite /= ?leq_addr // => Y Y_rank.
    apply: le_trans (nearest Y Y_rank); rewrite A_eq X_trunc truncation_error //.
  - by have := leq_trans (ltn_ord j') (leq_trans (leq_addr _ _) le_ij); rewrite ltnn.
  by rewrite !row_mxEr; apply: c_sorted; rewrite leq_add2l in le_ij.
have dec' : svd A U' w V' by [].
by exists U', V'; rewrite (svd_values dec dec').
Qed.

End Optimum.
