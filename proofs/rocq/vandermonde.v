(** The Vandermonde determinant, which MathComp 1.15 lacks; T5 leans on it.

    Glossary
      z i             the i-th point, i < n
      vandermonde z   the matrix with entries (z i) ^ j

    Headline theorems:
      T5  det_vandermonde    det = product over i < k of (z k - z i)

    Axioms: none. *)
From mathcomp Require Import all_ssreflect all_algebra.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory.
Local Open Scope ring_scope.

Section Vandermonde.

Variable R : comRingType.

Definition vandermonde n (z : 'I_n -> R) : 'M[R]_n := \matrix_(i, j) z i ^+ j.

(* Subtract a times the column before it from each column but the first. *)
Definition shift_columns n (a : R) : 'M[R]_n := \matrix_(j, k) ((j == k)%:R - a * (k == j.+1 :> nat)%:R).

Lemma det_shift_columns n a : \det (shift_columns n a) = 1.
Proof.
rewrite -det_tr det_trig ?big1 // => [i _|].
  by rewrite !mxE eqxx ltn_eqF // mulr0 subr0.
apply/is_trig_mxP => i j lt_ij; rewrite !mxE.
by rewrite -val_eqE /= (gtn_eqF lt_ij) (ltn_eqF (leqW lt_ij)) mulr0 subr0.
Qed.

Lemma vandermonde_shift n (z : 'I_n.+1 -> R) i k :
  (vandermonde z *m shift_columns n.+1 (z 0)) i k = if k == 0%N :> nat then 1 else (z i - z 0) * z i ^+ k.-1.
Proof.
rewrite mxE; under eq_bigr do rewrite !mxE mulrBr mulrCA.
rewrite sumrB -mulr_sumr (bigD1 k) //= eqxx mulr1 big1 ?addr0 => [|j /negbTE->]; last by rewrite mulr0.
case: k => [[|k] ltk] /=.
  by rewrite expr0 big1 ?mulr0 ?subr0 // => j _; rewrite mulr0.
rewrite (bigD1 (Ordinal (ltnW ltk))) //= eqxx mulr1 big1 ?addr0 => [|j]; first by rewrite exprS mulrBl.
by rewrite -val_eqE /= eqSS eq_sym => /negbTE->; rewrite mulr0.
Qed.

Theorem det_vandermonde n (z : 'I_n -> R) :
  \det (vandermonde z) = \prod_(i < n) \prod_(k < n | (i < k)%N) (z k - z i).
Proof.
elim: n z => [|n IHn] z; first by rewrite det_mx00 big_ord0.
rewrite -[LHS]mulr1 -[X in _ * X = _](det_shift_columns n.+1 (z 0)) -det_mulmx (expand_det_row _ 0) (bigD1 0) //=.
rewrite vandermonde_shift /= mul1r big1 ?addr0 => [|k k_neq0]; last first.
  by rewrite vandermonde_shift ifN // subrr mul0r mul0r.
rewrite /cofactor addn0 expr0 mul1r.
set minor := row' _ _.
have -> : minor = diag_mx (\row_i (z (lift 0 i) - z 0)) *m vandermonde (fun i => z (lift 0 i)).
  apply/matrixP => i k; rewrite mxE mxE vandermonde_shift mul_diag_mx !mxE /=.
  by rewrite /bump.
rewrite det_mulmx det_diag IHn big_ord_recl; congr (_ * _).
  rewrite [RHS]big_mkcond big_ord_recl /= mul1r; apply: eq_bigr => i _.
  by rewrite mxE.
apply: eq_bigr => i _.
by rewrite big_mkcond [RHS]big_mkcond big_ord_recl /= mul1r.
Qed.

End Vandermonde.
