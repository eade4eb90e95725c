(** T1: the decimals that the article prints, each proved to be within half a unit of its last place.

    Glossary
      h                    expR (1/2); e = h^2, and all numbers of the example are quotients of polynomials in h
      term m, partial m    1/(2^m m!) and the sum of the first m of them, as rationals
      whole_at N h         the polynomial with natural coefficients N, lowest first, at h
      printed x digits     x is within half a unit of the fourth decimal of the number with these digits, four of them
                           behind the point
      near N D digits      the test for it on N(h)/D(h), by rational arithmetic on an enclosure of h

    Headline theorems:
      T1  expR_half_enclosed   for every m, the first m terms of the series of e^(1/2) and what they miss at most
      T1  printed_weights      full weights 0.0900, 0.2447, 0.6652 and compressed weights 0.1824, 0.8176
      T1  printed_outputs      outputs 25.7521 and 27.2636, and their difference 1.5115

    Axioms: the three of MathComp-Analysis. *)
From Coq Require Import ZArith QArith.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.analysis Require topology normedtype.
From mathcomp.analysis Require Import reals sequences exp.
From AttnProof Require Import rationals polynomial_signs softmax_det kernel_direction example.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(** ** The enclosure of e^(1/2) *)

Fixpoint term (m : nat) : Q :=
  if m is k.+1 then qmul (term k) (Qmake 1 (Pos.mul 2 (Pos.of_succ_nat k))) else Qmake 1 1.

Fixpoint partial (m : nat) : Q := if m is k.+1 then qadd (partial k) (term k) else Qmake 0 1.

Section Enclosure.

Variable R : realType.

Let of_Q := @of_Q R.

Lemma of_Q_step m : of_Q (Qmake 1 (Pos.mul 2 (Pos.of_succ_nat m))) = 1 / 2 * m.+1%:R^-1.
Proof.
rewrite [LHS](_ : _ = 1 / of_pos R (Pos.mul 2 (Pos.of_succ_nat m))) // of_pos_mul invfM mulrA; congr (_ * _^-1).
by rewrite /of_pos SuccNat2Pos.id_succ.
Qed.

Lemma of_Q_term m : of_Q (term m) = exp_coeff (1 / 2) m.
Proof.
elim: m => [|m IH]; first by rewrite /exp_coeff /= fact0 expr0.
by rewrite [LHS]of_Q_mul -/of_Q IH of_Q_step /exp_coeff /= factS mulnC natrM exprSr invfM mulrACA.
Qed.

Lemma of_Q_partial m : of_Q (partial m) = series (exp_coeff (1 / 2)) m.
Proof.
elim: m => [|m IH]; first by rewrite [LHS]of_Q0 /series /= big_geq.
by rewrite [LHS]of_Q_add -/of_Q IH of_Q_term /series /= big_nat_recr.
Qed.

Lemma term_ge0 m : 0 <= of_Q (term m).
Proof. by rewrite of_Q_term exp_coeff_ge0 // divr_ge0 ?ler01 ?ler0n. Qed.

Lemma term_halves m : 2 * of_Q (term m.+1) <= of_Q (term m).
Proof.
rewrite [X in 2 * X]of_Q_mul -/of_Q of_Q_step mulrCA ler_pimulr ?term_ge0 // mulrA mul1r divff ?pnatr_eq0 // mul1r.
by rewrite invf_le1 ?ltr0n // ler1n.
Qed.

Lemma partial_S m : of_Q (partial m.+1) = of_Q (partial m) + of_Q (term m).
Proof. exact: of_Q_add. Qed.

Lemma partial_le m k : of_Q (partial m) <= of_Q (partial (k + m)).
Proof. by elim: k => // k IH; rewrite addSn partial_S (le_trans IH) // ler_addl term_ge0. Qed.

Lemma partial_ge m k : of_Q (partial (k + m)) + 2 * of_Q (term (k + m)) <= of_Q (partial m) + 2 * of_Q (term m).
Proof.
elim: k => // k IH; apply: le_trans IH; rewrite addSn partial_S -addrA ler_add2l.
by rewrite [leRHS]mulr_natl mulr2n ler_add2l term_halves.
Qed.

