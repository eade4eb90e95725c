(** T19: how far all forbidden inputs at once can move an output.

    Glossary (see biases.v for biased_head, leak_size.v for mean)
      V', K'             the values and keys after the move; nothing is asked of which positions moved
      moved              at least |(F (V' - V))_sk| over the visible slots s
      range              at least (F V)_sk - (F V)_uk over pairs of them, or the same with V'
      spread             at least the difference between two slots of how far their scores move
      B                  e (spread / 2): (B - 1) / (B + 1) is tanh (spread / 4)
      eta, theta         bounds of how far a forbidden value and a forbidden position's score move

    Headline theorems:
      T19  leak_at_once        |y' - y| <= moved + range (B - 1) / (B + 1)
      T19  leak_of_forbidden   the same from bounds on each forbidden input: sums over the forbidden positions
      T19  moved_attained, range_attained    each of the two terms is attained, so none can be smaller

    Axioms: none. The exponential is also taken to be at least 1 on non-negative numbers. *)
From mathcomp Require Import all_ssreflect all_algebra.
From AttnProof Require Import independence causal_head exact biases leak_size.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Bound.

Variables (R : realFieldType) (e : R -> R).
Hypotheses (exp_e : exponential e) (exp_ge1 : forall x, 0 <= x -> 1 <= e x).
Variables (scale : R) (r n d dv : nat) (E F : 'M[R]_(r, n)) (bias : 'I_r -> R) (S : pred 'I_r).
Hypothesis seen : exists s, S s.
Variables (q : 'rV[R]_d) (K K' : 'M[R]_(n, d)) (V V' : 'M[R]_(n, dv)) (k : 'I_dv).

Let output K V := biased_head e scale E F bias S q K V 0 k.
Let slot K s := score scale E q K s + bias s.

Let output_mean K0 V0 : output K0 V0 = mean e S (slot K0) (fun s => (F *m V0) s k).
Proof. exact: biased_head_def. Qed.

Let slot_moves s u : (slot K' s - slot K s) - (slot K' u - slot K u) =
  scale * (q *m (E *m (K' - K))^T) 0 s - scale * (q *m (E *m (K' - K))^T) 0 u.
Proof.
have one v : slot K' v - slot K v = scale * (q *m (E *m (K' - K))^T) 0 v.
  rewrite /slot opprD addrACA subrr addr0 /score -mulrBr; congr (_ * _).
  by rewrite mulmxBr linearB /= mulmxBr [RHS]mxE [X in _ = _ + X]mxE.
by rewrite !one.
Qed.

Let value_moves s : (F *m V') s k - (F *m V) s k = (F *m (V' - V)) s k.
Proof. by rewrite mulmxBr [RHS]mxE [X in _ = _ + X]mxE. Qed.

