(** T24: heads in binary64, rounded to nearest.

    Glossary (see support.v for trees and rounded_dot)
      b64                Coq's own IEEE numbers (SpecFloat), of which NaN is one
      add, mul, div      of binary64: precision 53, exponents below 1024, to nearest, ties to even
      fma a x c          a * x + c, rounded once
      finite x           x is no infinity and no NaN
      same x y           equal up to the sign of a zero
      exp, top           the machine's exponential and the largest score, as far as the theorem needs to know them
      hidden             minus infinity is added to the score of a slot that the query does not see

    Headline theorems:
      T24  float_support_safe      a head that passes T10 gives the same output up to the sign of zero, if what hidden
                                   slots hold is finite, whatever overflows in visible ones
      T24  hidden_overflow_leaks   finite inputs that overflow in a hidden slot make the output NaN
      T24  rounding_leaks          a head that passes T11 alone gives 2 and 0 for inputs that agree on what it may use

    Axioms: none. *)
From Coq Require Import ZArith SpecFloat.
From mathcomp Require Import all_ssreflect all_algebra.
From AttnProof Require Import support exact.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Definition b64 := spec_float.

Definition add : b64 -> b64 -> b64 := SFadd 53 1024.
Definition sub : b64 -> b64 -> b64 := SFsub 53 1024.
Definition mul : b64 -> b64 -> b64 := SFmul 53 1024.
Definition div : b64 -> b64 -> b64 := SFdiv 53 1024.

(** The product before it is rounded, whose sum with c is rounded once. *)
Definition exact_product (x y : b64) : b64 :=
  match x, y with
  | S754_finite s m e, S754_finite s' m' e' => S754_finite (xorb s s') (Pos.mul m m') (Z.add e e')
  | _, _ => mul x y
  end.
Definition fma (x y c : b64) : b64 := add (exact_product x y) c.

Definition is_zero (x : b64) : bool := if x is S754_zero _ then true else false.
Definition finite (x : b64) : bool := match x with S754_zero _ | S754_finite _ _ _ => true | _ => false end.
Definition same (x y : b64) : Prop := x = y \/ is_zero x /\ is_zero y.

Lemma same_refl x : same x x. Proof. by left. Qed.

Lemma same_add x x' y y' : same x x' -> same y y' -> same (add x y) (add x' y').
Proof.
case=> [-> | [zx zx']] [-> | [zy zy']]; try exact: same_refl.
- by case: y zy => // s _; case: y' zy' => // s' _; case: x' => [t|t||t m e]; try exact: same_refl;
    right; split; rewrite /add /SFadd; case: (Bool.eqb _ _).
- by case: x zx => // s _; case: x' zx' => // s' _; case: y' => [t|t||t m e]; try exact: same_refl;
    right; split; rewrite /add /SFadd; case: (Bool.eqb _ _).
by case: x zx => // s _; case: x' zx' => // s' _; case: y zy => // t _; case: y' zy' => // t' _;
  right; split; rewrite /add /SFadd; case: (Bool.eqb _ _).
Qed.

Lemma same_sub x x' y y' : same x x' -> same y y' -> same (sub x y) (sub x' y').
Proof.
case=> [-> | [zx zx']] [-> | [zy zy']]; try exact: same_refl.
- by case: y zy => // s _; case: y' zy' => // s' _; case: x' => [t|t||t m e]; try exact: same_refl;
    right; split; rewrite /sub /SFsub; case: (Bool.eqb _ _).
- by case: x zx => // s _; case: x' zx' => // s' _; case: y' => [t|t||t m e]; try exact: same_refl;
    right; split; rewrite /sub /SFsub; case: (Bool.eqb _ _).
by case: x zx => // s _; case: x' zx' => // s' _; case: y zy => // t _; case: y' zy' => // t' _;
  right; split; rewrite /sub /SFsub; case: (Bool.eqb _ _).
Qed.

