(** T12, size of a leak: how far a forbidden value or key can move an output.

    Glossary (see causal_head.v for head and score)
      j, k               the position that changes, the component of the output
      delta              the step of its score kappa_j; other scores stay
      lo, hi             bounds of (F V)_sk over the visible slots s; hi - lo is its range
      a, b               bounds of E_sj over the visible slots
      tilt               e (delta (E_sj - a)), by which the step multiplies the weight of slot s, up to a common factor

    With B = e^(|delta| (b - a) / 2) the bound (hi - lo) (B - 1) / (B + 1) is (hi - lo) tanh (|delta| (b - a) / 4).

    Headline theorems:
      T12  value_leak_bound     a change of v_j moves the output by at most max_s |F_sj| times as much
      T12  key_leak_bound       a step of kappa_j moves it by at most (hi - lo) (B - 1) / (B + 1)

    Axioms: none. The exponential is also taken to be at least 1 on non-negative numbers. *)
From Coq Require Import Ring.
From mathcomp Require Import all_ssreflect all_algebra.
From AttnProof Require Import independence causal_head exact.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** ** Tilting a mean *)

Section Tilt.

Variables (R : realFieldType).

(** The standard `ring` tactic wants operations whose types mention R itself. *)
Let zero : R := 0.
Let one : R := 1.
Let add (x y : R) : R := x + y.
Let mul (x y : R) : R := x * y.
Let opp (x : R) : R := - x.
Let sub (x y : R) : R := x - y.

Let field_ring : ring_theory zero one add mul sub opp eq.
Proof.
split; [exact: add0r | exact: addrC | exact: addrA | exact: mul1r | exact: mulrC | exact: mulrA | exact: mulrDl |
  by [] | exact: subrr].
Qed.
Add Ring field_ring : field_ring.

Ltac by_ring :=
  repeat match goal with
  | |- context [@GRing.add ?V ?x ?y] => change (@GRing.add V x y) with (add x y)
  | |- context [@GRing.mul ?V ?x ?y] => change (@GRing.mul V x y) with (mul x y)
  | |- context [@GRing.opp ?V ?x] => change (@GRing.opp V x) with (opp x)
  | |- context [GRing.one ?V] => change (GRing.one V) with one
  end;
  match goal with |- @eq _ ?x ?y => change (@eq (Num.RealField.sort R) x y) end; ring.

Let first_identity (P G H B : R) :
  (B - 1) * (G + H) - (G - P * (G + H)) * (B + 1) = (B - 1 + P * (B + 1)) * H - (1 + 1 - P * (B + 1)) * G :> R.
Proof. by_ring. Qed.

Let second_identity (P B : R) : let Q := P * (B + 1) in
  (B - 1 + Q) * (1 - P) * (B + 1) - (1 + 1 - Q) * (P * (B * B)) * (B + 1) =
  (B - 1) * (B + 1) * ((1 - Q) * (1 - Q)) :> R.
Proof. move=> Q; rewrite /Q; by_ring. Qed.

(** P the mass of the slots that gain, G and H what they and the others weigh after the tilt, 1 <= tilt <= B^2. *)
Lemma gain_bound (P G H B : R) : 1 <= B -> 0 <= P -> P <= 1 -> G <= P * (B * B) -> 0 <= G -> 1 - P <= H ->
  (G - P * (G + H)) * (B + 1) <= (B - 1) * (G + H).
Proof.
move=> B1 P0 P1 G_le G0 H_ge; set Q := P * (B + 1).
have B1_gt0 : 0 < B + 1 by apply: ltr_spaddr ltr01 (le_trans ler01 B1).
have B_ge0 : 0 <= B - 1 by rewrite subr_ge0.
have Q0 : 0 <= Q by rewrite mulr_ge0 // ltW.
have H0 : 0 <= H by apply: le_trans H_ge; rewrite subr_ge0.
suff main : (1 + 1 - Q) * G <= (B - 1 + Q) * H.
  by rewrite -subr_ge0 first_identity subr_ge0.
have [Q2 | Q2] := lerP (1 + 1) Q.
  apply: (@le_trans _ _ 0); first by rewrite mulr_le0_ge0 // subr_le0.
  by rewrite mulr_ge0 // addr_ge0.
