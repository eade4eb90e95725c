(** T20: the exact criterion survives self-attention, where keys and values come from the same positions.

    Glossary (see causal_head.v, exact.v)
      X                a sequence of inputs, n x m; keys X W_K + b_K, values X W_V + b_V, query q or (row t X) W_Q
      fixed_safe q     inputs that agree on A give the same output of the query q
      self_safe t      the same for the query that position t asks, without biases
      form             M = W_K W_Q^T: position j scores scale * x_j M x_t^T for the query of position t
      without t E      E with its column t set to 0

    Headline theorems:
      T20  fixed_query_exact    W_K q^T and W_V not 0: safe iff (1) and (2) of T11, tied or not, biases or not
      T20  fixed_query_blind    W_K q^T = 0, W_V not 0: iff sum_s e(kappa0 sum_i E_si) F_sj = 0, kappa0 the bias' score
      T20  no_values_safe       W_V = 0 and b_V = 0: safe
      T20  self_exact           x M x^T not always 0: T11 exactly
      T20  self_antisymmetric   x M x^T = 0 for all x, M not 0: T11 for E without column t
      T20  self_blind           M = 0: sum_s F_sj = 0 for forbidden j
      T20  self_sufficient      T11 is enough in every case
      T20  antisymmetric_safe   and is not necessary in the second: an example

    Axioms: none; self_exact takes square roots, so it is about real closed fields. *)
From mathcomp Require Import all_ssreflect all_algebra.
From AttnProof Require Import independence affine_independence causal_head exact tied_values.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** ** Keys and values of the same positions *)

(** E with column t set to 0. *)
Definition without (R : ringType) r n (t : 'I_n) (E : 'M[R]_(r, n)) : 'M[R]_(r, n) :=
  \matrix_(s, i) if i == t then 0 else E s i.

Section Layer.

Variables (R : realFieldType) (e : R -> R).
Hypothesis exp_e : exponential e.
Variables (scale : R) (r n m d dv : nat) (E F : 'M[R]_(r, n)) (A : pred 'I_n) (S : pred 'I_r).
Hypotheses (scale0 : scale != 0) (seen : exists s, S s).
Variables (WK : 'M[R]_(m, d)) (bK : 'rV[R]_d) (WV : 'M[R]_(m, dv)) (bV : 'rV[R]_dv) (WQ : 'M[R]_(m, d)).

Let ones : 'cV[R]_n := const_mx 1.

(** The output of a query q over keys X W_K + b_K and values X W_V + b_V. *)
Definition attends (q : 'rV[R]_d) (X : 'M[R]_(n, m)) : 'rV[R]_dv :=
  head e scale E F S q (X *m WK + ones *m bK) (X *m WV + ones *m bV).

Definition fixed_safe q := forall X X', agree A X X' -> attends q X = attends q X'.

(** The output at position t, which asks with its own row. *)
Definition self_head t (X : 'M[R]_(n, m)) : 'rV[R]_dv := head e scale E F S (row t X *m WQ) (X *m WK) (X *m WV).

Definition self_safe t := forall X X', agree A X X' -> self_head t X = self_head t X'.

Lemma attends_def q X :
  attends q X = head e scale E F S q (X *m WK + const_mx 1 *m bK) (X *m WV + const_mx 1 *m bV).
Proof. by []. Qed.

Lemma self_head_def t X : self_head t X = head e scale E F S (row t X *m WQ) (X *m WK) (X *m WV).
Proof. by []. Qed.

Let agree_affine X X' p (W : 'M[R]_(m, p)) b : agree A X X' -> agree A (X *m W + ones *m b) (X' *m W + ones *m b).
Proof.
move=> same j all; apply/rowP => k; have /rowP row_j := same j all; rewrite !mxE; congr (_ + _).
by apply: eq_bigr => l _; have := row_j l; rewrite !mxE => ->.
Qed.

Let agree_linear X X' p (W : 'M[R]_(m, p)) : agree A X X' -> agree A (X *m W) (X' *m W).
Proof. by move=> /(@agree_affine _ _ _ W 0); rewrite mulmx0 !addr0. Qed.

