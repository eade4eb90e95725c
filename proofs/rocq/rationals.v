(** Rocq's binary rationals Q, which compute, inside every field of characteristic 0, which is where theorems live.

    Glossary
      Q               the standard library's rationals: a binary integer over a binary positive
      of_Z z, of_Q x  the integer z and the rational x in the field R
      qadd, qsub, qmul, qeq    sum, difference, product and equality test; sums of fractions with equal denominators
                               keep that denominator, so that numbers stay short
      qsum            sum of a list

    Headline theorems:
      T11  of_Q_def    what of_Q is

    Lemmas: of_Q_add, of_Q_sub, of_Q_mul, of_Q_sum (of_Q respects the operations) and of_Q_eq (equality tests are exact).

    Axioms: none. *)
From Coq Require Import ZArith QArith Lia.
From mathcomp Require Import all_ssreflect all_algebra.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** ** Operations *)

Definition qadd (x y : Q) : Q :=
  if Pos.eqb (Qden x) (Qden y) then Qmake (Z.add (Qnum x) (Qnum y)) (Qden x) else Qplus x y.

Definition qsub (x y : Q) : Q := qadd x (Qopp y).

Definition qmul (x y : Q) : Q := Qmult x y.

Definition qeq (x y : Q) : bool :=
  if Pos.eqb (Qden x) (Qden y) then Z.eqb (Qnum x) (Qnum y)
  else Z.eqb (Z.mul (Qnum x) (Zpos (Qden y))) (Z.mul (Qnum y) (Zpos (Qden x))).

Definition qzero (x : Q) : bool := Z.eqb (Qnum x) Z0.

Definition qsum (l : seq Q) : Q := foldr qadd (Qmake Z0 xH) l.

(** ** What they mean in a field *)

Section Embedding.

Variable R : numFieldType.

Definition of_pos (p : positive) : R := (Pos.to_nat p)%:R.

Definition of_Z (z : Z) : R :=
  match z with
  | Z0 => 0
  | Zpos p => of_pos p
  | Zneg p => - of_pos p
  end.

Definition of_Q (x : Q) : R := of_Z (Qnum x) / of_pos (Qden x).

Lemma of_Q_def z p :
  of_Q (Qmake z p) = of_Z z / (Pos.to_nat p)%:R /\
  of_Z Z0 = 0 /\ of_Z (Zpos p) = (Pos.to_nat p)%:R /\ of_Z (Zneg p) = - (Pos.to_nat p)%:R.
Proof. by []. Qed.

Lemma of_pos_gt0 p : 0 < of_pos p.
Proof. by rewrite /of_pos ltr0n; apply/ltP/Pos2Nat.is_pos. Qed.

Lemma of_pos_neq0 p : of_pos p != 0.
Proof. exact/lt0r_neq0/of_pos_gt0. Qed.

Lemma of_Z_difference a b : of_Z (Z.sub (Z.of_nat a) (Z.of_nat b)) = a%:R - b%:R.
Proof.
case diff: (Z.sub _ _) => [|p|p] /=.
- have -> : a = b by lia.
  by rewrite subrr.
- have -> : a = (Pos.to_nat p + b)%coq_nat by lia.
  by rewrite plusE natrD addrK.
have -> : b = (Pos.to_nat p + a)%coq_nat by lia.
by rewrite plusE natrD opprD addrCA subrr addr0.
Qed.

Lemma difference_of_nats z : exists a b, z = Z.sub (Z.of_nat a) (Z.of_nat b).
Proof. by exists (Z.to_nat z), (Z.to_nat (Z.opp z)); lia. Qed.

Lemma of_Z_add y z : of_Z (Z.add y z) = of_Z y + of_Z z.
Proof.
have [a [b ->]] := difference_of_nats y; have [c [d ->]] := difference_of_nats z.
rewrite (_ : Z.add _ _ = Z.sub (Z.of_nat (a + c)) (Z.of_nat (b + d))); last by rewrite -!plusE; lia.
by rewrite !of_Z_difference !natrD opprD addrACA.
Qed.

Lemma of_Z_opp z : of_Z (Z.opp z) = - of_Z z.
Proof. by case: z => [|p|p] /=; rewrite ?oppr0 ?opprK. Qed.

Lemma of_Z_mul y z : of_Z (Z.mul y z) = of_Z y * of_Z z.
Proof.
have [a [b ->]] := difference_of_nats y; have [c [d ->]] := difference_of_nats z.
rewrite (_ : Z.mul _ _ = Z.sub (Z.of_nat (a * c + b * d)) (Z.of_nat (a * d + b * c))); last first.
  by rewrite -!plusE -!multE; lia.
rewrite !of_Z_difference !natrD !natrM mulrBl !mulrBr opprD opprB.
by rewrite [LHS]addrACA addrA -!addrA; do 2!congr (_ + _); rewrite addrC [_ - _]addrC.
Qed.

Lemma of_Z_pos p : of_Z (Zpos p) = of_pos p.
Proof. by []. Qed.

Lemma of_pos_mul p q : of_pos (Pos.mul p q) = of_pos p * of_pos q.
Proof. by rewrite -!of_Z_pos Pos2Z.inj_mul of_Z_mul. Qed.

Lemma of_Z_eq0 z : (of_Z z == 0) = Z.eqb z Z0.
Proof. by case: z => [|p|p] /=; rewrite ?eqxx ?oppr_eq0 ?(negPf (of_pos_neq0 _)). Qed.

Lemma of_Z_eq y z : (of_Z y == of_Z z) = Z.eqb y z.
Proof. by rewrite -subr_eq0 -of_Z_opp -of_Z_add of_Z_eq0; apply/Z.eqb_spec/Z.eqb_spec; lia. Qed.

Lemma of_Q_add x y : of_Q (qadd x y) = of_Q x + of_Q y.
Proof.
rewrite /qadd /of_Q; case: Pos.eqb_spec => [<- | _] /=; first by rewrite of_Z_add mulrDl.
by rewrite of_pos_mul of_Z_add !of_Z_mul /= addf_div ?of_pos_neq0.
Qed.

Lemma of_Q_sub x y : of_Q (qsub x y) = of_Q x - of_Q y.
Proof. by rewrite of_Q_add /of_Q /= of_Z_opp mulNr. Qed.

Lemma of_Q_mul x y : of_Q (qmul x y) = of_Q x * of_Q y.
Proof. by rewrite /of_Q /= of_Z_mul of_pos_mul mulf_div. Qed.

Lemma of_Q_eq x y : (of_Q x == of_Q y) = qeq x y.
Proof.
rewrite /of_Q /qeq; case: Pos.eqb_spec => [<- | _].
  by rewrite (inj_eq (mulIf _)) ?of_Z_eq // invr_eq0 of_pos_neq0.
by rewrite eqr_div ?of_pos_neq0 // -!of_Z_pos -!of_Z_mul of_Z_eq.
Qed.

Lemma of_Q_eq0 x : (of_Q x == 0) = qzero x.
Proof. by rewrite /of_Q mulf_eq0 invr_eq0 (negPf (of_pos_neq0 _)) orbF of_Z_eq0. Qed.

Lemma of_Q0 : of_Q (Qmake Z0 xH) = 0.
Proof. by rewrite /of_Q mul0r. Qed.

Lemma of_Q_sum (l : seq Q) : of_Q (qsum l) = \sum_(x <- l) of_Q x.
Proof. by elim: l => [|x l IH]; rewrite ?big_nil ?of_Q0 // big_cons -IH -of_Q_add. Qed.

End Embedding.
