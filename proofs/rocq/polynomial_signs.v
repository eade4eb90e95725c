(** T1: the sign of a polynomial on an interval of positive numbers, decided in rational arithmetic.

    Glossary
      Q, of_Q              Rocq's binary rationals, and what they are in an ordered field
      poly_at p x          the polynomial with coefficients p, lowest first, at x
      above p lo hi        a rational that no value of p on [lo, hi] is below, for 0 <= lo
      positive_on          the test that it is positive
      quotient_near N D c  the test that N(x) / D(x) is within a given distance of c for all x in [lo, hi]

    Lemmas: positive_onP and quotient_nearP: a test that answers true is right. example_decimals.v runs them.

    Axioms: none. *)
From Coq Require Import ZArith QArith.
From mathcomp Require Import all_ssreflect all_algebra.
From AttnProof Require Import rationals.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Fixpoint qpoly_at (p : seq Q) (x : Q) : Q := if p is c :: p' then qadd c (qmul x (qpoly_at p' x)) else Qmake 0 1.

Fixpoint padd (p q : seq Q) : seq Q :=
  match p, q with
  | a :: p', b :: q' => qadd a b :: padd p' q'
  | [::], _ => q
  | _, [::] => p
  end.

Definition pscale (c : Q) (p : seq Q) : seq Q := [seq qmul c a | a <- p].

Definition nonneg (x : Q) : Q := if Z.ltb (Qnum x) 0 then Qmake 0 1 else x.

(** The coefficients >= 0 count at the lower end, the others at the upper end. *)
Definition above (p : seq Q) (lo hi : Q) : Q :=
  qsub (qpoly_at (map nonneg p) lo) (qpoly_at (map (fun x => nonneg (Qopp x)) p) hi).

Definition positive_on (p : seq Q) (lo hi : Q) : bool := Z.ltb 0 (Qnum (above p lo hi)).

Section Signs.

Variable R : realFieldType.

Let of_Q := @of_Q R.

Fixpoint poly_at (p : seq Q) (x : R) : R := if p is c :: p' then of_Q c + x * poly_at p' x else 0.

Lemma of_Q_gt0 x : (0 < of_Q x) = Z.ltb 0 (Qnum x).
Proof.
rewrite /of_Q /rationals.of_Q pmulr_lgt0 ?invr_gt0 ?of_pos_gt0 //.
by case: (Qnum x) => [|p|p] /=; rewrite ?ltxx ?of_pos_gt0 // oppr_gt0 ltNge ltW ?of_pos_gt0.
Qed.

Lemma of_Q_opp x : of_Q (Qopp x) = - of_Q x.
Proof. by rewrite /of_Q /rationals.of_Q of_Z_opp mulNr. Qed.

Lemma of_Q_nonneg x : of_Q x = of_Q (nonneg x) - of_Q (nonneg (Qopp x)).
Proof.
have zero d : of_Q (Qmake 0 d) = 0 by exact: mul0r.
by rewrite /nonneg; case: x => -[|p|p] d /=; rewrite ?zero ?subr0 // sub0r -of_Q_opp.
Qed.

Lemma nonneg_ge0 x : 0 <= of_Q (nonneg x).
Proof.
rewrite /nonneg; case: x => -[|p|p] d /=; rewrite /of_Q /rationals.of_Q /= ?mul0r //.
by rewrite divr_ge0 // ltW // of_pos_gt0.
Qed.

Lemma of_Q_poly p x : of_Q (qpoly_at p x) = poly_at p (of_Q x).
Proof. by elim: p => [|c p IH]; [exact: of_Q0 | rewrite /= -IH -of_Q_mul -of_Q_add]. Qed.

Lemma poly_at_padd p q x : poly_at (padd p q) x = poly_at p x + poly_at q x.
Proof.
elim: p q => [|a p IH] [|b q] /=; rewrite ?add0r ?addr0 //.
by rewrite IH [of_Q _]of_Q_add mulrDr addrACA.
Qed.