have Q2' : 0 <= 1 + 1 - Q by rewrite subr_ge0 ltW.
apply: le_trans (ler_wpmul2l Q2' G_le) _; apply: le_trans (ler_wpmul2l (addr_ge0 B_ge0 Q0) H_ge).
rewrite -(ler_pmul2r B1_gt0) -subr_ge0 second_identity -/Q.
by apply: mulr_ge0; [apply: mulr_ge0 => //; exact: ltW | rewrite -expr2 sqr_ge0].
Qed.

Variables (I : finType) (S : pred I) (p t f : I -> R) (lo hi B : R).
Hypothesis p_ge0 : forall s, S s -> 0 <= p s.
Hypothesis p_sum : \sum_(s | S s) p s = 1.
Hypothesis B_ge1 : 1 <= B.
Hypothesis tilt : forall s, S s -> 1 <= t s <= B * B.

Let T := \sum_(s | S s) p s * t s.

Let T_ge1 : 1 <= T.
Proof.
rewrite -p_sum; apply: ler_sum => s Ss; rewrite -[X in X <= _]mulr1.
by apply: ler_wpmul2l; [exact: p_ge0 | case/andP: (tilt Ss)].
Qed.

Lemma tilted_mean : (forall s, S s -> lo <= f s <= hi) ->
  (\sum_(s | S s) p s * t s * f s) / T - \sum_(s | S s) p s * f s <= (hi - lo) * ((B - 1) / (B + 1)).
Proof.
move=> range; have T_gt0 : 0 < T by apply: lt_le_trans T_ge1.
have B1_gt0 : 0 < B + 1 by apply: ltr_spaddr ltr01 (le_trans ler01 B_ge1).
pose gains s := S s && (T < t s).
pose P := \sum_(s | gains s) p s; pose G := \sum_(s | gains s) p s * t s.
pose H := \sum_(s | S s && ~~ (T < t s)) p s * t s.
have TE : T = G + H by rewrite /T (bigID (fun s => T < t s)).
have rest : \sum_(s | S s && ~~ (T < t s)) p s = 1 - P.
  by apply/esym/eqP; rewrite subr_eq addrC; apply/eqP; rewrite -p_sum (bigID (fun s => T < t s)).
have P0 : 0 <= P by apply: sumr_ge0 => s /andP[/p_ge0].
have P1 : P <= 1 by rewrite -subr_ge0 -rest; apply: sumr_ge0 => s /andP[/p_ge0].
have G0 : 0 <= G.
  apply: sumr_ge0 => s /andP[Ss _]; apply: mulr_ge0; first exact: p_ge0.
  by case/andP: (tilt Ss) => t1 _; apply: le_trans t1.
have G_le : G <= P * (B * B).
  rewrite /P mulr_suml; apply: ler_sum => s /andP[Ss _].
  by apply: ler_wpmul2l; [exact: p_ge0 | case/andP: (tilt Ss)].
have H_ge : 1 - P <= H.
  rewrite -rest; apply: ler_sum => s /andP[Ss _]; rewrite -[X in X <= _]mulr1.
  by apply: ler_wpmul2l; [exact: p_ge0 | case/andP: (tilt Ss)].
have gain : G - P * T <= (B - 1) / (B + 1) * T.
  by rewrite mulrAC ler_pdivl_mulr // TE gain_bound.
have moved : \sum_(s | S s) p s * t s * f s - T * (\sum_(s | S s) p s * f s) =
    \sum_(s | S s) p s * (t s - T) * (f s - lo).
  have balanced : \sum_(s | S s) p s * (t s - T) = 0.
    under eq_bigr do rewrite mulrBr.
    by rewrite sumrB -mulr_suml p_sum mul1r subrr.
  under [RHS]eq_bigr do rewrite mulrBr.
  rewrite sumrB -mulr_suml balanced mul0r subr0 mulr_sumr -sumrB; apply: eq_bigr => s _.
  by rewrite mulrBr mulrBl mulrCA mulrA.
have le_gain : \sum_(s | S s) p s * (t s - T) * (f s - lo) <= (hi - lo) * (G - P * T).
  rewrite (bigID (fun s => T < t s)) /= -[X in _ <= X]addr0; apply: ler_add.
    rewrite /G /P mulr_suml -sumrB mulr_sumr; apply: ler_sum => s /andP[Ss gs].
    rewrite -mulrBr [X in _ <= X]mulrC; apply: ler_wpmul2l.
      by apply: mulr_ge0; [exact: p_ge0 | rewrite subr_ge0 ltW].
    by rewrite ler_add2r; case/andP: (range s Ss).
  rewrite -oppr_ge0 -sumrN; apply: sumr_ge0 => s /andP[Ss ng]; rewrite oppr_ge0; apply: mulr_le0_ge0.
    by apply: mulr_ge0_le0; [exact: p_ge0 | rewrite subr_le0 leNgt].
  by rewrite subr_ge0; case/andP: (range s Ss).
have [s Ss] : exists s, S s.
  have [s Ss | none] := pickP S; first by exists s.
  by move: p_sum; rewrite big_pred0 // => /eqP; rewrite eq_sym oner_eq0.
have hilo : 0 <= hi - lo by rewrite subr_ge0; case/andP: (range s Ss) => lf fh; apply: le_trans fh.
rewrite -(ler_pmul2r T_gt0) mulrBl divfK ?gt_eqF // [X in _ - X]mulrC moved.
apply: le_trans le_gain _; rewrite -mulrA; exact: ler_wpmul2l.
Qed.

End Tilt.

(** ** Means under a softmax *)

Section Mean.

Variables (R : realFieldType) (e : R -> R).
Hypothesis exp_e : exponential e.
Variables (I : finType) (S : pred I).
Hypothesis seen : exists s, S s.

(** The mean of f under the softmax of the scores x. *)
Definition mean (x f : I -> R) : R := (\sum_(s | S s) e (x s) * f s) / \sum_(s | S s) e (x s).

Let mass_gt0 x : 0 < \sum_(s | S s) e (x s).
Proof.
case: seen => s Ss; rewrite (bigD1 s) //= ltr_paddr ?(exponential_gt0 exp_e) //.
by apply: sumr_ge0 => u _; apply/ltW/exponential_gt0.
Qed.

Lemma mean_sub x f g : mean x f - mean x g = mean x (fun s => f s - g s).
Proof. by rewrite /mean -mulrBl -sumrB; congr (_ / _); apply: eq_bigr => s _; rewrite mulrBr. Qed.

Lemma mean_small x f bound : (forall s, S s -> `|f s| <= bound) -> `|mean x f| <= bound.
Proof.
move=> small; rewrite /mean normrM normrV ?unitfE ?gt_eqF ?mass_gt0 // (gtr0_norm (mass_gt0 x)).
rewrite ler_pdivr_mulr ?mass_gt0 //; apply: le_trans (ler_norm_sum _ _ _) _; rewrite mulr_sumr.
apply: ler_sum => s Ss; rewrite normrM (gtr0_norm (exponential_gt0 exp_e _)) mulrC.
by apply: ler_wpmul2r; [exact/ltW/exponential_gt0 | exact: small].
Qed.

Hypothesis exp_ge1 : forall x, 0 <= x -> 1 <= e x.

Lemma exponential_mono x y : x <= y -> e x <= e y.
Proof.
rewrite -subr_ge0 => /exp_ge1 ge1; rewrite -[y](subrK x) addrC (exponentialD exp_e) -[X in X <= _]mulr1.
by apply: ler_wpmul2l => //; apply/ltW/exponential_gt0.
Qed.

Let mean_up x x' f range spread : 
  (forall s u, S s -> S u -> (x' s - x s) - (x' u - x u) <= spread) ->
  (forall s u, S s -> S u -> f s - f u <= range) ->
  mean x' f - mean x f <= range * ((e (spread / 2%:R) - 1) / (e (spread / 2%:R) + 1)).
Proof.
move=> spread_x range_f; set B := e _; have [s0 Ss0] := seen.
have [/= least Sleast minx] := arg_minP (fun s => x' s - x s) Ss0; have [/= low Slow minf] := arg_minP f Ss0.
pose W := \sum_(s | S s) e (x s); have W_gt0 : 0 < W := mass_gt0 x.
pose p s := e (x s) / W; pose t s := e (x' s - x s - (x' least - x least)).
have p_ge0 s : S s -> 0 <= p s by move=> _; rewrite divr_ge0 ?ltW // exponential_gt0.
have p_sum : \sum_(s | S s) p s = 1 by rewrite -mulr_suml divff // gt_eqF.
have B_ge1 : 1 <= B.
  by apply: exp_ge1; rewrite mulr_ge0 ?invr_ge0 ?ler0n // -(subrr (x' s0 - x s0)) spread_x.
have BB : B * B = e spread by rewrite -(exponentialD exp_e) -splitr.
have tilt s : S s -> 1 <= t s <= B * B.
  by move=> Ss; rewrite BB /t exp_ge1 ?subr_ge0 ?minx // exponential_mono ?spread_x.
have in_range s : S s -> f low <= f s <= f low + range.
  by move=> Ss; rewrite minf //= -ler_subl_addl range_f.
have before : \sum_(s | S s) p s * f s = mean x f.
  by rewrite /mean mulr_suml; apply: eq_bigr => s _; rewrite /p mulrAC.
have after : (\sum_(s | S s) p s * t s * f s) / (\sum_(s | S s) p s * t s) = mean x' f.
  pose c := e (- (x' least - x least)) / W; have c_neq0 : c != 0.
    by rewrite mulf_neq0 ?invr_eq0 ?gt_eqF // exponential_gt0.
  have weight s : p s * t s = e (x' s) * c.
    rewrite /p /t /c mulrAC -(exponentialD exp_e) mulrA -(exponentialD exp_e); congr (e _ / _).
    by rewrite addrA [x s + _]addrC subrK.
  rewrite (eq_bigr (fun s => e (x' s) * f s * c)) => [|s _]; last by rewrite weight mulrAC.
  rewrite [X in _ / X](eq_bigr (fun s => e (x' s) * c)) => [|s _]; last exact: weight.
  by rewrite -!mulr_suml invfM mulrACA divff // mulr1.
by have := tilted_mean p_ge0 p_sum B_ge1 tilt in_range; rewrite before after [_ + range]addrC addrK.
Qed.

Lemma mean_moves x x' f range spread :
  (forall s u, S s -> S u -> (x' s - x s) - (x' u - x u) <= spread) ->
  (forall s u, S s -> S u -> f s - f u <= range) ->
  `|mean x' f - mean x f| <= range * ((e (spread / 2%:R) - 1) / (e (spread / 2%:R) + 1)).
Proof.
move=> spread_x range_f; rewrite ler_norml (mean_up spread_x range_f) andbT ler_oppl opprB.
by apply: mean_up => // s u Ss Su; have := spread_x u s Su Ss; rewrite !opprB addrC.
Qed.

End Mean.

(** ** Heads *)

Section Heads.

Variables (R : realFieldType) (e : R -> R).
Hypothesis exp_e : exponential e.
Variables (scale : R) (r n d dv : nat) (E F : 'M[R]_(r, n)) (S : pred 'I_r).
Hypothesis seen : exists s, S s.

Lemma head_mean (q : 'rV[R]_d) (K : 'M[R]_(n, d)) (V : 'M[R]_(n, dv)) k :
  head e scale E F S q K V 0 k = mean e S (score scale E q K) (fun s => (F *m V) s k).
Proof. exact: headE. Qed.

Theorem value_leak_bound (q : 'rV[R]_d) (K : 'M[R]_(n, d)) (V V' : 'M[R]_(n, dv)) j k bound :
  (forall i, i != j -> row i V = row i V') -> (forall s, S s -> `|F s j| <= bound) ->
  `|head e scale E F S q K V' 0 k - head e scale E F S q K V 0 k| <= bound * `|V' j k - V j k|.
Proof.
move=> same small; rewrite !head_mean mean_sub; apply: mean_small => // s Ss.
have -> : (F *m V') s k - (F *m V) s k = F s j * (V' j k - V j k).
  rewrite !mxE -sumrB (bigD1 j) //= big1 ?addr0 ?mulrBr // => i /same/rowP/(_ k).
  by rewrite !mxE => ->; rewrite subrr.
by rewrite normrM; apply: ler_wpmul2r; [exact: normr_ge0 | exact: small].
Qed.

Hypothesis exp_ge1 : forall x, 0 <= x -> 1 <= e x.

Theorem key_leak_bound (q : 'rV[R]_d) (K K' : 'M[R]_(n, d)) (V : 'M[R]_(n, dv)) j k delta lo hi a b B :
  B = e (`|delta| * (b - a) / 2%:R) ->
  position_scores scale q K' = bump (position_scores scale q K) j delta ->
  (forall s, S s -> lo <= (F *m V) s k <= hi) -> (forall s, S s -> a <= E s j <= b) ->
  `|head e scale E F S q K' V 0 k - head e scale E F S q K V 0 k| <= (hi - lo) * ((B - 1) / (B + 1)).
Proof.
move=> -> step range_f range_E; rewrite !head_mean; apply: mean_moves => // s u Ss Su; last first.
  by case/andP: (range_f s Ss) => _ fs; case/andP: (range_f u Su) => fu _; apply: ler_sub.
rewrite !scoreE step !dot_bump ![dot _ _ + _]addrC !addrK -mulrBl mulrC; apply: le_trans (ler_norm _) _.
rewrite normrM; apply: ler_wpmul2l; first exact: normr_ge0.
case/andP: (range_E s Ss) => aEs Esb; case/andP: (range_E u Su) => aEu Eub.
by rewrite ler_norml; apply/andP; split; [rewrite opprB|]; apply: ler_sub.
Qed.

End Heads.
