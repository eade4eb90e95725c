(** T18: projections along the feature axis and along the sequence axis commute, up to a bias.

    Glossary
      X      features, n x d
      W      feature projection, d x d'
      E      sequence projection, r x n
      b      feature bias, a row of width d'
      ones   the column of n ones (so ones *m b adds b to every row)

    Headline theorems:
      T18  two_axes_commute      E (X W) = (E X) W
      T18  bias_first            E (X W + 1 b) = (E X) W + (E 1) b
      T18  order_difference      bias before and after compression differ by (E 1 - 1) b
      T18  order_irrelevant_iff  they agree iff b = 0 or every row of E sums to 1

    Axioms: none. *)
From mathcomp Require Import all_ssreflect all_algebra.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory.
Local Open Scope ring_scope.

Section TwoAxes.

Variable R : ringType.

Definition ones n : 'cV[R]_n := const_mx 1.

Theorem two_axes_commute n r d d' (E : 'M[R]_(r, n)) (X : 'M[R]_(n, d)) (W : 'M[R]_(d, d')) :
  E *m (X *m W) = (E *m X) *m W.
Proof. exact: mulmxA. Qed.

Theorem bias_first n r d d' (E : 'M[R]_(r, n)) (X : 'M[R]_(n, d)) (W : 'M[R]_(d, d')) (b : 'rV[R]_d') :
  E *m (X *m W + ones n *m b) = (E *m X) *m W + (E *m ones n) *m b.
Proof. by rewrite mulmxDr !mulmxA. Qed.

Theorem order_difference n r d d' (E : 'M[R]_(r, n)) (X : 'M[R]_(n, d)) (W : 'M[R]_(d, d')) (b : 'rV[R]_d') :
  E *m (X *m W + ones n *m b) - ((E *m X) *m W + ones r *m b) = (E *m ones n - ones r) *m b.
Proof. by rewrite bias_first mulmxBl opprD addrACA subrr add0r. Qed.

End TwoAxes.

Theorem order_irrelevant_iff (R : idomainType) n r d d' (E : 'M[R]_(r, n)) (X : 'M[R]_(n, d)) (W : 'M[R]_(d, d'))
    (b : 'rV[R]_d') :
  E *m (X *m W + ones R n *m b) = (E *m X) *m W + ones R r *m b <->
  b = 0 \/ forall s, \sum_j E s j = 1.
Proof.
have row_sum s : (E *m ones R n) s 0 = \sum_j E s j.
  by rewrite mxE; apply: eq_bigr => j _; rewrite mxE mulr1.
split=> [/eqP | [->|sums]]; last first.
- apply/eqP; rewrite -subr_eq0 order_difference (_ : E *m _ - _ = 0) ?mul0mx //.
  by apply/matrixP => s k; rewrite [k]ord1 mxE row_sum sums !mxE subrr.
- by rewrite !mulmx0 !addr0 mulmxA.
rewrite -subr_eq0 order_difference => /eqP/matrixP differ.
have [->|/rV0Pn[k bk]] := eqVneq b 0; [by left | right => s; apply/eqP].
have := differ s k; rewrite mxE big_ord1 mxE row_sum !mxE => /eqP.
by rewrite mulf_eq0 (negbTE bk) orbF subr_eq0.
Qed.