Lemma partial_ge0 m : 0 <= of_Q (partial m).
Proof. by have := partial_le 0 m; rewrite [X in X <= _]of_Q0 addn0. Qed.

Lemma half_enclosed m : of_Q (partial m) <= expR (1 / 2) <= of_Q (partial m) + 2 * of_Q (term m).
Proof.
have cvg := @is_cvg_series_exp_coeff R (1 / 2); apply/andP; split.
  apply: normedtype.limr_ge cvg _; exists m => // k /= le_mk.
  by rewrite -of_Q_partial -(subnK le_mk) partial_le.
apply: normedtype.limr_le cvg _; exists m => // k /= le_mk.
rewrite -of_Q_partial -(subnK le_mk); apply: le_trans (partial_ge m (k - m)).
by rewrite ler_addl mulr_ge0 ?term_ge0 ?ler0n.
Qed.

Theorem expR_half_enclosed m : let below : R := \sum_(k < m) (1 / 2) ^+ k / k`!%:R in
  below <= expR (1 / 2) <= below + 2 * ((1 / 2) ^+ m / m`!%:R).
Proof. by have := half_enclosed m; rewrite of_Q_partial of_Q_term /series /= big_mkord. Qed.

End Enclosure.

(** ** The printed numbers *)

Definition append_digit (z : Z) (d : nat) : Z := Z.add (Z.mul 10 z) (Z.of_nat d).

(** The fraction with these digits, the last four of them behind the point. *)
Definition digits_Q (digits : seq nat) : Q := Qmake (foldl append_digit Z0 digits) 10000.

(** 1/20000 is half a unit of the fourth decimal. *)
Definition near (N D : seq Q) (digits : seq nat) : bool :=
  quotient_near N D (digits_Q digits) (Qmake 1 20000) (partial 10) (qadd (partial 10) (qmul (Qmake 2 1) (term 10))).

Section Printed.

Variable R : realType.

Let of_Q := @of_Q R.
Let h : R := expR (1 / 2).

(** Polynomials with natural coefficients. *)
Definition whole (l : seq nat) : seq Q := [seq Qmake (Z.of_nat k) 1 | k <- l].

Fixpoint whole_at (l : seq nat) (x : R) : R := if l is k :: l' then k%:R + x * whole_at l' x else 0.

Lemma of_Q_whole k : of_Q (Qmake (Z.of_nat k) 1) = k%:R.
Proof. by rewrite [LHS]divr1; have := of_Z_difference R k 0; rewrite subr0 Z.sub_0_r. Qed.

Lemma poly_at_whole l x : poly_at (whole l) x = whole_at l x.
Proof. by elim: l => //= k l ->; rewrite -of_Q_whole. Qed.

