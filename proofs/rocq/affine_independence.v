(** Exponentials with distinct linear exponents are independent over affine functions, too, and on half-spaces.

    Glossary (see independence.v)
      g p, h p           constant and slope of the coefficient of term p along a ray
      l p                a row: the coefficient of term p at the point x is g p + dot x (l p)
      side t c x         coordinate t of x is a positive multiple of c

    Headline theorem (for T20):
      affine_independence   a sum of exponentials with affine coefficients that vanishes on one side vanishes class
                                 by class, the constants by themselves and the linear parts by themselves

    Along the ray m x with x separating, (g + m h) z^m with distinct z > 0 are the solutions of a linear recurrence whose
    polynomial has each z as a double root; so a polynomial with double roots at the other z picks one class out.
    Axioms: none. *)
From mathcomp Require Import all_ssreflect all_algebra.
From AttnProof Require Import independence.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Ray.

Variables (R : realFieldType) (e : R -> R).
Hypothesis exp_e : exponential e.
Variables (N : nat) (P : finType) (Q : pred P) (a : P -> 'rV[R]_N) (g h : P -> R) (x : 'cV[R]_N).
Hypothesis sep : separates a x.
Hypothesis vanish : forall m : nat, (0 < m)%N -> \sum_(p | Q p) (g p + m%:R * h p) * e (m%:R * dot x (a p)) = 0.

Let z p := e (dot x (a p)).