Lemma fixed_sufficient q : exact_criterion E F A S -> fixed_safe q.
Proof. by move=> crit X X' same; apply: (safe_of_criterion exp_e scale q crit seen); exact: agree_affine. Qed.

Lemma self_sufficient t : A t -> exact_criterion E F A S -> self_safe t.
Proof.
move=> all crit X X' same; rewrite /self_head (same t all).
by apply: (safe_of_criterion exp_e scale _ crit seen); exact: agree_linear.
Qed.

Lemma no_values_safe q : WV = 0 -> bV = 0 -> fixed_safe q.
Proof. by move=> W0 b0 X X' _; rewrite /attends W0 b0 !mulmx0 addr0 /head !mulmx0. Qed.

Hypothesis values : WV != 0.

Let column : exists k, col k WV != 0.
Proof.
apply/existsP; apply: contraNT values; rewrite negb_exists => /forallP zero; apply/eqP/matrixP => i k.
by have := zero k; rewrite negbK => /eqP/colP/(_ i); rewrite !mxE.
Qed.

Let col_entry p (y : 'rV[R]_m) (W : 'M[R]_(m, p)) k : (y *m col k W) 0 0 = (y *m W) 0 k.
Proof. by rewrite !mxE; apply: eq_bigr => l _; rewrite mxE. Qed.