Definition printed (x : R) (digits : seq nat) :=
  `|x - foldl (fun y d => 10 * y + d%:R) 0 digits / 10 ^+ 4| < 1 / (2 * 10 ^+ 4).

Lemma of_pos_ten_thousand : of_pos R 10000 = 10 ^+ 4.
Proof. by rewrite -[10000%positive]/(10 * (10 * (10 * 10)))%positive !of_pos_mul !exprS mulr1. Qed.

Lemma of_Q_digits digits : of_Q (digits_Q digits) = foldl (fun y d => 10 * y + d%:R) 0 digits / 10 ^+ 4.
Proof.
rewrite [LHS](_ : _ = of_Z R (Qnum (digits_Q digits)) / of_pos R 10000) // of_pos_ten_thousand; congr (_ / _).
suff read z y : of_Z R z = y ->
    of_Z R (foldl append_digit z digits) = foldl (fun y d => 10 * y + d%:R) y digits.
  exact: read.
elim: digits z y => //= d digits IH z y zy; apply: IH.
by rewrite of_Z_add of_Z_mul zy; have := of_Z_difference R d 0; rewrite subr0 Z.sub_0_r => ->.
Qed.

Lemma half_unit : of_Q (Qmake 1 20000) = 1 / (2 * 10 ^+ 4).
Proof.
rewrite [LHS](_ : _ = 1 / of_pos R 20000) // -[20000%positive]/(2 * 10000)%positive of_pos_mul.
by rewrite of_pos_ten_thousand.
Qed.

(** Where a number is N(h)/D(h), the test on N and D decides what is printed. *)
Lemma nearP (y : R) N D digits :
  y = whole_at N h / whole_at D h -> near (whole N) (whole D) digits -> printed y digits.
Proof.
rewrite /printed -half_unit -of_Q_digits -!poly_at_whole => ->; apply: quotient_nearP; first exact: partial_ge0.
rewrite [rationals.of_Q _ (qadd _ _)]of_Q_add [rationals.of_Q _ (qmul _ _)]of_Q_mul.
rewrite [rationals.of_Q _ (Qmake 2 1)]divr1.
exact: half_enclosed.
Qed.

Lemma expR1 : expR 1 = h ^+ 2 :> R.
Proof. by rewrite -expRMm mulrA mulr1 divff // pnatr_eq0. Qed.

Theorem printed_weights :
  (forall j : 'I_3, printed (softmax ((Num.sqrt 1%:R)^-1 *: (query R *m (keys R)^T)) 0 j)
     (nth [::] [:: [:: 0; 9; 0; 0]; [:: 2; 4; 4; 7]; [:: 6; 6; 5; 2]]%N j)) /\
  (forall s : 'I_2, printed (softmax ((Num.sqrt 1%:R)^-1 *: (query R *m (E R *m keys R)^T)) 0 s)
     (nth [::] [:: [:: 1; 8; 2; 4]; [:: 8; 1; 7; 6]]%N s)).
Proof.
split=> [[j lt_j] | [s lt_s]] /=; rewrite ?full_weights ?compressed_weights ?expR1 -?/h.
  apply: (@nearP _ (nseq (2 * j) 0%N ++ [:: 1%N]) [:: 1; 0; 1; 0; 1]%N).
    by case: j lt_j => [|[|[|//]]] ?; congr (_ / _) => /=; real_ring.
  by case: j lt_j => [|[|[|//]]] ?; vm_compute.
apply: (@nearP _ (nseq (3 * s) 0%N ++ [:: 1%N]) [:: 1; 0; 0; 1]%N).
  by case: s lt_s => [|[|//]] ?; congr (_ / _) => /=; real_ring.
by case: s lt_s => [|[|//]] ?; vm_compute.
Qed.

Theorem printed_outputs :
  let full := attention (query R) (keys R) (values R) 0 0 in
  let compressed := attention (query R) (E R *m keys R) (E R *m values R) 0 0 in
  [/\ printed full [:: 2; 5; 7; 5; 2; 1]%N, printed compressed [:: 2; 7; 2; 6; 3; 6]%N &
      printed (compressed - full) [:: 1; 5; 1; 1; 5]%N].
Proof.
split.
- apply: (@nearP _ [:: 10; 0; 20; 0; 30]%N [:: 1; 0; 1; 0; 1]%N); last by vm_compute.
  by rewrite full_output expR1; congr (_ / _) => /=; real_ring.
- apply: (@nearP _ [:: 15; 0; 0; 30]%N [:: 1; 0; 0; 1]%N); last by vm_compute.
  by rewrite compressed_output -/h; congr (_ / _) => /=; real_ring.
apply: (@nearP _ [:: 5; 10]%N [:: 1; 2; 2; 1]%N); last by vm_compute.
have h_gt0 : 0 < h by exact: expR_gt0.
have [-> _] := output_difference R; rewrite -/h /=; apply/eqP; rewrite eqr_div.
- by apply/eqP; real_ring.
- by rewrite gt_eqF // mulr_gt0 ?addr_gt0 ?exprn_gt0 ?ltr01.
rewrite mulr0 addr0 mulr1 gt_eqF //.
by do ![exact: ltr01 | exact: ltr0n | exact: h_gt0 | apply: addr_gt0 | apply: mulr_gt0].
Qed.

End Printed.