(** Factors whose products are the same in both runs: the same ones, a zero and a finite number, or a NaN. *)
Definition close (a x a' x' : b64) : Prop :=
  [\/ same a a' /\ same x x', [/\ is_zero a, is_zero a', finite x & finite x'] | a = S754_nan /\ a' = S754_nan].

Lemma close_product (f : b64 -> b64 -> b64) : f = mul \/ f = exact_product ->
  forall a x a' x', close a x a' x' -> same (f a x) (f a' x').
Proof.
move=> fE a x a' x'; case=> [[[-> | [za za']] [-> | [zx zx']]] | [za za' fx fx'] | [-> ->]]; last 1 first.
- by case: fE => ->; case: x => *; case: x' => *; exact: same_refl.
- exact: same_refl.
- by case: x zx => // s _; case: x' zx' => // s' _; case: fE => ->; case: a' => *; try exact: same_refl; right.
- by case: a za => // s _; case: a' za' => // s' _; case: fE => ->; case: x' => *; try exact: same_refl; right.
- by case: a za => // s _; case: a' za' => // s' _; case: x zx => // t _; case: x' zx' => // t' _; case: fE => ->; right.
by case: a za => // s _; case: a' za' => // s' _; case: x fx => // *; case: x' fx' => // *; case: fE => ->; right.
Qed.

Lemma dot_same n (t : tree n) (a x a' x' : 'I_n -> b64) : (forall j, close (a j) (x j) (a' j) (x' j)) ->
  same (rounded_dot add mul fma t a x) (rounded_dot add mul fma t a' x').
Proof.
move=> near; elim: t => [j | t1 IH1 t2 IH2 | j t IH] /=; first by apply: close_product; [left | exact: near].
  exact: same_add.
by apply: same_add => //; apply: close_product; [right | exact: near].
Qed.

(** A sum of numbers in some order. *)
Definition rounded_sum n (t : tree n) (w : 'I_n -> b64) : b64 :=
  rounded_dot add (fun a _ => a) (fun a _ c => add a c) t w w.

Lemma sum_same n (t : tree n) (w w' : 'I_n -> b64) : (forall j, same (w j) (w' j)) ->
  same (rounded_sum t w) (rounded_sum t w').
Proof.
move=> near; rewrite /rounded_sum; elim: t => [j | t1 IH1 t2 IH2 | j t IH] /=; first exact: near.
  exact: same_add.
by apply: same_add => //; exact: near.
Qed.

(** binary64 as Coq has it. *)
Lemma b64_def : [/\ b64 = spec_float, add = SFadd (Z.of_nat 53) (Z.of_nat 1024), sub = SFsub (Z.of_nat 53) (Z.of_nat 1024),
  mul = SFmul (Z.of_nat 53) (Z.of_nat 1024) & div = SFdiv (Z.of_nat 53) (Z.of_nat 1024)].
Proof. by []. Qed.

Lemma fma_def x y c : fma x y c = add (match x, y with
  | S754_finite s m k, S754_finite s' m' k' => S754_finite (xorb s s') (Pos.mul m m') (Z.add k k')
  | _, _ => mul x y
  end) c.
Proof. by []. Qed.

Lemma same_def x y :
  [/\ is_zero x = if x is S754_zero _ then true else false,
      finite x = match x with S754_zero _ | S754_finite _ _ _ => true | _ => false end &
      same x y = (x = y \/ is_zero x /\ is_zero y)].
Proof. by []. Qed.

Section Head.

Variables (exp : b64 -> b64) (r n d dv : nat) (top : ('I_r -> b64) -> b64).
Hypothesis exp_same : forall x y, same x y -> same (exp x) (exp y).
Hypothesis exp_neginf : is_zero (exp (S754_infinity true)).
Hypothesis exp_nan : exp S754_nan = S754_nan.
Hypothesis top_same : forall z z', (forall s, same (z s) (z' s)) -> same (top z) (top z').

(** The orders of summation, which do not depend on data. *)
Variables (key_tree : 'I_r -> 'I_d -> tree n) (value_tree : 'I_r -> 'I_dv -> tree n).
Variables (score_tree : 'I_r -> tree d) (sum_tree : tree r) (output_tree : 'I_dv -> tree r).
Variables (E F : 'I_r -> 'I_n -> b64) (S : pred 'I_r) (scale : b64) (q : 'I_d -> b64).
Implicit Types (K : 'I_n -> 'I_d -> b64) (V : 'I_n -> 'I_dv -> b64).

Definition key K s k := rounded_dot add mul fma (key_tree s k) (E s) (K^~ k).
Definition carries V s k := rounded_dot add mul fma (value_tree s k) (F s) (V^~ k).
Definition raw_score K s := mul scale (rounded_dot add mul fma (score_tree s) q (key K s)).
Definition hidden : b64 := S754_infinity true.
Definition masked_score K s := if S s then raw_score K s else add (raw_score K s) hidden.
Definition weight K s := exp (sub (masked_score K s) (top (masked_score K))).
Definition normaliser K := rounded_sum sum_tree (weight K).
Definition float_head K V k :=
  div (rounded_dot add mul fma (output_tree k) (weight K) (carries V ^~ k)) (normaliser K).

Lemma float_head_def K V k :
  let raw s := mul scale (rounded_dot add mul fma (score_tree s) q
    (fun l => rounded_dot add mul fma (key_tree s l) (E s) (K^~ l))) in
  let score s := if S s then raw s else add (raw s) (S754_infinity true) in
  let w s := exp (sub (score s) (top score)) in
  let sum (t : tree r) := rounded_dot add (fun a _ => a) (fun a _ c => add a c) t w w in
  [/\ forall s, raw_score K s = raw s,
      forall s, carries V s k = rounded_dot add mul fma (value_tree s k) (F s) (V^~ k),
      normaliser K = sum sum_tree &
      float_head K V k = div (rounded_dot add mul fma (output_tree k) w (fun s => carries V s k)) (sum sum_tree)].
Proof. by []. Qed.

Lemma div_same x x' y y' : same x x' -> same y y' -> ~~ is_zero y -> same (div x y) (div x' y').
Proof.
move=> sx sy; case: sy => [-> | [zy _]]; last by rewrite zy.
by case: sx => [-> | [zx zx']]; [left | case: x zx => // s _; case: x' zx' => // s' _; case: y' => // *; try exact: same_refl; right].
Qed.

Theorem float_support_safe (A : pred 'I_n) K K' V V' :
  (forall s j, S s -> ~~ A j -> is_zero (E s j) /\ is_zero (F s j)) ->
  (forall j, A j -> K j =1 K' j) -> (forall j, A j -> V j =1 V' j) ->
  (forall j k, ~~ A j -> finite (K j k) /\ finite (K' j k)) -> (forall j k, ~~ A j -> finite (V j k) /\ finite (V' j k)) ->
  (forall s, ~~ S s -> finite (raw_score K s) /\ finite (raw_score K' s)) ->
  (forall s k, ~~ S s -> finite (carries V s k) /\ finite (carries V' s k)) ->
  ~~ is_zero (normaliser K) -> forall k, same (float_head K V k) (float_head K' V' k).
Proof.
move=> zero sameK sameV finK finV hiddenK hiddenV den0 k.
have near m (M : 'I_r -> 'I_n -> b64) (X X' : 'I_n -> 'I_m -> b64) s l j : (~~ A j -> is_zero (M s j)) ->
    (A j -> X j =1 X' j) -> (~~ A j -> finite (X j l) /\ finite (X' j l)) -> close (M s j) (X j l) (M s j) (X' j l).
  move=> z agree fin; have [all | forb] := boolP (A j).
    by constructor 1; rewrite agree //; split; exact: same_refl.
  by constructor 2; split; rewrite ?z //; case: (fin forb).
have same_key s l : S s -> same (key K s l) (key K' s l).
  by move=> Ss; apply: dot_same => j; apply: near => [f | | f]; [case: (zero s j Ss f) | exact: sameK | exact: finK].
have same_value s : S s -> same (carries V s k) (carries V' s k).
  by move=> Ss; apply: dot_same => j; apply: near => [f | | f]; [case: (zero s j Ss f) | exact: sameV | exact: finV].
have hiddenE X s : ~~ S s -> finite (raw_score X s) -> masked_score X s = S754_infinity true.
  by move=> /negPf Ss; rewrite /masked_score Ss /hidden; case: (raw_score X s).
have same_score s : same (masked_score K s) (masked_score K' s).
  have [Ss | Ss] := boolP (S s); last by case: (hiddenK s Ss) => *; rewrite !hiddenE //; left.
  rewrite /masked_score Ss; apply: (close_product (or_introl erefl)); constructor 1; split; first exact: same_refl.
  by apply: dot_same => l; constructor 1; split; [exact: same_refl | exact: same_key].
have same_weight s : same (weight K s) (weight K' s) by apply/exp_same/same_sub => //; exact: top_same.
apply: div_same => //; last exact: sum_same.
apply: dot_same => s; have [Ss | Ss] := boolP (S s); first by constructor 1; split; [exact: same_weight | exact: same_value].
have [fv fv'] := hiddenV s k Ss; have [fz fz'] := hiddenK s Ss.
have weightE X : finite (raw_score X s) -> is_zero (weight X s) \/ weight X s = S754_nan.
  move=> fx; rewrite /weight hiddenE //; case: (top _) => [t|[]||t m e]; rewrite ?[sub _ _]/= ?exp_nan; by [left | right].
case: (weightE K fz) (weightE K' fz') (same_weight s) => [z1 | n1] [z2 | n2] near_w.
- by constructor 2.
- by case: near_w => [E1 | [_ ]]; [move: z1; rewrite E1 n2 | rewrite n2].
- by case: near_w => [E1 | [+ _]]; [move: z2; rewrite -E1 n1 | rewrite n1].
by constructor 3.
Qed.

End Head.

(** ** What is not safe *)

Definition power (k : nat) : b64 := S754_finite false 4503599627370496 (Z.sub (Z.of_nat k) 52).
Definition minus_one : b64 := S754_finite true 4503599627370496 (-52).
Definition one := power 0.
Definition plus_zero : b64 := S754_zero false.
Definition both : tree 2 := Sum (Product 0%R) (Product 1%R).
Definition only : tree 1 := Product 0%R.

(** Slot s reads position s; the query may use position 0 and is shown slot 0. *)
Definition eye (s j : 'I_2) : b64 := if s == j then one else plus_zero.

Lemma numbers_def : [/\ one = power 0, plus_zero = S754_zero false, both = Sum (Product 0%R) (Product 1%R),
  only = Product 0%R & (forall s j, eye s j = if s == j then one else plus_zero) /\
  (forall k, power k = S754_finite false (Pos.shiftl_nat xH 52) (Z.sub (Z.of_nat k) (Z.of_nat 52))) /\
  minus_one = S754_finite true (Pos.shiftl_nat xH 52) (Z.opp (Z.of_nat 52))].
Proof. by []. Qed.

(** The key of position 1 is 2^1023 in one run, 0 in the other; the query is 2, all other keys are 0; the value of
    position 0 is 1. *)
Theorem hidden_overflow_leaks (exp : b64 -> b64) (top : ('I_2 -> b64) -> b64) :
  exp S754_nan = S754_nan -> exp plus_zero = one -> exp (S754_infinity true) = plus_zero ->
  (forall z, z 1%R = S754_infinity true -> top z = z 0%R) ->
  let first := pred1 0%R : pred 'I_2 in
  let K (j : 'I_2) (_ : 'I_1) := if j == 0%R then plus_zero else power 1023 in
  let V (j : 'I_2) (_ : 'I_1) := if j == 0%R then one else plus_zero in
  let run K := float_head exp top (fun _ _ => both) (fun _ _ => both) (fun=> only) both (fun=> both) eye eye first one
    (fun=> power 1) K V 0%R in
  [/\ forall s j, first s -> ~~ first j -> is_zero (eye s j), forall j k, finite (K j k),
      run K = S754_nan & run (fun _ _ => plus_zero) = one].
Proof.
move=> nan exp0 exp_inf top_first first K V run; split.
- by move=> s j /eqP -> neq; rewrite /eye eq_sym (negPf (neq : j != 0%R)).
- by move=> j k; rewrite /K; case: (j == 0%R).
- have z0 : masked_score (fun _ _ => both) (fun=> only) eye first one (fun=> power 1) K 0%R = plus_zero by vm_compute.
  have z1 : masked_score (fun _ _ => both) (fun=> only) eye first one (fun=> power 1) K 1%R = S754_nan by vm_compute.
  have w1 : weight exp top (fun _ _ => both) (fun=> only) eye first one (fun=> power 1) K 1%R = S754_nan.
    by rewrite /weight z1 [sub _ _]/= nan.
  rewrite /run /float_head /normaliser /rounded_sum /both /= w1.
  by rewrite /add /mul /=; case: (SFmul _ _ _ _) => *; case: (weight _ _ _ _ _ _ _ _ _ _).
have z0 : masked_score (fun _ _ => both) (fun=> only) eye first one (fun=> power 1) (fun _ _ => plus_zero) 0%R = plus_zero.
  by vm_compute.
have z1 : masked_score (fun _ _ => both) (fun=> only) eye first one (fun=> power 1) (fun _ _ => plus_zero) 1%R =
    S754_infinity true by vm_compute.
have w0 : weight exp top (fun _ _ => both) (fun=> only) eye first one (fun=> power 1) (fun _ _ => plus_zero) 0%R = one.
  by rewrite /weight top_first // z0.
have w1 : weight exp top (fun _ _ => both) (fun=> only) eye first one (fun=> power 1) (fun _ _ => plus_zero) 1%R = plus_zero.
  by rewrite /weight top_first // z0 z1.
rewrite /run /float_head /normaliser /rounded_sum /both /= w0 w1.
by vm_compute.
Qed.

(** Equal rows of E; the forbidden position enters one slot with weight 1, the other with weight -1. *)
Theorem rounding_leaks (R : realFieldType) (exp : b64 -> b64) (top : ('I_2 -> b64) -> b64) :
  exp plus_zero = one -> (forall z, z 0%R = plus_zero -> z 1%R = plus_zero -> top z = plus_zero) ->
  let first := pred1 0%R : pred 'I_2 in
  let F (s j : 'I_2) := if s == 0%R then one else if j == 0%R then plus_zero else minus_one in
  let V (x : b64) (j : 'I_2) (_ : 'I_1) := if j == 0%R then power 2 else x in
  let run V := float_head exp top (fun _ _ => both) (fun _ _ => both) (fun=> only) both (fun=> both)
    (fun _ _ => plus_zero) F predT one (fun=> one) (fun _ _ => plus_zero) V 0%R in
  [/\ exact_criterion (0%R : 'M[R]_2) (\matrix_(s, j) if s == 0 then 1 else if j == 0 then 0 else -1)%R first predT,
      run (V plus_zero) = power 1 & run (V (power 56)) = plus_zero].
Proof.
move=> exp0 top0 first F V run; split.
- split=> [a j | c j i _ _]; last by rewrite big1 // => p _; rewrite !mxE GRing.subrr GRing.mul0r.
  move=> /negPf forb; have [a0 | a0] := eqVneq (0%R : 'rV[R]_2) a; last first.
    by rewrite big_pred0 // => s; rewrite row0 (negPf a0) andbF.
  rewrite (eq_bigl predT) => [|s]; last by rewrite row0 a0 eqxx.
  rewrite big_ord_recl big_ord1 !mxE /= (forb : (j == 0%R) = false).
  by rewrite GRing.addrN.
- have z (s : 'I_2) : masked_score (fun _ _ => both) (fun=> only) (fun _ _ => plus_zero) predT one (fun=> one)
      (fun _ (_ : 'I_1) => plus_zero) s = plus_zero :> b64 by vm_compute.
  have w s : weight exp top (fun _ _ => both) (fun=> only) (fun _ _ => plus_zero) predT one (fun=> one)
      (fun _ _ => plus_zero) s = one by rewrite /weight top0 !z.
  by rewrite /run /float_head /normaliser /rounded_sum /both /= !w; vm_compute.
have z (s : 'I_2) : masked_score (fun _ _ => both) (fun=> only) (fun _ _ => plus_zero) predT one (fun=> one)
    (fun _ (_ : 'I_1) => plus_zero) s = plus_zero :> b64 by vm_compute.
have w s : weight exp top (fun _ _ => both) (fun=> only) (fun _ _ => plus_zero) predT one (fun=> one)
    (fun _ _ => plus_zero) s = one by rewrite /weight top0 !z.
by rewrite /run /float_head /normaliser /rounded_sum /both /= !w; vm_compute.
Qed.
