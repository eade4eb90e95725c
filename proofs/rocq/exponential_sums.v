(** A sum of n exponentials with distinct exponents has at most n - 1 real zeros; T5 leans on it.

    Glossary
      R               the real numbers (any realType of MathComp-Analysis)
      exp_sum c y t   c_0 exp (y_0 t) + … + c_(n-1) exp (y_(n-1) t)
      zeros           a strictly increasing list of points

    Headline theorems:
      T5  exp_sum_zeros   with n zeros or more, all coefficients vanish

    Proof: divide by the first exponential and differentiate; Rolle's theorem leaves one zero fewer, and the derivative
    has one exponential fewer.

    Axioms: the three of MathComp-Analysis. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.classical Require Import boolp classical_sets functions.
From mathcomp.analysis Require Import reals topology normedtype derive sequences realfun exp.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.Theory.
Import numFieldNormedType.Exports.
Local Open Scope ring_scope.

Section ExponentialSums.

Variable R : realType.

Definition exp_sum n (c y : 'I_n -> R) (t : R) := \sum_i c i * expR (y i * t).

Lemma term_derive (c y t : R) : is_derive t 1 (fun t => c * expR (y * t)) (c * y * expR (y * t)).
Proof.
have inner : is_derive t 1 (fun t : R => y * t) (y * 1) := is_deriveZ y (is_derive_id t 1).
have := is_deriveZ c (is_derive1_comp (is_derive_expR (y * t)) inner).
by rewrite /GRing.scale /= mulr1 mulrA mulrAC.
Qed.

Lemma exp_sum_derive n (c y : 'I_n -> R) (t : R) :
  is_derive t 1 (exp_sum c y) (exp_sum (fun i => c i * y i) y t).
Proof.
have -> : exp_sum c y = \sum_i (fun t => c i * expR (y i * t)).
  by apply/funext => u; rewrite /exp_sum fct_sumE.
by apply: is_derive_sum => i; exact: term_derive.
Qed.

(** Rolle between neighbouring zeros. *)
Lemma rolle_zeros (f f' : R -> R) (x : R) (zeros : seq R) :
  (forall t : R, is_derive t 1 f (f' t)) -> path <%R x zeros -> f x = 0 -> {in zeros, forall t, f t = 0} ->
  exists2 zeros', path <%R x zeros' & size zeros' = size zeros /\ {in zeros', forall t, f' t = 0}.
Proof.
move=> df; elim: zeros x => [|x' zeros IH] x /=; first by exists [::].
move=> /andP[ltxx' path_x'] fx0 f0.
have f_x' : f x' = 0 by apply: f0; rewrite inE eqxx.
have f0' : {in zeros, forall t, f t = 0} by move=> t t_in; apply: f0; rewrite inE t_in orbT.
have [zeros' path' [size' f'0]] := IH x' path_x' f_x' f0'.
have cont t : {for t, continuous f}.
  by apply: differentiable_continuous; apply/derivable1_diffP; case: (df t).
have [| |c c_in dfc] := @Rolle R f x x' ltxx' _ _ (etrans fx0 (esym f_x')).
- by move=> t _; case: (df t).
- by apply: continuous_subspaceT => t; exact: cont.
move: c_in; rewrite in_itv /= => /andP[ltxc ltcx'].
exists (c :: zeros').
  rewrite /= ltxc /=; case: zeros' path' {size' f'0} => //= z zs /andP[ltx'z ->].
  by rewrite (lt_trans ltcx').
split=> [|t]; first by rewrite /= size'.
rewrite inE => /orP[/eqP->|]; last exact: f'0.
by case: (df c) => _ <-; case: dfc.
Qed.

Theorem exp_sum_zeros n (c y : 'I_n -> R) (zeros : seq R) :
  injective y -> sorted <%R zeros -> (n <= size zeros)%N -> {in zeros, forall t, exp_sum c y t = 0} ->
  forall i, c i = 0.
Proof.
elim: n c y zeros => [|n IH] c y zeros y_inj; first by move=> _ _ _ [].
case: zeros => [|x zeros] // path_x le_n f0.
pose g := exp_sum c (fun i => y i - y 0).
have gE t : g t = expR (- (y 0 * t)) * exp_sum c y t.
  rewrite mulr_sumr; apply: eq_bigr => i _.
  by rewrite mulrCA -expRD mulrBl addrC.
pose y' (i : 'I_n) := y (lift 0 i) - y 0; pose c' i := c (lift 0 i) * y' i.
have dg t : is_derive t 1 g (exp_sum c' y' t).
  suff -> : exp_sum c' y' t = exp_sum (fun i => c i * (y i - y 0)) (fun i => y i - y 0) t.
    exact: exp_sum_derive.
  by rewrite [RHS]/exp_sum big_ord_recl subrr mulr0 mul0r add0r.
have g0 t : t \in x :: zeros -> g t = 0 by move=> /f0 f_t0; rewrite gE f_t0 mulr0.
have g0_tail : {in zeros, forall t, g t = 0} by move=> t t_in; rewrite g0 // inE t_in orbT.
have [zeros' path' [size' g'0]] := rolle_zeros dg path_x (g0 x (mem_head _ _)) g0_tail.
have y'_neq0 i : y' i != 0 by rewrite subr_eq0 (inj_eq y_inj) eq_sym neq_lift.
have y'_inj : injective y' by move=> i j /addIr/y_inj/lift_inj.
have le_n' : (n <= size zeros')%N by rewrite size'.
have c_lift i : c (lift 0 i) = 0.
  apply/eqP; have := IH c' y' zeros' y'_inj (path_sorted path') le_n' g'0 i.
  by move/eqP; rewrite mulf_eq0 (negbTE (y'_neq0 i)) orbF.
have c0 : c 0 = 0.
  have := f0 x (mem_head _ _); rewrite /exp_sum big_ord_recl big1 ?addr0 => [/eqP|i _]; last first.
    by rewrite c_lift mul0r.
  by rewrite mulf_eq0 (gt_eqF (expR_gt0 _)) orbF => /eqP.
by move=> i; case: (unliftP 0 i) => [j ->|->].
Qed.

End ExponentialSums.