Theorem leak_at_once (moved range spread B : R) : B = e (spread / 2%:R) ->
  (forall s, S s -> `|(F *m (V' - V)) s k| <= moved) ->
  (forall s u, S s -> S u -> (F *m V) s k - (F *m V) u k <= range) \/
    (forall s u, S s -> S u -> (F *m V') s k - (F *m V') u k <= range) ->
  (forall s u, S s -> S u ->
     scale * (q *m (E *m (K' - K))^T) 0 s - scale * (q *m (E *m (K' - K))^T) 0 u <= spread) ->
  `|output K' V' - output K V| <= moved + range * ((B - 1) / (B + 1)).
Proof.
move=> -> small range_V spread_K.
have spread_x s u : S s -> S u -> (slot K' s - slot K s) - (slot K' u - slot K u) <= spread.
  by move=> Ss Su; rewrite slot_moves spread_K.
have values x : `|mean e S x (fun s => (F *m V') s k) - mean e S x (fun s => (F *m V) s k)| <= moved.
  by rewrite mean_sub; apply: mean_small => // s Ss; rewrite value_moves small.
rewrite !output_mean; case: range_V => range_V.
  apply: le_trans (ler_dist_add (mean e S (slot K') (fun s => (F *m V) s k)) _ _) _.
  by apply: ler_add; [exact: values | exact: mean_moves].
apply: le_trans (ler_dist_add (mean e S (slot K) (fun s => (F *m V') s k)) _ _) _.
by rewrite addrC; apply: ler_add; [exact: values | exact: mean_moves].
Qed.

(** Bounds on each forbidden input, and sums over the forbidden positions. *)
Theorem leak_of_forbidden (A : pred 'I_n) (eta theta f_sum e_sum range B : R) : B = e (theta * e_sum / 2%:R) ->
  agree A V V' -> (forall j, ~~ A j -> `|V' j k - V j k| <= eta) -> 0 <= eta ->
  agree A K K' -> (forall j, ~~ A j -> `|scale * (q *m (K' - K)^T) 0 j| <= theta) -> 0 <= theta ->
  (forall s, S s -> \sum_(j | ~~ A j) `|F s j| <= f_sum) ->
  (forall s u, S s -> S u -> \sum_(j | ~~ A j) `|E s j - E u j| <= e_sum) ->
  (forall s u, S s -> S u -> (F *m V) s k - (F *m V) u k <= range) \/
    (forall s u, S s -> S u -> (F *m V') s k - (F *m V') u k <= range) ->
  `|output K' V' - output K V| <= eta * f_sum + range * ((B - 1) / (B + 1)).
Proof.
move=> BE sameV moveV eta0 sameK moveK theta0 sumF sumE range_V; apply: (leak_at_once BE) => // [s Ss | s u Ss Su].
  rewrite mxE (bigID A) /= big1 ?add0r => [|j all]; last first.
    by have /rowP/(_ k) := sameV j all; rewrite !mxE => ->; rewrite subrr mulr0.
  apply: le_trans (ler_norm_sum _ _ _) _; apply: le_trans (ler_wpmul2l eta0 (sumF s Ss)); rewrite mulr_sumr.
  apply: ler_sum => j forb; rewrite normrM mulrC; apply: ler_wpmul2r; first exact: normr_ge0.
  by have := moveV j forb; rewrite !mxE.
pose step j := scale * (q *m (K' - K)^T) 0 j.
have zero j : A j -> step j = 0.
  move=> all; rewrite /step mxE big1 ?mulr0 // => l _; have /rowP/(_ l) := sameK j all.
  by rewrite !mxE => ->; rewrite subrr mulr0.
have tilt v : scale * (q *m (E *m (K' - K))^T) 0 v = \sum_j E v j * step j.
  rewrite trmx_mul mulmxA mxE mulr_sumr; apply: eq_bigr => j _.
  by rewrite /step [E^T _ _]mxE mulrA mulrC.
rewrite !tilt -sumrB (bigID A) /= big1 ?add0r => [|j all]; last by rewrite zero // !mulr0 subrr.
apply: le_trans (ler_norm _) _; apply: le_trans (ler_norm_sum _ _ _) _.
apply: le_trans (ler_wpmul2l theta0 (sumE s u Ss Su)); rewrite mulr_sumr.
apply: ler_sum => j forb; rewrite -mulrBl normrM mulrC; apply: ler_wpmul2r; [exact: normr_ge0 | exact: moveK].
Qed.

End Bound.

(** ** Both terms are attained *)

Section Attained.

Variables (R : realFieldType) (e : R -> R).
Hypothesis exp_e : exponential e.

(** A lone visible slot returns its value: however its forbidden values move, the first term is what the output moves. *)
Theorem moved_attained (scale : R) n d (E F : 'M[R]_(1, n)) (q : 'rV[R]_d) (K : 'M[R]_(n, d)) (eta : R) (A : pred 'I_n) :
  let V : 'cV[R]_n := 0 in let V' : 'cV[R]_n := \col_j (if A j then 0 else eta * Num.sg (F 0 j)) in
  biased_head e scale E F (fun=> 0) predT q K V' 0 0 - biased_head e scale E F (fun=> 0) predT q K V 0 0 =
  eta * \sum_(j | ~~ A j) `|F 0 j|.
Proof.
move=> V V'; have lone (W : 'cV[R]_n) : biased_head e scale E F (fun=> 0) predT q K W 0 0 = (F *m W) 0 0.
  by rewrite biased_head_def !big_ord1 mulrAC divff ?mul1r // exponential_neq0.
rewrite !lone mulmx0 [X in _ - X]mxE subr0 mxE mulr_sumr [RHS]big_mkcond; apply: eq_bigr => j _; rewrite mxE.
by case: (A j); rewrite ?mulr0 // mulrCA [in RHS]normrEsg [F 0 j * _]mulrC.
Qed.

(** Two slots that position 1 tells apart: its score goes from - h / 2 to h / 2. *)
Theorem range_attained (h : R) :
  let E : 'M[R]_2 := delta_mx 1 1 in let F : 'M[R]_2 := delta_mx 1 0 in
  let K x : 'cV[R]_2 := x *: delta_mx 1 0 in let V : 'cV[R]_2 := delta_mx 0 0 in let B := e (h / 2%:R) in
  biased_head e 1 E F (fun=> 0) predT 1%:M (K (h / 2%:R)) V 0 0 -
  biased_head e 1 E F (fun=> 0) predT 1%:M (K (- (h / 2%:R))) V 0 0 = (B - 1) / (B + 1).
Proof.
move=> E F K V B.
have out x : biased_head e 1 E F (fun=> 0) predT 1%:M (K x) V 0 0 = e x / (1 + e x).
  have slot s : 1 * (1%:M *m (E *m K x)^T : 'rV[R]_2) 0 s + 0 = if s == 1 then x else 0.
    by rewrite mul1r addr0 mul1mx /K -scalemxAr mul_delta_mx !mxE; case: (s == 1); rewrite ?mulr1 ?mulr0.
  rewrite biased_head_def !big_ord_recl !big_ord0 !slot !addr0 (exponential0 exp_e) mul_delta_mx !mxE /=.
  by rewrite mulr0 add0r mulr1.
have B0 : B != 0 by apply: exponential_neq0.
have eN : e (- (h / 2%:R)) = B^-1.
  by apply/(mulfI B0); rewrite divff // -(exponentialD exp_e) subrr (exponential0 exp_e).
have sum1 : 1 + B^-1 = (B + 1) / B by rewrite mulrDl divff // mul1r.
by rewrite !out eN sum1 invfM invrK mulrCA mulVf // mulr1 -/B [1 + B]addrC mulrBl mul1r.
Qed.

End Attained.