Let rank_one p c (v : 'cV[R]_n) (y : 'rV[R]_m) (W : 'M[R]_(m, p)) i k :
  (c *: (v *m y) *m W) i k = v i 0 * (c * (y *m W) 0 k).
Proof. by rewrite -scalemxAl -mulmxA mxE mxE big_ord1 mulrCA. Qed.

Let row_entry p (Y : 'M[R]_(n, m)) (W : 'M[R]_(m, p)) i k : (Y *m W) i k = (row i Y *m W) 0 k.
Proof. by rewrite -row_mul [RHS]mxE. Qed.

Let ones_entry p (b : 'rV[R]_p) i k : (ones *m b) i k = b 0 k.
Proof. by rewrite mxE big_ord1 mxE mul1r. Qed.

(** *** A fixed query *)

Let scores_affine q (X : 'M[R]_(n, m)) :
  position_scores scale q (X *m WK + ones *m bK) = scale *: (X *m (WK *m q^T)) + scale *: (ones *m (bK *m q^T)).
Proof. by rewrite /position_scores mulmxDl scalerDr -!mulmxA. Qed.

Theorem fixed_query_exact q : WK *m q^T != 0 -> fixed_safe q <-> exact_criterion E F A S.
Proof.
move=> alpha0; split=> [safe | ]; last exact: fixed_sufficient.
have [k w0] := column; have [y [ya yw]] := two_planes alpha0 w0.
rewrite col_entry in yw; set a := (y *m _) 0 0 in ya; set b := (y *m _) 0 k in yw.
pose kappa0 := scale * (bK *m q^T) 0 0; pose c := (scale * a)^-1.
have unit : scale * c * a = 1 by rewrite mulrAC mulfV ?mulf_neq0.
have c0 : c != 0 by rewrite invr_eq0 mulf_neq0.
pose X (kappa : 'cV[R]_n) := c *: ((kappa - kappa0 *: ones) *m y).
have scores kappa : position_scores scale q (X kappa *m WK + ones *m bK) = kappa.
  rewrite scores_affine /X -scalemxAl scalerA -mulmxA [y *m _]mx11_scalar -/a mul_mx_scalar scalerA unit scale1r.
  by rewrite [bK *m _]mx11_scalar mul_mx_scalar scalerA -/kappa0 subrK.
pose top := tied e E F S (fun=> c * b) (fun=> bV 0 k - kappa0 * (c * b)).
have output kappa : attends q (X kappa) 0 k = top kappa / den e E S kappa.
  rewrite /attends head_num scores; congr (_ / _); apply: eq_bigr => i _; congr (_ * _).
  rewrite mxE rank_one ones_entry -/b !mxE mulr1 mulrBl -addrA [_ + bV 0 k]addrC.
  by rewrite mulrC.
have den0 kappa : den e E S kappa != 0 by rewrite gt_eqF // den_gt0.
have one : (1 : R) != 0 := oner_neq0 R.
have steps j (forb : ~~ A j) := @tied_steps R e exp_e r n E F S (fun=> c * b) (fun=> bV 0 k - kappa0 * (c * b)) j
  (rshift n 0) 1 one.
have {}steps j : ~~ A j -> forall (cl : 'rV[R]_n) bl,
  let class (p : 'I_r * 'I_r) := [&& S p.1, S p.2, row p.1 E + row p.2 E == cl & E p.2 j == bl] in
  (forall i, \sum_(p | class p) (F p.1 i - F p.2 i) = 0) /\ \sum_(p | class p) F p.2 j = 0.
  move=> forb cl bl class; have [| to_i _ to_j] := steps j forb _ cl bl; last first.
    have cb0 : c * b != 0 by rewrite mulf_neq0.
    by split=> [i | ]; apply/(mulfI cb0); rewrite mulr0; [exact: to_i | exact: to_j].
  move=> kappa delta _; have /rowP/(_ k) : attends q (X kappa) = attends q (X (bump kappa j delta)).
    apply: safe => i all; apply/rowP => l; rewrite !mxE !big_ord1 !mxE.
    by case: eqP => [same | _]; [move: forb; rewrite -same all | rewrite mulr0 addr0].
  by rewrite !output => /eqP; rewrite eqr_div // => /eqP.
split; first by apply: (rows_of_steps exp_e seen) => j forb cl bl; have [_] := steps j forb cl bl.
by apply/(pairs_cancel_steps exp_e) => cl bl j i forb _; have [] := steps j forb cl bl.
Qed.

Let blind_head (K : 'M[R]_(n, d)) (V : 'M[R]_(n, dv)) q x k : position_scores scale q K = x *: ones ->
  head e scale E F S q K V 0 k =
  (\sum_i (\sum_(s | S s) e (x * \sum_i' E s i') * F s i) * V i k) / \sum_(s | S s) e (x * \sum_i' E s i').
Proof.
move=> scores; have weight s : dot (position_scores scale q K) (row s E) = x * \sum_i' E s i'.
  by rewrite scores dot_multiple dotE; congr (_ * _); apply: eq_bigr => i _; rewrite !mxE mulr1.
rewrite head_num /num /den; congr (_ / _); last by apply: eq_bigr => s _; rewrite weight.
by apply: eq_bigr => i _; congr (_ * _); apply: eq_bigr => s _; rewrite weight mulrC.
Qed.

Let value_only (out : 'M[R]_(n, m) -> 'rV[R]_dv) (g : 'I_n -> R) (b : 'rV[R]_dv) Z : Z != 0 ->
  (forall X k, out X 0 k = (\sum_i g i * (X *m WV + ones *m b) i k) / Z) ->
  (forall X X', agree A X X' -> out X = out X') <-> forall j, ~~ A j -> g j = 0.
Proof.
move=> Z0 outE; split=> [safe j forb | zero X X' same]; last first.
  apply/rowP => k; rewrite !outE; congr (_ / _); apply: eq_bigr => i _.
  have [all | /zero ->] := boolP (A i); last by rewrite !mul0r.
  by have /rowP/(_ k) := agree_affine WV b same all; rewrite ![row _ _ _ _]mxE => ->.
have [k w0] := column; pose X := delta_mx j 0 *m (col k WV)^T : 'M[R]_(n, m).
have agreeX : agree A X 0.
  move=> i all; apply/rowP => l; rewrite !mxE big_ord1 !mxE.
  by case: eqP => [same | _]; [move: forb; rewrite -same all | rewrite mul0r].
have /rowP/(_ k) := safe X 0 agreeX; rewrite !outE => /(mulIf (invr_neq0 Z0))/eqP.
rewrite -subr_eq0 -sumrB (bigD1 j) //= big1 ?addr0 => [|i neq]; rewrite mul0mx -mulrBr.
  rewrite [X in _ * (X - _)]mxE [X in _ * (_ - X)]mxE [X in _ * (_ - (X + _))]mxE add0r addrK /X -mulmxA.
  rewrite mxE big_ord1 mxE !eqxx mul1r -col_entry mulf_eq0 (negPf (square_neq0 w0)) orbF => /eqP //.
rewrite [X in _ * (X - _)]mxE [X in _ * (_ - X)]mxE [X in _ * (_ - (X + _))]mxE add0r addrK /X -mulmxA.
by rewrite mxE big_ord1 mxE (negPf neq) mul0r mulr0.
Qed.

Let mass_neq0 x : \sum_(s | S s) e (x * \sum_i E s i) != 0.
Proof.
case: seen => s Ss; rewrite gt_eqF // (bigD1 s) //= ltr_paddr ?(exponential_gt0 exp_e) //.
by apply: sumr_ge0 => u _; apply/ltW/exponential_gt0.
Qed.

Theorem fixed_query_blind q : WK *m q^T = 0 ->
  fixed_safe q <-> forall j, ~~ A j -> \sum_(s | S s) e (scale * (bK *m q^T) 0 0 * \sum_i E s i) * F s j = 0.
Proof.
move=> alpha0; apply: (value_only (b := bV) (mass_neq0 (scale * (bK *m q^T) 0 0))) => X k.
apply: blind_head; rewrite scores_affine alpha0 mulmx0 scaler0 add0r [bK *m _]mx11_scalar mul_mx_scalar scalerA.
by rewrite [_%:M 0 0]mxE eqxx mulr1n.
Qed.

(** *** The query of position t *)

Let form := WK *m WQ^T.

Let scores_self t (X : 'M[R]_(n, m)) :
  position_scores scale (row t X *m WQ) (X *m WK) = scale *: (X *m (form *m (row t X)^T)).
Proof. by rewrite /position_scores trmx_mul /form -!mulmxA. Qed.

Theorem self_blind t : WK *m WQ^T = 0 ->
  self_safe t <-> forall j, ~~ A j -> \sum_(s | S s) F s j = 0.
Proof.
move=> form0; have flat j : \sum_(s | S s) F s j = \sum_(s | S s) e (0 * \sum_i E s i) * F s j.
  by apply: eq_bigr => s _; rewrite mul0r (exponential0 exp_e) mul1r.
have [there back] : self_safe t <-> forall j, ~~ A j -> \sum_(s | S s) e (0 * \sum_i E s i) * F s j = 0.
  apply: (value_only (b := 0) (mass_neq0 0)) => X k; rewrite mulmx0 addr0; apply: blind_head.
  by rewrite scores_self /form form0 mul0mx mulmx0 scaler0 scale0r.
split=> [safe j forb | zero]; first by rewrite flat there.
by apply: back => j forb; rewrite -flat zero.
Qed.

(** A position whose score is 0 is as good as unread by the keys. *)
Let head_without t (K : 'M[R]_(n, d)) (V : 'M[R]_(n, dv)) q : position_scores scale q K t 0 = 0 ->
  head e scale E F S q K V = head e scale (without t E) F S q K V.
Proof.
move=> zero; have same s : score scale E q K s = score scale (without t E) q K s.
  rewrite !scoreE !dotE; apply: eq_bigr => i _; rewrite ![row _ _ _ _]mxE [without _ _ _ _]mxE; case: eqP => // ->.
  by rewrite zero !mulr0.
by apply/rowP => k; rewrite !headE; congr (_ / _); apply: eq_bigr => s _; rewrite same.
Qed.

Theorem self_antisymmetric t : A t -> (forall x : 'rV[R]_m, x *m (WK *m WQ^T) *m x^T = 0) -> WK *m WQ^T != 0 ->
  self_safe t <-> exact_criterion (without t E) F A S.
Proof.
move=> all anti form0; have zero X : position_scores scale (row t X *m WQ) (X *m WK) t 0 = 0.
  by rewrite scores_self mxE row_entry mulmxA anti mxE mulr0.
split=> [safe | crit X X' same]; last first.
  rewrite /self_head !(head_without _ (zero _)) (same t all).
  by apply: (safe_of_criterion exp_e scale _ crit seen); exact: agree_linear.
have [k w0] := column.
have [l ml] : exists l, (row l form)^T != 0.
  apply/existsP; apply: contraNT form0; rewrite negb_exists => /forallP none; apply/eqP/row_matrixP => l.
  by have := none l; rewrite negbK row0 -[_^T == 0]trmx_eq0 trmxK => /eqP.
have [x [mx xw]] := two_planes ml w0; rewrite col_entry in xw.
have alpha0 : form *m x^T != 0.
  have entry : (x *m (row l form)^T) 0 0 = (form *m x^T) l 0.
    by rewrite mxE [RHS]mxE; apply: eq_bigr => i _; rewrite ![_^T _ _]mxE [row _ _ _ _]mxE mulrC.
  by apply: contraNneq mx => zero_form; rewrite entry zero_form mxE.
have [z [za zw]] := two_planes alpha0 w0; rewrite col_entry in zw.
set a := (z *m _) 0 0 in za; set b := (z *m _) 0 k in zw; set h := (x *m _) 0 k in xw.
pose c := (scale * a)^-1; have unit : scale * c * a = 1 by rewrite mulrAC mulfV ?mulf_neq0.
have c0 : c != 0 by rewrite invr_eq0 mulf_neq0.
pose X (kappa : 'cV[R]_n) := \matrix_(i < n) (if i == t then x else (c * kappa i 0) *: z).
have row_X kappa i : row i (X kappa) = if i == t then x else (c * kappa i 0) *: z by rewrite rowK.
pose beta i := if i == t then 0 else c * b; pose gamma i := if i == t then h else 0.
have den0 kappa : den e (without t E) S kappa != 0 by rewrite gt_eqF // den_gt0.
have weights kappa s : dot (position_scores scale (row t (X kappa) *m WQ) (X kappa *m WK)) (row s (without t E)) =
    dot kappa (row s (without t E)).
  rewrite scores_self row_X eqxx !dotE; apply: eq_bigr => i _; rewrite !mxE; case: eqP => [_ | neq]; first by rewrite !mul0r.
  congr (_ * _); rewrite (_ : \sum_j _ = (row i (X kappa) *m (form *m x^T)) 0 0); last first.
    by rewrite mxE; apply: eq_bigr => l' _; rewrite !mxE.
  by rewrite row_X; case: eqP => // _; rewrite -scalemxAl mxE -/a [c * _ * a]mulrAC !mulrA unit mul1r.
have output kappa : self_head t (X kappa) 0 k = tied e (without t E) F S beta gamma kappa / den e (without t E) S kappa.
  rewrite /self_head (head_without _ (zero _)) head_num; congr (_ / _); last first.
    by apply: eq_bigr => s _; rewrite weights.
  apply: eq_bigr => i _; congr (_ * _); first by apply: eq_bigr => s _; rewrite weights.
  rewrite row_entry row_X /beta /gamma; case: eqP => _; first by rewrite mul0r add0r.
  by rewrite -scalemxAl mxE -/b addr0 mulrAC.
have steps j : ~~ A j -> forall (cl : 'rV[R]_n) bl,
  let class (p : 'I_r * 'I_r) :=
    [&& S p.1, S p.2, row p.1 (without t E) + row p.2 (without t E) == cl & without t E p.2 j == bl] in
  (forall i, \sum_(p | class p) (F p.1 i - F p.2 i) = 0) /\ \sum_(p | class p) F p.2 j = 0.
  move=> forb cl bl class; have jt : j != t by apply: contraNneq forb => ->.
  have [| to_i to_t to_j] := @tied_steps R e exp_e r n (without t E) F S beta gamma j (rshift n 0) 1 (oner_neq0 R) _ cl bl.
    move=> kappa delta _; have /rowP/(_ k) : self_head t (X kappa) = self_head t (X (bump kappa j delta)).
      apply: safe => i alli; rewrite !row_X; case: eqP => // _; rewrite !mxE.
      by case: eqP => [same | _]; [move: forb; rewrite -same alli | rewrite mulr0 addr0].
    by rewrite !output => /eqP; rewrite eqr_div // => /eqP.
  have cb0 : c * b != 0 by rewrite mulf_neq0.
  split=> [i | ]; last by apply/(mulfI cb0); move: to_j; rewrite /beta (negPf jt) mulr0.
  have [-> | it] := eqVneq i t; last by apply/(mulfI cb0); move: (to_i i); rewrite /beta (negPf it) mulr0.
  apply/(mulfI xw); rewrite mulr0 -[RHS]to_t (bigD1 t) //= [X in _ = _ + X]big1 ?addr0 => [|i' neq]; first by rewrite /gamma eqxx.
  by rewrite /gamma (negPf neq) mul0r.
split; first by apply: (rows_of_steps exp_e seen) => j forb cl bl; have [_] := steps j forb cl bl.
by apply/(pairs_cancel_steps exp_e) => cl bl j i forb _; have [] := steps j forb cl bl.
Qed.

End Layer.

(** ** A query that can score its own position *)

Section Closed.

Variables (R : rcfType) (e : R -> R).
Hypothesis exp_e : exponential e.
Variables (scale : R) (r n m d dv : nat) (E F : 'M[R]_(r, n)) (A : pred 'I_n) (S : pred 'I_r).
Hypotheses (scale0 : scale != 0) (seen : exists s, S s).
Variables (WK : 'M[R]_(m, d)) (WV : 'M[R]_(m, dv)) (WQ : 'M[R]_(m, d)).
Hypothesis values : WV != 0.

(** All rows of X along one x: then values are proportional to scores, and the score of t has the sign of x M x^T. *)
Theorem self_exact t : A t -> (exists x : 'rV[R]_m, x *m (WK *m WQ^T) *m x^T != 0) ->
  self_safe e scale E F A S WK WV WQ t <-> exact_criterion E F A S.
Proof.
move=> all form0; split=> [safe | ]; last exact: (self_sufficient exp_e scale seen).
have [k w0] : exists k, col k WV != 0.
  apply/existsP; apply: contraNT values; rewrite negb_exists => /forallP zero; apply/eqP/matrixP => i k.
  by have := zero k; rewrite negbK => /eqP/colP/(_ i); rewrite !mxE.
have {}form0 : exists x : 'rV[R]_m, (x *m (WK *m WQ^T) *m x^T) 0 0 != 0.
  case: form0 => x nz; exists x; apply: contraNneq nz => zero; apply/eqP/matrixP => i j.
  by rewrite !ord1 zero mxE.
have [x [xx xw]] := quadric_and_plane form0 w0; set a := (x *m _ *m _) 0 0 in xx.
have {}xw : (x *m WV) 0 k != 0.
  by move: xw; rewrite mxE [(x *m WV) 0 k]mxE (eq_bigr (fun l => x 0 l * WV l k)) // => l _; rewrite mxE.
set b := (x *m WV) 0 k in xw.
pose X lam (kappa : 'cV[R]_n) : 'M[R]_(n, m) := (scale * lam * a)^-1 *: (kappa *m x).
have row_t lam (kappa : 'cV[R]_n) : lam != 0 -> kappa t 0 = scale * lam * a * lam -> row t (X lam kappa) = lam *: x.
  move=> lam0 kt; rewrite /X linearZ /= row_mul; apply/rowP => l; rewrite !mxE big_ord1 !mxE kt mulrA; congr (_ * _).
  by rewrite mulrA mulVf ?mul1r // !mulf_neq0.
have scores lam (kappa : 'cV[R]_n) : lam != 0 -> kappa t 0 = scale * lam * a * lam ->
    position_scores scale (row t (X lam kappa) *m WQ) (X lam kappa *m WK) = kappa.
  move=> lam0 kt; rewrite /position_scores (row_t lam) // /X trmx_mul linearZ /= -!scalemxAl -scalemxAr -scalemxAr.
  have -> : kappa *m x *m WK *m (WQ^T *m x^T) = kappa *m (x *m (WK *m WQ^T) *m x^T) by rewrite !mulmxA.
  rewrite [x *m _ *m _]mx11_scalar mul_mx_scalar -/a !scalerA.
  by rewrite -!mulrA [_^-1 * _]mulrC !mulrA mulfV ?scale1r // !mulf_neq0.
have den0 kappa : den e E S kappa != 0 by rewrite gt_eqF // den_gt0.
have output lam (kappa : 'cV[R]_n) : lam != 0 -> kappa t 0 = scale * lam * a * lam ->
    self_head e scale E F S WK WV WQ t (X lam kappa) 0 k =
    (scale * lam * a)^-1 * b * (tied e E F S (fun=> 1) (fun=> 0) kappa / den e E S kappa).
  move=> lam0 kt; rewrite /self_head head_num (scores lam) // mulrA; congr (_ / _).
  rewrite /tied mulr_sumr; apply: eq_bigr => i _; rewrite mul1r addr0 [RHS]mulrCA; congr (_ * _).
  by rewrite /X -scalemxAl -mulmxA mxE mxE big_ord1 -/b mulrCA mulrC.
have steps j : ~~ A j -> forall (cl : 'rV[R]_n) bl,
  let class (p : 'I_r * 'I_r) := [&& S p.1, S p.2, row p.1 E + row p.2 E == cl & E p.2 j == bl] in
  (forall i, \sum_(p | class p) (F p.1 i - F p.2 i) = 0) /\ \sum_(p | class p) F p.2 j = 0.
  move=> forb cl bl class; have jt : t != j by apply: contraNneq forb => <-.
  have side0 : scale * a != 0 by rewrite mulf_neq0.
  have [| to_i _ to_j] := @tied_steps R e exp_e r n E F S (fun=> 1) (fun=> 0) j (lshift 1 t) (scale * a) side0 _ cl bl.
    move=> kappa delta [mu mu0]; rewrite [step_point _ _]/step_point col_mxEu => kt.
    pose lam := Num.sqrt mu; have lam0 : lam != 0 by rewrite gt_eqF // sqrtr_gt0.
    have kt' : kappa t 0 = scale * lam * a * lam.
      by rewrite kt -{1}[mu]sqr_sqrtr ?ltW // -/lam expr2 mulrA [scale * a * lam]mulrAC.
    have bt : (bump kappa j delta) t 0 = scale * lam * a * lam by rewrite !mxE (negPf jt) mulr0 addr0.
    have /rowP/(_ k) : self_head e scale E F S WK WV WQ t (X lam kappa) =
        self_head e scale E F S WK WV WQ t (X lam (bump kappa j delta)).
      apply: safe => i alli; apply/rowP => l; rewrite !mxE !big_ord1 !mxE.
      by case: eqP => [same | _]; [move: forb; rewrite -same alli | rewrite mulr0 addr0].
    have factor : (scale * lam * a)^-1 * b != 0 by rewrite mulf_neq0 ?invr_eq0 ?mulf_neq0.
    by rewrite !output // => /(mulfI factor)/eqP; rewrite eqr_div // => /eqP.
  by split=> [i | ]; rewrite -[LHS]mul1r.
split; first by apply: (rows_of_steps exp_e seen) => j forb cl bl; have [_] := steps j forb cl bl.
by apply/(pairs_cancel_steps exp_e) => cl bl j i forb _; have [] := steps j forb cl bl.
Qed.

End Closed.

(** ** T11 is not necessary where the query is blind to itself *)

Theorem antisymmetric_safe (R : realFieldType) (e : R -> R) (scale : R) : exponential e -> scale != 0 ->
  let E : 'M[R]_2 := delta_mx 0 0 in let F : 'M[R]_2 := delta_mx 0 1 - delta_mx 1 1 in
  let WQ : 'M[R]_2 := delta_mx 0 1 - delta_mx 1 0 in let first := pred1 0 : pred 'I_2 in
  self_safe e scale E F first predT 1%:M (1%:M : 'M[R]_2) WQ 0 /\ ~ exact_criterion E F first predT.
Proof.
move=> exp_e scale0 E F WQ first; split; last first.
  case=> /(_ (row 0 E) 1 isT) + _; rewrite (bigD1 0) /= ?eqxx // big1 ?addr0 => [|s /andP[/eqP/rowP/(_ 0)]].
    by rewrite !mxE /= subr0 => /eqP; rewrite oner_eq0.
  by rewrite !mxE eqxx andbT; case: eqP => // _ /esym/eqP; rewrite oner_eq0.
have seen : exists s : 'I_2, predT s by exists 0.
have values : (1%:M : 'M[R]_2) != 0 by apply/negP => /eqP/matrixP/(_ 0 0)/eqP; rewrite !mxE oner_eq0.
have anti (x : 'rV[R]_2) : x *m (1%:M *m WQ^T) *m x^T = 0.
  apply/matrixP => i j; rewrite !ord1 mul1mx /WQ linearB /= !trmx_delta mulmxBr mulmxBl !mxE.
  rewrite !big_ord_recl !big_ord0 !mxE !big_ord_recl !big_ord0 !mxE /=.
  rewrite !(mulr0, mulr1, mul0r, addr0, add0r) mulrC; apply/eqP; rewrite subr_eq0; apply/eqP.
  by congr (x _ _ * x _ _); apply/val_inj.
have form0 : (1%:M : 'M[R]_2) *m WQ^T != 0.
  by rewrite mul1mx; apply/negP => /eqP/matrixP/(_ 1 0)/eqP; rewrite !mxE /= subr0 oner_eq0.
have [_ back] := @self_antisymmetric R e exp_e scale 2 2 2 2 2 E F first predT scale0 seen 1%:M 1%:M WQ values 0 erefl
  anti form0.
apply: back.
have E0 : without 0 E = 0.
  by apply/matrixP => s i; rewrite !mxE; case: eqP => // _; rewrite andbF.
split=> [u j forb | c j i forb all]; last by rewrite big1 // => p _; rewrite E0 !mxE subrr mul0r.
have one : j = 1 by move: forb; case: j => -[|[|//]] ltj //= _; apply/val_inj.
rewrite E0 one; case: (row 0 (0 : 'M[R]_2) =P u) => [<- | neq].
  rewrite (eq_bigl predT) => [|s]; last by rewrite !row0 eqxx.
  by rewrite !big_ord_recl big_ord0 !mxE /= addr0 subr0 sub0r subrr.
by rewrite big_pred0 // => s; apply/negbTE/eqP => same; apply: neq; rewrite -same !row0.
Qed.