Let picked (D : {poly R}) : \sum_(p | Q p) (g p * ('X * D).[z p] + h p * (z p * ('X * D)^`().[z p])) = 0.
Proof.
set L := 'X * D; transitivity (\sum_(k < size L) L`_k * \sum_(p | Q p) (g p + k%:R * h p) * e (k%:R * dot x (a p))).
  rewrite (eq_bigr (fun k : 'I_(size L) =>
      \sum_(p | Q p) (g p * (L`_k * z p ^+ k) + h p * (z p * (L`_k *+ k * z p ^+ k.-1))))); last first.
    move=> k _; rewrite mulr_sumr; apply: eq_bigr => p _.
    rewrite (exponential_multiple exp_e) -/(z p) mulrDl mulrDr; congr (_ + _); first by rewrite mulrCA.
    case: (k : nat) => [|k']; first by rewrite !mulr0n !(mul0r, mulr0).
    by rewrite exprS /= !mulrA; congr (_ * _); rewrite -[LHS]mulrA mulrC mulr_natr.
  rewrite exchange_big; apply: eq_bigr => p _ /=; rewrite big_split /= -!mulr_sumr horner_coef; congr (_ + _ * (_ * _)).
  have [-> | L0] := eqVneq L 0; first by rewrite deriv0 horner0 size_poly0 big_ord0.
  rewrite /deriv horner_poly; case: (size L) => [|n]; first by rewrite !big_ord0.
  by rewrite big_ord_recl /= mulr0n mul0r add0r.
rewrite big1 // => k _; case: (posnP k) => [-> | pos]; last by rewrite vanish ?mulr0.
by rewrite coefXM eqxx mul0r.
Qed.

Lemma ray_independence c :
  \sum_(p | Q p && (a p == c)) g p = 0 /\ \sum_(p | Q p && (a p == c)) h p = 0.
Proof.
have [p0 /andP[_ /eqP ap0] | none] := pickP (fun p => Q p && (a p == c)); last by rewrite !big_pred0.
have zE p p' : (z p == z p') = (a p == a p').
  move/separatesP: sep => sep'.
  by apply/eqP/eqP => [/(exponential_inj exp_e)/sep' // | same]; rewrite /z same.
pose others := undup [seq z p | p <- enum P & a p != c].
pose L := \prod_(y <- others) ('X - y%:P).
have L_other p : a p != c -> L.[z p] = 0.
  move=> neq; apply/rootP; rewrite root_prod_XsubC mem_undup; apply/mapP; exists p => //.
  by rewrite mem_filter neq mem_enum.
have L0 : L.[z p0] != 0.
  rewrite -/(root L _) root_prod_XsubC mem_undup; apply/mapP => -[p].
  by rewrite mem_filter => /andP[neq _] /eqP; rewrite zE ap0 eq_sym (negPf neq).
have z0 : z p0 != 0 by apply: exponential_neq0.
pose G := \sum_(p | Q p && (a p == c)) g p; pose H := \sum_(p | Q p && (a p == c)) h p.
have one D : G * ('X * (D * (L * L))).[z p0] + H * (z p0 * ('X * (D * (L * L)))^`().[z p0]) = 0.
  rewrite -[RHS](picked (D * (L * L))) [RHS](bigID (fun p => a p == c)) /= [X in _ = _ + X]big1 ?addr0.
    rewrite big_split /= /G /H !mulr_suml; congr (_ + _); apply: eq_bigr => p /andP[_ /eqP same].
      by have /eqP -> : z p == z p0 by rewrite zE same ap0.
    by have /eqP -> : z p == z p0 by rewrite zE same ap0.
  by move=> p /andP[_ neq]; rewrite !derivM !(hornerM, hornerD) L_other // !(mulr0, mul0r, addr0, add0r).
pose T := 'X * (L * L).
have first : G * T.[z p0] + H * (z p0 * T^`().[z p0]) = 0 by have := one 1; rewrite mul1r.
have second : G * ('X * T).[z p0] + H * (z p0 * ('X * T)^`().[z p0]) = 0 by have := one 'X.
have T0 : T.[z p0] != 0 by rewrite !hornerM hornerX !mulf_neq0.
have H0 : H = 0.
  have /eqP : H * (z p0 * T.[z p0]) = 0.
    transitivity (G * ('X * T).[z p0] + H * (z p0 * ('X * T)^`().[z p0]) -
                  z p0 * (G * T.[z p0] + H * (z p0 * T^`().[z p0]))); last by rewrite first second mulr0 subr0.
    rewrite derivM derivX mul1r !(hornerM, hornerD, hornerX) !mulrDr opprD addrACA [G * _]mulrCA subrr add0r.
    by rewrite -addrA [X in _ - X]mulrCA subrr addr0.
  by rewrite !mulf_eq0 (negPf T0) (negPf z0) !orbF => /eqP.
split=> //; apply/eqP; move: first; rewrite -/H H0 mul0r addr0 => /eqP.
by rewrite mulf_eq0 (negPf T0) orbF.
Qed.

End Ray.

Section Side.

Variables (R : realFieldType) (N : nat).

(** Coordinate t of x is a positive multiple of c. *)
Definition side (t : 'I_N) (c : R) (x : 'cV[R]_N) := exists2 mu, 0 < mu & x t 0 = c * mu.

Lemma side_multiple t c x (m : nat) : (0 < m)%N -> side t c x -> side t c (m%:R *: x).
Proof.
move=> pos [mu mu0 xt]; exists (m%:R * mu); first by rewrite mulr_gt0 ?ltr0n.
by rewrite mxE xt mulrCA.
Qed.

(** On either side of any coordinate there is a separating point. *)
Lemma separating_side (P : finType) (a : P -> 'rV[R]_N) (t : 'I_N) c : c != 0 ->
  exists2 x, separates a x & side t c x.
Proof.
move=> c0; pose b (q : P + bool) : 'rV[R]_N := match q with
  | inl p => \row_k (a p 0 k * (if k == t then c else 1)) | inr true => delta_mx 0 t | inr false => 0 end.
have [tau _ /separatesP sep] := separating_moment b.
pose y : 'cV[R]_N := moment N tau%:R; pose x : 'cV[R]_N := \col_k (y k 0 * (if k == t then c else 1)).
have dotx p : dot x (a p) = dot y (b (inl p)).
  by rewrite !dotE; apply: eq_bigr => k _; rewrite !mxE mulrA mulrAC.
exists x.
  apply/separatesP => p p'; rewrite !dotx => /sep/rowP same; apply/rowP => k; have := same k; rewrite !mxE.
  by case: (k == t); rewrite ?mulr1 // => /(mulIf c0).
have yt : y t 0 != 0.
  apply/negP => /eqP yt0; have /sep/rowP/(_ t) : dot y (b (inr true)) = dot y (b (inr false)).
    rewrite /dot /= mul0mx [RHS]mxE -yt0 mxE (bigD1 t) //= mxE !eqxx mul1r big1 ?addr0 // => k neq.
    by rewrite mxE (negPf neq) mul0r.
  by rewrite !mxE !eqxx => /eqP; rewrite oner_eq0.
exists (y t 0); last by rewrite mxE eqxx mulrC.
by rewrite lt_neqAle eq_sym yt mxE exprn_ge0 ?ler0n.
Qed.

Theorem affine_independence (e : R -> R) (P : finType) (Q : pred P) (a : P -> 'rV[R]_N) (g : P -> R)
    (l : P -> 'rV[R]_N) (t : 'I_N) c : exponential e -> c != 0 ->
  (forall x, side t c x -> \sum_(p | Q p) (g p + dot x (l p)) * e (dot x (a p)) = 0) ->
  forall b, \sum_(p | Q p && (a p == b)) g p = 0 /\ \sum_(p | Q p && (a p == b)) l p = 0.
Proof.
move=> exp_e c0 vanish b; set total := \sum_(p | _) l p.
pose a' (q : P + bool) : 'rV[R]_N := match q with inl p => a p | inr true => total | inr false => 0 end.
have [x sep' x_side] := separating_side a' t c0; have sep : separates a x.
  apply/separatesP => p p' same; move/separatesP: sep' => /(_ (inl p) (inl p')); exact.
have ray m : (0 < m)%N -> \sum_(p | Q p) (g p + m%:R * dot x (l p)) * e (m%:R * dot x (a p)) = 0.
  move=> pos; rewrite -[RHS](vanish _ (side_multiple pos x_side)).
  by apply: eq_bigr => p _; rewrite !dot_multiple.
have [zero_g zero_l] := ray_independence exp_e sep ray b; split=> //.
move/separatesP: sep' => /(_ (inr true) (inr false)) /=; apply.
rewrite -[RHS]/(dot x 0) {2}/dot mul0mx [RHS]mxE -[RHS]zero_l /dot mulmx_suml summxE.
by [].
Qed.

End Side.
