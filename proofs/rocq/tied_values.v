(** T20, the core: T11's identities from values that are affine in the scores, and vectors that miss a few planes.

    Glossary (see exact.v)
      tied             sum_i num kappa i (beta_i kappa_i + gamma_i): the numerator when v_i = beta_i kappa_i + gamma_i

    Headline lemmas:
      tied_steps           where a step of kappa_j moves no output, the sums of T11 vanish class by class
      rows_of_steps        (1) of T11 from those
      two_planes, quadric_and_plane    vectors off two planes, off a quadric and a plane

    Axioms: none. *)
From mathcomp Require Import all_ssreflect all_algebra.
From AttnProof Require Import independence affine_independence causal_head exact.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** ** Values that are affine in the scores *)

Section Tied.

Variables (R : realFieldType) (e : R -> R).
Hypothesis exp_e : exponential e.
Variables (r n : nat) (E F : 'M[R]_(r, n)) (A : pred 'I_n) (S : pred 'I_r) (beta gamma : 'I_n -> R).

Definition tied (kappa : 'cV[R]_n) : R := \sum_i num e E F S kappa i * (beta i * kappa i 0 + gamma i).

Let carried (kappa : 'cV[R]_n) s := \sum_i F s i * (beta i * kappa i 0 + gamma i).

Lemma tiedE kappa : tied kappa = \sum_(s | S s) carried kappa s * e (dot kappa (row s E)).
Proof.
rewrite /tied; under eq_bigr do rewrite mulr_suml.
rewrite exchange_big; apply: eq_bigr => s _; rewrite mulr_suml; apply: eq_bigr => i _.
by rewrite mulrAC.
Qed.

Lemma carried_bump kappa j delta s : carried (bump kappa j delta) s = carried kappa s + delta * (beta j * F s j).
Proof.
rewrite /carried (bigD1 j) //= [in RHS](bigD1 j) //= addrAC; congr (_ + _).
  rewrite !mxE !eqxx mulr1 [beta j * _]mulrDr addrAC mulrDr; congr (_ + _).
  by rewrite mulrC [beta j * _]mulrC -mulrA.
by apply: eq_bigr => i neq; rewrite !mxE (negPf neq) mulr0 addr0.
Qed.

Let slope j (p : 'I_r * 'I_r) : 'rV[R]_(n + 1) :=
  row_mx (\row_i (beta i * (F p.1 i - F p.2 i))) (const_mx (- (beta j * F p.2 j))).
Let start (p : 'I_r * 'I_r) := \sum_i gamma i * (F p.1 i - F p.2 i).

Lemma tied_cross kappa delta j :
  tied kappa * den e E S (bump kappa j delta) - tied (bump kappa j delta) * den e E S kappa =
  \sum_(p | visible_pair S p) (start p + dot (step_point kappa delta) (slope j p)) *
    e (dot (step_point kappa delta) (step_exponent E j p)).
Proof.
rewrite !tiedE [X in _ - X]mulrC !big_distrlr -sumrB /= -(pair_big S S (fun s u =>
  (start (s, u) + dot (step_point kappa delta) (slope j (s, u))) *
  e (dot (step_point kappa delta) (step_exponent E j (s, u))))) /=.
apply: eq_bigr => s _; rewrite -sumrB; apply: eq_bigr => u _.
rewrite dot_step_point dot_bump dot_add -addrA !(exponentialD exp_e) carried_bump.
rewrite [X in _ - X]mulrCA -[carried kappa s * _ * _]mulrA -mulrBl; congr (_ * _).
rewrite /dot mul_row_col mxE [X in _ = _ + (_ + X)]mxE big_ord1 !mxE mulNr [_ * delta]mulrC.
rewrite opprD !addrA; congr (_ - _); rewrite /carried /start -sumrB -big_split; apply: eq_bigr => i _ /=.
by rewrite !mxE -mulrBl mulrDr addrC mulrC; congr (_ + _); rewrite mulrA; congr (_ * _); rewrite mulrC.
Qed.

Lemma tied_steps j (t : 'I_(n + 1)) a : a != 0 ->
  (forall kappa delta, side t a (step_point kappa delta) ->
     tied kappa * den e E S (bump kappa j delta) = tied (bump kappa j delta) * den e E S kappa) ->
  forall (c : 'rV[R]_n) b,
  let class (p : 'I_r * 'I_r) := [&& S p.1, S p.2, row p.1 E + row p.2 E == c & E p.2 j == b] in
  [/\ forall i, (beta i * (\sum_(p | class p) (F p.1 i - F p.2 i)) = 0)%R,
      (\sum_i gamma i * (\sum_(p | class p) (F p.1 i - F p.2 i)) = 0)%R &
      (beta j * (\sum_(p | class p) F p.2 j) = 0)%R].
Proof.
move=> a0 safe c b class.
have vanish x : side t a x -> \sum_(p | visible_pair S p) (start p + dot x (slope j p)) * e (dot x (step_exponent E j p)) = 0.
  by rewrite -[x]step_pointK => /safe same; rewrite -tied_cross same subrr.
have [g0 l0] := affine_independence exp_e a0 vanish (row_mx c (const_mx b)).
have classE := @step_class R r n E S j c b.
split=> [i | | ].
- move/rowP/(_ (lshift 1 i)): l0; rewrite summxE mxE => l0; rewrite -[RHS]l0 mulr_sumr.
  by apply: eq_big => [p | p _]; rewrite ?classE // row_mxEl mxE.
- rewrite -[RHS]g0 (eq_bigl class) => [|p]; last by rewrite classE.
  by rewrite /start exchange_big; apply: eq_bigr => i _; rewrite mulr_sumr.
move/rowP/(_ (rshift n 0)): l0; rewrite summxE mxE => l0; apply: oppr_inj; rewrite oppr0 -[RHS]l0 mulr_sumr -sumrN.
by apply: eq_big => [p | p _]; rewrite ?classE // row_mxEr mxE.
Qed.

(** A value coefficient vanishes when its products with the normaliser do. *)
Lemma rows_of_steps : (exists s, S s) ->
  (forall j, ~~ A j -> forall (c : 'rV[R]_n) b,
     \sum_(p : 'I_r * 'I_r | [&& S p.1, S p.2, row p.1 E + row p.2 E == c & E p.2 j == b]) F p.2 j = 0) ->
  rows_cancel E F A S.
Proof.
move=> seen zero; apply/(rows_cancel_num exp_e) => kappa j forb.
have den0 : den e E S kappa != 0 by rewrite gt_eqF // den_gt0.
apply/(mulfI den0); rewrite mulr0 big_distrlr /= (pair_big S S (fun s u =>
  e (dot kappa (row s E)) * (F u j * e (dot kappa (row u E))))) /=.
apply: (vanishing_classes (key := fun p : 'I_r * 'I_r => row p.1 E + row p.2 E)) => c.
apply: (vanishing_classes (key := fun p : 'I_r * 'I_r => E p.2 j)) => b.
transitivity (e (dot kappa c) *
    \sum_(p : 'I_r * 'I_r | [&& S p.1, S p.2, row p.1 E + row p.2 E == c & E p.2 j == b]) F p.2 j).
  rewrite mulr_sumr; apply: eq_big => [p | p]; first by rewrite -!andbA.
  by move=> /andP[/andP[_ /eqP <-] _]; rewrite dot_add (exponentialD exp_e) -mulrA [F _ _ * _]mulrC.
by rewrite zero ?mulr0.
Qed.

End Tied.

(** ** Vectors that miss a few planes *)

Section Generic.

Variables (R : realFieldType) (m : nat).
Implicit Types (u w : 'cV[R]_m) (x : 'rV[R]_m).

Lemma square_neq0 u : u != 0 -> (u^T *m u) 0 0 != 0.
Proof.
move=> u0; have /existsP[i ui] : [exists i, u i 0 != 0].
  apply: contraNT u0; rewrite negb_exists => /forallP zero; apply/eqP/colP => i; rewrite mxE.
  by apply/eqP; have := zero i; rewrite negbK.
rewrite mxE gt_eqF // (bigD1 i) //= ltr_paddr //.
  by apply: sumr_ge0 => k _; rewrite mxE -expr2 sqr_ge0.
by rewrite mxE -expr2 lt_neqAle eq_sym sqrf_eq0 ui sqr_ge0.
Qed.

Lemma two_planes u w : u != 0 -> w != 0 -> exists x, (x *m u) 0 0 != 0 /\ (x *m w) 0 0 != 0.
Proof.
move=> u0 w0; have [uw | uw] := eqVneq ((u^T *m w) 0 0) 0; last by exists u^T; rewrite square_neq0.
have wu : (w^T *m u) 0 0 = 0 by rewrite -[RHS]uw -[w^T *m u]trmxK trmx_mul trmxK mxE.
exists (u^T + w^T); rewrite !mulmxDl ![fun_of_matrix (_ + _) _ _]mxE wu uw addr0 add0r.
by split; apply: square_neq0.
Qed.

Lemma quadric_and_plane (M : 'M[R]_m) w : (exists x, (x *m M *m x^T) 0 0 != 0) -> w != 0 ->
  exists x, (x *m M *m x^T) 0 0 != 0 /\ (x *m w) 0 0 != 0.
Proof.
case=> x Mx w0; have [xw | xw] := eqVneq ((x *m w) 0 0) 0; last by exists x.
pose z := w^T; have zw : (z *m w) 0 0 != 0 by apply: square_neq0.
pose B (y y' : 'rV[R]_m) := (y *m M *m y'^T) 0 0.
pose p : {poly R} := (B x x)%:P + (B x z + B z x)%:P * 'X + (B z z)%:P * 'X^2.
have p_at k : p.[k] = B x x + (B x z + B z x) * k + B z z * k ^+ 2 by rewrite /p !hornerE.
have p0 : p * 'X != 0.
  rewrite mulf_neq0 ?polyX_eq0 //; apply: contraNneq Mx => p0; have := p_at 0.
  by rewrite p0 horner0 expr2 !mulr0 !addr0 -/(B x x) => <-.
have [k _] := nonroot_nat p0; rewrite hornerM hornerX mulf_eq0 negb_or => /andP[pk k0].
exists (x + k%:R *: z); split; last by rewrite mulmxDl -scalemxAl mxE xw add0r mxE mulf_neq0.
have -> : ((x + k%:R *: z) *m M *m (x + k%:R *: z)^T) 0 0 = p.[k%:R] => //.
rewrite p_at linearD linearZ /= !mulmxDl !mulmxDr -!scalemxAl -!scalemxAr scalerA.
rewrite /B ![fun_of_matrix (_ + _) _ _]mxE ![fun_of_matrix (_ *: _) _ _]mxE -expr2 mulrDl ![_ * k%:R]mulrC [_ * _ ^+ 2]mulrC.
by rewrite -!addrA.
Qed.

End Generic.
