(** T5: the row-wise softmax of a rank-one matrix can have full rank.

    Glossary
      R                the real numbers (any realType of MathComp-Analysis)
      expR             the exponential function
      softmax L        the row-wise softmax of a matrix of logits
      outer x y        the matrix with entries x i * y j, of rank at most one
      example_logits   the article's [[0, 0], [0, 1]]

    Headline theorems:
      T5  softmax_positive            the entries of a softmax are > 0 and its rows sum to 1
      T5  example_logits_rank         the article's logits have rank 1
      T5  example_softmax_det         their softmax has determinant (e - 1) / (2 (1 + e)) > 0
      T5  example_softmax_rank        and rank 2
      T5  outer_rank                  rank (x y^T) <= 1, and 1 unless x or y is 0
      T5  softmax_det_vandermonde     the determinant of softmax (x_i j) in closed form
      T5  softmax_rank_vandermonde    it has rank n for distinct x, for every n
      T5  exp_outer_unit              exp (x_i y_j) is nonsingular for any distinct x and distinct y
      T5  softmax_outer_rank          so softmax (x_i y_j) has rank n
      T5  constant_rows_softmax_rank  not every rank-one matrix does this: [[0, 0], [1, 1]] keeps rank 1

    Axioms: the three of MathComp-Analysis. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.analysis Require Import reals sequences exp.
From AttnProof Require Import vandermonde exponential_sums.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Softmax.

Variable R : realType.

Definition softmax n m (L : 'M[R]_(n, m)) : 'M[R]_(n, m) :=
  \matrix_(i, j) (expR (L i j) / \sum_k expR (L i k)).

Lemma normaliser_gt0 n m (L : 'M[R]_(n, m.+1)) i : 0 < \sum_k expR (L i k).
Proof. by rewrite big_ord_recl ltr_paddr ?expR_gt0 // sumr_ge0 // => k _; rewrite ltW ?expR_gt0. Qed.

Theorem softmax_positive n m (L : 'M[R]_(n, m.+1)) i :
  (forall j, 0 < softmax L i j) /\ \sum_j softmax L i j = 1.
Proof.
split=> [j|]; first by rewrite mxE divr_gt0 ?expR_gt0 ?normaliser_gt0.
under eq_bigr do rewrite mxE.
by rewrite -mulr_suml divff // gt_eqF ?normaliser_gt0.
Qed.

(** Scaling the rows of exp L by the normalisers gives the softmax, so the two have the same rank. *)
Lemma softmax_scaled n m (L : 'M[R]_(n, m)) :
  softmax L = diag_mx (\row_i (\sum_k expR (L i k))^-1) *m map_mx expR L.
Proof. by apply/matrixP => i j; rewrite mul_diag_mx !mxE mulrC. Qed.

Lemma softmax_det n (L : 'M[R]_n) :
  \det (softmax L) = \det (map_mx expR L) / \prod_i \sum_k expR (L i k).
Proof.
rewrite softmax_scaled det_mulmx det_diag mulrC -prodfV; congr (_ * _).
by apply: eq_bigr => i _; rewrite mxE.
Qed.

Lemma softmax_unit n (L : 'M[R]_n.+1) : map_mx expR L \in unitmx -> softmax L \in unitmx.
Proof.
rewrite !unitmxE !unitfE softmax_det mulf_eq0 negb_or => -> /=.
by rewrite invr_eq0; apply/prodf_neq0 => i _; rewrite gt_eqF ?normaliser_gt0.
Qed.

Definition outer n m (x : 'I_n -> R) (y : 'I_m -> R) : 'M[R]_(n, m) := \matrix_(i, j) (x i * y j).

Theorem outer_rank n m (x : 'I_n -> R) (y : 'I_m -> R) :
  (\rank (outer x y) <= 1)%N /\ ((exists i, x i != 0) -> (exists j, y j != 0) -> \rank (outer x y) = 1%N).
Proof.
have le1 : (\rank (outer x y) <= 1)%N.
  have -> : outer x y = (\col_i x i) *m (\row_j y j).
    by apply/matrixP => i j; rewrite !mxE big_ord1 !mxE.
  exact: mulmx_max_rank.
split=> // -[i xi] [j yj]; apply/eqP; rewrite eqn_leq le1 lt0n mxrank_eq0.
apply: contraTneq (mulf_neq0 xi yj) => /matrixP/(_ i j); rewrite !mxE => ->.
by rewrite eqxx.
Qed.

(** The Vandermonde law: y_j = j. *)

Theorem softmax_det_vandermonde n (x : 'I_n -> R) :
  \det (softmax (outer x (fun j : 'I_n => j%:R))) =
  (\prod_(i < n) \prod_(k < n | (i < k)%N) (expR (x k) - expR (x i))) /
  \prod_(i < n) \sum_(j < n) expR (x i) ^+ j.
Proof.
have expE i (j : 'I_n) : expR (x i * j%:R) = expR (x i) ^+ j by rewrite mulrC expRMm.
rewrite softmax_det -det_vandermonde; congr (\det _ / _).
  by apply/matrixP => i j; rewrite !mxE expE.
by apply: eq_bigr => i _; apply: eq_bigr => j _; rewrite mxE expE.
Qed.

(** Arbitrary distinct x and y: a row of coefficients that kills exp (x_i y_j) is an exponential sum with n zeros. *)

Theorem exp_outer_unit n (x y : 'I_n -> R) :
  injective x -> injective y -> \matrix_(i, j) expR (x i * y j) \in unitmx.
Proof.
move=> x_inj y_inj; set M := \matrix_(i, j) _; rewrite -unitmx_tr -row_free_unit -kermx_eq0; apply/eqP/row_matrixP => k.
set c := row k _; have : c *m M^T = 0 by rewrite -row_mul mulmx_ker row0.
move=> /matrixP c_kills; rewrite row0; apply/matrixP => k' j; rewrite [k']ord1 [RHS]mxE {k'}.
pose zeros := sort <=%R (codom x).
have zeros_sorted : sorted <%R zeros by rewrite sort_lt_sorted; apply/injectiveP.
have le_n : (n <= size zeros)%N by rewrite size_sort size_codom card_ord.
apply: (exp_sum_zeros y_inj zeros_sorted le_n) => t; rewrite mem_sort => /codomP[i ->{t}].
have := c_kills 0 i; rewrite [RHS]mxE => <-; rewrite [RHS]mxE; apply: eq_bigr => j' _.
by rewrite !mxE [y j' * _]mulrC.
Qed.

Theorem softmax_outer_rank n (x y : 'I_n -> R) :
  injective x -> injective y -> \rank (softmax (outer x y)) = n.
Proof.
case: n x y => [|n] x y x_inj y_inj; first by apply/eqP; rewrite -leqn0 rank_leq_row.
apply/mxrank_unit/softmax_unit.
suff -> : map_mx expR (outer x y) = \matrix_(i, j) expR (x i * y j) by exact: exp_outer_unit.
by apply/matrixP => i j; rewrite !mxE.
Qed.

Theorem softmax_rank_vandermonde n (x : 'I_n -> R) :
  injective x -> \rank (softmax (outer x (fun j : 'I_n => j%:R))) = n.
Proof.
move=> x_inj; apply: softmax_outer_rank => // i j /eqP.
by rewrite eqr_nat => /eqP/val_inj.
Qed.

(** The article's example, and one that keeps its rank. *)

Definition example_logits : 'M[R]_2 := \matrix_(i, j) ((i == 1) && (j == 1))%:R.

Lemma det2 (A : 'M[R]_2) : \det A = A 0 0 * A 1 1 - A 0 1 * A 1 0.
Proof.
rewrite (expand_det_row _ 0) !big_ord_recl big_ord0 addr0 /cofactor !det_mx11 !mxE /=.
rewrite expr0 expr1 mul1r mulN1r mulrN; congr (_ * A _ _ - A _ _ * A _ _); exact: val_inj.
Qed.

Theorem example_logits_rank : \rank example_logits = 1%N.
Proof.
have -> : example_logits = outer (fun i : 'I_2 => (i == 1)%:R) (fun j : 'I_2 => (j == 1)%:R).
  by apply/matrixP => i j; rewrite !mxE -natrM mulnb.
by apply: (outer_rank _ _).2; exists 1; rewrite eqxx oner_neq0.
Qed.

Theorem example_softmax_det :
  \det (softmax example_logits) = (expR 1 - 1) / (2 * (1 + expR 1)) /\ 0 < \det (softmax example_logits).
Proof.
have detE : \det (softmax example_logits) = (expR 1 - 1) / (2 * (1 + expR 1)).
  rewrite softmax_det det2 !big_ord_recl !big_ord0 !mxE /= !expR0 !mulr1 !mul1r !addr0.
  by congr (_ / (_ * _)).
split=> //; rewrite detE divr_gt0 ?subr_gt0 ?pexpR_gt1 ?ltr01 //.
by rewrite mulr_gt0 ?ltr0n // addr_gt0 ?expR_gt0 ?ltr01.
Qed.

Theorem example_softmax_rank : \rank (softmax example_logits) = 2%N.
Proof.
by apply: mxrank_unit; rewrite unitmxE unitfE gt_eqF // example_softmax_det.2.
Qed.

Theorem constant_rows_softmax_rank n m (x : 'I_n.+1 -> R) :
  \rank (softmax (\matrix_(i < n.+1, j < m.+1) x i)) = 1%N.
Proof.
have -> : softmax (\matrix_(i < n.+1, j < m.+1) x i) = outer (fun=> 1) (fun=> m.+1%:R^-1).
  apply/matrixP => i j; rewrite !mxE mul1r.
  under eq_bigr do rewrite mxE.
  by rewrite sumr_const card_ord -(mulr_natr (expR _)) invfM mulVKf // gt_eqF ?expR_gt0.
by apply: (outer_rank _ _).2; exists 0; rewrite ?oner_neq0 // invr_eq0 pnatr_eq0.
Qed.

End Softmax.