Lemma poly_at_pscale c p x : poly_at (pscale c p) x = of_Q c * poly_at p x.
Proof. by elim: p => [|a p IH] /=; rewrite ?mulr0 // IH [of_Q _]of_Q_mul mulrDr [x * _]mulrCA. Qed.

Lemma poly_at_split p x :
  poly_at p x = poly_at (map nonneg p) x - poly_at (map (fun x => nonneg (Qopp x)) p) x.
Proof.
by elim: p => [|a p IH] /=; rewrite ?subr0 // {1}of_Q_nonneg {1}IH mulrBr opprD addrACA.
Qed.

Lemma poly_at_nondecreasing (p : seq Q) (f : Q -> Q) x y :
  (forall c, 0 <= of_Q (f c)) -> 0 <= x <= y -> 0 <= poly_at (map f p) x <= poly_at (map f p) y.
Proof.
move=> f_ge0 /andP[x_ge0 le_xy]; elim: p => [|a p /andP[p_ge0 le_p]] /=; first by rewrite lexx.
apply/andP; split; first by apply: addr_ge0 (f_ge0 a) (mulr_ge0 x_ge0 p_ge0).
by apply: ler_add => //; exact: ler_pmul.
Qed.

Lemma positive_onP p lo hi x :
  0 <= of_Q lo -> of_Q lo <= x <= of_Q hi -> positive_on p lo hi -> 0 < poly_at p x.
Proof.
move=> lo_ge0 /andP[lo_x x_hi]; rewrite /positive_on -of_Q_gt0 [of_Q _]of_Q_sub -!/(of_Q _) !of_Q_poly => above_gt0.
have x_ge0 := le_trans lo_ge0 lo_x; apply: lt_le_trans above_gt0 _; rewrite [leRHS]poly_at_split; apply: ler_sub.
  by have /andP[] := poly_at_nondecreasing p nonneg_ge0 (introT andP (conj lo_ge0 lo_x)).
by have /andP[] := poly_at_nondecreasing p (fun c => nonneg_ge0 (Qopp c)) (introT andP (conj x_ge0 x_hi)).
Qed.

(** N(x) / D(x) is within [slack] of c when D, D (c + slack) - N and N - D (c - slack) are positive. *)
Definition quotient_near (N D : seq Q) (c slack lo hi : Q) : bool :=
  [&& positive_on D lo hi,
      positive_on (padd (pscale (qadd c slack) D) (pscale (Qmake (-1) 1) N)) lo hi &
      positive_on (padd N (pscale (qsub slack c) D)) lo hi].

Lemma quotient_nearP N D c slack lo hi x :
  0 <= of_Q lo -> of_Q lo <= x <= of_Q hi -> quotient_near N D c slack lo hi ->
  `|poly_at N x / poly_at D x - of_Q c| < of_Q slack.
Proof.
move=> lo_ge0 x_in /and3P[/(positive_onP lo_ge0 x_in) D_gt0 /(positive_onP lo_ge0 x_in) le_hi].
move=> /(positive_onP lo_ge0 x_in); move: le_hi; rewrite !poly_at_padd !poly_at_pscale => le_hi le_lo.
have minus_one : of_Q (Qmake (-1) 1) = -1 by exact: divr1.
move: le_hi le_lo; rewrite minus_one mulN1r [of_Q (qadd _ _)]of_Q_add [of_Q (qsub _ _)]of_Q_sub => le_hi le_lo.
rewrite ltr_norml ltr_subr_addr ltr_subl_addr ltr_pdivl_mulr // ltr_pdivr_mulr //.
rewrite -[X in X && _]subr_gt0 -[X in _ && X]subr_gt0.
by rewrite -mulNr opprD opprK le_lo /= [of_Q slack + _]addrC.
Qed.

End Signs.
