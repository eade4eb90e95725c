(** T10–T12 and the verified checker for the real exponential and the scale 1/sqrt d of the article.

    Glossary
      R         the real numbers, as MathComp-Analysis axiomatises or constructs them (realType)
      expR      the exponential, the sum of its power series
      softmax_head S q K V    sum of exp(q . (E K)_s / sqrt d) (F V)_s over the sum of the exponentials, visible slots s

    Headline theorems:
      T11  expR_exponential       the real exponential is positive, multiplicative and injective
      T11  softmax_headE, softmax_prefix_safe_def    what the head computes and what safe means, spelled out
      T10  support_safe_reals     the support condition makes the softmax head prefix-safe
      T11  exact_criterion_reals  the softmax head is prefix-safe iff the criterion holds where a query sees a slot
      T11  checker_reals          exact_safe … = true iff the softmax head of these rational matrices is prefix-safe
      T10  support_checker_reals  support_safe … = true implies it
      T12  key_leak_reals         the bound on a leak through a key, range * tanh (|step| * range / 4)
      T19  leak_reals             the bound for all forbidden inputs at once, moved + range * tanh (spread / 4)
      T12  witness_reals          a leak of a softmax head has a witness among finitely many natural inputs

    Axioms: the three classical ones of MathComp-Analysis (propositional and functional extensionality, constructive
    indefinite description). *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.analysis Require Import reals sequences exp.
From AttnProof Require Import independence causal_head support exact witness rationals checker leak_size biases
  leak_at_once.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Reals.

Variable R : realType.

Theorem expR_exponential : exponential (@expR R).
Proof. by split; [exact: expR_gt0 | exact: expRD | exact: expR_inj]. Qed.

(** The scale 1/sqrt d. *)
Definition root_scale (d : nat) : R := (Num.sqrt d%:R)^-1.

Lemma root_scale_neq0 d : (0 < d)%N -> root_scale d != 0.
Proof. by move=> d_gt0; rewrite invr_eq0 gt_eqF // sqrtr_gt0 ltr0n. Qed.

Definition softmax_head r n d dv (E F : 'M[R]_(r, n)) := @head R (@expR R) (root_scale d) r n d dv E F.

Definition softmax_prefix_safe r n m d dv (E F : 'M[R]_(r, n)) (allowed : 'I_m -> pred 'I_n)
    (visible : 'I_m -> pred 'I_r) :=
  prefix_safe (@expR R) (root_scale d) d dv E F allowed visible.

Theorem softmax_headE r n d dv (E F : 'M[R]_(r, n)) (S : pred 'I_r) (q : 'rV[R]_d) (K : 'M[R]_(n, d))
    (V : 'M[R]_(n, dv)) k :
  softmax_head E F S q K V 0 k =
  (\sum_(s | S s) expR ((q *m (E *m K)^T) 0 s / Num.sqrt d%:R) * (F *m V) s k) /
  \sum_(s | S s) expR ((q *m (E *m K)^T) 0 s / Num.sqrt d%:R).
Proof.
by rewrite /softmax_head headE; congr (_ / _); apply: eq_bigr => s _; rewrite /score /root_scale [_^-1 * _]mulrC.
Qed.

Theorem softmax_prefix_safe_def r n m d dv (E F : 'M[R]_(r, n)) (allowed : 'I_m -> pred 'I_n)
    (visible : 'I_m -> pred 'I_r) :
  softmax_prefix_safe d dv E F allowed visible <->
  forall t, (exists s, visible t s) ->
  forall (q : 'rV[R]_d) (K K' : 'M[R]_(n, d)) (V V' : 'M[R]_(n, dv)),
    (forall j, allowed t j -> row j K = row j K') -> (forall j, allowed t j -> row j V = row j V') ->
    softmax_head E F (visible t) q K V = softmax_head E F (visible t) q K' V'.
Proof. by []. Qed.

Section Theorems.

Variables (r n m d dv : nat).
Hypotheses (d_gt0 : (0 < d)%N) (dv_gt0 : (0 < dv)%N).

Theorem support_safe_reals (E F : 'M[R]_(r, n)) (allowed : 'I_m -> pred 'I_n) (visible : 'I_m -> pred 'I_r) :
  (forall t, supported E F (allowed t) (visible t)) -> softmax_prefix_safe d dv E F allowed visible.
Proof. exact: support_prefix_safe. Qed.

Theorem exact_criterion_reals (E F : 'M[R]_(r, n)) (allowed : 'I_m -> pred 'I_n) (visible : 'I_m -> pred 'I_r) :
  softmax_prefix_safe d dv E F allowed visible <->
  forall t, (exists s, visible t s) -> exact_criterion E F (allowed t) (visible t).
Proof. exact: (exact_criterionP E F allowed visible expR_exponential (root_scale_neq0 d_gt0)). Qed.

Variables (E F : seq (seq QArith_base.Q)) (allowed visible : seq (seq bool)).

Theorem checker_reals : exact_safe r n m E F allowed visible = true <->
  softmax_prefix_safe d dv (to_matrix R r n E) (to_matrix R r n F)
    (to_relation allowed : 'I_m -> pred 'I_n) (to_relation visible).
Proof. exact: exact_safeP expR_exponential (root_scale_neq0 d_gt0) d_gt0 dv_gt0. Qed.

Theorem support_checker_reals : support_safe r n m E F allowed visible = true ->
  softmax_prefix_safe d dv (to_matrix R r n E) (to_matrix R r n F)
    (to_relation allowed : 'I_m -> pred 'I_n) (to_relation visible).
Proof. exact: support_safe_sound. Qed.

End Theorems.

Theorem witness_reals r n (E F : 'M[R]_(r, n)) (A : pred 'I_n) (S : pred 'I_r) : (exists s, S s) ->
  find_witness (@expR R) E F A S = None <->
  forall q : 'rV[R]_1, query_safe (@expR R) 1 1 E F A S q.
Proof.
move=> seen; rewrite find_witnessP //; last exact: expR_exponential.
split=> [crit q | safe]; first exact: (safe_of_criterion expR_exponential 1 _ crit seen).
apply: (criterion_of_safe expR_exponential (oner_neq0 R) _ _ seen (safe 1%:M)) => //.
by apply/eqP => /rowP/(_ 0); rewrite !mxE eqxx; apply/eqP/oner_neq0.
Qed.

(** The hyperbolic tangent. *)
Definition tanh (y : R) : R := (expR y - expR (- y)) / (expR y + expR (- y)).

Lemma tanhE (y : R) : tanh y = (expR (y + y) - 1) / (expR (y + y) + 1).
Proof.
rewrite expRD -[1 in RHS](expRxMexpNx_1 y) -mulrBr -mulrDr invfM mulrACA divff ?mul1r //.
exact/lt0r_neq0/expR_gt0.
Qed.

Let halves (x : R) : x / 2%:R = x / 4%:R + x / 4%:R.
Proof. by rewrite [LHS]splitr -mulrA -invfM -natrM. Qed.

Let expR_ge1 (x : R) : 0 <= x -> 1 <= expR x.
Proof. by move=> x0; apply: le_trans (expR_ge1Dx x0); rewrite ler_addl. Qed.

Theorem key_leak_reals r n d dv (E F : 'M[R]_(r, n)) (S : pred 'I_r) (q : 'rV[R]_d) (K K' : 'M[R]_(n, d))
    (V : 'M[R]_(n, dv)) j k delta lo hi a b :
  (exists s, S s) ->
  (forall i, (q *m K'^T) 0 i / Num.sqrt d%:R = (q *m K^T) 0 i / Num.sqrt d%:R + (if i == j then delta else 0)) ->
  (forall s, S s -> lo <= (F *m V) s k <= hi) -> (forall s, S s -> a <= E s j <= b) ->
  `|softmax_head E F S q K' V 0 k - softmax_head E F S q K V 0 k| <= (hi - lo) * tanh (`|delta| * (b - a) / 4%:R).
Proof.
move=> seen step range_f range_E; set y := _ / 4%:R.
have scores : position_scores (root_scale d) q K' = bump (position_scores (root_scale d) q K) j delta.
  apply/matrixP => i z; rewrite (ord1 z) /position_scores /bump !mxE eqxx andbT.
  have := step i; rewrite !mxE /root_scale ![_ / Num.sqrt _]mulrC.
  rewrite (eq_bigr (fun l => K' i l * q^T l 0)) => [|l _]; last by rewrite !mxE mulrC.
  rewrite [in X in _ = X -> _](eq_bigr (fun l => K i l * q^T l 0)) => [-> |l _]; last by rewrite !mxE mulrC.
  by case: eqP => _; rewrite ?mulr1 ?mulr0.
rewrite tanhE /y -halves; apply: (key_leak_bound expR_exponential) => //.
- exact: scores.
- exact: range_E.
Qed.

Theorem leak_reals r n d dv (E F : 'M[R]_(r, n)) (bias : 'I_r -> R) (S : pred 'I_r) (q : 'rV[R]_d) (K K' : 'M[R]_(n, d))
    (V V' : 'M[R]_(n, dv)) k moved range spread :
  (exists s, S s) ->
  (forall s, S s -> `|(F *m (V' - V)) s k| <= moved) ->
  (forall s u, S s -> S u -> (F *m V) s k - (F *m V) u k <= range) \/
    (forall s u, S s -> S u -> (F *m V') s k - (F *m V') u k <= range) ->
  (forall s u, S s -> S u ->
     (q *m (E *m (K' - K))^T) 0 s / Num.sqrt d%:R - (q *m (E *m (K' - K))^T) 0 u / Num.sqrt d%:R <= spread) ->
  `|biased_head (@expR R) (root_scale d) E F bias S q K' V' 0 k -
    biased_head (@expR R) (root_scale d) E F bias S q K V 0 k| <= moved + range * tanh (spread / 4%:R).
Proof.
move=> seen small range_V spread_K; rewrite tanhE -halves.
apply: (leak_at_once expR_exponential expR_ge1) => // s u Ss Su.
by have := spread_K s u Ss Su; rewrite ![_ / Num.sqrt _]mulrC.
Qed.

End Reals.
